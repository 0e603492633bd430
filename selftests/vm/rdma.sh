#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Nodes without shared memory: soft-RoCE between guests. They find each other in
# any order, are told who left, who died and who came back; who does not fit is
# refused by name; windows work, and go on when a link comes back; so do groups and
# barriers, and who is lost in one is told to the others; device, module and fabric go
# away under their users. KTAP.
#
# usage: rdma.sh [NAME...]	only these tests, and "up" first; lossy and those of
#			links that go down run only so: Documentation/rdma.rst
#			has what is wrong there
#	UB_VM_RIG	more words for ubrig
set -u
# shellcheck source=rig.sh
. "$(dirname "$(readlink -f "$0")")/rig.sh"

ubfab=$top/build/tools/ubfab
far=$top/build/selftests/ub/far_test
apart=$top/build/selftests/ub/apart_test
modules=${UB_MODULES:-$top/kernel}

# shellcheck disable=SC2317 # the tests are called by name
{
# on NODE COMMAND...
on() { local n=$1; shift; u exec --no-tag --timeout 100 "$n" -- "$@"; }

# until_true COMMAND...
until_true()
{
	local end=$((EPOCHSECONDS + 60))
	while [ $EPOCHSECONDS -lt $end ]; do
		"$@" >"$tmp/last" 2>&1 && return 0
		sleep 0.2
	done
	cat "$tmp/last"
	return 1
}

# sees NODE ID PATTERN: what that node says of the other
sees()
{
	local out
	out=$(on "$1" "$ubfab" node show node "$2" 2>&1)
	echo "n$1: $out"
	grep -Eq "node $2 .*$3" <<<"$out"
}

sees_up() { sees "$1" "$2" 'state up'; }

all_up()
{
	local i j
	for i in 0 1 2; do
		for j in 5 7 9; do
			until_true sees_up $i $j || return
		done
	done
}

incarnation() { on "$1" "$ubfab" node show node "$2" | grep -o 'incarnation [0-9]*'; }

# said NODE PATTERN: its kernel, since mark
mark() { on "$1" sh -c 'dmesg -C'; }
said()
{
	on "$1" dmesg >"$tmp/dmesg"
	grep -q "$2" "$tmp/dmesg" && return 0
	echo "the kernel of n$1 did not say '$2':"
	cat "$tmp/dmesg"
	return 1
}

# add NODE [WORD...]: its fabric, as the rig adds it
add()
{
	local n=$1 ids=(5 7 9)
	shift
	on "$n" "$ubfab" fabric add rdma dev rxe0 node "${ids[n]}" peer 5=10.85.66.1 \
		7=10.85.66.2 9=10.85.66.3 "$@"
}

load() { local n=$1; shift; on "$n" insmod "$modules/rdma/ub_rdma.ko" "$@"; }

# start_far HOME FAR: the tester, beside which something happens
start_far()
{
	u exec --no-tag --timeout 200 "$2" -- "$far" far "10.85.66.$(($1 + 1))" \
		>"$log.far" 2>&1 &
	job=$!
}

# far_well: the tester has ended well
far_well()
{
	local rc
	wait "$job"
	rc=$?
	job=
	if [ $rc != 0 ] || grep "^not ok" "$log.far"; then
		cat "$log" "$log.far"
		return 1
	fi
	sed -n 's/^# \([a-z_]*: [0-9]* ms\).*/\1/p' "$log.far" | paste -sd' ' >&3
}

# windows HOME FAR: all that can be done with them
windows()
{
	start_far "$1" "$2"
	u exec --no-tag --timeout 200 "$1" -- "$far" home >"$log" 2>&1
	far_well
}

t_up()
{
	# shellcheck disable=SC2086 # words
	u up -n 3 --nodes 5,7,9 --transport rdma --param ub.detect_ms=4000 ${UB_VM_RIG-} &&
		all_up
}

t_windows() { windows 0 1; }
t_windows_the_other_way() { windows 2 1; }

# all_nodes PROGRAM ARGUMENT...: one process on each
all_nodes()
{
	start --tag-output --timeout 200 all -- "$@"
	over && ! grep ' not ok ' "$log" && return
	cat "$log"
	return 1
}

t_groups()
{
	all_nodes "$apart" && [ "$(grep -c '^\[n0\] ok ' "$log")" = 9 ] &&
		grep -o '[0-9]* us a barrier' "$log" >&3
}

# All come as member 0: of two one is told who has the place.
t_index_taken()
{
	start --tag-output --timeout 100 all -- "$apart" taken
	over
	cat "$log"
	# whoever came first; n0, n1, n2 are nodes 5, 7, 9
	! grep -q ' 0 by ' "$log" &&
		grep -Eq '(\[n0\].* node [79]|\[n1\].* node [59]|\[n2\].* node [57])$' \
			<(grep 'taken: -17 by ' "$log")
}

# in_a_barrier: all nodes are, for ever
in_a_barrier()
{
	start --tag-output --timeout 100 all -- "$apart" until-lost
	until_lines 3 ' begun' 60000 && sleep 1
}

# lost MEMBER NODE REASON NODE...: all of these were told the same
lost()
{
	local member=$1 node=$2 reason=$3 n
	shift 3
	over
	for n; do
		grep -q "^\[n$n\] lost: member $member of node $node, reason $reason" "$log" && continue
		cat "$log"
		return 1
	done
}

t_process_killed_in_a_barrier()
{
	# shellcheck disable=SC2016 # the guest's
	in_a_barrier && on 1 sh -c 'kill -9 $(pidof apart_test)' && lost 1 7 4 0 2
}

t_node_leaves_in_a_barrier()
{
	in_a_barrier && on 1 "$ubfab" fabric del ubfab0 && lost 1 7 2 0 2 && add 1 && all_up
}

t_node_killed_in_a_barrier()
{
	in_a_barrier && u kill 2 && lost 2 9 1 0 1 && u boot 2 && all_up && t_groups
}

# The same bits as one process, which each program compares with.
t_programs()
{
	local graph
	graph=$("$top/lib/examples/debian-graph") &&
		all_nodes "$top/build/examples/heat" --n 64 --cols 64 --inner 5 --outer 10 --check &&
		grep -q 'identical bits: yes' "$log" &&
		all_nodes "$top/build/examples/pagerank" --check "$graph" && grep -q ': equal$' "$log"
}

t_killed_is_told()
{
	u kill 2 && until_true sees 0 9 'state (fenced|down) .*reason no-heartbeat' &&
		until_true sees 1 9 'state (fenced|down) .*reason no-heartbeat'
}

t_comes_back()
{
	local was
	was=$(incarnation 0 9)
	u boot 2 && all_up && [ "$was" != "$(incarnation 0 9)" ] && windows 2 0
}

# It says so: nobody waits for the detection time.
t_leaves()
{
	local start=$EPOCHSECONDS
	on 2 "$ubfab" fabric del ubfab0 && until_true sees 0 9 'state down .*reason left' &&
		until_true sees 1 9 'state down .*reason left' || return
	echo "$((EPOCHSECONDS - start)) s"
	add 2 && all_up
}

t_layout_refused()
{
	mark 0
	on 2 rmmod ub_rdma && load 2 layout_skew=1 && mark 2 && add 2 &&
		until_true said 0 'node 9 .*: call refused there: the layout versions differ' &&
		until_true said 2 'node 5 .*: call refused here: the layout versions differ' &&
		! sees_up 0 9 && on 2 rmmod ub_rdma && load 2 && add 2 && all_up
}

t_name_refused()
{
	mark 0
	on 2 "$ubfab" fabric del ubfab0 && add 2 name other &&
		until_true said 0 'node 9 .*: call refused there: the names of the fabrics differ' &&
		! sees_up 0 9 && on 2 "$ubfab" fabric del ubfab0 && add 2 && all_up
}

t_bad_requests()
{
	answers 1 'dev: no such RDMA device' on 0 "$ubfab" fabric add rdma dev rxe7 node 1 \
		peer 2=10.85.66.2 &&
		answers 1 'port: .*in use' add 0 &&
		answers 1 'peer: at least one' on 0 "$ubfab" fabric add rdma dev rxe0 node 1 port 99 &&
		answers 1 'peer: the node id is given twice' on 0 "$ubfab" fabric add rdma \
			dev rxe0 node 1 port 99 peer 2=10.85.66.2 2=10.85.66.3 &&
		answers 1 'no common memory' on 0 "$ubfab" fabric format ubfab0 force
}

# Beside the other fabric: another port, another name.
t_ipv6()
{
	local i show="$ubfab node show dev ubfab1 node"
	for i in 1 2; do
		on $((i - 1)) ip addr add "fd85:66::$i/64" dev eth0 nodad || return
	done
	for i in 1 2; do
		on $((i - 1)) "$ubfab" fabric add rdma dev rxe0 node $i name six port 21900 \
			bytes 2M peer 1=fd85:66::1 2=fd85:66::2 || return
	done
	# shellcheck disable=SC2086 # words
	until_true answers 0 'state up' on 0 $show 2 && until_true answers 0 'state up' on 1 $show 1 &&
		on 0 "$ubfab" fabric del ubfab1 && until_true answers 0 'reason left' on 1 $show 1 &&
		on 1 "$ubfab" fabric del ubfab1 && all_up
}

# Packets are lost, late, and out of order: all is as before, but slower.
t_lossy()
{
	on 0 tc qdisc add dev eth0 root netem delay 2ms loss 2% reorder 80% 50% || return
	windows 0 1 || return
	on 0 tc qdisc del dev eth0 root && all_up
}

# Shorter than the detection time: nobody is lost, and what was begun goes on.
t_link_down_for_a_moment()
{
	local was
	was=$(incarnation 0 7)
	start_far 0 1
	u exec --no-tag --timeout 200 0 -- sh -c "$far home & for i in 1 2 3; do sleep 2
		ip link set eth0 down; sleep 1; ip link set eth0 up; done; wait" >"$log" 2>&1
	far_well && all_up && [ "$was" = "$(incarnation 0 7)" ]
}

# Both sides take each other for dead, and say so to who calls.
t_link_down_for_long()
{
	on 1 ip link set eth0 down && until_true sees 0 7 'state (fenced|down)' &&
		until_true sees 1 5 'state (fenced|down)' && mark 1 && on 1 ip link set eth0 up &&
		until_true said 1 'node 5 .*taken for dead' && ! sees_up 0 7 &&
		on 1 "$ubfab" fabric del ubfab0 && add 1 && all_up && windows 0 1
}

# The device goes away under a program that uses it.
t_device_removed()
{
	start_far 0 1
	u exec --no-tag --timeout 200 0 -- sh -c "$far home & sleep 4; rdma link del rxe0; wait" \
		>"$log" 2>&1
	wait "$job"
	job=
	until_true sees 1 5 'state down .*reason left' &&
		! on 0 test -e /dev/ubfab0 && on 0 rdma link add rxe0 type rxe netdev eth0 &&
		add 0 && all_up && windows 0 1
}

t_module_unloads()
{
	local i
	for i in 1 2 3 4 5; do
		on 1 rmmod ub_rdma && load 1 && add 1 || return
	done
	all_up && on 1 rmmod ub_rdma && on 1 rmmod ub && on 0 rmmod ub_rdma
}

t_down() { u down; }
}

tests=$(declare -F | sed -n 's/^declare -f t_//p')
order="up windows windows_the_other_way groups index_taken programs
process_killed_in_a_barrier node_leaves_in_a_barrier node_killed_in_a_barrier
killed_is_told comes_back leaves layout_refused name_refused bad_requests ipv6
device_removed module_unloads down"
by_name="lossy link_down_for_a_moment link_down_for_long"
[ "$(xargs -n1 <<<"$order $by_name" | sort)" = "$(sort <<<"$tests")" ] || {
	echo "rdma.sh: its tests and their order differ" >&2
	exit 1
}
[ $# -eq 0 ] || order="up $*"
# shellcheck disable=SC2086 # words
run_named $order
