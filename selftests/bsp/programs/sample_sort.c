/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sorting by regular sampling. The keys are 0 to N-1 in some order, so that each
 * one's place is known.
 */
#include "bsptest.h"

#define EACH	2000

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

TEST(sample_sort, "n=1,2,3,4,8")
{
	int p = NPROCS, s = ME, n = EACH * p, i, k, begin, total = 0, first = 0;
	int keys[EACH], *samples = (int *)malloc(p * p * sizeof(int));
	int *counts = (int *)malloc(p * sizeof(int)), *mine;
	bsp_nprocs_t packets;
	bsp_size_t bytes, status;

	bsp_push_reg(samples, p * p * sizeof(int));
	bsp_push_reg(counts, p * sizeof(int));
	bsp_sync();
	/* 7919 is prime and does not divide n */
	for (i = 0; i < EACH; i++)
		keys[i] = (int)((long)(s * EACH + i) * 7919 % n);
	qsort(keys, EACH, sizeof(int), compare);
	for (i = 0; i < p; i++)
		for (k = 0; k < p; k++)
			bsp_put(k, &keys[i * EACH / p], samples, (s * p + i) * sizeof(int),
				sizeof(int));
	bsp_sync();
	qsort(samples, p * p, sizeof(int), compare);
	/* what is below the k-th splitter goes to process k */
	for (k = 0, begin = 0; k < p; k++) {
		for (i = begin; i < EACH && (k == p - 1 || keys[i] < samples[(k + 1) * p]); i++)
			;
		bsp_send(k, NULL, keys + begin, (i - begin) * sizeof(int));
		begin = i;
	}
	bsp_sync();
	bsp_qsize(&packets, &bytes);
	EQUAL(packets, p);
	total = (int)(bytes / sizeof(int));
	mine = (int *)malloc(bytes + 1);
	for (i = 0; i < p; i++) {
		bsp_get_tag(&status, NULL);
		bsp_move(mine, status);
		mine += status / sizeof(int);
	}
	mine -= total;
	qsort(mine, total, sizeof(int), compare);
	for (k = 0; k < p; k++)
		bsp_put(k, &total, counts, s * sizeof(int), sizeof(int));
	bsp_sync();
	for (i = 0; i < s; i++)
		first += counts[i];
	for (i = 0; i < total; i++)
		EQUAL(mine[i], first + i);
	for (i = s; i < p; i++)
		first += counts[i];
	EQUAL(first, n);
	free(mine);
	free(samples);
	free(counts);
}
