// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What other nodes tell of their members, stored into this node's record and pages
 * of the group. See told.h.
 *
 * Invariants:
 *  - A member's words are stored for its own node only, in the life of the group
 *    that both mean. Fences are opinions, and anybody's of the group.
 *  - An arrival word never moves backwards, and moves no further than a member can
 *    be ahead of who was not told. Contributions and mailbox come before it.
 *  - What is older than what is known changes nothing: of two tellings the one with
 *    the lower epoch was read first.
 */
#include "told.h"

#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/string.h>
#else
#include <errno.h>
#include <string.h>
#define EXPORT_SYMBOL_GPL(name)
#endif

#define ARRIVE_TRIES	64	/* fences interfere at most */

static void pages_of(const struct ub_slots *t, __u32 slot, __u32 n,
		     struct ub_grp *g)
{
	ub_grp_init(g, ub_slot_pages(t, slot), n, t->max_members, 0);
}

/* Members of a slot, 0 when its form is not of the life @word. */
static __u32 members(const struct ub_slots *t, __u32 slot, __u64 word)
{
	__u64 form = ub_ld(&ub_slot_rec(t, slot)->form);

	if (UB_FORM_GEN(form) != UB_SLOT_GEN(word) || UB_FORM_N(form) > t->max_members)
		return 0;
	return UB_FORM_N(form);
}

/* ---- telling ---- */

bool ub_told_read(const struct ub_slots *t, __u32 slot, __u64 word, __u32 index,
		  struct ub_told *told)
{
	struct ub_slot_rec *rec = ub_slot_rec(t, slot);
	struct ub_slot_member m;
	struct ub_grp g;
	__u32 lost;
	__u64 e;

	*told = (struct ub_told){
		.id = UB_SLOT_ID(word), .theirs = UB_PLACE(slot, word), .index = index,
		.n = members(t, slot, word),
	};
	if (index >= told->n || ub_ld(&rec->word) != word ||
	    !ub_slots_member(t, slot, word, index, &m))
		return false;
	pages_of(t, slot, told->n, &g);
	told->shape = (__u32)ub_ld(&rec->form);
	told->node = UB_WHO_NODE(m.who);
	told->lane = UB_WHO_LANE(m.who);
	told->node_inc = m.node_inc;
	told->lane_inc = m.lane_inc;
	told->flags = (m.who & UB_WHO_LEFT ? UB_TOLD_LEFT : 0) |
		      (m.who & UB_WHO_DEAD ? UB_TOLD_DEAD : 0);
	/* First the word that says how old the rest is, at most. */
	told->arrival = ub_ld(&g.line[index].arrival);
	told->reason = ub_ld(&g.line[index].reason);
	e = UB_ARR_EPOCH(told->arrival);
	told->contrib[0].value = ub_ld(&g.line[index].contrib[0].value);
	told->contrib[0].aux = ub_ld(&g.line[index].contrib[0].aux);
	told->contrib[1].value = ub_ld(&g.line[index].contrib[1].value);
	told->contrib[1].aux = ub_ld(&g.line[index].contrib[1].aux);
	told->window = ub_ld(&g.head->lost[e & 1].gva);
	memcpy(&told->mail, &g.mail[index], sizeof(told->mail));
	told->verdict = ub_ld(&g.head->verdict);
	lost = UB_VERDICT_MEMBER(told->verdict);
	if (lost < told->n)
		told->lost_epoch = 1 + UB_ARR_EPOCH(ub_ld(&g.line[lost].arrival));
	return true;
}
EXPORT_SYMBOL_GPL(ub_told_read);

bool ub_told_there(const struct ub_slots *t, __u32 slot, __u64 word, __u32 node,
		   __u64 inc, __u64 *there)
{
	struct ub_slot_rec *rec = ub_slot_rec(t, slot);
	__u32 n = members(t, slot, word), i;
	bool made = true;

	*there = 0;
	for (i = 0; i < n; i++) {
		struct ub_slot_member m;

		if (!ub_slots_member(t, slot, word, i, &m)) {
			made = false;
		} else if (UB_WHO_NODE(m.who) == node && m.node_inc == inc) {
			*there = ub_ld(&rec->member[i].there);
			return true;
		}
	}
	return !made;
}
EXPORT_SYMBOL_GPL(ub_told_there);

/* ---- being told ---- */

static bool is_group(__u64 word, __u64 id)
{
	return UB_SLOT_STATE(word) == UB_SLOT_COMMITTED && UB_SLOT_ID(word) == id;
}

