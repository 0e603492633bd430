#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The demos on nodes of a rig with a spare, when processes and whole nodes die:
# heat goes on with the spare to the digits of an undisturbed run, then without
# it; pagerank goes on without the lost. KTAP.
#
# usage: recover.sh [NAME...]	only these tests
set -u
# shellcheck source=rig.sh
. "$(dirname "$(readlink -f "$0")")/rig.sh"

heat=$top/build/examples/heat
pagerank=$top/build/examples/pagerank

graph=$("$top/lib/examples/debian-graph" --extract -o "$tmp/graph.txt")
[ -z "${UB_LONG-}" ] && steps="1 5 10" || steps=$(seq 10)
short=(--n 61 --cols 83 --inner 7 --outer 10 --check --recover)
long=(--n 61 --cols 83 --inner 4 --outer 1200 --check --recover)

# shellcheck disable=SC2317 # the tests are called by name
{
has()
{
	grep -Eq -- "$1" "$log" && return 0
	echo "no line like '$1':"
	cat "$log"
	return 1
}

# all ARGUMENT...: on all nodes; its status is that of the killed, if any
all() { u exec --no-tag --timeout 100 all -- "$@" >"$log" 2>&1; }

begin() { start --no-tag --timeout 150 all -- "$@"; }

# until_line PATTERN: it appears
until_line() { until_lines 1 "$1" 150000; }

residuals() { grep residual "$log"; }

t_up()
{
	u up -n 4 --spares 1 --machine "$top/lib/machines/3x2.yaml" --param ub.detect_ms=2000
}

t_undisturbed()
{
	all "$heat" "${long[@]}" && has '^identical bits: yes$' || return 1
	residuals >"$tmp/long"
	all "$heat" "${short[@]}" && has '^identical bits: yes$' || return 1
	residuals >"$tmp/short"
	[ -s "$tmp/short" ] && [ -s "$tmp/long" ] && grep '^mirrors of world' "$log" >&3
}

t_process_killed()
{
	local step where
	for step in $steps; do
		for where in inner outer mirror; do
			all "$heat" "${short[@]}" --kill $((1 + step % 3)):"$step":$where
			has '^identical bits: yes$' && has "on with a spare at outer step $step\$" &&
			cmp "$tmp/short" <(residuals) || return 1
		done
	done
}

t_node_killed()
{
	local start
	begin "$heat" "${long[@]}"
	until_line 'outer step 240,' || return
	start=${EPOCHREALTIME/./}
	u kill 1 || return
	until_line 'on with a spare' || return
	echo "on with a spare after $(((${EPOCHREALTIME/./} - start) / 1000)) ms" >&3
	over
	has '^identical bits: yes$' && cmp "$tmp/long" <(residuals)
}

# After the spare there is none: the survivors go on.
t_two_nodes_killed()
{
	u boot 1 || return
	begin "$heat" "${long[@]}"
	until_line 'outer step 240,' && u kill 1 && until_line 'on with a spare' &&
	until_line 'outer step 720,' && u kill 3 && until_line 'on with the survivors' || return
	over
	has '^identical bits: yes$'
}

t_pagerank_process()
{
	u boot 1 && u boot 3 || return
	all "$pagerank" --recover --check --kill 2:10 "$graph"
	has 'on with 3 ranks after iteration 9$' && has 'largest difference [-+0-9.e]+: equal$'
}

t_pagerank_node()
{
	begin "$pagerank" --recover --check --tolerance 0 --iterations 2000 "$graph"
	until_line 'nodes, [0-9]+ edges' && sleep 3 && u kill 2 &&
	until_line 'on with 3 ranks after iteration' || return
	grep 'on with' "$log" >&3
	over
	has '^serially 2000 iterations, here 2000;.*: equal$' && has '^ 1  libc6 '
}

t_kernels_stayed_silent() { silent 0 1 3 4; }
}

names="up undisturbed process_killed node_killed two_nodes_killed"
names="$names pagerank_process pagerank_node kernels_stayed_silent"
[ $# -gt 0 ] && names="up undisturbed $*"
# shellcheck disable=SC2086 # words
run_named $names
