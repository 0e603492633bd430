#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Soak on VMs: step after step, a program works on all nodes of a rig
# (selftests/vm/survive) while something is done to one or two of them at a
# random moment. The survivors must be told the same, in time, and end with the
# right number; where nobody is to be lost, nobody may be. KTAP, a result for
# each step, then a table of what was done and answered. A step follows from
# seed and number alone.
#
# usage: rig.sh [-n STEPS] [--nodes N] [--seed S] [--from STEP]
set -u
# shellcheck source=../vm/rig.sh
. "$(dirname "$(readlink -f "$0")")/../vm/rig.sh"

steps=10
nodes=4
from=0
seed=$((RANDOM * 32768 + RANDOM))
while [ $# -gt 1 ]; do
	case $1 in
	-n)		steps=$2 ;;
	--nodes)	nodes=$2 ;;
	--seed)		seed=$2 ;;
	--from)		from=$2 ;;
	*)		break ;;
	esac
	shift 2
done
[ $# = 0 ] || { sed -n '4,13s/^# \{0,1\}//p' "$0"; exit 2; }

detect_ms=2000
late_ms=10000	# of an answer, where others have the CPUs
declare -A did failed told most

# pause MS
pause() { sleep "$(($1 / 1000)).$(printf '%03d' $(($1 % 1000)))"; }

# draw STEP: sets kind, victim, other, delay and gap (ms)
kinds=(nothing short-pause short-freeze long-pause long-freeze kill process two)
draw()
{
	RANDOM=$(((seed * 31 + $1) % 2147483647))
	kind=${kinds[RANDOM % ${#kinds[@]}]}
	victim=$((RANDOM % nodes))
	other=$(((victim + 1 + RANDOM % (nodes - 1)) % nodes))
	delay=$((RANDOM % 1000))
	gap=$((RANDOM % (detect_ms + detect_ms / 2)))
	[ "$kind" != two ] || [ "$nodes" -gt 2 ] || kind="kill"
}

# do_it: to the victim; sets lost, the number of members that are
do_it()
{
	lost=1
	case $kind in
	nothing)	lost=0 ;;
	short-pause)	lost=0; u pause $victim && pause $((gap % (detect_ms / 4))) && u resume $victim ;;
	short-freeze)	lost=0; u freeze $victim && pause $((gap % (detect_ms / 4))) && u resume $victim ;;
	long-pause)	u pause $victim ;;
	long-freeze)	u freeze $victim ;;
	kill)		u kill $victim ;;
	process)	u exec $victim -- pkill -9 -x survive ;;
	two)		lost=2; u kill $victim && pause $gap && u kill $other ;;
	esac
}

# Bring back what was lost; a node that stood still was fenced.
restore()
{
	local n
	case $kind in
	long-*)	u resume $victim ;;
	esac
	# A job of that key holds its slot until the node joins again.
	case $kind in
	long-*)	over; u kill $victim ;;
	*)	over ;;
	esac
	case $kind in
	long-*|kill|two)
		for n in $victim $([ "$kind" != two ] || echo $other); do
			u boot "$n" || return
		done ;;
	esac
}

# ended N: how many members ended in a group of N
ended() { grep -cE "\] done ranks=$1\$" "$log"; }

# judge: what the survivors said
judge()
{
	local left=$((nodes - lost)) answers
	# The second of two may have ended its work before it was killed.
	[ $lost != 2 ] || [ "$(ended $((left + 1)))" != $((left + 1)) ] || left=$((left + 1))
	if [ "$(ended $left)" != $left ]; then
		echo "not $left members ended as $left:"
		cat "$log"
		return 1
	fi
	# of those who ended: of two that die, one may have been told of the first
	answers=$(sed -nE 's/^\[(n[0-9]+)\] done ranks=.*/\1/p' "$log" | while read -r n; do
		sed -n "s/^\[$n\] answer //p" "$log" | tr '\n' ';'; echo
	done | sort | uniq -c)
	if [ "$(wc -l <<<"$answers")" != 1 ]; then
		echo "answers that differ:"
		echo "$answers"
		return 1
	fi
	case $lost in
	0)	! grep -q answer <<<"$(cat "$log")" || { cat "$log"; return 1; } ;;
	*)	grep -qE " rank=($victim|$other) " <<<"$answers " || { echo "$answers"; return 1; } ;;
	esac
	told[$kind]+=" $(grep -oE 'reason=[^;]*' <<<"$answers" | sed 's/reason=//; s/ /-/g' | xargs)"
}

# step: done as drawn
step()
{
	local start took rc=0
	start --tag-output --timeout 120 all -- "$survive" 4
	until_lines 1 '\] up$' 60000 || return
	pause $delay
	start=$(now_ms)
	do_it || return
	if [ $lost != 0 ]; then
		until_lines $((nodes - lost)) '\] answer ' $((lost * detect_ms + late_ms)) || rc=1
		took=$(($(now_ms) - start))
		[ $took -le "${most[$kind]:-0}" ] || most[$kind]=$took
		[ $rc != 0 ] || until_lines $((nodes - lost)) '\] done ' 60000 || rc=1
	fi
	restore || rc=1
	[ $rc = 0 ] && judge
}

table()
{
	printf '# %-14s %6s %6s %8s  told\n' "done" steps failed "most ms"
	for kind in "${kinds[@]}"; do
		printf '# %-14s %6d %6d %8d  %s\n' "$kind" "${did[$kind]:-0}" \
			"${failed[$kind]:-0}" "${most[$kind]:-0}" \
			"$(tr ' ' '\n' <<<"${told[$kind]-}" | sed '/^$/d' | sort | uniq -c |
				awk '{ printf "%s %d ", $2, $1 }')"
	done
}

echo "KTAP version 1"
echo "1..$((steps + 1))"
echo "# seed $seed"
count=0
if ! u up -n "$nodes" --param ub.detect_ms=$detect_ms ${UB_SOAK_RIG-} >"$log" 2>&1; then
	sed 's/^/# /' "$log"
	echo "not ok 1 the rig does not come up"
	exit 1
fi
for ((i = from; i < from + steps; i++)); do
	count=$((count + 1))
	draw "$i"
	what="step $i: $kind, node $victim, after $delay ms"
	did[$kind]=$((${did[$kind]:-0} + 1))
	if step >"$log.why" 2>&1; then
		echo "ok $count $what"
	else
		sed 's/^/# /' "$log.why"
		echo "not ok $count $what"
		echo "# again: make soak SEED=$seed ON=rig FROM=$i N=1"
		failed[$kind]=$((${failed[$kind]:-0} + 1))
		ktap_failed=$((ktap_failed + 1))
		# what it left must not be the next step's
		over
		u down >/dev/null 2>&1
		u up -n "$nodes" --param ub.detect_ms=$detect_ms ${UB_SOAK_RIG-} >/dev/null 2>&1 || break
	fi
	rm -f "$log.why"
done
ktap_count=$count
ktap_planned=$((steps + 1))
# shellcheck disable=SC2046 # numbers
check "kernels stayed silent" silent $(seq 0 $((nodes - 1)))
table
ktap_end
