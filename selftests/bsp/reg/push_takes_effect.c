/* SPDX-License-Identifier: GPL-2.0-only */
/* A registration takes effect at the next bsp_sync(), not before. */
#include "bsptest.h"

static int area;

TEST(usable_in_the_next_step, "n=1,2,4")
{
	int me = ME, n = NPROCS;

	area = -1;
	bsp_push_reg(&area, sizeof(area));
	bsp_sync();
	bsp_put((me + 1) % n, &me, &area, 0, sizeof(me));
	bsp_sync();
	EQUAL(area, (me + n - 1) % n);
}

TEST(usable_for_many_steps, "n=2,3")
{
	int i, me = ME, n = NPROCS;

	bsp_push_reg(&area, sizeof(area));
	bsp_sync();
	for (i = 0; i < 100; i++) {
		int value = 10 * i + me;

		if (i % 3)
			bsp_put((me + 1) % n, &value, &area, 0, sizeof(value));
		bsp_sync();
		if (i % 3)
			EQUAL(area, 10 * i + (me + n - 1) % n);
	}
}

TEST(put_in_the_same_step, "n=1,2 abort=bsp_put")
{
	int x = 1;

	bsp_push_reg(&area, sizeof(area));
	bsp_put(0, &x, &area, 0, sizeof(x));
	ENDED_BY_SYNC();
}

TEST(get_in_the_same_step, "n=1,2 abort=bsp_get")
{
	int x;

	bsp_push_reg(&area, sizeof(area));
	bsp_get(0, &area, 0, &x, sizeof(x));
	ENDED_BY_SYNC();
}

TEST(hpput_in_the_same_step, "n=1,2 abort=bsp_hpput")
{
	int x = 1;

	bsp_push_reg(&area, sizeof(area));
	bsp_hpput(0, &x, &area, 0, sizeof(x));
	ENDED_BY_SYNC();
}

TEST(hpget_in_the_same_step, "n=1,2 abort=bsp_hpget")
{
	int x;

	bsp_push_reg(&area, sizeof(area));
	bsp_hpget(0, &area, 0, &x, sizeof(x));
	ENDED_BY_SYNC();
}

/* Registering changes nothing in the memory. */
TEST(memory_stays_as_it_is, "n=1,2,4")
{
	unsigned char buf[1000];

	bspt_fill(buf, sizeof(buf), ME);
	bsp_push_reg(buf, sizeof(buf));
	CHECK(bspt_has(buf, 0, sizeof(buf), ME));
	bsp_sync();
	CHECK(bspt_has(buf, 0, sizeof(buf), ME));
	bsp_pop_reg(buf);
	bsp_sync();
	CHECK(bspt_has(buf, 0, sizeof(buf), ME));
}

/* The old size holds until the end of the step in which the new one is given. */
TEST(old_size_until_sync, "n=1,2")
{
	char buf[8], x[8];

	memset(buf, 0, 8);
	memset(x, 7, 8);
	bsp_push_reg(buf, 8);
	bsp_sync();
	bsp_push_reg(buf, 2);
	bsp_put((ME + 1) % NPROCS, x, buf, 0, 8);
	bsp_sync();
	CHECK(bspt_all(buf, 8, 7));
}

TEST(new_size_not_before_sync, "n=1,2 abort=bsp_put")
{
	char buf[8], x[8];

	memset(x, 7, 8);
	bsp_push_reg(buf, 2);
	bsp_sync();
	bsp_push_reg(buf, 8);
	bsp_put((ME + 1) % NPROCS, x, buf, 0, 8);
	ENDED_BY_SYNC();
}
