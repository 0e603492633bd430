#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# On each node of a rig: cases of the BSPlib suite whose number of processes is
# that of the rig. They were compiled before, by selftests/bsp/run --build-only
# with BSP_BUILD=build/selftests/bsp-vm. A node sees the output of its own lanes:
# each must come to the end where success is expected, and the job must fail
# everywhere where it is not.
#
# usage: bsp_on_nodes.sh PATTERN	of names of cases

set -u
here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
# shellcheck source=../tools/ktap.sh
. "$here/../tools/ktap.sh"

ubrun=$top/build/tools/ubrun
programs=$top/build/selftests/bsp-vm/classic
size=$((UB_SIZE * ${UB_LANES:-1}))
log=/tmp/bsp_on_nodes
key=$UB_JOB

# run NAME END: END is 0 or 1, whether the job may fail
run()
{
	local file=${1%%.*} case=${1#*.} rc

	# A key of its own, so that a node that is late does not meet the next job.
	UB_JOB=$(md5sum <<<"$key $1" | cut -c 1-32)
	export UB_JOB
	"$ubrun" --timeout 100 "$programs/$file/program" "$case" >"$log" 2>&1
	rc=$?
	if grep '^FAILED' "$log"; then
		return 1
	fi
	case $rc in
	124)	echo "it did not end" ;;
	0)	[ "$2" = 0 ] && [ "$(grep -c "^done [0-9]* $size\$" "$log")" = "${UB_LANES:-1}" ] &&
			return 0 ;;
	*)	[ "$2" = 0 ] || return 0 ;;
	esac
	echo "status $rc; it said:"
	cat "$log"
	return 1
}

# Those that run with as many processes as there are here.
mapfile -t cases < <("$top/selftests/bsp/run" --list --dialect classic --filter "$1" |
	awk -v n="$size" '
		{ fit = n == 2 || n == 4; end = 0 }
		{
			for (i = 3; i <= NF; i++) {
				if ($i ~ /^n=/)
					fit = ("," substr($i, 3) ",") ~ ("," n ",")
				if ($i ~ /^(abort=|fails)/)
					end = 1
				if ($i ~ /^(args|stdin|done|lang|dialect=size_t)/)
					next
			}
		}
		# each node has a launcher of its own, which ends nobody elsewhere
		$1 ~ /\.abort_while_others_compute$/ { next }
		fit && $1 ~ /\./ { print $1, end }')

ktap_plan ${#cases[@]}
for line in "${cases[@]}"; do
	# shellcheck disable=SC2086 # name and end
	check "${line% *}" run $line
done
ktap_end
