/* SPDX-License-Identifier: GPL-2.0-only */
/* Addresses that are not registered, NULL among them, end the run, naming the call. */
#include "bsptest.h"

static int area, other, x;

static int mine(void)
{
	bsp_push_reg(&area, sizeof(area));
	bsp_sync();
	return ME == 1 || NPROCS == 1;
}

static void rest(void)
{
	ENDED_BY_SYNC();
}

TEST(put, "n=1,3 abort=bsp_put")
{
	if (mine())
		bsp_put(0, &x, &other, 0, sizeof(x));
	rest();
}

TEST(get, "n=1,3 abort=bsp_get")
{
	if (mine())
		bsp_get(0, &other, 0, &x, sizeof(x));
	rest();
}

TEST(hpput, "n=1,3 abort=bsp_hpput")
{
	if (mine())
		bsp_hpput(0, &x, &other, 0, sizeof(x));
	rest();
}

TEST(hpget, "n=1,3 abort=bsp_hpget")
{
	if (mine())
		bsp_hpget(0, &other, 0, &x, sizeof(x));
	rest();
}

TEST(put_to_null, "n=1,3 abort=bsp_put")
{
	if (mine())
		bsp_put(0, &x, NULL, 0, sizeof(x));
	rest();
}

TEST(get_from_null, "n=1,3 abort=bsp_get")
{
	if (mine())
		bsp_get(0, NULL, 0, &x, sizeof(x));
	rest();
}

TEST(hpput_to_null, "n=1,3 abort=bsp_hpput")
{
	if (mine())
		bsp_hpput(0, &x, NULL, 0, sizeof(x));
	rest();
}

TEST(hpget_from_null, "n=1,3 abort=bsp_hpget")
{
	if (mine())
		bsp_hpget(0, NULL, 0, &x, sizeof(x));
	rest();
}

TEST(get_to_null, "n=1,3 abort=bsp_get")
{
	if (mine())
		bsp_get(0, &area, 0, NULL, sizeof(x));
	rest();
}

TEST(hpget_to_null, "n=1,3 abort=bsp_hpget")
{
	if (mine())
		bsp_hpget(0, &area, 0, NULL, sizeof(x));
	rest();
}

/* Registered by the others, but by this process under another address. */
TEST(registered_elsewhere, "n=2,3 abort=bsp_put by=1")
{
	bsp_push_reg(ME == 1 ? &area : &other, sizeof(int));
	bsp_sync();
	bsp_put(0, &x, &other, 0, ME == 1 ? sizeof(x) : 0);
	rest();
}

/* Nothing was ever registered. */
TEST(nothing_registered, "n=1,2 abort=bsp_get")
{
	bsp_sync();
	bsp_get(0, &area, 0, &x, sizeof(x));
	rest();
}
