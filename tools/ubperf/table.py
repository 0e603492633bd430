#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tables of ubperf's JSON, and the ratios that it is measured by.

usage: table.py FILE...		a table of all rows
       table.py --ratios DIR FABRIC	from DIR/FABRIC-{2,4}[-nostats].json
"""
import json
import os
import sys

COLS = ("min_ns", "p50_ns", "p99_ns", "max_ns")


def table(files):
    print("%-14s %-6s %7s %9s" % ("test", "fabric", "members", "size") +
          "".join("%13s" % c.replace("_", " ") for c in COLS) + "   GB/s  checked")
    for name in files:
        for r in json.load(open(name))["rows"]:
            test = r["test"] + (" -s" if "nostats" in name else "")
            line = "%-14s %-6s %7d %9d" % (test, r["fabric"], r["members"], r["size"])
            if "skipped" in r:
                print(line + "  skipped: " + r["skipped"])
                continue
            print(line + "".join("%13.1f" % r[c] for c in COLS) +
                  ("%7.2f" % r["gb_per_s"] if r["size"] else "      -") +
                  ("  WRONG" if r.get("wrong_data") else
                   "  yes" if r["checked"] else "  no"))
    print("(%s; -s: UB_STATS=0)" % ", ".join(files))


def load(path, rows, tag):
    if not os.path.exists(path):
        return
    for r in json.load(open(path))["rows"]:
        if "skipped" not in r:
            rows[tag + r["test"]] = r


def ratios(folder, fabric):
    rows = {}
    for n in (2, 4):
        load("%s/%s-%d.json" % (folder, fabric, n), rows, "%d:" % n)
        load("%s/%s-%d-nostats.json" % (folder, fabric, n), rows, "%d-s:" % n)
    wanted = (
        ("barrier p50 / pingpong p50, 2 ranks", "2:barrier", "2:pingpong", "p50_ns", "<=", 1.0),
        ("the same with UB_STATS=0", "2-s:barrier", "2:pingpong", "p50_ns", "<=", 0.75),
        ("barrier-ioctl p50 / tcp p50", "2:barrier-ioctl", "2:tcp", "p50_ns", "<=", 0.3),
        ("4 ranks: barrier p50 / 2-rank barrier-ioctl p50", "4:barrier", "2:barrier-ioctl", "p50_ns", "<=", 5.0),
        ("map-read / raw-read, GB/s", "2:map-read", "2:raw-read", "gb_per_s", ">=", 0.95),
        ("map-write / raw-write, GB/s", "2:map-write", "2:raw-write", "gb_per_s", ">=", 0.95),
    )
    print("%-50s %8s   bar" % ("ratio", "is"))
    for text, a, b, key, sign, bar in wanted:
        if a not in rows or b not in rows:
            print("%-50s %8s   %s %.2f" % (text, "-", sign, bar))
            continue
        v = rows[a][key] / rows[b][key]
        met = v <= bar if sign == "<=" else v >= bar
        print("%-50s %8.2f   %s %.2f %s" % (text, v, sign, bar, "" if met else "MISSED"))
    if "4:barrier" in rows:
        print("%-50s %8.1f   <= 100 ms" % ("4 ranks: longest barrier, ms",
                                          rows["4:barrier"]["max_ns"] / 1e6))


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--ratios":
        ratios(sys.argv[2], sys.argv[3])
    elif len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        table(sys.argv[1:])
    else:
        sys.exit(__doc__)
