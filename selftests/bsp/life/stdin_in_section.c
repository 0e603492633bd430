/* SPDX-License-Identifier: GPL-2.0-only */
/* Process 0 reads stdin inside the section, too. */
#include "bsptest.h"

PROGRAM("n=1,3 stdin=first,second says=first-second:1");

int main(void)
{
	char a[40], b[40];

	bsp_begin(bsp_nprocs());
	if (ME == 0) {
		CHECK(scanf("%30s %30s", a, b) == 2);
		bspt_say("%s-%s", a, b);
	}
	bsp_sync();
	bspt_done();
	bsp_end();
	return 0;
}
