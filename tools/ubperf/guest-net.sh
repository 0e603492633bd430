#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# In a guest: bring up the network that bench.sh gave it, with an address by
# rank, and run the command with rank 0's address in UBPERF_TCP_PEER.
set -e

dir=$("$(dirname "$0")/../ubrig/fetch-kernel")
for m in net/core/failover drivers/net/net_failover drivers/net/virtio_net; do
	insmod "$dir/lib/modules/$(uname -r)/kernel/$m.ko"
done
dev=$(basename "$(ls -d /sys/bus/virtio/devices/*/net/*)")
ip addr add "10.77.0.$((UB_RANK + 1))/24" dev "$dev"
ip link set "$dev" up
export UBPERF_TCP_PEER=10.77.0.1
exec "$@"
