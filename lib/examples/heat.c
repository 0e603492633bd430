// SPDX-License-Identifier: MIT
/*
 * heat: the 2-D heat equation by Jacobi's method, as Nested BSP.
 *
 * The plate's rows are split by boards and inside a board by its members. An
 * outer superstep is a number of inner ones:
 *
 *	inner, on the board	one sweep over the own rows. A neighbour's row
 *				on the same board is read by plain loads from its
 *				window; one on another board is the copy that
 *				the outer superstep began with
 *	outer, on the world	members at a board's edge put their outermost row
 *				to the neighbour on the other board; ub_sync makes
 *				it theirs and has the largest change on the way
 *
 * No superstep writes what another member may read in it: a sweep reads one
 * grid and writes the other, and rows are put into the halo that the outer
 * superstep under way does not read.
 *
 * A rank's window: where it stands, halo[2][upper, lower], then grid[2][rows], in
 * rows of stride doubles that begin and end with the plate's fixed rim. With
 * --recover each outer superstep ends in a checkpoint: heat_recover.c.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heat.h"

#define HOT	100.0		/* the upper rim; the others are 0 */

static const char usage_text[] =
"Usage: heat [OPTION]...\n"
"2-D heat equation by Jacobi's method on the ranks of a fabric.\n"
"\n"
"  --n ROWS        rows of the plate (256)\n"
"  --cols COLS     columns (256)\n"
"  --inner K       sweeps on a board between two exchanges of boards (10)\n"
"  --outer STEPS   exchanges (100)\n"
"  --check         compute it again on one rank and compare every bit\n"
"  --no-stats      do not print the table of time per level\n"
"  --level NAME    level of the machine that is a board (board)\n"
"  --recover       go on when a member is lost: with a spare in its place, or\n"
"                  without it; each rank's part has a mirror on another board\n"
"  --kill R:S:W    rank R kills itself in outer step S: W is inner (between sweeps),\n"
"                  outer (before the sync) or mirror (before the checkpoint)\n";

size_t heat_rows(const struct plate *p, const struct shape *sh, int pos)
{
	return shape_begin(sh, p->o->rows, pos + 1) -
	       shape_begin(sh, p->o->rows, pos);
}

size_t heat_halo(const struct plate *p, int halo, enum side side)
{
	return HEAD + (2 * halo + side) * p->stride;
}

size_t heat_grid(const struct plate *p, const struct shape *sh, int pos, int grid,
		 size_t row)
{
	return HEAD + (4 + grid * heat_rows(p, sh, pos) + row) * p->stride;
}

/* A row of the grid that is read, of whoever stands at @pos on this board. */
static const double *read_row(const struct plate *p, int pos, size_t row)
{
	const double *mem = ub_win_peer(p->win, p->sh.at[pos].rank);

	return mem + heat_grid(p, &p->sh, pos, p->cur, row);
}

/* The row beyond the own ones. */
static const double *beyond(const struct plate *p, enum side side)
{
	const double *mem = ub_win_base(p->win);
	const struct shape *sh = &p->sh;
	int pos = side == UPPER ? sh->me - 1 : sh->me + 1;

	if (pos < 0)
		return p->rim;
	if (pos == sh->n)
		return p->rim + p->stride;
	if (sh->at[pos].board != sh->at[sh->me].board)
		return mem + heat_halo(p, p->halo, side);
	return read_row(p, pos, side == UPPER ? heat_rows(p, sh, pos) - 1 : 0);
}

/* One row of a sweep; both ways of computing use this. Returns the largest
 * change. */
static double sweep_row(double *restrict to, const double *restrict up,
			const double *restrict row, const double *restrict down,
			size_t cols)
{
	double change = 0.0, d;
	size_t i;

	for (i = 1; i <= cols; i++)
		to[i] = 0.25 * ((up[i] + down[i]) + (row[i - 1] + row[i + 1]));
	for (i = 1; i <= cols; i++) {
		d = fabs(to[i] - row[i]);
		change = d > change ? d : change;
	}
	return change;
}

