/* SPDX-License-Identifier: GPL-2.0-only */
/* The arguments of the command line reach main(). */
#include "bsptest.h"

PROGRAM("n=1,3 args=alpha,-n,7,two_words,--help");

int main(int argc, char **argv)
{
	bsp_begin(bsp_nprocs());
	if (ME == 0) {
		EQUAL(argc, 6);
		CHECK(!strcmp(argv[1], "alpha"));
		CHECK(!strcmp(argv[2], "-n"));
		CHECK(!strcmp(argv[3], "7"));
		CHECK(!strcmp(argv[4], "two words"));
		CHECK(!strcmp(argv[5], "--help"));
		CHECK(!argv[6]);
	}
	bspt_done();
	bsp_end();
	return 0;
}
