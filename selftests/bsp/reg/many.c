/* SPDX-License-Identifier: GPL-2.0-only */
/* Thousands of registrations: no limit, and no cost that grows with their square. */
#include "bsptest.h"

#define MANY	20000

static int area[MANY];

TEST(many_areas, "n=1,2 limit=40")
{
	int i, me = ME, n = NPROCS, last = (me + n - 1) % n;

	for (i = 0; i < MANY; i++) {
		area[i] = -1;
		bsp_push_reg(&area[i], sizeof(int));
	}
	bsp_sync();
	for (i = 0; i < MANY; i++) {
		int value = i ^ me;

		bsp_put((me + 1) % n, &value, &area[i], 0, sizeof(value));
	}
	bsp_sync();
	for (i = 0; i < MANY; i++)
		EQUAL(area[i], i ^ last);
	for (i = 0; i < MANY; i++)
		bsp_pop_reg(&area[i]);
	bsp_sync();
}

TEST(many_of_one_address, "n=1,2 limit=40")
{
	int i, n = NPROCS;

	for (i = 0; i < 5000; i++)
		bsp_push_reg(area, i + 1);
	bsp_sync();
	for (i = 0; i < 5000; i++)
		bsp_put((ME + 1) % n, "x", area, 4999, 1);
	bsp_sync();
	CHECK(((char *)area)[4999] == 'x');
	for (i = 0; i < 4000; i++)
		bsp_pop_reg(area);
	bsp_sync();
	bsp_put((ME + 1) % n, "y", area, 999, 1);
	bsp_sync();
	CHECK(((char *)area)[999] == 'y');
	for (i = 0; i < 1000; i++)
		bsp_pop_reg(area);
	bsp_sync();
}

TEST(many_of_one_address_bounds, "n=1,2 abort=bsp_put")
{
	int i;

	for (i = 0; i < 1000; i++)
		bsp_push_reg(area, i + 1);
	bsp_sync();
	for (i = 0; i < 500; i++)
		bsp_pop_reg(area);
	bsp_sync();
	bsp_put(0, "y", area, 500, 1);
	ENDED_BY_SYNC();
}

/* Pushed and popped again and again: nothing accumulates. */
TEST(many_times, "n=1,2 limit=40")
{
	int i, me = ME, n = NPROCS, last = (me + n - 1) % n;

	for (i = 0; i < 3000; i++) {
		int value = 10 * i + me;

		bsp_push_reg(&area[i % 10], sizeof(int));
		bsp_sync();
		bsp_put((me + 1) % n, &value, &area[i % 10], 0, sizeof(value));
		bsp_pop_reg(&area[i % 10]);
		bsp_sync();
		EQUAL(area[i % 10], 10 * i + last);
	}
}

/* Popped in another order than that of their pushes. */
TEST(many_in_any_order, "n=2 limit=40")
{
	int i, k, me = ME, n = NPROCS, last = (me + n - 1) % n;

	for (i = 0; i < 5000; i++)
		bsp_push_reg(&area[i], sizeof(int));
	bsp_sync();
	for (i = 0; i < 2500; i++)
		bsp_pop_reg(&area[i * 1231 % 5000]);
	bsp_sync();
	for (i = 2500; i < 5000; i++) {
		k = i * 1231 % 5000;
		bsp_put((me + 1) % n, &me, &area[k], 0, sizeof(me));
	}
	bsp_sync();
	for (i = 2500; i < 5000; i++)
		EQUAL(area[i * 1231 % 5000], last);
}

TEST(many_null, "n=2,3 limit=40 ours")
{
	int i, x = 3;

	for (i = 0; i < 2000; i++) {
		int part = i % NPROCS != ME;

		area[i] = 0;
		bsp_push_reg(part ? &area[i] : NULL, part ? sizeof(int) : 0);
	}
	bsp_sync();
	for (i = 0; i < 2000; i++)
		if (i % NPROCS != ME)
			bsp_put(ME, &x, &area[i], 0, sizeof(x));
	bsp_sync();
	for (i = 0; i < 2000; i++)
		EQUAL(area[i], i % NPROCS != ME ? 3 : 0);
	for (i = 0; i < 2000; i++)
		bsp_pop_reg(i % NPROCS != ME ? &area[i] : NULL);
	bsp_sync();
}
