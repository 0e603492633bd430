// SPDX-License-Identifier: MIT
/*
 * Spare ranks: who takes the place of a lost one.
 *
 * A job with spares has a scope of all its ranks, the job's, beside the world of
 * those that compute. The spares wait in a barrier of the job's scope. The others
 * arrive there in ub_fini(), so the barrier ends with the job; or, by ub_replace(),
 * when the world has lost a member, which never arrives there either. So the
 * barrier gives all of them, the spares too, the uniform answer.
 *
 * Then all shrink the job's scope. Who is where in the next world follows from
 * ctx->place, which everybody has alike: the spares, in their order, fill the
 * places of the lost, in theirs. There is nothing to agree on.
 */
#include "internal.h"
#include <stdlib.h>

#define NOBODY	(~0U)

static uint32_t places(const struct ub_ctx *ctx)
{
	return ctx->nranks - ctx->spares;
}

/* Own place in the world, or -1. */
static int own_place(const struct ub_ctx *ctx)
{
	return ctx->place[ctx->job->rank];
}

/* ---- the job's scope ---- */

/* It goes on as @next, without its lost members. */
static int pass_on(struct ub_ctx *ctx, struct ub_scope *next)
{
	int *place = calloc(next->n, sizeof(*place));
	uint32_t i;

	if (!place)
		return ub_fail(-ENOMEM, "no memory");
	for (i = 0; i < next->n; i++)
		place[i] = ctx->place[next->outer_rank[i]];
	free(ctx->place);
	ctx->place = place;
	next->job = true;
	next->timing = false;
	next->timeout_ms = ctx->job->timeout_ms;
	ctx->job = next;
	return 0;
}

static int shrink_job(struct ub_ctx *ctx)
{
	int err;

	do {
		struct ub_scope *next;
		int passed;

		err = ub_shrink(ctx->job, &next);
		if (!next)
			return err;
		passed = pass_on(ctx, next);
		if (passed)
			return passed;
	} while (err == -EOWNERDEAD);
	return err;
}

/*
 * One barrier after the other of the job's scope, until it has lost a member:
 * -EOWNERDEAD; or, 0, until a barrier to which nobody came with a loss.
 */
static int meet(struct ub_ctx *ctx, const char *call, bool loss)
{
	struct ub_scope *job = ctx->job;
	uint64_t any;
	int err;

	do {
		err = ub_scope_begin(job, call);
		if (err)
			return err;
		err = ub_reduce_inside(job, UB_OR, loss, &any);
		ub_scope_end(job);
	} while (!err && any);
	return err;
}

/* ---- places ---- */

/* Who of the job is at each place, and how many spares and empty places there are. */
static void count(const struct ub_ctx *ctx, uint32_t *who, uint32_t *spares,
		  uint32_t *empty)
{
	uint32_t n = places(ctx), i;

	for (i = 0; i < n; i++)
		who[i] = NOBODY;
	*spares = 0;
	*empty = n;
	for (i = 0; i < ctx->job->n; i++) {
		if (ctx->place[i] < 0) {
			++*spares;
			continue;
		}
		who[ctx->place[i]] = i;
		--*empty;
	}
}

static void fill(struct ub_ctx *ctx, uint32_t *who, bool *fresh)
{
	uint32_t next = 0, i;

	for (i = 0; i < places(ctx); i++) {
		fresh[i] = who[i] == NOBODY;
		if (!fresh[i])
			continue;
		while (ctx->place[next] >= 0)
			next++;
		ctx->place[next] = i;
		who[i] = next;
	}
}

/* ---- the world ---- */

static int make_world(struct ub_ctx *ctx, const uint32_t *who, bool *fresh)
{
	/* Each job's scope makes one. */
	const uint64_t key[2] = { 0x776f726c64, 0 };
	struct ub_scope *w = ub_scope_subset(ctx->job, who, places(ctx), 0, "world");
	int err;

	if (!w) {
		free(fresh);
		return ub_fail(-ENOMEM, "no memory");
	}
	w->fresh = fresh;
	w->timeout_ms = ctx->timeout_ms;
	err = ub_scope_make(w, key);
	if (!err || err == -EOWNERDEAD)
		ctx->world = w;
	return err;
}

/* Spares never get more: who has too few once need not ask again. */
static int enough(const struct ub_ctx *ctx, uint32_t *who)
{
	uint32_t spares, empty;

	count(ctx, who, &spares, &empty);
	return spares >= empty ? 0 :
	       ub_fail(-ENOENT,
		       "%u members of the world are lost, %u spares are left; ub_shrink() goes on without",
		       empty, spares);
}

