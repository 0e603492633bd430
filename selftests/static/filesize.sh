#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A source file is under 600 lines; generated ones may be longer.
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

max=600

plan 1
tree_files . | grep -Ev '^COPYING$|\.(rst|json|yaml|csv|txt|gz)$' | while read -r f; do
	lines=$(wc -l <"$f")
	[ "$lines" -ge $max ] || continue
	head -n 5 "$f" | grep -qi 'generated' || echo "$f: $lines lines"
done | verdict "files are under $max lines"
exit $failed
