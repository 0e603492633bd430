#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# ub_ivshmem in one guest: memory that is too small, a plain device beside the
# doorbell on the same memory, a node id that is in use, unbinding and binding
# with users inside. Wants a second device of 1 MiB, and no modules. KTAP.
# shellcheck disable=SC2317 # called by name
set -u
here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
# shellcheck source=../tools/ktap.sh
. "$here/../tools/ktap.sh"

tests=$top/build/selftests/ub
modules=${UB_MODULES:-$top/kernel}
driver=/sys/bus/pci/drivers/ub_ivshmem
doorbell=0000:00:10.0
plain=0000:00:11.0	# the same memory
small=0000:00:12.0
mark=/tmp/ivshmem-mark	# what the kernel says is looked for from there
unset UB_RANK UB_SIZE	# tests that can do it in one kernel

load()
{
	echo "ivshmem $EPOCHREALTIME" | tee $mark >/dev/kmsg
	insmod "$modules/ivshmem/ub_ivshmem.ko" "$@"
}

said()
{
	local log
	log=$(dmesg | sed -n "/$(cat $mark)/,\$p")
	grep -q "$1" <<<"$log" && return 0
	printf 'the kernel did not say "%s":\n%s\n' "$1" "$log"
	return 1
}

# bound SLOT DEVICE: it is the parent of that device
bound()
{
	[ "$(basename "$(readlink -f "/sys/class/ub/$2/device")")" = "$1" ] && return 0
	echo "/dev/$2 is not of $1"
	ls -l /sys/class/ub
	return 1
}

bind() { echo "$1" >$driver/bind; }
unbind() { echo "$1" >$driver/unbind; }

t_too_small()
{
	load node=5,6,7 && said "memory of 1024 KiB is too small: the least is 2048 KiB" &&
		said "$small.* failed with error -22" &&
		bound $doorbell ubfab0 && [ ! -e /dev/ubfab1 ]
}

# It gets the index, and so the id, that the small one had.
t_plain_beside_doorbell()
{
	# "none" was to keep drivers away
	echo >/sys/bus/pci/devices/$plain/driver_override
	bind $plain && bound $plain ubfab1 &&
		said "ubfab1: node 6, incarnation .*ivshmem-plain" &&
		said "ubfab1: no doorbell: sleepers look again every 200 to 20000 us"
}

t_two_nodes() { "$tests/two_nodes_test"; }
t_sleepers()
{
	local out
	out=$("$tests/fabrics_test") && ! grep 'sleepers.*SKIP' <<<"$out" || { echo "$out"; return 1; }
	grep -E 'looks|woken' <<<"$out" | sed 's/# */# /' >&3
}
t_unbind_doorbell() { "$tests/unplug_test" /dev/ubfab0 sh -c "echo $doorbell >$driver/unbind"; }
t_unbind_plain() { "$tests/unplug_test" /dev/ubfab1 sh -c "echo $plain >$driver/unbind"; }

# By then there is no file, and no page, of the former life.
t_bind_again()
{
	[ ! -e /dev/ubfab0 ] && [ ! -e /dev/ubfab1 ] && bind $doorbell && bind $plain &&
		bound $doorbell ubfab0 && bound $plain ubfab1 && t_two_nodes
}

# The other node rings, and looks, all the time.
t_unbind_by_the_way()
{
	local i job
	"$tests/unplug_test" /dev/ubfab0 sleep 3 >/dev/null 2>&1 &
	job=$!
	for ((i = 0; i < 20; i++)); do
		unbind $plain && bind $plain || { wait $job; return 1; }
	done
	unbind $doorbell
	wait $job
	bind $doorbell && bound $doorbell ubfab0
}

t_id_in_use()
{
	rmmod ub_ivshmem && load node=5,5 && bound $doorbell ubfab0 || return
	if bind $plain 2>/dev/null; then
		echo "bound, though node 5 is there"
		return 1
	fi
	said "node id 5 is in use: record [0-9]*, incarnation [0-9]*, bell 0x" &&
		said "$plain.* failed with error -98" &&
		bound $doorbell ubfab0 && [ ! -e /dev/ubfab1 ]
}

t_no_id_is_left_alone()
{
	rmmod ub_ivshmem && load node=5 && bound $doorbell ubfab0 &&
		said "no node id given for device 1: left alone" && [ ! -e /dev/ubfab1 ]
}

t_unload() { rmmod ub_ivshmem && rmmod ub && [ ! -e /dev/ubfab0 ]; }

t_silent()
{
	! dmesg | grep -E 'WARNING:|BUG:|Oops|Call Trace|blocked for more'
}

exec 3>&1
insmod "$modules/ub.ko" test_hooks=1 detect_ms=5000 || exit 1
ktap_plan 12
check "a memory that is too small is refused with the least size" t_too_small
check "a plain device beside a doorbell" t_plain_beside_doorbell
check "they are two nodes of a fabric" t_two_nodes
check "a sleeper that is waiting for a quiet node" t_sleepers
check "unbinding a doorbell device under its users" t_unbind_doorbell
check "unbinding a plain device under its users" t_unbind_plain
check "binding them again" t_bind_again
check "unbinding and binding beside a node at work" t_unbind_by_the_way
check "a node id that is in use is refused, and its holder named" t_id_in_use
check "a device without an id is left alone" t_no_id_is_left_alone
check "unloading" t_unload
check "the kernel stayed silent" t_silent
ktap_end
