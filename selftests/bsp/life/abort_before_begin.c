/* SPDX-License-Identifier: GPL-2.0-only */
/* bsp_abort() works before bsp_begin(). */
#include "bsptest.h"

PROGRAM("n=1,2,4 fails err=wrong_input_13");

static void spmd(void)
{
	bsp_begin(bsp_nprocs());
	bspt_say("FAILED: the section began");
	bsp_end();
}

int main(int argc, char **argv)
{
	bsp_init(spmd, argc, argv);
	bsp_abort("wrong input %d\n", 13);
	spmd();
	return 0;
}
