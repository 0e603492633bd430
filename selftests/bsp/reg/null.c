/* SPDX-License-Identifier: GPL-2.0-only */
/* NULL with size 0: this process takes no part in the registration. */
#include "bsptest.h"

static int a, b;

TEST(others_use_it, "n=3,4")
{
	int me = ME, n = NPROCS, x = 40 + me;

	a = -1;
	bsp_push_reg(me == 1 ? NULL : &a, me == 1 ? 0 : sizeof(a));
	bsp_sync();
	if (me != 1)
		bsp_put(me == 0 ? n - 1 : 0, &x, &a, 0, sizeof(x));
	bsp_sync();
	if (me == 0)
		CHECK(a >= 42 && a < 40 + n);
	EQUAL(a == -1, me != 0 && me != n - 1);
}

TEST(put_to_one_without_part, "n=2,3 abort=bsp_put by=0")
{
	int x = 1;

	bsp_push_reg(ME == 1 ? NULL : &a, ME == 1 ? 0 : sizeof(a));
	bsp_sync();
	if (ME == 0)
		bsp_put(1, &x, &a, 0, sizeof(x));
	ENDED_BY_SYNC();
}

TEST(get_from_one_without_part, "n=2,3 abort=bsp_get by=0")
{
	int x = 1;

	bsp_push_reg(ME == 1 ? NULL : &a, ME == 1 ? 0 : sizeof(a));
	bsp_sync();
	if (ME == 0)
		bsp_get(1, &a, 0, &x, sizeof(x));
	ENDED_BY_SYNC();
}

TEST(nothing_to_one_without_part, "n=2,3")
{
	bsp_push_reg(ME == 1 ? NULL : &a, ME == 1 ? 0 : sizeof(a));
	bsp_sync();
	bsp_put(1, &a, &a, 0, 0);
	bsp_get(1, &a, 0, &a, 0);
	bsp_sync();
}

/* Who registered NULL cannot name the slot. */
TEST(use_of_null, "n=2,3 abort=bsp_put by=1")
{
	int x = 1;

	bsp_push_reg(ME == 1 ? NULL : &a, ME == 1 ? 0 : sizeof(a));
	bsp_sync();
	if (ME == 1)
		bsp_put(0, &x, NULL, 0, sizeof(x));
	ENDED_BY_SYNC();
}

TEST(nobody_takes_part, "n=1,2,3")
{
	bsp_push_reg(NULL, 0);
	bsp_sync();
	bsp_pop_reg(NULL);
	bsp_sync();
}

TEST(null_with_size, "n=1,2 abort=bsp_push_reg")
{
	bsp_push_reg(NULL, 4);
	ENDED_BY_SYNC();
}

TEST(null_with_size_of_one, "n=2,3 abort=bsp_push_reg by=1")
{
	bsp_push_reg(ME == 1 ? NULL : &a, sizeof(a));
	ENDED_BY_SYNC();
}

/* A NULL for a slot says nothing of the address in other slots. */
TEST(null_beside_address, "n=2,3,4")
{
	int me = ME, n = NPROCS, x = me;

	a = -1;
	b = -1;
	bsp_push_reg(&a, sizeof(a));
	bsp_push_reg(me == 0 ? NULL : &a, me == 0 ? 0 : sizeof(a));
	bsp_push_reg(&b, sizeof(b));
	bsp_sync();
	bsp_put((me + 1) % n, &x, &b, 0, sizeof(x));
	if (me == 0)
		bsp_put(n - 1, &x, &a, 0, sizeof(x));
	bsp_sync();
	EQUAL(b, (me + n - 1) % n);
	EQUAL(a, me == n - 1 ? 0 : -1);
}

/* NULL pops the slot that the others name. */
TEST(null_pop_matches_older, "n=2,3 ours")
{
	int me = ME, n = NPROCS, x = me;

	a = -1;
	b = -1;
	bsp_push_reg(me == 1 ? NULL : &a, me == 1 ? 0 : sizeof(a));
	bsp_push_reg(me == 1 ? NULL : &b, me == 1 ? 0 : sizeof(b));
	bsp_sync();
	bsp_pop_reg(me == 1 ? NULL : &a);
	bsp_sync();
	if (me == 0)
		bsp_put(n == 2 ? 0 : 2, &x, &b, 0, sizeof(x));
	bsp_sync();
	EQUAL(b, me == (n == 2 ? 0 : 2) ? 0 : -1);
}

TEST(null_popped_slot_is_gone, "n=2,3 abort=bsp_put by=0")
{
	int x = 1;

	bsp_push_reg(ME == 1 ? NULL : &a, ME == 1 ? 0 : sizeof(a));
	bsp_push_reg(ME == 1 ? NULL : &b, ME == 1 ? 0 : sizeof(b));
	bsp_sync();
	bsp_pop_reg(ME == 1 ? NULL : &a);
	bsp_sync();
	if (ME == 0)
		bsp_put(0, &x, &a, 0, sizeof(x));
	ENDED_BY_SYNC();
}

TEST(null_pops_of_several, "n=3,4 ours")
{
	int me = ME, x = me;

	a = -1;
	b = -1;
	bsp_push_reg(me == 1 ? NULL : &a, me == 1 ? 0 : sizeof(a));
	bsp_push_reg(me == 2 ? NULL : &b, me == 2 ? 0 : sizeof(b));
	bsp_push_reg(me == 1 ? NULL : &a, me == 1 ? 0 : sizeof(a));
	bsp_sync();
	bsp_pop_reg(me == 2 ? NULL : &b);
	bsp_pop_reg(me == 1 ? NULL : &a);
	bsp_sync();
	if (me == 0)
		bsp_put(2, &x, &a, 0, sizeof(x));
	bsp_sync();
	EQUAL(a, me == 2 ? 0 : -1);
	bsp_pop_reg(me == 1 ? NULL : &a);
	bsp_sync();
}

/* Nobody names a slot, and more than one would do. */
TEST(null_pop_ambiguous, "n=2,3 abort=bsp_pop_reg ours")
{
	bsp_push_reg(NULL, 0);
	bsp_push_reg(NULL, 0);
	bsp_sync();
	bsp_pop_reg(NULL);
	ENDED_BY_SYNC();
}

TEST(null_pop_of_different_slots, "n=2 abort=bsp_pop_reg ours")
{
	bsp_push_reg(ME == 0 ? &a : NULL, ME == 0 ? sizeof(a) : 0);
	bsp_push_reg(ME == 1 ? &a : NULL, ME == 1 ? sizeof(a) : 0);
	bsp_sync();
	bsp_pop_reg(NULL);
	ENDED_BY_SYNC();
}

TEST(null_pop_of_named_slot_with_address, "n=2,3 abort=bsp_pop_reg ours")
{
	bsp_push_reg(&a, sizeof(a));
	bsp_sync();
	bsp_pop_reg(ME == 1 ? NULL : &a);
	ENDED_BY_SYNC();
}
