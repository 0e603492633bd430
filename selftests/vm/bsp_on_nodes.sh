#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# On each node of a rig: cases of the BSPlib suite (selftests/bsp) that run with as
# many processes as the rig has lanes. A node sees the output of its own lanes: each
# must come to the end where success is expected, and the job must fail everywhere
# where it is not. Not in the vm lane: it takes seconds for each case.
#
# usage: bsp_on_nodes.sh --build	compile them, on the host; then
#	 ubrig run -n 2 [--lanes 2] -- .../bsp_on_nodes.sh [PATTERN]
#					PATTERN: only these of them

set -u
here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
# shellcheck source=../tools/ktap.sh
. "$here/../tools/ktap.sh"

chosen="drma/order|drma/overlap.highest|drma/volume.(large_put|many_small_puts)"
chosen+="|reg/(slots|null.others|areas.recursion)|bsmp/(many.steps|hpmove.lives)"
chosen+="|bsmp/tagsize.(not_before|of_some_only_with)|errors/(bounds|pid).(put_one|names)"
chosen+="|life/(sync_against_end.others|abort.abort_of_one|exit_in_section|sync.sync_waits)"
chosen+="|programs/(sample_sort|fft|lu|list_ranking|life)|random/"
chosen="^($chosen)"

export BSP_BUILD=$top/build/selftests/bsp-vm
if [ "${1-}" = --build ]; then
	exec "$top/selftests/bsp/run" --build-only --dialect classic --filter "$chosen"
fi

ubrun=$top/build/tools/ubrun
programs=$BSP_BUILD/classic
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
mapfile -t cases < <("$top/selftests/bsp/run" --list --dialect classic --filter "${1-$chosen}" |
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
