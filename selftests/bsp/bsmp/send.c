/* SPDX-License-Identifier: GPL-2.0-only */
/* bsp_send(): tag and payload are copied at the call, and arrive in the next step. */
#include "bsptest.h"

static void tags(bsp_size_t size)
{
	bsp_set_tagsize(&size);
	bsp_sync();
}

static void queue(int packets, int bytes)
{
	bsp_nprocs_t n;
	bsp_size_t sum;

	bsp_qsize(&n, &sum);
	EQUAL(n, packets);
	EQUAL(sum, bytes);
}

TEST(to_next, "n=1,2,3,4")
{
	int tag = 10 + ME, x = 100 + ME, last = (ME + NPROCS - 1) % NPROCS;
	bsp_size_t status;

	tags(sizeof(tag));
	bsp_send((ME + 1) % NPROCS, &tag, &x, sizeof(x));
	tag = -1;
	x = -1;
	queue(0, 0);
	bsp_sync();
	queue(1, sizeof(x));
	bsp_get_tag(&status, &tag);
	EQUAL(status, sizeof(x));
	EQUAL(tag, 10 + last);
	bsp_move(&x, sizeof(x));
	EQUAL(x, 100 + last);
	queue(0, 0);
}

TEST(freed_at_once, "n=1,2,3")
{
	int *tag = (int *)malloc(sizeof(int)), *x = (int *)malloc(1000), got;
	char payload[1000];
	bsp_size_t status;
	int last = (ME + NPROCS - 1) % NPROCS;

	tags(sizeof(int));
	*tag = ME;
	bspt_fill(x, 1000, ME);
	bsp_send((ME + 1) % NPROCS, tag, x, 1000);
	*tag = -1;
	memset(x, 0, 1000);
	free(tag);
	free(x);
	bsp_sync();
	bsp_get_tag(&status, &got);
	EQUAL(got, last);
	bsp_move(payload, 1000);
	CHECK(bspt_has(payload, 0, 1000, last));
}

TEST(to_itself, "n=1,2,3")
{
	int x = 7;

	bsp_send(ME, NULL, &x, sizeof(x));
	queue(0, 0);
	bsp_sync();
	queue(1, sizeof(x));
	x = 0;
	bsp_move(&x, sizeof(x));
	EQUAL(x, 7);
}

TEST(to_all, "n=1,2,4,8")
{
	int i, x, seen[8];
	bsp_size_t status;
	int tag = ME;

	tags(sizeof(tag));
	for (i = 0; i < NPROCS; i++) {
		x = 1000 * ME + i;
		bsp_send(i, &tag, &x, sizeof(x));
	}
	bsp_sync();
	queue(NPROCS, NPROCS * sizeof(x));
	memset(seen, 0, sizeof(seen));
	for (i = 0; i < NPROCS; i++) {
		bsp_get_tag(&status, &tag);
		CHECK(tag >= 0 && tag < NPROCS);
		seen[tag]++;
		bsp_move(&x, sizeof(x));
		EQUAL(x, 1000 * tag + ME);
	}
	for (i = 0; i < NPROCS; i++)
		EQUAL(seen[i], 1);
}

/* A payload of no byte is a message. */
TEST(no_payload, "n=1,2,3")
{
	int tag = 10 + ME, got = -1;
	bsp_size_t status = 77;

	tags(sizeof(tag));
	bsp_send((ME + 1) % NPROCS, &tag, NULL, 0);
	bsp_sync();
	queue(1, 0);
	bsp_get_tag(&status, &got);
	EQUAL(status, 0);
	EQUAL(got, 10 + (ME + NPROCS - 1) % NPROCS);
	bsp_move(NULL, 0);
	queue(0, 0);
}

/* A tag of no byte, too. */
TEST(no_tag, "n=1,2,3")
{
	int x = 10 + ME;
	bsp_size_t status = 77;

	bsp_send((ME + 1) % NPROCS, NULL, &x, sizeof(x));
	bsp_sync();
	queue(1, sizeof(x));
	bsp_get_tag(&status, NULL);
	EQUAL(status, sizeof(x));
	bsp_move(&x, sizeof(x));
	EQUAL(x, 10 + (ME + NPROCS - 1) % NPROCS);
}

/* And even nothing at all. */
TEST(nothing_at_all, "n=1,2,3")
{
	int i;
	bsp_size_t status;

	for (i = 0; i < 100; i++)
		bsp_send((ME + 1) % NPROCS, NULL, NULL, 0);
	bsp_sync();
	for (i = 100; i > 0; i--) {
		queue(i, 0);
		status = 77;
		bsp_get_tag(&status, NULL);
		EQUAL(status, 0);
		bsp_move(NULL, 0);
	}
	queue(0, 0);
	bsp_get_tag(&status, NULL);
	CHECK(status == NONE);
}

