#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What no reader and no tool should meet in a file.
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

tree_files . | grep -v '^COPYING$' | grep -Ev '\.(png|gz|xz)$' >"$tmp/files"

# search OPTION... PATTERN, over all files
search()
{
	xargs grep -nI "$@" /dev/null <"$tmp/files" | cut -c1-160
}

plan 4
search -E '[[:space:]]+$' | verdict "no white space at the end of a line"

xargs awk 'FNR == 1 { if (f && last == "") print f; f = FILENAME }
	{ last = $0 }
	END { if (f && last == "") print f }' <"$tmp/files" |
	verdict "no empty line at the end of a file"

# Home folders, and wherever this checkout happens to lie.
where="/(home|Users)/[a-z]+/"
first=/$(pwd -P | cut -d/ -f2)/
case $first in
/usr/|/tmp/|/var/|/home/|/root/|/opt/|/srv/|/mnt/|/build/|/dev/|//) ;;
*) where="$where|(^|[^[:alnum:]_.})*])$first" ;;
esac
search -E "$where" | grep -v '^selftests/static/textcheck.sh:' |
	verdict "no path of one machine"

search -E '^(<<<<<<<|>>>>>>>|\|\|\|\|\|\|\|) ' | verdict "no conflict marks"
exit $failed
