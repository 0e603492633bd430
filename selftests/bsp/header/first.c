/* SPDX-License-Identifier: GPL-2.0-only */
/* bsp.h needs nothing before it. */
#include <bsp.h>

bsp_size_t bspt_first(void);

bsp_size_t bspt_first(void)
{
	return 4;
}

#include "bsptest.h"

TEST(included_first, "n=1")
{
	EQUAL(bspt_first(), 4);
}
