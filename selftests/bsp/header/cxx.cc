/* SPDX-License-Identifier: GPL-2.0-only */
/* A C++ program. */
#include "bsptest.h"

TEST(as_cplusplus, "n=1,2,3")
{
	bsp_size_t size = sizeof(int), status, bytes;
	bsp_nprocs_t packets;
	int area = -1, x = 10 + ME, y = -1, tag = ME;
	void *tag_at, *payload_at;
	const int next = (ME + 1) % NPROCS;
	bool right;

	bsp_push_reg(&area, sizeof(area));
	bsp_set_tagsize(&size);
	bsp_sync();
	bsp_put(next, &x, &area, 0, sizeof(x));
	bsp_send(next, &tag, &x, sizeof(x));
	bsp_send(next, &tag, &x, sizeof(x));
	bsp_sync();
	right = area == 10 + (ME + NPROCS - 1) % NPROCS;
	CHECK(right);
	bsp_get(next, &area, 0, &y, sizeof(y));
	bsp_hpget(next, &area, 0, &x, sizeof(x));
	bsp_qsize(&packets, &bytes);
	EQUAL(packets, 2);
	bsp_get_tag(&status, &tag);
	EQUAL(tag, (ME + NPROCS - 1) % NPROCS);
	bsp_move(&tag, sizeof(tag));
	EQUAL(bsp_hpmove(&tag_at, &payload_at), sizeof(int));
	EQUAL(*static_cast<int *>(payload_at), area);
	bsp_pop_reg(&area);
	bsp_sync();
	EQUAL(y, 10 + ME);
	EQUAL(x, 10 + ME);
}
