// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slots in one thread: errors, generations to their end and beyond, and a
 * freer that dies at each of its accesses. Races are explore.c's.
 */
#include <errno.h>
#include <setjmp.h>
#include "test.h"
#include "explore_memset.h"
#include "slots.h"
#include <ub/ub_layout.h>

#define MAXM	4
#define SLOTS	3

static jmp_buf dies;
static int dies_at;	/* access at which the caller ends; 0: never */

static struct ub_slots t;
static uint64_t room[(SLOTS * 2 * UB_LAYOUT_PAGE + 4096) / 8];
static uint64_t dead;

void ub_explore_point(void)
{
	if (dies_at && !--dies_at)
		longjmp(dies, 1);
}

void *explore_memset(void *p, int c, size_t n)
{
	size_t i, step = 32;

	for (i = 0; i < n; i += step) {
		ub_explore_point();
#undef memset
		memset((char *)p + i, c, n - i < step ? n - i : step);
	}
	return p;
}

static void table_up(void)
{
	memset(room, 0, sizeof(room));
	t = (struct ub_slots){ .nslots = SLOTS, .max_members = MAXM,
			       .map_size = 2 * UB_LAYOUT_PAGE,
			       .rec_stride = ub_slot_stride(MAXM) };
	t.pages = (char *)room;
	t.recs = t.pages + SLOTS * t.map_size;
	dead = 0;
}

/* Nobody is gone who has not left, unless its word is fenced. */
static bool gone(void *ctx, const struct ub_slot_member *m, __u64 arrival)
{
	return *(bool *)ctx || (m && arrival & UB_ARR_FENCED);
}

static bool freer_gone(void *ctx, __u64 freer)
{
	(void)ctx;
	return freer == dead;
}

static bool collect(int slot, uint64_t self, bool all)
{
	return ub_slots_collect(&t, slot, self, gone, freer_gone, &all);
}

static int join(int slot, uint64_t word, int n, uint64_t shape, int i, uint64_t *clash)
{
	struct ub_slot_member m = { .who = UB_WHO(0, 40 + i, i),
				    .node_inc = 7, .lane_inc = 8 };

	return ub_slots_join(&t, slot, word, n, shape, i, &m, (__u64 *)clash);
}

static uint64_t *arrival_of(int slot, int i)
{
	char *line = (char *)ub_slot_pages(&t, slot) + ub_group_lines_off();

	return (uint64_t *)(line + i * sizeof(struct ub_member_line));
}

static void errors(void)
{
	struct ub_slot_member m;
	uint64_t clash, w[SLOTS], word;
	int i;

	table_up();
	for (i = 0; i < SLOTS; i++)
		expect(ub_slots_claim(&t, 100 + i, (__u64 *)&w[i]) == i, "%d", i);
	expect(ub_slots_claim(&t, 200, (__u64 *)&word) == -ENOSPC, "full");
	expect(ub_slots_claim(&t, 101, (__u64 *)&word) == 1 && word == w[1], "again");
	expect(!join(1, word, 3, 0x500000001ULL, 0, &clash), "first");
	expect(join(1, word, 4, 0x500000001ULL, 1, &clash) == -EINVAL &&
	       UB_FORM_N(clash) == 3, "other n");
	expect(join(1, word, 3, 0x600000001ULL, 1, &clash) == -EINVAL, "other shape");
	expect(join(1, word, 3, 0x500000001ULL, 0, &clash) == -EEXIST &&
	       UB_WHO_NODE(clash) == 40 && UB_WHO_LANE(clash) == 0, "taken");
	expect(ub_slots_member(&t, 1, word, 0, &m) && m.node_inc == 7 &&
	       m.lane_inc == 8, "entry");
	expect(!ub_slots_member(&t, 1, word, 1, &m), "nobody there");
	expect(!collect(1, 9, false), "in use");
	ub_slots_dead(&t, 1, word + (1ULL << UB_SLOT_ID_BITS), 0);
	expect(ub_slots_member(&t, 1, word, 0, &m) && !(m.who & UB_WHO_DEAD),
	       "of another life");
	ub_slots_dead(&t, 1, word, 0);
	expect(ub_slots_member(&t, 1, word, 0, &m) && m.who & UB_WHO_DEAD &&
	       !(m.who & UB_WHO_LEFT), "dead has not left");
	expect(!collect(1, 9, false), "the dead may store");
	expect(!ub_slots_ending(&t, 1, word), "nobody left");
	ub_slots_leave(&t, 1, word, 0);
	expect(ub_slots_ending(&t, 1, word), "one left");
	expect(ub_slots_ending(&t, 1, word + (1ULL << UB_SLOT_ID_BITS)),
	       "another life is gone");
	expect(!collect(1, 9, false), "others may come");
	*arrival_of(1, 1) = UB_ARR_FENCED;
	expect(!collect(1, 9, false), "one may come");
	*arrival_of(1, 2) = UB_ARR_FENCED;
	expect(collect(1, 9, false), "all gone");
	expect(join(1, word, 3, 0x500000001ULL, 1, &clash) == -ESTALE, "freed");
	expect(!collect(0, 9, false) && collect(0, 9, true), "without a form");
	expect(!collect(0, 9, true), "free");
	/* While one is freed, its id waits; other ids do not. */
	table_up();
	expect(ub_slots_claim(&t, 5, (__u64 *)&word) == 0, "claim");
	ub_slot_rec(&t, 0)->word |= UB_SLOT_FREEING << 62;
	expect(ub_slots_claim(&t, 5, (__u64 *)&word) == -EAGAIN, "being freed");
	expect(ub_slots_claim(&t, 6, (__u64 *)&word) == 1, "another id");
	ktap_done("errors of claim, join and collect");
}

