/* SPDX-License-Identifier: GPL-2.0-only */
/* A negative size ends the run, naming the call. */
#include "bsptest.h"

static char area[100], x[100];

static int mine(void)
{
	bsp_push_reg(area, sizeof(area));
	bsp_sync();
	return ME == 1 || NPROCS == 1;
}

static void rest(void)
{
	ENDED_BY_SYNC();
}

TEST(put_size, "n=1,3 abort=bsp_put dialect=classic")
{
	if (mine())
		bsp_put(0, x, area, 10, -4);
	rest();
}

TEST(get_size, "n=1,3 abort=bsp_get dialect=classic")
{
	if (mine())
		bsp_get(0, area, 10, x, -4);
	rest();
}

TEST(hpput_size, "n=1,3 abort=bsp_hpput dialect=classic")
{
	if (mine())
		bsp_hpput(0, x, area, 10, -4);
	rest();
}

TEST(hpget_size, "n=1,3 abort=bsp_hpget dialect=classic")
{
	if (mine())
		bsp_hpget(0, area, 10, x, -4);
	rest();
}

TEST(send_size, "n=1,3 abort=bsp_send dialect=classic")
{
	if (mine())
		bsp_send(0, NULL, x, -4);
	rest();
}

TEST(put_offset, "n=1,3 abort=bsp_put dialect=classic")
{
	if (mine())
		bsp_put(0, x, area, -4, 4);
	rest();
}

TEST(names_argument, "n=3 abort=bsp_send by=-4321 dialect=classic")
{
	if (mine())
		bsp_send(0, NULL, x, -4321);
	rest();
}

TEST(names_process, "n=3 abort=bsp_send by=1 dialect=classic")
{
	if (mine())
		bsp_send(0, NULL, x, -4321);
	rest();
}
