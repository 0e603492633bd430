/* SPDX-License-Identifier: GPL-2.0-only */
/* Odd-even transposition sort: neighbours merge and split, p times. */
#include "bsptest.h"

#define EACH	300

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

TEST(odd_even_sort, "n=1,2,3,4,8")
{
	static int keys[EACH], theirs[2 * EACH];
	int p = NPROCS, s = ME, i, round;

	for (i = 0; i < EACH; i++)
		keys[i] = (int)((long)(s * EACH + i) * 7919 % (EACH * p));
	qsort(keys, EACH, sizeof(int), compare);
	bsp_push_reg(keys, sizeof(keys));
	bsp_sync();
	for (round = 0; round < p; round++) {
		int low = s % 2 == round % 2, other = low ? s + 1 : s - 1;

		if (other >= 0 && other < p)
			bsp_get(other, keys, 0, theirs, sizeof(keys));
		bsp_sync();
		if (other < 0 || other >= p)
			continue;
		memcpy(theirs + EACH, keys, sizeof(keys));
		qsort(theirs, 2 * EACH, sizeof(int), compare);
		memcpy(keys, low ? theirs : theirs + EACH, sizeof(keys));
	}
	for (i = 0; i < EACH; i++)
		EQUAL(keys[i], s * EACH + i);
}
