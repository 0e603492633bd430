#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Does the explorer see faults? Each mutant is a copy of a file of kernel/ with
# one rule taken out; green only if every one of them is caught.
# Those of a fault that costs no more than a detour are for the unit test.
#
#	mutants.sh <out dir> [name ..]
#
# Environment: CC. Run from the top of the tree, see pure.mk.
# shellcheck disable=SC2086,SC2016,SC2046
top=${1:?out dir}
out=$top/mutants
shift
only=" $* "
inc="-Ikernel -Ikernel/include/uapi -Iselftests/pure"
base="${CC:-cc} -std=gnu11 -O1 -g -w"
bare="$base -no-pie -DUB_EXPLORE"
cc="$bare $inc"
mset="-include selftests/pure/explore_memset.h"
mkdir -p "$out"

limit=100
[ -n "$UB_LONG" ] && limit=900
count=0
failed=0
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT

$cc -c -o "$out/schedule.o" kernel/schedule.c &&
$cc -c -o "$out/engine.o" kernel/engine.c &&
$cc -c -o "$out/told.o" kernel/told.c &&
$cc $mset -c -o "$out/slots.o" kernel/slots.c || exit 1
for f in explore explore_search explore_bar explore_slots; do
	$cc -c -o "$out/$f.o" "selftests/pure/$f.c" || exit 1
done
node=$(echo "$top"/node/*.o | sed 's/[^ ]*\.san\.o *//g')
rest="$out/explore.o $out/explore_search.o $out/explore_slots.o $out/schedule.o $out/told.o $node"
explorer="$rest $out/explore_bar.o"

report() { # ok? name text
	count=$((count + 1))
	[ "$1" = 0 ] || failed=$((failed + 1))
	if [ "$1" = 0 ]; then echo "ok $count $2: $3"
	else echo "not ok $count $2: $3"; fi >> "$lines"
}

wanted() {
	[ "$only" = "  " ] && return 0
	case $only in *" $1 "*) return 0 ;; esac
	return 1
}

# The little search first: nearly all are caught at once.
judge() { # name program objects..
	name=$1
	program=$2
	shift 2
	if ! $cc -o "$out/$name" "$@" 2> "$out/$name.log"; then
		report 1 "$name" "does not link"
		return
	fi
	for bound in ${program:+"-p $program"} "-l 1 -r 2000" "-r 20000"; do
		timeout "$limit" "$out/$name" $bound > "$out/$name.log" 2>&1
		case $? in
		0)	continue ;;
		1|132|134|139)
			text=$(grep -m1 'replay with' -B1 "$out/$name.log" |
				sed -n '1s/^# //p')
			report 0 "$name" "${text:-crashed}"
			return ;;
		*)	report 1 "$name" "ends with an error, see $out/$name.log"
			return ;;
		esac
	done
	report 1 "$name" "was not caught"
}

mutant() { # name file perl-expression [program that shows it]
	wanted "$1" || return
	perl -0pe "$3" "kernel/$2.c" > "$out/$1.c"
	if cmp -s "kernel/$2.c" "$out/$1.c"; then
		report 1 "$1" "the change does not apply any more"
		return
	fi
	flags=
	[ "$2" = slots ] && flags=$mset
	if ! $cc $flags -c -o "$out/$1.o" "$out/$1.c" 2> "$out/$1.log"; then
		report 1 "$1" "does not compile"
		return
	fi
	if [ "$2" = slots ]; then
		judge "$1" "$4" $explorer "$out/engine.o" "$out/$1.o"
	else
		judge "$1" "$4" $explorer "$out/slots.o" "$out/$1.o"
	fi
}

node() { # name file perl-expression program: a file that whole nodes run is wrong
	wanted "$1" || return
	perl -0pe "$3" "kernel/$2.c" > "$out/$1.c"
	if cmp -s "kernel/$2.c" "$out/$1.c"; then
		report 1 "$1" "the change does not apply any more"
		return
	fi
	if ! $cc -I"$top/node" -Iselftests/pure -include selftests/pure/kshim.h -c \
			-o "$out/$1.o" "$out/$1.c" 2> "$out/$1.log"; then
		report 1 "$1" "does not compile"
		return
	fi
	judge "$1" "$4" $(echo "$explorer" | sed "s,[^ ]*/node/$2\.o,,") \
		"$out/engine.o" "$out/slots.o" "$out/$1.o"
}

