/* SPDX-License-Identifier: GPL-2.0-only */
/* With bsp_init(), what stands around the section is done by one process. */
#include "bsptest.h"

PROGRAM("n=1,2,4 says=before:1 says=after:1");

static void spmd(void)
{
	bsp_begin(bsp_nprocs());
	bspt_done();
	bsp_end();
}

int main(int argc, char **argv)
{
	bsp_init(spmd, argc, argv);
	bspt_say("before");
	spmd();
	bspt_say("after");
	return 0;
}
