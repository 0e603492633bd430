#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# On each rank: the tests that are compared with each other, one right after the
# other, in several rounds, so that a machine that slows down for a while slows
# both down. Rank 0 prints JSON documents, each after a line "# ROUND TAG".
#
# usage: rounds.sh ROUNDS UBPERF [ARGUMENT...]

rounds=$1
shift
tag() { [ "$UB_RANK" != 0 ] || echo "# $round $1"; }
round=0
while [ $round -lt "$rounds" ]; do
	round=$((round + 1))
	for t in pingpong barrier; do
		tag stats
		"$@" $t --json || exit
	done
	tag nostats
	UB_STATS=0 "$@" barrier --json || exit
	for t in raw map-read map-write; do
		tag stats
		"$@" $t --iters 500 --json || exit
	done
done
