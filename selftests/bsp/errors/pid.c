/* SPDX-License-Identifier: GPL-2.0-only */
/* A process number that does not exist ends the run, naming the call. */
#include "bsptest.h"

static int area, x;

/* Process 1 of several, or the only one, makes the mistake. */
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

TEST(put_high, "n=1,3 abort=bsp_put")
{
	if (mine())
		bsp_put(NPROCS, &x, &area, 0, sizeof(x));
	rest();
}

TEST(put_low, "n=1,3 abort=bsp_put")
{
	if (mine())
		bsp_put((bsp_pid_t)-1, &x, &area, 0, sizeof(x));
	rest();
}

TEST(get_high, "n=1,3 abort=bsp_get")
{
	if (mine())
		bsp_get(NPROCS, &area, 0, &x, sizeof(x));
	rest();
}

TEST(get_low, "n=1,3 abort=bsp_get")
{
	if (mine())
		bsp_get((bsp_pid_t)-1, &area, 0, &x, sizeof(x));
	rest();
}

TEST(hpput_high, "n=1,3 abort=bsp_hpput")
{
	if (mine())
		bsp_hpput(NPROCS, &x, &area, 0, sizeof(x));
	rest();
}

TEST(hpput_low, "n=1,3 abort=bsp_hpput")
{
	if (mine())
		bsp_hpput((bsp_pid_t)-1, &x, &area, 0, sizeof(x));
	rest();
}

TEST(hpget_high, "n=1,3 abort=bsp_hpget")
{
	if (mine())
		bsp_hpget(NPROCS, &area, 0, &x, sizeof(x));
	rest();
}

TEST(hpget_low, "n=1,3 abort=bsp_hpget")
{
	if (mine())
		bsp_hpget((bsp_pid_t)-1, &area, 0, &x, sizeof(x));
	rest();
}

TEST(send_high, "n=1,3 abort=bsp_send")
{
	if (mine())
		bsp_send(NPROCS, NULL, &x, sizeof(x));
	rest();
}

TEST(send_low, "n=1,3 abort=bsp_send")
{
	if (mine())
		bsp_send((bsp_pid_t)-1, NULL, &x, sizeof(x));
	rest();
}

/* An empty message is a message, and needs somebody to go to. */
TEST(send_high_empty, "n=1,3 abort=bsp_send")
{
	if (mine())
		bsp_send(NPROCS, NULL, NULL, 0);
	rest();
}

TEST(put_far_too_high, "n=2 abort=bsp_put")
{
	if (mine())
		bsp_put(1 << 30, &x, &area, 0, sizeof(x));
	rest();
}

/* The message says who did it, and with which number. */
TEST(names_process, "n=4 abort=bsp_put by=2")
{
	bsp_push_reg(&area, sizeof(area));
	bsp_sync();
	if (ME == 2)
		bsp_put(7777, &x, &area, 0, sizeof(x));
	rest();
}

TEST(names_argument, "n=4 abort=bsp_put by=7777")
{
	bsp_push_reg(&area, sizeof(area));
	bsp_sync();
	if (ME == 2)
		bsp_put(7777, &x, &area, 0, sizeof(x));
	rest();
}
