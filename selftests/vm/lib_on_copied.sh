#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# libub on copied windows: a loop fabric of four nodes in one kernel, a process
# on each; libub's tests, the demo programs compared with one process, and a job
# of eight processes, two on each node. Alone in its guest.
#
# usage: lib_on_copied.sh

cd "$(dirname "$0")/../.." || exit 1
top=$PWD
# shellcheck source=../tools/ktap.sh
. "$top/selftests/tools/ktap.sh"
# shellcheck source=loop.sh
. "$top/selftests/vm/loop.sh"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# job PROCESSES PROGRAM ARGUMENT...: rank r is on node r mod 4. All have one
# key: a group is not taken for a former one of the same id.
job()
{
	local n=$1 r pids=() bad=0

	shift
	for ((r = 0; r < n; r++)); do
		UB_RANK=$r UB_SIZE=$n UB_JOB=copied-$$ \
			UB_FABRIC=/dev/ubfab$((r % 4)) \
			timeout ${UB_COPIED_SECONDS:-100} "$@" >"$tmp/out.$r" 2>&1 </dev/null &
		pids+=($!)
	done
	for ((r = 0; r < n; r++)); do
		wait "${pids[r]}" && continue
		echo "rank $r: status $?"
		sed "s/^/$r: /" "$tmp/out.$r"
		bad=1
	done
	return $bad
}

said()
{
	grep -Eq -- "$1" "$tmp/out.0" && return 0
	echo "no line like '$1' in:"
	cat "$tmp/out.0"
	return 1
}

t_lib()
{
	T_RANKED=1 job "$2" "$top/build/selftests/t_$1" || return 1
	! grep -h '^not ok' "$tmp"/out.*
}

t_heat()
{
	job "$1" "$top/build/examples/heat" --n 64 --cols 64 --inner 5 --outer 20 --check &&
	said '^heat: .*\(dev\)' && said '^identical bits: yes$'
}

t_pagerank()
{
	job "$1" "$top/build/examples/pagerank" --check "$graph" &&
	said '^ 1  libc6 ' && said ': equal$'
}

loop_load 4 loop_copied=1 || exit 1
graph=$("$top/lib/examples/debian-graph" --extract -o "$tmp/graph.txt")
tests=${UB_COPIED_TESTS:-"reduce move remap win"}
# shellcheck disable=SC2086 # words
set -- $tests
ktap_plan $(($# + 4))
for test in $tests; do
	check "$test on four nodes" t_lib "$test" 4
done
for n in 4 8; do
	check "heat with $n processes has the bits of one" t_heat $n
	check "pagerank with $n processes equals one" t_pagerank $n
done
ktap_end
