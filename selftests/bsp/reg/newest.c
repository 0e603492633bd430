/* SPDX-License-Identifier: GPL-2.0-only */
/* Of several registrations of one address the newest is the one that counts. */
#include "bsptest.h"

static char buf[16];

static void put(int n)
{
	static char ones[16] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };

	memset(buf, 0, sizeof(buf));
	bsp_sync();
	bsp_put((ME + 1) % NPROCS, ones, buf, 0, n);
	bsp_sync();
	CHECK(bspt_all(buf, n, 1));
	CHECK(bspt_all(buf + n, 16 - n, 0));
}

TEST(larger_again, "n=1,2,3")
{
	bsp_push_reg(buf, 4);
	bsp_sync();
	put(4);
	bsp_push_reg(buf, 16);
	bsp_sync();
	put(16);
}

TEST(larger_again_in_one_step, "n=1,2,3")
{
	bsp_push_reg(buf, 4);
	bsp_push_reg(buf, 16);
	bsp_sync();
	put(16);
}

TEST(smaller_again_in_bounds, "n=1,2,3")
{
	bsp_push_reg(buf, 16);
	bsp_sync();
	bsp_push_reg(buf, 4);
	bsp_sync();
	put(4);
}

TEST(smaller_again_out_of_bounds, "n=1,2,3 abort=bsp_put")
{
	bsp_push_reg(buf, 16);
	bsp_sync();
	bsp_push_reg(buf, 4);
	bsp_sync();
	put(5);
	NOT_REACHED();
}

TEST(smaller_again_in_one_step, "n=1,2 abort=bsp_get")
{
	char x[16];

	bsp_push_reg(buf, 16);
	bsp_push_reg(buf, 4);
	bsp_sync();
	bsp_get((ME + 1) % NPROCS, buf, 0, x, 5);
	ENDED_BY_SYNC();
}

TEST(pop_brings_the_older_back, "n=1,2,3")
{
	bsp_push_reg(buf, 16);
	bsp_sync();
	bsp_push_reg(buf, 4);
	bsp_sync();
	put(4);
	bsp_pop_reg(buf);
	bsp_sync();
	put(16);
}

TEST(pop_brings_the_smaller_back, "n=1,2,3 abort=bsp_put")
{
	bsp_push_reg(buf, 4);
	bsp_sync();
	bsp_push_reg(buf, 16);
	bsp_sync();
	put(16);
	bsp_pop_reg(buf);
	bsp_sync();
	put(5);
	NOT_REACHED();
}

TEST(three_deep, "n=1,2,3")
{
	bsp_push_reg(buf, 4);
	bsp_push_reg(buf, 8);
	bsp_sync();
	bsp_push_reg(buf, 12);
	bsp_sync();
	put(12);
	bsp_pop_reg(buf);
	bsp_pop_reg(buf);
	bsp_sync();
	put(4);
	bsp_push_reg(buf, 16);
	bsp_sync();
	put(16);
}

/* The newest of the writer decides, also where it is not the other's newest. */
TEST(newest_of_the_caller, "n=2")
{
	char other[16];
	char x[16];
	int i;

	for (i = 0; i < 16; i++)
		x[i] = 3;
	memset(buf, 0, 16);
	memset(other, 0, 16);
	bsp_push_reg(buf, 16);
	bsp_push_reg(ME == 0 ? other : buf, 8);
	bsp_sync();
	bsp_put(1 - ME, x, buf, 0, ME == 0 ? 16 : 8);
	bsp_sync();
	if (ME == 0) {
		/* 1's newest of buf is its second slot: 0's other */
		CHECK(bspt_all(other, 8, 3));
		CHECK(bspt_all(buf, 16, 0));
	} else {
		CHECK(bspt_all(buf, 16, 3));
	}
}
