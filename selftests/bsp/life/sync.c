/* SPDX-License-Identifier: GPL-2.0-only */
/* bsp_sync() ends a superstep for everyone. */
#include "bsptest.h"

TEST(sync_many_times, "n=1,2,4")
{
	int i;

	for (i = 0; i < 3000; i++)
		bsp_sync();
}

TEST(sync_counts_alike, "n=1,2,3,4")
{
	int step, from, me = ME, n = NPROCS, box = -1;

	bsp_push_reg(&box, sizeof(box));
	bsp_sync();
	for (step = 0; step < 300; step++) {
		int value = 1000 * step + me;

		bsp_put((me + step) % n, &value, &box, 0, sizeof(value));
		bsp_sync();
		from = (me - step % n + n) % n;
		EQUAL(box, 1000 * step + from);
	}
}

TEST(sync_waits_for_the_late, "n=2,3,4")
{
	int turn, me = ME, n = NPROCS, seen[4] = { -1, -1, -1, -1 };

	bsp_push_reg(seen, sizeof(seen));
	bsp_sync();
	for (turn = 0; turn < 2 * n; turn++) {
		int i, value = 100 * turn + me;

		if (turn % n == me)
			bspt_spin(0.02);
		for (i = 0; i < n; i++)
			bsp_put(i, &value, seen, me * sizeof(int), sizeof(int));
		bsp_sync();
		for (i = 0; i < n; i++)
			EQUAL(seen[i], 100 * turn + i);
	}
}

TEST(sync_without_anything, "n=1,2,4")
{
	bsp_sync();
}

TEST(section_without_sync, "n=1,2,4")
{
	CHECK(ME < NPROCS);
}
