// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs one test: how often, how long, and who was slowest.
 */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "ubperf.h"

#define SHORT_NS	1000	/* below: look at the clock once per batch */
#define BATCH		16
#define PROBE		64	/* operations to see how long they take */
#define BUDGET_NS	2e9

struct figures {
	double min, p50, p99, max;
	int active;
};

static double all_max(struct perf *p, double v)
{
	must(ub_allreduce(p->world, &v, &v, 1, UB_DOUBLE, UB_OP_MAX), "ub_allreduce");
	return v;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static struct figures figures_of(double *ns, long n, bool active)
{
	struct figures f = { .active = active };

	if (!active)
		return f;
	qsort(ns, n, sizeof(*ns), by_size);
	f.min = ns[0];
	f.p50 = ns[n / 2];
	f.p99 = ns[n - 1 - n / 100];
	f.max = ns[n - 1];
	return f;
}

struct pace {
	double mean;	/* ns of an operation */
	double best;	/* the same, of the quickest batch */
};

/* @count operations, not reported; the slowest rank's pace. */
static struct pace warm_up(struct perf *p, const struct perf_test *t,
			   struct perf_run *r, long count)
{
	long i, step = t->before || count < BATCH ? 1 : BATCH;
	struct pace pace = { 0, 0 };
	double ns;
	uint64_t from;

	must(ub_sync(p->world), "ub_sync");
	count = count / step * step;
	for (i = 0; r->active && i < count; i += step) {
		if (t->before)
			t->before(p, r);
		from = ub_ticks();
		t->loop(p, r, step);
		ns = ub_ticks_ns(ub_elapsed(from, ub_ticks()));
		pace.mean += ns / count;
		if (!i || ns / step < pace.best)
			pace.best = ns / step;
		r->done += step;
	}
	pace.mean = all_max(p, pace.mean);
	pace.best = all_max(p, pace.best);
	return pace;
}

static void take_times(struct perf *p, const struct perf_test *t, struct perf_run *r,
		       double *ns, long n, long batch)
{
	uint64_t from;
	long i;

	must(ub_sync(p->world), "ub_sync");
	for (i = 0; r->active && i < n; i++) {
		if (t->before)
			t->before(p, r);
		from = ub_ticks();
		t->loop(p, r, batch);
		ns[i] = (double)ub_ticks_ns(ub_elapsed(from, ub_ticks())) / batch;
		r->done += batch;
	}
}

/* The first rank that cannot gives the reason to all. */
static bool all_can(struct perf *p, struct perf_run *r)
{
	char (*why)[sizeof(r->why)] = must_alloc(p->n * sizeof(*why));
	int i;

	must(ub_allgather(p->world, r->why, sizeof(r->why), why), "ub_allgather");
	for (i = 0; i < p->n && !why[i][0]; i++)
		;
	if (i < p->n)
		memcpy(r->why, why[i], sizeof(r->why));
	free(why);
	return i == p->n;
}

static void slowest(struct perf *p, const struct figures *mine, struct perf_row *row)
{
	struct figures *all = must_alloc(p->n * sizeof(*all));
	int i, s = -1;

	must(ub_allgather(p->world, mine, sizeof(*mine), all), "ub_allgather");
	for (i = 0; i < p->n; i++)
		if (all[i].active && (s < 0 || all[i].p50 > all[s].p50))
			s = i;
	row->slowest = s;
	row->min = all[s].min;
	row->p50 = all[s].p50;
	row->p99 = all[s].p99;
	row->max = all[s].max;
	free(all);
}

static enum perf_verdict verify(struct perf *p, const struct perf_test *t,
				struct perf_run *r)
{
	enum perf_verdict v;

	must(ub_sync(p->world), "ub_sync");
	v = t->verify && p->o->check ? t->verify(p, r) : PERF_UNCHECKED;
	return all_max(p, v);
}

void perf_run_test(struct perf *p, const struct perf_test *t, struct perf_row *row)
{
	static struct perf_run r;
	struct figures f;
	long warm, n;
	struct pace pace;
	double *ns;

	r = (struct perf_run){ .active = true, .fd = -1 };
	if (t->size)
		r.size = p->o->size ? p->o->size : t->size;
	*row = (struct perf_row){
		.test = t->name, .fabric = ub_backend(p->ctx), .nodes = p->nodes,
		.members = p->n, .size = r.size, .batch = 1,
	};
	t->prepare(p, &r);
	if (!all_can(p, &r)) {
		row->skipped = r.why;
		goto out;
	}
	row->iters = p->o->iters ? p->o->iters : t->iters;
	pace = warm_up(p, t, &r, row->iters < PROBE ? row->iters : PROBE);
	warm = p->o->warmup >= 0 ? p->o->warmup : row->iters / 10;
	if (p->o->warmup < 0 && warm * pace.mean > BUDGET_NS / 10)
		warm = BUDGET_NS / 10 / pace.mean;
	if (warm)
		pace = warm_up(p, t, &r, warm);
	if (!p->o->iters && row->iters * pace.mean > BUDGET_NS)
		row->iters = BUDGET_NS / pace.mean + 10;
	if (pace.best < SHORT_NS && !t->before)
		row->batch = BATCH;
	n = (row->iters + row->batch - 1) / row->batch;
	row->iters = n * row->batch;

	ns = must_alloc(n * sizeof(*ns));
	take_times(p, t, &r, ns, n, row->batch);
	f = figures_of(ns, n, r.active && !r.untimed);
	free(ns);
	row->verdict = verify(p, t, &r);
	slowest(p, &f, row);
out:
	if (t->finish)
		t->finish(p, &r);
	must(ub_sync(p->world), "ub_sync");
}
