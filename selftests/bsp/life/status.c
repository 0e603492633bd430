/* SPDX-License-Identifier: GPL-2.0-only */
/* What main() of process 0 returns is the status of the run. */
#include "bsptest.h"

PROGRAM("n=1,2,4 fails done=%n ours");

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
	return 5;
}
