// SPDX-License-Identifier: GPL-2.0-only
/* Byte runs in which two pages differ: all of them, and nothing else. */
#include "test.h"
#include "diff.h"

#define SIZE	4096

static _Alignas(8) unsigned char now[SIZE], was[SIZE], out[SIZE];

/* Runs taken @max at a time, against a look at each byte. */
static void compare(__u32 max)
{
	struct ub_run run[16];
	__u32 at = 0, n, i, k, end = 0;

	memcpy(out, was, SIZE);
	while ((n = ub_diff(now, was, SIZE, &at, run, max))) {
		for (i = 0; i < n; i++) {
			expect(run[i].len && run[i].off + run[i].len <= SIZE,
			       "run %u, %u", run[i].off, run[i].len);
			expect(run[i].off >= end, "run at %u begins before %u",
			       run[i].off, end);
			end = run[i].off + run[i].len;
			for (k = run[i].off; k < end; k++)
				expect(now[k] != was[k], "byte %u is the same", k);
			memcpy(out + run[i].off, now + run[i].off, run[i].len);
		}
	}
	expect(!memcmp(out, now, SIZE), "not all bytes were in the runs");
}

static void random_pages(void)
{
	__u32 i, k;

	for (i = 0; i < 3000; i++) {
		for (k = 0; k < SIZE; k++)
			was[k] = rnd();
		memcpy(now, was, SIZE);
		for (k = below(i % 300 + 1); k; k--) {
			__u32 at = below(SIZE), n = 1 + below(40);

			while (n-- && at < SIZE)
				now[at++] ^= 1 + below(255);
		}
		compare(1 + below(16));
	}
	ktap_done("random changes are all in the runs, nothing else is");
}

static void edges(void)
{
	memset(was, 0, SIZE);
	memset(now, 0, SIZE);
	compare(16);
	memset(now, 1, SIZE);
	compare(1);
	for (__u32 k = 0; k < SIZE; k += 2)
		now[k] = 0;
	compare(16);
	memset(now, 0, SIZE);
	now[0] = 1;
	now[SIZE - 1] = 1;
	compare(2);
	ktap_done("nothing, all, every other byte, the first and the last");
}

int main(void)
{
	ktap_start(2);
	random_pages();
	edges();
	return ktap_end();
}
