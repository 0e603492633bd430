#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# ubfab against the module: loop fabrics that it adds and deletes itself, text
# and JSON, events, and what it says when something is wrong. In a guest, with
# ub.ko loaded with test_hooks=1.
#
# Needs perl-base for the test hooks, setpriv; jq where it is there.
# shellcheck disable=SC2317 # called by name
set -u
here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
# shellcheck source=../tools/ktap.sh
. "$here/../tools/ktap.sh"

ubfab=${UBFAB:-$top/build/tools/ubfab}
tmp=$(mktemp -d)
monitor=
trap 'kill $monitor 2>/dev/null; rm -rf "$tmp"' EXIT

[ -x "$ubfab" ] || ktap_skip_all "no $ubfab"
[ -d /sys/module/ub ] || ktap_skip_all "the module ub is not loaded"

# has PATTERN COMMAND...: succeeds, with a line like that
has()
{
	local pattern=$1
	shift
	"$@" >"$tmp/out" 2>&1 || { cat "$tmp/out"; return 1; }
	grep -Eq -- "$pattern" "$tmp/out" && return 0
	echo "no '$pattern' in:"
	cat "$tmp/out"
	return 1
}

# fails STATUS PATTERN COMMAND...: and says so on standard error alone
fails()
{
	local want=$1 pattern=$2 rc
	shift 2
	"$@" >"$tmp/out" 2>"$tmp/err"
	rc=$?
	cat "$tmp/out" "$tmp/err"
	[ $rc -eq "$want" ] && [ ! -s "$tmp/out" ] &&
		grep -Eq -- "$pattern" "$tmp/err"
}

# json FILTER COMMAND...: prints JSON for which jq says true
json()
{
	local filter=$1
	shift
	"$@" >"$tmp/out" || return 1
	if command -v jq >/dev/null; then
		jq -e "$filter" "$tmp/out" >/dev/null && return 0
	else
		grep -q '^\[.*\]$' "$tmp/out" && return 0
	fi
	echo "not $filter:"
	cat "$tmp/out"
	return 1
}

# soon COMMAND...: within 20 s
soon()
{
	local end=$((SECONDS + 20))
	while [ $SECONDS -lt $end ]; do
		"$@" >/dev/null 2>&1 && return 0
		sleep 0.1
	done
	"$@"
}

# hook DEVICE OP: UB_IOC_TEST, 0 kills
hook()
{
	# shellcheck disable=SC2016 # perl's
	perl -e 'open(my $f, "+<", "/dev/$ARGV[0]") or die "$ARGV[0]: $!";
		my $arg = pack("L4Q3", 40, 0, $ARGV[1], 0, 0, 0, 0);
		ioctl($f, 0xbc8e, $arg) or die "ioctl: $!"' "$1" "$2"
}

nobody()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

# Listens, by netlink's own list: the port is the pid and some bits above it.
listening()
{
	awk -v pid="$monitor" '$2 == 16 && $3 % 4194304 == pid && $4 !~ /^0+$/ {
		found = 1 } END { exit !found }' /proc/net/netlink
}

t_add()
{
	"$ubfab" fabric add loop nodes 3 bytes 32M node 7 >"$tmp/add" || return 1
	cat "$tmp/add"
	[ "$(wc -l <"$tmp/add")" -eq 3 ] || return 1
	mapfile -t devs < <(sed 's/:.*//' "$tmp/add")
	for i in 0 1 2; do
		grep -Eq "^${devs[i]}: transport loop .*node $((i + 7)) .*state up .*memory 32M memtype write-back" "$tmp/add" &&
			soon test -c "/dev/${devs[i]}" || return 1
	done
}

t_show()
{
	has "^$dev: transport loop loop [0-9]+ node 7 " "$ubfab" fabric show &&
	has "^$dev: .* fabric [0-9a-f]{32} generation .* max_windows [0-9]+ detect_ms" \
		"$ubfab" -d fabric show "$dev" &&
	[ "$(wc -l <"$tmp/out")" -eq 1 ] &&
	has "^$dev: " "$ubfab" f s "/dev/$dev"
}

t_show_json()
{
	json "length == 1 and .[0].device == \"$dev\" and .[0].node == 7 and
		.[0].memory == 33554432 and .[0].state == \"up\"" \
		"$ubfab" -j fabric show "$dev" &&
	json "map(.device) | index(\"${devs[2]}\") != null" "$ubfab" -jd fabric &&
	if command -v jq >/dev/null; then
		"$ubfab" -jp fabric show | jq -e . >/dev/null
	fi
}

