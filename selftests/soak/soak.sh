#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# "make soak": four of five steps on loop nodes in one VM (soak_test), the rest
# on a rig of VMs (rig.sh). See there for what a step is. KTAP.
#
# usage: soak.sh, all by environment:
#	N=200		steps		SEED=	the time
#	ON=		loop or rig: all steps there
#	FROM=0		first step	NODES=3	VMs of the rig (make soak: 4)
#	UB_SOAK_RIG	more words for ubrig
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 1

n=${N:-200}
seed=${SEED:-$(($(date +%s) % 1000000))}
from=${FROM:-0}
case ${ON-} in
loop)	rig=0 ;;
rig)	rig=$n ;;
*)	rig=$(((n + 4) / 5)) ;;
esac
loop=$((n - rig))
worst=0

if [ $loop -gt 0 ]; then
	# shellcheck disable=SC2086 # words
	UB_SOAK_N=$loop UB_SOAK_SEED=$seed UB_SOAK_FROM=$from \
		build/tools/ubrig run -n 1 --no-tag --no-module --smp 2 \
		--timeout $((120 + 30 * loop)) ${UB_SOAK_RIG-} -- \
		"$PWD/selftests/ub/run-in-guest.sh" "${UB_SOAK_UB:-ub.ko}" soak || worst=1
fi
if [ "$rig" -gt 0 ]; then
	selftests/soak/rig.sh -n "$rig" --nodes "${NODES:-3}" --seed "$seed" --from "$from" ||
		worst=1
fi
exit $worst
