/* SPDX-License-Identifier: GPL-2.0-only */
/* A program for MulticoreBSP: unsigned int and size_t. */
#include "bsptest.h"

TEST(variables_are_size_t, "n=1,2,3 dialect=size_t")
{
	unsigned int p = bsp_nprocs(), s = bsp_pid(), packets, y = 99, tag = s;
	unsigned int table[4], *tag_at, *payload_at;
	size_t size = sizeof(tag), bytes, status;
	unsigned int x = s;

	table[2] = 4 + s;
	bsp_push_reg(table, sizeof(table));
	bsp_set_tagsize(&size);
	CHECK(size == 0);
	bsp_sync();
	bsp_get((s + 1) % p, table, 2 * sizeof(int), &y, sizeof(int));
	bsp_send((s + 1) % p, &tag, &x, sizeof(int));
	bsp_send((s + 1) % p, &tag, &x, sizeof(int));
	bsp_sync();
	CHECK(y == 4 + (s + 1) % p);
	bsp_qsize(&packets, &bytes);
	CHECK(packets == 2 && bytes == 2 * sizeof(int));
	bsp_get_tag(&status, &tag);
	CHECK(status == sizeof(int) && tag == (s + p - 1) % p);
	bsp_move(&x, status);
	status = bsp_hpmove((void **)&tag_at, (void **)&payload_at);
	CHECK(status == sizeof(int) && *tag_at == *payload_at && x == *payload_at);
	CHECK(bsp_hpmove((void **)&tag_at, (void **)&payload_at) == (size_t)-1);
	bsp_get_tag(&status, &tag);
	CHECK(status == (size_t)-1);
	bsp_pop_reg(table);
	bsp_sync();
}
