#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Words that other machines write are reached through kernel/ub_shared.h and
# nothing else. A kernel with one present CPU turns the lock prefixes listed in
# .smp_locks into no-ops, in modules too; the memory is shared all the same.
#
# Atomics on memory of this machine alone are marked on their line or the one
# before with "not shared", or use a name of the list below.
#
# usage: shared_atomics.sh [ub.ko]	default kernel/ub.ko, ./ub.ko if there
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

private='lane_incarnation|mm_users|&probed'

atomics='(^|[^A-Za-z0-9_])('
atomics+='(arch_|sync_|raw_)?(try_)?cmpxchg(64|128|_double)?(_local|_relaxed|_acquire|_release)?'
atomics+='|(arch_|raw_)?xchg(_relaxed|_acquire|_release)?'
atomics+='|(sync_)?(test_and_)?(set|clear|change)_bit(_lock|_unlock)?'
atomics+='|atomic(64|_long)?_(read|set|add|sub|inc|dec|and|or|xor|andnot|xchg|cmpxchg|try|fetch)[a-z_]*'
atomics+='|__(atomic|sync)_[a-z_]+'
atomics+='|smp_(load_acquire|store_release|mb|rmb|wmb|store_mb)'
atomics+='|__smp_[a-z_]+|virt_[a-z_]*mb'
atomics+=')[[:space:]]*\('

# Functions whose compare-and-swaps are on shared words. Static ones may have
# been inlined: then they are part of another's.
engine='ub_bar_arrive ub_bar_record ub_bar_sleep_begin ub_grp_fence ub_grp_shrink make_final publish'
slots='ub_slots_claim ub_slots_join ub_slots_leave ub_slots_collect empty_higher join_form'
# Of these at least one must be in each of the three that decide.
must='ub_bar_arrive ub_slots_claim make_final|ub_grp_fence'

ko=${1:-}
[ -n "$ko" ] || for f in kernel/ub.ko ub.ko build/kernel/ub.ko; do
	[ -f "$f" ] && ko=$f && break
done

plan 3

c_files kernel | grep -v '^kernel/ub_shared\.h$' >"$tmp/files"
while read -r f; do
	awk -v f="$f" -v re="$atomics" -v private="$private" '
		{ line = $0
		  sub(/\/\/.*/, "", line); gsub(/\/\*[^*]*\*\//, "", line)
		  if (line ~ /^[ \t]*\*/) line = ""
		  if (line ~ re && $0 !~ /not shared/ && before !~ /not shared/ &&
		      line !~ private)
			print f ":" FNR ": " $0
		  before = $0 }' "$f"
done <"$tmp/files" | verdict "atomics on shared memory go through ub_shared.h"

# That the pattern finds what it is for.
{
	printf '\tx = cmp%s(&p, a, b);\n' xchg
	printf '\tset_%s(3, p);\n' bit
	printf '\tatomic64_%s(&p);\n' inc
	printf '\tsmp_%s();\n' mb
} | grep -cvE "$atomics" | grep -v '^0$' | sed 's/$/ planted atomics are not seen/' |
	verdict "planted atomics are seen"

# "section address" of each locked instruction that may lose its prefix.
locks()
{
	objdump -r -j .smp_locks "$1" 2>/dev/null | awk '
		$2 ~ /^R_/ { n = split($3, part, /[+]/)
			     print part[1], (n > 1) ? part[2] : "0x0" }' |
		while read -r sec at; do
			printf '%s %x\n' "$sec" $((at))
		done
}

# "function section address instruction" of each compare-and-swap in the module.
swaps()
{
	objdump -d --no-show-raw-insn "$1" | awk '
		/^Disassembly of section/ { sec = $4; sub(/:$/, "", sec) }
		/^[0-9a-f]+ <.*>:$/ { fn = $2; gsub(/[<>:]/, "", fn)
				      sub(/\.(isra|constprop|part|cold).*/, "", fn) }
		/cmpxchg/ { at = $1; sub(/:$/, "", at)
			    lock = /lock cmpxchg/ || held ? "lock" : "bare"
			    print fn, sec, at, lock }
		{ held = $2 == "lock" && NF == 2 }'
}

module()
{
	local fn sec at lock w found

	locks "$ko" | sort -u >"$tmp/locks"
	[ -s "$tmp/locks" ] || ! objdump -h "$ko" | grep -q ' \.smp_locks ' ||
		echo "cannot read .smp_locks"
	swaps "$ko" >"$tmp/swaps"
	while read -r fn sec at lock; do
		case " $engine $slots " in *" $fn "*) ;; *) continue ;; esac
		[ "$lock" = lock ] ||
			echo "$fn at $sec+0x$at: compare-and-swap without a lock prefix"
		grep -qx "$sec $at" "$tmp/locks" &&
			echo "$fn at $sec+0x$at: its lock prefix is in .smp_locks"
	done <"$tmp/swaps"
	for w in $must; do
		found=
		for fn in ${w//|/ }; do
			grep -q "^$fn " "$tmp/swaps" && found=1
		done
		[ -n "$found" ] || echo "no compare-and-swap in $w"
	done
}

name="lock prefixes of engine and slots stay when one CPU is present"
if [ -z "$ko" ]; then
	skip "$name" "no ub.ko is built"
elif ! objdump -f "$ko" | grep -q x86-64; then
	skip "$name" "not for x86-64"
else
	module | verdict "$name"
fi
exit $failed
