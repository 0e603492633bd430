/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bsp_abort() from any process: the message on stderr, every process gone, a
 * status that is not 0.
 */
#include "bsptest.h"

TEST(abort_of_one_while_others_sync, "n=1,2,4 fails err=one_aborts_-12_text")
{
	if (ME == NPROCS - 1)
		bsp_abort("one aborts %d %s\n", -12, "text");
	bsp_sync();
	NOT_REACHED();
}

TEST(abort_of_process_0, "n=1,2,4 fails err=zero_aborts")
{
	if (ME == 0)
		bsp_abort("zero aborts\n");
	bsp_sync();
	NOT_REACHED();
}

TEST(abort_of_all, "n=1,2,4 fails err=everyone_aborts")
{
	bsp_abort("everyone aborts, %d\n", ME);
	NOT_REACHED();
}

TEST(abort_while_others_compute, "n=2,4 fails err=enough_of_this")
{
	volatile int forever = 1;

	if (ME == 1)
		bsp_abort("enough of this\n");
	while (forever)
		;
	NOT_REACHED();
}

TEST(abort_while_others_end, "n=2,4 fails err=not_yet")
{
	if (ME == 1) {
		bspt_spin(0.1);
		bsp_abort("not yet\n");
	}
}

TEST(abort_later, "n=2,3 fails err=in_step_5")
{
	int i, x = ME, box = 0;

	bsp_push_reg(&box, sizeof(box));
	for (i = 0; i < 10; i++) {
		bsp_sync();
		bsp_put((ME + 1) % NPROCS, &x, &box, 0, sizeof(x));
		if (i == 5 && ME == 1)
			bsp_abort("in step %d\n", i);
	}
	bsp_sync();
	NOT_REACHED();
}

TEST(abort_formats, "n=2 fails err=str_-7_42_3.50_x_100%_0xff")
{
	bsp_abort("%s %d %lu %.2f %c %d%% 0x%x\n", "str", -7, 42UL, 3.5, 'x', 100, 255);
	NOT_REACHED();
}

TEST(abort_without_newline, "n=1,2 fails err=no_newline")
{
	bsp_abort("no newline");
	NOT_REACHED();
}

TEST(abort_long_message, "n=2 fails err=aaaaaaaaaaaaaaa_the_end")
{
	char text[3001];

	memset(text, 'a', 3000);
	text[3000] = '\0';
	bsp_abort("%s the end\n", text);
	NOT_REACHED();
}

TEST(abort_empty_message, "n=2 fails")
{
	const char *nothing = "";

	bsp_abort("%s", nothing);
	NOT_REACHED();
}

/* What had been printed before is not lost with the process. */
TEST(abort_keeps_output, "n=1,2 fails says=printed-before:1 ours")
{
	if (ME == NPROCS - 1) {
		printf("printed-before\n");
		bsp_abort("now\n");
	}
	bsp_sync();
	NOT_REACHED();
}