all_up()
{
	[ "$("$ubfab" node show dev "$dev" | grep -c ' state up ')" -eq 3 ]
}

t_nodes()
{
	soon all_up && "$ubfab" node show dev "$dev" | tee "$tmp/nodes" &&
	grep -Eq "^$dev: node 7 .*memtype write-back wakes_by doorbell rings [0-9]+ bells [0-9]+ self$" "$tmp/nodes" &&
	grep -Eq "^$dev: node 9 incarnation [0-9]+ state up heartbeat_age [0-9.]+ms memtype write-back wakes_by doorbell rings [0-9]+$" "$tmp/nodes" &&
	has "^$dev: node 8 " "$ubfab" node show "$dev" node 8 &&
	[ "$(wc -l <"$tmp/out")" -eq 1 ] &&
	json 'length == 3 and (map(.node) == [7, 8, 9]) and
		(map(select(.self)) | length == 1) and
		all(.heartbeat_age_ns >= 0)' "$ubfab" -j node show dev "$dev"
}

t_stats()
{
	has "^$dev: barriers 0 by_record 0 .* node_up [0-9]+ " \
		"$ubfab" stats show dev "$dev" &&
	json 'length == 1 and .[0].put_bytes == 0 and .[0].node_up == 2' \
		"$ubfab" -j stats show dev "$dev"
}

t_groups()
{
	local rc=0
	UB_NODE=0 UB_SIZE=1 UB_RANK=0 "$top/build/tools/ubrun" -n 2 --lanes 2 \
		--fabric "dev:/dev/$dev" "$top/build/tools/ubperf" barrier-ioctl \
		--iters 100000 >"$tmp/job" 2>&1 &
	soon has "^$dev: level [a-z]+ groups 1 members 2 lost 0 barriers [1-9]" \
		"$ubfab" stats show dev "$dev" &&
	has "^$dev: slot [0-9]+ member 1 of 2 level [a-z]+ lane [0-9]+ pid [0-9]+ group [1-9][0-9]* epoch [1-9]" \
		"$ubfab" -d stats show dev "$dev" &&
	has "^$dev: slot [0-9]+ member 1 of 2 level ubperf .* id 0x[0-9a-f]+ barriers [1-9]" \
		"$ubfab" -d group show dev "$dev" &&
	has "^$dev: level world groups 1 " "$ubfab" stats show dev "$dev" level world &&
	[ "$(wc -l <"$tmp/out")" -eq 1 ] &&
	json 'all(.slot == 0)' "$ubfab" -j group show dev "$dev" slot 0 &&
	json 'map(select(.lane != null and .epoch > 0)) | length >= 2' \
		"$ubfab" -dj stats show dev "$dev" &&
	soon json 'any(.level == "ubperf" and .sleeps > 0 and .by_record > 0)' \
		"$ubfab" -j stats show dev "$dev" || rc=1
	kill $! 2>/dev/null
	wait $! 2>/dev/null
	[ $rc -eq 0 ] || cat "$tmp/job"
	return $rc
}

# A window of a program that lives for a moment, as its descriptor is packed.
with_window()
{
	# shellcheck disable=SC2016 # perl's
	perl -e 'open(my $f, "+<", "/dev/$ARGV[0]") or die "$ARGV[0]: $!";
		my $arg = pack("L2QL2", 104, 0, 70000, 3, 0) . ("\0" x 80);
		ioctl($f, 0xbc81, $arg) or die "ioctl: $!";
		shift; system(@ARGV) >> 8 and exit 1' "$@"
}

t_windows()
{
	with_window "$dev" "$ubfab" -d window show dev "$dev" >"$tmp/windows" || return 1
	cat "$tmp/windows"
	grep -Eq "^$dev: window [0-9]+ gva 0x[0-9a-f]+ length 68.4K state live rights read,write lane [0-9]+ pid [0-9]+ generation [0-9]+$" "$tmp/windows" &&
	soon has "^$dev: window [0-9]+ gva 0x[0-9a-f]+ length 68.4K state quarantine waits_for [0-9]" \
		window_gone &&
	json 'all(.gva | startswith("0x"))' "$ubfab" -j window show
}

