#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: guest-side.sh SIDE.PY-ARGUMENT...
# In each guest of bench-vm.sh: rank 0 measures, the others run what it tells
# them. Rank 0's standard output is JSON.

rsh=tools/ubperf/guest-rsh.py
[ "$UB_RANK" = 0 ] || exec python3 $rsh serve
trap 'python3 $rsh quit' EXIT
python3 tools/ubperf/side/side.py "$@"
