/* SPDX-License-Identifier: GPL-2.0-only */
/* A section of no process is an error. */
#include "bsptest.h"

PROGRAM("n=1,2 abort=bsp_begin ours");

int main(void)
{
	bsp_begin(0);
	bspt_say("FAILED: bsp_begin(0) came back");
	bsp_end();
	return 0;
}
