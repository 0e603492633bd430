#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The demos on the host back end when ranks are killed: heat at every superstep,
# in each part of it, goes on with a spare to the bits of an undisturbed run; heat
# and pagerank go on without one to a right result.
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
unset UB_FABRIC UB_RANK UB_SIZE UB_SPARES UB_MACHINE UB_STATS

steps=6
[ -z "${UB_LONG-}" ] || steps=40
plate=(--n 37 --cols 29 --inner 5 --outer "$steps" --check)
graph=$("$top/lib/examples/debian-graph" --extract -o "$tmp/graph.txt")

# job STATUS ARGUMENT...: of ubrun; output in $tmp/out
job()
{
	local want=$1 rc
	shift
	"$ubrun" --machine "$top/lib/machines/3x2.yaml" --timeout 100 "$@" >"$tmp/out" 2>"$tmp/err"
	rc=$?
	[ $rc -eq "$want" ] && return 0
	echo "status $rc, not $want: $*"
	cat "$tmp/out" "$tmp/err"
	return 1
}

has()
{
	grep -Eq -- "$1" "$tmp/out" && return 0
	echo "no line like '$1':"
	cat "$tmp/out" "$tmp/err"
	return 1
}

residuals() { grep residual "$tmp/out"; }

t_undisturbed()
{
	job 0 -n 4 "$heat" "${plate[@]}" && has '^identical bits: yes$' || return 1
	residuals >"$tmp/plain"
	job 0 -n 4 --spares 2 "$heat" "${plate[@]}" --recover && has '^identical bits: yes$' &&
		has '^mirrors of world: '"$steps"' checkpoints, [0-9]+ bytes, ' &&
		cmp "$tmp/plain" <(residuals)
}

# every WHERE ARGUMENT...: a rank killed in each superstep, another one each time
every()
{
	local where=$1 step
	shift
	for ((step = 1; step <= steps; step++)); do
		"$@" "$step" --kill "$((step % 4)):$step:$where" || return 1
	done
}

with_spare()
{
	local step=$1
	shift
	job 0 -n 4 --spares 1 "$heat" "${plate[@]}" --recover "$@" &&
	has '^identical bits: yes$' && has "on with a spare at outer step $step\$" &&
	[ "$(residuals | sort -u | wc -l)" = "$(wc -l <"$tmp/plain")" ] &&
	cmp "$tmp/plain" <(residuals | sort -u -t, -k1,1 | sort -k3,3n)
}

without()
{
	local step=$1
	shift
	job 137 -n 4 --grace inf "$heat" "${plate[@]}" --recover "$@" &&
	has '^identical bits: yes$' && has "on with the survivors at outer step $step\$"
}

t_two_spares()
{
	job 0 -n 4 --spares 2 "$heat" "${plate[@]}" --recover --kill 0:2:inner --kill 3:4:mirror &&
	has '^identical bits: yes$' && has 'on with a spare at outer step 2$' &&
	has 'on with a spare at outer step 4$' && cmp "$tmp/plain" <(residuals)
}

# A member of each board: nobody was the buddy of both.
t_both_boards()
{
	job 0 -n 4 --spares 2 "$heat" "${plate[@]}" --recover --kill 0:3:inner --kill 3:3:inner &&
	has '^identical bits: yes$' && cmp "$tmp/plain" <(residuals)
}

t_spare_then_survivors()
{
	job 137 -n 4 --spares 1 --grace inf "$heat" "${plate[@]}" --recover \
		--kill 1:2:outer --kill 2:4:inner &&
	has '^identical bits: yes$' && has 'on with a spare at outer step 2$' &&
	has 'on with the survivors at outer step 4$'
}

t_two_survive()
{
	job 137 -n 4 --grace inf "$heat" "${plate[@]}" --recover \
		--kill 1:2:inner --kill 2:4:mirror &&
	has '^identical bits: yes$' && has 'on with the survivors at outer step 4$'
}

# Who kept it dies with it: the others say so and end.
t_nobody_has_it()
{
	job 137 -n 4 --spares 2 "$heat" "${plate[@]}" --recover --kill 0:3:inner --kill 2:3:inner &&
		echo "it went on" && return 1
	grep -q 'both lost' "$tmp/err" && return 0
	cat "$tmp/out" "$tmp/err"
	return 1
}

t_without_recover()
{
	job 137 -n 4 "$heat" "${plate[@]}" --kill 1:2:inner && grep -q 'rank 1 .*is lost' "$tmp/err"
}

# pagerank_lives STEPS ARGUMENT...: killed in some of its iterations
pagerank_lives()
{
	local it
	for it in $1; do
		job 137 -n 4 --grace inf "$pagerank" --recover --check --kill $((it % 4)):"$it" "$graph" &&
		has "on with 3 ranks after iteration $((it - 1))\$" &&
		has 'largest difference [-+0-9.e]+: equal$' && has '^ 1  libc6 ' &&
		has '^mirrors of world: [0-9]+ checkpoints, ' || return 1
	done
}

t_pagerank_plain()
{
	job 0 -n 4 "$pagerank" --recover --check "$graph" &&
	has 'largest difference [-+0-9.e]+: equal$'
}

t_usage()
{
	expect 2 "$ubrun" -n 2 "$heat" --kill 1:2 && expect 2 "$ubrun" -n 2 "$heat" --kill 1:2:there &&
	expect 2 "$ubrun" -n 2 "$pagerank" --kill 1 &&
	expect 2 "$ubrun" -n 4 --spares 1 --machine "$top/lib/machines/2x2.yaml" true &&
	grep -q '5 ranks .* on 5 nodes' "$tmp/err" &&
	expect 2 "$ubrun" --fabric dev --spares 1 true
}

its="1 2 3 10 40"
[ -z "${UB_LONG-}" ] || its=$(seq 60)
ktap_plan 14
check "heat with spares that are not needed" t_undisturbed
for where in inner outer mirror; do
	check "heat with a spare, killed at every superstep: $where" every $where with_spare
done
check "heat without, killed at every superstep" every inner without
check "heat: two spares, one after the other" t_two_spares
check "heat: two at once on both boards" t_both_boards
check "heat: a spare, then the survivors" t_spare_then_survivors
check "heat: two of four survive" t_two_survive
check "heat: a member and its buddy lost" t_nobody_has_it
check "heat without --recover: who is lost, and the end" t_without_recover
check "pagerank with a mirror, undisturbed" t_pagerank_plain
check "pagerank without the killed" pagerank_lives "$its"
check "options" t_usage
ktap_end
