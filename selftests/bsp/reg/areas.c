/* SPDX-License-Identifier: GPL-2.0-only */
/* What may be registered: memory of any kind, and parts of it. */
#include "bsptest.h"

static int outside[4];

/* put and get around a ring through @area of 4 int. */
static void ring(int *area)
{
	int me = ME, n = NPROCS, next = (me + 1) % n, last = (me + n - 1) % n, got = -1;

	memset(area, 0, 4 * sizeof(int));
	bsp_push_reg(area, 4 * sizeof(int));
	bsp_sync();
	bsp_put(next, &me, area, 2 * sizeof(int), sizeof(me));
	bsp_sync();
	EQUAL(area[0], 0);
	EQUAL(area[1], 0);
	EQUAL(area[2], last);
	EQUAL(area[3], 0);
	bsp_get(next, area, 2 * sizeof(int), &got, sizeof(got));
	bsp_pop_reg(area);
	bsp_sync();
	EQUAL(got, me);
}

TEST(static_memory, "n=1,2,4")
{
	ring(outside);
}

TEST(stack_memory, "n=1,2,4")
{
	int local[4];

	ring(local);
}

TEST(heap_memory, "n=1,2,4")
{
	int *heap = (int *)malloc(4 * sizeof(int));

	ring(heap);
	free(heap);
}

/* Freed and allocated again, most likely at the same address. */
TEST(heap_memory_again, "n=1,2,4")
{
	int i;

	for (i = 0; i < 50; i++) {
		int *heap = (int *)malloc(4 * sizeof(int) + i % 7);

		ring(heap);
		free(heap);
	}
}

static int reverse(int x)
{
	bsp_push_reg(&x, sizeof(x));
	bsp_sync();
	bsp_put(NPROCS - 1 - ME, &x, &x, 0, sizeof(x));
	bsp_pop_reg(&x);
	bsp_sync();
	return x;
}

/* An argument of a function, registered and popped in it. */
TEST(function_argument, "n=1,2,3,4")
{
	int i;

	for (i = 0; i < 20; i++)
		EQUAL(reverse(100 * i + ME), 100 * i + NPROCS - 1 - ME);
}

static void deeper(int depth)
{
	int local[4];

	ring(local);
	if (depth > 0)
		deeper(depth - 1);
	ring(local);
}

TEST(recursion, "n=2,3")
{
	deeper(10);
}

/* A registration inside another one. */
TEST(nested_areas, "n=2,3")
{
	int area[8], x = 5, me = ME, next = (ME + 1) % NPROCS;

	memset(area, 0, sizeof(area));
	bsp_push_reg(area, sizeof(area));
	bsp_push_reg(area + 4, 2 * sizeof(int));
	bsp_sync();
	bsp_put(next, &x, area, 7 * sizeof(int), sizeof(x));
	bsp_put(next, &x, area + 4, sizeof(int), sizeof(x));
	bsp_sync();
	EQUAL(area[7], 5);
	EQUAL(area[5], 5);
	EQUAL(area[4] + area[6], 0);
	bsp_pop_reg(area);
	bsp_sync();
	x = 6 + me;
	bsp_put(next, &x, area + 4, 0, sizeof(x));
	bsp_sync();
	EQUAL(area[4], 6 + (me + NPROCS - 1) % NPROCS);
}

/* An address inside of a registration is not itself registered. */
TEST(inside_is_not_registered, "n=1,2 abort=bsp_put")
{
	int area[8], x = 5;

	bsp_push_reg(area, sizeof(area));
	bsp_sync();
	bsp_put(0, &x, area + 1, 0, sizeof(x));
	ENDED_BY_SYNC();
}

/* Overlapping registrations of different places on different processes. */
TEST(overlapping_areas, "n=2,3")
{
	char area[24], x[8];
	int me = ME, next = (ME + 1) % NPROCS;

	memset(area, 0, sizeof(area));
	memset(x, 1 + me, sizeof(x));
	bsp_push_reg(area, 16);
	bsp_push_reg(area + 8, 16);
	bsp_sync();
	bsp_put(next, x, area, 8, 8);
	bsp_sync();
	CHECK(bspt_all(area + 8, 8, 1 + (me + NPROCS - 1) % NPROCS));
	bsp_get(next, area + 8, 0, x, 8);
	bsp_sync();
	CHECK(bspt_all(x, 8, 1 + me));
}

TEST(odd_addresses, "n=2,3")
{
	char area[40], x[3] = { 1, 2, 3 };
	int i;

	memset(area, 0, sizeof(area));
	for (i = 1; i < 40; i += 4)
		bsp_push_reg(area + i, 3);
	bsp_sync();
	for (i = 1; i < 40; i += 4)
		bsp_put((ME + 1) % NPROCS, x, area + i, 0, 3);
	bsp_sync();
	for (i = 0; i < 40; i++)
		EQUAL(area[i], i % 4);
}
