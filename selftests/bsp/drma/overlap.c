/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Puts that overlap: each byte is that of one of them. Ours (not the standard's):
 * they are written by rising process number of the writer, then in the order of the
 * calls.
 */
#include "bsptest.h"

static char buf[64];

static void open_buf(void)
{
	memset(buf, 0, sizeof(buf));
	bsp_push_reg(buf, sizeof(buf));
	bsp_sync();
}

TEST(one_of_them, "n=2,3,4")
{
	char x[64];
	int i;

	open_buf();
	memset(x, 1 + ME, sizeof(x));
	bsp_put(0, x, buf, 0, 64);
	bsp_sync();
	for (i = 0; i < 64; i++)
		if (ME == 0)
			CHECK(buf[i] >= 1 && buf[i] <= NPROCS);
		else
			EQUAL(buf[i], 0);
}

TEST(one_of_them_where_they_overlap, "n=2,3,4")
{
	char x[20];
	int i, p;

	open_buf();
	memset(x, 1 + ME, sizeof(x));
	bsp_put(0, x, buf, 10 * ME, 20);
	bsp_sync();
	for (i = 0; i < 64 && ME == 0; i++) {
		int found = 0, any = 0;

		for (p = 0; p < NPROCS; p++)
			if (i >= 10 * p && i < 10 * p + 20) {
				any = 1;
				found |= buf[i] == 1 + p;
			}
		CHECK(any ? found : buf[i] == 0);
	}
}

TEST(one_of_several_of_one_writer, "n=1,2,3")
{
	char x[8];
	int i;

	open_buf();
	for (i = 1; i <= 5; i++) {
		memset(x, i, sizeof(x));
		bsp_put((ME + 1) % NPROCS, x, buf, 0, 8);
	}
	bsp_sync();
	for (i = 0; i < 8; i++)
		CHECK(buf[i] >= 1 && buf[i] <= 5);
}

TEST(highest_writer_last, "n=1,2,3,4 ours")
{
	char x[64];
	int step, i;

	open_buf();
	for (step = 0; step < 20; step++) {
		memset(x, 10 * step + ME, sizeof(x));
		if (step % NPROCS == ME)
			bspt_spin(0.003);
		for (i = 0; i < NPROCS; i++)
			bsp_put(i, x, buf, 0, 64);
		bsp_sync();
		CHECK(bspt_all(buf, 64, 10 * step + NPROCS - 1));
	}
}

TEST(call_order_of_one_writer, "n=1,2,3 ours")
{
	char x[16];
	int i;

	open_buf();
	for (i = 0; i < 16; i++) {
		memset(x, 1 + i, sizeof(x));
		bsp_put((ME + 1) % NPROCS, x, buf, i, 16);
	}
	bsp_sync();
	for (i = 0; i < 31; i++)
		EQUAL(buf[i], i < 16 ? 1 + i : 16);
}

/* First by the writer, whatever the order and the size of the calls. */
TEST(stairs, "n=2,3,4 ours")
{
	char x[40];
	int i, p;

	open_buf();
	memset(x, 1 + ME, sizeof(x));
	for (p = 0; p < NPROCS; p++) {
		memset(x, 50 + ME, sizeof(x));
		bsp_put(p, x, buf, 8 * ME, 40 - 8 * ME);
		memset(x, 1 + ME, sizeof(x));
		bsp_put(p, x, buf, 8 * ME, 8);
	}
	bsp_sync();
	for (i = 0; i < 40; i++)
		EQUAL(buf[i], i / 8 < NPROCS ? 1 + i / 8 : 50 + NPROCS - 1);
}

TEST(large_and_small, "n=2,3 ours")
{
	long n = 200000, i;
	char *to = (char *)malloc(n), *x = (char *)malloc(n);

	memset(to, 0, n);
	memset(x, 1 + ME, n);
	bsp_push_reg(to, n);
	bsp_sync();
	bsp_put(0, x, to, 0, n);
	memset(x, 11 + ME, n);
	for (i = ME; i < n; i += 20000)
		bsp_put(0, x, to, i, 1);
	bsp_sync();
	for (i = 0; i < n && ME == 0; i++)
		EQUAL(to[i], i % 20000 == NPROCS - 1 ? 10 + NPROCS : NPROCS);
	free(to);
	free(x);
}

/* The order of the writers, through different registrations of the same bytes. */
TEST(through_different_slots, "n=2,3 ours")
{
	char x = (char)(1 + ME);

	memset(buf, 0, sizeof(buf));
	bsp_push_reg(buf, sizeof(buf));
	bsp_push_reg(buf + 8, 8);
	bsp_sync();
	if (ME == 0)
		bsp_put(0, &x, buf, 9, 1);
	else
		bsp_put(0, &x, buf + 8, 1, 1);
	bsp_sync();
	EQUAL(buf[9], ME == 0 ? NPROCS : 0);
}
