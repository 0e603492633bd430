/* SPDX-License-Identifier: GPL-2.0-only */
/* Sizes and offsets beyond 31 and 32 bits, where their type allows. */
#include "bsptest.h"

/* A size may be beyond 4 GiB where its type allows; the bytes used need be there. */
TEST(size_beyond_32_bits, "n=1,2 dialect=size_t")
{
	char area[64], x = 9;
	bsp_size_t size = (bsp_size_t)1 << 16 << 20;

	memset(area, 0, sizeof(area));
	bsp_push_reg(area, size);
	bsp_sync();
	bsp_put((ME + 1) % NPROCS, &x, area, 63, 1);
	bsp_sync();
	EQUAL(area[63], 9);
}

TEST(bounds_beyond_32_bits, "n=1,2 abort=bsp_put dialect=size_t")
{
	char area[64], x = 9;
	bsp_size_t size = (bsp_size_t)1 << 16 << 20;

	bsp_push_reg(area, sizeof(area));
	bsp_sync();
	bsp_put((ME + 1) % NPROCS, &x, area, size + 1, 1);
	ENDED_BY_SYNC();
}

/* An offset beyond 2^31, in a block whose other pages are never touched. */
TEST(offset_beyond_31_bits, "n=1,2 dialect=size_t")
{
	bsp_size_t size = ((bsp_size_t)1 << 31) + 4096;
	char *area = (char *)malloc(size);
	double x = 1.0 + ME, got = 0;
	int me = ME, n = NPROCS;

	if (!area) {
		bspt_say("# no memory for it");
		return;
	}
	bsp_push_reg(area, size);
	bsp_sync();
	bsp_put((me + 1) % n, &x, area, size - sizeof(x), sizeof(x));
	bsp_sync();
	bsp_get((me + 1) % n, area, size - sizeof(x), &got, sizeof(got));
	bsp_sync();
	EQUAL(got, 1 + me);
	free(area);
}
