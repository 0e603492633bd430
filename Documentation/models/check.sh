#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Check the models with spin; KTAP on standard output.
#
#	check.sh		the small configurations and every mutation
#	check.sh --long		the large configurations instead
#	check.sh --list		what would run
#
# A line of the tables below: what is expected (pass: no error in a search that
# ran to its end; part: no error, the search is cut; fail: spin must find an
# error), how (safety: assertions and deadlock; loop: also no cycle whatever;
# bits: a bit per state instead of the state, at most MINUTES long), the model,
# and its switches. Exit status: 0 all as expected, 1 not, 4 spin or cc is missing.

: "${CC:=cc}" "${MINUTES:=4}" "${MEMORY_KB:=6000000}"

short='
pass safety barrier N=2 EPOCHS=3 FAULTS=0
pass safety barrier N=2 EPOCHS=2 FAULTS=2
pass safety barrier N=3 EPOCHS=2 FAULTS=0
pass safety barrier N=3 EPOCHS=1 FAULTS=1
pass safety barrier N=3 EPOCHS=1 FAULTS=2
pass safety barrier N=3 EPOCHS=1 FAULTS=1 SPLIT_TICK SPLIT_RING
pass safety barrier N=3 EPOCHS=1 FAULTS=1 NO_TICK
pass safety barrier N=3 EPOCHS=1 FAULTS=1 BUG_FENCE_NO_WAKE
pass safety barrier N=4 EPOCHS=2 FAULTS=0 ONE_SLEEPER
pass safety barrier N=5 EPOCHS=2 FAULTS=0 POLL_ONLY
pass safety barrier N=6 EPOCHS=1 FAULTS=0 POLL_ONLY
pass safety barrier N=7 EPOCHS=1 FAULTS=0 POLL_ONLY
pass loop   barrier N=2 EPOCHS=2 FAULTS=1
pass safety verdict N=3 FAULTS=2 EPOCHS=2
pass safety verdict N=4 FAULTS=2
pass loop   verdict N=3 FAULTS=2
pass safety group N=2 FAULTS=1 TIMEOUTS=1
pass safety group N=2 FAULTS=1 TIMEOUTS=1 FULL
pass safety group N=2 S=3 FAULTS=1 TIMEOUTS=1
pass safety group N=3 FAULTS=2
pass safety group N=3 TIMEOUTS=2
pass safety group N=3 FAULTS=1 TIMEOUTS=1
pass safety group N=4 FAULTS=1
pass safety shrink N=3 FAULTS=1
pass safety shrink N=4 FAULTS=2
pass loop   shrink N=4 FAULTS=1
pass safety heirs N=3 FAULTS=1
pass safety heirs N=4 FAULTS=2
pass safety window CRASHES=1
pass safety join N=2 TRIES=2 CRASHES=1
pass safety join N=2 TRIES=2 CRASHES=1 AFTER
pass safety join N=2 TRIES=2 CRASHES=1 SAME
pass safety join N=2 TRIES=3 CRASHES=0 SAME
pass safety flush N=2 EPOCHS=2 FAULTS=2
pass safety flush N=3 EPOCHS=2 FAULTS=1
pass safety flush N=3 EPOCHS=2 FAULTS=1 ONLY_CUTS
pass safety flush N=3 EPOCHS=2 FAULTS=1 ONLY_CRASHES
fail safety barrier N=2 EPOCHS=2 FAULTS=0 BUG_HINT_CLEARED
fail safety barrier N=2 EPOCHS=2 FAULTS=0 BUG_HINT_STORE
fail safety barrier N=2 EPOCHS=2 FAULTS=0 BUG_NO_RING
fail safety barrier N=2 EPOCHS=2 FAULTS=0 BUG_RECHECK_FLAG
fail safety barrier N=2 EPOCHS=2 FAULTS=0 BUG_ONE_CONTRIBUTION
fail safety barrier N=2 EPOCHS=2 FAULTS=0 BUG_ONE_PAYLOAD
fail safety barrier N=3 EPOCHS=1 FAULTS=0 BUG_SUM_FULL
fail safety barrier N=3 EPOCHS=1 FAULTS=0 BUG_REST_RESULT
fail safety barrier N=4 EPOCHS=2 FAULTS=0 ONE_SLEEPER BUG_NO_REST
fail safety barrier N=3 EPOCHS=1 FAULTS=1 BUG_AWAITED
fail safety barrier N=3 EPOCHS=2 FAULTS=1 BUG_LATER_VERDICT
fail safety barrier N=3 EPOCHS=1 FAULTS=1 BUG_FENCED_ALIVE
fail safety barrier N=3 EPOCHS=1 FAULTS=1 BUG_ARRIVE_STORE
fail safety barrier N=3 EPOCHS=1 FAULTS=1 BUG_VERDICT_STORE
fail safety barrier N=3 EPOCHS=1 FAULTS=3 BUG_TICK_CAS_ONLY
fail safety verdict N=4 FAULTS=2 BUG_DEAD_ARRIVED
fail safety verdict N=4 FAULTS=2 BUG_ARRIVE_STORE
fail safety verdict N=4 FAULTS=2 BUG_VERDICT_STORE
fail safety verdict N=4 FAULTS=2 BUG_OWN_VERDICT
fail safety verdict N=4 FAULTS=2 BUG_NO_RING
fail safety verdict N=4 FAULTS=2 BUG_HINT_CLEARED
fail safety verdict N=4 FAULTS=2 EPOCHS=2 BUG_LATER_VERDICT
fail safety verdict N=4 FAULTS=1 FLAGS BUG_FLAG_FIRST
fail safety group N=4 BUG_FINISH_ONE_PASS
fail safety group N=3 BUG_COMMIT_NO_GENERATION
fail safety group N=2 BUG_COMMIT_STORE
fail safety group N=2 BUG_NO_EMPTY
fail safety group N=2 BUG_FREE_FIRST
fail safety group N=2 FULL BUG_TAKEOVER_SILENT
fail safety group N=2 TIMEOUTS=1 BUG_FENCED_LEFT
fail safety group N=4 TIMEOUTS=2 BUG_VERDICT_STORE
fail safety shrink N=3 FAULTS=1 BUG_TICK_CAS_ONLY
fail safety shrink N=3 FAULTS=1 BUG_SHRINK_NO_RING
fail safety shrink N=4 FAULTS=1 BUG_FENCE_SHRINKING
fail safety shrink N=4 FAULTS=1 BUG_SHRINK_FENCED
fail safety shrink N=4 FAULTS=1 BUG_NOT_FINAL
fail safety shrink N=4 FAULTS=2 BUG_VERDICT_STORE
fail safety heirs N=3 FAULTS=0 BUG_NO_HEIRS
fail safety heirs N=4 FAULTS=1 BUG_HEIR_OF_HEIR
fail safety window CRASHES=0 BUG_EVEN
fail safety window CRASHES=0 BUG_ONE_BEAT
fail safety window CRASHES=1 BUG_LIFE_FORGETS
fail safety window CRASHES=1 BUG_MOVE_LATE
fail safety join N=2 TRIES=2 CRASHES=0 BUG_INIT_STORE
fail safety join N=2 TRIES=2 CRASHES=1 SAME BUG_STORE
fail safety join N=2 TRIES=2 CRASHES=0 SAME BUG_UP_STORE
fail safety flush N=2 EPOCHS=1 FAULTS=1 BUG_TIE
fail safety flush N=3 EPOCHS=2 FAULTS=1 BUG_USE_FLAGS
fail safety flush N=3 EPOCHS=2 FAULTS=1 BUG_NO_POOL
fail safety flush N=3 EPOCHS=2 FAULTS=1 BUG_ONCE
fail safety flush N=3 EPOCHS=1 FAULTS=1 BUG_TRUST
fail safety flush N=3 EPOCHS=2 FAULTS=1 BUG_NO_DRAIN
'

