#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What is generated from the netlink spec is what the generator of Linux 6.12
# makes of it; numbers that the spec takes from ub.h are those; and gets and
# dumps take the same attributes, as kernels before 6.2 need.
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

spec=Documentation/netlink/specs/ub.yaml
generated="kernel/netlink-gen.c kernel/netlink-gen.h kernel/include/uapi/ub/ub_netlink.h"

again()
{
	local f

	.ci/netlink-gen "$tmp/again" >"$tmp/said" 2>&1 || {
		cat "$tmp/said"
		return
	}
	for f in $generated; do
		diff -u "$f" "$tmp/again/$f" 2>&1 | head -n 30
	done
}

# C that does not compile unless each entry has the value that the spec gives it.
asserts()
{
	python3 - "$spec" <<-'END'
	import sys, yaml
	print('#include <ub/ub.h>')
	for d in yaml.safe_load(open(sys.argv[1]))['definitions']:
	    if d.get('header') != 'ub/ub.h':
	        continue
	    for i, e in enumerate(d['entries'], d.get('value-start', 0)):
	        name = f"UB_{d['name']}_{e}".upper().replace('-', '_')
	        print(f'_Static_assert({name} == {i}, "{name}");')
	END
}

numbers()
{
	asserts >"$tmp/asserts.c"
	grep -q _Static_assert "$tmp/asserts.c" || echo "nothing to compare"
	gcc -Ikernel/include/uapi -fsyntax-only "$tmp/asserts.c" 2>&1 | grep error
}

alike()
{
	python3 - "$spec" <<-'END'
	import sys, yaml
	for op in yaml.safe_load(open(sys.argv[1]))['operations']['list']:
	    if 'do' in op and 'dump' in op and \
	       op['do'].get('request') != op['dump'].get('request'):
	        print(f"{op['name']}: do and dump take different attributes")
	END
}

plan 3
again | verdict "generated again: nothing changes"
numbers | verdict "numbers that the spec takes from ub.h"
alike | verdict "get and dump take the same attributes"
exit $failed