# Quarantine lasts for two heartbeats of the peers: it may be over.
window_gone()
{
	with_window "$dev" true
	"$ubfab" window show dev "$dev"
}

t_set_and_format()
{
	has "^$dev: .* detect_ms [0-9]+$" "$ubfab" -d fabric show "$dev" &&
	"$ubfab" fabric set "$dev" detect_ms 12345 &&
	has "^$dev: .* detect_ms 12345$" "$ubfab" -d fabric show "$dev" &&
	"$ubfab" fabric set "$dev" detect_ms 1000 up || return 1
	fails 1 "^ubfab: fabric format $dev: heartbeat of another node moves: force erases" \
		"$ubfab" fabric format "$dev" &&
	"$ubfab" fabric format "$dev" force &&
	soon has "^${devs[1]}: .* state fenced reason erased " "$ubfab" fabric show "${devs[1]}" &&
	soon has "^${devs[2]}: .* state fenced reason erased " "$ubfab" fabric show "${devs[2]}" &&
	"$ubfab" fabric set "${devs[1]}" up && "$ubfab" fabric set "${devs[2]}" up &&
	soon all_up
}

t_dump_long()
{
	local first rc=0
	"$ubfab" fabric add loop nodes 16 node 100 >"$tmp/long" || return 1
	first=$(sed -n '1s/:.*//p' "$tmp/long")
	[ "$(sed 's/:.*//' "$tmp/long" | sort -u | wc -l)" -eq 16 ] || rc=1
	# 200 bytes each, in messages of 4 KiB at most at first
	[ "$("$ubfab" fabric show | sed 's/:.*//' | sort | uniq -c |
		grep -c '^ *1 ubfab')" -ge 19 ] || rc=1
	[ "$("$ubfab" node show dev "$first" | grep -c ' node 1[01][0-9] ')" -eq 16 ] || rc=1
	"$ubfab" fabric del "$first" || rc=1
	! "$ubfab" fabric show "$first" 2>/dev/null || rc=1
	return $rc
}

t_monitor()
{
	"$ubfab" monitor >"$tmp/events" 2>&1 &
	monitor=$!
	soon listening || { kill $monitor; return 1; }
	hook "${devs[2]}" 0 &&
	soon grep -Eq "^$dev: node-down node 9 incarnation [0-9]+ reason no-heartbeat$" "$tmp/events" &&
	soon grep -Eq "^${devs[2]}: fenced node 9 .* reason fenced$" "$tmp/events" &&
	has "^$dev: node 9 .* state (fenced|down) reason no-heartbeat " \
		"$ubfab" node show dev "$dev" &&
	has "^${devs[2]}: .* state fenced reason fenced " "$ubfab" fabric show "${devs[2]}" &&
	"$ubfab" fabric set "${devs[2]}" up &&
	soon grep -Eq "^$dev: node-up node 9 incarnation [0-9]+$" "$tmp/events" &&
	soon grep -Eq "^${devs[2]}: fabric-change transport loop node 9 .*state up" "$tmp/events"
	local rc=$?
	kill $monitor
	wait $monitor 2>/dev/null
	monitor=
	cat "$tmp/events"
	return $rc
}

t_del()
{
	"$ubfab" -j -d monitor >"$tmp/events" 2>&1 &
	monitor=$!
	soon listening && "$ubfab" fabric del "$dev"
	local rc=$?
	! "$ubfab" fabric show | grep -E "^($dev|${devs[1]}|${devs[2]}):" || rc=1
	soon grep -Eq "\"device\":\"$dev\",\"event\":\"fabric-del\",\"transport\":\"loop\",\"node\":7,.*\"time\":\"20" "$tmp/events" || rc=1
	kill $monitor
	wait $monitor 2>/dev/null
	monitor=
	if command -v jq >/dev/null; then
		jq -e . "$tmp/events" >/dev/null || rc=1
	fi
	cat "$tmp/events"
	return $rc
}

