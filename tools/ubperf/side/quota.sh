#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: quota.sh MICROSECONDS COMMAND...
# Run a command in a cgroup of its own that gets so much CPU time in each 100 ms.
# Status 4 where no such cgroup can be made.

quota=$1
shift
dir=
for root in /sys/fs/cgroup /sys/fs/cgroup/cpu,cpuacct /sys/fs/cgroup/cpu; do
	if [ -e $root/cgroup.controllers ]; then
		echo +cpu >$root/cgroup.subtree_control
	fi 2>/dev/null
	try=$root/ubperf-$$
	mkdir $try 2>/dev/null || continue
	if { echo "$quota 100000" >$try/cpu.max; } 2>/dev/null ||
	   { echo "$quota" >$try/cpu.cfs_quota_us; } 2>/dev/null; then
		dir=$try
		break
	fi
	rmdir $try
done
if [ -z "$dir" ]; then
	echo "quota.sh: no cgroup with a CPU quota can be made here" >&2
	exit 4
fi
trap 'rmdir "$dir"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
# shellcheck disable=SC2016 # the inner shell's
sh -c 'echo $$ >"$0"/cgroup.procs && exec "$@"' "$dir" "$@"
