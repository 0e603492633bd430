#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Kernel-doc comments that do not fit their code. What libub.h and the uAPI
# leave undescribed counts too, but for the fields that open or pad every
# struct and are described once, at the top of ub.h, and the ends of enums that
# the netlink generator marks as private.
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

.ci/kselftest-headers || exit 1

complaints()
{
	[ $# -gt 0 ] || { echo "no file"; return; }
	perl build/kernel-scripts/kernel-doc -none "$@" 2>&1
}

plan 2
# shellcheck disable=SC2046 # a list of words
complaints $(c_files kernel/include/uapi lib/include) |
	grep -v "member '\(size\|flags\|reserved[0-9]*\)' not described" |
	grep -v "Enum value '[A-Z_]*_MAX' not described" |
	verdict "kernel-doc of the public headers"
# shellcheck disable=SC2046 # a list of words
complaints $(c_files kernel lib | grep -v '^kernel/include/uapi/\|^lib/include/') |
	grep -v "not described in\|^[0-9]* warnings" |
	verdict "kernel-doc of the rest"
exit $failed
