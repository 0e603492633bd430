#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What libub.so exports is what its map lists, each with a version, and what the
# public headers declare.
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

so=build/lib/libub.so.0

# Names of a file, one on each line, in order; then those of only one of two.
sed -n 's/^[[:space:]]*\([a-z_][a-z0-9_]*\);.*/\1/p' lib/libub.map | sort >"$tmp/map"

differences()
{
	comm -23 "$1" "$2" | sed "s,\$,: in $3 but not in $4,"
	comm -13 "$1" "$2" | sed "s,\$,: in $4 but not in $3,"
}

plan 4
make -s lib >"$tmp/out" 2>&1 || tail -n 5 "$tmp/out"
nm -D --defined-only --with-symbol-versions $so >"$tmp/nm" 2>&1
awk '$2 != "A" { print $3 }' "$tmp/nm" | sed 's/@.*//' | sort >"$tmp/so"
differences "$tmp/so" "$tmp/map" $so lib/libub.map | verdict "$so exports what its map lists"
awk '$2 != "A" && $3 !~ /@@LIBUB_[0-9.]+$/ { print $3 ": no version" }' "$tmp/nm" |
	verdict "each symbol has a version"
# Calls, and names that they have in the other dialect of bsp.h.
{
	cat lib/include/*.h | grep -v '^#' | tr '\n' ' ' | grep -o 'UB_API [^;(]*(' |
		sed 's/.*[ *]\([a-z_0-9]*\)(/\1/'
	sed -n 's/^#define bsp_[a-z_]*[[:space:]]*\(bspz_[a-z_]*\)$/\1/p' lib/include/*.h
} | sort >"$tmp/headers"
differences "$tmp/headers" "$tmp/map" lib/include lib/libub.map |
	verdict "the public headers declare what the map lists"
[ -s "$tmp/map" ] && : >"$tmp/none" || echo "no name in lib/libub.map" >"$tmp/none"
verdict "the map was read" <"$tmp/none"
exit $failed
