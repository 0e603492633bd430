/* SPDX-License-Identifier: GPL-2.0-only */
/* The number of processes may be read from stdin before bsp_begin(). */
#include "bsptest.h"

PROGRAM("n=2,4 stdin=2 done=2 says=asked:1");

static int wanted;

static void spmd(void)
{
	bsp_begin(wanted);
	EQUAL(NPROCS, 2);
	bspt_done();
	bsp_end();
}

int main(int argc, char **argv)
{
	bsp_init(spmd, argc, argv);
	bspt_say("asked");
	if (scanf("%d", &wanted) != 1)
		bsp_abort("nothing on stdin\n");
	spmd();
	return 0;
}
