/* SPDX-License-Identifier: GPL-2.0-only */
/* Pushes and pops of one superstep, in the order of their calls. */
#include "bsptest.h"

static char buf[16], other[16];

static void put(char *area, int n)
{
	static const char ones[16] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };

	memset(area, 0, 16);
	bsp_sync();
	bsp_put((ME + 1) % NPROCS, ones, area, 0, n);
	bsp_sync();
	CHECK(bspt_all(area, n, 1));
	CHECK(bspt_all(area + n, 16 - n, 0));
}

TEST(push_and_pop, "n=1,2,3")
{
	bsp_push_reg(buf, 16);
	bsp_pop_reg(buf);
	bsp_sync();
}

TEST(push_and_pop_leaves_nothing, "n=1,2 abort=bsp_put")
{
	bsp_push_reg(buf, 16);
	bsp_pop_reg(buf);
	bsp_sync();
	put(buf, 1);
	NOT_REACHED();
}

TEST(push_and_pop_leaves_the_older, "n=1,2,3")
{
	bsp_push_reg(buf, 16);
	bsp_sync();
	bsp_push_reg(buf, 4);
	bsp_pop_reg(buf);
	bsp_sync();
	put(buf, 16);
}

TEST(push_pop_push, "n=1,2,3")
{
	bsp_push_reg(buf, 4);
	bsp_pop_reg(buf);
	bsp_push_reg(buf, 16);
	bsp_sync();
	put(buf, 16);
}

TEST(pop_and_push_again, "n=1,2,3")
{
	bsp_push_reg(buf, 4);
	bsp_sync();
	bsp_pop_reg(buf);
	bsp_push_reg(buf, 16);
	bsp_sync();
	put(buf, 16);
	bsp_pop_reg(buf);
	bsp_sync();
}

TEST(pop_and_push_again_leaves_one, "n=1,2 abort=bsp_put")
{
	bsp_push_reg(buf, 4);
	bsp_sync();
	bsp_pop_reg(buf);
	bsp_push_reg(buf, 16);
	bsp_sync();
	bsp_pop_reg(buf);
	bsp_sync();
	put(buf, 1);
	NOT_REACHED();
}

TEST(two_pops, "n=1,2,3")
{
	bsp_push_reg(buf, 16);
	bsp_push_reg(buf, 8);
	bsp_push_reg(buf, 4);
	bsp_sync();
	put(buf, 4);
	bsp_pop_reg(buf);
	bsp_pop_reg(buf);
	bsp_sync();
	put(buf, 16);
}

TEST(mixed, "n=1,2,3")
{
	bsp_push_reg(buf, 3);
	bsp_push_reg(other, 5);
	bsp_push_reg(buf, 7);
	bsp_pop_reg(other);
	bsp_push_reg(other, 9);
	bsp_pop_reg(buf);
	bsp_push_reg(buf, 11);
	bsp_sync();
	put(buf, 11);
	put(other, 9);
	bsp_pop_reg(buf);
	bsp_sync();
	put(buf, 3);
	put(other, 9);
}

/* The popped slot is the one that was pushed in this step, on each process. */
TEST(pushed_here_by_own_addresses, "n=2,3")
{
	bsp_push_reg(buf, 16);
	bsp_push_reg(other, 16);
	bsp_sync();
	bsp_push_reg(ME % 2 ? buf : other, 4);
	bsp_pop_reg(ME % 2 ? buf : other);
	bsp_sync();
	put(buf, 16);
	put(other, 16);
}

/* Not the same calls in the same order. */
TEST(push_against_pop, "n=2,3 fails err=bsp.(push|pop).reg ours")
{
	bsp_push_reg(buf, 16);
	bsp_sync();
	if (ME == 0)
		bsp_pop_reg(buf);
	else
		bsp_push_reg(buf, 16);
	ENDED_BY_SYNC();
}

TEST(push_of_some_only, "n=2,3 abort=bsp_push_reg ours")
{
	if (ME == 0)
		bsp_push_reg(buf, 16);
	ENDED_BY_SYNC();
}

TEST(one_push_more, "n=2,3 abort=bsp_push_reg ours")
{
	bsp_push_reg(buf, 16);
	if (ME == 1)
		bsp_push_reg(other, 16);
	ENDED_BY_SYNC();
}
