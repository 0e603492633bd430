// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suites of the pure parts, as the kernel compiles them: addresses, the
 * schedule, slots, the engine. selftests/pure goes much further in user space;
 * these say that the same code is right with the kernel's compiler, flags and
 * sanitizers. Built where the kernel has KUnit.
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/module.h>

/* A module of its own: what is tested is not exported by ub.ko. */
#define UB_NO_INSTANTS
#include "../schedule.c"
#include "../slots.c"
#include "../engine.c"
#include "../gaddr.h"

static void gva_packs(struct kunit *test)
{
	__u64 gva = ub_gva(UB_GVA_NODE_MAX, UB_GVA_OFF_MASK);

	KUNIT_EXPECT_EQ(test, gva, ~0ULL >> 1);
	KUNIT_EXPECT_EQ(test, ub_gva_node(gva), UB_GVA_NODE_MAX);
	KUNIT_EXPECT_EQ(test, ub_gva_off(gva), UB_GVA_OFF_MASK);
	KUNIT_EXPECT_TRUE(test, ub_gva_is_group(ub_gva_group(3, 7)));
	KUNIT_EXPECT_EQ(test, ub_gva_node(ub_gva_group(3, 7)), 3U);
}

static void gva_ranges(struct kunit *test)
{
	static const struct {
		__u64 off, len;
		bool ok;
	} range[] = {
		{ UB_GVA_FIRST, 1, true },
		{ UB_GVA_FIRST - 1, 1, false },
		{ UB_GVA_FIRST, 0, false },
		{ UB_GVA_FIRST, ~0ULL, false },
		{ UB_GVA_GROUPS - 1, 1, true },
		{ UB_GVA_GROUPS - 1, 2, false },
		{ UB_GVA_GROUPS, 1, false },
		{ UB_GVA_FIRST, UB_GVA_GROUPS - UB_GVA_FIRST, true },
		{ UB_GVA_FIRST, UB_GVA_GROUPS - UB_GVA_FIRST + 1, false },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(range); i++)
		KUNIT_EXPECT_EQ_MSG(test, range[i].ok,
				    ub_gva_range_ok(ub_gva(5, range[i].off), range[i].len),
				    "row %u", i);
	KUNIT_EXPECT_FALSE(test, ub_gva_range_ok(1ULL << 63 | UB_GVA_FIRST, 1));
	KUNIT_EXPECT_TRUE(test, ub_gva_inside(8, 8, 0, 16));
	KUNIT_EXPECT_FALSE(test, ub_gva_inside(9, 8, 0, 16));
	KUNIT_EXPECT_FALSE(test, ub_gva_inside(8, ~0ULL, 0, 16));
}

static struct kunit_case gva_cases[] = {
	KUNIT_CASE(gva_packs), KUNIT_CASE(gva_ranges), { }
};

static struct kunit_suite gva_suite = { .name = "ub_gaddr", .test_cases = gva_cases };

/* A group in memory of this kernel, each member with its view. */
struct world {
	u32 n;
	u32 node[64];
	void *base;
	struct ub_grp g;
	struct ub_sched *sched[64];
	struct ub_bar *bar;
};

static void world_down(void *data)
{
	struct world *w = data;
	u32 i;

	for (i = 0; i < w->n; i++)
		ub_sched_free(w->sched[i]);
	kvfree(w->base);
	kvfree(w->bar);
}

static bool world_up(struct world *w, u32 n, const struct ub_shape *shape)
{
	u32 lines = 1, i;

	w->n = n;
	for (i = 0; i < n; i++)
		w->node[i] = i;
	for (i = 0; i < n; i++) {
		w->sched[i] = ub_sched_build(w->node, n, i, shape);
		if (!w->sched[i])
			return false;
		lines = max(lines, w->sched[i]->nlines);
	}
	w->base = kvzalloc(ub_group_map_size(n, lines), GFP_KERNEL);
	w->bar = kvcalloc(n, sizeof(*w->bar), GFP_KERNEL);
	if (!w->base || !w->bar)
		return false;
	ub_grp_init(&w->g, w->base, n, n, lines);
	for (i = 0; i < n; i++)
		ub_bar_init(&w->bar[i], &w->g, w->sched[i], i, 0);
	return true;
}

/* All but the last arrive and poll until nothing moves: nobody may leave. */
static void one_barrier(struct kunit *test, struct world *w)
{
	__u64 sum = 0;
	u32 i, pass;

	for (i = 0; i < w->n; i++)
		sum += i + 1;
	for (i = 0; i < w->n - 1; i++)
		KUNIT_EXPECT_EQ(test, ub_bar_arrive(&w->bar[i], UB_RED_SUM, i + 1,
						    UB_AUX_LAST_MASK), 0);
	for (pass = 0; pass < 16; pass++)
		for (i = 0; i < w->n - 1; i++)
			KUNIT_EXPECT_FALSE(test, ub_bar_poll(&w->bar[i]));
	KUNIT_EXPECT_EQ(test, ub_bar_arrive(&w->bar[i], UB_RED_SUM, i + 1,
					    UB_AUX_LAST_MASK), 0);
	for (pass = 0; pass < 16; pass++)
		for (i = 0; i < w->n; i++)
			ub_bar_poll(&w->bar[i]);
	for (i = 0; i < w->n; i++) {
		KUNIT_EXPECT_TRUE(test, ub_bar_poll(&w->bar[i]));
		KUNIT_EXPECT_EQ(test, w->bar[i].sum.full, sum);
	}
}

