#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Load ub.ko with four loop nodes and the test hooks, run the test programs
# one after the other, look for splats in the kernel log after each, unload.
# Prints KTAP; the programs' own results are its subtests.
#
# usage: run-in-guest.sh UB.KO [PARAMETER=VALUE...] [NAME...]
#	NAME_test are the programs (default "all": those that every kernel
#	can run), beside this script or in
#	build/selftests/ub or UB_TESTS. UB.KO may be "-": it is loaded
#	already and stays. A path that does not begin with / is below
#	UB_MODULES, which ubrig sets, or the folder kernel/ of the tree.
#
# Needs nothing but a busybox shell, insmod, rmmod, dmesg, sed, grep.

dir=$(cd "$(dirname "$0")" && pwd)
tests=${UB_TESTS:-$dir}
[ -x "$tests/uapi_test" ] || tests=$dir/../../build/selftests/ub
all="uapi netlink control debug window mmap quiet xfer group absent barrier errors made fail event life storm two_nodes model"
splat='WARNING:|BUG:|Oops|general protection|rcu.*(stall|detected)'
splat="$splat|INFO: (task|possible|rcu|trying)|possible (recursive|circular|irq)"
splat="$splat|KASAN|UBSAN|KCSAN|refcount_t:|suspicious RCU|Call Trace"
splat="$splat|soft lockup|hard LOCKUP|blocked for more than|leaked|unreferenced object"

[ $# -gt 0 ] || { sed -n '4,16s/^# \{0,1\}//p' "$0"; exit 2; }
module=$1
shift
names=
params=
case $module in
-|/*)	;;
*)	module=${UB_MODULES:-$dir/../../kernel}/$module ;;
esac
[ $# -gt 0 ] || set -- all
for name; do
	case $name in
	*=*)	params="$params $name" ;;
	all)	names="$names $all" ;;
	*)	names="$names $name" ;;
	esac
done
# shellcheck disable=SC2086 # words
set -- $names

count=0
failed=0
result()
{
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count $2"
	else
		echo "not ok $count $2"
		failed=1
	fi
}

# What the kernel said that it should not have, since the mark.
mark=start
set_mark()
{
	mark="ub-selftest $$ $1"
	echo "$mark" >/dev/kmsg
}

splats()
{
	dmesg | sed -n "\\,$mark,,\$p" | grep -v "$mark" | grep -E "$splat" |
		sed 's/^/# /'
}

# since the machine came up
seconds() { sed 's/[. ].*//' /proc/uptime; }

echo "KTAP version 1"
echo "1..$(($# + 2))"

# load MS: with that detection time, unless it is loaded so
detect=
load()
{
	[ "$module" != - ] && [ "$detect" != "$1" ] || return 0
	[ -z "$detect" ] || rmmod ub || return 1
	detect=$1
	# shellcheck disable=SC2086 # words
	insmod "$module" loop_nodes=4 test_hooks=1 "detect_ms=$1" $params || return 1
	tries=0
	while [ ! -c /dev/ubfab3 ] && [ $tries -lt 50 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
}

# Where no node is to die, none may be taken for dead on a machine that is
# shared with others.
detect_of()
{
	case $1 in
	made|fail|event|storm|soak|scribble|lives|fuzz)	echo "${UB_DETECT_MS:-300}" ;;
	survive)	echo "${UB_DETECT_MS:-2000}" ;;
	matrix)		echo "${UB_MATRIX_MS:-500}" ;;
	copied)		echo "${UB_CALM_MS:-5000}" ;;	# it delays by 2 s itself
	*)		echo "${UB_CALM_MS:-2000}" ;;
	esac
}

set_mark load
load "$(detect_of "$1")"
loaded=$?
[ -c /dev/ubfab3 ] || loaded=1
bad=$(splats)
[ -z "$bad" ] || { echo "$bad"; loaded=1; }
result $loaded load
if [ $loaded != 0 ]; then
	for name; do
		result 1 "$name"
	done
	result 1 unload
	exit 1
fi

for name; do
	set_mark "$name"
	status=0
	load "$(detect_of "$name")" || status=1
	began=$(seconds)
	# A pipe would hide the status; busybox has no pipefail.
	{ "$tests/${name}_test" 2>&1; echo "status $?"; } </dev/null |
		sed -n -e 's/^status \([0-9]*\)$/# status \1/' -e 's/^/    /' -e p \
			>"/tmp/ub-selftest.$$"
	cat "/tmp/ub-selftest.$$"
	echo "# $name: $(($(seconds) - began)) s"
	grep -q '^    # status [04]$' "/tmp/ub-selftest.$$" || status=1
	bad=$(splats)
	[ -z "$bad" ] || { echo "$bad"; status=1; }
	result $status "$name"
done
rm -f "/tmp/ub-selftest.$$"

set_mark unload
status=0
if [ "$module" != - ]; then
	rmmod ub
	status=$?
	[ ! -e /dev/ubfab0 ] || status=1
fi
bad=$(splats)
[ -z "$bad" ] || { echo "$bad"; status=1; }
result $status unload
exit $failed
