// SPDX-License-Identifier: GPL-2.0-only
/*
 * ub_put(), ub_get(), ub_atomic() on the window of the next rank: the call
 * alone; what it does is complete at the barrier after the loop.
 */
#include "ubperf.h"

static int put_prepare(struct perf *p, struct perf_run *r)
{
	data_prepare(p, r, r->size);
	data_fill(r->local, r->size, p->rank);
	return 0;
}

static void put_loop(struct perf *p, struct perf_run *r, long count)
{
	while (count--)
		must(ub_put(p->world, r->win, p->next, 0, r->local, r->size), "ub_put");
}

static enum perf_verdict put_verify(struct perf *p, struct perf_run *r)
{
	return data_is(ub_win_base(r->win), r->size, p->prev) ? PERF_GOOD : PERF_BAD;
}

static int get_prepare(struct perf *p, struct perf_run *r)
{
	data_prepare(p, r, r->size);
	data_fill(ub_win_base(r->win), r->size, p->rank);
	return 0;
}

static void get_loop(struct perf *p, struct perf_run *r, long count)
{
	while (count--)
		must(ub_get(p->world, r->win, p->next, 0, r->local, r->size), "ub_get");
}

static enum perf_verdict get_verify(struct perf *p, struct perf_run *r)
{
	return data_is(r->local, r->size, p->next) ? PERF_GOOD : PERF_BAD;
}

static int atomic_prepare(struct perf *p, struct perf_run *r)
{
	return data_prepare(p, r, sizeof(uint64_t));
}

static void atomic_loop(struct perf *p, struct perf_run *r, long count)
{
	uint64_t old;

	while (count--)
		must(ub_atomic(p->world, r->win, p->next, 0, sizeof(uint64_t),
			       UB_ATOMIC_ADD, 1, 0, &old), "ub_atomic");
}

static enum perf_verdict atomic_verify(struct perf *p, struct perf_run *r)
{
	(void)p;
	return *(uint64_t *)ub_win_base(r->win) == r->done ? PERF_GOOD : PERF_BAD;
}

const struct perf_test onesided_tests[] = {
	{
		.name = "put", .size = 8, .iters = 200000,
		.prepare = put_prepare, .loop = put_loop,
		.verify = put_verify, .finish = data_finish,
	}, {
		.name = "get", .size = 8, .iters = 200000,
		.prepare = get_prepare, .loop = get_loop,
		.verify = get_verify, .finish = data_finish,
	}, {
		.name = "atomic", .iters = 200000,
		.prepare = atomic_prepare, .loop = atomic_loop,
		.verify = atomic_verify, .finish = data_finish,
	},
	{ }
};
