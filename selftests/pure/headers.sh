#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# For each kernel header that kernel/ includes, one that is empty, but for what
# user space has by that name: kshim.h stands for them all.
#
#	headers.sh <dir>
#
# Run from the top of the tree.
dir=${1:?dir}
grep -ho '^#include <\(linux\|asm\|net\|crypto\|trace\)/[^>]*>' kernel/*.[ch] |
sed 's/.*<\(.*\)>/\1/' | sort -u | while read -r name; do
	mkdir -p "$dir/${name%/*}"
	cat > "$dir/$name" <<END
/* made by headers.sh */
#if __has_include_next(<$name>)
#include_next <$name>
#endif
END
done
