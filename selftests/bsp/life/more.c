/* SPDX-License-Identifier: GPL-2.0-only */
/* bsp_begin() asks for at most so many: more than available gives what is there. */
#include "bsptest.h"

PROGRAM("n=1,2,3");

int main(void)
{
	bsp_begin(1000);
	bsp_sync();
	bspt_done();
	bsp_end();
	return 0;
}