long='
pass safety barrier N=3 EPOCHS=3 FAULTS=0
pass safety barrier N=3 EPOCHS=2 FAULTS=1
pass safety barrier N=3 EPOCHS=2 FAULTS=2
pass loop   barrier N=3 EPOCHS=1 FAULTS=1
pass safety barrier N=4 EPOCHS=1 FAULTS=0
pass safety verdict N=4 FAULTS=2 EPOCHS=2
pass safety verdict N=4 FAULTS=2 FLAGS FAULTY=12
pass safety verdict N=4 FAULTS=2 FLAGS FAULTY=10
pass safety group N=4 FAULTS=2
pass safety group N=4 TIMEOUTS=2
pass safety group N=4 FAULTS=1 TIMEOUTS=1
pass safety shrink N=5 FAULTS=2
pass safety heirs N=5 FAULTS=2
pass safety window CRASHES=1 ATTACHES=4
pass safety join N=2 TRIES=3 CRASHES=1 SAME
pass safety join N=3 TRIES=1 UPS=1 CRASHES=1 AFTER
pass safety flush N=3 EPOCHS=1 FAULTS=2
part bits   barrier N=4 EPOCHS=2 FAULTS=1
'

table=$short
case $1 in
--long) table=$long ;;
--list) echo "$short$long"; exit 0 ;;
'') ;;
*) echo "usage: $0 [--long|--list]" >&2; exit 2 ;;
esac

