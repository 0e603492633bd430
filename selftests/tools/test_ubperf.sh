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
	        assert r["test"] == "barrier-ioctl", r
	        continue
	    assert 0 < r["min_ns"] <= r["p50_ns"] <= r["p99_ns"] <= r["max_ns"], r
	    assert r["checked"] and "wrong_data" not in r, r
	    assert r["iterations"] > 0 and 0 <= r["slowest_rank"] < r["members"], r
	    assert r["members"] == int(sys.argv[2]) and r["fabric"] == "host", r
	    if r["size"]:
	        assert abs(r["gb_per_s"] - r["size"] / r["p50_ns"]) < 0.01 * r["gb_per_s"] + 0.01, r
	print(" ".join(r["test"] for r in top["rows"]))
	END
}

all="pingpong barrier barrier-ioctl put get atomic map-read map-write private-copy raw-read raw-write tcp"

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

t_exit()
{
	"$ubrun" -n 2 "$ubperf" barrier-ioctl >"$tmp/out" 2>&1
	[ $? -eq 4 ] && grep -q 'only on the device' "$tmp/out" || return 1
	"$ubperf" nonsense 2>"$tmp/err"
	[ $? -eq 2 ] && grep -q "no test 'nonsense'" "$tmp/err" || return 1
	"$ubperf" put --size 0 2>"$tmp/err"
	[ $? -eq 2 ] || return 1
	"$ubperf" barrier 2>"$tmp/err"
	[ $? -eq 2 ] && grep -q '2 ranks' "$tmp/err"
}

ktap_plan 5
check "all tests, 2 ranks" t_all 2
check "all tests, 5 ranks" t_all 5
check "waking sleepers" t_sleep
check "sizes" t_sizes
check "exit status" t_exit
ktap_end
