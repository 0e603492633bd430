// SPDX-License-Identifier: MIT
/*
 * heat: going on when a member is lost.
 *
 * With a spare	the new world has the same ranks, so the plate is split as before.
 *		Only the board that lost a member goes back to the checkpoint and
 *		sweeps again; a board that has swept keeps what it has, puts its
 *		edges once more and waits at the outer sync.
 * Without	the survivors split the plate anew. Each reads its rows, and those
 *		beyond its edges, from the mirror of the old windows.
 *
 * What is not finished when the next member dies is thrown away: the old window
 * stays until the new one is whole.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heat.h"

/* ---- the shape of each superstep, for the check ---- */

static void add_era(struct plate *p, int from)
{
	struct era *e;
	int b;

	if (!p->era)
		p->era = need_mem(ERAS, sizeof(*p->era));
	/* A shape that no superstep had. */
	if (p->eras && p->era[p->eras - 1].from == from)
		p->eras--;
	if (p->eras == ERAS || p->sh.nboards > BOARDS) {
		fprintf(stderr, "heat: more than %d shapes, or %d boards\n", ERAS, BOARDS);
		exit(1);
	}
	e = &p->era[p->eras++];
	e->from = from;
	e->nboards = p->sh.nboards;
	for (b = 0; b <= e->nboards; b++)
		e->begin[b] = shape_begin(&p->sh, p->o->rows, p->sh.first[b]);
}

const struct era *heat_era(const struct plate *p, int step)
{
	int i = p->eras - 1;

	while (p->era[i].from > step)
		i--;
	return &p->era[i];
}

/* ---- windows ---- */

static size_t bytes_of(const struct plate *p, const struct shape *sh)
{
	return heat_grid(p, sh, sh->me, 2, 0) * sizeof(double);
}

/* With a mirror on another board, or if there is none on another node; one rank
 * alone has nobody to keep it. */
static int make_window(struct plate *p, const struct shape *sh, struct ub_win **win)
{
	int err = -EINVAL;

	if (p->o->recover)
		err = ub_win_create_mirrored(sh->world, bytes_of(p, sh), p->o->level, win);
	if (p->o->recover && (err == -EINVAL || err == -ENOENT))
		err = ub_win_create_mirrored(sh->world, bytes_of(p, sh), "node", win);
	if (err == -EINVAL)
		err = ub_win_create(sh->world, bytes_of(p, sh), win);
	return err;
}

static void load_head(struct plate *p)
{
	const struct head *h = ub_win_base(p->win);

	p->step = h->step;
	p->cur = h->cur;
	p->halo = h->halo;
	p->last_change = h->change;
}

/* ---- with a spare: the same shape on another world ---- */

static bool own_board_lost(const struct shape *sh)
{
	int pos, board = sh->at[sh->me].board;

	for (pos = sh->first[board]; pos < sh->first[board + 1]; pos++)
		if (ub_replaced(sh->world, sh->at[pos].rank))
			return true;
	return false;
}

/* Mirrored at the level that the first window could be. */
static int rebuild(struct plate *p, struct ub_win **win)
{
	size_t bytes = bytes_of(p, &p->sh);
	int err;

	err = ub_win_rebuild(p->sh.world, bytes, p->o->level, p->win, p->swept, win);
	if (err == -EINVAL || err == -ENOENT)
		err = ub_win_rebuild(p->sh.world, bytes, "node", p->win, p->swept, win);
	return err;
}

static int refit(struct plate *p)
{
	struct ub_win *win;
	int err = shape_renew(&p->sh);

	if (err)
		return err;
	if (own_board_lost(&p->sh))
		p->swept = false;
	err = rebuild(p, &win);
	if (err)
		return err;
	need(ub_win_free(p->win), "ub_win_free");
	p->win = win;
	p->rows = heat_rows(p, &p->sh, p->sh.me);
	if (!p->swept)
		load_head(p);
	if (!p->eras)
		add_era(p, 0);
	return 0;
}

/* ---- without: another shape ---- */

