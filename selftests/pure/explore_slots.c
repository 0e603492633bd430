// SPDX-License-Identifier: GPL-2.0-only
/*
 * The explorer's programs of slots.c: making, leaving and collecting groups.
 */
#include "explore.h"

static struct ub_slots table;
static __u32 claiming[MAXN];	/* id that a member looks for */
static __u32 used_gen[MAX_SLOTS];
static bool any_left_over;

struct life {
	int slot;		/* where it was completed, -1 */
	__u64 word;
};
static struct life life_at[MAXN][2];

void slots_start(void)
{
	int i, j;

	table.nslots = prog->nslots;
	table.max_members = MAXN;
	table.rec_stride = ub_slot_stride(MAXN);
	table.map_size = pages_size;
	arena_up(pages_size * MAX_SLOTS + table.rec_stride * MAX_SLOTS);
	table.pages = arena;
	table.recs = arena + pages_size * MAX_SLOTS;
	for (i = 0; i < prog->n; i++) {
		may_crash[i] = true;
		claiming[i] = 0;
		for (j = 0; j < 2; j++)
			life_at[i][j].slot = -1;
	}
	for (i = 0; i < MAX_SLOTS; i++)
		used_gen[i] = 0;
	any_left_over = false;
	nco = prog->n;
}

static bool zero(const void *p, size_t n)
{
	const char *c = p;

	return !n || (!*c && !memcmp(c, c + 1, n - 1));
}

static bool gone(void *ctx, const struct ub_slot_member *m, __u64 arrival)
{
	__u32 id = *(__u32 *)ctx;
	int i;

	if (m && m->who)
		return state[UB_WHO_NODE(m->who)] == CRASHED;
	if (arrival & UB_ARR_FENCED)
		return true;
	for (i = 0; i < prog->n; i++)
		if (claiming[i] == id && state[i] != CRASHED &&
		    i != self() && i != prog->suspect - 1)
			return false;
	return true;
}

static bool freer_gone(void *ctx, __u64 freer)
{
	(void)ctx;
	return state[freer - 1] == CRASHED;
}

static bool collect(int slot, int me)
{
	__u32 id = UB_SLOT_ID(ub_ld(&ub_slot_rec(&table, slot)->word));

	return ub_slots_collect(&table, slot, me + 1, gone, freer_gone, &id);
}

static void one_committed(__u32 id)
{
	int i, n = 0;

	for (i = 0; i < prog->nslots; i++) {
		__u64 w = ub_slot_rec(&table, i)->word;

		n += UB_SLOT_STATE(w) == UB_SLOT_COMMITTED && UB_SLOT_ID(w) == id;
	}
	if (n > 1)
		fail("%d committed slots of one id", n);
}

/* Claim and join; the index of the slot. */
static int enter(int i, __u32 id, int n, int index, __u64 *word)
{
	struct ub_slot_member m = { .who = UB_WHO(0, i, i), .node_inc = i + 10,
				    .lane_inc = i + 20 };
	int tries, slot, err, s;
	__u64 clash;

	claiming[i] = id;
	for (tries = 0; tries < 100; tries++) {
		slot = ub_slots_claim(&table, id, word);
		if (slot >= 0) {
			one_committed(id);
			err = ub_slots_join(&table, slot, *word, n, 0x1234, index,
					    &m, &clash);
			if (!err)
				break;
			if (err == -EINVAL)
				fail("member %d: form %llx stands", i,
				     (long long)clash);
			/* That of the own former life, which is not collected yet. */
			if (err == -EEXIST && !ub_slots_ending(&table, slot, *word))
				fail("member %d: its entry holds %llx, for good", i,
				     (long long)clash);
		} else if (slot != -ENOSPC && slot != -EAGAIN) {
			fail("claim: %d", slot);
		}
		for (s = 0; s < prog->nslots; s++)
			collect(s, i);
		spin();
	}
	if (tries == 100)
		fail("member %d gets no slot", i);
	claiming[i] = 0;
	one_committed(id);
	if (used_gen[slot] != UB_SLOT_GEN(*word)) {
		used_gen[slot] = UB_SLOT_GEN(*word);
		if (!zero(ub_slot_pages(&table, slot), pages_size))
			fail("member %d: pages of slot %d are not zero", i, slot);
	}
	if (!ub_slots_member(&table, slot, *word, index, &m) ||
	    m.node_inc != (__u64)i + 10 || m.lane_inc != (__u64)i + 20)
		fail("member %d: own entry reads %llx", i, (long long)m.who);
	return slot;
}

static void slots_life(int i, int life)
{
	__u32 id = prog->id[i][life];
	struct group gr;
	struct ub_bar b;
	int n = 0, index = 0, slot, j, err, e;
	__u64 word;

	if (!id)
		return;
	memset(&gr, 0, sizeof(gr));
	for (j = 0; j < prog->n; j++) {
		if (prog->id[j][life] != id)
			continue;
		if (j == i)
			index = n;
		gr.who[n++] = j;
	}
	slot = enter(i, id, n, index, &word);
	gr.n = n;
	ub_grp_init(&gr.g, ub_slot_pages(&table, slot), n, MAXN, 8);
	ub_bar_init(&b, &gr.g, NULL, index, 0);
	for (e = 1, err = 0; e <= prog->epochs && !err; e++) {
		err = barrier(&gr, &b, true);
		if (err && !crashes)
			fail("member %d: error %d, but nobody died", i, err);
		if (!err && e == 1) {
			life_at[i][life] = (struct life){ slot, word };
			for (j = 0; j < prog->n; j++)
				if (prog->id[j][life] == id &&
				    life_at[j][life].slot >= 0 &&
				    (life_at[j][life].slot != slot ||
				     life_at[j][life].word != word))
					fail("members %d and %d met in two slots", i, j);
			b.sched = sched[n][index];
		}
	}
	ub_slots_leave(&table, slot, word, index);
	collect(slot, i);
}

void slots_body(int i)
{
	int life;

	for (life = 0; life < prog->lives; life++)
		slots_life(i, life);
}

void slots_check(void)
{
	int i, r;

	for (r = 0; r < 3; r++)
		for (i = 0; i < prog->nslots; i++)
			collect(i, MAXN);
	for (i = 0; i < prog->nslots; i++) {
		const struct ub_slot_rec *rec = ub_slot_rec(&table, i);

		if (UB_SLOT_STATE(rec->word) != UB_SLOT_FREE)
			fail("slot %d stays %llx, freer %llx", i,
			     (long long)rec->word, (long long)rec->freer);
		if (!zero(ub_slot_pages(&table, i), pages_size))
			fail("slot %d is free, its pages are not zero", i);
		if (!crashes && !zero(rec->member, MAXN * sizeof(rec->member[0])))
			fail("slot %d is free, its table is not zero", i);
	}
}
