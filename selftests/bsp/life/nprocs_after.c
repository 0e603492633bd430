/* SPDX-License-Identifier: GPL-2.0-only */
/* After bsp_end(), bsp_nprocs() is what it was in the section. */
#include "bsptest.h"

PROGRAM("n=2,4 done=2 says=were-2:1 ours");

static void spmd(void)
{
	bsp_begin(2);
	bspt_done();
	bsp_end();
}

int main(int argc, char **argv)
{
	bsp_init(spmd, argc, argv);
	spmd();
	bspt_say("were-%d", NPROCS);
	return 0;
}
