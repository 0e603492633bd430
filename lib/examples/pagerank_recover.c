// SPDX-License-Identifier: MIT
/*
 * pagerank: going on when a member is lost.
 *
 * After each iteration the ranks of the own nodes are kept in a mirrored window.
 * The survivors split the graph anew and read the ranks of their nodes from there,
 * those of the dead from their buddies. What is not finished when the next member
 * dies is thrown away: the old window stays until the new one is whole.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pagerank.h"

/**
 * struct state - what a rank keeps
 * @it: iterations that are done; 0: nothing is kept yet
 * @change: struct run's
 * @x: own nodes
 */
struct state {
	uint64_t it;
	uint64_t change;
	double x[];
};

static int make_window(struct run *r)
{
	size_t bytes = sizeof(struct state) + (r->end - r->begin) * sizeof(double);
	int err;

	err = ub_win_create_mirrored(r->sh.world, bytes, r->o->level, &r->kept);
	if (err == -EINVAL || err == -ENOENT)
		err = ub_win_create_mirrored(r->sh.world, bytes, "node", &r->kept);
	/* One rank alone has nobody to keep it. */
	if (err == -EINVAL)
		err = ub_win_create(r->sh.world, bytes, &r->kept);
	return err;
}

static void begin(struct run *r)
{
	uint32_t v;

	r->it = 0;
	r->change = (uint64_t)FIXED;	/* nothing known yet: not converged */
	for (v = 0; v < r->end - r->begin; v++)
		r->x[v] = 1.0 / r->g.n;
}

int keep_begin(struct run *r)
{
	begin(r);
	return r->o->recover ? make_window(r) : 0;
}

int keep(struct run *r)
{
	struct state *s;

	if (!r->kept)
		return 0;
	s = ub_win_base(r->kept);
	s->it = r->it;
	s->change = r->change;
	memcpy(s->x, r->x, (r->end - r->begin) * sizeof(double));
	return ub_checkpoint(r->sh.world);
}

/* Part of what the rank at @pos of @old had kept. */
static int kept_of(const struct run *old, int pos, size_t off, void *to, size_t len)
{
	return ub_win_mirror_get(old->kept, old->sh.at[pos].rank, off, to, len);
}

/* The own nodes' ranks, from whoever had them. */
static int load(struct run *r, const struct run *old)
{
	struct state s = { 0 };
	int pos, err = 0;

	/* All have a window or none has. */
	if (old->kept)
		err = kept_of(old, 0, 0, &s, sizeof(s));
	if (err || !s.it) {
		begin(r);
		return err;
	}
	r->it = s.it;
	r->change = 0;
	for (pos = 0; !err && pos < old->sh.n; pos++) {
		uint32_t lo = begin_of(old, pos), hi = begin_of(old, pos + 1);
		uint32_t from = lo > r->begin ? lo : r->begin;
		uint32_t to = hi < r->end ? hi : r->end;

		if (from < to)
			err = kept_of(old, pos,
				      sizeof(s) + (from - lo) * sizeof(double),
				      r->x + (from - r->begin),
				      (to - from) * sizeof(double));
		/* The changes only count as a sum: the first has that of all. */
		if (!err && r->sh.me == 0)
			err = kept_of(old, pos, 0, &s, sizeof(s));
		if (r->sh.me == 0)
			r->change += s.change;
	}
	return err;
}

/* Everything anew in @r, which has only the survivors. */
static int resettle(struct run *r, const struct run *old)
{
	int err = shape_build(&r->sh, r->o->level);

	if (!err)
		err = plan(r);
	if (!err)
		err = make_window(r);
	if (!err)
		err = load(r, old);
	return err ? err : keep(r);
}

int go_on(struct run *r)
{
	struct run now = {
		.o = r->o, .g = r->g, .born = r->born, .sh = { .ctx = r->sh.ctx },
	};
	/* Whoever heard of it on the board: all hear it here, with the others. */
	int err = ub_sync(r->sh.world);

	if (err != -EOWNERDEAD)
		return err ? err : -EIO;
	err = ub_shrink(r->sh.world, &now.sh.world);
	if (now.sh.world)
		r->sh.world = now.sh.world;
	if (err)
		return err;
	err = resettle(&now, r);
	if (err) {
		ub_win_free(now.kept);
		plan_free(&now);
		shape_free(&now.sh);
		return err;
	}
	ub_win_free(r->kept);
	plan_free(r);
	shape_free(&r->sh);
	*r = now;
	if (shape_rank(&r->sh) == 0)
		printf("a member was lost: on with %d ranks after iteration %d\n",
		       r->sh.n, r->it);
	fflush(stdout);
	return 0;
}
