/* SPDX-License-Identifier: GPL-2.0-only */
/* What is still in a buffer at bsp_end() is printed, by every process. */
#include "bsptest.h"

PROGRAM("n=1,2,4 says=last-word:%n");

int main(void)
{
	bsp_begin(bsp_nprocs());
	bspt_done();
	printf("last-word\n");
	bsp_end();
	return 0;
}
