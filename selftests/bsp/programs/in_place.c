/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A matrix is transposed in its own memory in one superstep: puts go where gets of
 * the same step read, so every get must see the old matrix and every put the old
 * source. Areas are rows in memory of their own, registered in an order that differs
 * from that of their addresses, and popped in a third one.
 */
#include "bsptest.h"

#define EACH	6	/* rows of a process */

static long value(int i, int j)
{
	return 1000L * i + j;
}

/* The order in which row @k of @n is popped. */
static int popped(int k, int n)
{
	return (k * 5 + 3) % n;		/* n is 6 */
}

TEST(in_place, "n=1,2,3,4,8")
{
	int p = NPROCS, s = ME, n = EACH * p, i, j, k;
	long *row[EACH], *old = (long *)malloc(EACH * n * sizeof(long));

	for (i = EACH - 1; i >= 0; i--)
		row[i] = (long *)malloc(n * sizeof(long));
	for (i = 0; i < EACH; i++) {
		bsp_push_reg(row[i], n * sizeof(long));
		for (j = 0; j < n; j++)
			row[i][j] = value(s * EACH + i, j);
	}
	bsp_sync();
	for (i = 0; i < EACH; i++)
		for (j = 0; j < n; j++) {
			int q = j / EACH, at = s * EACH + i;

			bsp_put(q, &row[i][j], row[j % EACH], at * sizeof(long), sizeof(long));
			bsp_get(q, row[j % EACH], at * sizeof(long), &old[i * n + j],
				sizeof(long));
			/* and (i, j) itself is written by q in this step */
		}
	/* of no effect on this step's puts and gets */
	for (k = 0; k < EACH; k++)
		bsp_pop_reg(row[popped(k, EACH)]);
	bsp_sync();
	for (i = 0; i < EACH; i++)
		for (j = 0; j < n; j++) {
			EQUAL(row[i][j], value(j, s * EACH + i));
			EQUAL(old[i * n + j], value(j, s * EACH + i));
		}
	for (i = 0; i < EACH; i++)
		free(row[i]);
	free(old);
}
