/* SPDX-License-Identifier: GPL-2.0-only */
/* Before bsp_begin(), bsp_nprocs() is the number of processes available. */
#include "bsptest.h"

PROGRAM("n=1,2,4 done=1 says=available-%n:1");

static void spmd(void)
{
	bsp_begin(1);
	bspt_done();
	bsp_end();
}

int main(int argc, char **argv)
{
	bsp_init(spmd, argc, argv);
	bspt_say("available-%d", NPROCS);
	spmd();
	return 0;
}
