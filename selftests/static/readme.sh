#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The program in README is the one that is built, and as short as it is said.
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

program=lib/examples/peer.c
lines=30

plan 2
{
	[ "$(wc -l <$program)" -le $lines ] || echo "$program: $(wc -l <$program) lines"
	grep -q "in $lines lines" README || echo "README does not say $lines"
} | verdict "$program has $lines lines at most"
diff <(sed 1d $program | expand -t 8) \
	<(sed -n '/^lib\/examples\/peer\.c:$/,/^ *\$ /p' README | sed -n 's/^    //p; s/^$//p' |
		sed -e '1{/^$/d}' -e '/^\$ /d' | sed -e '${/^$/d}') |
	verdict "README has $program as it is"
exit $failed
