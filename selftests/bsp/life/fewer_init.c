/* SPDX-License-Identifier: GPL-2.0-only */
/* Fewer processes than available, the section in a function. */
#include "bsptest.h"

PROGRAM("n=3,4 done=2 says=after:1");

static void spmd(void)
{
	bsp_begin(2);
	EQUAL(NPROCS, 2);
	bsp_sync();
	bspt_done();
	bsp_end();
}

int main(int argc, char **argv)
{
	bsp_init(spmd, argc, argv);
	spmd();
	bspt_say("after");
	return 0;
}
