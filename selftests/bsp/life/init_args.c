/* SPDX-License-Identifier: GPL-2.0-only */
/* Arguments that process 0 reads before the section, as programs of books do. */
#include "bsptest.h"

PROGRAM("n=2,3 args=2,1000 done=2 says=sum-499500:1");

static int processes;
static long n;

static void spmd(void)
{
	long part = 0, i, all[2] = { 0, 0 }, mine;

	bsp_begin(processes);
	bsp_push_reg(&n, sizeof(n));
	bsp_push_reg(all, sizeof(all));
	bsp_sync();
	/* the others know nothing of what was read */
	bsp_get(0, &n, 0, &mine, sizeof(mine));
	bsp_sync();
	for (i = ME; i < mine; i += NPROCS)
		part += i;
	bsp_put(0, &part, all, ME * sizeof(long), sizeof(long));
	bsp_sync();
	if (ME == 0)
		bspt_say("sum-%ld", all[0] + all[1]);
	bspt_done();
	bsp_end();
}

int main(int argc, char **argv)
{
	bsp_init(spmd, argc, argv);
	processes = atoi(argv[1]);
	n = atol(argv[2]);
	if (processes > (int)bsp_nprocs())
		return 1;
	spmd();
	return 0;
}
