/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A probe of the machine as textbooks have it: h-relations of single numbers, from
 * none to many, to all other processes in turn, timed; each number must arrive, and
 * times are of a clock that goes on.
 */
#include "bsptest.h"

#define MOST 96
#define TIMES 5

/* Relation @h of process @from: number @i goes to a process, to a place there. */
static int to_whom(int from, int i, int n)
{
	return n == 1 ? 0 : (from + 1 + i % (n - 1)) % n;
}

static int to_where(int from, int i, int n)
{
	return n == 1 ? i : from + i / (n - 1) * n;
}

TEST(h_relations, "n=1,2,3,4,8 limit=120")
{
	int me = ME, n = NPROCS, h, i, t, from;
	double *dest = (double *)malloc((2 * MOST + n) * sizeof(*dest));
	double *times = (double *)malloc(n * sizeof(*times));
	double before, took, x[MOST];

	bsp_push_reg(dest, (2 * MOST + n) * sizeof(*dest));
	bsp_push_reg(times, n * sizeof(*times));
	bsp_sync();
	for (h = 0; h <= MOST; h += h < 4 ? 1 : h / 2) {
		for (i = 0; i < h; i++)
			x[i] = me * 1000 + h * 10 + i;
		for (i = 0; i < 2 * MOST + n; i++)
			dest[i] = -1;
		bsp_sync();
		before = bsp_time();
		for (t = 0; t < TIMES; t++) {
			for (i = 0; i < h; i++)
				bsp_put(to_whom(me, i, n), &x[i], dest,
					to_where(me, i, n) * sizeof(*dest),
					sizeof(*dest));
			bsp_sync();
		}
		took = bsp_time() - before;
		bsp_put(0, &took, times, me * sizeof(took), sizeof(took));
		bsp_sync();
		for (from = 0; from < n; from++)
			for (i = 0; i < h; i++)
				if (to_whom(from, i, n) == me)
					CHECK(dest[to_where(from, i, n)] ==
					      from * 1000 + h * 10 + i);
		for (t = 0; me == 0 && t < n; t++)
			CHECK(times[t] > 0);
	}
	bsp_pop_reg(times);
	bsp_pop_reg(dest);
	bsp_sync();
	free(dest);
	free(times);
}
