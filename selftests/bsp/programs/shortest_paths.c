/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All shortest paths (Floyd), rows dealt out in turn. The pivot row goes out in two
 * phases: pieces by bsp_hpput(), then each piece from who has it, by bsp_get() into
 * memory that is registered anew in every round.
 */
#include "bsptest.h"

#define MOST	48
#define FAR	1000000

/*
 * A wheel: neighbours on the rim are 1 apart, vertex 0 is 5 from all of them. Steps
 * from @a to @b along the rim, or -1 where one of them is vertex 0.
 */
static int steps(int a, int b, int n)
{
	int d = a < b ? b - a : a - b;

	if (!a || !b)
		return a == b ? 0 : -1;
	return d < n - 1 - d ? d : n - 1 - d;
}

static int edge(int a, int b, int n)
{
	int d = steps(a, b, n);

	return d < 0 ? 5 : d < 2 ? d : FAR;
}

static int expected(int a, int b, int n)
{
	int d = steps(a, b, n);

	return d < 0 ? 5 : d < 10 ? d : 10;
}

/* Row @k of its owner to everybody's @pivot. */
static void spread(int k, int (*rows)[MOST], int *pivot, int n)
{
	int p = NPROCS, s = ME, piece = (n + p - 1) / p, i, first, len;

	bsp_push_reg(pivot, n * sizeof(int));
	bsp_sync();
	for (i = 0; s == k % p && i < p; i++) {
		first = i * piece;
		len = first + piece < n ? piece : n - first;
		if (len > 0)
			bsp_hpput(i, rows[k / p] + first, pivot, first * sizeof(int),
				  len * sizeof(int));
	}
	bsp_sync();
	for (i = 0; i < p; i++) {
		first = i * piece;
		len = first + piece < n ? piece : n - first;
		if (len > 0 && i != s)
			bsp_get(i, pivot, first * sizeof(int), pivot + first,
				len * sizeof(int));
	}
	bsp_pop_reg(pivot);
	bsp_sync();
}

TEST(shortest_paths, "n=1,2,3,4,7")
{
	int p = NPROCS, s = ME, n = MOST - 7, i, j, k;
	int rows[MOST][MOST], pivot[MOST];

	for (i = s; i < n; i += p)
		for (j = 0; j < n; j++)
			rows[i / p][j] = edge(i, j, n);
	for (k = 0; k < n; k++) {
		spread(k, rows, pivot, n);
		for (i = s; i < n; i += p)
			for (j = 0; j < n; j++)
				if (rows[i / p][k] + pivot[j] < rows[i / p][j])
					rows[i / p][j] = rows[i / p][k] + pivot[j];
	}
	for (i = s; i < n; i += p)
		for (j = 0; j < n; j++)
			EQUAL(rows[i / p][j], expected(i, j, n));
}