header() { # name perl-expression: engine.h, changed, in a folder of its own
	mkdir -p "$out/$1.d"
	perl -0pe "$2" kernel/engine.h > "$out/$1.d/engine.h"
	cmp -s kernel/engine.h "$out/$1.d/engine.h" || return 0
	report 1 "$1" "the change does not apply any more"
	return 1
}

straight() { # name perl-expression [program]: ub_bar_straight() is wrong
	wanted "$1" && header "$1" "$2" || return
	if ! $bare -I"$out/$1.d" $inc -c -o "$out/$1.o" selftests/pure/explore_bar.c \
			2> "$out/$1.log"; then
		report 1 "$1" "does not compile"
		return
	fi
	judge "$1" "$3" "$out/$1.o" $rest "$out/engine.o" "$out/slots.o"
}

unit() { # name file perl-expression: engine.c or engine.h is wrong, for t_engine
	wanted "$1" || return
	mkdir -p "$out/$1.d"
	perl -0pe "$3" "kernel/$2" > "$out/$1.d/$2"
	if cmp -s "kernel/$2" "$out/$1.d/$2"; then
		report 1 "$1" "the change does not apply any more"
		return
	fi
	c=kernel/engine.c
	[ "$2" = engine.c ] && c=$out/$1.d/engine.c
	if ! $base -I"$out/$1.d" $inc -o "$out/$1" selftests/pure/t_engine.c \
			kernel/schedule.c "$c" 2> "$out/$1.log"; then
		report 1 "$1" "does not compile"
		return
	fi
	timeout 100 "$out/$1" > "$out/$1.log" 2>&1
	case $? in
	1|132|134|139)
		report 0 "$1" "$(sed -n '/^# selftests/s/^# //p' "$out/$1.log" | head -n 1)" ;;
	*)	report 1 "$1" "was not caught" ;;
	esac
}

told() { # name perl-expression: told.c is wrong, for t_told
	wanted "$1" || return
	perl -0pe "$2" kernel/told.c > "$out/$1.c"
	if cmp -s kernel/told.c "$out/$1.c"; then
		report 1 "$1" "the change does not apply any more"
		return
	fi
	if ! $base $inc -o "$out/$1" selftests/pure/t_told.c "$out/$1.c" \
			kernel/slots.c kernel/engine.c kernel/schedule.c 2> "$out/$1.log"; then
		report 1 "$1" "does not compile"
		return
	fi
	timeout 100 "$out/$1" > "$out/$1.log" 2>&1
	case $? in
	1|134|139)
		report 0 "$1" "$(sed -n '/^# selftests/s/^# //p' "$out/$1.log" | head -n 1)" ;;
	*)	report 1 "$1" "was not caught" ;;
	esac
}

agent() { # name define: the agent of explore_bar.c does it wrong
	wanted "$1" || return
	$cc -DMUTATE="$2" -c -o "$out/$1.o" selftests/pure/explore_bar.c || exit 1
	judge "$1" "" "$out/$1.o" $rest "$out/engine.o" "$out/slots.o"
}

told told-old-news 's/ \|\| e < was\)/)/'
told told-last-value-alone 's/k = e - 1 > was \? e - 1 : e/k = e/'
told told-no-mail 's/\tmemcpy\(&g->mail.*?\n//'
told told-verdict-too-early 's/\) \+ 1 != told->lost_epoch/) + 1 > told->lost_epoch/'
told told-verdict-too-late 's/\) \+ 1 != told->lost_epoch/) + 1 < told->lost_epoch/'
told told-verdict-alone 's/\t\tub_grp_fence\(g, told->index, UB_REASON_LINK\);/;/'
told told-former-life 's/if \(ub_ld\(&e->there\) != told->theirs\)/if (0)/'
told told-left-joins 's/\(told->flags & UB_TOLD_LEFT\) \|\| !in_it/!in_it/'
told told-next-life-joins 's/ \|\| !in_it\(t, slot, word\)//'
told told-by-another 's/if \(UB_WHO_NODE\(m.who\) != told->node\)/if (0)/'
agent no-recheck NO_RECHECK
agent no-ring NO_RING
agent no-pressed NO_PRESSED