static void generations(void)
{
	uint64_t clash, word = 0, old = 0;
	uint32_t i;

	table_up();
	for (i = 0; i < 3 * 65536 + 5; i++) {
		old = word;
		if (!expect(!ub_slots_claim(&t, 5, (__u64 *)&word), "life %u", i))
			break;
		expect(word != old && UB_SLOT_GEN(word), "life %u", i);
		if (i % 65536 < 3 || i % 65536 > 65530) {
			int err = join(0, word, 1, 1, 0, &clash);

			expect(!err, "life %u: %d", i, err);
			expect(join(0, old, 1, 1, 0, &clash) == -ESTALE, "%u", i);
			ub_slots_leave(&t, 0, old, 0);	/* changes nothing */
			expect(!collect(0, 9, false), "life %u", i);
			ub_slots_leave(&t, 0, word, 0);
			expect(collect(0, 9, false), "life %u", i);
		} else {	/* given up before it was committed */
			word = UB_SLOT_WORD(UB_SLOT_FREE, UB_SLOT_GEN(word), 5);
			ub_slot_rec(&t, 0)->word = word;
		}
	}
	ktap_done("generations of a slot beyond 65536");
}

static bool zero(const void *p, size_t n)
{
	const char *c = p;

	return !*c && !memcmp(c, c + 1, n - 1);
}

/* Who frees dies at access @at; another ends it. Was there an access @at? */
static bool freer_dies(int at)
{
	uint64_t word, clash;
	volatile bool died = true;
	int i;

	table_up();
	ub_slots_claim(&t, 5, (__u64 *)&word);
	for (i = 0; i < 3; i++) {
		expect(!join(0, word, 3, 1, i, &clash), "%d", i);
		*arrival_of(0, i) = i == 1 ? UB_ARR_FENCED | 3 : 4;
		ub_slots_leave(&t, 0, word, i);
	}
	((char *)ub_slot_pages(&t, 0))[t.map_size - 1] = 1;
	dies_at = at;
	if (!setjmp(dies)) {
		collect(0, 1, false);
		died = false;
	}
	dies_at = 0;
	if (UB_SLOT_STATE(ub_slot_rec(&t, 0)->word) != UB_SLOT_FREE &&
	    ub_slot_rec(&t, 0)->freer)
		expect(!collect(0, 2, false), "access %d: it may live", at);
	dead = 1;
	collect(0, 2, false);
	expect(UB_SLOT_STATE(ub_slot_rec(&t, 0)->word) == UB_SLOT_FREE,
	       "access %d: slot stays %llx", at,
	       (long long)ub_slot_rec(&t, 0)->word);
	expect(zero(ub_slot_pages(&t, 0), t.map_size), "access %d: pages", at);
	expect(zero(ub_slot_rec(&t, 0)->member, MAXM * sizeof(struct ub_slot_member)),
	       "access %d: table", at);
	expect(ub_slots_claim(&t, 5, (__u64 *)&word) == 0 &&
	       !join(0, word, 2, 1, 0, &clash), "access %d: next life", at);
	ub_slots_leave(&t, 0, word, 0);
	*arrival_of(0, 1) = UB_ARR_FENCED;
	expect(collect(0, 2, false), "access %d: end of next life", at);
	return died;
}

int main(void)
{
	int at;

	ktap_start(3);
	errors();
	generations();
	for (at = 1; freer_dies(at); at++)
		;
	printf("# %d accesses\n", at - 1);
	ktap_done("another ends what a dead freer began, wherever it died");
	return ktap_end();
}
