#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# uAPI structs have neither holes nor padding: what lies there would differ
# between compilers and could never be used.
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

headers=$(c_files kernel/include/uapi/ub | grep '\.h$')

complaints()
{
	structs=$(sed -n 's/^struct \([a-z_0-9]*\) {.*/\1/p' "$1")
	[ -n "$structs" ] || return 0
	{
		echo "#include \"$1\""
		for s in $structs; do
			echo "struct $s v_$s;"
		done
	} >"$tmp/x.c"
	gcc -g -O0 -I. -Ikernel/include/uapi -c -o "$tmp/x.o" "$tmp/x.c" 2>&1 || return
	for s in $structs; do
		pahole -C "$s" "$tmp/x.o" >"$tmp/out" 2>&1
		grep -q "^struct $s {" "$tmp/out" || echo "struct $s: pahole does not find it"
		grep 'XXX\|padding:\|holes:' "$tmp/out" | sed "s/^/struct $s: /"
	done
}

# shellcheck disable=SC2086 # a list of words
plan "$(echo $headers | wc -w)"
for h in $headers; do
	complaints "$h" | verdict "no holes in $h"
done
exit $failed
