#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Measures libub side by side with its peers, and says where a bar is missed.

usage: side.py PLACE [--rounds N] [--tries N] [--seconds S] [--only GROUP[,GROUP]]
		[--quick] [--json FILE]

PLACE is where: host, processes of this machine on the host back end; vm, the same
on the device, inside one VM; guests, rank 0 of several VMs, for all of them. Run
at the top of the tree, after "make -f tools/ubperf/peers/peers.mk" has built the
peers. With --seconds it ends in about that time: all groups have their first round
before any has its second. With --json - the table goes to standard error. The exit status does not
tell whether bars are met: times are for reading.
"""
import argparse
import importlib
import json
import os
import platform
import sys
import time

import contest
from contest import Record, result
from show import show_head, show_row


def machine():
    model = ""
    with open("/proc/cpuinfo") as f:
        for text in f:
            if text.startswith("model name"):
                model = text.split(":", 1)[1].strip()
                break
    return {"cpus": len(os.sched_getaffinity(0)), "model": model,
            "kernel": platform.release(),
            "load": [round(x, 2) for x in os.getloadavg()]}


def arguments(places):
    p = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    p.add_argument("place", choices=places)
    p.add_argument("--rounds", type=int, default=7, metavar="N")
    p.add_argument("--tries", type=int, default=contest.TRIES, metavar="N",
                   help="of a run, when other programs disturb it")
    p.add_argument("--seconds", type=float, default=0, metavar="S",
                   help="no run begins after that time")
    p.add_argument("--only", default="", metavar="GROUP[,GROUP]")
    p.add_argument("--quick", action="store_true",
                   help="few operations: to see that it works")
    p.add_argument("--json", default="", metavar="FILE")
    p.add_argument("--list", action="store_true", help="names of the groups")
    return p.parse_args()


def chosen(groups, only):
    if not only:
        return groups
    unknown = [name for name in only.split(",") if name not in groups]
    if unknown:
        sys.exit("side.py: there is no group '%s'; there are %s" %
                 (unknown[0], " ".join(groups)))
    return {name: groups[name] for name in only.split(",")}


def measure(groups, rounds):
    """Group by group, so that what is compared stays together."""
    for group in groups.values():
        record = Record(group)
        for number in range(rounds):
            record.play(number)
        yield from results(record)


def measure_in_time(groups, rounds):
    """Round by round; what is compared stays together in each."""
    records = [Record(group) for group in groups.values()]
    for number in range(rounds):
        for record in records:
            record.play(number)
    for record in records:
        yield from results(record)


def results(record):
    for row in record.group.rows:
        yield result(record, row)


def main():
    o = arguments(["host", "vm", "guests"])
    place = importlib.import_module(o.place)
    contest.TRIES = 1 if o.quick else o.tries
    contest.RUN_SECONDS = getattr(place, "SECONDS", contest.RUN_SECONDS)
    if o.seconds:
        contest.UNTIL = time.monotonic() + o.seconds
    groups = place.groups(o.quick)
    if o.list:
        print(" ".join(groups))
        return
    groups = chosen(groups, o.only)
    json_out = open(o.json, "w") if o.json not in ("", "-") else sys.stdout
    if o.json == "-":
        sys.stdout = sys.stderr
    where = machine()
    print("%s: %d CPUs, %s, Linux %s, load %s; %d rounds, times in ns, medians of rounds" %
          (place.TITLE, where["cpus"], where["model"], where["kernel"],
           " ".join("%.2f" % x for x in where["load"]), o.rounds))
    for text in place.SETTINGS:
        print(text)
    print()
    show_head()
    rows = []
    how = measure_in_time if o.seconds else measure
    for row in how(groups, o.rounds):
        show_row(row)
        sys.stdout.flush()
        rows.append(row)
    if o.json:
        json.dump({"version": 1, "place": place.TITLE, "machine": where,
                   "settings": place.SETTINGS, "rounds": o.rounds, "rows": rows},
                  json_out, indent=1)
        json_out.write("\n")
        print("(%s)" % o.json)


if __name__ == "__main__":
    main()
