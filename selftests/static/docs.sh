#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Documentation: links lead somewhere, files and make targets that it names are
# there, what it lists is complete, C in man pages compiles.
# What the tools say to their examples: selftests/tools/test_docs.sh.
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

pages=$(tree_files Documentation | grep '\.rst$')
man=$(tree_files Documentation/man | grep '\.[0-9]$')

# differ WHAT FILE-OF-CODE FILE-OF-DOC: names that only one of them has
differ()
{
	comm -23 "$2" "$3" | sed "s/.*/$1 & is not described/"
	comm -13 "$2" "$3" | sed "s/.*/$1 & is described and is not there/"
}

# :doc:`name` and :doc:`text <name>`, from the folder of the page or from the top.
links()
{
	local page name dir

	# shellcheck disable=SC2086 # a list of words
	grep -ho ':doc:`[^`]*`' $pages README | sort -u >"$tmp/doc"
	[ -s "$tmp/doc" ] || echo "no link at all"
	for page in $pages; do
		dir=$(dirname "$page")
		# shellcheck disable=SC2016 # of the page
		grep -o ':doc:`[^`]*`' "$page" |
			sed -e 's/^:doc:`//' -e 's/`$//' -e 's/.*<\(.*\)>/\1/' |
			while read -r name; do
				case $name in
				/*)	name=Documentation$name ;;
				*)	name=$dir/$name ;;
				esac
				[ -e "$name.rst" ] || echo "$page: no page $name.rst"
			done
	done
}

# A page that no other one names is not found.
found()
{
	local page name

	for page in $pages; do
		name=$(basename "$page" .rst)
		[ "$name" != README ] || continue	# of a folder
		grep -Eqs ":doc:\`([^\`]*[</])?$name>?\`|Documentation/$name\.rst" README $pages ||
			echo "$page: no page leads there"
	done
}

# Paths of this tree in literals and in README; "..." and patterns are not.
paths()
{
	local page path

	for page in $pages README; do
		grep -oE '(^|[ `(])(kernel|lib|tools|selftests|Documentation|\.ci)/[A-Za-z0-9_./-]+' "$page" |
			sed 's,^[ `(],,; s,[.]*$,,; s,/$,,' | sort -u |
			while read -r path; do
				case $path in
				*NAME*|tools/net/*|tools/testing/*)	continue ;;	# or a kernel's
				esac
				[ -e "$path" ] || compgen -G "$path.*" >/dev/null ||
					compgen -G "$path*" >/dev/null ||
					echo "$page: no $path"
			done
	done
}

targets()
{
	local page target

	sed -n 's/^\.PHONY: //p; s/^\([a-z_-]*\):.*/\1/p' Makefile tools/*.mk tools/*/*.mk lib/*.mk \
		lib/examples/*.mk | tr ' ' '\n' | sort -u >"$tmp/targets"
	for page in $pages README; do
		grep -oE '(^[[:space:]]+|``)make [a-z_-]+' "$page" |
			sed 's/.* //' | sort -u | while read -r target; do
			grep -qx -- "$target" "$tmp/targets" || echo "$page: no target '$target'"
		done
	done
}

tracepoints()
{
	sed -n 's/^\(TRACE_EVENT\|DEFINE_EVENT\)(\(.*, \)\?\(ub_[a-z_]*\),$/\3/p' kernel/trace.h |
		sort -u >"$tmp/code"
	sed -n 's/^``\(ub_[a-z_]*\)``.*/\1/p' Documentation/tracing.rst | sort -u >"$tmp/page"
	[ "$(wc -l <"$tmp/code")" -gt 10 ] || echo "events are not found in kernel/trace.h"
	differ event "$tmp/code" "$tmp/page"
}

