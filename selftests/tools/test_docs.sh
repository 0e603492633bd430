#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Examples of man pages and documentation, as far as they go without a module:
# each ubfab command is one that ubfab takes (it fails for want of the module,
# not for its usage), and options of other tools' examples are ones they have.
# shellcheck disable=SC2317 # called by name
set -u
here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
# shellcheck source=ktap.sh
. "$here/ktap.sh"

ubfab=$top/build/tools/ubfab
[ -x "$ubfab" ] || ktap_skip_all "no $ubfab"

# Example lines of man pages (.EX or .nf), rst and README, without troff's escapes.
examples()
{
	sed -n '/^\.\(EX\|nf\)/,/^\.\(EE\|fi\)/p' "$top"/Documentation/man/*.[1-8] |
		sed -e 's/\\-/-/g' -e "s/\\\\(aq/'/g" -e 's/^\.B //'
	grep -h '^        \|^    \|^\$ ' "$top"/Documentation/*.rst "$top/README" |
		sed 's/^ *\(\$ \)\?//'
}

t_ubfab()
{
	local line words rc n=0

	while read -r line; do
		line=${line%%|*}
		line=${line#build/tools/}
		case $line in
		*...*)	continue ;;
		esac
		read -ra words <<<"$line"
		n=$((n + 1))
		timeout 10 "$ubfab" "${words[@]:1}" >"$tmp/out" 2>&1
		rc=$?
		[ $rc -ne 2 ] && continue
		echo "$line:"
		cat "$tmp/out"
		return 1
	done < <(examples | grep -E '^(build/tools/)?ubfab [a-z-]')
	echo "$n examples"
	[ $n -ge 15 ]
}

# Long options of an example are in the tool's help or man page.
t_options()
{
	local line tool option n=0

	while read -r line; do
		line=${line#build/tools/}
		tool=${line%% *}
		[ -x "$top/build/tools/$tool" ] || { echo "no tool $tool"; return 1; }
		line=${line%% -- *}
		for option in $(grep -oE ' --[a-z-]+' <<<"$line"); do
			n=$((n + 1))
			grep -q -- "${option//-/\\\\\\?-}" "$top/Documentation/man/$tool".[1-8] &&
				continue
			echo "$tool has no $option, in: $line"
			return 1
		done
	done < <(examples | grep -E '^build/tools/ub[a-z]+ ')
	echo "$n options"
	[ $n -ge 1 ]
}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
ktap_plan 2
if [ -d /sys/module/ub ]; then
	skip "examples of ubfab" "the module is loaded: they would do it"
else
	check "examples of ubfab" t_ubfab
fi
check "options in examples" t_options
ktap_end
