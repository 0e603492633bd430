/* SPDX-License-Identifier: GPL-2.0-only */
/* Process 0 continues the caller of bsp_begin(): it has what was computed before. */
#include "bsptest.h"

PROGRAM("n=1,2,4 says=kept-4711:1 says=later-4712:1");

static int number;
static int *heap;

static void spmd(void)
{
	int local = number;

	bsp_begin(bsp_nprocs());
	if (ME == 0) {
		EQUAL(local, 4711);
		EQUAL(*heap, 4711);
		bspt_say("kept-%d", number);
		number++;
	}
	bspt_done();
	bsp_end();
}

int main(int argc, char **argv)
{
	bsp_init(spmd, argc, argv);
	number = 4711;
	heap = (int *)malloc(sizeof(*heap));
	*heap = number;
	spmd();
	bspt_say("later-%d", number);
	return 0;
}