mutant hint-plain-store engine 's/ub_cas\(hint, h, b->epoch\)/({ ub_st(hint, b->epoch); h; })/'
mutant hint-cleared engine 's/(void ub_bar_sleep_end.*?\{\n)/$1\tub_st(&b->g.head->hint, 0ULL);\n/s'
mutant hint-not-raised engine 's/h < b->epoch && tries/0 && tries/'
mutant sleeping-not-set engine 's/\tub_swap\(&b->own->sleeping, 1ULL\);\n//'
mutant later-verdict engine 's/\tif \(lost > e\)\n\t\treturn false;\n//'
mutant verdict-plain-store engine 's/ub_cas\(&b->g.head->verdict, 0, /ub_st(&b->g.head->verdict, /'
mutant verdict-not-read engine 's/\tif \(ub_bar_verdict\(b, b->epoch\)\)\n\t\treturn UB_BAR_LOST;\n//; s/return ub_bar_verdict\(b, b->epoch\) \? UB_BAR_LOST : UB_BAR_WAIT;/b->verdict = UB_VERDICT(m, reason); b->lost_epoch = UB_ARR_EPOCH(ub_ld(&b->g.line[m].arrival)) + 1; return UB_BAR_LOST;/'
mutant fence-loses-epoch engine 's/old = ub_cas\(word, w, w \| bit\)/old = ub_cas(word, w, bit)/'
mutant fence-plain-store engine 's/old = ub_cas\(word, w, w \| bit\)/old = ({ ub_st(word, w | bit); w; })/'
mutant fence-over-shrinking engine 's/!\(w & UB_ARR_FINAL\); tries/!(w & bit); tries/'
mutant fenced-not-seen engine 's/if \(\(w & UB_ARR_FENCED\) &&/if (0 \&\&/'
mutant fenced-above-epoch engine 's/\t\tif \(UB_ARR_EPOCH\(w\) >= b->epoch\)\n\t\t\tcontinue;\n\t\tall = false;/\t\tif (UB_ARR_EPOCH(w) >= b->epoch \&\& !(w \& UB_ARR_FENCED))\n\t\t\tcontinue;\n\t\tall = false;/'
mutant flag-part-last engine 's/(\t\t\tif \(b->op && !rd->last_full\)\n\t\t\t\tub_st.*?;\n)(\t\t\tub_flag_set\(f, b.*?\);\n)/$2$1/s'
mutant flag-no-parity engine 's/UB_FLAG_PARITY \* \(b->epoch & 1\);\n\}/0;\n}/g'
mutant contrib-no-parity engine 's/contrib\[b->epoch & 1\]/contrib[0]/; s/contrib\[e & 1\]/contrib[0]/g'
mutant contrib-after-arrival engine 's/(\tub_st\(&c->value, value\);\n\tub_st\(&c->aux, aux\);\n)(\told = .*?\n)/$2$1/'
mutant arrive-plain-store engine 's/old = ub_cas\(&b->own->arrival, left_there\(b\), e\)/old = ({ ub_st(\&b->own->arrival, e); left_there(b); })/'
mutant arrive-after-verdict engine 's/\tif \(ub_bar_verdict\(b, e\)\)\n\t\treturn -ESTALE;\n//'
mutant flag-not-awaited engine 's/for \(p = 0; p < rd->nports; p\+\+\)\n\t\t\tif \(!flag_set/for (p = 1; p < rd->nports; p++)\n\t\t\tif (!flag_set/'
mutant flag-any-epoch engine 's/ & UB_AUX_SEQ_MASK\) == UB_AUX_SEQ\(b->epoch\);/ \& 0x8000) == 0x8000;/'
mutant record-of-epoch-before engine 's/if \(UB_ARR_EPOCH\(w\) >= b->epoch\)/if (UB_ARR_EPOCH(w) + 1 >= b->epoch)/'
mutant shrunk-not-final engine 's/\t\tif \(!\(w & UB_ARR_FINAL\)\)\n\t\t\treturn 0;\n//'
mutant partial-window engine 's/p == rd->digit/p == rd->digit + 1/; s/!twice && missing/0/'

