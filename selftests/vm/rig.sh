# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For scripts that do things to a standing rig: it goes down when they end,
# however they end. $tmp is theirs, $log has what the job in the background says.
# What is for people goes to descriptor 3, as KTAP comments.

here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
# shellcheck source=../tools/ktap.sh
. "$top/selftests/tools/ktap.sh"

ubrig=$top/build/tools/ubrig
rig=$(basename "$0" .sh)-$$
# shellcheck disable=SC2034 # for the scripts
survive=$top/build/selftests/vm/survive
tmp=$(mktemp -d)
log=$tmp/log
job=

rig_end()
{
	[ -z "$job" ] || kill "$job" 2>/dev/null
	"$ubrig" down --name "$rig" >/dev/null 2>&1
	rm -rf "$tmp"
}
trap rig_end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# u VERB ARGUMENT...: of ubrig
u() { local verb=$1; shift; "$ubrig" "$verb" --name "$rig" "$@"; }

# start ARGUMENT...: of ubrig exec; the job
start()
{
	: >"$log"
	u exec "$@" >"$log" 2>&1 &
	job=$!
}

# over: the job has ended; its status
over()
{
	local rc=0
	[ -z "$job" ] || { wait "$job"; rc=$?; }
	job=
	return $rc
}

now_ms() { echo $((${EPOCHREALTIME/./} / 1000)); }

# until_lines N PATTERN MS: the job has said so many by then, and by its end
until_lines()
{
	local end=$(($(now_ms) + $3)) alive
	while :; do
		kill -0 "$job" 2>/dev/null && alive=yes || alive=
		[ "$(grep -cE -- "$2" "$log")" -lt "$1" ] || return 0
		[ -n "$alive" ] || break
		[ "$(now_ms)" -lt $end ] || break
		sleep 0.05
	done
	echo "not $1 lines like '$2', $([ "$alive" ] && echo "in $3 ms" || echo "and it has ended"):"
	cat "$log"
	return 1
}

# silent NODE...: their kernels
silent()
{
	local n
	for n; do
		! u dmesg "$n" | grep -E 'WARNING:|BUG:|Oops|Call Trace|blocked for more|soft lockup' ||
			return 1
	done
}

# run_named NAME...: t_NAME of each; without the first, "up", none
run_named()
{
	local name
	exec 3> >(sed 's/^/# /')
	ktap_plan $#
	for name; do
		check "$name" "t_$name"
		[ "$name" != up ] || [ $ktap_failed = 0 ] || break
	done
	exec 3>&-
	ktap_end
}
