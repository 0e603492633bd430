/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far each element of a linked list is from the end: by pointer jumping, with
 * gets from wherever the pointers lead.
 */
#include "bsptest.h"

#define EACH	200

/* Element i of the list's order is number (i * 771 + 5) mod n, which is a bijection. */
TEST(list_ranking, "n=1,2,4,8")
{
	int p = NPROCS, n = EACH * p, i, jump, *place = (int *)malloc(n * sizeof(int));
	static int next[EACH], rank[EACH], next_of_next[EACH], rank_of_next[EACH];

	for (i = 0; i < n; i++)
		place[(int)((i * 771L + 5) % n)] = i;
	for (i = 0; i < EACH; i++) {
		int at = place[ME * EACH + i];

		next[i] = at == n - 1 ? -1 : (int)(((at + 1) * 771L + 5) % n);
		rank[i] = at == n - 1 ? 0 : 1;
	}
	bsp_push_reg(next, sizeof(next));
	bsp_push_reg(rank, sizeof(rank));
	bsp_sync();
	for (jump = 1; jump < n; jump *= 2) {
		for (i = 0; i < EACH; i++) {
			if (next[i] < 0)
				continue;
			bsp_get(next[i] / EACH, next, next[i] % EACH * sizeof(int),
				&next_of_next[i], sizeof(int));
			bsp_get(next[i] / EACH, rank, next[i] % EACH * sizeof(int),
				&rank_of_next[i], sizeof(int));
		}
		bsp_sync();
		for (i = 0; i < EACH; i++) {
			if (next[i] < 0)
				continue;
			rank[i] += rank_of_next[i];
			next[i] = next_of_next[i];
		}
		/* nobody reads what is changed here: the gets of the step are over */
	}
	for (i = 0; i < EACH; i++) {
		EQUAL(next[i], -1);
		EQUAL(rank[i], n - 1 - place[ME * EACH + i]);
	}
	free(place);
}