static double sweep(void *arg)
{
	struct plate *p = arg;
	double *mem = ub_win_base(p->win), change = 0.0, d;
	const double *up = beyond(p, UPPER), *row, *down;
	size_t r;

	for (r = 0; r < p->rows; r++) {
		row = read_row(p, p->sh.me, r);
		down = r + 1 < p->rows ? row + p->stride : beyond(p, LOWER);
		d = sweep_row(mem + heat_grid(p, &p->sh, p->sh.me, !p->cur, r), up,
			      row, down, p->o->cols);
		change = d > change ? d : change;
		up = row;
	}
	return change;
}

/* Gives the outermost row on @side to a neighbour on another board. */
static int put_edge(struct plate *p, enum side side)
{
	const struct shape *sh = &p->sh;
	int pos = side == UPPER ? sh->me - 1 : sh->me + 1, err;
	size_t row = side == UPPER ? 0 : p->rows - 1;

	if (pos < 0 || pos == sh->n || sh->at[pos].board == sh->at[sh->me].board)
		return 0;
	err = ub_put(sh->world, p->win, sh->at[pos].rank,
		     heat_halo(p, !p->halo, !side) * sizeof(double),
		     read_row(p, sh->me, row), p->stride * sizeof(double));
	/* Of a neighbour that is dead the sync tells, to all alike. */
	return err == -EOWNERDEAD ? 0 : err;
}

/* --kill: a rank that dies, as a test of those that do not. */
static void maybe_die(const struct plate *p, enum where where)
{
	const struct death *d;

	for (d = p->o->death; d < p->o->death + p->o->deaths; d++)
		if (d->rank == p->born && d->step == p->step + 1 &&
		    d->where == where && !ub_rejoined(p->sh.ctx))
			raise(SIGKILL);
}

static int sweep_all(struct plate *p)
{
	int i, err;

	for (i = 0; i < p->o->inner; i++) {
		if (i == p->o->inner / 2)
			maybe_die(p, INNER);
		err = shape_load(&p->sh, sweep, p, &p->change);
		if (!err)
			err = ub_sync(p->sh.board);
		if (err)
			return err;
		p->cur = !p->cur;
	}
	p->swept = true;
	return 0;
}

/* What is in the window from the next sync on: a superstep more. */
static void mark(struct plate *p, double change)
{
	struct head *h = ub_win_base(p->win);

	*h = (struct head){
		.step = p->step + 1, .cur = p->cur, .halo = !p->halo, .change = change,
	};
}

/*
 * A superstep counts when all have it in the mirror. Until then whatever of it is
 * done may be done again: a board that has swept keeps that, see heat_recover.c.
 */
static int outer_step(struct plate *p)
{
	double change;
	int err = p->swept ? 0 : sweep_all(p);

	if (!err)
		err = put_edge(p, UPPER);
	if (!err)
		err = put_edge(p, LOWER);
	if (err)
		return err;
	maybe_die(p, OUTER);
	err = ub_sync_max_double(p->sh.world, p->change, &change);
	if (err)
		return err;
	mark(p, change);
	maybe_die(p, MIRROR);
	if (p->o->recover)
		err = ub_checkpoint(p->sh.world);
	if (err)
		return err;
	p->last_change = change;
	p->halo = !p->halo;
	p->swept = false;
	p->step++;
	return 0;
}

/* ---- the same on one rank ---- */

/* One sweep over a board's rows [@from, @to); what lies beyond is in @frozen. */
static double sweep_board(double *to_grid, const double *grid, const double *frozen,
			  size_t stride, size_t cols, size_t from, size_t to)
{
	double change = 0.0, d;
	size_t r;

	/* Row 0 of a grid is the upper rim. */
	for (r = from + 1; r <= to; r++) {
		d = sweep_row(to_grid + r * stride,
			      (r == from + 1 ? frozen : grid) + (r - 1) * stride,
			      grid + r * stride,
			      (r == to ? frozen : grid) + (r + 1) * stride, cols);
		change = d > change ? d : change;
	}
	return change;
}