parameters()
{
	tree_files kernel | grep '\.c$' | while read -r f; do
		m=ub
		case $f in
		kernel/*/*)	m=ub_$(basename "$(dirname "$f")") ;;
		esac
		sed -n "s,^module_param\(_named\|_array\)\?(\([a-z_]*\).*,/sys/module/$m/parameters/\2,p" "$f"
	done | sort -u >"$tmp/code"
	sed -n 's,^What:[[:space:]]*\(/sys/module/.*\),\1,p' Documentation/ABI/testing/sysfs-module-* |
		sort -u >"$tmp/page"
	[ -s "$tmp/code" ] || echo "no module parameter is found"
	differ "parameter" "$tmp/code" "$tmp/page"
}

ioctls()
{
	sed -n 's/^#define \(UB_IOC_[A-Z_]*\)[[:space:]]_IO.*/\1/p; s/^#define \(UB_IOC_[A-Z_]*\)[[:space:]]*_IO(UB_IOC_TYPE.*/\1/p' \
		kernel/include/uapi/ub/*.h | sort -u >"$tmp/code"
	sed -n 's/^\.BR \(UB_IOC_[A-Z_]*\) .*/\1/p' Documentation/man/ub.4 | sort -u >"$tmp/page"
	[ "$(wc -l <"$tmp/code")" -gt 10 ] || echo "ioctls are not found in the headers"
	differ ioctl "$tmp/code" "$tmp/page"
	grep -o 'UB_IOC_[A-Z_]*' Documentation/ioctl.rst | sort -u >"$tmp/page"
	differ "ioctl (ioctl.rst)" "$tmp/code" "$tmp/page"
}

commands()
{
	sed -n '/^operations:/,/^mcast-groups:/s/^      name: //p' \
		Documentation/netlink/specs/ub.yaml | sort -u >"$tmp/code"
	grep -oE '``(fabric-[a-z-]+|[a-z]+-get|event)``' Documentation/netlink.rst |
		tr -d '\140' | sort -u >"$tmp/page"
	differ "netlink command" "$tmp/code" "$tmp/page"
}

# "page (section)" of this project; man.sh has them rendered.
manuals()
{
	local f page section

	for f in $man; do
		sed -n 's/^\.BR \(ub[a-z-]*\) (\([0-9]\)).*/\1 \2/p' "$f" |
			while read -r page section; do
				[ -e "Documentation/man/$page.$section" ] ||
					echo "$f: no page $page($section)"
			done
	done
	sed -n 's/^	{ "\([a-z]*\)", do_.*/Documentation\/man\/ubfab-\1.8/p' tools/ubfab/main.c |
		while read -r f; do
			[ -e "$f" ] || echo "no page $f"
			sed -n 's/^\.so man8/Documentation\/man/p' "$f" | grep . || echo "$f"
		done | sort -u | while read -r f; do
			grep -q "^\.BR $(basename "$f" .8) (8)" Documentation/man/ubfab.8 ||
				echo "ubfab.8 does not lead to $f"
		done
}

# Programs between .EX and .EE
programs()
{
	local f n=0

	for f in $man; do
		sed -n '/^\.EX/,/^\.EE/p' "$f" | sed 's/\\en/\\n/g; s/\\-/-/g; s/\\(aq/'"'"'/g' |
			awk -v out="$tmp/program-$(basename "$f")" '
				/^\.EX/ { n++; next }
				/^\.EE/ { next }
				{ print > (out "-" n ".c") }'
	done
	for f in "$tmp"/program-*.c; do
		grep -q '^int main' "$f" || continue
		n=$((n + 1))
		gcc -D_GNU_SOURCE -Wall -Wextra -Werror -Ikernel/include/uapi \
			-Ilib/include -fsyntax-only "$f" 2>&1 | sed "s,$tmp/program-,,"
	done
	[ $n -gt 0 ] || echo "no program is found"
}

plan 10
links | verdict "links between pages"
found | verdict "a link leads to each page"
paths | verdict "files that pages name"
targets | verdict "make targets that pages name"
tracepoints | verdict "tracing.rst has each tracepoint"
parameters | verdict "the ABI files have each module parameter"
ioctls | verdict "ub.4 and ioctl.rst have each ioctl"
commands | verdict "netlink.rst has each command"
manuals | verdict "pages that man pages refer to are there"
programs | verdict "programs in man pages compile"
exit $failed
