/* SPDX-License-Identifier: GPL-2.0-only */
/* The types of the size_t dialect, those of MulticoreBSP. */
#include <bsp.h>
#include <bsp.h>
#include "bsptest.h"

TEST(size_t_is_unsigned, "n=1 dialect=size_t")
{
	bsp_pid_t pid = 0;
	bsp_nprocs_t count = 0;
	bsp_size_t size = 0;

	EQUAL(sizeof(pid), sizeof(unsigned int));
	EQUAL(sizeof(count), sizeof(unsigned int));
	EQUAL(sizeof(size), sizeof(size_t));
	pid--;
	count--;
	size--;
	CHECK(pid > 0 && count > 0 && size > 0);
	CHECK(size == (size_t)-1);
}
