/* SPDX-License-Identifier: GPL-2.0-only */
/* bsp_pop_reg() takes the newest registration of an address, from the next step on. */
#include "bsptest.h"

static int area, other;

/* Communication of the step in which the slot is popped still works. */
TEST(put_before_pop_in_the_step, "n=1,2,4")
{
	int me = ME, n = NPROCS;

	area = -1;
	bsp_push_reg(&area, sizeof(area));
	bsp_sync();
	bsp_put((me + 1) % n, &me, &area, 0, sizeof(me));
	bsp_pop_reg(&area);
	bsp_sync();
	EQUAL(area, (me + n - 1) % n);
}

TEST(put_after_pop_in_the_step, "n=1,2,4")
{
	int me = ME, n = NPROCS;

	area = -1;
	bsp_push_reg(&area, sizeof(area));
	bsp_sync();
	bsp_pop_reg(&area);
	bsp_put((me + 1) % n, &me, &area, 0, sizeof(me));
	bsp_sync();
	EQUAL(area, (me + n - 1) % n);
}

TEST(get_around_pop, "n=1,2,4")
{
	int me = ME, next = (ME + 1) % NPROCS, x = -1, y = -1;

	area = 30 + me;
	bsp_push_reg(&area, sizeof(area));
	bsp_sync();
	bsp_get(next, &area, 0, &x, sizeof(x));
	bsp_pop_reg(&area);
	bsp_get(next, &area, 0, &y, sizeof(y));
	bsp_sync();
	EQUAL(x, 30 + next);
	EQUAL(y, 30 + next);
}

TEST(hp_around_pop, "n=2,4")
{
	int me = ME, n = NPROCS, next = (ME + 1) % NPROCS, x = -1;

	area = -1;
	other = 30 + me;
	bsp_push_reg(&area, sizeof(area));
	bsp_push_reg(&other, sizeof(other));
	bsp_sync();
	bsp_pop_reg(&other);
	bsp_pop_reg(&area);
	bsp_hpput(next, &me, &area, 0, sizeof(me));
	bsp_hpget(next, &other, 0, &x, sizeof(x));
	bsp_sync();
	EQUAL(area, (me + n - 1) % n);
	EQUAL(x, 30 + next);
}

TEST(put_after_the_step, "n=1,2 abort=bsp_put")
{
	int x = 1;

	bsp_push_reg(&area, sizeof(area));
	bsp_sync();
	bsp_pop_reg(&area);
	bsp_sync();
	bsp_put(0, &x, &area, 0, sizeof(x));
	ENDED_BY_SYNC();
}

TEST(get_after_the_step, "n=1,2 abort=bsp_get")
{
	int x = 1;

	bsp_push_reg(&area, sizeof(area));
	bsp_sync();
	bsp_pop_reg(&area);
	bsp_sync();
	bsp_get(0, &area, 0, &x, sizeof(x));
	ENDED_BY_SYNC();
}

TEST(never_registered, "n=1,2 abort=bsp_pop_reg")
{
	bsp_pop_reg(&area);
	ENDED_BY_SYNC();
}

TEST(never_registered_by_one, "n=2,3 abort=bsp_pop_reg")
{
	bsp_push_reg(&area, sizeof(area));
	bsp_sync();
	bsp_pop_reg(ME == 1 ? &other : &area);
	ENDED_BY_SYNC();
}

TEST(once_too_often, "n=1,2 abort=bsp_pop_reg")
{
	bsp_push_reg(&area, sizeof(area));
	bsp_sync();
	bsp_pop_reg(&area);
	bsp_sync();
	bsp_pop_reg(&area);
	ENDED_BY_SYNC();
}

TEST(once_too_often_in_one_step, "n=1,2 abort=bsp_pop_reg")
{
	bsp_push_reg(&area, sizeof(area));
	bsp_sync();
	bsp_pop_reg(&area);
	bsp_pop_reg(&area);
	ENDED_BY_SYNC();
}

TEST(inside_of_an_area, "n=1,2 abort=bsp_pop_reg")
{
	static int areas[4];

	bsp_push_reg(areas, sizeof(areas));
	bsp_sync();
	bsp_pop_reg(&areas[1]);
	ENDED_BY_SYNC();
}

TEST(different_slots, "n=2,3 abort=bsp_pop_reg")
{
	bsp_push_reg(&area, sizeof(area));
	bsp_push_reg(&other, sizeof(other));
	bsp_sync();
	bsp_pop_reg(ME == 0 ? &area : &other);
	ENDED_BY_SYNC();
}

/* One address, but it is the second slot of process 0 and the first of the others. */
TEST(different_slots_of_one_address, "n=2,3 abort=bsp_pop_reg")
{
	bsp_push_reg(&area, sizeof(area));
	bsp_push_reg(ME == 0 ? &area : &other, sizeof(area));
	bsp_sync();
	bsp_pop_reg(&area);
	ENDED_BY_SYNC();
}

TEST(of_some_only, "n=2,3 abort=bsp_pop_reg ours")
{
	bsp_push_reg(&area, sizeof(area));
	bsp_sync();
	if (ME == 0)
		bsp_pop_reg(&area);
	ENDED_BY_SYNC();
}

/* Slots need not go in the reverse order. */
TEST(oldest_first, "n=1,2,3")
{
	int me = ME, n = NPROCS;

	area = -1;
	other = -1;
	bsp_push_reg(&area, sizeof(area));
	bsp_push_reg(&other, sizeof(other));
	bsp_sync();
	bsp_pop_reg(&area);
	bsp_sync();
	bsp_put((me + 1) % n, &me, &other, 0, sizeof(me));
	bsp_push_reg(&area, sizeof(area));
	bsp_pop_reg(&other);
	bsp_sync();
	EQUAL(other, (me + n - 1) % n);
	bsp_put((me + 1) % n, &me, &area, 0, sizeof(me));
	bsp_sync();
	EQUAL(area, (me + n - 1) % n);
}

/* Whoever pops by another address of the same slot names the same slot. */
TEST(by_own_addresses, "n=2,3")
{
	int *mine = ME % 2 ? &area : &other, me = ME, n = NPROCS;
	int *rest = ME % 2 ? &other : &area;

	area = -1;
	other = -1;
	bsp_push_reg(mine, sizeof(int));
	bsp_push_reg(rest, sizeof(int));
	bsp_sync();
	bsp_pop_reg(mine);
	bsp_sync();
	bsp_put((me + 1) % n, &me, rest, 0, sizeof(int));
	bsp_sync();
	EQUAL(*rest, (me + n - 1) % n);
	EQUAL(*mine, -1);
}
