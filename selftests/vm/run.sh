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
# usage: run.sh [NAME...]	only these lines; without, those with a "+" only
#				with UB_LONG=1
#	UB_VM_RIG	more words for ubrig, UB_VM_WRAP a program that runs the
#			programs, UB_VM_SLOW how many times as long they may take

set -u
cd "$(dirname "$0")/../.." || exit 1
top=$PWD
table=selftests/vm/tests
ubrig=build/tools/ubrig
sum=.ci/ktap-sum

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
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
	local doc=$tmp/n$1 text

	sed -n "s/^\[n$1\] //p" "$tmp/out" >"$doc"
	if text=$($sum -v -n "n$1" "$doc"); then
		[ "${text#0 passed}" != "$text" ] || skipped=no
		return 0
	fi
	skipped=no
	# what is wrong with the document itself; its failed tests are seen below
	printf '%s\n' "$text" | grep '^not ok' | sed 's/^not ok/#/'
	return 1
}

# run NAME NODES SECONDS PROGRAM UBRIG-ARGUMENT...
run()
{
	local name=$1 nodes=$2 seconds=$(($3 * ${UB_VM_SLOW:-1})) words i rc bad='' skipped=yes

	IFS=, read -ra words <<<"$4"
	shift 4
	case ${words[0]} in
	/*)	;;
	*/*)	words[0]=$top/${words[0]} ;;
	*)	words[0]=$top/build/selftests/ub/${words[0]} ;;
	esac

	# shellcheck disable=SC2086 # words
	{ time $ubrig run -n "$nodes" --tag-output --timeout "$seconds" "$@" ${UB_VM_RIG-} -- \
		${UB_VM_WRAP-} "${words[@]}" </dev/null >"$tmp/out" 2>"$tmp/err"; } 2>"$tmp/time"
	rc=$?
	echo "    KTAP version 1"
	echo "    1..$nodes"
	for ((i = 0; i < nodes; i++)); do
		node_result $i >"$tmp/verdict" && verdict=ok || verdict="not ok"
		[ "$verdict" = ok ] || bad="$bad, n$i"
		sed 's/^/        /' "$tmp/n$i"
		sed 's/^/    /' "$tmp/verdict"
		echo "    $verdict $((i + 1)) n$i"
	done
	sed 's/^/# /' "$tmp/err"
	echo "# $name: $(cat "$tmp/time")"
	case $rc in
	0|4)	;;
	124)	bad="$bad, not ended after $seconds s" ;;
	125)	bad="$bad, the rig or a guest's kernel failed" ;;
	*)	[ -n "$bad" ] || bad=", ended with $rc though no test failed" ;;
	esac
	count=$((count + 1))
	if [ -n "$bad" ]; then
		echo "# failed: ${bad#, }"
		echo "not ok $count $name"
		failed=1
	elif [ $skipped = yes ]; then
		echo "ok $count $name # SKIP on all nodes"
	else
		echo "ok $count $name"
	fi
}

TIMEFORMAT='%0R s, of CPUs %0U s and %0S s'
count=0
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
	run $line
done
exit $failed
