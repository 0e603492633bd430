/* SPDX-License-Identifier: GPL-2.0-only */
/* Much in one step: large blocks, many small ones, both. */
#include "bsptest.h"

#define LARGE	(4L << 20)

TEST(large_put, "n=1,2 limit=90")
{
	char *x = (char *)malloc(LARGE), *to = (char *)malloc(LARGE);
	int step, last = (ME + NPROCS - 1) % NPROCS;

	bsp_push_reg(to, LARGE);
	bsp_sync();
	for (step = 0; step < 2; step++) {
		bspt_fill(x, LARGE, 10 * step + ME);
		bsp_put((ME + 1) % NPROCS, x, to, 0, LARGE);
		memset(x, 0, LARGE);
		bsp_sync();
		CHECK(bspt_has(to, 0, LARGE, 10 * step + last));
	}
	free(x);
	free(to);
}

TEST(large_get, "n=1,2 limit=90")
{
	char *x = (char *)malloc(LARGE), *to = (char *)malloc(LARGE);
	int step, next = (ME + 1) % NPROCS;

	bsp_push_reg(x, LARGE);
	bsp_sync();
	for (step = 0; step < 2; step++) {
		bspt_fill(x, LARGE, 10 * step + ME);
		bsp_get(next, x, 0, to, LARGE);
		bsp_sync();
		CHECK(bspt_has(to, 0, LARGE, 10 * step + next));
	}
	free(x);
	free(to);
}

TEST(large_hp, "n=2 limit=90")
{
	char *x = (char *)malloc(LARGE), *to = (char *)malloc(LARGE);
	char *got = (char *)malloc(LARGE);
	int next = (ME + 1) % NPROCS, last = (ME + NPROCS - 1) % NPROCS;

	bspt_fill(x, LARGE, ME);
	bsp_push_reg(x, LARGE);
	bsp_push_reg(to, LARGE);
	bsp_sync();
	bsp_hpput(next, x, to, 0, LARGE);
	bsp_hpget(next, x, 0, got, LARGE);
	bsp_sync();
	CHECK(bspt_has(to, 0, LARGE, last));
	CHECK(bspt_has(got, 0, LARGE, next));
	free(x);
	free(to);
	free(got);
}

TEST(many_small_puts, "n=1,2,4 limit=90")
{
	int count = 10000, i, p, *to = (int *)malloc(count * 4 * sizeof(int));

	bsp_push_reg(to, count * 4 * sizeof(int));
	bsp_sync();
	for (i = 0; i < count; i++)
		for (p = 0; p < NPROCS; p++) {
			int x = 4 * i + ME + 1000003 * p;

			bsp_put(p, &x, to, (4 * i + ME) * sizeof(int), sizeof(x));
		}
	bsp_sync();
	for (i = 0; i < count; i++)
		for (p = 0; p < NPROCS; p++)
			EQUAL(to[4 * i + p], 4 * i + p + 1000003 * ME);
	free(to);
}

TEST(many_small_gets, "n=1,2,4 limit=90")
{
	int count = 10000, i, p, *from = (int *)malloc(count * sizeof(int));
	int *to = (int *)malloc(4 * count * sizeof(int));

	for (i = 0; i < count; i++)
		from[i] = i + 1000003 * ME;
	bsp_push_reg(from, count * sizeof(int));
	bsp_sync();
	for (i = 0; i < count; i++)
		for (p = 0; p < NPROCS; p++)
			bsp_get(p, from, (count - 1 - i) * sizeof(int),
				&to[4 * i + p], sizeof(int));
	bsp_sync();
	for (i = 0; i < count; i++)
		for (p = 0; p < NPROCS; p++)
			EQUAL(to[4 * i + p], count - 1 - i + 1000003 * p);
	free(from);
	free(to);
}

TEST(large_among_small, "n=1,2,3 limit=90")
{
	long size = 500000, i;
	char *to = (char *)malloc(2 * size), *x = (char *)malloc(size);
	int last = (ME + NPROCS - 1) % NPROCS, next = (ME + 1) % NPROCS;

	bspt_fill(x, size, ME);
	memset(to, 0, 2 * size);
	bsp_push_reg(to, 2 * size);
	bsp_sync();
	for (i = 0; i < 1000; i++)
		bsp_put(next, x + i, to, size + 7 * i, 5);
	bsp_put(next, x, to, 0, size);
	for (i = 1000; i < 2000; i++)
		bsp_put(next, x + i, to, size + 7 * i, 5);
	bsp_sync();
	CHECK(bspt_has(to, 0, size, last));
	for (i = 0; i < 2000; i++) {
		CHECK(bspt_has(to + size + 7 * i, i, 5, last));
		CHECK(bspt_all(to + size + 7 * i + 5, 2, 0));
	}
	free(to);
	free(x);
}

/* Buffers that a step needed are there for the next, larger and smaller. */
TEST(sizes_change_from_step_to_step, "n=2 limit=90")
{
	long size = 400000;
	char *to = (char *)malloc(size), *x = (char *)malloc(size);
	static const long sizes[] = { 1, 400000, 8, 0, 65536, 3, 200000, 4096, 4097, 16 };
	int step, last = (ME + NPROCS - 1) % NPROCS;

	bsp_push_reg(to, size);
	bsp_sync();
	for (step = 0; step < 30; step++) {
		long n = sizes[step % 10];

		bspt_fill(x, n, step + 100 * ME);
		bsp_put((ME + 1) % NPROCS, x, to, size - n, n);
		bsp_sync();
		CHECK(bspt_has(to + size - n, 0, n, step + 100 * last));
	}
	free(to);
	free(x);
}

/* One sends much, the others nothing. */
TEST(uneven, "n=2,3 limit=90")
{
	long size = 1000000;
	char *to = (char *)malloc(size), *x = (char *)malloc(size);
	int step, p;

	bsp_push_reg(to, size);
	bsp_sync();
	for (step = 0; step < 3; step++) {
		if (step % NPROCS == ME) {
			bspt_fill(x, size, step);
			for (p = 0; p < NPROCS; p++)
				bsp_put(p, x, to, 0, size);
		}
		bsp_sync();
		CHECK(bspt_has(to, 0, size, step));
	}
	free(to);
	free(x);
}