/* A row of the plate as of the checkpoint @h, from whoever had it. */
static int old_row(struct plate *p, const struct head *h, size_t row, double *to)
{
	const struct shape *sh = &p->sh;
	int pos = 0;

	while (shape_begin(sh, p->o->rows, pos + 1) <= row)
		pos++;
	row -= shape_begin(sh, p->o->rows, pos);
	return ub_win_mirror_get(p->win, sh->at[pos].rank,
				 heat_grid(p, sh, pos, h->cur, row) * sizeof(double),
				 to, p->stride * sizeof(double));
}

/* The window @win of the new shape @sh gets the old ones' contents. */
static int move_rows(struct plate *p, const struct shape *sh, struct ub_win *win)
{
	size_t from = shape_begin(sh, p->o->rows, sh->me);
	size_t to = shape_begin(sh, p->o->rows, sh->me + 1), r;
	double *mem = ub_win_base(win);
	struct head *h = (struct head *)mem;
	struct head was;
	int err;

	/* Nobody had one yet: the begin of all, which is zero. */
	if (!p->win)
		return 0;
	err = ub_win_mirror_get(p->win, p->sh.at[p->sh.me].rank, 0, &was, sizeof(was));
	for (r = from; !err && r < to; r++)
		err = old_row(p, &was, r, mem + heat_grid(p, sh, sh->me, 0, r - from));
	if (!err && from > 0)
		err = old_row(p, &was, from - 1, mem + heat_halo(p, 0, UPPER));
	if (!err && to < p->o->rows)
		err = old_row(p, &was, to, mem + heat_halo(p, 0, LOWER));
	*h = (struct head){ .step = was.step, .change = was.change };
	return err;
}

static int resettle(struct plate *p, struct ub_scope *survivors)
{
	struct shape sh = { .ctx = p->sh.ctx, .world = survivors };
	struct ub_win *win = NULL;
	int err;

	/* A spare that had not got its part yet can give nothing: one less. */
	if (!p->win && ub_rejoined(p->sh.ctx))
		return -ENODATA;
	err = shape_build(&sh, p->o->level);
	if (!err)
		err = make_window(p, &sh, &win);
	if (!err)
		err = move_rows(p, &sh, win);
	/* What was read is no longer needed when all have it kept. */
	if (!err)
		err = ub_sync(survivors);
	if (!err)
		err = ub_checkpoint(survivors);
	if (err) {
		ub_win_free(win);
		shape_free(&sh);
		return err;
	}
	need(ub_win_free(p->win), "ub_win_free");
	shape_free(&p->sh);
	p->win = win;
	p->sh = sh;
	p->rows = heat_rows(p, &sh, sh.me);
	p->swept = false;
	load_head(p);
	add_era(p, p->step);
	return 0;
}

static void tell(const struct plate *p, const char *who)
{
	if (shape_rank(&p->sh) == 0)
		printf("a member was lost: on with %s at outer step %d\n", who,
		       p->step + 1);
	fflush(stdout);
}

int heat_go_on(struct plate *p)
{
	struct ub_scope *world = p->sh.world, *next;
	/* Whoever heard of it on the board: all hear it here, with the others. */
	int err = ub_sync(world);
	bool spare = true;

	if (err != -EOWNERDEAD)
		return err ? err : -EIO;
	err = ub_replace(world, &next);
	if (err == -ENOENT) {
		spare = false;
		err = ub_shrink(world, &next);
	}
	if (next)
		p->sh.world = next;
	if (!err)
		err = spare ? refit(p) : resettle(p, next);
	if (!err)
		tell(p, spare ? "a spare" : "the survivors");
	return err;
}

int heat_begin(struct plate *p)
{
	int err;

	if (ub_rejoined(p->sh.ctx)) {
		err = refit(p);
		if (!err)
			tell(p, "a spare");
		return err;
	}
	shape_print(&p->sh, "heat");
	p->born = shape_rank(&p->sh);
	p->rows = heat_rows(p, &p->sh, p->sh.me);
	add_era(p, 0);
	return make_window(p, &p->sh, &p->win);
}
