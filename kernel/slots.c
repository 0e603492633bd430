// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Group records: claim, join, leave, collect. See slots.h.
 *
 * Invariants:
 *  - At most one committed slot of an id is in use: a slot is committed only
 *    after a scan, begun when it was seen tentative, that met no committed
 *    one, no lower tentative one, and emptied each higher one. Whoever claims
 *    scans after its claim, so of two claimers one sees the other.
 *  - A free slot's pages and table are zero, written before it became free.
 *  - The generation rises with each claim: a late compare-and-swap of a
 *    former life fails, and entries of one are told by it.
 */
#include "slots.h"
#include <ub/ub_layout.h>

#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#define UB_CLAIM_TRIES	1000
#define UB_JOIN_TRIES	64

/* What one scan of the table saw of an id. */
struct scan {
	int committed;
	int lowest;		/* tentative */
	int empty;
	bool freeing;
	__u64 word;		/* of committed, or of lowest */
	__u64 empty_word;
};

static struct scan scan_slots(const struct ub_slots *t, __u64 id)
{
	struct scan s = { .committed = -1, .lowest = -1, .empty = -1 };
	__u32 i;

	for (i = 0; i < t->nslots; i++) {
		__u64 w = ub_ld(&ub_slot_rec(t, i)->word);

		if (UB_SLOT_STATE(w) == UB_SLOT_FREE) {
			if (s.empty < 0) {
				s.empty = i;
				s.empty_word = w;
			}
			continue;
		}
		if (UB_SLOT_ID(w) != id)
			continue;
		if (UB_SLOT_STATE(w) == UB_SLOT_COMMITTED) {
			s.committed = i;
			s.word = w;
			return s;
		}
		if (UB_SLOT_STATE(w) == UB_SLOT_FREEING)
			s.freeing = true;
		if (UB_SLOT_STATE(w) == UB_SLOT_TENTATIVE && s.lowest < 0) {
			s.lowest = i;
			s.word = w;
		}
	}
	return s;
}

/* 0 is no generation: a form or member word of zero must belong to none. */
static __u64 next_life(__u64 w, __u64 id)
{
	__u32 gen = UB_SLOT_GEN(w) == 0xffff ? 1 : UB_SLOT_GEN(w) + 1;

	return UB_SLOT_WORD(UB_SLOT_TENTATIVE, gen, id);
}

static __u64 with_state(__u64 w, __u64 state)
{
	return UB_SLOT_WORD(state, UB_SLOT_GEN(w), UB_SLOT_ID(w));
}

/* Empty tentative slots of the id above @slot; false when one was decided. */
static bool empty_higher(const struct ub_slots *t, __u64 id, __u32 slot)
{
	__u32 i;

	for (i = slot + 1; i < t->nslots; i++) {
		__u64 *word = &ub_slot_rec(t, i)->word;
		__u64 w = ub_ld(word);

		if (UB_SLOT_STATE(w) == UB_SLOT_FREE || UB_SLOT_ID(w) != id ||
		    UB_SLOT_STATE(w) == UB_SLOT_FREEING)
			continue;
		if (UB_SLOT_STATE(w) == UB_SLOT_COMMITTED)
			return false;
		if (ub_cas(word, w, with_state(w, UB_SLOT_FREE)) != w)
			return false;
	}
	return true;
}

int ub_slots_claim(const struct ub_slots *t, __u64 id, __u64 *word)
{
	__u64 seen = 0;		/* candidate that the last scan began with */
	int tries;

	id &= UB_SLOT_ID_MASK;
	for (tries = 0; tries < UB_CLAIM_TRIES; tries++) {
		struct scan s = scan_slots(t, id);
		__u64 w;

		if (s.committed >= 0) {
			*word = s.word;
			return s.committed;
		}
		/* It may become committed again; then there must be no other. */
		if (s.freeing)
			return -EAGAIN;
		if (s.lowest < 0) {
			if (s.empty < 0)
				return -ENOSPC;
			w = next_life(s.empty_word, id);
			if (ub_cas(&ub_slot_rec(t, s.empty)->word,
				   s.empty_word, w) == s.empty_word)
				seen = w;
			continue;
		}
		/* Commit only what stood before this scan began. */
		if (seen != s.word) {
			seen = s.word;
			continue;
		}
		if (!empty_higher(t, id, s.lowest))
			continue;
		w = with_state(s.word, UB_SLOT_COMMITTED);
		if (ub_cas(&ub_slot_rec(t, s.lowest)->word, s.word, w) == s.word) {
			*word = w;
			return s.lowest;
		}
	}
	return -EAGAIN;
}

