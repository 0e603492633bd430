/* SPDX-License-Identifier: GPL-2.0-only */
/* What was registered in one section is not registered in the next. */
#include "bsptest.h"

PROGRAM("n=1,2 abort=bsp_put says=second:1 ours");

static int area;

static void spmd(void)
{
	bsp_begin(bsp_nprocs());
	bsp_push_reg(&area, sizeof(area));
	bsp_sync();
	bsp_end();
}

static void again(void)
{
	int x = 1;

	bsp_begin(bsp_nprocs());
	if (ME == 0)
		bspt_say("second");
	bsp_sync();
	bsp_put(0, &x, &area, 0, sizeof(x));
	bsp_sync();
	NOT_REACHED();
	bsp_end();
}

int main(int argc, char **argv)
{
	bsp_init(spmd, argc, argv);
	spmd();
	bsp_init(again, argc, argv);
	again();
	return 0;
}
