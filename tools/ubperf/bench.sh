#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What "make bench" runs: ubperf, all tests, with 2 and 4 ranks. FABRIC=host runs
# them as processes of this machine; otherwise as VMs, with the module loaded in
# each and a second, driverless device on the same memory for the bare mapping.
# The JSON stays in build/bench/.
set -euo pipefail

cd "$(dirname "$(readlink -f "$0")")/../.."
tools=build/tools
out=build/bench
mkdir -p "$out"

# measure RANKS ARGUMENT...
measure()
{
	local n=$1
	shift
	if [ "${FABRIC:-}" = host ]; then
		"$tools/ubrun" -n "$n" --timeout 300 -- "$tools/ubperf" "$@"
	else
		"$tools/ubrig" run -n "$n" --timeout 300 --no-tag -- "$tools/ubperf" "$@"
	fi
}

echo "$(nproc) CPUs, load $(cut -d' ' -f1-3 /proc/loadavg)"
for n in 2 4; do
	echo
	json=$out/${FABRIC:-dev}-$n.json
	measure "$n" all --check --sleep --json >"$json"
	python3 - "$json" <<-'END'
	import json, sys
	cols = ("min_ns", "p50_ns", "p99_ns", "max_ns")
	rows = json.load(open(sys.argv[1]))["rows"]
	print("%-14s %-6s %7s %9s" % ("test", "fabric", "members", "size") +
	      "".join("%13s" % c.replace("_", " ") for c in cols) + "   GB/s  checked")
	for r in rows:
	    line = "%-14s %-6s %7d %9d" % (r["test"], r["fabric"], r["members"], r["size"])
	    if "skipped" in r:
	        print(line + "  skipped: " + r["skipped"])
	        continue
	    print(line + "".join("%13.1f" % r[c] for c in cols) +
	          ("%7.2f" % r["gb_per_s"] if r["size"] else "      -") +
	          ("  WRONG" if r.get("wrong_data") else "  yes" if r["checked"] else "  no"))
	END
	echo "($json)"
done
