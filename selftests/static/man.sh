#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every public call has a comment that man pages can be made of, and all man
# pages are rendered without a warning. Pages have no date, on purpose.
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

gen=Documentation/man/gen

headers()
{
	grep -l '^UB_API' lib/include/libub.h lib/include/*.h | awk '!seen[$0]++'
}

# A header in which each call lacks something.
planted()
{
	cat >"$tmp/planted.h" <<-'END'
	/* planted: a header. */

	#define UB_API
	UB_API int no_comment(void);
	/** other() - a comment that does not name what follows
	 *
	 * Return: 0 */
	UB_API int not_named(void);
	/** no_return() - no value */
	UB_API int no_return(void);
	/** no_param() - no word about the parameter
	 *
	 * Return: 0 */
	UB_API int no_param(int x);
	/** more_param() - a parameter that is not there
	 * @y: what?
	 *
	 * Return: 0 */
	UB_API int more_param(void);
	/** good() - all is said
	 * @x: a number
	 *
	 * Return: 0 */
	UB_API int good(int x);
	END
	$gen --check "$tmp/planted.h" >"$tmp/found"
	for call in no_comment not_named no_return no_param more_param; do
		grep -q "$call()" "$tmp/found" || echo "nothing was said about $call()"
	done
	grep 'good()' "$tmp/found"
}

# shellcheck disable=SC2046 # a list of words
pages()
{
	$gen "$tmp/man" $(headers) >/dev/null
	for f in Documentation/man/*.[0-9]; do
		mkdir -p "$tmp/man/man${f##*.}"
		cp "$f" "$tmp/man/man${f##*.}"
	done
	cd "$tmp/man" || exit
	ls man?/*
}

plan 5
# shellcheck disable=SC2046 # a list of words
$gen --check $(headers) 2>&1 | verdict "comments of public calls"
planted | verdict "planted comments that lack something are found"
pages >"$tmp/pages"
[ "$(wc -l <"$tmp/pages")" -gt 40 ] && : >"$tmp/few" || cp "$tmp/pages" "$tmp/few"
verdict "there are pages" <"$tmp/few"
(cd "$tmp/man" && xargs mandoc -T lint -W warning <"$tmp/pages") 2>&1 |
	grep -v 'missing date\|\.so is fragile' | verdict "mandoc -T lint"
(cd "$tmp/man" && while read -r f; do
	man --warnings -E UTF-8 -l -Tutf8 -Z "$f" 2>&1 >/dev/null | sed "s,^,$f: ,"
done <"$tmp/pages") | verdict "man --warnings"
exit $failed
