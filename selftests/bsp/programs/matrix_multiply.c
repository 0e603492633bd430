/* SPDX-License-Identifier: GPL-2.0-only */
/* C = A B: rows of B go around; and Cannon's algorithm on a square of processes. */
#include "bsptest.h"

#define N	48

static int entry_a(int i, int k)
{
	return (3 * i + 5 * k) % 11 - 5;
}

static int entry_b(int k, int j)
{
	return (7 * k + 2 * j) % 13 - 6;
}

static int entry_c(int i, int j)
{
	int k, sum = 0;

	for (k = 0; k < N; k++)
		sum += entry_a(i, k) * entry_b(k, j);
	return sum;
}

TEST(rows_go_around, "n=1,2,3,4")
{
	static int c[N][N], b[N][N];
	int p = NPROCS, each = N / p, step, i, k, j, owner = ME;

	bsp_push_reg(b, sizeof(b));
	bsp_sync();
	memset(c, 0, sizeof(c));
	for (k = 0; k < each; k++)
		for (j = 0; j < N; j++)
			b[k][j] = entry_b(owner * each + k, j);
	for (step = 0; step < p; step++) {
		for (i = 0; i < each; i++)
			for (k = 0; k < each; k++)
				for (j = 0; j < N; j++)
					c[i][j] += entry_a(ME * each + i, owner * each + k) *
						   b[k][j];
		bsp_get((ME + 1) % p, b, 0, b, each * sizeof(b[0]));
		bsp_sync();
		owner = (owner + 1) % p;
	}
	for (i = 0; i < each; i++)
		for (j = 0; j < N; j++)
			EQUAL(c[i][j], entry_c(ME * each + i, j));
}

/* Multiply the blocks of processes (row, col) of a q x q grid. */
static void cannon(int q)
{
	static int a[N * N], b[N * N], c[N * N];
	int row = ME / q, col = ME % q, m = N / q, step, i, k, j;
	int left = row * q + (col + q - 1) % q, up = (row + q - 1) % q * q + col;

	bsp_push_reg(a, sizeof(a));
	bsp_push_reg(b, sizeof(b));
	bsp_sync();
	memset(c, 0, sizeof(c));
	for (i = 0; i < m; i++)
		for (k = 0; k < m; k++) {
			int skew = (row + col) % q * m;

			a[i * m + k] = entry_a(row * m + i, skew + k);
			b[i * m + k] = entry_b(skew + i, col * m + k);
		}
	for (step = 0; step < q; step++) {
		for (i = 0; i < m; i++)
			for (k = 0; k < m; k++)
				for (j = 0; j < m; j++)
					c[i * m + j] += a[i * m + k] * b[k * m + j];
		bsp_put(left, a, a, 0, m * m * sizeof(int));
		bsp_put(up, b, b, 0, m * m * sizeof(int));
		bsp_sync();
	}
	for (i = 0; i < m; i++)
		for (j = 0; j < m; j++)
			EQUAL(c[i * m + j], entry_c(row * m + i, col * m + j));
}

TEST(cannon_2x2, "n=4")
{
	cannon(2);
}

TEST(cannon_1x1, "n=1")
{
	cannon(1);
}
