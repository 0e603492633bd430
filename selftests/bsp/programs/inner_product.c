/* SPDX-License-Identifier: GPL-2.0-only */
/* The sum of the squares below N, vectors dealt out cyclically. */
#include "bsptest.h"

#define N	1000L

static double dot(long mine, const double *x, const double *y)
{
	double part = 0, sum = 0, *all = (double *)malloc(NPROCS * sizeof(double));
	int i;

	bsp_push_reg(all, NPROCS * sizeof(double));
	bsp_sync();
	while (mine-- > 0)
		part += x[mine] * y[mine];
	for (i = 0; i < NPROCS; i++)
		bsp_put(i, &part, all, ME * sizeof(double), sizeof(double));
	bsp_pop_reg(all);
	bsp_sync();
	for (i = 0; i < NPROCS; i++)
		sum += all[i];
	free(all);
	return sum;
}

TEST(inner_product, "n=1,2,3,4,8")
{
	long mine = (N + NPROCS - 1 - ME) / NPROCS, i;
	double *x = (double *)malloc((mine + 1) * sizeof(double));

	for (i = 0; i < mine; i++)
		x[i] = i * NPROCS + ME;
	CHECK(dot(mine, x, x) == (N - 1) * N * (2 * N - 1) / 6);
	CHECK(dot(0, x, x) == 0);
	free(x);
}
