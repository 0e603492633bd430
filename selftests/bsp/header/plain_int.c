/* SPDX-License-Identifier: GPL-2.0-only */
/* A program of 1998 knows no bsp_size_t: plain int, and constants to register. */
#include "bsptest.h"

static const int table[4] = { 3, 1, 4, 1 };

TEST(variables_are_int, "n=1,2,3 dialect=classic")
{
	int p = bsp_nprocs(), s = bsp_pid(), tag = sizeof(int), packets, bytes, status, length;
	int x = s, y = -1, *tag_at, *payload_at;
	double begin = bsp_time();

	bsp_push_reg(table, sizeof(table));
	bsp_set_tagsize(&tag);
	bsp_sync();
	bsp_get((s + 1) % p, table, 2 * sizeof(int), &y, sizeof(int));
	bsp_send((s + 1) % p, &s, &x, sizeof(int));
	bsp_send((s + 1) % p, &s, &x, sizeof(int));
	bsp_sync();
	CHECK(y == 4);
	bsp_qsize(&packets, &bytes);
	CHECK(packets == 2 && bytes == 2 * (int)sizeof(int));
	bsp_get_tag(&status, &tag);
	CHECK(status == (int)sizeof(int) && tag == (s + p - 1) % p);
	bsp_move(&x, status);
	length = bsp_hpmove((void **)&tag_at, (void **)&payload_at);
	CHECK(length == (int)sizeof(int) && *tag_at == *payload_at && x == *payload_at);
	CHECK(bsp_hpmove((void **)&tag_at, (void **)&payload_at) == -1);
	bsp_get_tag(&status, &tag);
	CHECK(status == -1);
	bsp_pop_reg(table);
	bsp_sync();
	CHECK(bsp_time() >= begin);
}
