#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The demos on nodes of a rig with a spare, when processes and whole nodes die:
# heat goes on with the spare to the digits of an undisturbed run, then without
# it; pagerank goes on without the lost. KTAP.
#
# usage: recover.sh [NAME...]	only these tests
set -u
here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
# shellcheck source=../tools/ktap.sh
. "$here/../tools/ktap.sh"

rig=recover-$$
ubrig=$top/build/tools/ubrig
heat=$top/build/examples/heat
pagerank=$top/build/examples/pagerank
tmp=$(mktemp -d)
log=$tmp/log
job=

# shellcheck disable=SC2317 # called by trap
finish()
{
	[ -z "$job" ] || kill "$job" 2>/dev/null
	"$ubrig" down --name "$rig" >/dev/null 2>&1
	rm -rf "$tmp"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

graph=$("$top/lib/examples/debian-graph" --extract -o "$tmp/graph.txt")
[ -z "${UB_LONG-}" ] && steps="1 5 10" || steps=$(seq 10)
short=(--n 61 --cols 83 --inner 7 --outer 10 --check --recover)
long=(--n 61 --cols 83 --inner 4 --outer 1200 --check --recover)

# shellcheck disable=SC2317 # the tests are called by name
{
u() { local verb=$1; shift; "$ubrig" "$verb" --name "$rig" "$@"; }

has()
{
	grep -Eq -- "$1" "$log" && return 0
	echo "no line like '$1':"
	cat "$log"
	return 1
}

# all ARGUMENT...: on all nodes; its status is that of the killed, if any
all() { u exec --no-tag --timeout 100 all -- "$@" >"$log" 2>&1; }

begin()
{
	: >"$log"
	u exec --no-tag --timeout 150 all -- "$@" >"$log" 2>&1 &
	job=$!
}

over() { wait "$job"; job=; }

# until_line PATTERN: it appears, before the program has ended
until_line()
{
	while ! grep -Eq -- "$1" "$log"; do
		kill -0 "$job" 2>/dev/null || { has "$1"; return; }
		sleep 0.1
	done
}

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

t_kernels_stayed_silent()
{
	local n
	for n in 0 1 3 4; do
		! u dmesg $n | grep -E 'WARNING:|BUG:|Oops|Call Trace|blocked for more' || return 1
	done
}
}

names="up undisturbed process_killed node_killed two_nodes_killed"
names="$names pagerank_process pagerank_node kernels_stayed_silent"
[ $# -gt 0 ] && names="up undisturbed $*"
exec 3> >(sed 's/^/# /')
# shellcheck disable=SC2086 # words
set -- $names
ktap_plan $#
for name; do
	check "$name" "t_$name"
	[ "$name" != up ] || [ $ktap_failed = 0 ] || break
done
exec 3>&-
ktap_end
