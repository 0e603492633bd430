// SPDX-License-Identifier: MIT
/*
 * How collectives use the levels of the machine.
 *
 * The members below one vertex of a level, when they are a run of ranks, can
 * work as a team. For each level with teams, for one team of all, and for a
 * reduction also without any, the time of a call follows from
 *
 *	steps		times a barrier: rounds times latency, level by level
 *	traffic		bytes into one child of a level, times the time of a
 *			byte on that level's link
 *	passes		over memory of its own, at the pace of the lanes
 *
 * The least time is taken. So the choice depends on the group, the machine file
 * and the size of the data, and all members choose alike; in whole numbers,
 * because they may be of different make. Formulas: Documentation/collectives.rst.
 */
#include "coll.h"
#include <stdlib.h>

/**
 * struct ub_tier - a level of the machine, as a scope sees it; lanes are the last
 * @count: children in the scope
 * @members: of the fullest
 * @byte: ps of a byte on a child's link
 * @teams: the children, or n is 0
 */
struct ub_tier {
	uint32_t count;
	uint64_t members;
	uint64_t byte;
	struct ub_teams teams;
};

/**
 * struct ub_plan - what a scope's collectives choose from
 * @sync: ps of a barrier
 * @ntiers: levels and lanes
 * @flat: one team of all
 * @tier: outermost first
 */
struct ub_plan {
	uint64_t sync;
	uint32_t ntiers;
	struct ub_teams flat;
	struct ub_tier tier[UB_SHAPE_LEVELS + 1];
};

/* ---- what there is ---- */

/* Do two members lie below the same child of level @l? */
static bool together(const struct ub_scope *s, uint32_t l, uint32_t a, uint32_t b)
{
	const struct ub_shape *shape = &s->ctx->machine.shape;

	if (l == shape->nlevels || a == b)
		return a == b;
	return ub_level_key(shape, s->node[a], l + 1) ==
	       ub_level_key(shape, s->node[b], l + 1);
}

/*
 * Runs of members that lie together, by the schedule's order, in which that is
 * all that do: how many, the longest, and the most under one vertex.
 */
static uint32_t children(const struct ub_scope *s, uint32_t l, uint64_t *longest,
			 uint32_t *widest)
{
	uint32_t runs = 0, wide = 0, i;
	uint64_t run = 0;

	*longest = *widest = 0;
	for (i = 0; i < s->n; i++) {
		uint32_t m = s->sched->order[i], was = i ? s->sched->order[i - 1] : m;

		if (!i || !together(s, l, was, m)) {
			runs++;
			run = 0;
			if (l && !together(s, l - 1, was, m))
				wide = 0;
			wide++;
		}
		run++;
		*longest = ub_more(*longest, run);
		*widest = ub_more(*widest, wide);
	}
	return runs;
}

/* The children as teams, if there are several and they are runs of ranks. */
static int make_teams(const struct ub_scope *s, uint32_t l, uint32_t n,
		      struct ub_teams *t)
{
	uint32_t runs = 1, i;

	for (i = 1; i < s->n; i++)
		runs += !together(s, l, i - 1, i);
	if (n == 1 || n == s->n || runs != n)
		return 0;
	t->first = calloc(n + 1, sizeof(*t->first));
	if (!t->first)
		return ub_fail(-ENOMEM, "no memory");
	for (i = 1; i < s->n; i++) {
		if (!together(s, l, i - 1, i))
			t->first[++t->n] = i;
		if (i == s->rank)
			t->mine = t->n;
	}
	t->first[++t->n] = s->n;
	t->least = s->n;
	for (i = 0; i < t->n; i++) {
		t->least = ub_less(t->least, ub_team_size(t, i));
		t->most = ub_more(t->most, ub_team_size(t, i));
	}
	return 0;
}

int ub_plan_make(struct ub_scope *s)
{
	const struct ub_machine *m = &s->ctx->machine;
	struct ub_plan *p = calloc(1, sizeof(*p));
	uint32_t l, widest;
	int err = 0;

	if (!p)
		return ub_fail(-ENOMEM, "no memory");
	p->ntiers = m->shape.nlevels + 1;
	for (l = 0; !err && l < p->ntiers; l++) {
		struct ub_tier *t = &p->tier[l];

		t->count = children(s, l, &t->members, &widest);
		t->byte = ub_more(1000000 / m->figure[l].mb_per_s, 1);
		p->sync += 1000ULL * m->figure[l].latency_ns *
			   ub_rounds(widest, m->shape.ports[l]);
		err = make_teams(s, l, t->count, &t->teams);
	}
	p->flat = (struct ub_teams){
		.n = 1, .least = s->n, .most = s->n,
		.first = calloc(2, sizeof(*p->flat.first)),
	};
	if (!err && !p->flat.first)
		err = ub_fail(-ENOMEM, "no memory");
	if (err) {
		ub_plan_free(p);
		return err;
	}
	p->flat.first[1] = s->n;
	s->plan = p;
	return 0;
}

void ub_plan_free(struct ub_plan *p)
{
	uint32_t l;

	if (!p)
		return;
	for (l = 0; l < p->ntiers; l++)
		free(p->tier[l].teams.first);
	free(p->flat.first);
	free(p);
}

/* ---- the choice ---- */

