#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What "make bench-vm" runs: libub on the device side by side with Open MPI. In
# one VM of 2 CPUs, both by its memory; across 2 and 4 VMs, Open MPI over TCP.
# Tables; JSON stays in build/bench/.
#
# usage: bench-vm.sh [1|2|4]...
# In the environment ROUNDS (3 in one VM, 5 across), SIDE: more for side/side.py.
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

one_vm()
{
	"$rig" run -n 1 --smp 2 --timeout 3000 --no-tag -- \
		python3 tools/ubperf/side/side.py vm --rounds "${ROUNDS:-3}" --json - "${side[@]}"
}

# across NODES
across()
{
	local machine=lib/machines/2x2.yaml
	[ "$1" = 4 ] || machine=lib/machines/flat4.yaml
	"$rig" run -n "$1" --timeout 1500 --no-tag --machine "$machine" \
		--qemu "$switch_qemu" -- tools/ubperf/guest-net.sh \
		tools/ubperf/guest-side.sh --rounds "${ROUNDS:-5}" "${side[@]}"
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