static double *serial(const struct plate *p, double *last_change)
{
	size_t all = (p->o->rows + 2) * p->stride;
	double *grid[2], *frozen, change = 0.0, d;
	int s, i, b, cur = 0;

	grid[0] = need_mem(all, sizeof(double));
	grid[1] = need_mem(all, sizeof(double));
	frozen = need_mem(all, sizeof(double));
	memcpy(grid[0], p->rim, p->stride * sizeof(double));
	memcpy(grid[1], p->rim, p->stride * sizeof(double));
	for (s = 0; s < p->o->outer; s++) {
		const struct era *e = heat_era(p, s);

		memcpy(frozen, grid[cur], all * sizeof(double));
		for (i = 0; i < p->o->inner; i++) {
			change = 0.0;
			for (b = 0; b < e->nboards; b++) {
				d = sweep_board(grid[!cur], grid[cur], frozen,
						p->stride, p->o->cols,
						e->begin[b], e->begin[b + 1]);
				change = d > change ? d : change;
			}
			cur = !cur;
		}
	}
	free(frozen);
	free(grid[!cur]);
	*last_change = change;
	return grid[cur];
}

/* On rank 0: does what all computed have the bits that one computes? */
static bool same_bits(struct plate *p, const double *got, double got_change)
{
	double change, *want = serial(p, &change);
	size_t r, c, wrong = 0;

	for (r = 1; r <= p->o->rows; r++) {
		for (c = 1; c <= p->o->cols; c++) {
			if (!memcmp(&want[r * p->stride + c],
				    &got[(r - 1) * p->stride + c], sizeof(double)))
				continue;
			if (!wrong++)
				printf("row %zu column %zu: %a, serially %a\n", r, c,
				       got[(r - 1) * p->stride + c],
				       want[r * p->stride + c]);
		}
	}
	free(want);
	if (memcmp(&change, &got_change, sizeof(change))) {
		printf("residual %a, serially %a\n", got_change, change);
		wrong++;
	}
	printf("identical bits: %s\n", wrong ? "no" : "yes");
	return !wrong;
}

/* Rank 0 gets everybody's rows. Returns whether the check passed, on all. */
static bool check(struct plate *p)
{
	const struct shape *sh = &p->sh;
	uint64_t bad = 0;
	double *all = NULL;
	int pos;

	if (shape_rank(sh) == 0)
		all = need_mem(p->o->rows * p->stride, sizeof(double));
	for (pos = 0; all && pos < sh->n; pos++)
		need(ub_get(sh->world, p->win, sh->at[pos].rank,
			    heat_grid(p, sh, pos, p->cur, 0) * sizeof(double),
			    all + shape_begin(sh, p->o->rows, pos) * p->stride,
			    heat_rows(p, sh, pos) * p->stride * sizeof(double)),
		     "ub_get");
	need(ub_sync(sh->world), "ub_sync");
	if (all)
		bad = !same_bits(p, all, p->last_change);
	free(all);
	need(ub_sync_reduce(sh->world, UB_SUM, bad, &bad), "ub_sync_reduce");
	return !bad;
}

static long number(const char *name, const char *text)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (end == text || *end || n < 1 || n > 1000000) {
		fprintf(stderr, "heat: --%s wants a number from 1 to 1000000, not '%s'\n",
			name, text);
		exit(2);
	}
	return n;
}

static void parse_death(struct opts *o, const char *text)
{
	static const char *const name[] = { "inner", "outer", "mirror" };
	struct death *d = &o->death[o->deaths];
	char where[8];
	int i;

	if (o->deaths == DEATHS ||
	    sscanf(text, "%d:%d:%7s", &d->rank, &d->step, where) != 3)
		where[0] = '\0';
	for (i = INNER; i <= MIRROR; i++) {
		if (strcmp(where, name[i]))
			continue;
		d->where = i;
		o->deaths++;
		return;
	}
	fprintf(stderr, "heat: --kill wants RANK:STEP:inner, :outer or :mirror, %d at most, not '%s'\n",
		DEATHS, text);
	exit(2);
}

