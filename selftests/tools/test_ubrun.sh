#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# ubrun: exit status, output, who failed and how, and that nothing is left.
# shellcheck disable=SC2016,SC2317 # for the ranks' shell; called by name
set -u
here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
# shellcheck source=ktap.sh
. "$here/ktap.sh"

ubrun=$top/build/tools/ubrun
[ -x "$ubrun" ] || ktap_skip_all "build/tools/ubrun is not built"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# What this run starts carries it in its environment, whatever becomes of it.
export UBRUN_TEST_MARK="mark-$$-$RANDOM"
unset UB_FABRIC UB_RANK UB_SIZE UB_MACHINE

says()
{
	grep -Eq -- "$1" "$tmp/err" && return 0
	echo "no line like '$1' in:"
	cat "$tmp/err"
	return 1
}

marked()
{
	local p
	for p in /proc/[0-9]*; do
		if grep -qz "UBRUN_TEST_RANK=$UBRUN_TEST_MARK" "$p/environ" 2>/dev/null; then
			echo "left: ${p#/proc/} $(tr '\0' ' ' <"$p/cmdline")"
		fi
	done
}

# Ranks and what they start have the mark, ubrun has not.
none_left()
{
	for _ in $(seq 50); do
		[ -n "$(marked)" ] || return 0
		sleep 0.1
	done
	marked
	return 1
}

wait_for_marked()
{
	for _ in $(seq 100); do
		[ "$(marked | wc -l)" -lt "$1" ] || return 0
		sleep 0.05
	done
	echo "only $(marked | wc -l) processes came up"
	return 1
}

mark_env="UBRUN_TEST_RANK=$UBRUN_TEST_MARK"

t_environment()
{
	expect 0 "$ubrun" -n 4 --lanes 2 --env A=b sh -c \
		'echo "$UB_RANK/$UB_SIZE $UB_NODE $UB_FABRIC $A ${#UB_JOB} $(readlink /proc/self/fd/$UB_HOST_FD | cut -c1-7)"' || return 1
	sort "$tmp/out" >"$tmp/sorted"
	cat >"$tmp/want" <<-END
	0/4 0 host b 32 /memfd:
	1/4 0 host b 32 /memfd:
	2/4 1 host b 32 /memfd:
	3/4 1 host b 32 /memfd:
	END
	diff "$tmp/want" "$tmp/sorted"
}

t_lanes_of_device()
{
	UB_RANK=2 UB_SIZE=4 UB_NODE=5 UB_JOB=ab expect 0 "$ubrun" --fabric dev:/dev/ubfab7 --lanes 2 sh -c \
		'echo "$UB_RANK/$UB_SIZE $UB_NODE $UB_FABRIC $UB_JOB ${UB_HOST_FD-none}"' || return 1
	sort "$tmp/out" >"$tmp/sorted"
	printf '%s\n' "4/8 5 /dev/ubfab7 ab none" "5/8 5 /dev/ubfab7 ab none" |
		diff - "$tmp/sorted"
}

t_status_worst()
{
	expect 7 "$ubrun" -n 4 sh -c 'case $UB_RANK in 1) exit 7;; 2) exit 3;; esac' &&
	says 'rank 1 \(pid [0-9]+\) exited with status 7' &&
	says 'rank 2 \(pid [0-9]+\) exited with status 3'
}

t_status_zero()
{
	expect 0 "$ubrun" -np 3 true && [ ! -s "$tmp/err" ]
}

t_no_program()
{
	expect 127 "$ubrun" -n 3 /nonexistent/program &&
	says 'cannot run /nonexistent/program as rank 0: No such file' &&
	expect 126 "$ubrun" -n 2 /etc/passwd && says 'Permission denied'
}

t_usage()
{
	expect 2 "$ubrun" true && says 'how many ranks' &&
	expect 2 "$ubrun" -n 0 true && says "not '0'" &&
	expect 2 "$ubrun" -n 3 --nodes 2 true && says 'shared evenly' &&
	expect 2 "$ubrun" -n 2 --fabric ether true && says 'ether' &&
	expect 2 "$ubrun" -n 2 --no-such true &&
	expect 2 "$ubrun" -n 2 && says 'which program' &&
	expect 0 "$ubrun" --help && grep -q 'tag-output' "$tmp/out"
}

