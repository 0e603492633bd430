/* SPDX-License-Identifier: GPL-2.0-only */
/* What reaches beyond the remote registration ends the run, naming the call. */
#include <limits.h>
#include "bsptest.h"

static char area[100], x[200];

static int mine(void)
{
	bsp_push_reg(area, ME == 0 ? 50 : 100);
	bsp_sync();
	return ME == 1 || NPROCS == 1;
}

static void rest(void)
{
	ENDED_BY_SYNC();
}

#ifdef BSPT_SIZE_T
#define HUGE_SIZE	((bsp_size_t)-1)
#else
#define HUGE_SIZE	INT_MAX
#endif

TEST(put_one_byte_more, "n=1,2,3 abort=bsp_put")
{
	if (mine())
		bsp_put(0, x, area, 0, 51);
	rest();
}

TEST(put_behind, "n=1,2,3 abort=bsp_put")
{
	if (mine())
		bsp_put(0, x, area, 50, 1);
	rest();
}

TEST(put_across_the_end, "n=1,2,3 abort=bsp_put")
{
	if (mine())
		bsp_put(0, x, area, 47, 4);
	rest();
}

TEST(put_far_behind, "n=1,2 abort=bsp_put")
{
	if (mine())
		bsp_put(0, x, area, 100000000, 1);
	rest();
}

TEST(put_before, "n=1,2,3 abort=bsp_put")
{
	if (mine())
		bsp_put(0, x, area, (bsp_size_t)-1, 1);
	rest();
}

TEST(put_before_into, "n=1,2 abort=bsp_put")
{
	if (mine())
		bsp_put(0, x, area, (bsp_size_t)-2, 4);
	rest();
}

/* Offset and size whose sum is not a number of their type. */
TEST(put_sum_overflows, "n=1,2 abort=bsp_put")
{
	if (mine())
		bsp_put(0, x, area, 10, HUGE_SIZE - 5);
	rest();
}

TEST(put_offset_overflows, "n=1,2 abort=bsp_put")
{
	if (mine())
		bsp_put(0, x, area, HUGE_SIZE, 2);
	rest();
}

TEST(put_huge, "n=1,2 abort=bsp_put")
{
	if (mine())
		bsp_put(0, x, area, 0, HUGE_SIZE);
	rest();
}

TEST(put_to_itself, "n=1,2 abort=bsp_put")
{
	mine();
	bsp_put(ME, x, area, 99, 2);
	rest();
}

TEST(get_one_byte_more, "n=1,2,3 abort=bsp_get")
{
	if (mine())
		bsp_get(0, area, 0, x, 51);
	rest();
}

TEST(get_behind, "n=1,2,3 abort=bsp_get")
{
	if (mine())
		bsp_get(0, area, 50, x, 1);
	rest();
}

TEST(get_before, "n=1,2,3 abort=bsp_get")
{
	if (mine())
		bsp_get(0, area, (bsp_size_t)-1, x, 1);
	rest();
}

TEST(get_sum_overflows, "n=1,2 abort=bsp_get")
{
	if (mine())
		bsp_get(0, area, 10, x, HUGE_SIZE - 5);
	rest();
}

TEST(get_offset_overflows, "n=1,2 abort=bsp_get")
{
	if (mine())
		bsp_get(0, area, HUGE_SIZE, x, 2);
	rest();
}

TEST(hpput_one_byte_more, "n=1,2,3 abort=bsp_hpput")
{
	if (mine())
		bsp_hpput(0, x, area, 0, 51);
	rest();
}

TEST(hpput_before, "n=1,2 abort=bsp_hpput")
{
	if (mine())
		bsp_hpput(0, x, area, (bsp_size_t)-1, 1);
	rest();
}

TEST(hpput_sum_overflows, "n=1,2 abort=bsp_hpput")
{
	if (mine())
		bsp_hpput(0, x, area, 10, HUGE_SIZE - 5);
	rest();
}

TEST(hpget_one_byte_more, "n=1,2,3 abort=bsp_hpget")
{
	if (mine())
		bsp_hpget(0, area, 0, x, 51);
	rest();
}

TEST(hpget_before, "n=1,2 abort=bsp_hpget")
{
	if (mine())
		bsp_hpget(0, area, (bsp_size_t)-1, x, 1);
	rest();
}

TEST(hpget_sum_overflows, "n=1,2 abort=bsp_hpget")
{
	if (mine())
		bsp_hpget(0, area, 10, x, HUGE_SIZE - 5);
	rest();
}

TEST(names_process, "n=3 abort=bsp_get by=2")
{
	mine();
	if (ME == 2)
		bsp_get(0, area, 77777, x, 1);
	rest();
}

TEST(names_argument, "n=3 abort=bsp_get by=77777")
{
	mine();
	if (ME == 2)
		bsp_get(0, area, 77777, x, 1);
	rest();
}
