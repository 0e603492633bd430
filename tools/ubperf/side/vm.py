# SPDX-License-Identifier: GPL-2.0-only
"""Rows of the device back end inside one VM of 2 CPUs: the host's rows, with lanes
of one node as ranks. Starting a program takes seconds in an emulated VM, so a run
does several tests, each for a short time.

Not here: MPICH and UCX, which are beside Open MPI on the host; Open MPI with 16
ranks and while a rank sleeps, where the bar is another one."""
import host
from contest import Bar, Group, Pick, Row, Run

MIB = 1 << 20
SECONDS = 60        # for one run
DEV = ["--fabric", "dev", "--timeout", "50"]


class OneVm:
    def __init__(self, quick):
        self.common = ["--json", "--check", "--budget", "50" if quick else "400"]

    def lanes(self, n, program, tests, *more, cpus=None, bind=False, env=None, before=()):
        return Run([*before, *host.pinned(cpus), host.BUILD + "/tools/ubrun", *DEV,
                    "--lanes", str(n), "-n", str(n), *(["--bind", "core"] if bind else []),
                    "--", program, tests, *self.common, *more], env or {})

    def ours(self, n, tests, *more, **how):
        return self.lanes(n, host.UBPERF, tests, *more, **how)

    def bsp(self, n, tests, *more, **how):
        return self.lanes(n, host.BUILD + "/peers/ubperf-bsp", tests, *more, **how)

    def openmpi(self, n, tests, *more, cpus=None, how=host.BOUND):
        return Run([*host.pinned(cpus), *host.OPENMPI, *how, "-n", str(n),
                    host.BUILD + "/peers/ubperf-openmpi", tests, *self.common, *more])

    def pthread(self, n, tests, *more, cpus=None):
        return Run([*host.pinned(cpus), host.BUILD + "/peers/ubperf-pthread", str(n),
                    tests, *self.common, *more])


def small_rows():
    ub = Pick("ub", "barrier", "ub_sync")
    put = Pick("ub", "put-sync", "ub_put, ub_sync", 8)
    fence = Pick("openmpi", "put-sync", "Open MPI MPI_Put, MPI_Win_fence", 8)
    return [
        Row("sync, 2 ranks on 2 CPUs", ub,
            [Pick("openmpi", "barrier", "Open MPI MPI_Barrier, spinning")],
            [Bar("openmpi", 1.0), Bar("openmpi", 0.7, aim=True)]),
        Row("bsp_sync, 2 ranks on 2 CPUs", Pick("bsp", "barrier", "bsp_sync"), [ub],
            [Bar("ub", 1.25)]),
        Row("put 8 B and sync, 2 ranks on 2 CPUs", put, [fence], [Bar("openmpi", 1.0)]),
        Row("bsp_put 8 B and bsp_sync, 2 ranks on 2 CPUs",
            Pick("bsp", "put-sync", "bsp_put, bsp_sync", 8), [fence, put],
            [Bar("openmpi", 1.6)]),
        Row("allreduce 8 B of double, 2 ranks on 2 CPUs",
            Pick("ub", "allreduce", "ub_allreduce", 8),
            [Pick("openmpi", "allreduce", "Open MPI MPI_Allreduce", 8)],
            [Bar("openmpi", 1.0)]),
        Row("accounting, 2 ranks on 2 CPUs", ub,
            [Pick("nostats", "barrier", "ub_sync, UB_STATS=0")],
            [Bar("nostats", 25, "minus")]),
    ]


def large_rows():
    return [
        Row("put 1 MiB and sync, 2 ranks at once",
            Pick("ub", "put-sync", "ub_put, ub_sync", MIB),
            [Pick("ub", "map-write", "memcpy to the same window, no sync", MIB),
             Pick("openmpi", "put-sync", "Open MPI MPI_Put, MPI_Win_fence", MIB)],
            [Bar("ub", 0.95, "speed")]),
        Row("allreduce 1 MiB of double, 2 ranks on 2 CPUs",
            Pick("ub", "allreduce", "ub_allreduce", MIB),
            [Pick("openmpi", "allreduce", "Open MPI MPI_Allreduce", MIB)],
            [Bar("openmpi", 1.0)]),
    ]


