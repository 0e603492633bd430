#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What "make bench" runs: first libub on the host back end side by side with its
# peers (side/). Then ubperf, all tests, with 2 and 4 ranks, and the ratios that
# matter. FABRIC=host runs those as processes of this machine, too; otherwise as
# VMs, with the module loaded in each, a second, driverless device on the same
# memory for the bare mapping, and a switch between them for TCP. JSON stays in
# build/bench/.
# ROWS="sync put": those groups of the comparison, and nothing else.
set -euo pipefail

cd "$(dirname "$(readlink -f "$0")")/../.."
tools=build/tools
out=build/bench
mkdir -p "$out"
work=$(mktemp -d)
# shellcheck source=switch.sh
. tools/ubperf/switch.sh
trap 'switch_stop; rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# measure RANKS COMMAND...
measure()
{
	local n=$1
	shift
	if [ "${FABRIC:-}" = host ]; then
		"$tools/ubrun" -n "$n" --timeout 300 -- "$@"
		return
	fi
	"$tools/ubrig" run -n "$n" --timeout 300 --no-tag --qemu "$switch_qemu" -- \
		tools/ubperf/guest-net.sh "$@"
}

python3 tools/ubperf/side/side.py host ${ROWS:+--only "${ROWS// /,}"} --json "$out/side-host.json"
[ -z "${ROWS:-}" ] || exit 0
echo
[ "${FABRIC:-}" = host ] || switch_start "$work"
echo "$(nproc) CPUs, load $(cut -d' ' -f1-3 /proc/loadavg)"
for n in 2 4; do
	echo
	measure "$n" "$tools/ubperf" all --check --sleep --json >"$out/${FABRIC:-dev}-$n.json"
	python3 tools/ubperf/table.py "$out/${FABRIC:-dev}-$n.json"
done
measure 2 tools/ubperf/rounds.sh 7 "$tools/ubperf" >"$out/${FABRIC:-dev}-rounds"
measure 2 "$tools/ubperf" idle --late 5000 --iters 1 --json >"$out/${FABRIC:-dev}-idle.json"
echo
python3 tools/ubperf/table.py --ratios "$out" "${FABRIC:-dev}"
