#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Lanes and their programs do not outlive who runs them: a signal ends all. Those
# beside the others run one by one; what was found before is not looked for again. KTAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=ktap.sh
. selftests/tools/ktap.sh

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

cat >"$tmp/program" <<END
#!/bin/sh
echo \$\$ >$tmp/pid.new
mv $tmp/pid.new $tmp/pid
while :; do sleep 0.1; done
END
chmod +x "$tmp/program"

# until_true COMMAND...: for at most 30 s
until_true()
{
	local i

	for ((i = 0; i < 300; i++)); do
		! "$@" 2>/dev/null || return 0
		sleep 0.1
	done
	echo "not in 30 s: $*"
	return 1
}

gone() { ! kill -0 "$(cat "$tmp/pid")"; }

# ends COMMAND...: one that runs the program is sent SIGTERM, and both end
ends()
{
	local pid rc=0

	rm -f "$tmp/pid"
	"$@" >"$tmp/out" 2>&1 &
	pid=$!
	until_true test -e "$tmp/pid" || rc=1
	kill -TERM $pid
	wait $pid
	until_true gone || rc=1
	[ $rc = 0 ] || { cat "$tmp/out"; kill -KILL "$(cat "$tmp/pid")"; }
	return $rc
}

printf 'bare\t100\tbuild\t%s\neach\t100\tbuild\tselftests/each %s\n' \
	"$tmp/program" "$tmp/program" >"$tmp/lanes"
export UB_LANES_TABLE=$tmp/lanes UB_LANES_LOG=$tmp/log UB_SETUP=no

# lane_of NAME SECONDS: one that passes, and writes down when it began and ended
lane_of()
{
	printf '%s\t100\tbuild\techo begin %s >>%s; sleep %s; echo end %s >>%s; printf "1..1\\nok 1 %s\\n"\n' \
		"$1" "${1%&}" "$tmp/order" "$2" "${1%&}" "$tmp/order" "${1%&}"
}

beside()
{
	{ lane_of 'one&' 1; lane_of 'two&' 0; lane_of 'front' 2; lane_of 'last' 0; } >"$tmp/lanes"
	expect 0 selftests/run-lanes || return
	[ "$(grep -v 'front\|last' "$tmp/order" | xargs)" != \
		"begin one end one begin two end two" ] ||
		[ "$(grep 'front\|last' "$tmp/order" | xargs)" != \
		"begin front end front begin last end last" ] ||
		! grep -q '^end two' <(sed '/^end front/q' "$tmp/order") ||
		! grep -q '^4 passed, 0 failed' "$tmp/log/total" || return 0
	cat "$tmp/order" "$tmp/out"
	return 1
}

# once_says TEXT STATUS [NAME=VALUE...]: what it prints of a program that counts its runs
once_says()
{
	local text=$1 status=$2
	shift 2
	expect "$status" env UB_CACHE="$tmp/cache" UB_ONCE= UB_LONG= "$@" selftests/once "$tmp/in" -- "$tmp/counts" "$tmp"
	[ "$(cat "$tmp/out")" = "KTAP version 1
$text" ] || { echo "not '$text':"; cat "$tmp/out"; return 1; }
}

once()
{
	local before='# found before, on the same files; UB_ONCE=no finds it again'

	cat >"$tmp/counts" <<-'END'
	#!/bin/sh
	echo "KTAP version 1"
	echo x >>"$1/runs"
	wc -l <"$1/runs"
	grep -q good "$1"/in/*
	END
	chmod +x "$tmp/counts"
	mkdir "$tmp/in"
	echo bad >"$tmp/in/a"
	once_says 1 1 && once_says 2 1 && echo good >"$tmp/in/a" &&
		once_says 3 0 && once_says "$before
3" 0 && once_says 4 0 UB_ONCE=no && once_says 5 0 UB_LONG=1 &&
		: >"$tmp/in/b" && once_says 6 0 && rm "$tmp/in/b" && once_says "$before
3" 0
}

ktap_plan 5
check "a program of each" ends selftests/each "$tmp/program"
check "a lane" ends selftests/run-lanes bare
check "a program of each in a lane" ends selftests/run-lanes each
check "lanes beside others" beside
check "what was found before" once
ktap_end
