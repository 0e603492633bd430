#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests the rig itself: VMs boot, share memory, and leave nothing behind. No
# kernel module is needed.
#
#	usage: test_rig.sh [UBRIG]
#
# Prints KTAP; exits 0 when all passed, 1 otherwise, 4 when the machine lacks
# what the rig needs.
#
# shellcheck disable=SC2016 # what is in single quotes is for the guests

set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
UBRIG=$(realpath "${1:-$top/build/tools/ubrig}")
NAME=selftest-$$
TMP=$(mktemp -d /var/tmp/test_rig.XXXXXX)
chmod 755 "$TMP"

cleanup()
{
	"$UBRIG" down --name "$NAME" >/dev/null 2>&1
	rm -rf "$TMP"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

TESTS=(
	run_runs_on_every_node
	run_returns_the_worst_code
	run_tags_and_separates_output
	run_sets_rank_variables
	run_shares_memory_exactly
	run_puts_the_memory_above_4g
	run_passes_words_to_qemu
	run_counts_a_panic_as_failure
	run_timeout_names_the_node
	run_ends_with_ctrl_c
	run_killed_leaves_no_vm
	run_as_normal_user
	run_gives_several_devices
	up_and_status
	exec_on_one_and_all
	exec_sees_new_host_files
	exec_signal_is_128_plus
	exec_names_a_missing_command
	exec_counts_a_splat_as_failure
	exec_timeout_names_the_node
	exec_abort_ends_all
	exec_sigabrt_ends_one
	exec_runs_several_at_once
	exec_ends_with_its_client
	pause_is_invisible_inside
	freeze_is_visible_inside
	kill_ends_what_runs_there
	boot_brings_it_back
	exec_counts_a_panic_as_failure
	down_leaves_no_vm
	up_killed_leaves_no_vm
	errors_name_the_remedy
)

skip_all()
{
	echo "1..0 # SKIP $*"
	exit 4
}

# qemu_left NAME: true while a VM of that rig exists, waiting a little.
qemu_left()
{
	local _

	for _ in $(seq 50); do
		pgrep -f "[q]emu-system.*-name ubrig-$1-n" >/dev/null || return 1
		sleep 0.1
	done
	return 0
}

rig()
{
	local verb=$1

	shift
	timeout 60 "$UBRIG" "$verb" --name "$NAME" "$@"
}

run()
{
	rig run --no-module "$@"
}

# wait_output FILE TEXT SECONDS
wait_output()
{
	local _

	for _ in $(seq $(($3 * 10))); do
		grep -q "$2" "$1" 2>/dev/null && return 0
		sleep 0.1
	done
	echo "'$2' did not show up within $3 s"
	return 1
}

want()
{
	local what=$1 got=$2 expected=$3

	[ "$got" = "$expected" ] && return 0
	echo "$what: got '$got', expected '$expected'"
	return 1
}

# One boot serves several tests: its output is kept.
first_run()
{
	[ -e "$TMP/first.rc" ] && return
	cat >"$TMP/first.sh" <<-'SCRIPT'
		grep -c ^processor /proc/cpuinfo
		echo "to stderr" >&2
		echo "env $UB_RANK/$UB_SIZE node=$UB_NODE job=$UB_JOB lanes=$UB_LANES given=$UB_GIVEN more=$MORE"
		sed -n 's/^\(0x0*[1-9a-f][^ ]*\) .*0x000000000014220c$/bar \1/p' \
			/sys/bus/pci/devices/0000:00:1[01].0/resource
		cat /sys/class/dmi/id/product_serial
		echo "<4>ubtest: DEBUG: this is no splat" >/dev/kmsg
		"$1" || exit 99
		printf "no newline at the end"
		exit $((UB_RANK * 3))
	SCRIPT
	UB_GIVEN=yes run -n 2 --qemu "-smbios type=1,serial=is-%n" --nodes 4,5 --lanes 3 --env MORE=too -- \
		sh "$TMP/first.sh" "$TMP/shm_probe" \
		>"$TMP/first.out" 2>"$TMP/first.err"
	echo $? >"$TMP/first.rc"
}

run_runs_on_every_node()
{
	first_run
	cat "$TMP/first.err"
	want "CPUs seen" "$(grep -c '\] 1$' "$TMP/first.out")" 2
}

run_returns_the_worst_code()
{
	first_run
	want "exit code" "$(cat "$TMP/first.rc")" 3
}

run_tags_and_separates_output()
{
	first_run
	want "untagged lines" "$(grep -vc '^\[n[01]\] ' "$TMP/first.out")" 0 &&
		want "stderr" "$(sort "$TMP/first.err" | tr '\n' ,)" \
			"[n0] to stderr,[n1] to stderr," &&
		want "last lines" "$(grep -c '\] no newline at the end$' "$TMP/first.out")" 2
}

run_sets_rank_variables()
{
	local job

	first_run
	job=$(sed -n 's/.*job=\([0-9a-f]*\) .*/\1/p' "$TMP/first.out" | sort -u)
	want "jobs" "$(echo "$job" | wc -w)" 1 &&
		want "variables" "$(grep -c "^\[n0\] env 0/2 node=4 job=$job lanes=3 given=yes more=too$" "$TMP/first.out")" 1 &&
		want "variables" "$(grep -c "^\[n1\] env 1/2 node=5 job=$job lanes=3 given=yes more=too$" "$TMP/first.out")" 1
}

run_shares_memory_exactly()
{
	first_run
	want "tokens" "$(grep -c '\] token went round$' "$TMP/first.out")" 2 &&
		want "sums" "$(grep -c '\] sum is exact$' "$TMP/first.out")" 2
}

# Kind, size and place of each: slot, BAR 2, and whether it has vectors.
run_gives_several_devices()
{
	local script out

	script='cd /sys/bus/pci/devices && for d in *; do
		[ "$(cat $d/vendor $d/device | xargs)" = "0x1af4 0x1110" ] || continue
		set -- $(sed -n 3p $d/resource)
		cap=$(od -An -tu1 -j52 -N1 $d/config)
		echo "$d $((($2 - $1 + 1) >> 20)) $((cap != 0))"
	done; nproc'
	out=$(run -n 2 --no-tag --smp 1,2 --bar 64M,2M --device doorbell,plain --devices 3 -- \
		sh -c "$script" | sort | uniq -c | sed 's/^ *//')
	want "devices and CPUs" "$out" "2 0000:00:10.0 64 1
2 0000:00:11.0 64 0
2 0000:00:12.0 2 0
2 0000:00:13.0 2 0
1 1
1 2"
}

run_puts_the_memory_above_4g()
{
	first_run
	want "BARs above 4 GiB" "$(grep -c '\] bar 0x0000000[1-9a-f]' "$TMP/first.out")" 4
}

run_passes_words_to_qemu()
{
	first_run
	want "serials" "$(grep -c '^\[n\([01]\)\] is-\1$' "$TMP/first.out")" 2
}

exec_names_a_missing_command()
{
	local out

	out=$(rig exec 0 -- "$TMP/no-such-command" 2>&1)
	want "exit code" $? 127 && want "text" \
		"$(echo "$out" | grep -c "cannot run '$TMP/no-such-command'")" 1
}

run_counts_a_panic_as_failure()
{
	local out

	out=$(run -n 1 -- sh -c 'echo c >/proc/sysrq-trigger; sleep 30' 2>&1)
	want "exit code" $? 125 &&
		want "text" "$(echo "$out" | grep -c 'n0: kernel: .*Kernel panic')" 1
}

exec_counts_a_splat_as_failure()
{
	local out

	out=$(rig exec 0 -- sh -c 'echo "<4>WARNING: possible nonsense" >/dev/kmsg' 2>&1)
	want "exit code" $? 125 &&
		want "text" "$(echo "$out" | grep -c 'n0: kernel: .*WARNING: possible nonsense')" 1
}

run_timeout_names_the_node()
{
	local out

	out=$(run -n 2 --timeout 3 -- sh -c '[ $UB_RANK = 0 ] || sleep 100' 2>&1)
	want "exit code" $? 124 &&
		want "text" "$(echo "$out" | grep -c 'timeout.*: n1 had not ended')" 1
}

run_ends_with_ctrl_c()
{
	local pid rc

	"$UBRIG" run --name "$NAME" --no-module -n 1 -- sh -c 'echo started; sleep 100' \
		>"$TMP/int" 2>&1 &
	pid=$!
	wait_output "$TMP/int" started 30 || return 1
	kill -INT $pid
	wait $pid
	rc=$?
	want "exit code" $rc 130 || return 1
	qemu_left "$NAME" && echo "a VM is left" && return 1
	return 0
}

run_killed_leaves_no_vm()
{
	local pid

	"$UBRIG" run --name "$NAME" --no-module -n 1 -- sh -c 'echo started; sleep 100' \
		>"$TMP/kill" 2>&1 &
	pid=$!
	wait_output "$TMP/kill" started 30 || return 1
	kill -KILL $pid
	wait $pid 2>/dev/null
	qemu_left "$NAME" && echo "a VM is left" && return 1
	return 0
}

run_as_normal_user()
{
	local kernel

	[ "$(id -u)" = 0 ] || return 0
	kernel=$("$top/tools/ubrig/fetch-kernel")
	mkdir "$TMP/user"
	cp -al "$kernel" "$TMP/user/" 2>/dev/null || cp -a "$kernel" "$TMP/user/"
	cp "$UBRIG" "$UBRIG-init" "$TMP/user/"
	chown nobody "$TMP/user"
	(cd / && UB_CACHE=$TMP/user timeout 60 setpriv --reuid=nobody --regid=nogroup \
		--clear-groups "$TMP/user/ubrig" run -n 1 --name "$NAME" --no-module \
		--kernel-dir "$TMP/user/$(basename "$kernel")" -- touch /root/file /tmp/file)
}

up_and_status()
{
	rig up -n 2 --no-module || return 1
	want "ready nodes" "$(rig status | grep -c ready)" 2 &&
		want "ready nodes in JSON" "$(rig status --json | grep -c '"state":"ready"')" 2
}

exec_on_one_and_all()
{
	local long

	long=$(printf '%050000d' 0)
	want "one" "$(rig exec 1 -- hostname)" n1 &&
		want "long value" "$(LONG=$long rig exec 1 --env LONG -- sh -c 'echo ${#LONG}')" 50000 &&
		want "all" "$(rig exec -- hostname | sort | tr '\n' ,)" "[n0] n0,[n1] n1," &&
		rig exec all -- sh -c 'exit $((UB_RANK + 5))'
	want "worst" $? 6
}

exec_sees_new_host_files()
{
	echo old >"$TMP/file"
	want "first" "$(rig exec 0 -- cat "$TMP/file")" old || return 1
	echo newer >"$TMP/file"
	echo second >"$TMP/file2"
	want "changed" "$(rig exec 0 -- cat "$TMP/file")" newer &&
		want "new" "$(rig exec 0 -- cat "$TMP/file2")" second
}

exec_signal_is_128_plus()
{
	rig exec 0 -- sh -c 'kill -TERM $$'
	want "exit code" $? 143
}

exec_timeout_names_the_node()
{
	local out

	out=$(rig exec --timeout 5 -- sh -c '[ $UB_RANK = 1 ] || sleep 100' 2>&1)
	want "exit code" $? 124 &&
		want "text" "$(echo "$out" | grep -c 'timeout.*: n0 had not ended')" 1
}

# 134 as a status gives the job up: also a node that hears no SIGTERM is ended.
exec_abort_ends_all()
{
	local out

	out=$(rig exec --timeout 60 -- sh -c 'trap "" TERM
		[ $UB_RANK = 1 ] && { sleep 1; exit 134; }; while :; do sleep 1; done' 2>&1)
	want "exit code" $? 134 &&
		want "text" "$(echo "$out" | grep -c 'n1 gave the job up')" 1
}

# A process that SIGABRT ended speaks for itself only.
exec_sigabrt_ends_one()
{
	local out

	out=$(rig exec --timeout 60 -- sh -c \
		'[ $UB_RANK = 1 ] && kill -ABRT $$; sleep 2; echo went on')
	want "exit code" $? 134 &&
		want "the other's text" "$(echo "$out" | grep -c 'went on')" 1
}

exec_runs_several_at_once()
{
	local i begin=$SECONDS

	for i in 1 2 3 4 5; do
		rig exec -- sh -c "sleep 2; echo $i" &
	done >"$TMP/several"
	wait
	want "lines" "$(sort "$TMP/several" | tr -d '\n')" \
		"[n0] 1[n0] 2[n0] 3[n0] 4[n0] 5[n1] 1[n1] 2[n1] 3[n1] 4[n1] 5" &&
		[ $((SECONDS - begin)) -lt 8 ]
}

exec_ends_with_its_client()
{
	local pid i

	"$UBRIG" exec --name "$NAME" 0 -- sh -c 'echo started; sleep 4321' \
		>"$TMP/client" 2>&1 &
	pid=$!
	wait_output "$TMP/client" started 10 || return 1
	kill $pid
	wait $pid 2>/dev/null
	for i in 1 2 3 4 5; do
		rig exec 0 -- pgrep -f 'sleep 4321' >/dev/null || return 0
		sleep 0.2
	done
	echo "the command is still there, after $i looks"
	return 1
}

uptime_of()
{
	rig exec "$1" -- sed 's/\..*//' /proc/uptime
}

pause_is_invisible_inside()
{
	local before after

	before=$(uptime_of 1)
	rig pause 1 || return 1
	want "state" "$(rig status | grep -c 'n1 .*paused')" 1 || return 1
	sleep 4
	rig resume 1 || return 1
	after=$(uptime_of 1)
	[ $((after - before)) -lt 4 ] && return 0
	echo "uptime went from $before to $after"
	return 1
}

freeze_is_visible_inside()
{
	local before after

	before=$(uptime_of 1)
	rig freeze 1 || return 1
	want "state" "$(rig status | grep -c 'n1 .*frozen')" 1 || return 1
	sleep 4
	rig resume 1 || return 1
	after=$(uptime_of 1)
	[ $((after - before)) -ge 4 ] && return 0
	echo "uptime went from $before to $after"
	return 1
}

kill_ends_what_runs_there()
{
	local pid rc

	rig exec 0 -- sh -c 'echo started; sleep 100' >"$TMP/exec" 2>&1 &
	pid=$!
	wait_output "$TMP/exec" started 10 || return 1
	rig kill 0 || return 1
	wait $pid
	rc=$?
	want "exit code of what ran" $rc 137 &&
		want "state" "$(rig status | grep -c 'n0 .*killed')" 1 &&
		want "others" "$(rig exec all -- hostname 2>/dev/null)" "[n1] n1"
}

boot_brings_it_back()
{
	rig boot 0 || return 1
	want "host" "$(rig exec 0 -- hostname)" n0
}

exec_counts_a_panic_as_failure()
{
	local out

	out=$(rig exec 0 -- sh -c 'echo c >/proc/sysrq-trigger; sleep 30' 2>&1)
	want "exit code" $? 125 &&
		want "text" "$(echo "$out" | grep -c 'n0: kernel: .*Kernel panic')" 1 &&
		want "state" "$(rig status | grep -c 'n0 .*panicked')" 1 &&
		rig dmesg 0 | grep -q "Kernel panic"
}

down_leaves_no_vm()
{
	rig down || return 1
	qemu_left "$NAME" && echo "a VM is left" && return 1
	return 0
}

up_killed_leaves_no_vm()
{
	rig up -n 1 --no-module || return 1
	pkill -KILL -f "$UBRIG up --name $NAME "
	qemu_left "$NAME" && echo "a VM is left" && return 1
	return 0
}

errors_name_the_remedy()
{
	rig exec -- true 2>&1 | grep -q "ubrig up --name $NAME" &&
		"$UBRIG" run --bar 3M -- true 2>&1 | grep -q "power of two.*3M" &&
		"$UBRIG" run --bar 1G,3M -- true 2>&1 | grep -q "power of two.*3M" &&
		"$UBRIG" run --device bell -- true 2>&1 | grep -q "doorbell or plain, not 'bell'" &&
		"$UBRIG" run --devices 9 -- true 2>&1 | grep -q "from 1 to 8, not '9'" &&
		"$UBRIG" run --modules /nonexistent -- true 2>&1 | grep -q /nonexistent &&
		"$UBRIG" frobnicate 2>&1 | grep -q "no verb 'frobnicate'" &&
		"$UBRIG" run -n 2 2>&1 | grep -q "after '--'"
}

echo "TAP version 13"
[ -x "$UBRIG" ] || skip_all "no $UBRIG: build it first"
command -v qemu-system-x86_64 >/dev/null || skip_all "qemu-system-x86 is not installed"
${CC:-cc} -O2 -static -o "$TMP/shm_probe" "$here/shm_probe.c" ||
	skip_all "cannot compile shm_probe.c"
"$top/tools/ubrig/fetch-kernel" >/dev/null || skip_all "no guest kernel"

echo "1..${#TESTS[@]}"
failed=0
number=0
for test in "${TESTS[@]}"; do
	number=$((number + 1))
	begin=${EPOCHREALTIME/./}
	if output=$($test 2>&1); then
		verdict=ok
	else
		verdict="not ok"
		failed=$((failed + 1))
	fi
	[ "$verdict" = ok ] || echo "# ${output//$'\n'/$'\n'# }"
	echo "$verdict $number $test # $(((${EPOCHREALTIME/./} - begin) / 1000)) ms"
done
echo "# $((number - failed)) passed, $failed failed"
[ "$failed" = 0 ]