static void barrier_of_every_size(struct kunit *test)
{
	struct world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	u32 n;

	KUNIT_ASSERT_NOT_NULL(test, w);
	for (n = 2; n <= 64; n += n < 20 ? 1 : 11) {
		bool up = world_up(w, n, NULL);

		KUNIT_EXPECT_TRUE(test, up);
		if (up) {
			one_barrier(test, w);
			one_barrier(test, w);
		}
		world_down(w);
		memset(w, 0, sizeof(*w));
	}
}

static void shape_is_checked(struct kunit *test)
{
	struct ub_shape shape = { .nlevels = UB_SHAPE_LEVELS + 1 };
	u32 node[2] = { 0, 1 };

	KUNIT_EXPECT_EQ(test, ub_shape_check(&shape), -EINVAL);
	KUNIT_EXPECT_NULL(test, ub_sched_build(node, 2, 0, &shape));
	KUNIT_EXPECT_NULL(test, ub_sched_build(node, 0, 0, NULL));
	KUNIT_EXPECT_NULL(test, ub_sched_build(node, 2, 2, NULL));
}

/* A fence ends the group for all, with the same answer. */
static void fence_gives_one_verdict(struct kunit *test)
{
	struct world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	bool up;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, w);
	up = world_up(w, 3, NULL);
	KUNIT_EXPECT_TRUE(test, up);
	if (!up)
		goto out;
	one_barrier(test, w);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, ub_bar_arrive(&w->bar[i], UB_RED_NONE, 0,
						    UB_AUX_LAST_MASK), 0);
	KUNIT_EXPECT_TRUE(test, ub_grp_fence(&w->g, 2, UB_REASON_FENCED));
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, (int)ub_bar_record(&w->bar[i]), (int)UB_BAR_LOST);
		KUNIT_EXPECT_EQ(test, w->bar[i].verdict,
				UB_VERDICT(2, UB_REASON_FENCED));
		KUNIT_EXPECT_EQ(test, w->bar[i].lost_epoch, 2ULL);
	}
	KUNIT_EXPECT_EQ(test, ub_bar_arrive(&w->bar[2], UB_RED_NONE, 0,
					    UB_AUX_LAST_MASK), -ESTALE);
out:
	world_down(w);
}

static struct kunit_case engine_cases[] = {
	KUNIT_CASE(barrier_of_every_size), KUNIT_CASE(shape_is_checked),
	KUNIT_CASE(fence_gives_one_verdict), { }
};

static struct kunit_suite engine_suite = { .name = "ub_engine", .test_cases = engine_cases };

static bool everyone_gone(void *ctx, const struct ub_slot_member *m, __u64 arrival)
{
	return true;
}

static bool freer_gone(void *ctx, __u64 freer)
{
	return false;
}

static void slot_claim_join_free(struct kunit *test)
{
	const u32 members = 4, nslots = 3;
	struct ub_slots t = {
		.nslots = nslots, .max_members = members,
		.rec_stride = ub_slot_stride(members),
		.map_size = ub_group_map_size(members, 8),
	};
	struct ub_slot_member m = { .who = UB_WHO(0, 1, 0) }, got;
	__u64 word, again, clash;
	int slot, i;

	t.recs = kunit_kzalloc(test, nslots * t.rec_stride, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t.recs);
	t.pages = kvzalloc(nslots * t.map_size, GFP_KERNEL);
	if (!t.pages) {
		KUNIT_FAIL(test, "no memory");
		return;
	}
	slot = ub_slots_claim(&t, 42, &word);
	KUNIT_EXPECT_GE(test, slot, 0);
	KUNIT_EXPECT_EQ(test, ub_slots_claim(&t, 42, &again), slot);
	KUNIT_EXPECT_EQ(test, word, again);
	KUNIT_EXPECT_EQ(test, ub_slots_join(&t, slot, word, 2, 9, 0, &m, &clash), 0);
	KUNIT_EXPECT_TRUE(test, ub_slots_member(&t, slot, word, 0, &got));
	KUNIT_EXPECT_EQ(test, UB_WHO_NODE(got.who), 1U);
	KUNIT_EXPECT_EQ(test, ub_slots_join(&t, slot, word, 3, 9, 1, &m, &clash), -EINVAL);
	for (i = 1; i < nslots; i++)
		KUNIT_EXPECT_GE(test, ub_slots_claim(&t, 42 + i, &again), 0);
	KUNIT_EXPECT_EQ(test, ub_slots_claim(&t, 99, &again), -ENOSPC);
	ub_slots_leave(&t, slot, word, 0);
	KUNIT_EXPECT_TRUE(test, ub_slots_collect(&t, slot, 1, everyone_gone, freer_gone, NULL));
	KUNIT_EXPECT_EQ(test, ub_slots_claim(&t, 99, &again), slot);
	KUNIT_EXPECT_EQ(test, ub_slots_join(&t, slot, word, 2, 9, 0, &m, &clash), -ESTALE);
	kvfree(t.pages);
}

static struct kunit_case slot_cases[] = { KUNIT_CASE(slot_claim_join_free), { } };

static struct kunit_suite slot_suite = { .name = "ub_slots", .test_cases = slot_cases };

kunit_test_suites(&gva_suite, &engine_suite, &slot_suite);

MODULE_DESCRIPTION("KUnit suites of UB's pure parts");
MODULE_LICENSE("GPL");