static bool still(const struct ub_slot_rec *rec, __u64 word)
{
	return ub_ld(&rec->word) == word;
}

/* Set the form of this generation, or learn that the others differ. */
static int join_form(struct ub_slot_rec *rec, __u64 word, __u64 form,
		     __u64 *clash)
{
	__u64 old = ub_ld(&rec->form);
	int tries;

	for (tries = 0; UB_FORM_GEN(old) != UB_SLOT_GEN(word); tries++) {
		__u64 was = old;

		if (tries == UB_JOIN_TRIES || !still(rec, word))
			return -ESTALE;
		old = ub_cas(&rec->form, was, form);
		if (old == was)
			return 0;
	}
	*clash = old;
	if (old == form)
		return 0;
	/* A form without members: whoever frees stored it. */
	return still(rec, word) ? -EINVAL : -ESTALE;
}

int ub_slots_join(const struct ub_slots *t, __u32 slot, __u64 word, __u32 n,
		  __u64 shape, __u32 index, const struct ub_slot_member *m,
		  __u64 *clash)
{
	struct ub_slot_rec *rec = ub_slot_rec(t, slot);
	struct ub_slot_member *own = &rec->member[index];
	__u32 gen = UB_SLOT_GEN(word);
	__u64 who = UB_WHO(gen, UB_WHO_NODE(m->who), UB_WHO_LANE(m->who));
	__u64 old = ub_ld(&own->who), was;
	int err, tries;

	err = join_form(rec, word, UB_FORM(gen, n, (__u32)(shape ^ shape >> 32)),
			clash);
	if (err)
		return err;
	/*
	 * Who joins too late for a former life may come and go in between. While
	 * the slot is still of this life, an entry of another is of a former one.
	 */
	for (tries = 0; ; tries++, old = was) {
		*clash = old;
		if (UB_WHO_GEN(old) == gen || tries == UB_JOIN_TRIES)
			return -EEXIST;
		if (!still(rec, word))
			return -ESTALE;
		was = ub_cas(&own->who, old, who);
		if (was == old)
			break;
	}
	/* Whoever frees sets FREEING first and then reads the entries. */
	if (!still(rec, word)) {
		ub_cas(&own->who, who, 0ULL);
		return -ESTALE;
	}
	ub_st(&own->node_inc, m->node_inc);
	ub_st(&own->lane_inc, m->lane_inc);
	ub_st(&own->who, who | UB_WHO_READY);
	return 0;
}

bool ub_slots_member(const struct ub_slots *t, __u32 slot, __u64 word,
		     __u32 index, struct ub_slot_member *m)
{
	struct ub_slot_member *e = &ub_slot_rec(t, slot)->member[index];

	m->who = ub_ld(&e->who);
	m->node_inc = ub_ld(&e->node_inc);
	m->lane_inc = ub_ld(&e->lane_inc);
	return (m->who & UB_WHO_READY) && UB_WHO_GEN(m->who) == UB_SLOT_GEN(word);
}

bool ub_slots_ending(const struct ub_slots *t, __u32 slot, __u64 word)
{
	const struct ub_slot_rec *rec = ub_slot_rec(t, slot);
	__u32 i;

	for (i = 0; i < t->max_members; i++) {
		__u64 who = ub_ld(&rec->member[i].who);

		if (UB_WHO_GEN(who) == UB_SLOT_GEN(word) && (who & UB_WHO_LEFT))
			return true;
	}
	/* Entries are emptied after the word has changed. */
	return !still(rec, word);
}

/* Others than the own node do not write the entry: a second try succeeds. */
static void mark_own(const struct ub_slots *t, __u32 slot, __u64 word,
		     __u32 index, __u64 bit)
{
	__u64 *who = &ub_slot_rec(t, slot)->member[index].who;
	__u64 w = ub_ld(who), old;
	int tries;

	for (tries = 0; tries < UB_JOIN_TRIES; tries++, w = old) {
		if (UB_WHO_GEN(w) != UB_SLOT_GEN(word))
			return;
		old = ub_cas(who, w, w | bit);
		if (old == w)
			return;
	}
}