static void parse(struct opts *o, int argc, char **argv)
{
	static const struct option list[] = {
		{ "n", required_argument, NULL, 'n' },
		{ "rows", required_argument, NULL, 'n' },
		{ "cols", required_argument, NULL, 'c' },
		{ "inner", required_argument, NULL, 'i' },
		{ "outer", required_argument, NULL, 'o' },
		{ "check", no_argument, NULL, 'k' },
		{ "stats", no_argument, NULL, 's' },
		{ "no-stats", no_argument, NULL, 'S' },
		{ "level", required_argument, NULL, 'l' },
		{ "recover", no_argument, NULL, 'r' },
		{ "kill", required_argument, NULL, 'K' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int c, i = 0;

	while ((c = getopt_long(argc, argv, "", list, &i)) != -1) {
		switch (c) {
		case 'n':
			o->rows = number(list[i].name, optarg);
			break;
		case 'c':
			o->cols = number(list[i].name, optarg);
			break;
		case 'i':
			o->inner = number(list[i].name, optarg);
			break;
		case 'o':
			o->outer = number(list[i].name, optarg);
			break;
		case 'k':
			o->check = true;
			break;
		case 's':
		case 'S':
			o->stats = c == 's';
			break;
		case 'l':
			o->level = optarg;
			break;
		case 'r':
			o->recover = true;
			break;
		case 'K':
			parse_death(o, optarg);
			break;
		case 'h':
			fputs(usage_text, stdout);
			exit(0);
		default:
			fputs(usage_text, stderr);
			exit(2);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "heat: what is '%s'?\n", argv[optind]);
		exit(2);
	}
}

static void make_plate(struct plate *p)
{
	size_t i;

	p->stride = (p->o->cols + 2 + ALIGN - 1) / ALIGN * ALIGN;
	p->rim = need_mem(2 * p->stride, sizeof(double));
	for (i = 1; i <= p->o->cols; i++)
		p->rim[i] = HOT;
}

static void tell(const struct plate *p)
{
	int every = p->o->outer < 5 ? 1 : p->o->outer / 5;

	if (shape_rank(&p->sh) == 0 && (p->step % every == 0 || p->step == p->o->outer)) {
		printf("outer step %d, sweep %d: residual %.6e\n", p->step,
		       p->step * p->o->inner, p->last_change);
		fflush(stdout);
	}
}

static void run(struct plate *p)
{
	int err = heat_begin(p);

	while (err ? err == -EOWNERDEAD && p->o->recover : p->step < p->o->outer) {
		if (err) {
			err = heat_go_on(p);
			continue;
		}
		err = outer_step(p);
		if (!err)
			tell(p);
	}
	need(err, "a superstep");
}

int main(int argc, char **argv)
{
	struct opts o = {
		.rows = 256, .cols = 256, .inner = 10, .outer = 100, .stats = true,
		.level = "board",
	};
	struct plate p = { .o = &o };
	bool good = true;

	parse(&o, argc, argv);
	shape_join(&p.sh, o.level);
	if (o.rows < (size_t)ub_size(p.sh.world)) {
		fprintf(stderr, "heat: %zu rows are too few for %d ranks\n", o.rows,
			ub_size(p.sh.world));
		return 2;
	}
	make_plate(&p);
	run(&p);
	if (o.check)
		good = check(&p);
	fflush(stdout);
	if (o.stats)
		need(ub_stats_print(p.sh.ctx, stdout), "ub_stats_print");
	need(ub_win_free(p.win), "ub_win_free");
	free(p.rim);
	free(p.era);
	shape_leave(&p.sh);
	return good ? 0 : 1;
}