straight straight-contrib-late 's/(\tub_st\(&own->contrib\[e & 1\]\.aux, aux\);\n)(\tif \(ub_cas.*?-EBUSY;\n)/$2$1/s'
straight straight-contrib-no-parity 's/own->contrib\[e & 1\]/own->contrib[0]/g'
straight straight-no-value 's/\tif \(op\)\n\t\tub_st\(&own->contrib.*?\n//'
straight straight-plain-store 's/ub_cas\(&own->arrival, was, e\)/({ ub_st(\&own->arrival, e); was; })/'
straight straight-no-hint 's/if \(ub_ld\(&b->g.head->hint\) < e\)/if (1)/'
straight straight-hint-early 's/(\tub_st\(&own->contrib\[e & 1\]\.aux)/\t__u64 hint = ub_ld(\&b->g.head->hint);\n$1/; s/if \(ub_ld\(&b->g.head->hint\) < e/if (hint < e/'
straight straight-hint-only-now 's/(head->hint\) )< e\)/$1<= e)/'
straight straight-value-last 's/(\tif \(op\)\n\t\tub_st\(&f->full, full\);\n)(\tub_st\(&f->aux, aux\);\n)/$2$1/'
straight straight-flag-no-parity 's/flag = UB_FLAG_PARITY \* \(e & 1\)/flag = 0/'
straight straight-flag-any-epoch 's/ & UB_AUX_SEQ_MASK\) != seq/ \& 0x8000) != 0x8000/'
straight straight-not-joined 's/aux = ub_aux_join\(aux, got\);//'
straight straight-late-old-sum 's/\tb->sum.aux = aux;\n(\tif \(!got)/$1/'
straight straight-late-old-value 's/\tb->sum.full = full;\n(\tb->sum.aux = aux;\n\tif \(!got)/$1/'
mutant straight-second-value engine 's/\t\tif \(op\)\n\t\t\tfull = ub_red_join.*?\n//'
mutant straight-late-no-round engine 's/\tb->round = i;/\tb->round = i + 1;/'
mutant straight-late-old-op engine 's/\tb->op = op;\n(\tb->round = i;)/$1/'
mutant straight-after-verdict engine 's/\tif \(!ub_ld\(&b->g.head->verdict\)\)\n\t\tb->nhops/\tb->nhops/; s/\tb->nhops = 0;\n\treturn true;/\treturn true;/'
unit straight-late-forgets-sent engine.c 's/\tb->sent = true;\n(\tb->wake = false;\n\tb->sum.part)/$1/'
unit straight-polls-on engine.h 's/\t\t--\*left;\n/\t\tif (*left > 1)\n\t\t\t--*left;\n\t\telse\n\t\t\treturn 0;\n/'
unit straight-sum-twice engine.h 's/ \|\| \(!ub_red_twice\(op\) && !b->once\)//'
unit straight-unknown engine.h 's/op >= UB_RED_OPS \|\| //'
unit straight-over-the-end engine.c 's/ \|\| b->epoch > UB_EPOCH_MAX \/ 2//'
unit flag-wrong-half engine.c 's/(ub_flag_of\(&b->g, rd->from\[p\], b->me, rd->line \+ p, )rd->mutual/${1}false/'
unit straight-second-flag-late engine.c 's/(\t\tub_flag_set\(b->hop.*?\n)(.*?)(\t\taux = ub_aux_join)/$2$1$3/s'
unit flag-line-each engine.c 's/rd->mutual/false/g'

mutant no-second-scan slots 's/\t\tif \(seen != s.word\) \{.*?\n\t\t\}\n//s' slots-mixed
mutant higher-not-emptied slots 's/\t\tif \(!empty_higher\(t, id, s.lowest\)\)\n\t\t\tcontinue;\n//' slots-mixed
mutant highest-wins slots 's/ && s.lowest < 0\)/)/'
mutant committed-not-seen slots 's/\t\tif \(UB_SLOT_STATE\(w\) == UB_SLOT_COMMITTED\) \{.*?\n\t\t\}\n//s'
mutant free-before-zero slots 's/(\tub_clear\(ub_slot_pages.*?)(\tub_st\(&rec->word, with_state\(word, UB_SLOT_FREE\)\);\n)/$2$1/s'
mutant no-look-after-freeing slots 's/\tif \(!all_gone\(t, slot, freeing, gone, ctx\)\) \{.*?\n\t\}\n//s'
mutant join-not-looking slots 's/\tif \(!still\(rec, word\)\) \{\n\t\tub_cas\(&own->who, who, 0ULL\);.*?\n\t\}\n//s'
mutant ending-not-looking slots 's/return !still\(rec, word\);/return false;/' slots2-again
mutant same-generation slots 's/: UB_SLOT_GEN\(w\) \+ 1;/: UB_SLOT_GEN(w) ?: 1;/'
mutant table-not-zeroed slots 's/\tub_clear\(rec->member[^\n]*\n/\tif (0) { }\n/; s/if \(UB_WHO_GEN\(old\) == gen \|\|/if ((old \& UB_WHO_USED) ||/'
mutant pages-not-zeroed slots 's/\tub_clear\(ub_slot_pages[^\n]*\n//'
mutant left-not-needed slots 's/\t\tif \(!gone\(ctx, &m, ub_ld\(&line\[i\].arrival\)\)\)\n\t\t\treturn false;\n//'
mutant freer-lost slots 's/ub_cas\(&rec->freer, self, freer\);/ub_cas(\&rec->freer, self, 0ULL);/'
mutant newer-entry-taken slots 's/\t\tif \(!still\(rec, word\)\)\n\t\t\treturn -ESTALE;\n\t\twas/\t\twas/'
mutant old-entry-clashes slots 's/\t\tif \(was == old\)\n\t\t\tbreak;/\t\tif (was == old)\n\t\t\tbreak;\n\t\t*clash = was;\n\t\treturn -EEXIST;/'
mutant claim-beside-freeing slots 's/\t\tif \(s.freeing\)\n\t\t\treturn -EAGAIN;\n//'
mutant no-freer slots 's/\tif \(ub_cas\(&rec->freer, freer, self\) != freer\)\n\t\treturn false;\n//; s/\tif \(freer && !freer_gone/\tif (0 \&\& !freer_gone/'

