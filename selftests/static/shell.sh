#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Shell scripts pass shellcheck, and can be executed when they have a "#!".
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

tree_files . | while read -r f; do
	head -n 3 "$f" | grep -aEq '^#!.*[/ ](ba|da)?sh$|shellcheck shell=' && echo "$f"
done >"$tmp/files"

plan 2
# SC3045: dash and busybox have ulimit -v
xargs -P "$(nproc)" -n 4 shellcheck -x -P SCRIPTDIR -S warning -e SC3045 -f gcc <"$tmp/files" |
	verdict "shellcheck"
while read -r f; do
	case $(head -c 2 "$f") in
	'#!') [ -x "$f" ] || echo "$f: has '#!' and is not executable" ;;
	*)    [ ! -x "$f" ] || echo "$f: is executable without '#!'" ;;
	esac
done <"$tmp/files" | verdict "executable where it says '#!'"
exit $failed
