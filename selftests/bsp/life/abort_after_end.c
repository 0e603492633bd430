/* SPDX-License-Identifier: GPL-2.0-only */
/* ... and after bsp_end(). */
#include "bsptest.h"

PROGRAM("n=1,2,4 fails done=%n err=too_late ours");

static void spmd(void)
{
	bsp_begin(bsp_nprocs());
	bspt_done();
	bsp_end();
}

int main(int argc, char **argv)
{
	bsp_init(spmd, argc, argv);
	spmd();
	bsp_abort("too late\n");
	bspt_say("FAILED: bsp_abort() came back");
	return 0;
}
