/* SPDX-License-Identifier: GPL-2.0-only */
/* bsp_begin(1): one process, for which everything works, to itself. */
#include "bsptest.h"

PROGRAM("n=1,2,4 done=1");

int main(void)
{
	int x = 1, y = 2, z = 0;
	bsp_nprocs_t packets;
	bsp_size_t bytes;

	bsp_begin(1);
	EQUAL(ME, 0);
	EQUAL(NPROCS, 1);
	bsp_push_reg(&x, sizeof(x));
	bsp_sync();
	bsp_get(0, &x, 0, &z, sizeof(z));
	bsp_put(0, &y, &x, 0, sizeof(y));
	bsp_send(0, NULL, &y, sizeof(y));
	bsp_sync();
	EQUAL(x, 2);
	EQUAL(z, 1);
	bsp_qsize(&packets, &bytes);
	EQUAL(packets, 1);
	EQUAL(bytes, sizeof(y));
	bspt_done();
	bsp_end();
	return 0;
}