/*
 * Times in ps, which are products of bytes, members and more. Sizes beyond this
 * change no choice, and products of bytes and members fit 64 bits below it.
 */
#define MOST	((uint64_t)1 << 40)

static __uint128_t steps(const struct ub_plan *p, uint64_t n)
{
	return (__uint128_t)n * p->sync;
}

static __uint128_t passes(const struct ub_plan *p, uint64_t bytes)
{
	return (__uint128_t)bytes * p->tier[p->ntiers - 1].byte;
}

/* Everybody reads all of everybody's. */
static __uint128_t reduce_alone(const struct ub_plan *p, uint64_t n, uint64_t c)
{
	__uint128_t time = steps(p, ub_ceil(c, UB_CHUNK)) + passes(p, n * c);
	uint32_t l;

	for (l = 0; l < p->ntiers; l++) {
		const struct ub_tier *t = &p->tier[l];

		time += (__uint128_t)(t->members * (n - t->members) * c) * t->byte;
	}
	return time;
}

/* Teams are the children of tier @at; @at < 0: one team of all. */
static __uint128_t reduce_teams(const struct ub_plan *p, uint64_t n, uint64_t c, int at)
{
	uint64_t teams = at < 0 ? 1 : p->tier[at].teams.n;
	uint64_t team = at < 0 ? n : p->tier[at].members, m, bytes;
	__uint128_t time = steps(p, ub_ceil(c, UB_CHUNK) + teams + (teams > 1)) +
		    passes(p, 3 * c);
	int l;

	for (l = 0; l < (int)p->ntiers; l++) {
		m = p->tier[l].members;
		/* The chain's first gets no parts, its last no result. */
		if (l <= at)
			bytes = c * m / team + (p->tier[l].count > 2 ? c : 0);
		else
			bytes = 2 * (c * m / team) * (team - m + (teams > 1));
		time += (__uint128_t)bytes * p->tier[l].byte;
	}
	return time;
}

const struct ub_teams *ub_plan_reduce(const struct ub_scope *s, size_t bytes)
{
	const struct ub_plan *p = s->plan;
	uint64_t c = ub_less(bytes, MOST / s->n);
	const struct ub_teams *teams = NULL;
	__uint128_t best = reduce_alone(p, s->n, c), time;
	int l;

	for (l = -1; l < (int)p->ntiers; l++) {
		if (l >= 0 && !p->tier[l].teams.n)
			continue;
		time = reduce_teams(p, s->n, c, l);
		if (time >= best)
			continue;
		best = time;
		teams = l < 0 ? &p->flat : &p->tier[l].teams;
	}
	return teams;
}

size_t ub_spread_slice(const struct ub_scope *s, const struct ub_teams *t, bool all)
{
	size_t foreign = s->n - t->least;

	/* A member keeps its share of each foreign member's slice. */
	if (t->n == 1 || !all)
		return UB_CHUNK;
	return ub_less(UB_CHUNK / foreign * t->least, UB_CHUNK);
}

/* Of what all get, the bytes that @m members have not. */
static uint64_t foreign(uint64_t n, uint64_t m, uint64_t c, bool all)
{
	return all ? (n - m) * c : c;
}

static __uint128_t spread_flat(const struct ub_plan *p, uint64_t n, uint64_t c, bool all)
{
	__uint128_t time = steps(p, ub_ceil(c, UB_CHUNK));
	uint32_t l;

	for (l = 0; l < p->ntiers; l++) {
		const struct ub_tier *t = &p->tier[l];

		time += (__uint128_t)(t->members * foreign(n, t->members, c, all)) *
			t->byte;
	}
	return time;
}

static __uint128_t spread_teams(const struct ub_scope *s, uint64_t c, bool all, int at)
{
	const struct ub_plan *p = s->plan;
	const struct ub_teams *teams = &p->tier[at].teams;
	uint64_t team = p->tier[at].members, m, bytes;
	uint64_t from = foreign(s->n, team, c, all);
	__uint128_t time = steps(p, ub_ceil(c, ub_spread_slice(s, teams, all)) + 1) +
		    passes(p, from / team);
	int l;

	for (l = 0; l < (int)p->ntiers; l++) {
		m = p->tier[l].members;
		if (l <= at)
			bytes = m * foreign(s->n, m, c, all) / team;
		else
			bytes = m * from / team * (team - m + 1) +
				(all ? m * (team - m) * c : 0);
		time += (__uint128_t)bytes * p->tier[l].byte;
	}
	return time;
}

const struct ub_teams *ub_plan_spread(const struct ub_scope *s, size_t bytes,
				      bool all)
{
	const struct ub_plan *p = s->plan;
	uint64_t c = ub_less(bytes, MOST / s->n);
	const struct ub_teams *teams = &p->flat;
	__uint128_t best = spread_flat(p, s->n, c, all), time;
	int l;

	for (l = 0; l < (int)p->ntiers; l++) {
		if (!p->tier[l].teams.n)
			continue;
		time = spread_teams(s, c, all, l);
		if (time >= best)
			continue;
		best = time;
		teams = &p->tier[l].teams;
	}
	return teams;
}

const struct ub_teams *ub_plan_flat(const struct ub_scope *s)
{
	return &s->plan->flat;
}