/* The lost are known: the next world, unless this member has no place in it. */
static int next_world(struct ub_ctx *ctx)
{
	uint32_t *who = calloc(places(ctx), sizeof(*who));
	bool *fresh = calloc(places(ctx), sizeof(*fresh));
	int err;

	err = who && fresh ? enough(ctx, who) : ub_fail(-ENOMEM, "no memory");
	if (err)
		goto out;
	fill(ctx, who, fresh);
	if (own_place(ctx) >= 0) {
		err = make_world(ctx, who, fresh);
		fresh = NULL;
	}
out:
	free(who);
	free(fresh);
	return err;
}

/* Nobody of the world is left: it is over, one way or another. */
static bool deserted(const struct ub_ctx *ctx)
{
	uint32_t i;

	for (i = 0; i < ctx->job->n; i++)
		if (ctx->place[i] >= 0)
			return false;
	return true;
}

static int wait_as_spare(struct ub_ctx *ctx)
{
	int err;

	/* However long the others compute. */
	ctx->job->timeout_ms = 0;
	do {
		err = meet(ctx, "ub_init", false);
		if (err == -EOWNERDEAD)
			err = shrink_job(ctx);
		else if (!err)
			err = -ECANCELED;
		if (!err && deserted(ctx))
			err = -ECANCELED;
		if (!err)
			err = next_world(ctx);
		/* Too few spares, this one is of no use: the others shrink. */
		if (err == -ENOENT)
			err = 0;
	} while (!err && own_place(ctx) < 0);
	if (err == -ECANCELED)
		return ub_fail(err, "the job has ended and did not need this spare");
	if (err && err != -EOWNERDEAD)
		return err;
	ctx->job->timeout_ms = ctx->timeout_ms;
	ctx->rejoined = true;
	return 0;
}

int ub_job_begin(struct ub_ctx *ctx, struct ub_scope *job)
{
	uint32_t n = places(ctx), i;
	uint32_t *who = calloc(n, sizeof(*who));
	int err = 0;

	ctx->job = job;
	job->job = true;
	job->timing = false;
	ctx->place = calloc(job->n, sizeof(*ctx->place));
	if (!who || !ctx->place) {
		free(who);
		return ub_fail(-ENOMEM, "no memory");
	}
	for (i = 0; i < job->n; i++)
		ctx->place[i] = i < n ? (int)i : -1;
	for (i = 0; i < n; i++)
		who[i] = i;
	err = job->rank < n ? make_world(ctx, who, NULL) : wait_as_spare(ctx);
	free(who);
	return err;
}

void ub_job_done(struct ub_ctx *ctx)
{
	/* Without waiting: who has arrived does not hold up the others. */
	if (ctx->place && own_place(ctx) >= 0 && !ctx->job->lost)
		ub_arrive(ctx->job, UB_OR, 0);
}

static int check(struct ub_scope *s)
{
	struct ub_lost_info lost;
	struct ub_ctx *ctx = s->ctx;
	int err = ub_lost(s, &lost);

	if (err == -EPERM)
		return err;
	if (err)
		return ub_fail(-EINVAL,
			       "%s: nobody is lost; ub_replace() follows -EOWNERDEAD",
			       s->level_name);
	if (!ctx->job)
		return ub_fail(-ENOENT,
			       "the job was started without spares; ub_shrink() goes on without the lost");
	if ((uint32_t)lost.rank == s->rank)
		return ub_lost_error(s);
	return 0;
}

int ub_replace(struct ub_scope *s, struct ub_scope **world)
{
	struct ub_ctx *ctx;
	uint32_t *who;
	int err;

	if (!s || !world)
		return ub_fail(-EINVAL, "ub_replace(): an argument is NULL");
	*world = NULL;
	err = check(s);
	if (err)
		return err;
	ctx = s->ctx;
	who = calloc(places(ctx), sizeof(*who));
	if (!who)
		return ub_fail(-ENOMEM, "no memory");
	err = enough(ctx, who);
	free(who);
	if (err)
		return err;
	if (s != ctx->world)
		return ub_fail(-EINVAL,
			       "%s: ub_replace() is for the world, of which ub_sync() tells who is lost",
			       s->level_name);
	err = meet(ctx, "ub_replace", true);
	if (err == -EOWNERDEAD)
		err = shrink_job(ctx);
	if (!err)
		err = next_world(ctx);
	if (ctx->world != s)
		*world = s->heir = ctx->world;
	return err;
}

int ub_replaced(const struct ub_scope *s, int rank)
{
	return rank >= 0 && (uint32_t)rank < s->n && s->fresh && s->fresh[rank];
}

int ub_rejoined(const struct ub_ctx *ctx)
{
	return ctx->rejoined;
}
