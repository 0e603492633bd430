#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The modules compile without a warning (W=1) for Debian's newer kernels, each
# with its own headers and compiler, and keep their lock prefixes there.
#
# usage: kernels.sh VERSION...	as tools/ubrig/fetch-kernel has them
# shellcheck source=static/common.sh
. "$(dirname "$0")/static/common.sh"

# build VERSION: complaints; leaves the folder of ub.ko in $tmp/folder
build()
{
	tools/ubrig/build-modules "$1" W=1 KCFLAGS=-Werror 2>"$tmp/out" >"$tmp/folder" && return
	grep 'warning:\|error:\|ERROR\|Error \|undefined\|build-modules:\|fetch-kernel:' "$tmp/out" |
		head -n 40
	echo "tools/ubrig/build-modules $1 failed"
}

locks()
{
	selftests/static/shared_atomics.sh "$(cat "$tmp/folder")/ub.ko" >"$tmp/locks"
	grep -q 'SKIP' "$tmp/locks" && echo "not looked at"
	grep -B 9 '^not ok' "$tmp/locks"
}

plan $(($# * 2))
for version; do
	build "$version" | verdict "modules for $version: make W=1"
	locks | verdict "lock prefixes of engine and slots for $version"
done
exit $failed
