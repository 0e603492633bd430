/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bsp_set_tagsize(): counts from the next step, and gives back what was set before,
 * so that giving it what it gave back restores it.
 */
#include "bsptest.h"

static bsp_size_t set(bsp_size_t size)
{
	bsp_set_tagsize(&size);
	return size;
}

/* The next message has this payload length and this tag, with nothing behind it. */
static void expect(int length, const char *tag, int tag_size)
{
	char got[64];
	bsp_size_t status;

	memset(got, 'x', sizeof(got));
	bsp_get_tag(&status, got);
	EQUAL(status, length);
	CHECK(!memcmp(got, tag, tag_size));
	CHECK(bspt_all(got + tag_size, (long)sizeof(got) - tag_size, 'x'));
	bsp_move(got, sizeof(got));
}

TEST(default_is_0, "n=1,2,3")
{
	EQUAL(set(4), 0);
	bsp_sync();
	EQUAL(set(4), 4);
}

TEST(gives_back_the_previous, "n=1,2,3")
{
	EQUAL(set(4), 0);
	bsp_sync();
	EQUAL(set(8), 4);
	bsp_sync();
	EQUAL(set(0), 8);
	bsp_sync();
	EQUAL(set(1), 0);
	bsp_sync();
}

/* Within a step the previous is that of the call before. */
TEST(gives_back_the_call_before, "n=1,2,3")
{
	EQUAL(set(4), 0);
	EQUAL(set(8), 4);
	EQUAL(set(2), 8);
	bsp_sync();
	EQUAL(set(6), 2);
	EQUAL(set(6), 6);
	bsp_sync();
}

TEST(last_call_of_a_step_counts, "n=1,2,3")
{
	set(4);
	set(12);
	set(3);
	bsp_sync();
	bsp_send((ME + 1) % NPROCS, "abc", NULL, 0);
	bsp_sync();
	expect(0, "abc", 3);
}

TEST(restores, "n=1,2,3")
{
	bsp_size_t size;

	set(5);
	bsp_sync();
	size = 2;
	bsp_set_tagsize(&size);
	bsp_sync();
	bsp_send(ME, "ab", NULL, 0);
	bsp_set_tagsize(&size);
	EQUAL(size, 2);
	bsp_sync();
	expect(0, "ab", 2);
	bsp_send(ME, "abcde", NULL, 0);
	bsp_sync();
	expect(0, "abcde", 5);
}

/* Restored within the step: nothing happened. */
TEST(restores_in_the_same_step, "n=1,2,3")
{
	bsp_size_t size;

	set(5);
	bsp_sync();
	size = 9;
	bsp_set_tagsize(&size);
	bsp_set_tagsize(&size);
	bsp_sync();
	bsp_send(ME, "abcde", NULL, 0);
	bsp_sync();
	expect(0, "abcde", 5);
}

/* Messages of the step itself still have the old size, at both ends. */
TEST(not_before_the_next_step, "n=1,2,3")
{
	set(2);
	bsp_sync();
	bsp_send((ME + 1) % NPROCS, "ab", "1", 1);
	set(7);
	bsp_send((ME + 1) % NPROCS, "ab", "1", 1);
	bsp_sync();
	expect(1, "ab", 2);
	expect(1, "ab", 2);
	bsp_send((ME + 1) % NPROCS, "abcdefg", "12", 2);
	bsp_sync();
	expect(2, "abcdefg", 7);
}

TEST(default_until_the_next_step, "n=1,2,3")
{
	set(7);
	bsp_send((ME + 1) % NPROCS, NULL, "1", 1);
	bsp_sync();
	expect(1, "", 0);
}

/* A queue that is read keeps the size with which it was sent. */
TEST(queue_keeps_its_size, "n=1,2,3")
{
	set(4);
	bsp_sync();
	bsp_send((ME + 1) % NPROCS, "abcd", NULL, 0);
	bsp_send((ME + 1) % NPROCS, "abcd", NULL, 0);
	bsp_sync();
	expect(0, "abcd", 4);
	set(1);
	expect(0, "abcd", 4);
	bsp_send((ME + 1) % NPROCS, "efgh", NULL, 0);
	bsp_sync();
	expect(0, "efgh", 4);
	bsp_send((ME + 1) % NPROCS, "z", NULL, 0);
	bsp_sync();
	expect(0, "z", 1);
}

TEST(grows_and_shrinks, "n=1,2,3")
{
	static const int sizes[] = { 1, 0, 3, 64, 7, 8, 0, 13, 2, 1 };
	char tag[64];
	int i, before = 0;

	for (i = 0; i < 10; i++) {
		EQUAL(set(sizes[i]), before);
		before = sizes[i];
		bsp_sync();
		bspt_fill(tag, sizeof(tag), i);
		bsp_send((ME + 1) % NPROCS, tag, tag, i);
		bsp_sync();
		expect(i, tag, sizes[i]);
	}
}

TEST(large_tag, "n=1,2")
{
	static char tag[100000], got[100000];
	bsp_size_t status;
	void *tag_at, *payload_at;

	set(sizeof(tag));
	bsp_sync();
	bspt_fill(tag, sizeof(tag), ME);
	bsp_send((ME + 1) % NPROCS, tag, "xyz", 3);
	bsp_send((ME + 1) % NPROCS, tag, "xyz", 3);
	memset(tag, 0, sizeof(tag));
	bsp_sync();
	bsp_get_tag(&status, got);
	EQUAL(status, 3);
	CHECK(bspt_has(got, 0, sizeof(got), (ME + NPROCS - 1) % NPROCS));
	bsp_move(got, 3);
	EQUAL(bsp_hpmove(&tag_at, &payload_at), 3);
	CHECK(bspt_has(tag_at, 0, sizeof(got), (ME + NPROCS - 1) % NPROCS));
	CHECK(!memcmp(payload_at, "xyz", 3));
}

TEST(different_sizes, "n=2,3 abort=bsp_set_tagsize ours")
{
	set(ME == 1 ? 4 : 8);
	ENDED_BY_SYNC();
}

TEST(of_some_only, "n=2,3 abort=bsp_set_tagsize ours")
{
	if (ME == 1)
		set(4);
	ENDED_BY_SYNC();
}

/* Also with a value that changes nothing the call is everyone's. */
TEST(of_some_only_with_equal_value, "n=2,3 abort=bsp_set_tagsize ours")
{
	set(4);
	bsp_sync();
	if (ME == 0)
		set(4);
	ENDED_BY_SYNC();
}

/* More than a tag can have here: told at once, not by a message that has no memory. */
TEST(above_all_bounds, "n=1,2 abort=bsp_set_tagsize dialect=size_t ours")
{
	bsp_size_t size = NONE / 2;

	bsp_set_tagsize(&size);
	NOT_REACHED();
}

TEST(negative, "n=1,2 abort=bsp_set_tagsize dialect=classic")
{
	set((bsp_size_t)-1);
	ENDED_BY_SYNC();
}

TEST(negative_of_one, "n=2,3 abort=bsp_set_tagsize by=1 dialect=classic")
{
	set(ME == 1 ? (bsp_size_t)-8 : 8);
	ENDED_BY_SYNC();
}

TEST(null, "n=1,2 abort=bsp_set_tagsize")
{
	bsp_set_tagsize(NULL);
	ENDED_BY_SYNC();
}
