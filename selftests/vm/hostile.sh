#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Two nodes whose shared memory a hostile peer spoils and whose doorbells it
# rings without end: scribble on the host, hostile_test in the guests. Every call
# ends in time, no kernel complains; formatted, the fabric works as before. KTAP.
#
# usage: hostile.sh [SECONDS [SEED [PART...]]]	60 (UB_LONG: 600), see scribble.c
#	UB_VM_RIG	more words for ubrig
set -u
# shellcheck source=rig.sh
. "$(dirname "$(readlink -f "$0")")/rig.sh"

seconds=${1:-$([ -n "${UB_LONG-}" ] && echo 600 || echo 60)}
seed=${2:-$(date +%s)}
parts=("${@:3}")
victim=$top/build/selftests/ub/hostile_test

# shellcheck disable=SC2317 # the tests are called by name
{
t_up()
{
	# shellcheck disable=SC2086 # words
	u up -n 2 --param ub.test_hooks=1 --param ub.detect_ms=1000 ${UB_VM_RIG-}
}

t_storm()
{
	local pid rc

	start --tag-output --timeout $((seconds + 200)) all -- "$victim" "$seconds"
	pid=$(u status --json | sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' | head -n 1)
	timeout $((seconds + 100)) "$top/build/selftests/vm/scribble" "$pid" $((seconds - 5)) "$seed" "${parts[@]}" >&3
	rc=$?
	over || rc=1
	sed 's/ok \([0-9]\)/\1/' "$log" >&3
	[ $rc = 0 ] && [ "$(grep -c '\] ok' "$log")" = 26 ] && return
	echo "again, as far as it goes: selftests/vm/hostile.sh $seconds $seed ${parts[*]}"
	return 1
}

t_format() { u exec --timeout 100 0 -- "$victim" format && u exec --timeout 100 1 -- "$victim" rejoin; }
t_works() { u exec --timeout 100 all -- "$top/build/examples/heat" --n 64 --cols 64 --inner 5 --outer 10 --check; }

t_silent() { silent 0 1; }
}

exec 3> >(sed 's/^/# /')
ktap_plan 5
check "up" t_up
check "$seconds s, seed $seed" t_storm
check "formatted" t_format
check "the fabric works" t_works
check "kernels stayed silent" t_silent
exec 3>&-
ktap_end