def data_groups(h):
    small, large = ("--size", "8", *host.BATCH), ("--size", "1M")
    return {
        "small": Group({
            "ub": h.ours(2, "barrier,put-sync,allreduce", *small, bind=True),
            "openmpi": h.openmpi(2, "barrier,put-sync,allreduce", *small),
            "bsp": h.bsp(2, "barrier,put-sync", *small, bind=True),
            "nostats": h.ours(2, "barrier", *small, bind=True, env={"UB_STATS": "0"}),
        }, small_rows()),
        "large": Group({
            "ub": h.ours(2, "put-sync,allreduce,map-write", *large, bind=True),
            "openmpi": h.openmpi(2, "put-sync,allreduce", *large),
        }, large_rows()),
        "put-random": Group({
            "ub": h.ours(2, "put-random", "--size", "8", bind=True),
            "openmpi": h.openmpi(2, "put-random", "--size", "8"),
        }, [
            Row("10,000 puts of 8 B to random places of 1 MiB, and sync",
                Pick("ub", "put-random", "ub_put, ub_sync", 8),
                [Pick("openmpi", "put-random", "Open MPI MPI_Put, MPI_Win_fence", 8)],
                [Bar("openmpi", 3.0, "speed")]),
        ]),
    }


def crowd_groups(h):
    groups = {}
    for n, cpus, text in ((2, "0", "1 CPU"), (4, "0", "1 CPU"), (8, "0,1", "2 CPUs"),
                          (16, "0,1", "2 CPUs")):
        args = ("barrier", *host.TURNS)
        runs = {"ub": h.ours(n, *args, cpus=cpus), "pthread": h.pthread(n, *args, cpus=cpus)}
        peers = [Pick("pthread", "barrier", "process-shared pthread_barrier")]
        bars = [Bar("pthread", 1.0)]
        if n < 16:
            runs["openmpi"] = h.openmpi(n, *args, cpus=cpus, how=host.YIELDING)
            peers.append(Pick("openmpi", "barrier", "Open MPI, mpi_yield_when_idle"))
            bars.append(Bar("openmpi", 1.3, unless="pthread"))
        groups["crowd-%d" % n] = Group(runs, [
            Row("sync, %d ranks on %s" % (n, text), Pick("ub", "barrier", "ub_sync"),
                peers, bars)])
    return groups


def nested_groups(h):
    return {
        "nested": host.nested_group(h, ("nested", "--batch", "5"), "half",
                                    "--level", "none"),
        "scope": Group({
            "ub": h.ours(4, "inner,scope-enter", *host.TURNS, "--level", "node", cpus="0,1"),
        }, [
            Row("enter and leave a machine level, 4 lanes of a node on 2 CPUs",
                Pick("ub", "scope-enter", "ub_scope_enter, ub_scope_exit"),
                [Pick("ub", "inner", "ub_sync on the inner scope")], [Bar("ub", 2.0)]),
        ]),
    }


def cost_groups(h, quick):
    late = 100 if quick else 10000
    return {
        "quota": host.quota_group(h, "barrier-cpu", "--batch", "1000"),
        "idle": Group({
            "ub": h.ours(2, "idle", "--late", str(late), "--iters", "1"),
        }, [
            Row("one of 2 ranks asleep for %g s: CPU of the one that waits" % (late / 1000),
                Pick("ub", "idle", "ub_sync", scale=100 / (late * 1e6)), [],
                [Bar("", 2.0, "alone")], unit="% of a CPU"),
        ], rounds=1),
    }


def groups(quick):
    h = OneVm(quick)
    return {**data_groups(h), **nested_groups(h), **crowd_groups(h),
            **cost_groups(h, quick)}


TITLE = "device back end, one VM"
SETTINGS = host.SETTINGS[:1] + host.SETTINGS[3:]
