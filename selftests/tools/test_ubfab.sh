#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# ubfab without the module: help, usage, and what it says. With the module:
# selftests/ub/ubfab.sh.
# shellcheck disable=SC2317 # called by name
set -u
here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
# shellcheck source=ktap.sh
. "$here/ktap.sh"

ubfab=$top/build/tools/ubfab
[ -x "$ubfab" ] || ktap_skip_all "no $ubfab"

# says STATUS PATTERN ARGUMENT...
says()
{
	local want=$1 pattern=$2 out rc
	shift 2
	out=$("$ubfab" "$@" 2>&1)
	rc=$?
	printf 'status %s: %s\n' $rc "$out"
	[ $rc -eq "$want" ] && grep -Eq -- "$pattern" <<<"$out"
}

t_help()
{
	says 0 '^Usage: ubfab \[OPTION\]' --help && says 2 '^Usage' || return 1
	for object in fabric node stats monitor; do
		says 0 "^Usage: ubfab $object" $object --help &&
		says 0 "^Usage: ubfab $object" $object help || return 1
	done
}

t_usage()
{
	says 2 "'switch' is not" switch && says 2 "'x' is not show" fabric x &&
	says 2 "what is 'x'" fabric show ubfab0 x &&
	says 2 "nodes: a number is missing" fabric add loop nodes &&
	says 2 "nodes: '-1' is no number" fabric add loop nodes -- -1 &&
	says 2 "mb: .* is not from 1 to" fabric add loop mb 99999999999999999999 &&
	says 2 "device is missing" fabric del && says 2 "" --frob
}

t_no_module()
{
	for object in fabric node stats monitor; do
		says 1 '^ubfab: the module ub is not loaded: modprobe ub$' $object ||
			return 1
	done
}

ktap_plan 3
check "help" t_help
check "usage" t_usage
if [ -d /sys/module/ub ]; then
	skip "without the module" "it is loaded"
else
	check "without the module" t_no_module
fi
ktap_end
