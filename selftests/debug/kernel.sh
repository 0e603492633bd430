#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The debug kernel is in the cache, or is built: minutes, so that a lane does it
# beside the others. KTAP.
#
# usage: kernel.sh kasan|kcsan

echo "KTAP version 1"
echo "1..1"
if dir=$("$(dirname "$0")/build-kernel" "$1"); then
	echo "# $dir"
	echo "ok 1 $1 kernel"
else
	echo "not ok 1 $1 kernel"
	exit 1
fi