/* The slot of a group here: at a place, or, when that is not known, wherever. */
static int find(const struct ub_slots *t, __u64 place, __u64 id, __u64 *word)
{
	__u32 i = UB_PLACE_SLOT(place);

	if (UB_PLACE_KNOWN(place)) {
		if (i >= t->nslots)
			return -ENOENT;
		*word = ub_ld(&ub_slot_rec(t, i)->word);
		return is_group(*word, id) && UB_SLOT_GEN(*word) == UB_PLACE_GEN(place) ?
		       (int)i : -ENOENT;
	}
	for (i = 0; i < t->nslots; i++) {
		*word = ub_ld(&ub_slot_rec(t, i)->word);
		if (is_group(*word, id))
			return i;
	}
	return -ENOENT;
}

/* Has a member that lives here not left yet? */
static bool in_it(const struct ub_slots *t, __u32 slot, __u64 word)
{
	const struct ub_slot_rec *rec = ub_slot_rec(t, slot);
	__u32 n = members(t, slot, word), i;

	for (i = 0; i < n; i++) {
		struct ub_slot_member m;

		if (ub_slots_member(t, slot, word, i, &m) &&
		    !ub_ld(&rec->member[i].there) && !(m.who & UB_WHO_LEFT))
			return true;
	}
	return false;
}

/*
 * A member of which nothing is known here yet. If its node does not know either of
 * any here, it may be of another life: of a former one when it has left, of the
 * next when all here have.
 */
static int join(const struct ub_slots *t, __u32 slot, __u64 word,
		const struct ub_told *told, __u64 *clash)
{
	const struct ub_slot_member m = {
		.who = UB_WHO(0, told->node, told->lane),
		.node_inc = told->node_inc,
		.lane_inc = told->lane_inc,
	};
	int err;

	if (!UB_PLACE_KNOWN(told->yours) &&
	    ((told->flags & UB_TOLD_LEFT) || !in_it(t, slot, word)))
		return -ENOENT;
	/* A fold of the hash, which the form folds again, to the same. */
	err = ub_slots_join(t, slot, word, told->n, (__u32)told->shape, told->index,
			    &m, clash);
	if (err)
		return err == -ESTALE ? -ENOENT : err;
	ub_st(&ub_slot_rec(t, slot)->member[told->index].there, told->theirs);
	return 0;
}

/* Is the entry that is taken the one that is told of? */
static int same_entry(const struct ub_slots *t, __u32 slot, __u64 word,
		      const struct ub_told *told, __u64 *clash)
{
	struct ub_slot_member *e = &ub_slot_rec(t, slot)->member[told->index];
	struct ub_slot_member m;

	if (!ub_slots_member(t, slot, word, told->index, &m))
		return -ENOENT;
	*clash = m.who;
	if (m.who & UB_WHO_LEFT)
		return -ENOENT;
	if (UB_WHO_NODE(m.who) != told->node)
		return told->flags & UB_TOLD_LEFT ? -ENOENT : -EEXIST;
	if (m.node_inc != told->node_inc)
		return -ENOENT;
	if (ub_ld(&e->there) != told->theirs)
		return told->flags & UB_TOLD_LEFT ? -ENOENT : -ESTALE;
	if (UB_WHO_LANE(m.who) != told->lane || m.lane_inc != told->lane_inc)
		return -EPROTO;
	return 0;
}

/* Contributions and mailbox, then the arrival; all older news is none. */
static int arrive(const struct ub_grp *g, const struct ub_told *told)
{
	struct ub_member_line *line = &g->line[told->index];
	__u64 e = UB_ARR_EPOCH(told->arrival), w = ub_ld(&line->arrival);
	__u64 was = UB_ARR_EPOCH(w), k, old;
	struct ub_lost_window *lost = &g->head->lost[e & 1];
	int tries;

	if ((w & UB_ARR_FINAL) || e < was)
		return 0;
	/* It has seen all of this node at least in the epoch before its own. */
	if (was && e > was + 2)
		return -EPROTO;
	memcpy(&g->mail[told->index], &told->mail, sizeof(told->mail));
	if (e == was)
		return 0;
	for (k = e - 1 > was ? e - 1 : e; k <= e; k++) {
		ub_st(&line->contrib[k & 1].value, told->contrib[k & 1].value);
		ub_st(&line->contrib[k & 1].aux, told->contrib[k & 1].aux);
	}
	/* Of several that are lost at once one is named. */
	old = ub_ld(&lost->epoch);
	if ((told->contrib[e & 1].aux & UB_AUX_WINLOST) && old < e &&
	    ub_cas(&lost->epoch, old, e) == old)
		ub_st(&lost->gva, told->window);
	for (tries = 0; tries < ARRIVE_TRIES && !(w & UB_ARR_FINAL); tries++, w = old) {
		old = ub_cas(&line->arrival, w, e);
		if (old == w)
			return 1;
	}
	return 0;
}

/*
 * The sender found a verdict, so the member arrives no more. It is the verdict here,
 * too, where the lost one is known to stand where the sender knows it to stand. If
 * its arrival is still on its way, or is known here alone, it is only the teller
 * that nobody must wait for.
 */
