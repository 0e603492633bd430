#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: quota.sh MICROSECONDS COMMAND...
# Run a command in a cgroup of its own that gets so much CPU time in each 100 ms.
# Status 4 where no such cgroup can be made.

quota=$1
shift

# Files are never created: where v1 is mounted, v2's root is a plain tmpfs.
limit()
{
	if [ -e "$1/cpu.max" ]; then
		echo "$quota 100000" >"$1/cpu.max"
	elif [ -e "$1/cpu.cfs_quota_us" ]; then
		echo "$quota" >"$1/cpu.cfs_quota_us"
	else
		return 1
	fi 2>/dev/null
}

dir=
for root in /sys/fs/cgroup /sys/fs/cgroup/cpu,cpuacct /sys/fs/cgroup/cpu; do
	[ -e $root/cgroup.procs ] || continue
	[ ! -e $root/cgroup.controllers ] ||
		{ echo +cpu >$root/cgroup.subtree_control; } 2>/dev/null
	try=$root/ubperf-$$
	mkdir $try 2>/dev/null || continue
	if limit $try; then
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
