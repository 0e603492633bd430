#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""contest.py on contenders whose figures are known. Ends with 1 and a text."""
import io
import json
import os
import sys
import tempfile
import time
from contextlib import redirect_stdout

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "../../tools/ubperf/side"))
import contest  # noqa: E402
import side     # noqa: E402
import show     # noqa: E402
from contest import Bar, Group, Pick, Row, Run  # noqa: E402


def prints(status=0, **row):
    figures = {"test": "t", "size": 0, "slowest_rank": 1, "min_ns": 1, "max_ns": 9e9, **row}
    return Run(["sh", "-c", "echo warning; echo '%s'; exit %d" %
                (json.dumps({"rows": [figures]}), status)])


def pick(run, **more):
    return Pick(run, "t", run, **more)


def play(runs, row, rounds=3):
    record = contest.Record(Group(runs, [row]))
    for number in range(rounds):
        record.play(number)
    found = contest.result(record, row)
    text = io.StringIO()
    with redirect_stdout(text):
        show.show_row(found)
    return found, text.getvalue()


def verdicts(ours, theirs, *bars):
    row, _ = play({"ub": prints(p50_ns=ours), "peer": prints(p50_ns=theirs)},
                  Row("r", pick("ub"), [pick("peer")], list(bars)), 1)
    return [b["verdict"] for b in row["peers"][0]["bars"]]


def test_bars():
    assert verdicts(100, 200, Bar("peer", 0.5), Bar("peer", 0.49)) == ["met", "MISSED"]
    assert verdicts(100, 95, Bar("peer", 0.95, "speed"),
                    Bar("peer", 0.96, "speed")) == ["met", "MISSED"]
    assert verdicts(100, 75, Bar("peer", 25, "minus"),
                    Bar("peer", 24.9, "minus")) == ["met", "MISSED"]


def test_unless():
    bars = [Bar("slow", 1.0), Bar("fast", 1.3, unless="slow")]

    def second(slow, fast):
        row, _ = play({"ub": prints(p50_ns=100), "slow": prints(p50_ns=slow),
                       "fast": prints(p50_ns=fast)},
                      Row("r", pick("ub"), [pick("slow"), pick("fast")], bars), 1)
        return row["peers"][1]["bars"][0]["verdict"]
    assert second(100, 50) == "MISSED"
    assert second(100, 80) == "met"
    assert second(40, 50).startswith("does not count")


def test_rounds():
    """The median of the rounds' ratios, each of one round."""
    count = {"n": 0}
    runs = {"ub": prints(p50_ns=0), "peer": prints(p50_ns=10)}
    real = contest.once

    def once(run):
        rows = real(run)
        if run is runs["ub"]:
            count["n"] += 1
            rows["t", 0]["p50_ns"] = [10, 40, 20][count["n"] - 1]
        return rows
    contest.once, contest.OTHERS = once, 1e9
    try:
        row, _ = play(runs, Row("r", pick("ub", scale=2), [pick("peer")]))
    finally:
        contest.once, contest.OTHERS = real, 0.1
    ratio = row["peers"][0]["ratio"]
    assert (ratio["median"], ratio["min"], ratio["max"]) == (4, 2, 8), ratio
    assert ratio["rounds"] == [2, 8, 4], ratio
    assert row["ours"]["p50_ns"]["median"] == 40 and row["ours"]["slowest_rank"] == 1


def test_disturbed():
    """The least disturbed try counts, and tries end."""
    shares, figures = [0.9, 0.5, 0.7, 0.8], []
    clock = {"all": 0.0, "t": 0.0, "calls": 0}
    real = contest.busy_seconds, contest.once

    def busy():
        clock["calls"] += 1
        if clock["calls"] % 2 == 0:
            clock["all"] += shares[clock["calls"] // 2 - 1]
            clock["t"] += 1
        return clock["all"], 0.0, clock["t"]

    def once(run):
        figures.append(len(figures))
        return {("t", 0): {"test": "t", "size": 0, "p50_ns": figures[-1] + 1,
                           "slowest_rank": 0}}
    contest.busy_seconds, contest.once = busy, once
    try:
        row, text = play({"ub": Run([])}, Row("r", pick("ub"), []), 1)
    finally:
        contest.busy_seconds, contest.once = real
    assert row["ours"]["p50_ns"]["median"] == 2 and len(figures) == 4, row
    assert row["ours"]["disturbed"] == 1 and "1 of 1 rounds disturbed" in text, text


def test_missing():
    """Who has no figures says why, and the bar is not measured."""
    ways = {
        "not built": Run(["true"], built="/nonexistent", absent="there is none"),
        "not here: no cgroup": Run(["sh", "-c", "echo no cgroup >&2; exit 4"]),
        "status 3: it broke": Run(["sh", "-c", "echo it broke >&2; exit 3"]),
        "status 0": Run(["echo", "nothing"]),
        "not here: one CPU": prints(skipped="one CPU"),
        "/nonexistent/program: No such file": Run(["/nonexistent/program"]),
    }
    for why, run in ways.items():
        row, text = play({"ub": prints(p50_ns=1), "peer": run},
                         Row("r", pick("ub"), [pick("peer")], [Bar("peer", 1.0)]), 2)
        peer = row["peers"][0]
        assert peer["missing"].startswith(why), peer
        assert peer["bars"][0]["verdict"] is None
        assert why in text and "not measured" in text, text


def test_wrong():
    row, text = play({"ub": prints(p50_ns=1, wrong_data=True, status=1)},
                     Row("r", pick("ub"), []), 1)
    assert row["ours"]["wrong_data"] and "WRONG DATA" in text, text


def test_endless():
    """A run that does not end is ended, with all that it started."""
    contest.RUN_SECONDS = 1
    try:
        row, _ = play({"ub": Run(["sh", "-c", "sleep 1000 & wait"])},
                      Row("r", pick("ub"), []), 1)
    finally:
        contest.RUN_SECONDS = 150
    assert row["ours"]["missing"].startswith("did not end"), row


def test_time():
    """What has no time left is not begun, what runs then is ended; both say so."""
    contest.LEAST_SECONDS, contest.UNTIL = 0.2, time.monotonic() + 0.2
    try:
        row, _ = play({"slow": Run(["sleep", "1000"]), "late": prints(p50_ns=1)},
                      Row("r", pick("slow"), [pick("late")], [Bar("late", 1.0)]), 2)
    finally:
        contest.LEAST_SECONDS, contest.UNTIL = 5, None
    assert row["ours"]["missing"].startswith("did not end within 0 s"), row
    assert row["peers"][0]["missing"].startswith("not run: the time"), row


def test_first_rounds():
    """In a limit of time each group has its first round before the second of any."""
    order = tempfile.NamedTemporaryFile()
    groups = {}
    for name in ("a", "b"):
        run = Run(["sh", "-c", 'printf %s >>%s; echo \'{"rows": []}\'' % (name, order.name)])
        groups[name] = Group({"ub": run}, [Row("r", pick("ub"), [])])
    tries, contest.TRIES = contest.TRIES, 1
    try:
        assert len(list(side.measure_in_time(groups, 2))) == 2
    finally:
        contest.TRIES = tries
    assert order.read() == b"abab"


def main():
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            print(name)
            test()


if __name__ == "__main__":
    main()
