#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests of libub on the device: eight nodes of ub.ko's loop fabric in one guest,
# each rank on the device of its node. One result for each program, with its own
# below it.
#
# usage: lib_on_loop.sh TEST...	names in build/selftests, without "t_"
set -u
here=$(dirname "$(readlink -f "$0")")
cd "$here/../.." || exit 1
# shellcheck source=../tools/ktap.sh
. "$here/../tools/ktap.sh"
# shellcheck source=loop.sh
. "$here/loop.sh"
top=$PWD

nodes=8
export T_DEVICE=/dev/ubfab%d
# Eight ranks share the guest's CPUs: a barrier is some milliseconds there.
export T_SYNCS=${T_SYNCS:-500}

t_load() { loop_load $nodes test_hooks=1; }

# How often pages of the device were touched first
faults()
{
	build/tools/ubfab stats show | grep -o 'faults [0-9]*' | awk '{ n += $2 } END { print n + 0 }'
}

# Without the device a program passes as well: it must have used it.
t_program()
{
	local before rc
	before=$(faults)
	build/selftests/t_"$1" >/tmp/out 2>&1
	rc=$?
	sed 's/^/    /' /tmp/out >&3
	[ "$(faults)" -gt "$before" ] || { echo "it did not touch the device"; return 1; }
	return $rc
}

t_unload() { rmmod ub; }

exec 3>&1
ktap_plan $(($# + 2))
check load t_load
for program; do
	check "$program" t_program "$program"
done
check unload t_unload
ktap_end
