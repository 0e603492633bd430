/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sparse matrix times a vector, elements of the matrix anywhere: parts of the
 * vector are fetched by bsp_get() from where they live, partial sums go to the owner
 * of the row as messages with the row as tag, and norms by bsp_put() to all.
 */
#include "bsptest.h"

#define N	200
#define ROUNDS	4

/* Element k of the matrix: three in each row, and never two in one place. */
static int row_of(int k)
{
	return k / 3;
}

static int column_of(int k)
{
	return (row_of(k) * 7 + k % 3 * 61) % N;
}

/* All numbers stay whole and below 2^53. */
static double element(int k)
{
	return 1 + k % 5;
}

static void serial(double *x)
{
	double y[N];
	int k;

	memset(y, 0, sizeof(y));
	for (k = 0; k < 3 * N; k++)
		y[row_of(k)] += element(k) * x[column_of(k)];
	memcpy(x, y, sizeof(y));
}

/* Vectors are dealt out in turn: component i is at process i mod p. */
static void multiply(double *mine, int p, int s)
{
	static double v[3 * N], sum[N];
	static int used[N];
	bsp_size_t status;
	double part;
	int k, i;

	memset(used, 0, sizeof(used));
	memset(sum, 0, sizeof(sum));
	/* process k mod p has element k */
	for (k = s; k < 3 * N; k += p)
		bsp_get(column_of(k) % p, mine, column_of(k) / p * sizeof(double), &v[k],
			sizeof(double));
	bsp_sync();
	for (k = s; k < 3 * N; k += p) {
		used[row_of(k)] = 1;
		sum[row_of(k)] += element(k) * v[k];
	}
	for (i = 0; i < N; i++)
		if (used[i])
			bsp_send(i % p, &i, &sum[i], sizeof(double));
	bsp_sync();
	for (i = 0; i * p + s < N; i++)
		mine[i] = 0;
	for (;;) {
		bsp_get_tag(&status, &i);
		if (status == NONE)
			break;
		EQUAL(i % p, s);
		bsp_move(&part, sizeof(part));
		mine[i / p] += part;
	}
	/* the next gets are of the new vector, and of the next step */
	bsp_sync();
}

TEST(sparse_matrix, "n=1,2,3,4,8")
{
	int p = NPROCS, s = ME, i, k;
	double x[N], mine[N], total = 0, want = 0, *totals;
	bsp_size_t tag_size = sizeof(int);

	totals = (double *)malloc(p * sizeof(double));
	bsp_set_tagsize(&tag_size);
	/* who has less gives less */
	bsp_push_reg(mine, (N - s + p - 1) / p * sizeof(double));
	bsp_push_reg(totals, p * sizeof(double));
	bsp_sync();
	for (i = 0; i < N; i++)
		x[i] = i % 11;
	for (i = 0; i * p + s < N; i++)
		mine[i] = x[i * p + s];
	for (k = 0; k < ROUNDS; k++) {
		multiply(mine, p, s);
		serial(x);
	}
	for (i = 0; i * p + s < N; i++) {
		CHECK(mine[i] == x[i * p + s]);
		total += mine[i];
	}
	for (i = 0; i < p; i++)
		bsp_put(i, &total, totals, s * sizeof(double), sizeof(double));
	bsp_sync();
	for (i = 0, total = 0; i < p; i++)
		total += totals[i];
	for (i = 0; i < N; i++)
		want += x[i];
	CHECK(total == want);
	free(totals);
}
