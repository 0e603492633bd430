# SPDX-License-Identifier: GPL-2.0-only
"""Rows of the device back end inside one VM of 2 CPUs: the host's rows, with
lanes of one node as ranks, and fewer operations, for VMs that are emulated."""
import host
from contest import Run

SLOWER = 20


class OneVm(host.Host):
    def args(self, test, iters, *more):
        return super().args(test, max(iters // SLOWER, 20), *more)

    # pylint: disable=too-many-arguments
    def ours(self, n, test, iters, *more, cpus=None, bind=False, machine=None, env=None,
             before=()):
        argv = list(before) + host.pinned(cpus) + [
            host.BUILD + "/tools/ubrun", "--fabric", "dev", "--lanes", str(n), "-n", str(n),
            "--timeout", "120"] + (["--bind", "core"] if bind else [])
        # Boards are nodes' levels, and there is one node: all its lanes, or halves.
        level = "none" if test == "nested" else "node"
        return Run(argv + ["--", host.UBPERF, *self.args(test, iters, *more),
                           "--level", level], env or {})


def groups(quick):
    h = OneVm(quick)
    found = {}
    for rows in (host.sync_rows, host.put_rows, host.big_put_rows, host.random_rows,
                 host.allreduce_rows, host.crowd_rows, host.nested_rows, host.cost_rows):
        found.update(rows(h))
    return {name: without(group, ("mpich", "ucx", "bsp")) for name, group in found.items()
            if name not in ("crowd-16", "idle", "quota")}


def without(group, names):
    """The group without some peers: starting them takes long in an emulated VM."""
    group.runs = {k: v for k, v in group.runs.items() if k not in names}
    group.rows = [row for row in group.rows if row.ours.run in group.runs]
    for row in group.rows:
        row.peers = [p for p in row.peers if p.run in group.runs]
    return group


TITLE = "device back end, one VM"
SETTINGS = host.SETTINGS[:1] + host.SETTINGS[3:]