node no-heirs shrink 's/(static void help\(struct ub_gmember \*gm\)\n\{\n\tbool wanted;\n)/$1\n\treturn;/' heirs3
node heir-of-heir shrink 's/\twhile \(gm->heir\)\n\t\tgm = gm->heir;/\tif (gm->heir)\n\t\treturn;/' heirs4
node agree-rings-again shrink 's/if \(!before\)\n\t\t\tub_bar_ring/ub_bar_ring/' heirs4

node arrived-first group 's/(\n\tif \(!o \|\| list_empty\(&o->fabric_node\))(\))/$1 || UB_ARR_EPOCH(ub_ld(&gm->bar.g.line[i].arrival)) > gm->base$2/; s/\treason = UB_REASON_NONE;\n\treturn reason;/\treason = reason;\n\treturn reason;/' heirs4

node own-still-mapped window 's/\tub_mmap_zap\(f, w->gva, w->length\);\n(\tmutex_lock\(&f->win_lock\);\n\tub_win_end)/$1/; s/(\tub_win_end\(f, w\);\n\tmutex_unlock\(&f->win_lock\);\n)(\tup_write)/$1\tub_mmap_zap(f, w->gva, w->length);\n$2/' windows-alone
node room-not-seen slice 's/f->freed != freed \|\| //' windows
node quarantine-short slice 's/v.heartbeat - p->heartbeat < 2/v.heartbeat - p->heartbeat < 1/' windows
node quarantine-none slice 's/(static bool quarantine_over.*?\{\n)/$1\treturn true;\n/s' windows
node life-forgets slice 's/\t\tunits_set\(f, w\);\n\t\tquarantine_begin/\t\tquarantine_begin/' windows-home
node record-even slice 's/\tub_swap\(&rec->generation, generation \+ 1\);\n//' windows
node token-any attach 's/return differ \? -EACCES : 0/return 0/' windows
node generation-any attach 's/->generation\) != a->at.generation\)/->generation) == 1)/' windows
node put-unlocked xfer 's/\tub_instant\(\);\n(.*?)\txfer_end\(file\);\n/\txfer_end(file);\n$1/s' xfer-slow
node xfer-unchecked xfer 's/\? ub_win_check\(file->fabric, a\) :/? 0 :/' xfer

[ -z "$UB_LONG" ] || # it takes a minute
node newer-taken join 's/\tif \(word && generation > f->generation\)\n\t\treturn 0;\n//' "join2 -s 1 -x 1"
node claimer-waited-for join 's/\t\t\tif \(!w.up\)\n\t\t\t\tbreak;\n//' join1
node own-id-taken join 's/word == watched \|\| state == UB_NODE_LEFT \? 3 : -EAGAIN/3/' "join-same -x 1 -s 0 -r 20000"
node claim-stored join 's/!claim_raise\(&rec->incarnation, f->incarnation\)/({ ub_st(\&rec->incarnation, f->incarnation); 0; })/' join-slow
node same-incarnation join 's/(f->incarnation = max\(incarnation, f->incarnation\)) \+ 1/$1/' join1

echo "KTAP version 1"
echo "1..$count"
cat "$lines"
[ "$failed" = 0 ]
