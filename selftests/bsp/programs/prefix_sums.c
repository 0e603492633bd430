/* SPDX-License-Identifier: GPL-2.0-only */
/* All prefix sums of a vector: by doubling, and in two supersteps. */
#include "bsptest.h"

#define EACH	50

/* The sum of @value over this process and those before it, in log p supersteps. */
static long scan_by_doubling(long value)
{
	static long left;
	int distance;

	bsp_push_reg(&left, sizeof(left));
	bsp_sync();
	for (distance = 1; distance < NPROCS; distance *= 2) {
		if (ME + distance < NPROCS)
			bsp_put(ME + distance, &value, &left, 0, sizeof(value));
		bsp_sync();
		if (ME >= distance)
			value += left;
	}
	bsp_pop_reg(&left);
	bsp_sync();
	return value;
}

/* The same by telling everybody after me. */
static long scan_by_messages(long value)
{
	bsp_size_t status;
	long other;
	int i;

	for (i = ME + 1; i < NPROCS; i++)
		bsp_send(i, NULL, &value, sizeof(value));
	bsp_sync();
	for (;;) {
		bsp_get_tag(&status, NULL);
		if (status == NONE)
			break;
		bsp_move(&other, sizeof(other));
		value += other;
	}
	return value;
}

static void scan_vector(long (*scan)(long))
{
	long x[EACH], sum = 0, before;
	int i;

	for (i = 0; i < EACH; i++) {
		x[i] = 2 * (ME * EACH + i) + 1;		/* odd numbers: the sums are squares */
		sum += x[i];
		x[i] = sum;
	}
	before = scan(sum) - sum;
	for (i = 0; i < EACH; i++) {
		long k = ME * EACH + i + 1;

		EQUAL(before + x[i], k * k);
	}
}

TEST(by_doubling, "n=1,2,3,4,8")
{
	scan_vector(scan_by_doubling);
}

TEST(by_messages, "n=1,2,3,4,8")
{
	scan_vector(scan_by_messages);
}
