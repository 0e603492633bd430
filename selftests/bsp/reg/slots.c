/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A registration is its place in the order of registrations, the slot; which
 * address each process names for it is its own affair.
 */
#include "bsptest.h"

TEST(different_addresses, "n=2,3,4")
{
	char buf[400];
	int me = ME, n = NPROCS;
	char *mine = buf + 16 * me;

	memset(buf, 0, sizeof(buf));
	bsp_push_reg(mine, 16);
	bsp_sync();
	bsp_put((me + 1) % n, "0123456789abcde", mine, 0, 16);
	bsp_sync();
	CHECK(!strcmp(mine, "0123456789abcde"));
	CHECK(bspt_all(buf, 16 * me, 0));
	CHECK(bspt_all(mine + 16, (long)sizeof(buf) - 16 * me - 16, 0));
}

TEST(different_variables, "n=2,3,4")
{
	int even = -1, odd = -1, me = ME, n = NPROCS;
	int *mine = me % 2 ? &odd : &even;

	bsp_push_reg(mine, sizeof(*mine));
	bsp_sync();
	bsp_put((me + 1) % n, &me, mine, 0, sizeof(me));
	bsp_sync();
	EQUAL(*mine, (me + n - 1) % n);
	EQUAL(me % 2 ? even : odd, -1);
}

TEST(different_heap_blocks, "n=2,3,4")
{
	int i, me = ME, n = NPROCS;
	char *before = (char *)malloc(1 + 1000 * me);
	int *mine = (int *)malloc(sizeof(int) * n);

	CHECK(before);
	bsp_push_reg(mine, n * sizeof(int));
	bsp_sync();
	for (i = 0; i < n; i++)
		bsp_put(i, &me, mine, me * sizeof(int), sizeof(me));
	bsp_sync();
	for (i = 0; i < n; i++)
		EQUAL(mine[i], i);
	free(before);
	free(mine);
}

/* One process registers a then b, the other b then a: a is the other's b. */
TEST(crossed, "n=2,4")
{
	int a = -1, b = -1, x, me = ME, n = NPROCS;

	bsp_push_reg(me % 2 ? &b : &a, sizeof(int));
	bsp_push_reg(me % 2 ? &a : &b, sizeof(int));
	bsp_sync();
	x = 10 + me;
	bsp_put((me + 1) % n, &x, &a, 0, sizeof(x));
	x = 20 + me;
	bsp_put((me + 1) % n, &x, &b, 0, sizeof(x));
	bsp_sync();
	EQUAL(b, 10 + (me + n - 1) % n);
	EQUAL(a, 20 + (me + n - 1) % n);
}

TEST(crossed_get, "n=2,4")
{
	int a = 1 + 10 * ME, b = 2 + 10 * ME, x = -1, y = -1, me = ME;
	int next = (me + 1) % NPROCS;

	bsp_push_reg(me % 2 ? &b : &a, sizeof(int));
	bsp_push_reg(me % 2 ? &a : &b, sizeof(int));
	bsp_sync();
	bsp_get(next, &a, 0, &x, sizeof(x));
	bsp_get(next, &b, 0, &y, sizeof(y));
	bsp_sync();
	EQUAL(x, 2 + 10 * next);
	EQUAL(y, 1 + 10 * next);
}

/* One address here, two there. */
TEST(one_address_for_two_of_the_other, "n=2")
{
	int a = -1, b = -1, x = 5;

	bsp_push_reg(&a, sizeof(int));
	bsp_push_reg(ME == 0 ? &a : &b, sizeof(int));
	bsp_sync();
	if (ME == 0)
		bsp_put(1, &x, &a, 0, sizeof(x));
	bsp_sync();
	if (ME == 1) {
		EQUAL(a, -1);
		EQUAL(b, 5);
	}
	bsp_pop_reg(ME == 0 ? &a : &b);
	bsp_sync();
	x = 6;
	if (ME == 0)
		bsp_put(1, &x, &a, 0, sizeof(x));
	bsp_sync();
	if (ME == 1) {
		EQUAL(a, 6);
		EQUAL(b, 5);
	}
}

/* Many slots, the addresses of each process in an order of its own. */
TEST(permuted, "n=2,3,4")
{
	static const int stride[4] = { 1, 3, 7, 9 };	/* nothing in common with 50 */
	int area[50], i, me = ME, n = NPROCS, last = (me + n - 1) % n;
	int *mine[50];

	for (i = 0; i < 50; i++) {
		area[i] = -1;
		mine[i] = &area[(i * stride[me] + 7 * me) % 50];
	}
	for (i = 0; i < 50; i++)
		bsp_push_reg(mine[i], sizeof(int));
	bsp_sync();
	for (i = 0; i < 50; i++) {
		int value = 1000 * me + i;

		bsp_put((me + 1) % n, &value, mine[i], 0, sizeof(value));
	}
	bsp_sync();
	for (i = 0; i < 50; i++)
		EQUAL(*mine[i], 1000 * last + i);
}
