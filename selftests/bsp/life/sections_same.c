/* SPDX-License-Identifier: GPL-2.0-only */
/* The same function may be the section several times, with data carried over. */
#include "bsptest.h"

PROGRAM("n=1,2,4 done=%n+%n+%n says=sum-3:1 ours");

static int sum;

static void spmd(void)
{
	int value;

	bsp_begin(bsp_nprocs());
	value = ME == 0 ? sum : -1;
	bsp_push_reg(&value, sizeof(value));
	bsp_sync();
	bsp_get(0, &value, 0, &value, sizeof(value));
	bsp_sync();
	value++;
	if (ME == 0)
		sum = value;
	else
		CHECK(value >= 1 && value <= 3);
	bspt_done();
	bsp_end();
}

int main(int argc, char **argv)
{
	int i;

	for (i = 0; i < 3; i++) {
		bsp_init(spmd, argc, argv);
		spmd();
	}
	bspt_say("sum-%d", sum);
	return 0;
}
