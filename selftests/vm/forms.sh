#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Each ivshmem device of the nodes of a rig, whatever its kind and the size of
# its memory: the memory type that follows from its place is reported and
# warned of, and windows, barriers and sums of all nodes are right. Then
# the fabrics of this node beside each other. KTAP.
# shellcheck disable=SC2317 # called by name
set -u
here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
# shellcheck source=../tools/ktap.sh
. "$here/../tools/ktap.sh"

tests=$top/build/selftests/ub
ubfab=$top/build/tools/ubfab
class=/sys/class/ub

# memtype DEVICE: firmware maps what lies below 4 GiB uncached
memtype()
{
	local start
	start=$(awk 'NR == 3 { print $1 }' $class/"$1"/device/resource)
	[ $((start >> 32)) -gt 0 ] && echo wb || echo uc
}

# doorbell DEVICE: has it interrupts
doorbell() { [ -d $class/"$1"/device/msi_irqs ]; }

# told FABRIC: what "ubfab node show" and "fabric show" say of this node
told()
{
	local out want=write-back
	[ "$2" = wb ] || want=uncached
	out=$("$ubfab" node show "$1") || return
	grep self <<<"$out" | grep -q "memtype $want" &&
		if doorbell "$1"; then
			grep self <<<"$out" | grep -q "wakes_by doorbell"
		else
			grep self <<<"$out" | grep -q "wakes_by timer" &&
				dmesg | grep -q "$1: no doorbell: sleepers look again"
		fi && return
	echo "$1 should be $want; $out"
	return 1
}

t_device()
{
	local type
	type=$(memtype "$1")
	printf '%s: %s, ' "$1" "$type" >&3
	doorbell "$1" && echo doorbell >&3 || echo plain >&3
	told "$1" "$type" &&
		UB_DEVICE=/dev/$1 UB_MEMTYPE=$type "$tests/two_nodes_test"
}

t_warnings()
{
	local uc=0 d said
	for d in $devices; do
		[ "$(memtype "$d")" = wb ] || uc=$((uc + 1))
	done
	said=$(dmesg | grep -c 'the BAR is mapped uncached')
	[ "$said" = $uc ] && return
	echo "$said warnings, and $uc devices are uncached"
	return 1
}

t_fabrics() { "$tests/fabrics_test"; }

exec 3> >(sed 's/^/# /')
devices=$(cd $class && echo ubfab*)
# shellcheck disable=SC2086 # words
set -- $devices
ktap_plan $(($# + 2))
for d; do
	check "$d" t_device "$d"
done
check "a warning for each that is uncached" t_warnings
check "fabrics beside each other" t_fabrics
exec 3>&-
ktap_end
