#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Lanes and their programs do not outlive who runs them: a signal ends all. KTAP.
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

ktap_plan 3
check "a program of each" ends selftests/each "$tmp/program"
check "a lane" ends selftests/run-lanes bare
check "a program of each in a lane" ends selftests/run-lanes each
ktap_end
