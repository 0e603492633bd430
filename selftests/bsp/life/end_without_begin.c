/* SPDX-License-Identifier: GPL-2.0-only */
/* bsp_end() needs a bsp_begin(). */
#include "bsptest.h"

PROGRAM("n=1,2 abort=bsp_end ours");

int main(void)
{
	bsp_end();
	bspt_say("FAILED: bsp_end() came back");
	return 0;
}
