/* SPDX-License-Identifier: GPL-2.0-only */
/* The types of the classic dialect, of 1998: int everywhere. */
#include <bsp.h>
#include <bsp.h>
#include "bsptest.h"

TEST(classic_is_int, "n=1 dialect=classic")
{
	bsp_pid_t pid = -1;
	bsp_nprocs_t count = -1;
	bsp_size_t size = -1;
	int *same;

	CHECK(pid < 0 && count < 0 && size < 0);
	same = &pid;
	EQUAL(*same, -1);
	same = &count;
	EQUAL(*same, -1);
	same = &size;
	EQUAL(*same, -1);
}
