/* SPDX-License-Identifier: GPL-2.0-only */
/* Where main() is the section, each process has the arguments. */
#include "bsptest.h"

PROGRAM("n=3 args=alpha,beta says=2-beta:%n ours");

int main(int argc, char **argv)
{
	bsp_begin(bsp_nprocs());
	bspt_say("%d-%s", argc - 1, argv[2]);
	bspt_done();
	bsp_end();
	return 0;
}
