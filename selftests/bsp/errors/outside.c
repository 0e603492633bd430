/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Outside of the section, before it and after it, the calls that need one end the
 * run and name themselves.
 */
#define BSPT_OWN_MAIN
#include "bsptest.h"

static int area, x;
static bsp_size_t size;
static bsp_nprocs_t packets;
static void *tag, *payload;

TEST(before_pid, "n=1,2 abort=bsp_pid")
{
	bsp_pid();
}

TEST(before_sync, "n=1,2 abort=bsp_sync")
{
	bsp_sync();
}

TEST(before_time, "n=1,2 abort=bsp_time")
{
	bsp_time();
}

TEST(before_push_reg, "n=1,2 abort=bsp_push_reg")
{
	bsp_push_reg(&area, sizeof(area));
}

TEST(before_pop_reg, "n=1,2 abort=bsp_pop_reg")
{
	bsp_pop_reg(&area);
}

TEST(before_put, "n=1,2 abort=bsp_put")
{
	bsp_put(0, &x, &area, 0, sizeof(x));
}

TEST(before_get, "n=1,2 abort=bsp_get")
{
	bsp_get(0, &area, 0, &x, sizeof(x));
}

TEST(before_hpput, "n=1,2 abort=bsp_hpput")
{
	bsp_hpput(0, &x, &area, 0, sizeof(x));
}

TEST(before_hpget, "n=1,2 abort=bsp_hpget")
{
	bsp_hpget(0, &area, 0, &x, sizeof(x));
}

TEST(before_set_tagsize, "n=1,2 abort=bsp_set_tagsize")
{
	bsp_set_tagsize(&size);
}

TEST(before_send, "n=1,2 abort=bsp_send")
{
	bsp_send(0, NULL, &x, sizeof(x));
}

TEST(before_qsize, "n=1,2 abort=bsp_qsize")
{
	bsp_qsize(&packets, &size);
}

TEST(before_get_tag, "n=1,2 abort=bsp_get_tag")
{
	bsp_get_tag(&size, &x);
}

TEST(before_move, "n=1,2 abort=bsp_move")
{
	bsp_move(&x, sizeof(x));
}

TEST(before_hpmove, "n=1,2 abort=bsp_hpmove")
{
	bsp_hpmove(&tag, &payload);
}

TEST(after_pid, "n=1,2 abort=bsp_pid")
{
	bsp_pid();
}

TEST(after_sync, "n=1,2 abort=bsp_sync")
{
	bsp_sync();
}

TEST(after_time, "n=1,2 abort=bsp_time")
{
	bsp_time();
}

TEST(after_push_reg, "n=1,2 abort=bsp_push_reg")
{
	bsp_push_reg(&area, sizeof(area));
}

TEST(after_pop_reg, "n=1,2 abort=bsp_pop_reg")
{
	bsp_pop_reg(&area);
}

TEST(after_put, "n=1,2 abort=bsp_put")
{
	bsp_put(0, &x, &area, 0, sizeof(x));
}

TEST(after_get, "n=1,2 abort=bsp_get")
{
	bsp_get(0, &area, 0, &x, sizeof(x));
}

TEST(after_hpput, "n=1,2 abort=bsp_hpput")
{
	bsp_hpput(0, &x, &area, 0, sizeof(x));
}

TEST(after_hpget, "n=1,2 abort=bsp_hpget")
{
	bsp_hpget(0, &area, 0, &x, sizeof(x));
}

TEST(after_set_tagsize, "n=1,2 abort=bsp_set_tagsize")
{
	bsp_set_tagsize(&size);
}

TEST(after_send, "n=1,2 abort=bsp_send")
{
	bsp_send(0, NULL, &x, sizeof(x));
}

TEST(after_qsize, "n=1,2 abort=bsp_qsize")
{
	bsp_qsize(&packets, &size);
}

TEST(after_get_tag, "n=1,2 abort=bsp_get_tag")
{
	bsp_get_tag(&size, &x);
}

TEST(after_move, "n=1,2 abort=bsp_move")
{
	bsp_move(&x, sizeof(x));
}

TEST(after_hpmove, "n=1,2 abort=bsp_hpmove")
{
	bsp_hpmove(&tag, &payload);
}

static void spmd(void)
{
	bsp_begin(bsp_nprocs());
	bsp_push_reg(&area, sizeof(area));
	bsp_sync();
	bsp_send(0, NULL, &x, sizeof(x));
	bsp_sync();
	bsp_end();
}

int main(int argc, char **argv)
{
	const char *want = argc > 1 ? argv[1] : "";
	int found = 0;

	if (!strncmp(want, "after", 5)) {
		bsp_init(spmd, argc, argv);
		spmd();
	}
	BSPT_CASES(BSPT_RUN)
	bspt_say("FAILED: %s came back", found ? want : "no case");
	return 0;
}
