# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
#
# For the static checks: go to the top, list the tree's files, print KTAP.
#
#	plan N; then N times: verdict NAME <complaints	(ok when empty)
#				skip NAME WHY

# so that verdict, last in a pipe, can count
shopt -s lastpipe
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
export LC_ALL=C

count=0
failed=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

plan()
{
	echo "KTAP version 1"
	echo "1..$1"
}

verdict()
{
	count=$((count + 1))
	sed 's/^/# /' >"$tmp/complaints"
	if [ -s "$tmp/complaints" ]; then
		cat "$tmp/complaints"
		echo "not ok $count $1"
		failed=1
	else
		echo "ok $count $1"
	fi
}

skip()
{
	count=$((count + 1))
	echo "ok $count $1 # SKIP $2"
}

# Files of the tree, tracked or about to be, below the given folders.
tree_files()
{
	if git -c safe.directory='*' rev-parse --git-dir >/dev/null 2>&1; then
		git -c safe.directory='*' ls-files -co --exclude-standard -- "$@"
	else
		find "${@:-.}" -type f -not -path '*/build/*' -not -name '*.o' \
			-not -name '*.ko' -not -name '*.mod*' -not -name '.*.cmd' |
			sed 's,^\./,,'
	fi 2>/dev/null | while read -r f; do
		[ ! -f "$f" ] || echo "$f"
	done | sort -u
}

# C files below the given folders.
c_files()
{
	tree_files "$@" | grep '\.[ch]$'
}
