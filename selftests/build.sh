#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The build lane: everything compiles without a warning, and sparse finds
# nothing in the modules.
# shellcheck source=static/common.sh
. "$(dirname "$0")/static/common.sh"

# Warnings are errors; a note of kbuild's own, without "warning:", is not.
make_quietly()
{
	make -s -j"$(nproc)" "$@" >"$tmp/out" 2>&1
	rc=$?
	grep 'warning:\|error:\|ERROR\|Error \|undefined' "$tmp/out" | head -n 40
	if [ $rc != 0 ]; then
		echo "make $* ended with $rc"
		tail -n 15 "$tmp/out"
	fi
}

plan $((2 * $([ -e Kbuild ] && echo 1 || echo 0) + 3))
if [ -e Kbuild ]; then
	make_quietly modules W=1 KCFLAGS=-Werror |
		verdict "modules: make W=1"
	make_quietly modules W=1 KCFLAGS=-Werror C=2 CF='-D__CHECK_ENDIAN__ -Wsparse-error' |
		verdict "modules: sparse"
fi
make_quietly lib | verdict "lib"
make_quietly tools | verdict "tools"
make_quietly selftests | verdict "selftests"
exit $failed
