/* SPDX-License-Identifier: GPL-2.0-only */
/* A program that ends before its section, as after wrong arguments, just ends. */
#include "bsptest.h"

PROGRAM("n=1,2,4 fails says=usage:1 ours");

static void spmd(void)
{
	bsp_begin(bsp_nprocs());
	bsp_end();
}

int main(int argc, char **argv)
{
	bsp_init(spmd, argc, argv);
	if (argc < 2) {
		bspt_say("usage");
		return 3;
	}
	spmd();
	return 0;
}
