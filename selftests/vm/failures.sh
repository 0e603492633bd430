#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Nodes of a rig die, stand still and come back while a program on all of them
# synchronises: every survivor gets the same answer in time, tries what is left
# of the lost one's window, shrinks the group and goes on. KTAP.
#
# usage: failures.sh [NAME...]	only these tests
set -u
# shellcheck source=rig.sh
. "$(dirname "$(readlink -f "$0")")/rig.sh"

detect_ms=2000
heat=$top/build/examples/heat

# shellcheck disable=SC2317 # the tests are called by name
{
# begin SECONDS: the program on all nodes, in the background, until it is up
begin()
{
	start --tag-output --timeout 100 all -- "$survive" "$1"
	until_lines 1 '\] up$' 30000
}

# told N: N survivors were told, all the same, and went on as N
told()
{
	local n=$1 answers
	over
	answers=$(sed -n 's/^\[n[0-9]*\] answer //p' "$log" | sort | uniq -c)
	if [ "$(grep -cE "\] done ranks=$n\$" "$log")" != "$n" ]; then
		echo "not $n survivors went on as $n:"
		cat "$log"
		return 1
	fi
	if ! awk -v n="$n" '$1 != n { bad = 1 } END { exit bad || !NR }' <<<"$answers"; then
		echo "not $n equal answers:"
		cat "$log"
		return 1
	fi
	# for who looks at the log of a run
	sed 's/^ */  /' <<<"$answers" >&3
}

t_up()
{
	u up -n 4 --machine "$top/lib/machines/2x2.yaml" --param ub.detect_ms=$detect_ms
}

t_killed()
{
	local start
	begin 60 && sleep 1 || return
	start=${EPOCHREALTIME/./}
	u kill 2 || return
	until_lines 3 '\] answer ' $((3 * detect_ms + 3000)) || return
	echo "  answers after $(((${EPOCHREALTIME/./} - start) / 1000)) ms" >&3
	told 3 && grep -q 'answer rank=2 node=2 .*heartbeat' "$log"
}

t_boot_again()
{
	u boot 2 && u exec --timeout 60 all -- "$heat" --n 64 --cols 64 --inner 5 --outer 10 --check
}

# What is missed only after its time for starting would end by the time-out.
missed_at_once()
{
	local rc
	u exec --tag-output --timeout 100 all -- sh -c \
		"[ \$UB_RANK != 1 ] || exit $1; UB_START_MS=600000 exec $heat --n 64" >"$log" 2>&1
	rc=$?
	[ $rc != 124 ] && [ "$(grep -c 'rank 1 .*lost' "$log")" = 3 ] && t_heat && return
	echo "status $rc"
	cat "$log"
	return 1
}

t_fails_before_it_begins() { missed_at_once 3; }
t_ends_before_it_begins() { missed_at_once 0; }

t_process_killed()
{
	begin 60 && sleep 1 && u exec 1 -- pkill -9 -x survive || return
	told 3 && grep -q 'answer rank=1 node=1 ' "$log"
}

t_frozen_for_half_the_time()
{
	begin 8 && sleep 1 && u freeze 1 || return
	sleep "$(((detect_ms / 2) / 1000)).$((detect_ms / 2 % 1000))"
	u resume 1 || return
	over
	if grep -q '\] answer' "$log" || [ "$(grep -c 'done ranks=4$' "$log")" != 4 ]; then
		cat "$log"
		return 1
	fi
}

t_paused_is_fenced_and_refused()
{
	begin 60 && sleep 1 && u pause 3 || return
	until_lines 3 '\] done ranks=3$' 60000 || return
	u resume 3 || return
	# it must not go on as a member, and suspect nobody
	told 3 && ! grep -E '^\[n3\] (answer|done)' "$log"
}

t_two_die()
{
	u kill 3 && u boot 3 || return
	begin 60 && sleep 1 && u kill 1 && sleep 0.3 && u kill 2 || return
	over
	[ "$(grep -cE '\] done ranks=2$' "$log")" = 2 ] || { cat "$log"; return 1; }
	diff <(sed -n 's/^\[n0\] answer //p' "$log") <(sed -n 's/^\[n3\] answer //p' "$log")
}

t_all_die_and_start_again()
{
	u kill 0 && u kill 3 || return
	for n in 0 1 2 3; do u boot $n || return; done
	t_heat
}

t_heat()
{
	u exec --timeout 60 all -- "$heat" --n 64 --cols 64 --inner 5 --outer 10 --check
}

t_kernels_stayed_silent() { silent 0 1 2 3; }
}

all="up fails_before_it_begins ends_before_it_begins killed boot_again process_killed frozen_for_half_the_time"
all="$all paused_is_fenced_and_refused two_die all_die_and_start_again kernels_stayed_silent"
[ $# -gt 0 ] && all="up $*"
# shellcheck disable=SC2086 # words
run_named $all
