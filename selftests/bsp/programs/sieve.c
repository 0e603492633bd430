/* SPDX-License-Identifier: GPL-2.0-only */
/* How many primes there are below 200,000: 17,984. */
#include "bsptest.h"

#define N	200000
#define ROOT	448

TEST(sieve, "n=1,2,3,4")
{
	static char small[ROOT];
	int each = (N + NPROCS - 1) / NPROCS, begin = ME * each, i, k, found = 0, sum = 0;
	int end = begin + each < N ? begin + each : N, total[8];
	char *composite = (char *)calloc(each, 1);

	/* process 0 finds the primes that matter, the others read them */
	memset(small, 0, sizeof(small));
	bsp_push_reg(small, sizeof(small));
	bsp_push_reg(total, sizeof(total));
	bsp_sync();
	for (i = 2; i < ROOT && ME == 0; i++)
		for (k = 2 * i; k < ROOT; k += i)
			small[k] = 1;
	bsp_get(0, small, 0, small, sizeof(small));
	bsp_sync();
	for (i = 2; i < ROOT; i++) {
		if (small[i])
			continue;
		k = (begin + i - 1) / i * i;
		for (k = k < 2 * i ? 2 * i : k; k < end; k += i)
			composite[k - begin] = 1;
	}
	for (i = begin < 2 ? 2 : begin; i < end; i++)
		found += !composite[i - begin];
	for (i = 0; i < NPROCS; i++)
		bsp_put(i, &found, total, ME * sizeof(int), sizeof(int));
	bsp_sync();
	for (i = 0; i < NPROCS; i++)
		sum += total[i];
	EQUAL(sum, 17984);
	free(composite);
}
