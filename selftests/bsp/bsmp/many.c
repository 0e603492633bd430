/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Many messages of mixed lengths to many destinations, interleaved: each arrives
 * once, with its own tag and its own bytes.
 */
#include "bsptest.h"

struct tag {
	int from;
	int number;
	int length;
};

static void tags(bsp_size_t size)
{
	bsp_set_tagsize(&size);
	bsp_sync();
}

/* The length of message @number from @from to @to. */
static int length_of(int from, int to, int number)
{
	unsigned long state = 1 + from + 17UL * to + 1009UL * number;

	bspt_random(&state, 0);
	switch (bspt_random(&state, 8)) {
	case 0:
		return 0;
	case 1:
		return 1;
	case 2:
		return (int)bspt_random(&state, 2000);
	case 3:
		return 8;
	default:
		return (int)bspt_random(&state, 100);
	}
}

static int seed_of(int from, int to, int number)
{
	return 31 * from + 7 * to + 101 * number;
}

/* Send to each process @count messages, in an order that mixes all. */
static void send_all(int count)
{
	static char x[2000];
	struct tag tag;
	int i, p, n = NPROCS, to;

	tag.from = ME;
	for (i = 0; i < count; i++)
		for (p = 0; p < n; p++) {
			to = (p * (n > 2 ? 2 : 1) + i + p / 2) % n;
			tag.number = n * i + p;
			tag.length = length_of(ME, to, tag.number);
			bspt_fill(x, tag.length, seed_of(ME, to, tag.number));
			bsp_send(to, &tag, x, tag.length);
			memset(x, 0, tag.length);
		}
}

/* How many of them go to @to, by the same rule. */
static int expected(int count, int to, char *wanted)
{
	int i, p, n = NPROCS, sum = 0;

	memset(wanted, 0, count * n);
	for (i = 0; i < count; i++)
		for (p = 0; p < n; p++)
			if ((p * (n > 2 ? 2 : 1) + i + p / 2) % n == to) {
				wanted[n * i + p] = 1;
				sum++;
			}
	return sum;
}

static void check_one(char **wanted, const struct tag *tag, const void *payload, int length,
		      int count)
{
	CHECK(tag->from >= 0 && tag->from < NPROCS);
	CHECK(tag->number >= 0 && tag->number < count * NPROCS);
	EQUAL(wanted[tag->from][tag->number], 1);
	wanted[tag->from][tag->number] = 2;
	EQUAL(tag->length, length);
	EQUAL(length, length_of(tag->from, ME, tag->number));
	CHECK(bspt_has(payload, 0, length, seed_of(tag->from, ME, tag->number)));
}

static void receive_all(int count, int hp)
{
	static char x[2000];
	char *wanted[8];
	bsp_nprocs_t packets;
	bsp_size_t bytes, status;
	struct tag tag;
	void *tag_at, *payload_at;
	int p, sum = 0;
	long total = 0;

	for (p = 0; p < NPROCS; p++) {
		wanted[p] = (char *)malloc(count * NPROCS);
		sum += expected(count, ME, wanted[p]);
	}
	bsp_qsize(&packets, &bytes);
	EQUAL(packets, sum);
	for (; sum > 0; sum--) {
		if (hp == 1 || (hp == 2 && sum % 2)) {
			status = bsp_hpmove(&tag_at, &payload_at);
			check_one(wanted, (struct tag *)tag_at, payload_at, (int)status, count);
		} else {
			bsp_get_tag(&status, &tag);
			memset(x, 0, status);
			bsp_move(x, sizeof(x));
			check_one(wanted, &tag, x, (int)status, count);
		}
		total += (long)status;
	}
	EQUAL(bytes, total);
	bsp_get_tag(&status, &tag);
	CHECK(status == NONE);
	for (p = 0; p < NPROCS; p++)
		free(wanted[p]);
}

TEST(moved, "n=1,2,3,4 limit=120")
{
	tags(sizeof(struct tag));
	send_all(3000);
	bsp_sync();
	receive_all(3000, 0);
}

TEST(hpmoved, "n=2,4 limit=120")
{
	tags(sizeof(struct tag));
	send_all(3000);
	bsp_sync();
	receive_all(3000, 1);
}

TEST(both, "n=2,3 limit=120")
{
	tags(sizeof(struct tag));
	send_all(2000);
	bsp_sync();
	receive_all(2000, 2);
}

TEST(steps, "n=2,4,8 limit=120")
{
	int step, counts[8] = { 10, 400, 1, 0, 100, 7, 300, 50 };

	tags(sizeof(struct tag));
	send_all(counts[0]);
	bsp_sync();
	for (step = 0; step < 8; step++) {
		/* the next ones go out while these are read */
		if (step < 7)
			send_all(counts[step + 1]);
		receive_all(counts[step], step % 3);
		bsp_sync();
	}
}

TEST(empty_ones, "n=1,2,3 limit=120")
{
	bsp_nprocs_t packets;
	bsp_size_t bytes;
	int i;

	for (i = 0; i < 50000; i++)
		bsp_send(i % NPROCS, NULL, NULL, 0);
	bsp_sync();
	bsp_qsize(&packets, &bytes);
	for (i = 0; i < (int)packets; i++)
		bsp_move(NULL, 0);
	i = 50000 / NPROCS + (ME < 50000 % NPROCS);
	EQUAL(packets, NPROCS * i);
	EQUAL(bytes, 0);
}

TEST(large_ones, "n=1,2 limit=120")
{
	long size = 4L << 20, i;
	char *x = (char *)malloc(size);
	void *tag_at, *payload_at;
	bsp_size_t length;

	tags(sizeof(long));
	for (i = 0; i < 3; i++) {
		bspt_fill(x, size - i, (int)i + 10 * ME);
		bsp_send((ME + 1) % NPROCS, &i, x, size - i);
		bsp_send((ME + 1) % NPROCS, &i, NULL, 0);
	}
	free(x);
	bsp_sync();
	for (i = 0; i < 6; i++) {
		length = bsp_hpmove(&tag_at, &payload_at);
		if (!length)
			continue;
		EQUAL(length, size - *(long *)tag_at);
		CHECK(bspt_has(payload_at, 0, (long)length,
			       (int)*(long *)tag_at + 10 * ((ME + NPROCS - 1) % NPROCS)));
	}
}

/* All to one, which sends nothing itself. */
TEST(all_to_one, "n=2,4 limit=120")
{
	bsp_nprocs_t packets;
	bsp_size_t bytes, status;
	int i, x[2], *seen = (int *)malloc(8 * sizeof(int));

	memset(seen, 0, 8 * sizeof(int));
	for (i = 0; i < 5000 && ME; i++) {
		x[0] = ME;
		x[1] = i;
		bsp_send(0, NULL, x, sizeof(x));
	}
	bsp_sync();
	bsp_qsize(&packets, &bytes);
	EQUAL(packets, ME ? 0 : 5000 * (NPROCS - 1));
	EQUAL(bytes, packets * sizeof(x));
	for (;;) {
		bsp_get_tag(&status, NULL);
		if (status == NONE)
			break;
		bsp_move(x, sizeof(x));
		CHECK(x[0] > 0 && x[0] < NPROCS);
		seen[x[0]] += x[1];
	}
	for (i = 1; i < NPROCS; i++)
		EQUAL(seen[i], ME ? 0 : 5000 / 2 * 4999);
	free(seen);
}
