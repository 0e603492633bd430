/* SPDX-License-Identifier: GPL-2.0-only */
/* The whole of a registered area can be reached, and nothing beside it. */
#include "bsptest.h"

static char buf[32];

static void open_part(void)
{
	memset(buf, 0, sizeof(buf));
	bsp_push_reg(buf + 8, 16);
	bsp_sync();
}

TEST(put_all, "n=1,2,3")
{
	char x[16];

	open_part();
	memset(x, 3, 16);
	bsp_put((ME + 1) % NPROCS, x, buf + 8, 0, 16);
	bsp_sync();
	CHECK(bspt_all(buf, 8, 0));
	CHECK(bspt_all(buf + 8, 16, 3));
	CHECK(bspt_all(buf + 24, 8, 0));
}

TEST(put_first_and_last_byte, "n=1,2,3")
{
	open_part();
	bsp_put((ME + 1) % NPROCS, "a", buf + 8, 0, 1);
	bsp_put((ME + 1) % NPROCS, "z", buf + 8, 15, 1);
	bsp_sync();
	CHECK(bspt_all(buf, 8, 0));
	EQUAL(buf[8], 'a');
	CHECK(bspt_all(buf + 9, 14, 0));
	EQUAL(buf[23], 'z');
	CHECK(bspt_all(buf + 24, 8, 0));
}

TEST(get_all, "n=1,2,3")
{
	char x[18];

	open_part();
	memset(buf + 8, 1 + ME, 16);
	memset(x, 9, sizeof(x));
	bsp_get((ME + 1) % NPROCS, buf + 8, 0, x + 1, 16);
	bsp_sync();
	CHECK(bspt_all(x + 1, 16, 1 + (ME + 1) % NPROCS));
	EQUAL(x[0], 9);
	EQUAL(x[17], 9);
}

TEST(get_last_byte, "n=1,2,3")
{
	char x[3] = { 9, 9, 9 };

	open_part();
	buf[23] = (char)(1 + ME);
	bsp_get((ME + 1) % NPROCS, buf + 8, 15, x + 1, 1);
	bsp_sync();
	EQUAL(x[0], 9);
	EQUAL(x[1], 1 + (ME + 1) % NPROCS);
	EQUAL(x[2], 9);
}
