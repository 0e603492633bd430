#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# On each node of a rig: ubrun with the lanes that the rig gives, the demos
# compared with one process, ubperf with its data checked. All ranks of a job
# end with one status, so each node judges by its own.
# shellcheck disable=SC2317 # called by name
set -u
here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
# shellcheck source=../tools/ktap.sh
. "$here/../tools/ktap.sh"

ubrun=$top/build/tools/ubrun
log=/tmp/tools_on_nodes
graph=$("$top/lib/examples/debian-graph" --extract -o /tmp/graph.txt)

# job PROGRAM ARGUMENT...
job()
{
	"$ubrun" --timeout 80 "$@" >"$log" 2>&1 && return 0
	echo "status $?"
	cat "$log"
	return 1
}

# Rank 0 prints; elsewhere there is nothing to read.
said()
{
	[ "$UB_RANK" -ne 0 ] || grep -Eq -- "$1" "$log" && return 0
	echo "no line like '$1' in:"
	cat "$log"
	return 1
}

t_heat()
{
	job "$top/build/examples/heat" --n 64 --cols 64 --inner 5 --outer 20 --check &&
	said '^heat: .*\(dev\)' && said '^identical bits: yes$'
}

t_pagerank()
{
	job "$top/build/examples/pagerank" --check "$graph" &&
	said '^ 1  libc6 ' && said ': equal$'
}

t_ubperf()
{
	job "$top/build/tools/ubperf" "$1" --check --iters 100 &&
	said "^$1.* dev .* yes$"
}

ktap_plan 7
check "heat has the bits of one process" t_heat
check "pagerank equals one process" t_pagerank
for test in pingpong barrier-ioctl put get map-write; do
	check "ubperf $test" t_ubperf "$test"
done
ktap_end
