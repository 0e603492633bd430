/* SPDX-License-Identifier: GPL-2.0-only */
/* bsp_move(): copies the payload, at most so many bytes of it, and removes the message. */
#include "bsptest.h"

static void receive(const char *text)
{
	bsp_send((ME + 1) % NPROCS, NULL, text, strlen(text));
	bsp_sync();
}

static void left(int packets)
{
	bsp_nprocs_t n;
	bsp_size_t sum;

	bsp_qsize(&n, &sum);
	EQUAL(n, packets);
}

TEST(exact, "n=1,2,3")
{
	char x[8];

	receive("abcd");
	memset(x, 'x', sizeof(x));
	bsp_move(x + 2, 4);
	CHECK(!memcmp(x, "xxabcdxx", 8));
	left(0);
}

TEST(shorter_buffer, "n=1,2,3")
{
	char x[8];

	receive("abcd");
	memset(x, 'x', sizeof(x));
	bsp_move(x + 2, 3);
	CHECK(!memcmp(x, "xxabcxxx", 8));
	left(0);
}

/* No byte beyond the message's end is written. */
TEST(longer_buffer, "n=1,2,3")
{
	char x[8];

	receive("abcd");
	memset(x, 'x', sizeof(x));
	bsp_move(x + 1, 7);
	CHECK(!memcmp(x, "xabcdxxx", 8));
	left(0);
}

TEST(no_buffer, "n=1,2,3")
{
	receive("abcd");
	bsp_move(NULL, 0);
	left(0);
}

TEST(buffer_of_no_byte, "n=1,2,3")
{
	char x = 'x';

	receive("abcd");
	bsp_move(&x, 0);
	EQUAL(x, 'x');
	left(0);
}

/* What was cut off is not the beginning of the next. */
TEST(next_after_truncation, "n=1,2,3")
{
	char x[8];
	int i;

	for (i = 0; i < 5; i++)
		bsp_send((ME + 1) % NPROCS, NULL, "abcdefgh", 8);
	bsp_sync();
	for (i = 0; i < 5; i++) {
		memset(x, 'x', sizeof(x));
		bsp_move(x, 2 * i);
		CHECK(!memcmp(x, "abcdefgh", 2 * i));
		CHECK(bspt_all(x + 2 * i, 8 - 2 * i, 'x'));
		left(4 - i);
	}
}

TEST(to_odd_address, "n=1,2,3")
{
	char x[100];
	double d = 1.25 + ME, got;

	bsp_send((ME + 1) % NPROCS, NULL, &d, sizeof(d));
	bsp_sync();
	bsp_move(x + 1, sizeof(d));
	memcpy(&got, x + 1, sizeof(got));
	CHECK(got == 1.25 + (ME + NPROCS - 1) % NPROCS);
}

TEST(empty_queue, "n=1,2 abort=bsp_move")
{
	int x;

	bsp_sync();
	bsp_move(&x, sizeof(x));
	ENDED_BY_SYNC();
}

TEST(empty_queue_of_one, "n=2,3 abort=bsp_move by=1")
{
	int x = 1;

	if (ME == 0)
		bsp_send(0, NULL, &x, sizeof(x));
	bsp_sync();
	if (ME < 2)
		bsp_move(&x, sizeof(x));
	ENDED_BY_SYNC();
}

TEST(emptied_queue, "n=1,2 abort=bsp_move")
{
	char x[8];

	receive("abcd");
	bsp_move(x, sizeof(x));
	bsp_move(x, sizeof(x));
	ENDED_BY_SYNC();
}

TEST(empty_queue_no_byte, "n=1,2 abort=bsp_move")
{
	bsp_move(NULL, 0);
	ENDED_BY_SYNC();
}

TEST(null_buffer, "n=1,2 abort=bsp_move")
{
	receive("abcd");
	bsp_move(NULL, 4);
	ENDED_BY_SYNC();
}

TEST(negative_size, "n=1,2 abort=bsp_move dialect=classic")
{
	char x[8];

	receive("abcd");
	bsp_move(x, -1);
	ENDED_BY_SYNC();
}
