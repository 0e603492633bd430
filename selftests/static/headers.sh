#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Public headers compile by themselves, twice in one file, as C89, C11 and C++.
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

headers=$(c_files kernel/include/uapi/ub lib/include | grep '\.h$')

# complaints HEADER COMPILER-AND-OPTIONS
complaints()
{
	h=$1
	shift
	# uAPI headers lose their "inline" when they are installed
	case $h in
	kernel/*) set -- "$@" -Dinline=__inline__ ;;
	esac
	printf '#include "%s"\n#include "%s"\nint a_file_needs_something;\n' "$h" "$h" |
		"$@" -I. -Ikernel/include/uapi -Ilib/include \
			-Wall -Wextra -Werror -pedantic -fsyntax-only - 2>&1 |
		head -n 20
}

# shellcheck disable=SC2086 # a list of words
plan $(($(echo $headers | wc -w) * 3))
for h in $headers; do
	complaints "$h" gcc -x c -std=c89 -Wno-long-long |
		verdict "$h as C89"
	complaints "$h" gcc -x c -std=c11 -Wstrict-prototypes |
		verdict "$h as C11"
	complaints "$h" g++ -x c++ -std=c++11 |
		verdict "$h as C++11"
done
exit $failed
