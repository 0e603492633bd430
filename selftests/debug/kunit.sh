#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# In a guest: load KUnit and our suites, print their results as one document.
#
# usage: kunit.sh KERNEL-DIR MODULES-DIR

release=$(cat "$1/version")
mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
insmod "$1/lib/modules/$release/kernel/lib/kunit/kunit.ko" || exit 1
insmod "$2/ub_kunit.ko" || exit 1
set -- /sys/kernel/debug/kunit/ub_*
echo "KTAP version 1"
echo "1..$#"
i=0
for suite; do
	i=$((i + 1))
	sed '/^ok\|^not ok\|^KTAP\|^1\.\./d' "$suite/results"
	if grep -q '^ok ' "$suite/results"; then
		echo "ok $i ${suite##*/}"
	else
		echo "not ok $i ${suite##*/}"
	fi
done
rmmod ub_kunit
