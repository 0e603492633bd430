/* SPDX-License-Identifier: GPL-2.0-only */
/* main() itself is the SPMD section; its processes are numbered from 0. */
#include "bsptest.h"

PROGRAM("n=1,2,3,4,8,16");

int main(void)
{
	bsp_begin(bsp_nprocs());
	CHECK(ME >= 0 && ME < NPROCS);
	bspt_done();
	bsp_end();
	return 0;
}
