// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies by plain loads and stores on the mapped window of the next rank, and
 * the same copies in private memory.
 */
#include <stdlib.h>

#include "ubperf.h"

static int read_prepare(struct perf *p, struct perf_run *r)
{
	data_prepare(p, r, r->size);
	data_fill(ub_win_base(r->win), r->size, p->rank);
	return 0;
}

static int write_prepare(struct perf *p, struct perf_run *r)
{
	data_prepare(p, r, r->size);
	data_fill(r->local, r->size, p->rank);
	return 0;
}

static enum perf_verdict write_verify(struct perf *p, struct perf_run *r)
{
	return data_is(ub_win_base(r->win), r->size, p->prev) ? PERF_GOOD : PERF_BAD;
}

static int private_prepare(struct perf *p, struct perf_run *r)
{
	r->local = must_alloc(r->size);
	r->remote = must_alloc(r->size);
	data_fill(r->remote, r->size, p->rank);
	return 0;
}

static enum perf_verdict private_verify(struct perf *p, struct perf_run *r)
{
	return data_is(r->local, r->size, p->rank) ? PERF_GOOD : PERF_BAD;
}

static void private_finish(struct perf *p, struct perf_run *r)
{
	(void)p;
	free(r->local);
	free(r->remote);
}

#define MIB	(1UL << 20)

const struct perf_test map_tests[] = {
	{
		.name = "map-read", .size = MIB, .iters = 2000,
		.prepare = read_prepare, .loop = data_read_loop,
		.verify = data_read_verify, .finish = data_finish,
	}, {
		.name = "map-write", .size = MIB, .iters = 2000,
		.prepare = write_prepare, .loop = data_write_loop,
		.verify = write_verify, .finish = data_finish,
	}, {
		.name = "private-copy", .size = MIB, .iters = 2000,
		.prepare = private_prepare, .loop = data_read_loop,
		.verify = private_verify, .finish = private_finish,
	},
	{ }
};
