# SPDX-License-Identifier: GPL-2.0-only
"""Ours and the peers, in rounds, and how they compare.

A Run is a command that prints ubperf's JSON. A Group has the runs that are
compared with each other; in each round all of them run one right after the
other, forwards and backwards by turns, so that a machine that slows down for a
while slows all of them. A run during which other programs took CPU time is done
again, a few times; the least disturbed counts, and says so. A Row compares a test of
one run with tests of others; ratios are of the same round.

With a limit of time (UNTIL) no run begins after it, none lasts much longer, and a
row without figures says why.
"""
import json
import os
import signal
import statistics
import subprocess
import time
from dataclasses import dataclass, field

RUN_SECONDS = 150
LEAST_SECONDS = 5   # for a run that has begun
UNTIL = None        # by the monotonic clock
TRIES = 4
OTHERS = 0.1        # of one CPU, taken by other programs: disturbed
FIGURES = ("min_ns", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns")
EX_SKIP = 4


@dataclass
class Run:
    argv: list
    env: dict = field(default_factory=dict)
    built: str = ""     # a program that the build makes, or does not
    absent: str = ""    # what to say when it is not there


@dataclass
class Pick:
    """A test of a run; its times are multiplied by scale to compare."""
    run: str
    test: str
    text: str
    size: int = 0
    scale: float = 1.0


@dataclass
class Bar:
    """Against the first pick of the run that peer names.
    time: ours / theirs at most limit. speed: theirs / ours at least limit.
    minus: ours - theirs at most limit ns. alone: ours at most limit.
    unless: does not count where that peer is the faster one.
    aim: not a bar, but what to aim at."""
    peer: str
    limit: float
    kind: str = "time"
    unless: str = ""
    aim: bool = False


@dataclass
class Row:
    text: str
    ours: Pick
    peers: list
    bars: list = field(default_factory=list)
    unit: str = "ns"


@dataclass
class Group:
    runs: dict
    rows: list
    rounds: int = 0     # 0: as many as asked for


class NoFigures(Exception):
    """A run cannot give figures here; why is the text."""


def complaint(text):
    """The last line that says something."""
    lines = [line for line in text.splitlines() if line.strip(" -")]
    return lines[-1].strip()[:160] if lines else "no text"


def busy_seconds():
    """CPU time of all programs and of this one's children, so far."""
    with open("/proc/stat") as f:
        ticks = [int(x) for x in f.readline().split()[1:9]]
    t = os.times()
    idle = ticks[3] + ticks[4]
    return ((sum(ticks) - idle) / os.sysconf("SC_CLK_TCK"),
            t.children_user + t.children_system, time.monotonic())


def seconds_left():
    return float("inf") if UNTIL is None else UNTIL - time.monotonic()


def execute(run):
    """Rows of one run by (test, size), of the least disturbed of a few tries."""
    if seconds_left() <= 0:
        raise NoFigures("not run: the time for all of them was over")
    best, least = None, None
    for _ in range(TRIES):
        before = busy_seconds()
        rows = once(run)
        all_of_them, own, took = (b - a for a, b in zip(before, busy_seconds()))
        # Times are in ticks of 10 ms.
        others = max(0.0, all_of_them - own) / max(took, 0.2)
        if best is None or others < least:
            best, least = rows, others
        if others <= OTHERS or seconds_left() <= 0:
            break
    for row in best.values():
        row["others"] = least
    return best


def once(run):
    if run.built and not os.path.exists(run.built):
        raise NoFigures("not built: " + run.absent)
    try:
        child = subprocess.Popen(run.argv, env={**os.environ, **run.env},
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True,
                                 start_new_session=True)
    except OSError as e:
        raise NoFigures("%s: %s" % (run.argv[0], e.strerror)) from e
    limit = min(RUN_SECONDS, max(seconds_left(), LEAST_SECONDS))
    try:
        out, err = child.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        raise NoFigures("did not end within %.0f s" % limit) from None
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    if child.returncode == EX_SKIP:
        raise NoFigures("not here: " + complaint(err))
    try:
        rows = json.loads(out[out.index("{"):])["rows"]
    except ValueError:
        raise NoFigures("status %d: %s" % (child.returncode, complaint(err))) from None
    if child.returncode and not any(r.get("wrong_data") for r in rows):
        raise NoFigures("status %d: %s" % (child.returncode, complaint(err)))
    return {(r["test"], r["size"]): r for r in rows}


class Record:
    """What the runs of a group gave: by run a list with an entry a round."""

    def __init__(self, group):
        self.group = group
        self.rounds = {name: [] for name in group.runs}
        self.missing = {}

    def play(self, number):
        if self.group.rounds and number >= self.group.rounds:
            return
        names = list(self.group.runs)
        for name in names if number % 2 == 0 else reversed(names):
            rows = {}
            if name not in self.missing:
                try:
                    rows = execute(self.group.runs[name])
                except NoFigures as e:
                    self.missing[name] = str(e)
            self.rounds[name].append(rows)

    def why(self, pick):
        if pick.run in self.missing:
            return self.missing[pick.run]
        for rows in self.rounds[pick.run]:
            row = rows.get((pick.test, pick.size))
            if row and "skipped" in row:
                return "not here: " + row["skipped"]
        return "no figures"

    def figures(self, pick):
        """By round: the figures, scaled; None where there are none."""
        found = []
        for rows in self.rounds[pick.run]:
            row = rows.get((pick.test, pick.size))
            if row is None or "skipped" in row:
                found.append(None)
                continue
            scaled = {f: row[f] * pick.scale for f in FIGURES if f in row}
            scaled["slowest_rank"] = row.get("slowest_rank")
            scaled["wrong"] = bool(row.get("wrong_data"))
            scaled["others"] = row["others"]
            found.append(scaled)
        return found


def spread(values):
    """Median, least and most; None of nothing."""
    if not values:
        return None
    return {"median": statistics.median(values), "min": min(values),
            "max": max(values), "rounds": values}


def summary(record, pick):
    """One contender of a row."""
    found = [f for f in record.figures(pick) if f]
    s = {"who": pick.text, "run": pick.run, "test": pick.test, "size": pick.size}
    if not found:
        s["missing"] = record.why(pick)
        return s
    for f in FIGURES:
        values = [x[f] for x in found if f in x]
        if values:
            s[f] = spread(values)
    s["slowest_rank"] = statistics.mode(x["slowest_rank"] for x in found)
    s["others"] = [round(x["others"], 3) for x in found]
    s["disturbed"] = sum(x["others"] > OTHERS for x in found)
    if any(x["wrong"] for x in found):
        s["wrong_data"] = True
    return s


def compare(ours, theirs, kind):
    """By round: the figure that a bar of this kind is about."""
    pairs = [(a["p50_ns"], b["p50_ns"]) for a, b in zip(ours, theirs) if a and b]
    if kind == "minus":
        return spread([a - b for a, b in pairs])
    if kind == "speed":
        return spread([b / a for a, b in pairs if a])
    return spread([a / b for a, b in pairs if b])


def judge(bar, value):
    if value is None:
        return None
    met = value["median"] >= bar.limit if bar.kind == "speed" else \
        value["median"] <= bar.limit
    return "met" if met else "MISSED"


def result(record, row):
    """A row with all that is known, as it goes to JSON."""
    ours = record.figures(row.ours)
    out = {"measure": row.text, "unit": row.unit, "ours": summary(record, row.ours),
           "peers": []}
    by_run = {}
    for pick in row.peers:
        s = summary(record, pick)
        theirs = record.figures(pick)
        s["ratio"] = compare(ours, theirs, "time")
        s["bars"] = []
        out["peers"].append(s)
        by_run.setdefault(pick.run, (s, theirs))
    out["bars"] = []
    for bar in row.bars:
        if bar.kind == "alone":
            value = spread([f["p50_ns"] for f in ours if f])
            where = out
        else:
            where, theirs = by_run[bar.peer]
            value = compare(ours, theirs, bar.kind)
        b = {"kind": bar.kind, "limit": bar.limit, "aim": bar.aim, "value": value,
             "verdict": judge(bar, value)}
        if bar.unless and value:
            other, own = by_run[bar.unless][0], where
            if "p50_ns" in other and other["p50_ns"]["median"] <= own["p50_ns"]["median"]:
                b["verdict"] = "does not count: it is not lower than " + bar.unless
        where["bars"].append(b)
    return out
