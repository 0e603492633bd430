/* SPDX-License-Identifier: GPL-2.0-only */
/* bsp_qsize(): how many messages are left, and the bytes of their payloads. */
#include "bsptest.h"

static void queue(int packets, int bytes)
{
	bsp_nprocs_t n = 77;
	bsp_size_t sum = 77;

	bsp_qsize(&n, &sum);
	EQUAL(n, packets);
	EQUAL(sum, bytes);
}

TEST(counts_down, "n=1,2,3")
{
	int i, left = 0;
	char x[10];
	bsp_size_t status;

	for (i = 1; i <= 10; i++) {
		bsp_send((ME + 1) % NPROCS, NULL, "0123456789", i);
		left += i;
	}
	bsp_sync();
	for (i = 10; i > 0; i--) {
		queue(i, left);
		bsp_get_tag(&status, NULL);
		bsp_move(x, sizeof(x));
		left -= (int)status;
	}
	queue(0, 0);
}

/* Tags are not counted. */
TEST(without_tags, "n=1,2,3")
{
	bsp_size_t size = 16;
	char tag[16];

	memset(tag, 1, sizeof(tag));
	bsp_set_tagsize(&size);
	bsp_sync();
	bsp_send((ME + 1) % NPROCS, tag, "abc", 3);
	bsp_send((ME + 1) % NPROCS, tag, NULL, 0);
	bsp_sync();
	queue(2, 3);
}

/* Truncating a message removes all of it. */
TEST(after_truncation, "n=1,2,3")
{
	char x[10];

	bsp_send((ME + 1) % NPROCS, NULL, "0123456789", 10);
	bsp_send((ME + 1) % NPROCS, NULL, "0123456789", 10);
	bsp_sync();
	queue(2, 20);
	bsp_move(x, 3);
	queue(1, 10);
	bsp_move(x, 0);
	queue(0, 0);
}

TEST(after_hpmove, "n=1,2,3")
{
	void *tag, *payload;

	bsp_send((ME + 1) % NPROCS, NULL, "0123456789", 10);
	bsp_send((ME + 1) % NPROCS, NULL, "abcdefghij", 10);
	bsp_sync();
	bsp_hpmove(&tag, &payload);
	queue(1, 10);
	bsp_hpmove(&tag, &payload);
	queue(0, 0);
}

TEST(asking_changes_nothing, "n=1,2,3")
{
	int i, x = 5;

	bsp_send((ME + 1) % NPROCS, NULL, &x, sizeof(x));
	bsp_sync();
	for (i = 0; i < 10; i++)
		queue(1, sizeof(x));
	x = 0;
	bsp_move(&x, sizeof(x));
	EQUAL(x, 5);
}

TEST(null_packets, "n=1,2 abort=bsp_qsize")
{
	bsp_size_t sum;

	bsp_qsize(NULL, &sum);
	ENDED_BY_SYNC();
}

/* In the size_t dialect MulticoreBSP takes a NULL here for "not wanted". */
TEST(null_bytes, "n=1,2 abort=bsp_qsize dialect=classic")
{
	bsp_nprocs_t n;

	bsp_qsize(&n, NULL);
	ENDED_BY_SYNC();
}
