#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What "make bench-vm" runs: libub on the device side by side with Open MPI. In
# one VM of 2 CPUs, both by its memory; across 2 and 4 VMs, Open MPI over TCP.
# Tables; JSON stays in build/bench/.
#
# It ends: each place has BUDGET seconds, beside booting, in which no more runs
# begin. What had no time then, or did not end in its own, is in the table with
# the reason.
#
# usage: bench-vm.sh [1|2|4]...
# In the environment BUDGET (180 in one VM, 120 across), ROUNDS (at most so many: 5),
# SIDE: more for side/side.py.
set -euo pipefail

cd "$(dirname "$(readlink -f "$0")")/../.."
# shellcheck source=switch.sh
. tools/ubperf/switch.sh
rig=build/tools/ubrig
out=build/bench
mkdir -p "$out"
work=$(mktemp -d)
trap 'switch_stop; rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

read -ra side <<<"${SIDE:-}"

# measure PLACE SECONDS: the words that measure there
measure()
{
	printf '%s\n' "$1" --tries 1 --rounds "${ROUNDS:-5}" --seconds "$2" --json - "${side[@]}"
}

one_vm()
{
	local seconds=${BUDGET:-180} words
	mapfile -t words < <(measure vm "$seconds")
	"$rig" run -n 1 --smp 2 --timeout $((seconds + 150)) --no-tag -- \
		python3 tools/ubperf/side/side.py "${words[@]}"
}

# across NODES
across()
{
	local machine=lib/machines/2x2.yaml seconds=${BUDGET:-120} words
	[ "$1" = 4 ] || machine=lib/machines/flat4.yaml
	mapfile -t words < <(measure guests "$seconds")
	"$rig" run -n "$1" --timeout $((seconds + 150)) --no-tag --machine "$machine" \
		--qemu "$switch_qemu" -- tools/ubperf/guest-net.sh \
		tools/ubperf/guest-side.sh "${words[@]}"
}

switch_start "$work"
[ $# -gt 0 ] || set -- 1 2 4
for n in "$@"; do
	if [ "$n" = 1 ]; then
		one_vm >"$work/json"
	else
		across "$n" >"$work/json"
	fi
	mv "$work/json" "$out/side-vm-$n.json"
	printf '(%s)\n\n' "$out/side-vm-$n.json"
done
