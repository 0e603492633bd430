/* SPDX-License-Identifier: GPL-2.0-only */
/* No byte to move: the call does nothing, whatever its other arguments. */
#include "bsptest.h"

static int area = 5;

static void open_area(void)
{
	bsp_push_reg(&area, sizeof(area));
	bsp_sync();
}

static void still_works(void)
{
	int x = 6;

	EQUAL(area, 5);
	bsp_put(ME, &x, &area, 0, sizeof(x));
	bsp_sync();
	EQUAL(area, 6);
}

#define NOWHERE(call_put, call_get, pid, address, offset)		\
	do {								\
		open_area();						\
		call_put(pid, &area, address, offset, 0);		\
		call_get(pid, address, offset, &area, 0);		\
		bsp_sync();						\
		still_works();						\
	} while (0)

TEST(in_order, "n=1,2")
{
	NOWHERE(bsp_put, bsp_get, 0, &area, 0);
}

TEST(at_the_end_of_the_area, "n=1,2")
{
	NOWHERE(bsp_put, bsp_get, 0, &area, sizeof(area));
}

TEST(beyond_the_area, "n=1,2")
{
	NOWHERE(bsp_put, bsp_get, 0, &area, 1000);
}

TEST(before_the_area, "n=1,2")
{
	NOWHERE(bsp_put, bsp_get, 0, &area, (bsp_size_t)-1);
}

TEST(not_registered, "n=1,2")
{
	int other;

	NOWHERE(bsp_put, bsp_get, 0, &other, 0);
}

TEST(pid_too_high, "n=1,2")
{
	NOWHERE(bsp_put, bsp_get, NPROCS, &area, 0);
}

TEST(pid_too_low, "n=1,2")
{
	NOWHERE(bsp_put, bsp_get, (bsp_pid_t)-1, &area, 0);
}

TEST(all_null, "n=1,2")
{
	open_area();
	bsp_put(0, NULL, NULL, 0, 0);
	bsp_get(0, NULL, 0, NULL, 0);
	bsp_hpput(0, NULL, NULL, 0, 0);
	bsp_hpget(0, NULL, 0, NULL, 0);
	bsp_sync();
	still_works();
}

TEST(hp_beyond_the_area, "n=1,2")
{
	NOWHERE(bsp_hpput, bsp_hpget, 0, &area, 1000);
}

TEST(hp_not_registered, "n=1,2")
{
	int other;

	NOWHERE(bsp_hpput, bsp_hpget, 0, &other, 0);
}

TEST(hp_pid_too_high, "n=1,2")
{
	NOWHERE(bsp_hpput, bsp_hpget, NPROCS + 7, &area, 0);
}

TEST(in_the_step_of_the_push, "n=1,2")
{
	bsp_push_reg(&area, sizeof(area));
	bsp_put(0, &area, &area, 0, 0);
	bsp_get(0, &area, 0, &area, 0);
	bsp_sync();
	still_works();
}
