/* SPDX-License-Identifier: GPL-2.0-only */
/* ... where main() is the section, too. */
#include "bsptest.h"

PROGRAM("n=1,2,4 fails err=at_once");

int main(void)
{
	bsp_abort("at once\n");
	bspt_say("FAILED: bsp_abort() came back");
	bsp_begin(bsp_nprocs());
	bsp_end();
	return 0;
}
