// SPDX-License-Identifier: GPL-2.0-only
/* Data that can be told to be right, without any library of ranks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ubperf.h"

static unsigned char pattern(size_t i, int rank)
{
	return i * 31 + (i >> 8) * 7 + rank * 17 + 1;
}

void data_fill(void *mem, size_t bytes, int rank)
{
	unsigned char *p = mem;
	size_t i;

	for (i = 0; i < bytes; i++)
		p[i] = pattern(i, rank);
}

bool data_is(const void *mem, size_t bytes, int rank)
{
	const unsigned char *p = mem;
	size_t i;

	for (i = 0; i < bytes; i++)
		if (p[i] != pattern(i, rank))
			return false;
	return true;
}

size_t *data_places(int rank, size_t size, size_t room)
{
	size_t *place = must_alloc(RANDOM_PUTS * sizeof(*place));
	uint64_t state = rank;
	int i;

	for (i = 0; i < RANDOM_PUTS; i++)
		place[i] = perf_random(&state) % (room / size) * size;
	return place;
}

bool data_at_places(const char *mem, size_t size, size_t room, int rank)
{
	size_t *place = data_places(rank, size, room);
	bool good = true;
	int i;

	for (i = 0; good && i < RANDOM_PUTS; i++)
		good = data_is(mem + place[i], size, rank);
	free(place);
	return good;
}

/* Small whole numbers: their sums are exact in any order. */
static double element(size_t i, int rank)
{
	return (double)(i % 1000 + 1) * (rank + 1);
}

int data_doubles(struct perf *p, struct perf_run *r)
{
	double *in;
	size_t i;

	if (r->size % sizeof(double)) {
		snprintf(r->why, sizeof(r->why), "%zu bytes are no doubles", r->size);
		return -ENOTSUP;
	}
	r->local = must_alloc(r->size);
	r->remote = must_alloc(r->size);
	in = (double *)r->local;
	for (i = 0; i < r->size / sizeof(double); i++)
		in[i] = element(i, p->rank);
	return 0;
}

enum perf_verdict data_sums_verify(struct perf *p, struct perf_run *r)
{
	const double *out = (const double *)r->remote;
	double ranks = p->n * (p->n + 1) / 2;
	size_t i;

	for (i = 0; i < r->size / sizeof(double); i++)
		if (out[i] != element(i, 0) * ranks)
			return PERF_BAD;
	return PERF_GOOD;
}

void data_doubles_free(struct perf *p, struct perf_run *r)
{
	(void)p;
	free(r->local);
	free(r->remote);
}

void perf_late(struct perf *p, struct perf_run *r)
{
	const struct timespec late = {
		.tv_sec = p->o->late_ms / 1000,
		.tv_nsec = p->o->late_ms % 1000 * 1000000,
	};

	(void)r;
	if (p->rank == 0)
		nanosleep(&late, NULL);
}