static int give_up(const struct ub_grp *g, const struct ub_told *told)
{
	__u32 m = UB_VERDICT_MEMBER(told->verdict);

	if (!(told->verdict & UB_VERDICT_VALID))
		return 0;
	if (m >= g->n)
		return -EPROTO;
	if (UB_ARR_EPOCH(ub_ld(&g->line[m].arrival)) + 1 != told->lost_epoch)
		ub_grp_fence(g, told->index, UB_REASON_LINK);
	else if (ub_grp_fence(g, m, UB_VERDICT_REASON(told->verdict)))
		ub_cas(&g->head->verdict, 0, UB_VERDICT(m, UB_VERDICT_REASON(told->verdict)));
	return 1;
}

/* Have all arrived at the latest epoch, or will somebody never? */
static bool decided(const struct ub_grp *g, __u32 index)
{
	__u64 e = UB_ARR_EPOCH(ub_ld(&g->line[index].arrival));
	__u32 i;

	for (i = 0; i < g->n; i++) {
		__u64 w = ub_ld(&g->line[i].arrival);

		if (w & UB_ARR_FINAL)
			return true;
		if (UB_ARR_EPOCH(w) < e)
			return false;
	}
	return true;
}

int ub_told_store(const struct ub_slots *t, const struct ub_told *told,
		  __u32 *slot, __u64 *clash)
{
	struct ub_grp g;
	__u64 word;
	int s, err, gave_up;

	if (!told->n || told->n > t->max_members || told->index >= told->n ||
	    told->lane > 0xffff || (told->flags & ~UB_TOLD_FLAGS) ||
	    !UB_PLACE_KNOWN(told->theirs))
		return -EPROTO;
	s = find(t, told->yours, told->id, &word);
	if (s < 0)
		return s;
	*slot = s;
	if (UB_WHO_GEN(ub_ld(&ub_slot_rec(t, s)->member[told->index].who)) !=
	    UB_SLOT_GEN(word)) {
		err = join(t, s, word, told, clash);
		if (err)
			return err;
	}
	pages_of(t, s, members(t, s, word), &g);
	if (g.n != told->n)
		return -EPROTO;
	err = same_entry(t, s, word, told, clash);
	if (err == -ESTALE) {	/* that life of the member is over */
		ub_grp_fence(&g, told->index, UB_REASON_LEFT);
		ub_slots_leave(t, s, word, told->index);
		return 1;
	}
	if (err)
		return err;
	err = arrive(&g, told);
	if (err < 0)
		return err;
	/* The verdict first: who left because of one is not the one who is lost. */
	gave_up = give_up(&g, told);
	if (gave_up < 0)
		return gave_up;
	if (told->flags & UB_TOLD_DEAD)
		ub_slots_dead(t, s, word, told->index);
	if (told->arrival & UB_ARR_FENCED)
		ub_grp_fence(&g, told->index, told->reason);
	if (told->flags & UB_TOLD_LEFT)
		ub_slots_leave(t, s, word, told->index);
	return gave_up ? gave_up : decided(&g, told->index);
}
EXPORT_SYMBOL_GPL(ub_told_store);

/* ---- being refused ---- */

bool ub_told_refused(const struct ub_slots *t, __u64 id, __u64 place, int err,
		     __u64 clash)
{
	struct ub_slot_rec *rec;
	struct ub_grp g;
	__u64 word;
	int s = find(t, place, id, &word);
	bool ended = false;
	__u32 i, gen;

	if (s < 0 || (err != -EEXIST && err != -EINVAL))
		return false;
	rec = ub_slot_rec(t, s);
	gen = UB_SLOT_GEN(word);
	pages_of(t, s, members(t, s, word), &g);
	for (i = 0; i < g.n; i++) {
		if (ub_ld(&g.line[i].arrival))
			continue;
		/* Before the fence that ends the wait. */
		ub_st(&rec->clash, err == -EEXIST ?
		      UB_WHO(gen, UB_WHO_NODE(clash), UB_WHO_LANE(clash)) :
		      UB_FORM(gen, UB_FORM_N(clash) & 0x7fff, clash));
		ub_grp_fence(&g, i, UB_REASON_VERSION);
		ended = true;
	}
	return ended;
}
EXPORT_SYMBOL_GPL(ub_told_refused);

int ub_told_clash(const struct ub_slots *t, __u32 slot, __u64 word, __u64 *clash)
{
	__u64 c = ub_ld(&ub_slot_rec(t, slot)->clash);

	if (!c || UB_WHO_GEN(c) != UB_SLOT_GEN(word))
		return 0;
	*clash = c;
	return c & UB_WHO_USED ? -EEXIST : -EINVAL;
}
