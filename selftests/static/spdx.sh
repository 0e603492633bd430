#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Each file names its licence in one of its first two lines, and it is the one
# of its folder.
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

note='GPL-2\.0(-only)? WITH Linux-syscall-note'

# An extended regular expression for the licence of a file.
licence()
{
	case $1 in
	kernel/include/uapi/*|Documentation/netlink/*|kernel/netlink-gen.?)
		# netlink: the kernel's usual pair; layout: libub has it too
		echo "$note|\(\($note\) OR (BSD-3-Clause|MIT)\)|\($note\) OR (BSD-3-Clause|MIT)" ;;
	kernel/*)
		echo 'GPL-2\.0-only( OR MIT)?|GPL-2\.0 OR BSD-3-Clause' ;;
	lib/*)
		echo 'MIT' ;;
	*)
		echo 'GPL-2\.0-only( OR MIT)?|MIT' ;;
	esac
}

# Texts and settings that everything else reads have no place for it.
exempt='^(COPYING|MAINTAINERS|README|\.gitignore|\.editorconfig|\.gitattributes)$|\.(json|svg|png|csv|txt|gz)$'

tree_files . | grep -Ev "$exempt" >"$tmp/files"
plan 2
xargs awk 'FNR == 1 { if (f && !has) print f ": no SPDX line"; f = FILENAME; has = 0 }
	FNR <= 2 && /SPDX-License-Identifier: / { has = 1 }
	END { if (f && !has) print f ": no SPDX line" }' <"$tmp/files" |
	verdict "every file names its licence"

while read -r f; do
	is=$(sed -n '1,2s,.*SPDX-License-Identifier: \(.*\)$,\1,p' "$f" |
		sed -e 's, *\*/.*$,,' -e 's, *-->.*$,,' | head -n 1)
	[ -z "$is" ] || printf '%s\n' "$is" | grep -Eqx "$(licence "$f")" ||
		echo "$f: $is"
done <"$tmp/files" | verdict "it is the licence of its folder"
exit $failed
