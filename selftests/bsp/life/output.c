/* SPDX-License-Identifier: GPL-2.0-only */
/* What any process prints arrives, on stdout and stderr, without being flushed. */
#include "bsptest.h"

PROGRAM("n=1,4 says=out-of-0:1 says=word:%n err=to_stderr_from_0");

int main(void)
{
	bsp_begin(bsp_nprocs());
	printf("out-of-%d\nword\n", ME);
	fprintf(stderr, "to stderr from %d\n", ME);
	bsp_sync();
	bspt_done();
	bsp_end();
	return 0;
}
