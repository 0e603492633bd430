#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The header of the shared memory, as a node finds it that joins: begun by one
# that died, by one that is slow, done by another, or something else's. Runs in
# one guest without modules, writes the header, then loads the driver. KTAP.
# shellcheck disable=SC2317 # called by name
set -u
here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
# shellcheck source=../tools/ktap.sh
. "$here/../tools/ktap.sh"

word=$top/build/selftests/vm/bar_word
modules=${UB_MODULES:-$top/kernel}
detect=3000	# ms

# struct ub_shm_header, and the states of its word
MAGIC=0 LAYOUT=8 STATE=16 SIZE=24 FABRIC=32
magic=0x4255464142524943
layout=$(sed -n 's/^#define UB_LAYOUT_VERSION\t*//p' "$top/kernel/include/uapi/ub/ub_layout.h")
size=$(stat -c %s /sys/bus/pci/devices/0000:00:11.0/resource2)
initialising=0x4000000000001234
ready=0x800000000000000

put() { "$word" "$@"; }
is()
{
	local got
	got=$("$word" "$1")
	[ "$got" = "$2" ] && return 0
	echo "word at $1 is $got, not $2"
	return 1
}

# all of the header 0, then what the arguments say
header()
{
	leave 2>/dev/null	# where a test before this one failed
	put 0 0 0 0 0 0 0 0 0
	[ $# = 0 ] || put "$@"
}

# join: loads the driver; how long it took in ms is in $took
join()
{
	local start=${EPOCHREALTIME/./} rc
	mark="header $start"
	echo "$mark" >/dev/kmsg
	insmod "$modules/ivshmem/ub_ivshmem.ko" node=0
	rc=$?
	took=$(((${EPOCHREALTIME/./} - start) / 1000))
	return $rc
}

leave() { rmmod ub_ivshmem; }

said()
{
	dmesg | sed -n "/$mark/,\$p" | grep -q "$1" && return 0
	echo "the kernel did not say '$1':"
	dmesg | sed -n "/$mark/,\$p"
	return 1
}

# joined FIRST-DIGITS-OF-STATE STATE: a node of that fabric
joined()
{
	[ -c /dev/ubfab0 ] || { echo "no /dev/ubfab0"; dmesg | tail -n 5; return 1; }
	is $STATE "$1" && is $MAGIC $magic && is $LAYOUT "$(printf '0x%x' "$layout")" &&
		is $SIZE "$(printf '0x%x' "$size")" && ! is $FABRIC 0x0 >/dev/null
}

# refused TEXT: with that reason, and nothing was written
refused()
{
	local before after
	before=$("$word" $STATE)
	join && leave && said "$1" || return
	[ ! -e /dev/ubfab0 ] || { echo "it joined"; return 1; }
	after=$("$word" $STATE)
	[ "$before" = "$after" ] || { echo "the state became $after"; return 1; }
}

t_fresh()
{
	header && join && joined ${ready}1 && ! said "taking over" >/dev/null && leave
}

# It stored the layout and one half of the id.
t_died()
{
	header $LAYOUT "$layout" $initialising 0 0x77 && join && joined ${ready}1 &&
		said "taking over" && is $FABRIC 0x77 && leave || return
	[ "$took" -ge $detect ] && return
	echo "after $took ms, and the detection time is $detect"
	return 1
}

# A new attempt shows as another nonce: each has the whole detection time.
t_slow()
{
	local i
	header $STATE $initialising
	for ((i = 1; i <= 12; i++)); do
		sleep 0.5
		put $STATE 0x40000000000000$((10 + i))
	done &
	join && joined ${ready}1 && said "taking over" && leave || { wait; return 1; }
	wait
	[ "$took" -ge $((6000 + detect)) ] && return
	echo "after $took ms"
	return 1
}

# Another node ends it in time; the fabric is what that one made.
t_done_by_another()
{
	header $MAGIC $magic "$layout" $initialising "$size" 3 4 5 6
	{ sleep 1; put $STATE ${ready}9; } &
	join && joined ${ready}9 && ! said "taking over" >/dev/null &&
		is $FABRIC 0x3 && leave
}

t_other_magic() { header $MAGIC 0x1122 && refused "memory holds something else"; }
t_no_state() { header $STATE 0xc000000000000001 && refused "unknown header state"; }
t_other_layout()
{
	header $MAGIC $magic $((layout + 1)) ${ready}1 "$size" 3 4 5 6 &&
		refused "memory has layout $((layout + 1))"
}
t_other_size()
{
	header $MAGIC $magic "$layout" ${ready}1 $((size / 2)) 3 4 5 6 &&
		refused "memory was laid out for $((size / 2)) bytes"
}

insmod "$modules/ub.ko" detect_ms=$detect || exit 1
ktap_plan 8
check "fresh memory" t_fresh
check "its initialiser died: taken over" t_died
check "its initialiser is slow: waited for" t_slow
check "another node ends it" t_done_by_another
check "something else's memory is refused" t_other_magic
check "a state that is none is refused" t_no_state
check "another layout is refused" t_other_layout
check "another size is refused" t_other_size
ktap_end
