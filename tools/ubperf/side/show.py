# SPDX-License-Identifier: GPL-2.0-only
"""The table of what contest.py found."""

HEAD = "%-46s %11s %19s %11s %5s %7s %14s  %s" % (
    "", "p50", "of rounds, from to", "p99", "slow", "ours/", "from to", "bar")
HEAD2 = "%-46s %11s %19s %11s %5s %7s" % ("", "", "", "", "rank", "theirs")


def number(v):
    return "%.1f" % v if v < 1e6 else "%.0f" % v


def bar_text(bar):
    sign = ">=" if bar["kind"] == "speed" else "<="
    name = {"time": "", "speed": "speed ", "minus": "ns more ", "alone": ""}[bar["kind"]]
    text = "%s%s %g" % (name, sign, bar["limit"])
    if bar["value"] is None:
        return text + " not measured"
    if bar["kind"] in ("speed", "minus"):
        text = "%s%.2f %s %g" % (name, bar["value"]["median"], sign, bar["limit"])
    return ("aim " if bar["aim"] else "") + text + " " + bar["verdict"]


def line(who, ratio, bars):
    text = "  %-44.44s" % who["who"]
    if "missing" in who:
        return text + "  " + who["missing"] + \
            "".join("  [%s]" % bar_text(b) for b in bars)
    p50, p99 = who["p50_ns"], who.get("p99_ns", who["p50_ns"])
    text += " %11s %19s %11s %5s" % (
        number(p50["median"]), "%s %s" % (number(p50["min"]), number(p50["max"])),
        number(p99["median"]),
        "-" if who["slowest_rank"] is None else who["slowest_rank"])
    text += " %7.2f %14s" % (ratio["median"], "%.2f %.2f" % (ratio["min"], ratio["max"])) \
        if ratio else " %7s %14s" % ("", "")
    if who.get("wrong_data"):
        text += "  WRONG DATA"
    if who["disturbed"]:
        text += "  (%d of %d rounds disturbed)" % (who["disturbed"], len(who["others"]))
    return (text + "".join("  " + bar_text(b) for b in bars)).rstrip()


def show_head():
    print(HEAD)
    print(HEAD2)


def show_row(row):
    print("%s%s" % (row["measure"], "" if row["unit"] == "ns" else ", " + row["unit"]))
    print(line(row["ours"], None, row["bars"]))
    for peer in row["peers"]:
        print(line(peer, peer["ratio"], peer["bars"]))
