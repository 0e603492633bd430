#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The comparison with the peers: does it count rightly, and does it work at all?
# It judges no speed, and what is not installed is not compared.
# shellcheck disable=SC2317 # called by name
set -u
here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
# shellcheck source=ktap.sh
. "$here/ktap.sh"

cd "$top" || exit 1
command -v python3 >/dev/null || ktap_skip_all "no python3"
[ -x build/tools/ubperf ] || ktap_skip_all "build/tools/ubperf is not built"
tmp=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$tmp"' EXIT
unset UB_FABRIC UB_RANK UB_SIZE UB_MACHINE
export PYTHONDONTWRITEBYTECODE=1
side=tools/ubperf/side/side.py

t_counts()
{
	python3 "$here/side_counts.py"
}

t_peers()
{
	make -s -f tools/ubperf/peers/peers.mk "$@" >"$tmp/make" 2>&1 || { cat "$tmp/make"; return 1; }
}

# A quick round; each contender has figures, or says why it has none.
quick()
{
	timeout 250 python3 $side host --quick --rounds 1 --only "$1" --json "$tmp/json" \
		>"$tmp/table" 2>&1 || { cat "$tmp/table"; return 1; }
	python3 - "$tmp/json" "$2" <<-'END' || { cat "$tmp/table"; return 1; }
	import json, sys
	top = json.load(open(sys.argv[1]))
	need = sys.argv[2].split()
	assert top["version"] == 1 and top["rows"], top
	for row in top["rows"]:
	    for who in [row["ours"]] + row["peers"]:
	        assert not who.get("wrong_data"), who
	        if "missing" in who:
	            assert who["run"] not in need and who["missing"], who
	            continue
	        assert 0 < who["p50_ns"]["median"], who
	    for peer in row["peers"]:
	        assert "missing" in peer or "missing" in row["ours"] or peer["ratio"]["median"] > 0, peer
	        for bar in peer["bars"]:
	            assert "verdict" in bar, bar
	END
}

t_own()
{
	quick put-1M,accounting,scope,crowd-2,idle "ub memcpy nostats pthread"
}

t_bsp()
{
	quick sync,put "ub bsp"
}

t_mpi()
{
	local put=put
	[ -e build/peers/ubperf-bsp ] || put=put,sync
	quick "$put,allreduce-8B,nested" "ub $1"
}

t_quota()
{
	tools/ubperf/side/quota.sh 50000 sh -c 'cat /proc/self/cgroup; exit 7' \
		>"$tmp/out" 2>"$tmp/err"
	case $? in
	7)	grep -q "/ubperf-" "$tmp/out" ;;
	4)	grep -q 'no cgroup' "$tmp/err" ;;
	*)	false ;;
	esac || { cat "$tmp/out" "$tmp/err"; return 1; }
	[ ! -s "$tmp/err" ] || return 0
	# Half a CPU: 300 ms of it take twice as long.
	tools/ubperf/side/quota.sh 50000 python3 - <<-'END'
	import time
	begin = time.monotonic()
	while time.process_time() < 0.3:
	    pass
	assert time.monotonic() - begin > 0.4, time.monotonic() - begin
	END
}

t_usage()
{
	python3 $side host --list | grep -qw put-random || return 1
	python3 $side host --only nonsense 2>"$tmp/err" && return 1
	grep -q "no group 'nonsense'" "$tmp/err"
}

# On addresses of the loopback: rank 1 serves, rank 0 gives orders.
t_rsh()
{
	local rsh=tools/ubperf/guest-rsh.py
	export UBPERF_NET=127.77.$((BASHPID % 250)) UB_SIZE=2
	UB_RANK=1 python3 $rsh serve 2>"$tmp/err" &
	server=$!
	# shellcheck disable=SC2016 # the remote shell's
	UB_RANK=0 python3 $rsh all sh -c 'echo "rank $UB_RANK"' >"$tmp/out" || return 1
	[ "$(sort "$tmp/out")" = "$(printf 'rank 0\nrank 1')" ] || { cat "$tmp/out"; return 1; }
	# shellcheck disable=SC2016 # the same
	UB_RANK=0 python3 $rsh all sh -c 'exit $((UB_RANK * 5))' && return 1
	# shellcheck disable=SC2016 # as mpirun calls it: words of a shell
	UB_RANK=0 python3 $rsh "$UBPERF_NET.2" 'A=3;' echo '$A' '$UB_RANK' '; exit 9' >"$tmp/out"
	[ $? -eq 9 ] && [ "$(cat "$tmp/out")" = "3 1" ] || { cat "$tmp/out"; return 1; }
	UB_RANK=0 python3 $rsh quit || return 1
	wait "$server" || { cat "$tmp/err"; return 1; }
	server=
}

# name, the compiler that says whether it is installed
mpi()
{
	if command -v "mpicc.$1" >/dev/null && command -v "mpirun.$1" >/dev/null; then
		check "$1: builds" t_peers "$1"
		check "$1: a quick round" t_mpi "$1"
	else
		skip "$1: builds" "not installed"
		skip "$1: a quick round" "not installed"
	fi
}

ktap_plan 12
check "counting" t_counts
check "usage" t_usage
check "quota" t_quota
check "starting things in other guests" t_rsh
check "pthread: builds" t_peers pthread
check "a quick round without MPI" t_own
if [ -e lib/include/bsp.h ]; then
	check "bsp: builds" t_peers bsp
	check "bsp: a quick round" t_bsp
else
	skip "bsp: builds" "there is no bsp.h"
	skip "bsp: a quick round" "there is no bsp.h"
fi
mpi openmpi
mpi mpich
ktap_end
