/* SPDX-License-Identifier: GPL-2.0-only */
/* After the section the program may end by exit(). */
#include "bsptest.h"

PROGRAM("n=1,2,4 says=bye:1");

static void spmd(void)
{
	bsp_begin(bsp_nprocs());
	bsp_sync();
	bspt_done();
	bsp_end();
}

int main(int argc, char **argv)
{
	bsp_init(spmd, argc, argv);
	spmd();
	bspt_say("bye");
	exit(0);
}
