/* SPDX-License-Identifier: GPL-2.0-only */
/* One in bsp_sync() while another is in bsp_end(): an error that names both. */
#include "bsptest.h"

TEST(others_end, "n=2,3,4 abort=bsp_sync+bsp_end")
{
	if (ME == 0) {
		bsp_sync();
		NOT_REACHED();
	}
}

TEST(others_sync, "n=2,3,4 abort=bsp_sync+bsp_end")
{
	if (ME != NPROCS - 1) {
		bsp_sync();
		NOT_REACHED();
	}
}

TEST(others_end_after_work, "n=2,3 abort=bsp_sync+bsp_end")
{
	int i, x = 1, box = 0;

	bsp_push_reg(&box, sizeof(box));
	for (i = 0; i < 10; i++)
		bsp_sync();
	bsp_put((ME + 1) % NPROCS, &x, &box, 0, sizeof(x));
	if (ME == 1) {
		bsp_sync();
		NOT_REACHED();
	}
}

TEST(late_sync, "n=2,3 abort=bsp_sync+bsp_end")
{
	if (ME == 0) {
		bspt_spin(0.3);
		bsp_sync();
		NOT_REACHED();
	}
}

TEST(late_end, "n=2,3 abort=bsp_sync+bsp_end")
{
	if (ME != 0) {
		bsp_sync();
		NOT_REACHED();
	}
	bspt_spin(0.3);
}
