#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tables of ubperf's JSON, and the ratios that it is measured by.

usage: table.py FILE			a table of all rows
       table.py --ratios DIR FABRIC	from DIR/FABRIC-{2,4,idle}.json, DIR/FABRIC-rounds
"""
import json
import os
import re
import statistics
import sys

COLS = ("min_ns", "p50_ns", "p99_ns", "max_ns")


def table(name):
    print("%-14s %-6s %7s %9s" % ("test", "fabric", "members", "size") +
          "".join("%13s" % c.replace("_", " ") for c in COLS) + "   GB/s  checked")
    for r in json.load(open(name))["rows"]:
        line = "%-14s %-6s %7d %9d" % (r["test"], r["fabric"], r["members"], r["size"])
        if "skipped" in r:
            print(line + "  skipped: " + r["skipped"])
            continue
        print(line + "".join("%13.1f" % r[c] for c in COLS) +
              ("%7.2f" % r["gb_per_s"] if r["size"] else "      -") +
              ("  WRONG" if r.get("wrong_data") else
               "  yes" if r["checked"] else "  no"))
    print("(%s)" % name)


def load(path):
    """Rows by test of one document."""
    if not os.path.exists(path):
        return {}
    return {r["test"]: r for r in json.load(open(path))["rows"] if "skipped" not in r}


def load_rounds(path):
    """Rows by test of each round; those without accounting end in -s."""
    rounds = {}
    if not os.path.exists(path):
        return []
    for part in re.split(r"^# ", open(path).read(), flags=re.M)[1:]:
        head, text = part.split("\n", 1)
        number, tag = head.split()
        for r in json.loads(text)["rows"]:
            if "skipped" not in r:
                test = r["test"] + ("-s" if tag == "nostats" else "")
                rounds.setdefault(int(number), {})[test] = r
    return [rounds[n] for n in sorted(rounds)]


def show(text, values, sign, bar):
    if not values:
        print("%-50s %6s %16s   %s %.2f" % (text, "-", "", sign, bar))
        return
    v = statistics.median(values)
    met = v <= bar if sign == "<=" else v >= bar
    spread = "%.2f to %.2f" % (min(values), max(values)) if len(values) > 1 else ""
    print("%-50s %6.2f %16s   %s %.2f %s" % (text, v, spread, sign, bar,
                                             "" if met else "MISSED"))


def ratios(folder, fabric):
    rounds = load_rounds("%s/%s-rounds" % (folder, fabric))
    two = load("%s/%s-2.json" % (folder, fabric))
    four = load("%s/%s-4.json" % (folder, fabric))

    def paired(a, b, key):
        return [r[a][key] / r[b][key] for r in rounds if a in r and b in r]

    def once(rows_a, a, rows_b, b):
        return [rows_a[a]["p50_ns"] / rows_b[b]["p50_ns"]] if a in rows_a and b in rows_b else []

    print("%-50s %6s %16s   bar" % ("ratio (median of %d rounds)" % len(rounds), "is", "from, to"))
    show("barrier / pingpong p50, 2 ranks", paired("barrier", "pingpong", "p50_ns"), "<=", 1.0)
    show("the same with UB_STATS=0", paired("barrier-s", "pingpong", "p50_ns"), "<=", 0.75)
    show("barrier-ioctl / tcp p50", once(two, "barrier-ioctl", two, "tcp"), "<=", 0.3)
    show("4 ranks: barrier / 2-rank barrier-ioctl p50", once(four, "barrier", two, "barrier-ioctl"), "<=", 5.0)
    show("map-read / raw-read, GB/s", paired("map-read", "raw-read", "gb_per_s"), ">=", 0.95)
    show("map-write / raw-write, GB/s", paired("map-write", "raw-write", "gb_per_s"), ">=", 0.95)
    if "barrier" in four:
        print("%-50s %6.1f %16s   <= 100" % ("4 ranks: longest barrier, ms",
                                            four["barrier"]["max_ns"] / 1e6, ""))
    show("one of 2 asleep for 5 s: CPU of who waits, %",
         [r["p50_ns"] * 100 / 5e9 for r in load("%s/%s-idle.json" % (folder, fabric)).values()],
         "<=", 2.0)


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--ratios":
        ratios(sys.argv[2], sys.argv[3])
    elif len(sys.argv) == 2 and not sys.argv[1].startswith("-"):
        table(sys.argv[1])
    else:
        sys.exit(__doc__)