here=$(cd "$(dirname "$0")" && pwd) || exit 1
echo "KTAP version 1"
for tool in spin "$CC"; do
	command -v "$tool" >/dev/null || {
		echo "1..0 # SKIP no $tool"
		exit 4
	}
done
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
cd "$tmp" && cp "$here"/*.pml . || exit 1

# search HOW MODEL SWITCH..: leaves what pan says in ./log
search()
{
	how=$1 model=$2
	shift 2
	defs=
	for d; do
		defs="$defs -D$d"
	done
	rm -f pan pan.c pan.h pan.b pan.m pan.p pan.t log
	case $how in
	safety)	opt='-DSAFETY -DCOLLAPSE' run= ;;
	loop)	opt='-DNP -DCOLLAPSE' run=-l ;;
	bits)	opt='-DSAFETY -DBITSTATE' run="-w34 -k3 -Q$MINUTES" ;;
	esac
	# compiling a search that ends at once costs more than running it
	level=-O2
	[ "$want" = fail ] && level=-O0
	# shellcheck disable=SC2086	# lists of options
	spin -a $defs "$model.pml" >log 2>&1 &&
		"$CC" $level -w -DNOREDUCE -DVECTORSZ=2048 $opt -o pan pan.c >>log 2>&1 &&
		(ulimit -v "$MEMORY_KB"; exec ./pan -n -m1000000 $run) >>log 2>&1
}

number() { sed -n "s/^ *\([0-9.e+]*\) $1.*/\1/p" log | head -n 1; }

set -f
n=0 bad=0
start=$(date +%s)
echo "1..$(echo "$table" | grep -c .)"
while read -r want how model switches; do
	[ -n "$want" ] || continue
	n=$((n + 1))
	t=$(date +%s)
	# shellcheck disable=SC2086
	search $how $model $switches </dev/null
	t=$(($(date +%s) - t))
	found=$(grep -c '^pan:1: \(assertion\|invalid end\|non-progress\)' log)
	clean=$(grep -c 'errors: 0$' log)
	cut=$(grep -c -i 'not completed\|max search depth\|out of memory\|time limit' log)
	res=not\ ok
	case $want in
	pass) [ "$clean" = 1 ] && [ "$cut" = 0 ] && res=ok ;;
	part) [ "$clean" = 1 ] && [ "$found" = 0 ] && res=ok ;;
	fail) [ "$found" = 1 ] && res=ok ;;
	esac
	what=
	[ "$want" = fail ] && what=' is found'
	echo "$res $n $model $switches$what"
	sed -n 's/^pan:1: /# error: /p' log
	echo "# $(number 'states, stored') states, $t s, $how$([ $how = bits ] &&
		echo ": one bit a state, not exhaustive")$([ "$cut" != 0 ] &&
		echo ", search cut")"
	grep 'hash factor' log | sed 's/^/# coverage: /'
	[ "$res" = ok ] || { bad=$((bad + 1)); sed 's/^/# /' log | tail -n 40; }
done <<END
$table
END
echo "# $((n - bad)) of $n as expected, $(($(date +%s) - start)) s"
echo "# processor time, here and in the searches:"
times | sed 's/^/# /'
[ "$bad" = 0 ]
