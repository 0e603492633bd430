/* SPDX-License-Identifier: GPL-2.0-only */
/* bsp_time(): seconds since bsp_begin(), of a clock that never goes back. */
#include <time.h>
#include "bsptest.h"

TEST(time_never_goes_back, "n=1,2,4")
{
	double now, last = bsp_time();
	int i;

	CHECK(last >= 0);
	for (i = 0; i < 20000; i++) {
		now = bsp_time();
		CHECK(now >= last);
		last = now;
		if (i % 2000 == 0)
			bsp_sync();
	}
}

TEST(time_is_in_seconds, "n=2")
{
	time_t first = time(NULL), begin, end;
	double from, elapsed;

	do
		begin = time(NULL);
	while (begin == first);
	from = bsp_time();
	do
		end = time(NULL);
	while (end < begin + 2);
	elapsed = bsp_time() - from;
	/* begin may have been read up to its second's end, end too */
	CHECK(elapsed > 1.0 - 0.01);
	end = time(NULL);
	CHECK(elapsed < difftime(end, begin) + 1.01);
}

TEST(time_begins_with_the_section, "n=1,2 limit=30")
{
	CHECK(bsp_time() < 20);
}

TEST(time_is_finer_than_10_ms, "n=1,2")
{
	double now = bsp_time(), next;

	do
		next = bsp_time();
	while (next == now);
	CHECK(next - now < 0.01 || bsp_time() - next < 0.01);
}
