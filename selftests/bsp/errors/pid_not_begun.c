/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes that are available but not in the section do not exist in it. */
#include "bsptest.h"

PROGRAM("n=3,4 abort=bsp_put");

int main(void)
{
	int x = 1, area = 0;

	bsp_begin(2);
	bsp_push_reg(&area, sizeof(area));
	bsp_sync();
	if (ME == 0)
		bsp_put(2, &x, &area, 0, sizeof(x));
	ENDED_BY_SYNC();
	bsp_end();
	return 0;
}
