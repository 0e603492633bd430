#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# ubfab without the module: help, usage, what it says, completion. With the
# module: selftests/ub/ubfab.sh.
# shellcheck disable=SC2317 # called by name
set -u
here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
# shellcheck source=ktap.sh
. "$here/ktap.sh"

ubfab=$top/build/tools/ubfab
objects="fabric node window group stats monitor"
files="up down"
[ -x "$ubfab" ] || ktap_skip_all "no $ubfab"

# says STATUS PATTERN ARGUMENT...
says()
{
	local want=$1 pattern=$2
	shift 2
	answers "$want" "$pattern" "$ubfab" "$@"
}

t_help()
{
	says 0 '^Usage: ubfab \[OPTION\]' --help && says 2 '^Usage' || return 1
	says 0 '^Usage: ubfab \[OPTION\]' help && says 0 '^ubfab [0-9.]+, .* version 1$' -V &&
	says 0 '^ubfab [0-9]' --version || return 1
	for object in $objects; do
		says 0 "^Usage: ubfab $object" $object --help &&
		says 0 "^Usage: ubfab $object" $object help &&
		says 0 "^  $object " --help || return 1
	done
}

t_usage()
{
	says 2 "'switch' is not fabric, node, window, group, stats, monitor, up or down" switch &&
	says 2 "'x' is not show, list, add, delete, set, format" fabric x &&
	says 2 "'x' is not show" window x &&
	says 2 "what is 'x'" fabric show ubfab0 x &&
	says 2 "'eth0' is no fabric device" node show dev eth0 &&
	says 2 "a word stands there twice" node show ubfab0 ubfab1 &&
	says 2 "a word stands there twice" group show slot 1 slot 2 &&
	says 2 "slot: a number is missing" group show slot &&
	says 2 "level: a name is missing" stats show level &&
	says 2 "nodes: a number is missing" fabric add loop nodes &&
	says 2 "peer: 'foo' is no address" fabric add rdma peer 2=foo &&
	says 2 "peer: NODE=ADDRESS is missing" fabric add rdma peer &&
	says 2 "peer: '=1.2.3.4' is not NODE=ADDRESS" fabric add rdma peer =1.2.3.4 &&
	says 2 "port: 65536 is not from 1 to 65535" fabric add rdma port 65536 &&
	says 2 "nodes: '-1' is no number" fabric add loop nodes -- -1 &&
	says 2 "node: .* is not from 0 to 4294967295" fabric add loop node 4294967296 &&
	says 2 "bytes: .* is too much" fabric add loop bytes 99999999999T &&
	says 2 "bytes: '4X' is no size" fabric add loop bytes 4X &&
	says 2 "transport is missing" fabric add &&
	says 2 "device is missing" fabric del && says 2 "device is missing" fabric set &&
	says 2 "what is 'down'" fabric set ubfab0 down &&
	says 2 "what is '-f'" fabric format ubfab0 -- -f &&
	says 2 "what is 'x'" monitor x && says 2 "" --frob
}

t_no_module()
{
	for object in $objects; do
		says 1 '^ubfab: the module ub is not loaded: modprobe ub$' $object ||
			return 1
	done
}

# completes WORDS WORD...: after "ubfab WORDS", with those and no others
completes()
{
	local line=$1 want
	shift
	want=$(printf '%s\n' "$@" | sort)
	# shellcheck disable=SC2034,SC1091 # for the completion
	(
		. "$top/tools/ubfab/ubfab.bash"
		IFS=' ' read -ra COMP_WORDS <<<"ubfab $line"
		[ "${line% }" = "$line" ] || COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_ubfab
		printf '%s\n' "${COMPREPLY[@]}" | sort
	) >"$tmp/got"
	[ "$(cat "$tmp/got")" = "$want" ] && return 0
	echo "after '$line':"
	cat "$tmp/got"
	return 1
}

t_completion()
{
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	# shellcheck disable=SC2086 # a list of words
	completes ' ' $objects $files help && completes 'fab' fabric &&
	completes 'fabric ' show add del set format help &&
	completes '-j node sh' show && completes '--j' --json &&
	completes 'fabric add ' loop rdma && completes 'fabric add rdma p' peer port &&
	completes 'fabric add loop no' nodes node &&
	completes 'fabric add loop nodes ' "" &&
	completes 'fabric set ubfab0 ' detect_ms up &&
	completes 'fabric format ubfab0 ' force &&
	completes 'group show ' dev slot member && completes 'stats show l' level
}

# Each word that it completes is one that ubfab knows, and the reverse.
t_completion_agrees()
{
	local object verb word
	# shellcheck source=../../tools/ubfab/ubfab.bash
	. "$top/tools/ubfab/ubfab.bash"
	for object in $objects; do
		for verb in $(_ubfab_words $object); do
			[ "$verb" != help ] || continue
			"$ubfab" $object "$verb" -- x 2>&1 | grep -q "is not show" &&
				{ echo "$object has no $verb"; return 1; }
			for word in $(_ubfab_words $object "$verb"); do
				"$ubfab" $object help | grep -q -- "$word" ||
					{ echo "$object: what is $word?"; return 1; }
			done
		done
		for word in $("$ubfab" $object help | sed -n "s/.*ubfab $object \([a-z]*\).*/\1/p"); do
			[[ " $(_ubfab_words $object | xargs) " == *" $word "* ]] ||
				{ echo "$object $word is not completed"; return 1; }
		done
	done
}

ktap_plan 5
check "help" t_help
check "usage" t_usage
check "completion" t_completion
check "completion agrees with help" t_completion_agrees
if [ -d /sys/module/ub ]; then
	skip "without the module" "it is loaded"
else
	check "without the module" t_no_module
fi
ktap_end
