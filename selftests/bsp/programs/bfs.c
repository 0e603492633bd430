/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Breadth-first search by messages, on a hypercube whose corners are dealt out
 * cyclically: the distance of a corner is the number of its bits.
 */
#include "bsptest.h"

#define BITS	10

static int bits(int x)
{
	return x ? (x & 1) + bits(x >> 1) : 0;
}

/* Whether anybody has something to do. */
static int anybody(int me_too)
{
	static int flags[8];
	int i, sum = 0;

	bsp_push_reg(flags, sizeof(flags));
	bsp_sync();
	for (i = 0; i < NPROCS; i++)
		bsp_put(i, &me_too, flags, ME * sizeof(int), sizeof(int));
	bsp_pop_reg(flags);
	bsp_sync();
	for (i = 0; i < NPROCS; i++)
		sum += flags[i];
	return sum;
}

TEST(breadth_first_search, "n=1,2,3,4,8")
{
	static int distance[1 << BITS], now[1 << BITS];
	int p = NPROCS, v, i, level, count = 0, levels = 0;
	bsp_size_t size = sizeof(int), status;

	bsp_set_tagsize(&size);
	bsp_sync();
	for (v = 0; v < 1 << BITS; v++)
		distance[v] = -1;
	if (ME == 0) {
		distance[0] = 0;
		now[count++] = 0;
	}
	for (level = 1; anybody(count); level++) {
		while (count > 0) {
			v = now[--count];
			for (i = 0; i < BITS; i++) {
				int w = v ^ 1 << i;

				bsp_send(w % p, &w, NULL, 0);
			}
		}
		bsp_sync();
		for (;;) {
			bsp_get_tag(&status, &v);
			if (status == NONE)
				break;
			bsp_move(NULL, 0);
			EQUAL(v % p, ME);
			if (distance[v] < 0) {
				distance[v] = level;
				now[count++] = v;
			}
		}
		levels = level;
	}
	EQUAL(levels, BITS + 1);
	for (v = ME; v < 1 << BITS; v += p)
		EQUAL(distance[v], bits(v));
}
