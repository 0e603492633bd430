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
#	ub	selftests/ub, fail-nth with it
#	hostile	selftests/vm/hostile.sh
#	vm	lines of selftests/vm/tests; all of them with UB_LONG, else $short

set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 1
top=$PWD
kind=${1-}
shift
out=$top/build/debug/$kind
sum=.ci/ktap-sum

# A boot under KASAN takes some 20 s of an emulated CPU: these have few.
short="ub-two ubfab header ub-refused"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

case $kind in
kasan)	[ $# -gt 0 ] || set -- kunit ub vm hostile ;;
kcsan)	[ $# -gt 0 ] || set -- ub ;;
*)	sed -n '4,16s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac

count=0
failed=0
# result NAME STATUS: what the test printed is in $tmp/out
result()
{
	count=$((count + 1))
	sed 's/^/    /' "$tmp/out"
	if [ "$2" = 0 ]; then
		echo "ok $count $1"
	else
		echo "not ok $count $1"
		failed=1
	fi
}

# guest NAME SECONDS PROGRAM...: one VM that has loaded nothing
guest()
{
	local name=$1 seconds=$2 rc
	shift 2
	build/tools/ubrig run -n 1 --no-tag --kernel-dir "$kernel" --no-module \
		--smp 2 --mem 2048 --append panic_on_warn=1 --boot-timeout 600 --timeout "$seconds" \
		-- "$@" </dev/null >"$tmp/out" 2>"$tmp/err"
	rc=$?
	sed 's/^/# /' "$tmp/err" >>"$tmp/out"
	$sum -v -n "$name" <(sed '/^# /d' "$tmp/out") >"$tmp/sum" || rc=1
	[ $rc = 0 ] || grep '^not ok' "$tmp/sum" | sed 's/^not ok/#/' >>"$tmp/out"
	result "$name" $rc
}

# The same tests as the VM lane, all but those of the guest above.
vm()
{
	local rc names=$short
	[ -z "${UB_LONG-}" ] || names=$(awk '!/^#/ && NF && $1 != "ub-loop" && $1 !~ /\+/ { print $1 }' selftests/vm/tests)
	# shellcheck disable=SC2086 # words
	UB_VM_RIG="--kernel-dir $kernel --modules $out/kernel --mem 1024 --boot-timeout 600" \
		UB_VM_WRAP=$top/selftests/debug/leaks.sh \
		selftests/vm/run.sh $names >"$tmp/out" 2>&1
	rc=$?
	result "vm" $rc
}

hostile()
{
	local rc
	UB_VM_RIG="--kernel-dir $kernel --modules $out/kernel --mem 1024" \
		selftests/vm/hostile.sh >"$tmp/out" 2>&1
	rc=$?
	result "hostile" $rc
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
	case $part in
	kernel)	;;
	kunit)	guest kunit 300 selftests/debug/kunit.sh "$kernel" "$out/kernel" ;;
	ub)	guest ub 2000 env UB_CALM_MS=20000 UB_DETECT_MS=3000 \
			selftests/debug/leaks.sh selftests/ub/run-in-guest.sh \
			"$out/kernel/ub.ko" failnth all ;;
	vm)	vm ;;
	hostile) hostile ;;
	esac
done
exit $failed
