# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# To be sourced: a switch that only the VMs of one run are on, by unix sockets;
# the host's own network is not touched.

# switch_start FOLDER: sets switch_qemu, which gives each node a port, and
# switch_pid.
switch_start()
{
	local i work=$1
	vde_switch -sock "$work/switch" -mod 600 -daemon -pidfile "$work/pid"
	for ((i = 0; i < 50; i++)); do
		[ ! -s "$work/pid" ] || [ ! -S "$work/switch/ctl" ] || break
		sleep 0.1
	done
	switch_pid=$(cat "$work/pid")
	# shellcheck disable=SC2034 # the caller's
	switch_qemu="-netdev vde,id=net,sock=$work/switch \
-device virtio-net-pci,netdev=net,mac=52:54:00:00:00:0%n"
}

switch_stop()
{
	[ -z "${switch_pid:-}" ] || kill "$switch_pid" 2>/dev/null
}
