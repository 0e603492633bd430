/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bsp_put(): the source is copied at the call, the destination is written at the
 * end of the step.
 */
#include "bsptest.h"

static int area[64];

static void open_area(void)
{
	memset(area, 0, sizeof(area));
	bsp_push_reg(area, sizeof(area));
	bsp_sync();
}

TEST(source_is_copied, "n=1,2,3,4")
{
	int x = 10 + ME, last = (ME + NPROCS - 1) % NPROCS;

	open_area();
	bsp_put((ME + 1) % NPROCS, &x, area, 0, sizeof(x));
	x = -1;
	bsp_sync();
	EQUAL(area[0], 10 + last);
}

/* One variable is the source of many. */
TEST(source_is_used_again, "n=1,2,3")
{
	int i, x, last = (ME + NPROCS - 1) % NPROCS;

	open_area();
	for (i = 0; i < 64; i++) {
		x = 1000 * ME + i;
		bsp_put((ME + 1) % NPROCS, &x, area, i * sizeof(int), sizeof(x));
	}
	bsp_sync();
	for (i = 0; i < 64; i++)
		EQUAL(area[i], 1000 * last + i);
}

TEST(source_is_freed, "n=1,2,3")
{
	int i, last = (ME + NPROCS - 1) % NPROCS;

	open_area();
	for (i = 0; i < 64; i++) {
		int *x = (int *)malloc(sizeof(int));

		*x = 1000 * ME + i;
		bsp_put((ME + 1) % NPROCS, x, area, i * sizeof(int), sizeof(*x));
		*x = -1;
		free(x);
	}
	bsp_sync();
	for (i = 0; i < 64; i++)
		EQUAL(area[i], 1000 * last + i);
}

TEST(large_source_is_copied, "n=1,2")
{
	long n = 300000;
	char *x = (char *)malloc(n), *to = (char *)malloc(n);

	bspt_fill(x, n, 5 + ME);
	bsp_push_reg(to, n);
	bsp_sync();
	bsp_put((ME + 1) % NPROCS, x, to, 0, n);
	memset(x, 0, n);
	bsp_sync();
	CHECK(bspt_has(to, 0, n, 5 + (ME + NPROCS - 1) % NPROCS));
	free(x);
	free(to);
}

/* Nothing is written before the end of the step. */
TEST(destination_is_not_yet_written, "n=1,2,3,4")
{
	int x = 1 + ME, i;

	open_area();
	for (i = 0; i < NPROCS; i++)
		bsp_put(i, &x, area, ME * sizeof(int), sizeof(x));
	bspt_spin(0.05);
	CHECK(bspt_all(area, sizeof(area), 0));
	bsp_sync();
	for (i = 0; i < NPROCS; i++)
		EQUAL(area[i], 1 + i);
}

/* What the owner writes in the step is overwritten at its end. */
TEST(put_comes_after_own_stores, "n=1,2,3")
{
	int x = 7;

	open_area();
	bsp_put((ME + 1) % NPROCS, &x, area, 0, sizeof(x));
	area[0] = 3;
	area[1] = 4;
	bsp_sync();
	EQUAL(area[0], 7);
	EQUAL(area[1], 4);
}

TEST(to_itself, "n=1,2,3")
{
	int x = 20 + ME;

	open_area();
	bsp_put(ME, &x, area, 4, sizeof(x));
	x = 0;
	EQUAL(area[1], 0);
	bsp_sync();
	EQUAL(area[1], 20 + ME);
}

/* The source is in the destination: it is as if it had been copied. */
TEST(to_itself_overlapping, "n=1,2")
{
	int i;

	open_area();
	for (i = 0; i < 64; i++)
		area[i] = i;
	bsp_put(ME, area, area, sizeof(int), 63 * sizeof(int));
	bsp_sync();
	EQUAL(area[0], 0);
	for (i = 1; i < 64; i++)
		EQUAL(area[i], i - 1);
	bsp_put(ME, area + 1, area, 0, 63 * sizeof(int));
	bsp_sync();
	for (i = 0; i < 63; i++)
		EQUAL(area[i], i);
}

/* Read-only memory is a source like any other. */
TEST(source_is_constant, "n=1,2")
{
	static const char text[] = "constant";
	char buf[20];

	bsp_push_reg(buf, sizeof(buf));
	bsp_sync();
	bsp_put((ME + 1) % NPROCS, text, buf, 0, sizeof(text));
	bsp_put((ME + 1) % NPROCS, "literal", buf, 10, 8);
	bsp_sync();
	CHECK(!strcmp(buf, "constant"));
	CHECK(!strcmp(buf + 10, "literal"));
}

/* x goes to the partner, and the partner's x comes here. */
TEST(swap, "n=2,4")
{
	int x = 100 + ME, partner = ME ^ 1;

	bsp_push_reg(&x, sizeof(x));
	bsp_sync();
	bsp_put(partner, &x, &x, 0, sizeof(x));
	bsp_sync();
	EQUAL(x, 100 + partner);
}

TEST(total_exchange, "n=1,2,3,4,16")
{
	int i, x;

	open_area();
	for (i = 0; i < NPROCS; i++) {
		x = 1000 * ME + i;
		bsp_put(i, &x, area, ME * sizeof(int), sizeof(x));
	}
	bsp_sync();
	for (i = 0; i < NPROCS; i++)
		EQUAL(area[i], 1000 * i + ME);
}

/* All processes write to one. */
TEST(gather, "n=1,2,4,8")
{
	int i, x = 5 * ME;

	open_area();
	bsp_put(NPROCS - 1, &x, area, ME * sizeof(int), sizeof(x));
	bsp_sync();
	for (i = 0; i < NPROCS; i++)
		EQUAL(area[i], ME == NPROCS - 1 ? 5 * i : 0);
}

TEST(step_after_step, "n=1,2,3,4")
{
	int step, i, x;

	open_area();
	for (step = 0; step < 100; step++) {
		x = 100 * step + ME;
		for (i = 0; i < NPROCS; i++)
			bsp_put((ME + i) % NPROCS, &x, area,
				(8 * (step % 8) + i) * sizeof(int), sizeof(x));
		bsp_sync();
		for (i = 0; i < NPROCS; i++)
			EQUAL(area[8 * (step % 8) + i],
			      100 * step + (ME - i + NPROCS) % NPROCS);
	}
}

/* A step in which only some communicate. */
TEST(only_one_puts, "n=2,3,4")
{
	int step, x;

	open_area();
	for (step = 0; step < 20; step++) {
		x = 50 + step;
		if (step % NPROCS == ME)
			bsp_put((ME + 1) % NPROCS, &x, area, 0, sizeof(x));
		bsp_sync();
		if ((step + 1) % NPROCS == ME)
			EQUAL(area[0], 50 + step);
	}
}
