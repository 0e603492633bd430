#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Kernel coding style, in user space too, less what .checkpatch.conf and the
# list below say.
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

# User space has no kernel types, attribute macros and ARRAY_SIZE; its names
# may be those of libc (Elf64_Ehdr); messages for people are sentences, cut
# or long; an argv cannot be const; a test's macros return; mapped memory that
# others write is volatile there; ANSI C has no // for the licence;
# bsp.h has typedefs by the standard.
user=PREFER_KERNEL_TYPES,PREFER_DEFINED_ATTRIBUTE_MACRO,ARRAY_SIZE
user=$user,CAMELCASE,LONG_LINE_STRING,EMBEDDED_FUNCTION_NAME
user=$user,MULTIPLE_ASSIGNMENTS,BLOCK_COMMENT_STYLE,FUNCTION_ARGUMENTS
user=$user,UNCOMMENTED_DEFINITION,STATIC_CONST_CHAR_ARRAY
user=$user,SPLIT_STRING,MACRO_WITH_FLOW_CONTROL,VOLATILE,SPDX_LICENSE_TAG

checkpatch=build/kernel-scripts/checkpatch.pl

# complaints FOLDER OPTION...
complaints()
{
	folder=$1
	shift
	c_files "$folder" >"$tmp/files"
	[ -s "$tmp/files" ] || { echo "no C file in $folder/"; return; }
	# kshim.h has the kernel's own types and macros, by their names.
	# TRACE_EVENT has a layout of its own, in the kernel's tree too
	xargs -P "$(nproc)" -I '{}' selftests/once '{}' $checkpatch .checkpatch.conf -- \
		perl $checkpatch --terse --quiet "$@" -f '{}' <"$tmp/files" 2>&1 |
		grep -v '^lib/include/bsp\.h:.*NEW_TYPEDEFS' |
		grep -v '/kshim\.h:.*:\(NEW_TYPEDEFS\|COMPLEX_MACRO\|TRAILING_STATEMENTS\|MEMORY_BARRIER\|SPACING\):' |
		grep -v '^total:\|/trace\.h:[0-9]*: CHECK:\(OPEN_ENDED_LINE\|PARENTHESIS_ALIGNMENT\):' |
		sort
}

.ci/kselftest-headers || exit 1
folders=
for f in kernel lib tools selftests; do
	[ -z "$(c_files $f)" ] || folders="$folders $f"
done
# shellcheck disable=SC2086 # a list of words
plan "$(echo $folders | wc -w)"
for f in $folders; do
	case $f in
	kernel)	complaints $f | verdict "checkpatch $f" ;;
	*)	complaints $f --ignore "$user" | verdict "checkpatch $f" ;;
	esac
done
exit $failed
