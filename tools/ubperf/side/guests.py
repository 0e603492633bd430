# SPDX-License-Identifier: GPL-2.0-only
"""Rows across VMs: the device back end, and Open MPI over TCP between the same
guests. This runs on rank 0; ../guest-rsh.py starts things on the others."""
import os

from contest import Bar, Group, Pick, Row, Run

RSH = os.path.abspath("tools/ubperf/guest-rsh.py")
MIB = 1 << 20
SECONDS = 60        # for one run

# 10.77.0.0/24 is the switch between the guests: see ../guest-net.sh.
OPENMPI = ["mpirun.openmpi", "--allow-run-as-root", "--mca", "plm_rsh_agent", RSH,
           "--mca", "btl", "self,tcp", "--mca", "pml", "ob1", "--mca", "osc", "pt2pt",
           "--mca", "btl_tcp_if_include", "10.77.0.0/24",
           "--mca", "oob_tcp_if_include", "10.77.0.0/24"]


# Which of the two is better depends on the test: guests have one CPU, which
# their network needs as well.
WAYS = {"spin": ("spinning", []), "yield": ("yielding", ["--mca", "mpi_yield_when_idle", "1"])}


def against(test, call, size, bar):
    """Both ways of Open MPI, and the bar for both."""
    return ([Pick(way, test, "Open MPI over TCP, %s: %s" % (WAYS[way][0], call), size)
             for way in WAYS],
            [Bar(way, *bar) for way in WAYS])


def small_rows(n):
    rows = [
        Row("sync, %d nodes" % n, Pick("ub", "barrier", "ub_sync"),
            *against("barrier", "Barrier", 0, (0.2,))),
        Row("put 8 B and sync, %d nodes" % n, Pick("ub", "put-sync", "ub_put, ub_sync", 8),
            *against("put-sync", "Put, fence", 8, (1.0,))),
        Row("8 B to the next rank and sync, %d nodes" % n,
            Pick("ub", "put-sync", "ub_put, ub_sync", 8),
            *against("sendrecv", "Sendrecv", 8, (1.0,))),
        Row("10,000 puts of 8 B to random places, and sync, %d nodes" % n,
            Pick("ub", "put-random", "ub_put, ub_sync", 8),
            *against("put-random", "Put, fence", 8, (3.0, "speed"))),
        Row("allreduce 8 B of double, %d nodes" % n,
            Pick("ub", "allreduce", "ub_allreduce", 8),
            *against("allreduce", "Allreduce", 8, (1.0,))),
    ]
    if n >= 4:
        rows += [
            Row("nested %d = 2 x %d: ten inner syncs, one outer" % (n, n // 2),
                Pick("ub", "nested", "ub_sync on board and world"),
                *against("nested", "Comm_split", 0, (0.5,))),
            Row("enter and leave a machine level, %d = 2 x %d" % (n, n // 2),
                Pick("ub", "scope-enter", "ub_scope_enter, ub_scope_exit"),
                [Pick("ub", "inner", "ub_sync on the inner scope")], [Bar("ub", 2.0)]),
        ]
    return rows


def large_rows(n):
    put = Pick("ub", "put-sync", "ub_put, ub_sync", MIB)
    return [
        Row("put 1 MiB and sync, %d nodes at once" % n, put,
            [Pick("ub", "map-write", "memcpy to the same window, no sync", MIB)],
            [Bar("ub", 0.95, "speed")]),
        Row("put 1 MiB and sync, %d nodes at once" % n, put,
            *against("put-sync", "Put, fence", MIB, (1.0,))),
        Row("1 MiB to the next rank and sync, %d nodes at once" % n, put,
            *against("sendrecv", "Sendrecv", MIB, (1.0,))),
        Row("allreduce 1 MiB of double, %d nodes" % n,
            Pick("ub", "allreduce", "ub_allreduce", MIB),
            *against("allreduce", "Allreduce", MIB, (1.0,))),
    ]


def groups(quick):
    n = int(os.environ["UB_SIZE"])
    hosts = ",".join("10.77.0.%d" % (r + 1) for r in range(n))
    common = ["--json", "--check", "--budget", "50" if quick else "500"]

    def ours(tests, size):
        return Run(["python3", RSH, "all", "build/tools/ubperf", tests, "--size", size,
                    *common])

    def theirs(way, tests, size):
        return Run(OPENMPI + WAYS[way][1] + ["--host", hosts, "-n", str(n),
                   "build/peers/ubperf-openmpi", tests, "--size", size, *common])

    def all_of(ours_do, they_do, size):
        return {"ub": ours(ours_do, size),
                **{way: theirs(way, they_do, size) for way in WAYS}}

    small = "barrier,put-sync,put-random,allreduce"
    return {
        "small": Group(all_of(small + (",inner,nested,scope-enter" if n >= 4 else ""),
                              small + ",sendrecv" + (",nested" if n >= 4 else ""), "8"),
                       small_rows(n)),
        "large": Group(all_of("put-sync,allreduce,map-write",
                              "put-sync,allreduce,sendrecv", "1M"), large_rows(n)),
    }


TITLE = "device back end, %s VMs" % os.environ.get("UB_SIZE", "several")
SETTINGS = ["Open MPI: " + " ".join(OPENMPI) + "; yielding: " + " ".join(WAYS["yield"][1])]
