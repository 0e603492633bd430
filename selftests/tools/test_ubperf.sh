#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# ubperf on the host back end: every test gives sane figures and right data.
# It judges no speed.
# shellcheck disable=SC2317 # called by name
set -u
here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
# shellcheck source=ktap.sh
. "$here/ktap.sh"

ubrun=$top/build/tools/ubrun
ubperf=$top/build/tools/ubperf
for p in "$ubrun" "$ubperf"; do
	[ -x "$p" ] || ktap_skip_all "${p#"$top"/} is not built"
done
command -v python3 >/dev/null || ktap_skip_all "no python3"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
unset UB_FABRIC UB_RANK UB_SIZE UB_MACHINE

# rows RANKS ARGUMENT...: JSON in $tmp/json
rows()
{
	local n=$1
	shift
	"$ubrun" -n "$n" --timeout 120 "$ubperf" "$@" --json >"$tmp/json" 2>"$tmp/err" && return 0
	echo "status $?"
	cat "$tmp/json" "$tmp/err"
	return 1
}

# Each row is ordered and checked; prints the names.
sane()
{
	python3 - "$tmp/json" "$1" <<-'END'
	import json, sys
	top = json.load(open(sys.argv[1]))
	assert top["version"] == 1
	for r in top["rows"]:
	    if "skipped" in r:
	        assert r["test"] in ("barrier-ioctl", "scope-enter"), r
	        continue
	    assert 0 < r["min_ns"] <= r["p50_ns"] <= r["p90_ns"] <= r["p99_ns"] <= r["max_ns"], r
    assert r["min_ns"] <= r["mean_ns"] <= r["max_ns"], r
    assert r["clock"] == ("cpu" if r["test"] in ("barrier-cpu", "idle") else "wall"), r
	    assert r["checked"] and "wrong_data" not in r, r
	    assert r["iterations"] > 0 and 0 <= r["slowest_rank"] < r["members"], r
	    assert r["members"] == int(sys.argv[2]) and r["fabric"] == "host", r
	    if r["size"]:
	        bytes = r["size"] * r.get("messages", 1)
        assert abs(r["gb_per_s"] - bytes / r["p50_ns"]) < 0.01 * r["gb_per_s"] + 0.01, r
	print(" ".join(r["test"] for r in top["rows"]))
	END
}

all="pingpong barrier barrier-ioctl put get atomic put-sync put-random allreduce inner nested scope-enter map-read map-write private-copy raw-read raw-write tcp"

t_all()
{
	rows "$1" all --check --iters 300 || return 1
	sane "$1" >"$tmp/names" || return 1
	[ "$(cat "$tmp/names")" = "$all" ] || { cat "$tmp/names"; return 1; }
}

t_sleep()
{
	rows 3 barrier --sleep --check --iters 20 || return 1
	sane 3 >"$tmp/names" && [ "$(cat "$tmp/names")" = "barrier barrier-wake" ]
}

t_sizes()
{
	local size
	for size in 1 17 64K 3M; do
		rows 2 map-write --size "$size" --iters 20 --check && sane 2 >"$tmp/names" || return 1
		rows 2 put --size "$size" --iters 20 --check && sane 2 >"$tmp/names" || return 1
	done
}

# Several tests and sizes at once, boards of a machine file.
t_lists()
{
	UB_MACHINE=$top/lib/machines/2x2.yaml rows 4 allreduce,nested,scope-enter,inner \
		--size 8,1M --iters 20 --check || return 1
	sane 4 >"$tmp/names"
	[ "$(cat "$tmp/names")" = "allreduce allreduce inner nested scope-enter" ] ||
		{ cat "$tmp/names"; return 1; }
	! grep -q skipped "$tmp/json"
}

# Who waits sleeps: rank 0 comes 300 ms late, and rank 1 may use a third of a CPU.
t_cpu()
{
	rows 2 barrier-cpu,idle --batch 50 --iters 100 --late 5 --check && sane 2 >"$tmp/names" &&
		[ "$(cat "$tmp/names")" = "barrier-cpu idle" ] || return 1
	rows 2 idle --late 300 --iters 1 --check && sane 2 >"$tmp/names" || return 1
	python3 - "$tmp/json" <<-'END'
	import json, sys
	r, = json.load(open(sys.argv[1]))["rows"]
	assert r["iterations"] == 1 and r["slowest_rank"] == 1, r
	assert r["p50_ns"] < 100e6, r
	END
}

t_budget()
{
	rows 2 map-write --size 16M --budget 1 --check && sane 2 >"$tmp/names" || return 1
	python3 - "$tmp/json" <<-'END'
	import json, sys
	r, = json.load(open(sys.argv[1]))["rows"]
	assert 10 <= r["iterations"] < 200, r
	END
}

t_exit()
{
	local size
	"$ubrun" -n 2 "$ubperf" barrier-ioctl >"$tmp/out" 2>&1
	[ $? -eq 4 ] && grep -q 'only on the device' "$tmp/out" || return 1
	"$ubperf" nonsense 2>"$tmp/err"
	[ $? -eq 2 ] && grep -q "no test 'nonsense'" "$tmp/err" || return 1
	"$ubperf" put,nonsense 2>"$tmp/err"
	[ $? -eq 2 ] && grep -q "no test 'nonsense'" "$tmp/err" || return 1
	for size in 0 "," 8,x 1,2,3,4,5,6,7,8,9; do
		"$ubperf" put --size "$size" 2>"$tmp/err"
		[ $? -eq 2 ] && grep -q -- --size "$tmp/err" || { echo "size $size"; return 1; }
	done
	"$ubperf" barrier 2>"$tmp/err"
	[ $? -eq 2 ] && grep -q '2 ranks' "$tmp/err"
}

ktap_plan 8
check "all tests, 2 ranks" t_all 2
check "all tests, 5 ranks" t_all 5
check "waking sleepers" t_sleep
check "sizes" t_sizes
check "lists of tests and sizes" t_lists
check "CPU time" t_cpu
check "budget" t_budget
check "exit status" t_exit
ktap_end
