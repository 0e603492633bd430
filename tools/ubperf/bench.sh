#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What "make bench" runs: first libub on the host back end side by side with its
# peers (side/). Then ubperf, all tests, with 2 and 4 ranks, and the ratios that
# matter. FABRIC=host runs those as processes of this machine, too; otherwise as
# VMs, with the module loaded in each, a second, driverless device on the same
# memory for the bare mapping, and a VDE switch on a unix socket between them
# for TCP; the host's own network is not touched. JSON stays in build/bench/.
# ROWS="sync put": those groups of the comparison, and nothing else.
set -euo pipefail

cd "$(dirname "$(readlink -f "$0")")/../.."
tools=build/tools
out=build/bench
mkdir -p "$out"
work=$(mktemp -d)
switch=
trap '[ -z "$switch" ] || kill "$switch" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# measure RANKS COMMAND...
measure()
{
	local n=$1 net
	shift
	if [ "${FABRIC:-}" = host ]; then
		"$tools/ubrun" -n "$n" --timeout 300 -- "$@"
		return
	fi
	net="-netdev vde,id=net,sock=$work/switch"
	net+=" -device virtio-net-pci,netdev=net,mac=52:54:00:00:00:0%n"
	"$tools/ubrig" run -n "$n" --timeout 300 --no-tag --qemu "$net" -- \
		tools/ubperf/guest-net.sh "$@"
}

python3 tools/ubperf/side/side.py host ${ROWS:+--only "${ROWS// /,}"} --json "$out/side-host.json"
[ -z "${ROWS:-}" ] || exit 0
echo
if [ "${FABRIC:-}" != host ]; then
	vde_switch -sock "$work/switch" -mod 600 -daemon -pidfile "$work/pid"
	for ((i = 0; i < 50; i++)); do
		[ ! -s "$work/pid" ] || [ ! -S "$work/switch/ctl" ] || break
		sleep 0.1
	done
	switch=$(cat "$work/pid")
fi
echo "$(nproc) CPUs, load $(cut -d' ' -f1-3 /proc/loadavg)"
for n in 2 4; do
	echo
	measure "$n" "$tools/ubperf" all --check --sleep --json >"$out/${FABRIC:-dev}-$n.json"
	python3 tools/ubperf/table.py "$out/${FABRIC:-dev}-$n.json"
done
measure 2 tools/ubperf/rounds.sh 7 "$tools/ubperf" >"$out/${FABRIC:-dev}-rounds"
echo
python3 tools/ubperf/table.py --ratios "$out" "${FABRIC:-dev}"
