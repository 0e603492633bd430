// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scopes inside the world: those of a level of the machine file, where it has
 * that level, else the first and the second half of the ranks.
 */
#include <errno.h>
#include <stdio.h>

#include "ubperf.h"

#define INNER_SYNCS	10

/* r->priv is the scope. */
static void enter(struct perf *p, struct perf_run *r)
{
	struct ub_scope *s;
	int err = ub_scope_enter(p->world, p->o->level, &s);

	if (err == -ENOENT)
		err = ub_scope_split(p->world, p->rank >= (p->n + 1) / 2, 0, &s);
	must(err, "inner scope");
	r->priv = s;
}

static int inner_prepare(struct perf *p, struct perf_run *r)
{
	enter(p, r);
	r->first_epoch = ub_epoch(r->priv);
	return 0;
}

static void inner_loop(struct perf *p, struct perf_run *r, long count)
{
	(void)p;
	while (count--)
		must(ub_sync(r->priv), "ub_sync");
}

static void nested_loop(struct perf *p, struct perf_run *r, long count)
{
	int i;

	while (count--) {
		for (i = 0; i < INNER_SYNCS; i++)
			must(ub_sync(r->priv), "ub_sync");
		must(ub_sync(p->world), "ub_sync");
	}
}

static enum perf_verdict inner_verify(struct perf *p, struct perf_run *r)
{
	(void)p;
	return ub_epoch(r->priv) - r->first_epoch == r->done ? PERF_GOOD : PERF_BAD;
}

static enum perf_verdict nested_verify(struct perf *p, struct perf_run *r)
{
	(void)p;
	return ub_epoch(r->priv) - r->first_epoch == r->done * INNER_SYNCS ?
	       PERF_GOOD : PERF_BAD;
}

static void leave(struct perf *p, struct perf_run *r)
{
	(void)p;
	must(ub_scope_exit(r->priv), "ub_scope_exit");
}

static int level_prepare(struct perf *p, struct perf_run *r)
{
	struct ub_scope *s;
	int err = ub_scope_enter(p->world, p->o->level, &s);

	if (err == -ENOENT) {
		snprintf(r->why, sizeof(r->why), "the machine has no level '%.64s'",
			 p->o->level);
		return -ENOTSUP;
	}
	must(err, "ub_scope_enter");
	r->priv = s;
	must(ub_scope_exit(s), "ub_scope_exit");
	return 0;
}

static void level_loop(struct perf *p, struct perf_run *r, long count)
{
	struct ub_scope *s;

	while (count--) {
		must(ub_scope_enter(p->world, p->o->level, &s), "ub_scope_enter");
		r->wrong |= s != r->priv;
		must(ub_scope_exit(s), "ub_scope_exit");
	}
}

/* A level's scope exists once. */
static enum perf_verdict level_verify(struct perf *p, struct perf_run *r)
{
	(void)p;
	return r->wrong ? PERF_BAD : PERF_GOOD;
}

const struct perf_test scope_tests[] = {
	{
		.name = "inner", .iters = 200000,
		.prepare = inner_prepare, .loop = inner_loop,
		.verify = inner_verify, .finish = leave,
	}, {
		.name = "nested", .iters = 20000,
		.prepare = inner_prepare, .loop = nested_loop,
		.verify = nested_verify, .finish = leave,
	}, {
		.name = "scope-enter", .iters = 200000,
		.prepare = level_prepare, .loop = level_loop,
		.verify = level_verify,
	},
	{ }
};
