/* SPDX-License-Identifier: GPL-2.0-only */
/* bsp_get(): the remote memory is read at the end of the step, then written here. */
#include "bsptest.h"

static int area[64];

static void open_area(void)
{
	int i;

	for (i = 0; i < 64; i++)
		area[i] = 100 * ME + i;
	bsp_push_reg(area, sizeof(area));
	bsp_sync();
}

TEST(from_next, "n=1,2,3,4")
{
	int next = (ME + 1) % NPROCS, x = -1;

	open_area();
	bsp_get(next, area, 5 * sizeof(int), &x, sizeof(x));
	bsp_sync();
	EQUAL(x, 100 * next + 5);
}

/* The value is that at the end of the step. */
TEST(remote_changes_in_the_step, "n=1,2,3")
{
	int next = (ME + 1) % NPROCS, x = -1;

	open_area();
	bsp_get(next, area, 0, &x, sizeof(x));
	bspt_spin(0.02);
	area[0] = 5000 + ME;
	bsp_sync();
	EQUAL(x, 5000 + next);
}

TEST(destination_is_not_yet_written, "n=1,2,3")
{
	int next = (ME + 1) % NPROCS, x = -1;

	open_area();
	bsp_get(next, area, 0, &x, sizeof(x));
	bspt_spin(0.05);
	EQUAL(x, -1);
	bsp_sync();
	EQUAL(x, 100 * next);
}

TEST(get_comes_after_own_stores, "n=1,2,3")
{
	int next = (ME + 1) % NPROCS, x[2] = { -1, -1 };

	open_area();
	bsp_get(next, area, 0, &x[0], sizeof(x[0]));
	x[0] = 3;
	x[1] = 4;
	bsp_sync();
	EQUAL(x[0], 100 * next);
	EQUAL(x[1], 4);
}

/* The destination need not be registered, the memory may be of any kind. */
TEST(to_any_memory, "n=1,2,3")
{
	static int fixed;
	int local = -1, *heap = (int *)malloc(sizeof(int)), next = (ME + 1) % NPROCS;

	open_area();
	bsp_get(next, area, 4, &fixed, sizeof(int));
	bsp_get(next, area, 8, &local, sizeof(int));
	bsp_get(next, area, 12, heap, sizeof(int));
	bsp_sync();
	EQUAL(fixed, 100 * next + 1);
	EQUAL(local, 100 * next + 2);
	EQUAL(*heap, 100 * next + 3);
	free(heap);
}

TEST(from_itself, "n=1,2,3")
{
	int x = -1;

	open_area();
	bsp_get(ME, area, 8, &x, sizeof(x));
	EQUAL(x, -1);
	area[2] = 77;
	bsp_sync();
	EQUAL(x, 77);
}

TEST(from_itself_overlapping, "n=1,2")
{
	int i;

	open_area();
	bsp_get(ME, area, 0, area + 1, 63 * sizeof(int));
	bsp_sync();
	EQUAL(area[0], 100 * ME);
	for (i = 1; i < 64; i++)
		EQUAL(area[i], 100 * ME + i - 1);
}

/* Where all get from one. */
TEST(broadcast, "n=1,2,4,8")
{
	int x = -1, root = NPROCS - 1;

	open_area();
	bsp_get(root, area, 36, &x, sizeof(x));
	bsp_sync();
	EQUAL(x, 100 * root + 9);
}

TEST(total_exchange, "n=1,2,3,4,8")
{
	int i, x[8];

	open_area();
	for (i = 0; i < NPROCS; i++)
		bsp_get(i, area, ME * sizeof(int), &x[i], sizeof(int));
	bsp_sync();
	for (i = 0; i < NPROCS; i++)
		EQUAL(x[i], 100 * i + ME);
}

/* Each gets the other's value into the same variable: both old values are read. */
TEST(swap, "n=2,4")
{
	int x = 100 + ME, partner = ME ^ 1;

	bsp_push_reg(&x, sizeof(x));
	bsp_sync();
	bsp_get(partner, &x, 0, &x, sizeof(x));
	bsp_sync();
	EQUAL(x, 100 + partner);
}

/* All gets are read before any is written, around a ring too. */
TEST(rotate, "n=1,2,3,4,8")
{
	int x = 100 + ME, i, n = NPROCS;

	bsp_push_reg(&x, sizeof(x));
	bsp_sync();
	for (i = 1; i <= 3 * n; i++) {
		bsp_get((ME + 1) % n, &x, 0, &x, sizeof(x));
		bsp_sync();
		EQUAL(x, 100 + (ME + i) % n);
	}
}

TEST(same_source_many_times, "n=1,2,3")
{
	int i, x[64], next = (ME + 1) % NPROCS;

	open_area();
	for (i = 0; i < 64; i++)
		bsp_get(next, area, 12, &x[i], sizeof(int));
	bsp_sync();
	for (i = 0; i < 64; i++)
		EQUAL(x[i], 100 * next + 3);
}

TEST(source_stays_as_it_is, "n=1,2,3")
{
	int i, x[64];

	open_area();
	bsp_get((ME + 1) % NPROCS, area, 0, x, sizeof(x));
	bsp_sync();
	for (i = 0; i < 64; i++)
		EQUAL(area[i], 100 * ME + i);
}
