/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nothing of a section is left in the next: no registration, no message, no tag
 * size, and the clock begins again.
 */
#include "bsptest.h"

PROGRAM("n=1,2 done=%n+%n ours");

static int area;
static int turn;

static void spmd(void)
{
	bsp_nprocs_t packets = 9;
	bsp_size_t bytes = 9, tag = 4;

	bsp_begin(bsp_nprocs());
	CHECK(bsp_time() < 1.5);
	bsp_qsize(&packets, &bytes);
	EQUAL(packets, 0);
	EQUAL(bytes, 0);
	bsp_set_tagsize(&tag);
	EQUAL(tag, 0);
	bsp_push_reg(&area, sizeof(area));
	bsp_sync();
	bsp_send(ME, &area, NULL, 0);
	bsp_sync();
	bspt_spin(2.0);
	bsp_send(ME, &area, &area, sizeof(area));
	bspt_done();
	bsp_end();
}

int main(int argc, char **argv)
{
	for (turn = 0; turn < 2; turn++) {
		bsp_init(spmd, argc, argv);
		spmd();
	}
	return 0;
}
