/* SPDX-License-Identifier: GPL-2.0-only */
/* Broadcast of a vector: directly, and in two phases that share the work. */
#include "bsptest.h"

static void one_phase(char *x, long n, int root)
{
	int i;

	bsp_push_reg(x, n);
	bsp_sync();
	for (i = 0; i < NPROCS && ME == root; i++)
		if (i != root)
			bsp_put(i, x, x, 0, n);
	bsp_pop_reg(x);
	bsp_sync();
}

/* The root deals out pieces, and each process hands its piece to all. */
static void two_phases(char *x, long n, int root)
{
	int p = NPROCS, i;
	long piece = (n + p - 1) / p, begin = ME * piece, length;

	bsp_push_reg(x, n);
	bsp_sync();
	for (i = 0; i < p && ME == root; i++) {
		length = i * piece + piece < n ? piece : n - i * piece;
		if (length > 0)
			bsp_put(i, x + i * piece, x, i * piece, length);
	}
	bsp_sync();
	length = begin + piece < n ? piece : n - begin;
	for (i = 0; i < p && length > 0; i++)
		bsp_put(i, x + begin, x, begin, length);
	bsp_pop_reg(x);
	bsp_sync();
}

static void try_all(void (*broadcast)(char *, long, int))
{
	static const long sizes[] = { 1, 2, 3, 7, 8, 1000, 100003 };
	char *x = (char *)malloc(100003);
	int i, root;

	for (i = 0; i < 7; i++)
		for (root = 0; root < NPROCS; root++) {
			memset(x, 0, sizes[i]);
			if (ME == root)
				bspt_fill(x, sizes[i], i + 10 * root);
			broadcast(x, sizes[i], root);
			CHECK(bspt_has(x, 0, sizes[i], i + 10 * root));
		}
	free(x);
}

TEST(direct, "n=1,2,3,4")
{
	try_all(one_phase);
}

TEST(in_two_phases, "n=1,2,3,4,8")
{
	try_all(two_phases);
}
