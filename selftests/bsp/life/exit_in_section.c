/* SPDX-License-Identifier: GPL-2.0-only */
/* A process that leaves without bsp_end() while the others wait: no hang. */
#include "bsptest.h"

TEST(exit_while_others_sync, "n=2,3 fails ours")
{
	if (ME == 1)
		exit(0);
	bsp_sync();
	NOT_REACHED();
}

TEST(exit_while_others_end, "n=2,3 fails ours")
{
	if (ME == 1)
		exit(0);
}

TEST(exit_of_process_0, "n=1,2,3 fails ours")
{
	if (ME == 0)
		exit(0);
	bsp_sync();
	NOT_REACHED();
}

TEST(killed_while_others_sync, "n=2,3 fails ours")
{
	if (ME == 1)
		abort();
	bsp_sync();
	NOT_REACHED();
}

TEST(killed_process_0, "n=1,2,3 fails ours")
{
	if (ME == 0)
		abort();
	bsp_sync();
	NOT_REACHED();
}
