/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bsp_hpmove(): the length of the next message and pointers to its tag and payload,
 * which are aligned for any type and live until the next bsp_sync(); -1 when there
 * is no message.
 */
#include "bsptest.h"

union any {
	long l;
	double d;
	long double ld;
	void *p;
	void (*f)(void);
};

struct probe {
	char c;
	union any any;
};

#define ALIGNMENT	((size_t)&((struct probe *)0)->any)
#define ALIGNED(p)	((size_t)(p) % ALIGNMENT == 0)

static void tags(bsp_size_t size)
{
	bsp_set_tagsize(&size);
	bsp_sync();
}

TEST(empty_queue, "n=1,2,3")
{
	void *tag, *payload;

	CHECK(bsp_hpmove(&tag, &payload) == NONE);
	bsp_sync();
	CHECK(bsp_hpmove(&tag, &payload) == NONE);
}

TEST(one_message, "n=1,2,3,4")
{
	int tag = 10 + ME, x = 100 + ME, last = (ME + NPROCS - 1) % NPROCS;
	void *tag_at, *payload_at;

	tags(sizeof(tag));
	bsp_send((ME + 1) % NPROCS, &tag, &x, sizeof(x));
	bsp_sync();
	EQUAL(bsp_hpmove(&tag_at, &payload_at), sizeof(x));
	EQUAL(*(int *)tag_at, 10 + last);
	EQUAL(*(int *)payload_at, 100 + last);
	CHECK(bsp_hpmove(&tag_at, &payload_at) == NONE);
}

TEST(no_payload, "n=1,2,3")
{
	int tag = 10 + ME;
	void *tag_at, *payload_at;

	tags(sizeof(tag));
	bsp_send((ME + 1) % NPROCS, &tag, NULL, 0);
	bsp_sync();
	EQUAL(bsp_hpmove(&tag_at, &payload_at), 0);
	EQUAL(*(int *)tag_at, 10 + (ME + NPROCS - 1) % NPROCS);
	CHECK(bsp_hpmove(&tag_at, &payload_at) == NONE);
}

TEST(no_tag, "n=1,2,3")
{
	void *tag_at, *payload_at;

	bsp_send((ME + 1) % NPROCS, NULL, "abc", 3);
	bsp_send((ME + 1) % NPROCS, NULL, NULL, 0);
	bsp_sync();
	if (bsp_hpmove(&tag_at, &payload_at) == 3) {
		CHECK(!memcmp(payload_at, "abc", 3));
		EQUAL(bsp_hpmove(&tag_at, &payload_at), 0);
	} else {
		EQUAL(bsp_hpmove(&tag_at, &payload_at), 3);
		CHECK(!memcmp(payload_at, "abc", 3));
	}
}

TEST(aligned, "n=1,2,3")
{
	int i, size;
	char tag[40], x[50];
	void *tag_at, *payload_at;
	bsp_size_t length;

	for (size = 0; size < 40; size += size < 10 ? 1 : 7) {
		tags(size);
		memset(tag, 1, sizeof(tag));
		memset(x, 2, sizeof(x));
		for (i = 0; i < 50; i++)
			bsp_send((ME + 1) % NPROCS, tag, x, i);
		bsp_sync();
		for (i = 0; i < 50; i++) {
			length = bsp_hpmove(&tag_at, &payload_at);
			CHECK(length < 50);
			CHECK(!size || ALIGNED(tag_at));
			CHECK(!length || ALIGNED(payload_at));
			CHECK(bspt_all(tag_at, size, 1));
			CHECK(bspt_all(payload_at, length, 2));
		}
	}
}

/* The pointers live on while the rest of the queue is read and new messages go out. */
TEST(lives_until_sync, "n=1,2,3")
{
	int i, k, next = (ME + 1) % NPROCS, last = (ME + NPROCS - 1) % NPROCS;
	void *tag_at[100], *payload_at[100];
	char x[1000];
	int length[100];

	tags(sizeof(int));
	for (i = 0; i < 100; i++) {
		bspt_fill(x, 10 * i, i + 1000 * ME);
		bsp_send(next, &i, x, 10 * i);
	}
	bsp_sync();
	for (i = 0; i < 100; i++) {
		if (i % 10 == 9) {
			bsp_move(x, sizeof(x));
			length[i] = -1;
			continue;
		}
		length[i] = (int)bsp_hpmove(&tag_at[i], &payload_at[i]);
		for (k = 0; k < 10; k++)
			bsp_send(next, &k, "0123456789", 10);
	}
	for (i = 0; i < 100; i++) {
		if (length[i] < 0)
			continue;
		k = *(int *)tag_at[i];
		EQUAL(length[i], 10 * k);
		CHECK(bspt_has(payload_at[i], 0, length[i], k + 1000 * last));
	}
}

/* The memory is the receiver's to write until then. */
TEST(may_be_written, "n=1,2,3 ours")
{
	int i, next = (ME + 1) % NPROCS;
	void *tag_at[50], *payload_at[50];
	char x[20];

	tags(8);
	memset(x, 3, sizeof(x));
	for (i = 0; i < 50; i++)
		bsp_send(next, x, x, 13);
	bsp_sync();
	for (i = 0; i < 50; i++) {
		EQUAL(bsp_hpmove(&tag_at[i], &payload_at[i]), 13);
		CHECK(bspt_all(tag_at[i], 8, 3));
		CHECK(bspt_all(payload_at[i], 13, 3));
		memset(tag_at[i], 4, 8);
		memset(payload_at[i], 5, 13);
	}
	for (i = 0; i < 50; i++) {
		CHECK(bspt_all(tag_at[i], 8, 4));
		CHECK(bspt_all(payload_at[i], 13, 5));
	}
}

TEST(mixed_with_move, "n=1,2,3")
{
	int i, tag, seen[40], value;
	bsp_size_t status;
	void *tag_at, *payload_at;

	tags(sizeof(int));
	for (i = 0; i < 40; i++) {
		value = 3 * i;
		bsp_send((ME + 1) % NPROCS, &i, &value, sizeof(value));
	}
	bsp_sync();
	memset(seen, 0, sizeof(seen));
	for (i = 0; i < 40; i++) {
		bsp_get_tag(&status, &tag);
		EQUAL(status, sizeof(value));
		CHECK(tag >= 0 && tag < 40);
		seen[tag]++;
		if (i % 3) {
			EQUAL(bsp_hpmove(&tag_at, &payload_at), sizeof(value));
			EQUAL(*(int *)tag_at, tag);
			value = *(int *)payload_at;
		} else {
			bsp_move(&value, sizeof(value));
		}
		EQUAL(value, 3 * tag);
	}
	for (i = 0; i < 40; i++)
		EQUAL(seen[i], 1);
}

TEST(null_tag, "n=1,2 abort=bsp_hpmove")
{
	void *payload_at;

	bsp_send(ME, NULL, "abc", 3);
	bsp_sync();
	bsp_hpmove(NULL, &payload_at);
	ENDED_BY_SYNC();
}

TEST(null_payload, "n=1,2 abort=bsp_hpmove")
{
	void *tag_at;

	bsp_send(ME, NULL, "abc", 3);
	bsp_sync();
	bsp_hpmove(&tag_at, NULL);
	ENDED_BY_SYNC();
}