void ub_slots_leave(const struct ub_slots *t, __u32 slot, __u64 word,
		    __u32 index)
{
	mark_own(t, slot, word, index, UB_WHO_LEFT);
}

void ub_slots_dead(const struct ub_slots *t, __u32 slot, __u64 word,
		   __u32 index)
{
	mark_own(t, slot, word, index, UB_WHO_DEAD);
}

static bool all_gone(const struct ub_slots *t, __u32 slot, __u64 word,
		     ub_gone_fn gone, void *ctx)
{
	struct ub_slot_rec *rec = ub_slot_rec(t, slot);
	struct ub_member_line *line = (struct ub_member_line *)
		((char *)ub_slot_pages(t, slot) + ub_group_lines_off());
	__u64 form = ub_ld(&rec->form);
	__u32 n = UB_FORM_N(form), i;

	if (UB_FORM_GEN(form) != UB_SLOT_GEN(word))
		return gone(ctx, NULL, 0);
	if (n > t->max_members)
		n = t->max_members;
	for (i = 0; i < n; i++) {
		struct ub_slot_member m;
		bool ready = ub_slots_member(t, slot, word, i, &m);

		if (UB_WHO_GEN(m.who) != UB_SLOT_GEN(word))
			m.who = 0;
		else if (m.who & UB_WHO_LEFT)
			continue;
		if (!ready) {
			m.node_inc = 0;
			m.lane_inc = 0;
		}
		if (!gone(ctx, &m, ub_ld(&line[i].arrival)))
			return false;
	}
	return true;
}

bool ub_slots_collect(const struct ub_slots *t, __u32 slot, __u64 self,
		      ub_gone_fn gone, bool (*freer_gone)(void *ctx, __u64 freer),
		      void *ctx)
{
	struct ub_slot_rec *rec = ub_slot_rec(t, slot);
	__u64 word = ub_ld(&rec->word), freer = ub_ld(&rec->freer);
	__u64 freeing = with_state(word, UB_SLOT_FREEING);

	switch (UB_SLOT_STATE(word)) {
	case UB_SLOT_TENTATIVE:
		return gone(ctx, NULL, 0) &&
		       ub_cas(&rec->word, word,
			      with_state(word, UB_SLOT_FREE)) == word;
	case UB_SLOT_COMMITTED:
		if (!all_gone(t, slot, word, gone, ctx))
			return false;
		break;
	case UB_SLOT_FREEING:
		if (!freer)
			return false;
		break;
	default:
		return false;
	}
	if (freer && !freer_gone(ctx, freer))
		return false;
	if (ub_cas(&rec->freer, freer, self) != freer)
		return false;
	/*
	 * The word may have changed since it was read: the slot has had another
	 * life, or the freer that died had come further. Then put back who was
	 * there: FREEING without a freer would never be taken over.
	 */
	if (word == freeing ? !still(rec, word) :
	    ub_cas(&rec->word, word, freeing) != word) {
		ub_cas(&rec->freer, self, freer);
		return false;
	}
	/* A member that joined meanwhile has seen FREEING, or is seen here. */
	if (!all_gone(t, slot, freeing, gone, ctx)) {
		ub_cas(&rec->word, freeing, with_state(word, UB_SLOT_COMMITTED));
		ub_cas(&rec->freer, self, 0ULL);
		return false;
	}
	/*
	 * No way back from here: a form without members has everybody gone, so
	 * who takes over half-way goes on whatever the words then hold.
	 */
	ub_st(&rec->form, UB_FORM(UB_SLOT_GEN(word), 0, 0));
	ub_clear(ub_slot_pages(t, slot), t->map_size);
	ub_clear(rec->member, t->max_members * sizeof(rec->member[0]));
	/* Free first: FREEING without a freer would invite a second one. */
	ub_st(&rec->word, with_state(word, UB_SLOT_FREE));
	ub_cas(&rec->freer, self, 0ULL);
	return true;
}
