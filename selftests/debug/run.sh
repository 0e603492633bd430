#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A debug lane: the modules built for a kernel that watches itself, and the
# tests of selftests/ub and selftests/vm on it. The kernel must stay silent: a
# report is a panic (panic_on_warn) or is found in its log, and memory that
# nobody points to any more is looked for before power-off. KTAP.
#
# usage: run.sh kasan|kcsan [PART...]	(packages: .ci/setup debug)
#	kernel	only build it and the modules, which all parts do first
#	kunit	our KUnit suites
#	slice	the programs of selftests/ub that find most in little time
#	ub	all of selftests/ub, fail-nth with it
#	vm	the lines of selftests/vm/tests, or those of UB_DEBUG_LINES
#	plug	selftests/vm/plug.sh
#	hostile	selftests/vm/hostile.sh
#	rdma	selftests/vm/rdma.sh windows; by name only: KASAN stops 6.1's own
#		rdma_rxe, where rxe_mr_copy() ends at the end of a region of
#		n * 256 pages and reads the pointer past its last map
#	X_test	one program of selftests/ub
# Without PART: kasan: kunit and slice, with UB_LONG kunit and all from ub on; kcsan: ub.

set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 1
top=$PWD
kind=${1-}
shift
out=$top/build/debug/$kind
sum=.ci/ktap-sum

# In two guests side by side, which take about as long.
slice_a="uapi window mmap xfer made storm lives"
slice_b="netlink group event life scribble two_nodes"

# The kernel is some five times slower, and nobody is to be taken for dead for that.
export UB_CALM_MS=${UB_CALM_MS:-20000} UB_DETECT_MS=${UB_DETECT_MS:-3000}
[ -z "${UB_LONG-}" ] || : "${UB_HOSTILE_SECONDS:=600}"
export UB_HOSTILE_SECONDS=${UB_HOSTILE_SECONDS:-10}
export UB_VM_AT_ONCE=${UB_VM_AT_ONCE:-2}
export UB_MODEL_N=${UB_MODEL_N:-200} UB_EVERY=${UB_EVERY:-20} UB_NETLINK_N=${UB_NETLINK_N:-3000}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

case $kind in
kasan)	parts="kunit slice"
	[ -z "${UB_LONG-}" ] || parts="kunit ub vm plug hostile" ;;
kcsan)	parts=ub ;;
*)	sed -n '4,20s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
# shellcheck disable=SC2086 # words
[ $# -gt 0 ] || set -- $parts
# All programs, but none for long.
unset UB_LONG

count=0
failed=0
# result NAME STATUS [FILE]: what the test printed is in the file, or in $tmp/out
result()
{
	count=$((count + 1))
	sed 's/^/    /' "${3-$tmp/out}"
	if [ "$2" = 0 ]; then
		echo "ok $count $1"
	else
		echo "not ok $count $1"
		failed=1
	fi
}

# guest NAME SECONDS PROGRAM...: one VM that has loaded nothing; status, and NAME.out
guest()
{
	local name=$1 seconds=$2 out=$tmp/$1.out rc
	shift 2
	build/tools/ubrig run -n 1 --no-tag --kernel-dir "$kernel" --no-module \
		--smp 2 --mem 2048 --append panic_on_warn=1 --boot-timeout 600 --timeout "$seconds" \
		-- "$@" </dev/null >"$out" 2>"$out.err"
	rc=$?
	sed 's/^/# /' "$out.err" >>"$out"
	$sum -v -n "$name" <(sed '/^# /d' "$out") >"$out.sum" || rc=1
	[ $rc = 0 ] || grep '^not ok' "$out.sum" | sed 's/^not ok/#/' >>"$out"
	return $rc
}

# programs NAME SECONDS PROGRAM...: of selftests/ub, on loop nodes
programs()
{
	local name=$1 seconds=$2
	shift 2
	guest "$name" "$seconds" selftests/debug/leaks.sh selftests/ub/run-in-guest.sh \
		"$top/build/debug/$kind/kernel/ub.ko" "$@"
}

# rigs PROGRAM...: one that boots VMs itself
rigs()
{
	UB_VM_RIG="--kernel-dir $kernel --modules $out/kernel --mem 1024 --boot-timeout 600" \
		UB_VM_WRAP=$top/selftests/debug/leaks.sh UB_VM_SLOW=4 "$@" >"$tmp/out" 2>&1
	result "$part" $?
}

# All lines, or those of UB_DEBUG_LINES, but the one that is the part ub.
lines()
{
	[ -z "${UB_DEBUG_LINES-}" ] || { xargs -n 1 <<<"$UB_DEBUG_LINES"; return; }
	awk '!/^#/ && NF && $1 != "ub-loop" && $1 !~ /\+/ { print $1 }' selftests/vm/tests
}

echo "KTAP version 1"
parts=" $* "
echo "1..$(($# + 2 - $([[ $parts == *" kernel "* ]] && echo 1 || echo 0)))"

selftests/debug/build-kernel "$kind" >"$tmp/dir" 2> >(tee "$tmp/out" >&2)
rc=$?
kernel=$(cat "$tmp/dir")
result "kernel" $rc
[ $rc = 0 ] || exit 1

# In a copy, of sources alone: objects for another kernel must not mix with these.
mkdir -p "$out"
find Kbuild kernel \( -name '*.[ch]' -o -name '*.mk' -o -name Kbuild \) ! -name '*.mod.c' |
	while read -r f; do
		cmp -s "$f" "$out/$f" || install -D -m 644 "$f" "$out/$f"
	done
make -s -j"$(nproc)" -C "$kernel/tree" M="$out" modules >"$tmp/out" 2>&1
rc=$?
! grep -q 'warning:' "$tmp/out" || rc=1
result "modules" $rc
[ $rc = 0 ] || exit 1

for part; do
	began=$SECONDS
	case $part in
	kernel)	;;
	kunit)	guest kunit 300 selftests/debug/kunit.sh "$kernel" "$out/kernel"
		result kunit $? "$tmp/kunit.out" ;;
	slice)	# shellcheck disable=SC2086 # words
		programs a 1200 $slice_a &
		# shellcheck disable=SC2086 # words
		programs b 1200 $slice_b
		rc=$?
		wait $! || rc=1
		cat "$tmp/a.out" "$tmp/b.out" >"$tmp/out"
		result slice $rc ;;
	ub)	programs ub 3000 failnth all
		result ub $? "$tmp/ub.out" ;;
	vm)	mapfile -t names < <(lines)
		rigs selftests/vm/run.sh "${names[@]}" ;;
	plug)	rigs selftests/vm/plug.sh ;;
	hostile) rigs selftests/vm/hostile.sh "$UB_HOSTILE_SECONDS" ;;
	rdma)	rigs selftests/vm/rdma.sh windows ;;
	*_test)	programs "$part" 1200 "${part%_test}"
		result "$part" $? "$tmp/$part.out" ;;
	*)	echo "no part '$part'" >"$tmp/out"; result "$part" 1 ;;
	esac
	echo "# $part: $((SECONDS - began)) s"
done
exit $failed