t_no_device()
{
	fails 1 '^ubfab: fabric show ubfab4000: fabric: no such device \(No such device\)$' \
		"$ubfab" fabric show ubfab4000 || return 1
	local object
	for object in node window group stats; do
		fails 1 "^ubfab: $object show ubfab4000: fabric: no such device" \
			"$ubfab" -j $object show dev ubfab4000 || return 1
	done
	fails 1 '^ubfab: fabric delete ubfab4000: fabric: no such' "$ubfab" -j fabric del ubfab4000 &&
	fails 1 'fabric: no such' "$ubfab" fabric set ubfab4000 up &&
	fails 1 'fabric: no such' "$ubfab" fabric format ubfab4000 force &&
	fails 1 '^ubfab: node show .*: node: none of that id' \
		"$ubfab" node show "$dev" node 1
}

t_wrong_value()
{
	fails 1 '^ubfab: fabric add: nodes: integer out of range' \
		"$ubfab" fabric add loop nodes 65 &&
	fails 1 '^ubfab: fabric add: nodes: integer out of range' \
		"$ubfab" fabric add loop nodes 0 &&
	fails 1 '^ubfab: fabric add: nodes: is missing' "$ubfab" fabric add loop &&
	fails 1 '^ubfab: fabric add: transport: unknown, or its module' \
		"$ubfab" fabric add rdma nodes 1 &&
	fails 1 "^ubfab: fabric add: node: the last node's id" \
		"$ubfab" fabric add loop nodes 2 node 1048575 &&
	fails 1 "^ubfab: fabric add: node: integer out of range" \
		"$ubfab" fabric add loop nodes 2 node 1048576 &&
	fails 1 '^ubfab: fabric add: bytes: too little' \
		"$ubfab" fabric add loop nodes 1 bytes 1M &&
	fails 1 '^ubfab: fabric add: bytes: more than half' \
		"$ubfab" fabric add loop nodes 1 bytes 1000T &&
	fails 1 '^ubfab: fabric add: nodes: more than a fabric' \
		"$ubfab" fabric add loop nodes 9 bytes 32M &&
	fails 1 "^ubfab: fabric set $dev: detect-ms: integer out of range" \
		"$ubfab" fabric set "$dev" detect_ms 499 &&
	fails 1 "^ubfab: fabric set $dev: nothing to set" "$ubfab" fabric set "$dev"
}

t_nobody()
{
	# where nobody can read it
	cp "$ubfab" "$tmp/ubfab" && chmod 755 "$tmp" "$tmp/ubfab" &&
	has "^$dev: " nobody "$tmp/ubfab" fabric show &&
	fails 1 '^ubfab: fabric add: needs CAP_NET_ADMIN \(Operation not permitted\)' \
		nobody "$tmp/ubfab" fabric add loop nodes 1 &&
	fails 1 "^ubfab: fabric delete $dev: needs CAP_NET_ADMIN" \
		nobody "$tmp/ubfab" fabric del "$dev" &&
	fails 1 "^ubfab: fabric format $dev: needs CAP_NET_ADMIN" \
		nobody "$tmp/ubfab" fabric format "$dev" force &&
	fails 1 "^ubfab: fabric set $dev: needs CAP_NET_ADMIN" \
		nobody "$tmp/ubfab" fabric set "$dev" up &&
	"$ubfab" fabric show "$dev" >/dev/null
}

t_usage()
{
	local object
	fails 2 "'switch' is not fabric" "$ubfab" switch &&
	fails 2 "'frob' is not show" "$ubfab" fabric frob &&
	fails 2 "what is 'x'" "$ubfab" monitor x &&
	fails 2 "is no number" "$ubfab" fabric add loop nodes many &&
	fails 2 '^Usage' "$ubfab" || return 1
	for object in fabric node window group stats monitor; do
		has "^Usage: ubfab $object" "$ubfab" $object --help || return 1
	done
	has '^Usage: ubfab \[OPTION\]' "$ubfab" --help
}

devs=()
ktap_plan 15
check "fabric add" t_add
# check runs it in a subshell
mapfile -t devs < <(sed 's/:.*//' "$tmp/add")
dev=${devs[0]:-ubfab0}
check "fabric show" t_show
check "fabric show, JSON" t_show_json
check "node show" t_nodes
check "stats show" t_stats
check "stats of groups and levels" t_groups
check "windows" t_windows
check "dumps of more than a message" t_dump_long
check "no such device" t_no_device
check "wrong values are named" t_wrong_value
check "nobody may look, not change" t_nobody
check "usage" t_usage
check "set and format" t_set_and_format
check "monitor: a node dies and comes back" t_monitor
check "fabric del, and its event as JSON" t_del
ktap_end
