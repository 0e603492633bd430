/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bsp_get_tag(): the payload's length and the tag of the next message, or -1 and the
 * tag untouched.
 */
#include "bsptest.h"

static void tags(bsp_size_t size)
{
	bsp_set_tagsize(&size);
	bsp_sync();
}

TEST(empty_queue, "n=1,2,3")
{
	bsp_size_t status = 5;
	int tag = 1234;

	bsp_get_tag(&status, &tag);
	CHECK(status == NONE);
	EQUAL(tag, 1234);
	tags(sizeof(tag));
	status = 5;
	bsp_get_tag(&status, &tag);
	CHECK(status == NONE);
	EQUAL(tag, 1234);
}

TEST(emptied_queue, "n=1,2,3")
{
	bsp_size_t status;
	int tag = 4, x = 9;

	tags(sizeof(tag));
	bsp_send((ME + 1) % NPROCS, &tag, &x, sizeof(x));
	bsp_sync();
	bsp_move(&x, sizeof(x));
	tag = 1234;
	bsp_get_tag(&status, &tag);
	CHECK(status == NONE);
	EQUAL(tag, 1234);
}

TEST(does_not_remove, "n=1,2,3")
{
	bsp_size_t status;
	int i, tag = 10 + ME, x = 100 + ME, last = (ME + NPROCS - 1) % NPROCS;

	tags(sizeof(tag));
	bsp_send((ME + 1) % NPROCS, &tag, &x, sizeof(x));
	bsp_sync();
	for (i = 0; i < 5; i++) {
		tag = -1;
		bsp_get_tag(&status, &tag);
		EQUAL(status, sizeof(x));
		EQUAL(tag, 10 + last);
	}
	bsp_move(&x, sizeof(x));
	EQUAL(x, 100 + last);
}

TEST(no_byte_beyond_the_tag, "n=1,2,3")
{
	char tag[16];
	bsp_size_t status;

	tags(5);
	bsp_send((ME + 1) % NPROCS, "abcdefgh", NULL, 0);
	bsp_sync();
	memset(tag, 'x', sizeof(tag));
	bsp_get_tag(&status, tag + 3);
	CHECK(!memcmp(tag, "xxxabcdexxxxxxxx", 16));
}

TEST(tag_of_no_byte, "n=1,2,3")
{
	int tag = 1234;
	bsp_size_t status;

	bsp_send((ME + 1) % NPROCS, &tag, "abc", 3);
	bsp_sync();
	bsp_get_tag(&status, &tag);
	EQUAL(status, 3);
	EQUAL(tag, 1234);
	bsp_get_tag(&status, NULL);
	EQUAL(status, 3);
}

/* A tag of odd size at an odd address. */
TEST(odd_tags, "n=1,2,3")
{
	char from[8], to[8];
	bsp_size_t status;
	int size;

	for (size = 1; size <= 7; size += 2) {
		tags(size);
		bspt_fill(from, 8, size);
		bsp_send((ME + 1) % NPROCS, from + 1, from, size);
		bsp_sync();
		bsp_get_tag(&status, to + 1);
		EQUAL(status, size);
		CHECK(bspt_has(to + 1, 1, size, size));
	}
}

TEST(null_status, "n=1,2 abort=bsp_get_tag")
{
	int tag;

	bsp_get_tag(NULL, &tag);
	ENDED_BY_SYNC();
}

TEST(null_tag, "n=1,2 abort=bsp_get_tag")
{
	int tag = 1;
	bsp_size_t status;

	tags(sizeof(tag));
	bsp_send(ME, &tag, NULL, 0);
	bsp_sync();
	bsp_get_tag(&status, NULL);
	ENDED_BY_SYNC();
}
