/* SPDX-License-Identifier: GPL-2.0-only */
/* bsp_nprocs() does not need bsp_init(). */
#include "bsptest.h"

PROGRAM("n=1,2,4");

int main(void)
{
	int available = NPROCS;

	bsp_begin(available);
	EQUAL(NPROCS, available);
	bspt_done();
	bsp_end();
	return 0;
}
