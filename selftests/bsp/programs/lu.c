/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * LU decomposition with partial pivoting, columns dealt out cyclically; solved with a
 * right side whose solution is known.
 */
#include <math.h>
#include "bsptest.h"

#define N	60
#define SMALL	0.00000001

static double a[N][N];		/* my columns: a[k] is column k * p + s */
static double column[N];	/* of this step: multipliers */
static int pivot;

static double entry(int row, int col)
{
	return ((row * 37 + col * 61) % 101) / 10.0 + (row == col ? 2 : 0);
}

/* Process @owner tells all processes the pivot row and the column of step @k. */
static void tell_column(int k, int owner)
{
	int i;

	if (ME == owner) {
		double *c = a[k / NPROCS];

		pivot = k;
		for (i = k + 1; i < N; i++)
			if (fabs(c[i]) > fabs(c[pivot]))
				pivot = i;
		memcpy(column, c, sizeof(column));
		column[pivot] = c[k];
		column[k] = c[pivot];
		for (i = k + 1; i < N; i++)
			column[i] /= column[k];
		for (i = 0; i < NPROCS; i++) {
			bsp_put(i, &pivot, &pivot, 0, sizeof(pivot));
			bsp_put(i, column, column, 0, sizeof(column));
		}
	}
	bsp_sync();
}

TEST(lu_with_pivoting, "n=1,2,3,4")
{
	static double x[N], b[N];
	int p = NPROCS, mine = (N + p - 1 - ME) / p, i, k, c;

	for (c = 0; c < mine; c++)
		for (i = 0; i < N; i++)
			a[c][i] = entry(i, c * p + ME);
	for (i = 0; i < N; i++)
		for (k = 0, b[i] = 0; k < N; k++)
			b[i] += entry(i, k) * (k + 1);
	bsp_push_reg(column, sizeof(column));
	bsp_push_reg(&pivot, sizeof(pivot));
	bsp_push_reg(x, sizeof(x));
	bsp_sync();
	for (k = 0; k < N; k++) {
		double swap;

		tell_column(k, k % p);
		for (c = 0; c < mine; c++) {
			swap = a[c][k];
			a[c][k] = a[c][pivot];
			a[c][pivot] = swap;
		}
		swap = b[k];
		b[k] = b[pivot];
		b[pivot] = swap;
		for (i = k + 1; i < N; i++)
			b[i] -= column[i] * b[k];
		for (c = 0; c < mine; c++) {
			if (c * p + ME <= k)
				continue;
			for (i = k + 1; i < N; i++)
				a[c][i] -= column[i] * a[c][k];
		}
	}
	/* back substitution: the owner of a column finds its unknown */
	for (k = N - 1; k >= 0; k--) {
		if (k % p == ME) {
			x[k] = b[k] / a[k / p][k];
			memcpy(column, a[k / p], sizeof(column));
			for (i = 0; i < p; i++) {
				bsp_put(i, &x[k], x, k * sizeof(double), sizeof(double));
				bsp_put(i, column, column, 0, sizeof(column));
			}
		}
		bsp_sync();
		for (i = 0; i < k; i++)
			b[i] -= column[i] * x[k];
	}
	for (k = 0; k < N; k++)
		CHECK(fabs(x[k] - (k + 1)) < SMALL);
}
