// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs tests: how often, how long, and who was slowest.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "ubperf.h"

#define SHORT_NS	1000	/* below: look at the clock once per batch */
#define BATCH		16
#define BUDGET_MS	2000
#define PROBE		64	/* operations to see how long they take, at most about so many */

struct figures {
	double min, mean, p50, p90, p99, max;
	int active;
};

static uint64_t cpu_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static uint64_t start(const struct perf_test *t)
{
	return t->cpu ? cpu_now() : ub_ticks();
}

static double ns_since(const struct perf_test *t, uint64_t from)
{
	return t->cpu ? cpu_now() - from : ub_ticks_ns(ub_elapsed(from, ub_ticks()));
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static struct figures figures_of(double *ns, long n, bool active)
{
	struct figures f = { .active = active };
	long i;

	if (!active)
		return f;
	qsort(ns, n, sizeof(*ns), by_size);
	for (i = 0; i < n; i++)
		f.mean += ns[i] / n;
	f.min = ns[0];
	f.p50 = ns[n / 2];
	f.p90 = ns[n - 1 - n / 10];
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

	p->team->sync(p);
	count = count / step * step;
	for (i = 0; r->active && i < count; i += step) {
		if (t->before)
			t->before(p, r);
		from = start(t);
		t->loop(p, r, step);
		ns = ns_since(t, from);
		pace.mean += ns / count;
		if (!i || ns / step < pace.best)
			pace.best = ns / step;
		r->done += step;
	}
	pace.mean = p->team->max(p, pace.mean);
	pace.best = p->team->max(p, pace.best);
	return pace;
}

static void take_times(struct perf *p, const struct perf_test *t, struct perf_run *r,
		       double *ns, long n, long batch)
{
	uint64_t from;
	long i;

	p->team->sync(p);
	for (i = 0; r->active && i < n; i++) {
		if (t->before)
			t->before(p, r);
		from = start(t);
		t->loop(p, r, batch);
		ns[i] = ns_since(t, from) / batch;
		r->done += batch;
	}
}

/* The first rank that cannot gives the reason to all. */
static bool all_can(struct perf *p, struct perf_run *r)
{
	char (*why)[sizeof(r->why)] = must_alloc(p->n * sizeof(*why));
	int i;

	p->team->gather(p, r->why, sizeof(r->why), why);
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

	p->team->gather(p, mine, sizeof(*mine), all);
	for (i = 0; i < p->n; i++)
		if (all[i].active && (s < 0 || all[i].p50 > all[s].p50))
			s = i;
	row->slowest = s;
	row->min = all[s].min;
	row->mean = all[s].mean;
	row->p50 = all[s].p50;
	row->p90 = all[s].p90;
	row->p99 = all[s].p99;
	row->max = all[s].max;
	free(all);
}

static enum perf_verdict verify(struct perf *p, const struct perf_test *t,
				struct perf_run *r)
{
	enum perf_verdict v;

	p->team->sync(p);
	v = t->verify && p->o->check ? t->verify(p, r) : PERF_UNCHECKED;
	return p->team->max(p, v);
}

/* How long operations take, by few of them where they take long. */
static struct pace probe(struct perf *p, const struct perf_test *t, struct perf_run *r,
			 long most, double budget)
{
	struct pace pace;
	long count = 1, all = 0;

	do {
		pace = warm_up(p, t, r, count);
		all += count;
		count *= 4;
	} while (all < most && count * pace.mean < budget);
	return pace;
}

/* Warms up and fills in iterations and batch of @row; the number of batches. */
static long plan(struct perf *p, const struct perf_test *t, struct perf_run *r,
		 struct perf_row *row)
{
	const struct perf_opts *o = p->o;
	struct pace pace = { 0, 0 };
	double budget = (o->budget_ms ? o->budget_ms : BUDGET_MS) * 1e6;
	bool cut = !o->iters || o->budget_ms;
	long warm, n;

	row->iters = o->iters ? o->iters : t->iters;
	if (row->iters > 1)
		pace = probe(p, t, r, row->iters < PROBE ? row->iters : PROBE,
			     budget / 10);
	warm = o->warmup >= 0 ? o->warmup : row->iters / 10;
	if (o->warmup < 0 && warm * pace.mean > budget / 10)
		warm = budget / 10 / pace.mean;
	if (warm)
		pace = warm_up(p, t, r, warm);
	if (cut && row->iters * pace.mean > budget)
		row->iters = budget / pace.mean + 10;
	if (t->before)
		row->batch = 1;
	else if (o->batch)
		row->batch = o->batch < row->iters ? o->batch : row->iters;
	else
		row->batch = pace.best < SHORT_NS ? BATCH : 1;
	n = (row->iters + row->batch - 1) / row->batch;
	row->iters = n * row->batch;
	return n;
}

/* Collective; fills in @row on all ranks. */
static void run_test(struct perf *p, const struct perf_test *t, size_t size,
		     struct perf_row *row)
{
	static struct perf_run r;
	struct figures f;
	double *ns;
	long n;

	r = (struct perf_run){ .active = true, .fd = -1, .size = size };
	*row = (struct perf_row){
		.test = t->name, .fabric = p->fabric, .nodes = p->nodes,
		.members = p->n, .size = size, .batch = 1, .cpu = t->cpu,
		.messages = t->messages ? t->messages : 1,
	};
	t->prepare(p, &r);
	if (!all_can(p, &r)) {
		row->skipped = r.why;
		goto out;
	}
	n = plan(p, t, &r, row);
	ns = must_alloc(n * sizeof(*ns));
	take_times(p, t, &r, ns, n, row->batch);
	f = figures_of(ns, n, r.active && !r.untimed);
	free(ns);
	row->verdict = verify(p, t, &r);
	slowest(p, &f, row);
out:
	if (t->finish)
		t->finish(p, &r);
	p->team->sync(p);
}

int perf_run(struct perf *p, const struct perf_test *const *families)
{
	const struct perf_opts *o = p->o;
	const struct perf_test *t;
	struct perf_row row;
	int i, ran = 0, bad = 0;

	for (; *families; families++) {
		for (t = *families; t->name; t++) {
			if (!perf_selected(o, t))
				continue;
			for (i = 0; i == 0 || (t->size && i < o->nsizes); i++) {
				run_test(p, t, t->size && o->nsizes ? o->size[i] :
					 t->size, &row);
				if (p->rank == 0)
					report_row(o, &row);
				ran += !row.skipped;
				bad += row.verdict == PERF_BAD;
			}
		}
	}
	if (p->rank == 0)
		report_end(o);
	p->team->sync(p);
	if (bad)
		return PERF_EX_FAILED;
	return ran ? 0 : PERF_EX_SKIP;
}
