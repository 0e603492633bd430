#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What "make demo" runs: heat and pagerank, each on 4 nodes arranged as 2 boards
# of 2, each compared with the same computation by one process. FABRIC=host
# runs them as processes of this machine; otherwise 4 VMs are booted, with the
# module loaded in each. They share memory, or with TRANSPORT=rdma only a network.
set -euo pipefail

cd "$(dirname "$(readlink -f "$0")")/../.."
machine=lib/machines/2x2.yaml
graph=$(lib/examples/debian-graph)
tools=build/tools
worst=0
started=$SECONDS
transport=${TRANSPORT:-ivshmem}

say() { printf '\n== %s\n' "$*"; }

if [ "${FABRIC:-}" = host ]; then
	node() { "$tools/ubrun" -n 4 --machine "$machine" --timeout 120 -- "$@"; }
	say "4 processes of this machine, no module"
else
	rig=demo-$$
	node() { "$tools/ubrig" exec --name "$rig" --timeout 150 --no-tag all -- "$@"; }
	say "4 VMs boot, each loads ub.ko and ub_$transport.ko"
	trap '"$tools/ubrig" down --name "$rig" >/dev/null 2>&1 || :' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	"$tools/ubrig" up --name "$rig" -n 4 --machine "$machine" --transport "$transport"
	say "what a node sees"
	"$tools/ubrig" exec --name "$rig" --no-tag 0 -- \
		sh -c 'lsmod | grep "^ub"; ls -l /dev/ubfab*; dmesg | grep " ub" | tail -n 4'
fi

for program in "heat --check" "pagerank --check $graph"; do
	say "$program"
	# shellcheck disable=SC2086
	node build/examples/$program || worst=$?
done

if [ "$worst" -ne 0 ]; then
	say "FAILED (exit code $worst)"
else
	say "both programs agree with one process; $((SECONDS - started)) s"
fi
exit "$worst"
