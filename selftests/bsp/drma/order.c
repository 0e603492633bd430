/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * At the end of a step: first every get is read, then what was got is written, then
 * every put.
 */
#include "bsptest.h"

static int area[16];

static void open_area(int value)
{
	int i;

	for (i = 0; i < 16; i++)
		area[i] = value;
	bsp_push_reg(area, sizeof(area));
	bsp_sync();
}

/* A get sees nothing of the puts of its step. */
TEST(get_reads_before_put, "n=1,2,3,4")
{
	int i, x[8], y = 1000 + ME, n = NPROCS;

	open_area(10 + ME);
	for (i = 0; i < n; i++) {
		bsp_put(i, &y, area, 0, sizeof(y));
		bsp_get(i, area, 0, &x[i], sizeof(int));
	}
	bsp_sync();
	for (i = 0; i < n; i++)
		EQUAL(x[i], 10 + i);
	CHECK(area[0] >= 1000 && area[0] < 1000 + n);
}

TEST(get_reads_before_put_of_a_third, "n=3,4")
{
	int x = -1, y = 99;

	open_area(10 + ME);
	if (ME == 0)
		bsp_get(1, area, 0, &x, sizeof(x));
	if (ME == 2)
		bsp_put(1, &y, area, 0, sizeof(y));
	bsp_sync();
	EQUAL(x, ME == 0 ? 11 : -1);
	EQUAL(area[0], ME == 1 ? 99 : 10 + ME);
}

TEST(get_from_itself_reads_before_put, "n=1,2")
{
	int x = -1, y = 99;

	open_area(10 + ME);
	bsp_put(ME, &y, area, 0, sizeof(y));
	bsp_get(ME, area, 0, &x, sizeof(x));
	bsp_sync();
	EQUAL(x, 10 + ME);
	EQUAL(area[0], 99);
}

TEST(exchange_by_put_and_get, "n=2,4")
{
	int x = -1, y = 200 + ME, partner = ME ^ 1;

	open_area(10 + ME);
	bsp_get(partner, area, 0, &x, sizeof(x));
	bsp_put(partner, &y, area, 0, sizeof(y));
	bsp_sync();
	EQUAL(x, 10 + partner);
	EQUAL(area[0], 200 + partner);
}

/* A put and a get that write the same bytes here: the put is there afterwards. */
TEST(put_wins_over_get, "n=1,2,3,4")
{
	int y = 500 + ME, n = NPROCS;

	open_area(10 + ME);
	bsp_get((ME + 1) % n, area, 4, area, sizeof(int));
	bsp_put((ME + 1) % n, &y, area, 0, sizeof(y));
	bsp_sync();
	EQUAL(area[0], 500 + (ME + n - 1) % n);
}

TEST(put_wins_over_later_get, "n=1,2,3,4")
{
	int y = 500 + ME, n = NPROCS;

	open_area(10 + ME);
	bsp_put((ME + 1) % n, &y, area, 0, sizeof(y));
	bsp_get((ME + 1) % n, area, 4, area, sizeof(int));
	bsp_sync();
	EQUAL(area[0], 500 + (ME + n - 1) % n);
}

TEST(put_wins_byte_by_byte, "n=1,2,3")
{
	char buf[32], ones[4] = { 1, 1, 1, 1 };
	int i, next = (ME + 1) % NPROCS;

	memset(buf, 7, 16);
	memset(buf + 16, 9, 16);
	bsp_push_reg(buf, sizeof(buf));
	bsp_sync();
	bsp_put(next, ones, buf, 3, 4);
	bsp_put(next, ones, buf, 11, 2);
	bsp_get(next, buf, 16, buf, 12);
	bsp_sync();
	for (i = 0; i < 16; i++) {
		int put = (i >= 3 && i < 7) || i == 11 || i == 12;

		EQUAL(buf[i], put ? 1 : i < 12 ? 9 : 7);
	}
}

/* What a get brings is not what another get of the step reads. */
TEST(get_does_not_feed_get, "n=2,3,4")
{
	int n = NPROCS, x = -1;

	open_area(10 + ME);
	bsp_get((ME + 1) % n, area, 0, area, sizeof(int));
	bsp_get((ME + n - 1) % n, area, 0, &x, sizeof(x));
	bsp_sync();
	EQUAL(area[0], 10 + (ME + 1) % n);
	EQUAL(x, 10 + (ME + n - 1) % n);
}

/* The source of a put that a get overwrites in the same step. */
TEST(put_sends_what_was_there_at_the_call, "n=2,3")
{
	int n = NPROCS, next = (ME + 1) % n;

	open_area(10 + ME);
	bsp_get(next, area, 4, area, sizeof(int));
	bsp_put(next, area, area, 8, sizeof(int));
	area[0] = -1;
	bsp_sync();
	EQUAL(area[2], 10 + (ME + n - 1) % n);
	EQUAL(area[0], 10 + next);
}

TEST(next_step_sees_all, "n=2,3,4")
{
	int step, n = NPROCS, x, y;

	open_area(0);
	for (step = 1; step < 50; step++) {
		y = step * 10 + ME;
		bsp_put((ME + 1) % n, &y, area, 0, sizeof(y));
		x = -1;
		bsp_get((ME + 2) % n, area, 0, &x, sizeof(x));
		bsp_sync();
		EQUAL(x, step == 1 ? 0 : (step - 1) * 10 + (ME + 1) % n);
		EQUAL(area[0], step * 10 + (ME + n - 1) % n);
	}
}
