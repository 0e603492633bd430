/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bsp_hpput() and bsp_hpget(): as put and get, but unbuffered; the bytes may move at
 * any time until the end of the step. So neither end is touched before it.
 */
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

TEST(hpput_to_next, "n=1,2,3,4")
{
	int x = 5000 + ME;

	open_area();
	bsp_hpput((ME + 1) % NPROCS, &x, area, 12, sizeof(x));
	bsp_sync();
	EQUAL(area[3], 5000 + (ME + NPROCS - 1) % NPROCS);
	EQUAL(area[2], 100 * ME + 2);
	EQUAL(area[4], 100 * ME + 4);
	EQUAL(x, 5000 + ME);
}

TEST(hpget_from_next, "n=1,2,3,4")
{
	int x[3] = { -1, -1, -1 }, next = (ME + 1) % NPROCS;

	open_area();
	bsp_hpget(next, area, 12, &x[1], sizeof(int));
	bsp_sync();
	EQUAL(x[1], 100 * next + 3);
	EQUAL(x[0], -1);
	EQUAL(x[2], -1);
	EQUAL(area[3], 100 * ME + 3);
}

TEST(hp_to_itself, "n=1,2")
{
	int x = 5000 + ME, y = -1;

	open_area();
	bsp_hpput(ME, &x, area, 12, sizeof(x));
	bsp_hpget(ME, area, 16, &y, sizeof(y));
	bsp_sync();
	EQUAL(area[3], 5000 + ME);
	EQUAL(y, 100 * ME + 4);
}

TEST(hpput_of_many, "n=1,2,4")
{
	static int to[4][1000], x[1000];
	int i, p;

	for (i = 0; i < 1000; i++)
		x[i] = 1000 * ME + i;
	bsp_push_reg(to, sizeof(to));
	bsp_sync();
	for (i = 0; i < 1000; i++)
		for (p = 0; p < NPROCS; p++)
			bsp_hpput(p, &x[i], to, (1000 * ME + i) * sizeof(int), sizeof(int));
	bsp_sync();
	for (p = 0; p < NPROCS; p++)
		for (i = 0; i < 1000; i++)
			EQUAL(to[p][i], 1000 * p + i);
}

TEST(hpget_of_many, "n=1,2,4")
{
	static int to[4][1000], x[1000];
	int i, p;

	for (i = 0; i < 1000; i++)
		x[i] = 1000 * ME + i;
	bsp_push_reg(x, sizeof(x));
	bsp_sync();
	for (i = 0; i < 1000; i++)
		for (p = 0; p < NPROCS; p++)
			bsp_hpget(p, x, i * sizeof(int), &to[p][i], sizeof(int));
	bsp_sync();
	for (p = 0; p < NPROCS; p++)
		for (i = 0; i < 1000; i++)
			EQUAL(to[p][i], 1000 * p + i);
}

/* Beside buffered traffic to other bytes. */
TEST(hp_beside_buffered, "n=2,3,4")
{
	int i, next = (ME + 1) % NPROCS, last = (ME + NPROCS - 1) % NPROCS;
	int x[20], got[10], hpgot[10];

	open_area();
	for (i = 0; i < 20; i++)
		x[i] = 7000 + 100 * ME + i;
	for (i = 0; i < 10; i++) {
		bsp_put(next, &x[i], area, i * sizeof(int), sizeof(int));
		bsp_hpput(next, &x[10 + i], area, (20 + i) * sizeof(int), sizeof(int));
		bsp_get(next, area, (40 + i) * sizeof(int), &got[i], sizeof(int));
		bsp_hpget(next, area, (50 + i) * sizeof(int), &hpgot[i], sizeof(int));
	}
	bsp_sync();
	for (i = 0; i < 10; i++) {
		EQUAL(area[i], 7000 + 100 * last + i);
		EQUAL(area[10 + i], 100 * ME + 10 + i);
		EQUAL(area[20 + i], 7000 + 100 * last + 10 + i);
		EQUAL(got[i], 100 * next + 40 + i);
		EQUAL(hpgot[i], 100 * next + 50 + i);
	}
}

/* Each byte of a word has a writer of its own. */
TEST(hpput_of_neighbour_bytes, "n=2,4")
{
	unsigned char word[8], x = (unsigned char)(1 + ME);
	int i;

	memset(word, 0, sizeof(word));
	bsp_push_reg(word, sizeof(word));
	bsp_sync();
	for (i = 0; i < NPROCS; i++)
		bsp_hpput(i, &x, word, 2 * ME, 1);
	bsp_sync();
	for (i = 0; i < 8; i++)
		EQUAL(word[i], i % 2 == 0 && i / 2 < NPROCS ? 1 + i / 2 : 0);
}

TEST(hp_step_after_step, "n=2,3,4")
{
	int step, x, y, next = (ME + 1) % NPROCS, last = (ME + NPROCS - 1) % NPROCS;

	open_area();
	for (step = 0; step < 100; step++) {
		x = 1000 * step + ME;
		bsp_hpput(next, &x, area, 4 * (step % 32), sizeof(x));
		bsp_sync();
		EQUAL(area[step % 32], 1000 * step + last);
		bsp_hpget(next, area, 4 * (step % 32), &y, sizeof(y));
		bsp_sync();
		EQUAL(y, 1000 * step + ME);
	}
}
