/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Several sections after each other, each with its own bsp_init() and its own
 * number of processes; between them process 0 alone.
 */
#include "bsptest.h"

PROGRAM("n=3,4 done=2+3+1 says=between:2 ours");

static int turn;

static void ring(int size)
{
	int from = -1, me = ME, *box = (int *)malloc(sizeof(int));

	EQUAL(NPROCS, size);
	*box = -1;
	bsp_push_reg(box, sizeof(*box));
	bsp_sync();
	bsp_put((me + 1) % size, &me, box, 0, sizeof(me));
	bsp_sync();
	from = *box;
	EQUAL(from, (me + size - 1) % size);
	free(box);
	if (me == 0)
		turn++;
	bspt_done();
}

static void first(void)
{
	bsp_begin(2);
	ring(2);
	bsp_end();
}

static void second(void)
{
	bsp_begin(3);
	ring(3);
	bsp_end();
}

static void third(void)
{
	bsp_begin(1);
	ring(1);
	bsp_end();
}

int main(int argc, char **argv)
{
	bsp_init(first, argc, argv);
	first();
	bspt_say("between");
	bsp_init(second, argc, argv);
	second();
	bspt_say("between");
	bsp_init(third, argc, argv);
	third();
	if (turn != 3)
		bsp_abort("%d sections instead of 3\n", turn);
	return 0;
}
