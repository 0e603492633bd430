/* SPDX-License-Identifier: GPL-2.0-only */
/* Odd addresses, odd offsets, odd lengths: bytes are bytes. */
#include "bsptest.h"

TEST(put_of_every_length, "n=1,2")
{
	static unsigned char to[80][160], x[160];
	int n, next = (ME + 1) % NPROCS, last = (ME + NPROCS - 1) % NPROCS;

	memset(to, 0, sizeof(to));
	bspt_fill(x, sizeof(x), ME);
	bsp_push_reg(to, sizeof(to));
	bsp_sync();
	for (n = 0; n < 80; n++)
		bsp_put(next, x + n % 17, to, 160 * n + 1 + n % 13, n);
	bsp_sync();
	for (n = 0; n < 80; n++) {
		CHECK(bspt_all(to[n], 1 + n % 13, 0));
		CHECK(bspt_has(to[n] + 1 + n % 13, n % 17, n, last));
		CHECK(bspt_all(to[n] + 1 + n % 13 + n, 160 - 1 - n % 13 - n, 0));
	}
}

TEST(get_of_every_length, "n=1,2")
{
	static unsigned char to[80][160], x[160];
	int n, next = (ME + 1) % NPROCS;

	memset(to, 0, sizeof(to));
	bspt_fill(x, sizeof(x), ME);
	bsp_push_reg(x, sizeof(x));
	bsp_sync();
	for (n = 0; n < 80; n++)
		bsp_get(next, x, n % 17, to[n] + 1 + n % 13, n);
	bsp_sync();
	for (n = 0; n < 80; n++) {
		CHECK(bspt_all(to[n], 1 + n % 13, 0));
		CHECK(bspt_has(to[n] + 1 + n % 13, n % 17, n, next));
		CHECK(bspt_all(to[n] + 1 + n % 13 + n, 160 - 1 - n % 13 - n, 0));
	}
}

TEST(doubles_at_odd_addresses, "n=1,2")
{
	char from[100], to[100];
	double x = 1.5 + ME, y;
	int i;

	bsp_push_reg(to, sizeof(to));
	bsp_sync();
	for (i = 0; i < 8; i++) {
		memcpy(from + 9 * i + 1, &x, sizeof(x));
		bsp_put((ME + 1) % NPROCS, from + 9 * i + 1, to, 11 * i + 1, sizeof(x));
	}
	bsp_sync();
	for (i = 0; i < 8; i++) {
		memcpy(&y, to + 11 * i + 1, sizeof(y));
		CHECK(y == 1.5 + (ME + NPROCS - 1) % NPROCS);
	}
}

TEST(neighbours_write_one_word, "n=2,3,4")
{
	unsigned char word[8], x = (unsigned char)(1 + ME);
	int i;

	memset(word, 0, sizeof(word));
	bsp_push_reg(word, sizeof(word));
	bsp_sync();
	for (i = 0; i < NPROCS; i++)
		bsp_put(i, &x, word, ME, 1);
	bsp_sync();
	for (i = 0; i < 8; i++)
		EQUAL(word[i], i < NPROCS ? 1 + i : 0);
}
