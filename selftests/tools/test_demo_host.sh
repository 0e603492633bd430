#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The demos on the host back end: right on every shape of the machine, and the
# same results on all of them.
# shellcheck disable=SC2317 # called by name
set -u
here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
# shellcheck source=ktap.sh
. "$here/ktap.sh"

ubrun=$top/build/tools/ubrun
heat=$top/build/examples/heat
pagerank=$top/build/examples/pagerank
for p in "$ubrun" "$heat" "$pagerank"; do
	[ -x "$p" ] || ktap_skip_all "${p#"$top"/} is not built"
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
unset UB_FABRIC UB_RANK UB_SIZE UB_MACHINE UB_STATS

# machine NAME BOARDS MEMBERS
machine()
{
	cat >"$tmp/$1.yaml" <<-END
	name: $1
	levels:
	  - {name: board, radix: $2}
	  - {name: package, radix: $3}
	END
}

machine 1x1 1 1
machine 1x4 1 4
machine 2x2 2 2
machine 4x1 4 1
machine 3x3 3 3
shapes="1x1 1x4 2x2 4x1 3x3"
graph=$("$top/lib/examples/debian-graph" --extract -o "$tmp/graph.txt")

# run SHAPE FILE PROGRAM ARGUMENT...: output in FILE
run()
{
	local shape=$1 out=$2
	shift 2
	"$ubrun" --machine "$tmp/$shape.yaml" --timeout 120 "$@" >"$out" 2>"$tmp/err" && return 0
	echo "status $?:"
	cat "$out" "$tmp/err"
	return 1
}

has()
{
	grep -Eq -- "$2" "$1" && return 0
	echo "no line like '$2' in:"
	cat "$1"
	return 1
}

t_heat()
{
	run "$1" "$tmp/heat.$1" "$heat" --n 61 --cols 83 --inner 7 --outer 20 --check &&
	has "$tmp/heat.$1" '^identical bits: yes$' &&
	has "$tmp/heat.$1" '^level +supersteps'
}

# With one sweep between exchanges the shape is not to be seen in the numbers.
t_heat_same()
{
	local s
	for s in $shapes; do
		run "$s" "$tmp/plain.$s" "$heat" --n 40 --cols 30 --inner 1 --outer 60 --check --no-stats || return 1
		has "$tmp/plain.$s" '^identical bits: yes$' || return 1
		grep residual "$tmp/plain.$s" >"$tmp/residual.$s"
		cmp "$tmp/residual.1x1" "$tmp/residual.$s" || return 1
	done
}

t_heat_stale_halo_shows()
{
	# Two boards with frozen halos do not compute what one board does.
	run 1x4 "$tmp/one" "$heat" --n 40 --cols 30 --inner 5 --outer 20 --no-stats &&
	run 2x2 "$tmp/two" "$heat" --n 40 --cols 30 --inner 5 --outer 20 --no-stats &&
	! cmp -s <(grep residual "$tmp/one") <(grep residual "$tmp/two")
}

t_pagerank()
{
	run "$1" "$tmp/rank.$1" "$pagerank" --check "$graph" &&
	has "$tmp/rank.$1" 'largest difference [-+0-9.e]+: equal$' &&
	has "$tmp/rank.$1" '^ 1  libc6 ' &&
	has "$tmp/rank.$1" '^level +supersteps'
}

t_pagerank_same()
{
	local s
	for s in $shapes; do
		grep -E '^ ?[0-9]+  ' "$tmp/rank.$s" >"$tmp/top.$s"
		[ "$(wc -l <"$tmp/top.$s")" -eq 10 ] && cmp "$tmp/top.1x1" "$tmp/top.$s" || return 1
	done
}

t_errors()
{
	"$ubrun" -n 2 "$pagerank" /nonexistent 2>"$tmp/err"
	[ $? -eq 1 ] && has "$tmp/err" 'No such file' || return 1
	"$ubrun" -n 3 "$heat" --n 2 2>"$tmp/err"
	[ $? -eq 2 ] && has "$tmp/err" 'too few for 3 ranks' || return 1
	"$ubrun" -n 2 "$heat" --outer x 2>"$tmp/err"
	[ $? -eq 2 ]
}

shm_before=$(ls -A /dev/shm)
t_shm_clean()
{
	[ "$(ls -A /dev/shm)" = "$shm_before" ]
}

ktap_plan 15
for s in $shapes; do
	check "heat on $s has the bits of one process" t_heat "$s"
done
check "heat: one sweep per exchange: same on all shapes" t_heat_same
check "heat: frozen halos are really frozen" t_heat_stale_halo_shows
for s in $shapes; do
	check "pagerank on $s equals one process" t_pagerank "$s"
done
check "pagerank: same ten on all shapes" t_pagerank_same
check "errors have a status and a text" t_errors
check "nothing in /dev/shm" t_shm_clean
ktap_end
