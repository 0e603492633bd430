#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# ubfab up and down: fabrics that files describe. In a guest, with ub.ko loaded.
# shellcheck disable=SC2317 # called by name
set -u
here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
# shellcheck source=../tools/ktap.sh
. "$here/../tools/ktap.sh"

ubfab=${UBFAB:-$top/build/tools/ubfab}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

[ -x "$ubfab" ] || ktap_skip_all "no $ubfab"
[ -d /sys/module/ub ] || ktap_skip_all "the module ub is not loaded"

# loops NUMBER: so many devices of loop fabrics are there
loops()
{
	local n
	n=$("$ubfab" fabric show | grep -c 'transport loop')
	[ "$n" -eq "$1" ] || { echo "$n loop devices, not $1"; "$ubfab" fabric show; return 1; }
}

# says STATUS PATTERN ARGUMENT...
says()
{
	local want=$1 pattern=$2
	shift 2
	answers "$want" "$pattern" "$ubfab" "$@"
}

file()
{
	cat >"$tmp/$1.yaml"
}

file two <<END
# SPDX-License-Identifier: MIT
fabrics:
  - {transport: loop, nodes: 3, bytes: 16M}
  - transport: loop
    nodes: 2
    node: 8
END

t_up()
{
	says 0 'ubfab[0-9]*:? .*node 9' up "$tmp/two.yaml" && loops 5
}

t_again()
{
	says 0 "two.yaml: is up already" up "$tmp/two.yaml" && loops 5
}

t_others_stay()
{
	"$ubfab" fabric add loop nodes 1 bytes 16M && says 0 '' down "$tmp/two.yaml" && loops 1
}

# A device that has the number of one that was ours
t_reused()
{
	local dev

	says 0 '' up "$tmp/two.yaml" || return 1
	# only the file's first fabric has a node 2
	dev=$("$ubfab" fabric show | sed -n 's/^\(ubfab[0-9]*\).* node 2 .*/\1/p')
	"$ubfab" fabric del "$dev" && loops 3 &&
	"$ubfab" fabric add loop nodes 3 bytes 16M && loops 6 &&
	says 0 '' down && loops 4 && [ -z "$(ls /run/ub)" ]
}

# The second of these cannot be: nothing stays of the first
t_whole_or_not()
{
	file bad <<-END
	fabrics:
	  - {transport: loop, nodes: 2, bytes: 16M}
	  - {transport: loop, nodes: 2, bytes: 16M, node: 1048575}
	END
	says 1 'bad.yaml:3: this fabric was not added' up "$tmp/bad.yaml" && loops 4 &&
	says 0 'is not up' down "$tmp/bad.yaml"
}

t_wrong_files()
{
	file empty </dev/null
	echo 'fabrics: {transport: loop}' | file list
	echo 'nodes: 4' | file key
	printf 'fabrics:\n  - {nodes: 4}\n' | file transport
	printf 'fabrics:\n  - {transport: loop, nodes: [1]}\n' | file value
	printf 'fabrics:\n  - {transport: [\n' | file yaml
	printf 'fabrics:\n  - {transport: loop, colour: 4}\n' | file word
	says 1 'empty.yaml: the file is empty' up "$tmp/empty.yaml" &&
	says 1 'list.yaml:1: fabrics is a list' up "$tmp/list.yaml" &&
	says 1 'key.yaml:1: a file has nothing but fabrics' up "$tmp/key.yaml" &&
	says 1 'transport.yaml:2: a fabric needs transport' up "$tmp/transport.yaml" &&
	says 1 'value.yaml:2: each key of a fabric has one value' up "$tmp/value.yaml" &&
	says 1 'yaml.yaml:.: no YAML' up "$tmp/yaml.yaml" &&
	says 2 "colour" up "$tmp/word.yaml" &&
	says 1 'none.yaml: No such file' up "$tmp/none.yaml" && loops 4
}

# Two at once, as a unit and a person may start them: the file is up once
t_at_once()
{
	for _ in 1 2 3 4; do "$ubfab" up "$tmp/two.yaml" & done
	wait
	loops 9 && says 0 '' down && loops 4
}

ktap_plan 7
check "up" t_up
check "up again changes nothing" t_again
check "down takes away what came of the file, nothing else" t_others_stay
check "a device that another fabric has now stays" t_reused
check "a file is up as a whole or not at all" t_whole_or_not
check "files that are wrong are told by line" t_wrong_files
check "four ubfab at once" t_at_once
ktap_end
