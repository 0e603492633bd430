/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls can be expressions, and have an address. */
#include "bsptest.h"

TEST(pointers_to_functions, "n=1,2,3")
{
	bsp_pid_t (*pid)(void) = bsp_pid;
	void (*sync)(void) = bsp_sync;
	double (*seconds)(void) = bsp_time;
	void (*move)(void *, bsp_size_t) = bsp_move;
	bsp_size_t (*hpmove)(void **, void **) = bsp_hpmove;
	void (*give_up)(const char *, ...) = bsp_abort;
	void *tag, *payload;

	CHECK(pid() < bsp_nprocs());
	sync();
	CHECK(seconds() >= 0);
	CHECK(move && give_up);
	CHECK(hpmove(&tag, &payload) == NONE);
}

TEST(arguments_are_expressions, "n=1,2,3")
{
	int a[4], i = 0, k = 1;

	memset(a, 0, sizeof(a));
	a[0] = 7;
	bsp_push_reg(a, sizeof(a));
	bsp_sync();
	bsp_put(ME ? ME - 1 : NPROCS - 1, a + i++, a, sizeof(*a) * (k ? 1 : 2), sizeof(*a));
	EQUAL(i, 1);
	if (k)
		bsp_put(ME, a, a, 2 * sizeof(*a), sizeof(*a));
	else
		bsp_get(ME, a, 0, a + 3, sizeof(*a));
	bsp_sync();
	EQUAL(a[1], 7);
	EQUAL(a[2], 7);
	EQUAL(a[3], 0);
}
