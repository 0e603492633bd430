/* SPDX-License-Identifier: GPL-2.0-only */
/* So is a section of less than none. */
#include "bsptest.h"

PROGRAM("n=1,2 abort=bsp_begin dialect=classic ours");

int main(void)
{
	bsp_begin(-1);
	bspt_say("FAILED: bsp_begin(-1) came back");
	bsp_end();
	return 0;
}
