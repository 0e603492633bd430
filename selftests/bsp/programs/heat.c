/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The heat equation on a rod, with ghost cells: the same bits as one process
 * computes.
 */
#include "bsptest.h"

#define EACH	40
#define STEPS	200

static void relax(double *to, const double *from, int n)
{
	int i;

	for (i = 1; i <= n; i++)
		to[i] = from[i] + 0.25 * (from[i - 1] - 2 * from[i] + from[i + 1]);
}

static double start(int i)
{
	return i % 13 * 1.7 + (i % 5 == 2 ? 30 : 0);
}

TEST(heat, "n=1,2,3,4,8")
{
	static double mine[EACH + 2], new_mine[EACH + 2];
	int p = NPROCS, n = EACH * p, i, step;
	double *all = (double *)calloc(n + 2, sizeof(double));
	double *new_all = (double *)calloc(n + 2, sizeof(double));

	for (i = 1; i <= n; i++)
		all[i] = start(i);
	for (i = 1; i <= EACH; i++)
		mine[i] = start(ME * EACH + i);
	mine[0] = 0;
	mine[EACH + 1] = 0;
	bsp_push_reg(mine, sizeof(mine));
	bsp_sync();
	for (step = 0; step < STEPS; step++) {
		if (ME > 0)
			bsp_put(ME - 1, &mine[1], mine, (EACH + 1) * sizeof(double),
				sizeof(double));
		if (ME < p - 1)
			bsp_put(ME + 1, &mine[EACH], mine, 0, sizeof(double));
		bsp_sync();
		relax(new_mine, mine, EACH);
		memcpy(mine + 1, new_mine + 1, EACH * sizeof(double));
		relax(new_all, all, n);
		memcpy(all + 1, new_all + 1, n * sizeof(double));
	}
	CHECK(!memcmp(mine + 1, all + 1 + ME * EACH, EACH * sizeof(double)));
	free(all);
	free(new_all);
}
