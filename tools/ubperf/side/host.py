# SPDX-License-Identifier: GPL-2.0-only
"""Rows of the host back end: processes of one machine."""
import os

from contest import Bar, Group, Pick, Row, Run

BUILD = "build"
UBPERF = BUILD + "/tools/ubperf"
MACHINE = "lib/machines/2x2.yaml"

# Peers at their best settings for one machine. Shared memory alone; a rank on a
# CPU of its own where there are enough, and then spinning, which is the default.
OPENMPI = ["mpirun.openmpi", "--oversubscribe", "--mca", "btl", "self,vader",
           "--mca", "pml", "ob1"] + \
          (["--allow-run-as-root"] if os.geteuid() == 0 else [])
BOUND = ["--bind-to", "core"]
IDLE = ["--mca", "mpi_yield_when_idle", "1"]
YIELDING = ["--bind-to", "none", *IDLE]
SPREAD = ["--map-by", "core:OVERSUBSCRIBE", "--bind-to", "core:overload-allowed", *IDLE]
MPICH = ["mpirun.mpich"]


def scaled(iters, quick):
    return ["--iters", str(max(iters // 100, 20) if quick else iters)]


class Host:
    """How things are started; quick: few operations, to see that it works."""

    def __init__(self, quick):
        self.quick = quick

    def args(self, test, iters, *more):
        return [test, "--json", "--check", *scaled(iters, self.quick),
                "--budget", "300" if self.quick else "1500", *more]

    def ours(self, n, test, iters, *more, cpus=None, bind=False, machine=None, env=None,
             before=()):
        argv = list(before) + pinned(cpus) + [BUILD + "/tools/ubrun", "-n", str(n),
                                              "--timeout", "120"]
        if bind:
            argv += ["--bind", "core"]
        if machine:
            argv += ["--machine", machine]
        return Run(argv + ["--", UBPERF] + self.args(test, iters, *more), env or {})

    def bsp(self, n, test, iters, *more):
        program = BUILD + "/peers/ubperf-bsp"
        return Run([BUILD + "/tools/ubrun", "-n", str(n), "--timeout", "120", "--bind",
                    "core", "--", program] + self.args(test, iters, *more),
                   built=program, absent="lib/include/bsp.h is not in this tree")

    def openmpi(self, n, test, iters, *more, cpus=None, how=BOUND):
        program = BUILD + "/peers/ubperf-openmpi"
        return Run(pinned(cpus) + OPENMPI + how +
                   ["-n", str(n), program] + self.args(test, iters, *more))

    def mpich(self, n, test, iters, *more):
        return Run(MPICH + ["-bind-to", "core", "-n", str(n), BUILD + "/peers/ubperf-mpich"] +
                   self.args(test, iters, *more))

    def pthread(self, n, test, iters, *more, cpus=None):
        return Run(pinned(cpus) + [BUILD + "/peers/ubperf-pthread", str(n)] +
                   self.args(test, iters, *more))

    def ucx(self, test, size, iters):
        return Run(["python3", "tools/ubperf/peers/ucx.py", test, str(size),
                    *scaled(iters, self.quick)[1:]])


def pinned(cpus):
    return ["taskset", "-c", cpus] if cpus else []


BATCH = ("--batch", "16")
TURNS = ("--batch", "50")       # many turns of each rank on a shared CPU


def sync_rows(h):
    runs = {
        "ub": h.ours(2, "barrier", 200000, *BATCH, bind=True),
        "openmpi": h.openmpi(2, "barrier", 200000, *BATCH),
        "mpich": h.mpich(2, "barrier", 200000, *BATCH),
        "bsp": h.bsp(2, "barrier", 200000, *BATCH),
    }
    ub = Pick("ub", "barrier", "ub_sync")
    return {"sync": Group(runs, [
        Row("sync, 2 ranks on 2 CPUs", ub,
            [Pick("openmpi", "barrier", "Open MPI MPI_Barrier, spinning"),
             Pick("mpich", "barrier", "MPICH MPI_Barrier, spinning")],
            [Bar("openmpi", 1.0), Bar("openmpi", 0.7, aim=True)]),
        Row("bsp_sync, 2 ranks on 2 CPUs", Pick("bsp", "barrier", "bsp_sync"), [ub],
            [Bar("ub", 1.25)]),
    ])}


def put_rows(h):
    args = ("put-sync", 200000, *BATCH)
    runs = {
        "ub": h.ours(2, *args, bind=True),
        "openmpi": h.openmpi(2, *args),
        "mpich": h.mpich(2, *args),
        "bsp": h.bsp(2, *args),
        "ucx": h.ucx("put_lat", 8, 100000),
    }
    ub = Pick("ub", "put-sync", "ub_put, ub_sync", 8)
    openmpi = Pick("openmpi", "put-sync", "Open MPI MPI_Put, MPI_Win_fence", 8)
    return {"put": Group(runs, [
        Row("put 8 B and sync, 2 ranks on 2 CPUs", ub,
            [openmpi, Pick("mpich", "put-sync", "MPICH MPI_Put, MPI_Win_fence", 8),
             Pick("ucx", "put_lat", "UCX put alone, half a round trip", 8)],
            [Bar("openmpi", 1.0)]),
        Row("bsp_put 8 B and bsp_sync, 2 ranks on 2 CPUs",
            Pick("bsp", "put-sync", "bsp_put, bsp_sync", 8), [openmpi, ub],
            [Bar("openmpi", 1.6)]),
    ])}


MIB = 1 << 20


def big_put_rows(h):
    runs = {
        "ub": h.ours(2, "put-sync", 2000, "--size", "1M", bind=True),
        "memcpy": h.ours(2, "map-write", 2000, "--size", "1M", bind=True),
        "openmpi": h.openmpi(2, "put-sync", 2000, "--size", "1M"),
        "mpich": h.mpich(2, "put-sync", 2000, "--size", "1M"),
        "ucx": h.ucx("put_bw", MIB, 2000),
    }
    return {"put-1M": Group(runs, [
        Row("put 1 MiB and sync, 2 ranks at once",
            Pick("ub", "put-sync", "ub_put, ub_sync", MIB),
            [Pick("memcpy", "map-write", "memcpy to the same window, no sync", MIB),
             Pick("openmpi", "put-sync", "Open MPI MPI_Put, MPI_Win_fence", MIB),
             Pick("mpich", "put-sync", "MPICH MPI_Put, MPI_Win_fence", MIB),
             Pick("ucx", "put_bw", "UCX put alone, one direction", MIB)],
            [Bar("memcpy", 0.95, "speed")]),
    ])}


def random_rows(h):
    args = ("put-random", 400)
    runs = {
        "ub": h.ours(2, *args, bind=True),
        "openmpi": h.openmpi(2, *args),
        "mpich": h.mpich(2, "put-random", 40),
        "ucx": h.ucx("put_bw", 8, 1000000),
    }
    return {"put-random": Group(runs, [
        Row("10,000 puts of 8 B to random places of 1 MiB, and sync",
            Pick("ub", "put-random", "ub_put, ub_sync", 8),
            [Pick("openmpi", "put-random", "Open MPI MPI_Put, MPI_Win_fence", 8),
             Pick("mpich", "put-random", "MPICH MPI_Put, MPI_Win_fence", 8),
             Pick("ucx", "put_bw", "UCX 10,000 puts to one place", 8, 10000)],
            [Bar("openmpi", 3.0, "speed")]),
    ])}


def allreduce_rows(h):
    groups = {}
    for size, text, iters, more in ((8, "8 B", 100000, BATCH), (MIB, "1 MiB", 600, ())):
        args = ("allreduce", iters, "--size", str(size), *more)
        groups["allreduce-" + text.replace(" ", "")] = Group({
            "ub": h.ours(2, *args, bind=True),
            "openmpi": h.openmpi(2, *args),
            "mpich": h.mpich(2, *args),
        }, [
            Row("allreduce %s of double, 2 ranks on 2 CPUs" % text,
                Pick("ub", "allreduce", "ub_allreduce", size),
                [Pick("openmpi", "allreduce", "Open MPI MPI_Allreduce", size),
                 Pick("mpich", "allreduce", "MPICH MPI_Allreduce", size)],
                [Bar("openmpi", 1.0)]),
        ])
    return groups


def crowd_rows(h):
    groups = {}
    for n, cpus, text in ((2, "0", "1 CPU"), (4, "0", "1 CPU"), (8, "0,1", "2 CPUs"),
                          (16, "0,1", "2 CPUs")):
        args = ("barrier", 40000 // n, *TURNS)
        groups["crowd-%d" % n] = Group({
            "ub": h.ours(n, *args, cpus=cpus),
            "pthread": h.pthread(n, *args, cpus=cpus),
            "openmpi": h.openmpi(n, *args, cpus=cpus, how=YIELDING),
        }, [
            Row("sync, %d ranks on %s" % (n, text), Pick("ub", "barrier", "ub_sync"),
                [Pick("pthread", "barrier", "process-shared pthread_barrier"),
                 Pick("openmpi", "barrier", "Open MPI, mpi_yield_when_idle")],
                [Bar("pthread", 1.0), Bar("openmpi", 1.3, unless="pthread")]),
        ])
    return groups


def nested_group(h, args, inner, *more, **how):
    """@args: the test, and how often; @inner: the scope inside; the rest is ours alone."""
    cpus = "0,1"
    return Group({
        "ub": h.ours(4, *args, *more, cpus=cpus, **how),
        "openmpi": h.openmpi(4, *args, cpus=cpus, how=YIELDING),
        "spread": h.openmpi(4, *args, cpus=cpus, how=SPREAD),
    }, [
        Row("nested 4 = 2 x 2 on 2 CPUs: ten inner syncs, one outer",
            Pick("ub", "nested", "ub_sync on %s and world" % inner),
            [Pick("openmpi", "nested", "Open MPI MPI_Comm_split, yielding"),
             Pick("spread", "nested", "the same, ranks bound to CPUs in turn")],
            [Bar("openmpi", 0.5), Bar("spread", 0.5)]),
    ])


def nested_rows(h):
    args = ("nested", 2000, "--batch", "5")
    enter = ("inner,scope-enter", 20000, *TURNS)
    return {
        "nested": nested_group(h, args, "board", machine=MACHINE),
        "scope": Group({
            "ub": h.ours(4, *enter, cpus="0,1", machine=MACHINE),
            "openmpi": h.openmpi(4, "scope-enter", 500, cpus="0,1", how=YIELDING),
        }, [
            Row("enter and leave a machine level, 4 = 2 x 2 on 2 CPUs",
                Pick("ub", "scope-enter", "ub_scope_enter, ub_scope_exit"),
                [Pick("ub", "inner", "ub_sync on the inner scope"),
                 Pick("openmpi", "scope-enter", "Open MPI MPI_Comm_split, _free")],
                [Bar("ub", 2.0)]),
        ]),
    }


def quota_group(h, *cpu):
    """@cpu: the test, and how often."""
    return Group({
        "ub": h.ours(2, *cpu, before=["tools/ubperf/side/quota.sh", "100000"]),
        "free": h.ours(2, *cpu),
    }, [
        Row("CPU time of a sync, quota of half of 2 CPUs, 2 ranks",
            Pick("ub", "barrier-cpu", "ub_sync under the quota"),
            [Pick("free", "barrier-cpu", "ub_sync without")],
            [Bar("free", 3.0)]),
    ])


def cost_rows(h):
    args = ("barrier", 200000, *BATCH)
    cpu = ("barrier-cpu", 100000, "--batch", "1000")
    late = 100 if h.quick else 10000
    idle = ("idle", 1, "--late", str(late), "--iters", "1")
    percent = 100 / (late * 1e6)
    return {
        "accounting": Group({
            "ub": h.ours(2, *args, bind=True, env={"UB_STATS": "1"}),
            "nostats": h.ours(2, *args, bind=True, env={"UB_STATS": "0"}),
        }, [
            Row("accounting, 2 ranks on 2 CPUs", Pick("ub", "barrier", "ub_sync, UB_STATS=1"),
                [Pick("nostats", "barrier", "ub_sync, UB_STATS=0")],
                [Bar("nostats", 25, "minus")]),
        ]),
        "idle": Group({
            "ub": h.ours(2, *idle),
            "openmpi": h.openmpi(2, *idle, how=YIELDING),
        }, [
            Row("one of 2 ranks asleep for %g s: CPU of the one that waits" % (late / 1000),
                Pick("ub", "idle", "ub_sync", scale=percent),
                [Pick("openmpi", "idle", "Open MPI, mpi_yield_when_idle", scale=percent)],
                [Bar("", 2.0, "alone")], unit="% of a CPU"),
        ], rounds=1),
        "quota": quota_group(h, *cpu),
    }


def groups(quick):
    h = Host(quick)
    found = {}
    for rows in (sync_rows, put_rows, big_put_rows, random_rows, allreduce_rows,
                 crowd_rows, nested_rows, cost_rows):
        found.update(rows(h))
    return found


TITLE = "host back end"
SETTINGS = [
    "Open MPI: " + " ".join(OPENMPI) + "; " + " ".join(BOUND) + ", spinning, or, with more "
    "ranks than CPUs, " + " ".join(YIELDING),
    "MPICH: " + " ".join(MPICH) + " -bind-to core, spinning",
    "UCX: ucx_perftest, UCX_TLS=posix,cma,self",
    "ubrun --bind core where Open MPI is bound, else its default: bound in turn where "
    "ranks outnumber CPUs",
]
