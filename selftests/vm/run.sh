#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The VM lane: boots a rig for each line of selftests/vm/tests, runs the
# program once on each node, and folds what the nodes print into one KTAP
# result, with theirs below it.
#
# A program is a name in build/selftests/ub, or a path from the top; words are
# joined by commas: "ring_test,-r,100". It prints KTAP. A line passes when all
# nodes' documents are complete and without failure, and ubrig ends well: a
# splat or panic in a guest's kernel fails it.
#
# Lines of one node run three at a time, as a guest waits half its time; those of
# more have the machine for themselves.
# Results are printed in the order of the table.
#
# usage: run.sh [NAME...]	only these lines; without, those with a "+" only
#				with UB_LONG=1
#	UB_VM_RIG	more words for ubrig, UB_VM_WRAP a program that runs the
#			programs, UB_VM_SLOW how many times as long they may take,
#			UB_VM_AT_ONCE how many guests at a time (default 3)

set -u
cd "$(dirname "$0")/../.." || exit 1
top=$PWD
table=selftests/vm/tests
ubrig=build/tools/ubrig
sum=.ci/ktap-sum

declare -A job
tmp=$(mktemp -d)
# shellcheck disable=SC2317 # by the trap
end()
{
	local pid

	for pid in "${!job[@]}"; do
		kill -TERM -- "-$pid" 2>/dev/null
	done
	wait
	rm -rf "$tmp"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

rows()
{
	sed -e 's/#.*//' -e '/^[[:space:]]*$/d' $table |
		awk -v names="$*" -v long="${UB_LONG-}" '
			BEGIN { n = split(names, want) }
			{ hit = !n && (long || !/^[^ \t]*\+/); sub(/\+/, "", $1)
			  for (i = 1; i <= n; i++) hit += $1 == want[i] }
			hit'
}

# node_result INDEX: its document, checked; leaves skipped=no if it did something
node_result()
{
	local doc=$dir/n$1 text

	sed -n "s/^\[n$1\] //p" "$dir/out" >"$doc"
	if text=$($sum -v -n "n$1" "$doc"); then
		[ "${text#0 passed}" != "$text" ] || skipped=no
		return 0
	fi
	skipped=no
	# what is wrong with the document itself; its failed tests are seen below
	printf '%s\n' "$text" | grep '^not ok' | sed 's/^not ok/#/'
	return 1
}

# run NUMBER NAME NODES SECONDS PROGRAM UBRIG-ARGUMENT...: status 1 when it failed
run()
{
	local number=$1 name=$2 nodes=$3 seconds=$(($4 * ${UB_VM_SLOW:-1}))
	local words i rc bad='' skipped=yes dir=$tmp/$1

	IFS=, read -ra words <<<"$5"
	shift 5
	mkdir "$dir"
	case ${words[0]} in
	/*)	;;
	*/*)	words[0]=$top/${words[0]} ;;
	*)	words[0]=$top/build/selftests/ub/${words[0]} ;;
	esac

	# shellcheck disable=SC2086 # words
	{ time $ubrig run -n "$nodes" --tag-output --timeout "$seconds" "$@" ${UB_VM_RIG-} -- \
		${UB_VM_WRAP-} "${words[@]}" </dev/null >"$dir/out" 2>"$dir/err"; } 2>"$dir/time"
	rc=$?
	echo "    KTAP version 1"
	echo "    1..$nodes"
	for ((i = 0; i < nodes; i++)); do
		node_result $i >"$dir/verdict" && verdict=ok || verdict="not ok"
		[ "$verdict" = ok ] || bad="$bad, n$i"
		sed 's/^/        /' "$dir/n$i"
		sed 's/^/    /' "$dir/verdict"
		echo "    $verdict $((i + 1)) n$i"
	done
	sed 's/^/# /' "$dir/err"
	echo "# $name: $(cat "$dir/time")"
	case $rc in
	0|4)	;;
	124)	bad="$bad, not ended after $seconds s" ;;
	125)	bad="$bad, the rig or a guest's kernel failed" ;;
	*)	[ -n "$bad" ] || bad=", ended with $rc though no test failed" ;;
	esac
	if [ -n "$bad" ]; then
		echo "# failed: ${bad#, }"
		echo "not ok $number $name"
		return 1
	elif [ $skipped = yes ]; then
		echo "ok $number $name # SKIP on all nodes"
	else
		echo "ok $number $name"
	fi
}

# One more line has ended: its guests are gone, and what can be told is.
ended()
{
	local pid

	wait -n -p pid "${!job[@]}" || failed=1
	busy=$((busy - job[$pid]))
	unset "job[$pid]"
	: >"$tmp/$pid.over"
	tell
}

# Of lines that have ended, all before which have
tell()
{
	while [ $told -lt ${#order[@]} ] && [ -e "$tmp/${order[told]}.over" ]; do
		cat "$tmp/$((++told)).said"
	done
}

# begin NUMBER NAME NODES...: as soon as there is room
begin()
{
	local room=${UB_VM_AT_ONCE:-3} takes=1

	[ "$3" = 1 ] || takes=$room
	while [ $((busy + takes)) -gt "$room" ]; do
		ended
	done
	set -m	# a group of processes, which can be ended as a whole
	run "$@" >"$tmp/$1.said" &
	set +m
	job[$!]=$takes
	order+=($!)
	busy=$((busy + takes))
}

TIMEFORMAT='%0R s, of CPUs %0U s and %0S s'
order=()
told=0
busy=0
failed=0
mapfile -t lines < <(rows "$@")
echo "KTAP version 1"
if [ ${#lines[@]} = 0 ]; then
	echo "1..1"
	echo "not ok 1 no line in $table for '$*'"
	exit 1
fi
echo "1..${#lines[@]}"
for line in "${lines[@]}"; do
	# shellcheck disable=SC2086 # words
	begin $((${#order[@]} + 1)) $line
done
while [ $busy -gt 0 ]; do
	ended
done
exit $failed
