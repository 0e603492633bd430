/* SPDX-License-Identifier: GPL-2.0-only */
/* Each process gives a size of its own; what counts is that of the remote one. */
#include "bsptest.h"

TEST(remote_larger, "n=2,3,4")
{
	int area[8], me = ME, n = NPROCS, next = (me + 1) % n, last = (me + n - 1) % n, i;

	for (i = 0; i < 8; i++)
		area[i] = -1;
	bsp_push_reg(area, (me + 1) * sizeof(int));
	bsp_sync();
	bsp_put(next, &me, area, next * sizeof(int), sizeof(me));
	bsp_sync();
	for (i = 0; i < 8; i++)
		EQUAL(area[i], i == me ? last : -1);
}

TEST(remote_smaller, "n=2,3 abort=bsp_put by=1")
{
	char area[100], x = 1;

	bsp_push_reg(area, ME == 0 ? 10 : 100);
	bsp_sync();
	if (ME == 1)
		bsp_put(0, &x, area, 10, 1);
	ENDED_BY_SYNC();
}

TEST(remote_smaller_get, "n=2,3 abort=bsp_get by=1")
{
	char area[100], x;

	bsp_push_reg(area, ME == 0 ? 10 : 100);
	bsp_sync();
	if (ME == 1)
		bsp_get(0, area, 9, &x, 2);
	ENDED_BY_SYNC();
}

/* An address with size 0 may still reach the memory of the others. */
TEST(size_0_reaches_others, "n=2,3,4")
{
	int area[2], me = ME, got = -1, x = 77, n = NPROCS;

	area[0] = 50 + me;
	area[1] = -1;
	bsp_push_reg(area, me == 0 ? 0 : sizeof(area));
	bsp_sync();
	if (me == 0) {
		bsp_get(n - 1, area, 0, &got, sizeof(got));
		bsp_put(1, &x, area, sizeof(int), sizeof(x));
	}
	bsp_sync();
	if (me == 0)
		EQUAL(got, 50 + n - 1);
	EQUAL(area[1], me == 1 ? 77 : -1);
}

TEST(size_0_has_nothing, "n=2,3 abort=bsp_put by=1")
{
	int area = 0, x = 77;

	bsp_push_reg(&area, ME == 0 ? 0 : sizeof(area));
	bsp_sync();
	if (ME == 1)
		bsp_put(0, &x, &area, 0, 1);
	ENDED_BY_SYNC();
}

TEST(size_0_everywhere, "n=1,2,3")
{
	int area = 1;

	bsp_push_reg(&area, 0);
	bsp_sync();
	bsp_put(0, &area, &area, 0, 0);
	bsp_pop_reg(&area);
	bsp_sync();
	EQUAL(area, 1);
}

TEST(negative_size, "n=1,2 abort=bsp_push_reg dialect=classic")
{
	int area;

	bsp_push_reg(&area, -4);
	ENDED_BY_SYNC();
}

TEST(negative_size_of_one, "n=2,3 abort=bsp_push_reg by=1 dialect=classic")
{
	int area;

	bsp_push_reg(&area, ME == 1 ? -1 : 4);
	ENDED_BY_SYNC();
}
