#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Hot plug: ivshmem devices, one with a doorbell and one without, go away under
# their users and come back, behind root ports. The users end with their
# errors, peers are told, programs on both nodes work again afterwards. KTAP.
#
# usage: plug.sh [NAME...]	only these tests
#	UB_VM_RIG	more words for ubrig
set -u
# shellcheck source=rig.sh
. "$(dirname "$(readlink -f "$0")")/rig.sh"

tests=$top/build/selftests/ub

# shellcheck disable=SC2317 # the tests are called by name
{
# until_line PATTERN: in what the job printed
until_line() { until_lines 1 "$1" 90000; }

# until_true COMMAND...
until_true()
{
	local i
	for ((i = 0; i < 300; i++)); do
		"$@" >/dev/null 2>&1 && return 0
		sleep 0.1
	done
	"$@"
}

# ended STATUS: the job
ended()
{
	local rc
	over
	rc=$?
	[ $rc = "$1" ] && return 0
	echo "status $rc:"
	cat "$log"
	return 1
}

t_up()
{
	# shellcheck disable=SC2086 # words
	u up -n 2 --hotplug --bar 1G,2M --device doorbell,plain \
		--param ub.test_hooks=1 --param ub.detect_ms=5000 ${UB_VM_RIG-}
}

there() { u exec 0 -- test -c "/dev/ubfab$1"; }
# node_is STATE DEVICE: what node 1 sees of node 0
node_is() { u exec 1 -- "$top/build/tools/ubfab" node show "ubfab$2" node 0 | grep -E "state $1"; }

# unplugged DEVICE: under its users
unplugged()
{
	start --timeout 150 --tag-output 0 -- "$tests/unplug_test" "/dev/ubfab$1"
	until_line '# up$' && u unplug 0 "$1" && ended 0 && until_true node_is "down reason left" "$1" &&
		! there "$1"
}

# plugged DEVICE: and all is well on both nodes
plugged()
{
	u plug 0 "$1" && works "$1"
}

# works DEVICE: on both nodes
works()
{
	until_true there "$1" && until_true node_is up "$1" || return
	start --timeout 150 --tag-output --env "UB_DEVICE=/dev/ubfab$1" all -- "$tests/two_nodes_test"
	ended 0
}

t_unplug_a_doorbell_device() { unplugged 0; }
t_plug_it_again() { plugged 0; }
t_unplug_a_plain_device() { unplugged 1; }
t_plug_it_again_too() { plugged 1; }

# Their barriers ring and are rung until then.
t_the_other_node_goes_on()
{
	start --timeout 150 --tag-output all -- "$survive" 60
	until_line '\] up$' && sleep 1 && u unplug 0 0 && until_line '^\[n1\] done ranks=1$' &&
		grep -qE '^\[n1\] answer rank=0 node=0 .*reason=.*left' "$log" || { cat "$log"; return 1; }
	over
	plugged 0
}

# In check-long while the guest opens files of the host, which QEMU (7.2, without KVM) then
# has open: on a busy machine it may still take one for an eventfd that is gone, and die.
t_quickly_out_and_in()
{
	local i busy='while sleep 0.2; do :; done'
	[ -z "${UB_LONG-}" ] || busy='while read line <"$1"; do :; done'
	start --timeout 150 --tag-output 0 -- sh -c "$busy" sh "$top/README"
	# A guest that has not found a device yet may eject the next one twice.
	for i in 1 2 3 4; do
		u unplug 0 0 && u plug 0 0 && until_true there 0 &&
			u unplug 0 1 && u plug 0 1 && until_true there 1 || return
	done
	kill "$job" && { wait "$job"; job=; }
	works 0 && works 1
}

t_refused_by_name()
{
	answers 125 'device 0 is plugged already' u plug 0 &&
		answers 125 "no device '2': they are 0 to 1" u unplug 0 2
}

t_kernels_stayed_silent() { silent 0 1; }
}

all="up unplug_a_doorbell_device plug_it_again unplug_a_plain_device plug_it_again_too"
all="$all the_other_node_goes_on quickly_out_and_in refused_by_name kernels_stayed_silent"
[ $# -gt 0 ] && all="up $*"
# shellcheck disable=SC2086 # words
run_named $all
