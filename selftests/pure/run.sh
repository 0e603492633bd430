#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Run each program; say how long it took. Fails when one fails.
failed=
for t in "$@"; do
	start=$(date +%s)
	echo "# $t"
	$t || failed="$failed $t"
	echo "# $t: $(($(date +%s) - start)) s"
done
[ -z "$failed" ] && exit 0
echo "# failed:$failed"
exit 1
