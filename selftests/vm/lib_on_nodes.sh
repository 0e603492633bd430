#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# libub's tests on the device: each node is a member of every test for as many.
# On the host back end collectives read their peers' memory; here they copy it.
#
# usage: lib_on_nodes.sh TEST...	names in build/selftests, without "t_"

cd "$(dirname "$0")/../.." || exit 1
export T_RANKED=1
[ -z "${UB_LONG-}" ] && seconds=300 || seconds=1400
exec selftests/each -t $seconds "${@/#/build/selftests/t_}"
