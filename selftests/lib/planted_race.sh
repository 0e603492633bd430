#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# ThreadSanitizer must tell of a race that is there, or its silence about the
# tests means nothing.

printf 'KTAP version 1\n1..1\n'
if build/tsan/selftests/t_threads race >/dev/null 2>&1; then
	echo 'not ok 1 a planted race is reported'
	exit 1
fi
echo 'ok 1 a planted race is reported'
