/* SPDX-License-Identifier: GPL-2.0-only */
/* bsp_init(), bsp_begin() and bsp_end() at the wrong place name themselves. */
#include "bsptest.h"

static void spmd(void)
{
	bsp_begin(bsp_nprocs());
	bsp_end();
}

TEST(begin_in_section, "n=1,2 abort=bsp_begin ours")
{
	bsp_begin(bsp_nprocs());
	NOT_REACHED();
}

TEST(init_in_section, "n=1,2 abort=bsp_init ours")
{
	bsp_init(spmd, 0, NULL);
	NOT_REACHED();
}
