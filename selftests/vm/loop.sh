# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For scripts that run alone in a guest, on loop nodes. $top is the tree.

# loop_load NODES [PARAMETER=VALUE...]: ub.ko, until the last node has its device
loop_load()
{
	local last=/dev/ubfab$(($1 - 1)) n=$1 i
	shift
	insmod "${UB_MODULES:-$top/kernel}/ub.ko" loop_nodes="$n" detect_ms=5000 "$@" || return
	for ((i = 0; i < 100; i++)); do
		[ ! -c "$last" ] || return 0
		sleep 0.1
	done
	echo "no $last"
	return 1
}
