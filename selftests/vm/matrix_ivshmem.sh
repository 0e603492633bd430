#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The failure matrix on ivshmem: four devices of one guest reach the same
# memory, each a node of its own, so that matrix_test finds them all in one
# kernel as it does on loop. They have no interrupts (plain): sleepers wake by
# timer, all is slower, and fewer instants are looked at. Prints KTAP.
#
# usage: matrix_ivshmem.sh [PHASE...]
#	UB_EVERY	of the instants (10)
dir=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$dir/../..")

guest()
{
	modules=${UB_MODULES:-$top/kernel}
	echo "TAP version 13"
	echo "1..2"
	insmod "$modules/ub.ko" test_hooks=1 detect_ms=500 &&
		insmod "$modules/ivshmem/ub_ivshmem.ko" node=0,1,2,3 plain=1
	tries=0
	while [ ! -c /dev/ubfab3 ] && [ $tries -lt 100 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	"$top/build/selftests/ub/matrix_test" "$@" >/tmp/matrix 2>&1 ||
		printf 'not ' >/tmp/failed
	sed 's/^/    /' /tmp/matrix
	cat /tmp/failed 2>/dev/null
	echo "ok 1 matrix-ivshmem"
	if rmmod ub_ivshmem ub &&
	   ! dmesg | grep -E 'WARNING:|BUG:|Oops|Call Trace|blocked for more'; then
		echo "ok 2 unload"
	else
		echo "not ok 2 unload"
	fi
}

if [ "$1" = --guest ]; then
	shift
	guest "$@"
	exit
fi
memory=$(mktemp /dev/shm/ub-matrix.XXXXXX) || exit
trap 'rm -f "$memory"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
words=
# Before the rig's own devices, which are left alone.
for slot in 4 5 6 7; do
	words="$words -object memory-backend-file,id=matrix$slot,share=on,size=1G,mem-path=$memory"
	words="$words -device ivshmem-plain,memdev=matrix$slot,addr=$slot"
done
"$top/build/tools/ubrig" run -n 1 --no-tag --no-module --smp 2 --timeout 400 \
	--env UB_EVERY="${UB_EVERY:-10}" --qemu "$words" -- "$dir/matrix_ivshmem.sh" --guest "$@"
