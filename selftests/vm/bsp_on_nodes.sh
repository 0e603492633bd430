#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# On each node of a rig: cases of the BSPlib suite (selftests/bsp) that run with as
# many processes as the rig has lanes. A node sees the output of its own lanes: each
# must come to the end where success is expected, and the job must fail everywhere
# where it is not. The last ones are jobs of which one process ends before it begins.
#
# usage: bsp_on_nodes.sh --build	compile them, on the host; then
#	 ubrig run -n 2 [--lanes 2] -- .../bsp_on_nodes.sh [loop] [short | PATTERN]
#					loop: four nodes of a loop fabric in one guest
#					without --module, a process on each
#					short: those of "make check"; PATTERN: these
#
# With UB_LONG the whole suite is compiled and run, random programs with a quarter of
# the seeds of a host: a barrier may take milliseconds here.
# shellcheck disable=SC2317 # called by name

set -u
here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
# shellcheck source=../tools/ktap.sh
. "$here/../tools/ktap.sh"
# shellcheck source=loop.sh
. "$here/loop.sh"

chosen="drma/order|drma/overlap.highest|drma/volume.(large_put|many_small_puts)"
chosen+="|reg/(slots|null.others|areas.recursion)|bsmp/(many.steps|hpmove.lives)"
chosen+="|bsmp/tagsize.(not_before|of_some_only_with)|errors/(bounds|pid).(put_one|names)"
chosen+="|life/(sync_against_end.others|abort.abort_of_one|exit_in_section|sync.sync_waits)"
chosen+="|programs/(sample_sort|fft|lu|list_ranking|life)|random/"
chosen="^($chosen)"
[ -z "${UB_LONG-}" ] || chosen=.
short="^(reg/slots.crossed|bsmp/hpmove.lives|drma/(order|volume.large_put)"
short+="|errors/bounds.put_one|life/(abort.abort_of_one|exit_in_section|hello)"
short+="|life/sync_against_end.others_end|programs/(sample_sort|fft)|random/programs.of_every)"

export BSP_BUILD=$top/build/selftests/bsp-vm
export BSP_SEEDS=${BSP_SEEDS:-$([ -n "${UB_LONG-}" ] && echo 50 || echo 12)}
if [ "${1-}" = --build ]; then
	exec "$top/selftests/bsp/run" --build-only --dialect classic --filter "$chosen|$short"
fi
loop=
if [ "${1-}" = loop ]; then
	loop=yes
	shift
	export UB_FABRIC=dev UB_LANES=4
fi
[ "${1-}" != short ] || set -- "$short"

ubrun=$top/build/tools/ubrun
programs=$BSP_BUILD/classic
lanes=${UB_LANES:-1}
size=$((UB_SIZE * lanes))
log=/tmp/bsp_on_nodes
key=$UB_JOB
# Whoever waits for one that has ended waits for the time-out, and fails.
export UB_START_MS=600000

t_load() { loop_load "$lanes"; }

# job COMMAND ARGUMENT...: on all nodes; on a loop each process is on a node of its own
job()
{
	if [ -n "$loop" ]; then
		# shellcheck disable=SC2016 # of each process
		set -- sh -c 'UB_FABRIC=/dev/ubfab$UB_RANK exec "$@"' sh "$@"
	fi
	"$ubrun" --timeout 300 --grace inf "$@" >"$log" 2>&1
}

# run NAME END: END is 0 or 1, whether the job may fail; 2: here, either way
run()
{
	local file=${1%%.*} case=${1#*.} rc

	# A key of its own, so that a node that is late does not meet the next job.
	UB_JOB=$(md5sum <<<"$key $1" | cut -c 1-32)
	export UB_JOB
	if [ "$case" = "$1" ]; then
		job "$programs/$file/program"
	else
		job "$programs/$file/program" "$case"
	fi
	rc=$?
	if grep '^FAILED' "$log"; then
		return 1
	fi
	case $rc in
	124)	echo "it did not end" ;;
	0)	[ "$2" = 2 ] && return 0
		[ "$2" = 0 ] && [ "$(grep -c "^done [0-9]* $size\$" "$log")" = "$lanes" ] &&
			return 0 ;;
	*)	[ "$2" = 0 ] || return 0 ;;
	esac
	echo "status $rc; it said:"
	cat "$log"
	return 1
}

# t_early STATUS: the last process ends before it begins; nobody waits for it.
t_early()
{
	local rc last=$((size - 1)) alone=
	UB_JOB=$(md5sum <<<"$key early $1" | cut -c 1-32)
	export UB_JOB
	# shellcheck disable=SC2016 # of each process
	job sh -c '[ $UB_RANK = '$last' ] && exit '"$1"'; exec "$@"' sh "$programs/life/hello/program"
	rc=$?
	[ "$lanes" != 1 ] || [ "$UB_RANK" != $last ] || alone=yes
	if [ $rc = 124 ] || [ $rc = 0 ] || { [ -z "$alone" ] && ! grep -q "lost" "$log"; }; then
		echo "status $rc; it said:"
		cat "$log"
		return 1
	fi
}

# Those that run with as many processes as there are here.
mapfile -t cases < <("$top/selftests/bsp/run" --list --dialect classic --filter "${1-$chosen}" |
	awk -v n="$size" -v first="$((UB_RANK == 0))" '
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
		# process 0 fails; those that are in no section may end well before
		!first && $1 ~ /pid_not_begun$|returns_without_begin$/ { end = 2 }
		fit { print $1, end }')

# Of an end without failure all are told where no other launcher has the job's key.
own=
[ "$size" != "$lanes" ] || own=yes
ktap_plan $((${#cases[@]} + 1${loop:+ + 1}${own:+ + 1}))
[ -z "$loop" ] || check load t_load
for line in "${cases[@]}"; do
	# shellcheck disable=SC2086 # name and end
	check "${line% *}" run $line
done
check "one fails before it begins" t_early 3
[ -z "$own" ] || check "one ends before it begins" t_early 0
ktap_end