t_killed_is_named()
{
	expect 137 "$ubrun" -n 4 sh -c '[ $UB_RANK != 2 ] || kill -9 $$' &&
	says 'rank 2 \(pid [0-9]+\) was killed by signal 9 \(Killed\)'
}

t_grace()
{
	local from=$SECONDS
	expect 137 "$ubrun" -n 3 --grace 0.5 --env "$mark_env" sh -c \
		'[ $UB_RANK != 1 ] || kill -9 $$; sleep 60' &&
	says 'after rank 1 failed ranks 0, 2 \(pids [0-9]+, [0-9]+\) had not ended, ending them' &&
	[ $((SECONDS - from)) -lt 20 ] && none_left
}

# A survivor that needs less than the grace ends by itself.
t_grace_is_enough()
{
	expect 137 "$ubrun" -n 2 --grace 20 sh -c \
		'[ $UB_RANK != 1 ] || kill -9 $$; sleep 0.5; echo survivor' &&
	grep -q survivor "$tmp/out" && ! grep -q ending "$tmp/err"
}

t_timeout()
{
	expect 124 "$ubrun" -n 4 --timeout 0.5 --env "$mark_env" sh -c \
		'case $UB_RANK in 1|3) sleep 60;; esac' &&
	says 'time-out of 0.5 s: ranks 1, 3 \(pids [0-9]+, [0-9]+\) had not ended' &&
	none_left
}

t_timeout_stubborn()
{
	expect 124 "$ubrun" -n 2 --timeout 0.3 --env "$mark_env" sh -c \
		'trap "" TERM INT; while :; do sleep 1; done' &&
	says 'ranks 0, 1' && none_left
}

t_lines_unmixed()
{
	# 8 ranks, lines of up to 3 KiB written in pieces
	expect 0 "$ubrun" -n 8 --tag-output perl -e '
		$| = 1; my $r = $ENV{UB_RANK};
		for my $i (1 .. 200) {
			my $l = $i * 15;
			print $r x ($l / 3); print $r x ($l - $l / 3); print "\n";
		}' || return 1
	perl -ne '
		/^\[(\d)\] (\1+)$/ or die "mixed: $_";
		length($2) == 15 * ++$n{$1} or die "order: $1 $n{$1}";
		END { keys(%n) == 8 or die "ranks"; $_ == 200 or die "lines" for values %n; }' "$tmp/out"
}

t_last_line_without_end()
{
	expect 0 "$ubrun" -n 2 sh -c 'printf "no newline %s" $UB_RANK' &&
	[ "$(sort "$tmp/out" | tr '\n' '|')" = "no newline 0|no newline 1|" ]
}

t_much_output()
{
	expect 0 "$ubrun" -n 4 sh -c 'head -c 20000000 /dev/zero | tr "\\0" "$UB_RANK" | fold -w 79' &&
	[ "$(tr -d '\n' <"$tmp/out" | wc -c)" -eq 80000000 ]
}

# The reader stops reading: time-outs still work.
t_reader_stuck()
{
	( "$ubrun" -n 2 --timeout 1 --env "$mark_env" yes; echo $? >"$tmp/rc" ) 2>"$tmp/err" |
		( sleep 4; head -c 1 >/dev/null )
	says 'had not ended' && [ "$(cat "$tmp/rc")" -eq 124 ] && none_left
}

# The reader goes away: so do the ranks.
t_reader_gone()
{
	local from=$SECONDS
	"$ubrun" -n 2 --timeout 60 --env "$mark_env" yes 2>"$tmp/err" | head -n 1 >"$tmp/out"
	[ $((SECONDS - from)) -lt 30 ] && says 'killed by signal 13' && none_left
}

t_machine()
{
	printf '%s\n' 'name: 3x3' 'levels:' '  - {name: board, radix: 3}' \
		'  - {name: package, radix: 3}' >"$tmp/3x3.yaml"
	expect 0 "$ubrun" --machine "$tmp/3x3.yaml" sh -c 'echo "$UB_RANK $UB_NODE"' || return 1
	# two bits for each level
	[ "$(sort "$tmp/out" | tr '\n' ,)" = "0 0,1 1,2 2,3 4,4 5,5 6,6 8,7 9,8 10," ] || { cat "$tmp/out"; return 1; }
	expect 2 "$ubrun" -n 10 --machine "$tmp/3x3.yaml" true && says 'the machine has 9' &&
	expect 2 "$ubrun" -n 2 --machine "$tmp/none.yaml" true && says 'none.yaml'
}

