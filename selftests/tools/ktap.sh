# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# KTAP for test scripts: ktap_plan NUMBER, then for each test
# "check NAME COMMAND..." or "skip NAME WHY", then ktap_end.

ktap_count=0
ktap_failed=0
ktap_planned=0

ktap_plan()
{
	ktap_planned=$1
	echo "KTAP version 1"
	echo "1..$1"
}

# Everything that the command says is shown when it fails.
check()
{
	local name=$1 out rc
	shift
	ktap_count=$((ktap_count + 1))
	out=$("$@" 2>&1)
	rc=$?
	if [ "$rc" -eq 0 ]; then
		echo "ok $ktap_count $name"
	else
		[ -z "$out" ] || printf '%s\n' "$out" | sed 's/^/# /'
		echo "not ok $ktap_count $name"
		ktap_failed=$((ktap_failed + 1))
	fi
}

skip()
{
	ktap_count=$((ktap_count + 1))
	echo "ok $ktap_count $1 # SKIP $2"
}

ktap_skip_all()
{
	echo "KTAP version 1"
	echo "1..0 # SKIP $1"
	exit 4
}

# expect STATUS COMMAND...: it ends so; its output in $tmp/out and $tmp/err
expect()
{
	local want=$1 rc
	shift
	# shellcheck disable=SC2154 # the script's own folder
	"$@" >"$tmp/out" 2>"$tmp/err"
	rc=$?
	[ "$rc" -eq "$want" ] && return 0
	echo "status $rc, not $want: $*"
	cat "$tmp/out" "$tmp/err"
	return 1
}

# answers STATUS PATTERN COMMAND...: it ends so, and has a line like that
answers()
{
	local want=$1 pattern=$2 out rc
	shift 2
	out=$("$@" 2>&1)
	rc=$?
	printf 'status %s: %s\n' $rc "$out"
	[ $rc -eq "$want" ] && grep -Eq -- "$pattern" <<<"$out"
}

ktap_end()
{
	if [ "$ktap_count" -ne "$ktap_planned" ]; then
		echo "# planned $ktap_planned tests, ran $ktap_count"
		exit 1
	fi
	[ "$ktap_failed" -eq 0 ] || exit 1
	exit 0
}
