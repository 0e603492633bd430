// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whole supersteps with data: puts to the next rank and the sync that completes
 * them.
 */
#include <stdlib.h>

#include "ubperf.h"

static int put_prepare(struct perf *p, struct perf_run *r)
{
	data_prepare(p, r, r->size);
	data_fill(r->local, r->size, p->rank);
	return 0;
}

static void put_loop(struct perf *p, struct perf_run *r, long count)
{
	while (count--) {
		must(ub_put(p->world, r->win, p->next, 0, r->local, r->size), "ub_put");
		must(ub_sync(p->world), "ub_sync");
	}
}

static enum perf_verdict put_verify(struct perf *p, struct perf_run *r)
{
	return data_is(ub_win_base(r->win), r->size, p->prev) ? PERF_GOOD : PERF_BAD;
}

static int random_prepare(struct perf *p, struct perf_run *r)
{
	size_t room = r->size > RANDOM_ROOM ? r->size : RANDOM_ROOM;

	data_prepare(p, r, room);
	data_fill(r->local, r->size, p->rank);
	r->priv = data_places(p->rank, r->size, room);
	return 0;
}

static void random_loop(struct perf *p, struct perf_run *r, long count)
{
	const size_t *place = r->priv;
	long i;

	while (count--) {
		for (i = 0; i < RANDOM_PUTS; i++)
			must(ub_put(p->world, r->win, p->next, place[i], r->local,
				    r->size), "ub_put");
		must(ub_sync(p->world), "ub_sync");
	}
}

static enum perf_verdict random_verify(struct perf *p, struct perf_run *r)
{
	return data_at_places(ub_win_base(r->win), r->size, ub_win_size(r->win, p->rank),
			      p->prev) ? PERF_GOOD : PERF_BAD;
}

static void random_finish(struct perf *p, struct perf_run *r)
{
	free(r->priv);
	data_finish(p, r);
}

const struct perf_test superstep_tests[] = {
	{
		.name = "put-sync", .size = 8, .iters = 200000,
		.prepare = put_prepare, .loop = put_loop,
		.verify = put_verify, .finish = data_finish,
	}, {
		.name = "put-random", .size = 8, .iters = 2000,
		.messages = RANDOM_PUTS,
		.prepare = random_prepare, .loop = random_loop,
		.verify = random_verify, .finish = random_finish,
	},
	{ }
};