TEST(empty_among_others, "n=2,3")
{
	int i, seen[20], tag, next = (ME + 1) % NPROCS;
	char payload[20];
	bsp_size_t status;

	tags(sizeof(tag));
	memset(seen, 0, sizeof(seen));
	for (i = 0; i < 20; i++)
		bsp_send(next, &i, "abcdefghijklmnopqrst", i % 2 ? i : 0);
	bsp_sync();
	queue(20, 100);
	for (i = 0; i < 20; i++) {
		bsp_get_tag(&status, &tag);
		CHECK(tag >= 0 && tag < 20);
		seen[tag]++;
		EQUAL(status, tag % 2 ? tag : 0);
		bsp_move(payload, sizeof(payload));
		CHECK(!memcmp(payload, "abcdefghijklmnopqrst", tag % 2 ? tag : 0));
	}
	for (i = 0; i < 20; i++)
		EQUAL(seen[i], 1);
}

TEST(nobody_sends, "n=1,2,3")
{
	queue(0, 0);
	bsp_sync();
	queue(0, 0);
	bsp_sync();
	queue(0, 0);
}

/* Messages of a step are there in the next one, not later and not again. */
TEST(step_after_step, "n=1,2,3,4")
{
	int step, x, last = (ME + NPROCS - 1) % NPROCS;

	for (step = 0; step < 100; step++) {
		x = 1000 * step + ME;
		if (step % 3)
			bsp_send((ME + 1) % NPROCS, NULL, &x, sizeof(x));
		bsp_sync();
		queue(step % 3 ? 1 : 0, step % 3 ? sizeof(x) : 0);
		if (step % 3) {
			bsp_move(&x, sizeof(x));
			EQUAL(x, 1000 * step + last);
		}
	}
}

/* Sending while the queue is read does not change it. */
TEST(while_the_queue_is_read, "n=1,2,3")
{
	int i, x, step, seen[10];

	for (i = 0; i < 10; i++)
		bsp_send((ME + 1) % NPROCS, NULL, &i, sizeof(i));
	bsp_sync();
	for (step = 0; step < 5; step++) {
		memset(seen, 0, sizeof(seen));
		for (i = 0; i < 10; i++) {
			queue(10 - i, (10 - i) * sizeof(int));
			bsp_move(&x, sizeof(x));
			CHECK(x >= 0 && x < 10);
			seen[x]++;
			bsp_send((ME + 1) % NPROCS, NULL, &x, sizeof(x));
		}
		for (i = 0; i < 10; i++)
			EQUAL(seen[i], 1);
		bsp_sync();
	}
}

TEST(with_puts_and_gets, "n=2,3,4")
{
	int area[2] = { -1, -1 }, x = 10 + ME, got = -1, next = (ME + 1) % NPROCS;
	int last = (ME + NPROCS - 1) % NPROCS, message;

	area[1] = 50 + ME;
	bsp_push_reg(area, sizeof(area));
	bsp_sync();
	bsp_put(next, &x, area, 0, sizeof(x));
	bsp_send(next, NULL, &x, sizeof(x));
	bsp_get(next, area, sizeof(int), &got, sizeof(int));
	bsp_sync();
	EQUAL(area[0], 10 + last);
	EQUAL(got, 50 + next);
	queue(1, sizeof(int));
	bsp_move(&message, sizeof(message));
	EQUAL(message, 10 + last);
}

/* Messages that are not read are gone after the next bsp_sync(). */
TEST(unread_vanish, "n=1,2,3")
{
	int x = 1;
	bsp_size_t status;

	bsp_send((ME + 1) % NPROCS, NULL, &x, sizeof(x));
	bsp_send((ME + 1) % NPROCS, NULL, &x, sizeof(x));
	bsp_sync();
	queue(2, 2 * sizeof(x));
	bsp_sync();
	queue(0, 0);
	bsp_get_tag(&status, NULL);
	CHECK(status == NONE);
}

TEST(half_read_vanish, "n=1,2,3")
{
	int i, x;

	for (i = 0; i < 10; i++)
		bsp_send((ME + 1) % NPROCS, NULL, &i, sizeof(i));
	bsp_sync();
	for (i = 0; i < 4; i++)
		bsp_move(&x, sizeof(x));
	queue(6, 6 * sizeof(x));
	x = 99;
	bsp_send((ME + 1) % NPROCS, NULL, &x, sizeof(x));
	bsp_sync();
	queue(1, sizeof(x));
	x = 0;
	bsp_move(&x, sizeof(x));
	EQUAL(x, 99);
}

/* What was sent before the end of the section is nobody's. */
TEST(sent_in_the_last_step, "n=1,2,3")
{
	int x = 1;

	bsp_sync();
	bsp_send((ME + 1) % NPROCS, NULL, &x, sizeof(x));
}
