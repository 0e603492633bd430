/* SPDX-License-Identifier: GPL-2.0-only */
/* Fewer processes than available: the others take no part, and all ends well. */
#include "bsptest.h"

PROGRAM("n=3,4 done=2");

int main(void)
{
	int x, right = -1;

	bsp_begin(2);
	EQUAL(NPROCS, 2);
	x = ME;
	bsp_push_reg(&right, sizeof(right));
	bsp_sync();
	bsp_put((ME + 1) % 2, &x, &right, 0, sizeof(x));
	bsp_sync();
	EQUAL(right, 1 - ME);
	bspt_done();
	bsp_end();
	return 0;
}
