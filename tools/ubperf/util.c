// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ubperf.h"

void must(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "ubperf: %s: %s\n", what,
		ub_last_error()[0] ? ub_last_error() : strerror(-err));
	exit(PERF_EX_FAILED);
}

void *must_alloc(size_t bytes)
{
	void *p = aligned_alloc(4096, (bytes + 4096) & ~(size_t)4095);

	must(p ? 0 : -ENOMEM, "memory");
	memset(p, 0, bytes);
	return p;
}

uint64_t perf_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}