t_stdin()
{
	printf 'to rank 0\n' | expect 0 "$ubrun" -n 3 --tag-output cat &&
	[ "$(cat "$tmp/out")" = "[0] to rank 0" ]
}

# Ranks with children in sessions of their own.
family='setsid sleep 1000 & (setsid sleep 1000 &) ; sleep 1000'

start_family()
{
	"$ubrun" -n 3 --env "$mark_env" sh -c "$family" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	wait_for_marked 12
}

t_kill_ubrun()
{
	local pid
	start_family || return 1
	kill -9 "$pid"
	wait "$pid"
	none_left
}

t_kill_supervisor()
{
	local pid
	start_family || return 1
	kill -9 "$(pgrep -P "$pid")"
	wait "$pid"
	[ $? -eq 137 ] && says 'supervisor' && none_left
}

t_interrupt()
{
	local pid
	start_family || return 1
	kill -TERM "$pid"
	wait "$pid"
	[ $? -eq 143 ] && none_left
}

t_left_behind()
{
	expect 0 "$ubrun" -n 2 --env "$mark_env" sh -c 'setsid sleep 1000 & exit 0' && none_left
}

t_signal_forwarded()
{
	local pid rc
	"$ubrun" -n 2 --env "$mark_env" perl -e '
		$SIG{USR1} = sub { print "usr1 $ENV{UB_RANK}\n"; exit 0 };
		$| = 1; print "ready\n"; sleep 60; exit 1' >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	for _ in $(seq 100); do
		[ "$(grep -c ready "$tmp/out")" -eq 2 ] && break
		sleep 0.05
	done
	kill -USR1 "$pid"
	wait "$pid"
	rc=$?
	[ "$rc" -eq 0 ] && [ "$(grep -c usr1 "$tmp/out")" -eq 2 ]
}

t_bind()
{
	local cpus where
	expect 0 "$ubrun" -n 2 --bind core sh -c 'nproc' &&
	[ "$(sort -u "$tmp/out")" = 1 ] || return 1
	cpus=$(nproc)
	where='taskset -cp $$ | sed "s/.*: //"'
	expect 0 "$ubrun" -n "$cpus" sh -c nproc && [ "$(sort -u "$tmp/out")" = "$cpus" ] &&
	expect 0 "$ubrun" -n $((2 * cpus)) sh -c "$where" &&
	[ "$(sort "$tmp/out" | uniq -c | awk '$1 == 2 { n++ } END { print n }')" = "$cpus" ] &&
	expect 0 "$ubrun" -n $((2 * cpus)) --bind none sh -c nproc &&
	[ "$(sort -u "$tmp/out")" = "$cpus" ] &&
	expect 2 "$ubrun" -n 2 --bind all true && grep -q 'auto, none or core' "$tmp/err"
}

shm_before=$(ls -A /dev/shm)
t_shm_clean()
{
	local now
	now=$(ls -A /dev/shm)
	[ "$now" = "$shm_before" ] && return 0
	echo "before: $shm_before; now: $now"
	return 1
}

ktap_plan 25
check "ranks get their environment" t_environment
check "lanes of a node of the device" t_lanes_of_device
check "status 0, silently" t_status_zero
check "worst status wins, each is named" t_status_worst
check "program that cannot be run" t_no_program
check "usage errors" t_usage
check "a killed rank is named with its signal" t_killed_is_named
check "others are ended after the grace" t_grace
check "others may end by themselves" t_grace_is_enough
check "a time-out names who had not ended" t_timeout
check "a rank that ignores SIGTERM is killed" t_timeout_stubborn
check "lines are not mixed" t_lines_unmixed
check "a last line without an end" t_last_line_without_end
check "80 MB of output" t_much_output
check "a reader that does not read" t_reader_stuck
check "a reader that goes away" t_reader_gone
check "node ids follow the machine file" t_machine
check "rank 0 has standard input" t_stdin
check "ubrun killed: no orphans" t_kill_ubrun
check "supervisor killed: no orphans" t_kill_supervisor
check "ubrun terminated: no orphans" t_interrupt
check "what ranks leave behind is ended" t_left_behind
check "signals are passed on" t_signal_forwarded
check "bound to cores" t_bind
check "nothing in /dev/shm" t_shm_clean
ktap_end
