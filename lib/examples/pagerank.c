// SPDX-License-Identifier: MIT
/*
 * pagerank: which packages does everything rest on? Nested BSP.
 *
 * A node's rank flows to what it depends on. Each rank owns a block of nodes,
 * a board so owns a longer one. One iteration is one outer superstep:
 *
 *	inner, on the board	everybody stores, into its own window, what each
 *				own node gives to each target, and its share of
 *				the dangling mass (nodes without targets)
 *	ub_sync(board)
 *	outer, on the world	everybody adds up, by plain loads from the windows
 *				of its board, what the board gives to the own
 *				nodes and to those of some ranks elsewhere. These
 *				sums it puts, in one message for each such rank
 *	ub_sync(world)		the messages of all boards are joined; how much the
 *				iteration before changed is reduced on the way
 *
 * So a number crosses boards once for each pair of board and target, however
 * many nodes of the board point there. Messages lie in one of two slots: the
 * sender of the next iteration may be ahead of a reader on another board.
 *
 * A rank's window: give[own nodes], dangling mass, then for both parities and
 * each board: dangling mass of the board and its sums, without the zeros. With
 * --recover the ranks of the own nodes have a mirrored window: pagerank_recover.c.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pagerank.h"

#define DAMPING		0.85
#define TOP		10
#define EPSILON		(1 / 1e12)	/* what is taken for no difference */

static const char usage_text[] =
"Usage: pagerank [OPTION]... [FILE]\n"
"PageRank of the graph in FILE (build/debian-graph.txt) on the ranks of a fabric.\n"
"\n"
"  --tolerance T      end when an iteration changes less than that (1e-12)\n"
"  --iterations N     end after that many (100)\n"
"  --check            compute it again on one rank and compare\n"
"  --no-stats         do not print the table of time per level\n"
"  --level NAME       level of the machine that is a board (board)\n"
"  --recover          go on without a member that is lost; the ranks that each has\n"
"                     computed have a mirror on another board\n"
"  --kill R:I         rank R kills itself in iteration I\n";

/* ---- one iteration ---- */

static void publish(struct run *r)
{
	double *give = ub_win_base(r->win), dangling = 0.0;
	uint32_t nodes = r->end - r->begin, v, degree;

	for (v = 0; v < nodes; v++) {
		degree = graph_degree(&r->g, r->begin + v);
		give[v] = degree ? r->x[v] / degree : 0.0;
		if (!degree)
			dangling += r->x[v];
	}
	give[nodes] = dangling;
}

static double board_dangling(const struct run *r)
{
	int pos, first = r->sh.first[my_board(r)], last = r->sh.first[my_board(r) + 1];
	double sum = 0.0;

	for (pos = first; pos < last; pos++)
		sum += ((double *)ub_win_peer(r->win, r->sh.at[pos].rank))
			[begin_of(r, pos + 1) - begin_of(r, pos)];
	return sum;
}

static void add_up(struct work *w, double dangling)
{
	uint32_t i, e;
	double sum;

	w->sum[0] = dangling;
	for (i = 0; i < w->n; i++) {
		sum = 0.0;
		for (e = w->first[i]; e < w->first[i + 1]; e++)
			sum += *w->from[e];
		w->sum[i + 1] = sum;
	}
}

static double add_up_all(void *arg)
{
	struct run *r = arg;
	double dangling = board_dangling(r);
	int i;

	for (i = 0; i < r->nwork; i++)
		add_up(&r->work[i], dangling);
	return dangling;
}

/* Joins what all boards give to the own nodes, board by board. Returns how
 * much the own nodes changed. */
static double join(struct run *r, int parity)
{
	const char *mem = ub_win_base(r->win);
	uint32_t nodes = r->end - r->begin, v, i;
	size_t slot = r->in_off[r->sh.nboards] - give_bytes(nodes);
	double dangling = 0.0, base, change = 0.0;
	const double *sum;
	int b;

	memset(r->next, 0, nodes * sizeof(double));
	for (b = 0; b < r->sh.nboards; b++) {
		const bool own = b == my_board(r);
		const uint32_t *target = own ? r->work[0].target : r->in_target[b];
		const uint32_t n = own ? r->work[0].n : r->in_n[b];

		sum = own ? r->work[0].sum :
			    (const double *)(mem + r->in_off[b] + parity * slot);
		dangling += *sum++;
		for (i = 0; i < n; i++)
			r->next[target[i]] += sum[i];
	}
	base = (1.0 - DAMPING + DAMPING * dangling) / r->g.n;
	for (v = 0; v < nodes; v++) {
		r->next[v] = base + DAMPING * r->next[v];
		change += fabs(r->next[v] - r->x[v]);
	}
	return change;
}

/* --kill: a rank that dies, as a test of those that do not. */
static void maybe_die(const struct run *r)
{
	if (r->o->kill_it == r->it + 1 && r->o->kill_rank == r->born)
		raise(SIGKILL);
}

/* The board's sums, put to whom they concern. */
static int exchange(struct run *r)
{
	double sum;
	int err, i;

	publish(r);
	err = ub_sync(r->sh.board);
	if (!err)
		err = shape_load(&r->sh, add_up_all, r, &sum);
	for (i = 1; !err && i < r->nwork; i++) {
		struct work *w = &r->work[i];

		err = ub_put(r->sh.world, r->win, r->sh.at[w->pos].rank,
			     w->off[r->it & 1], w->sum, message_bytes(w->n));
		/* Of a rank that is dead the sync tells, to all alike. */
		if (err == -EOWNERDEAD)
			err = 0;
	}
	return err;
}

/*
 * Each outer barrier carries the change of the iteration before, since that
 * of its own is known only after it. Returns 0 when it has converged.
 */
static int iterate(struct run *r, double *last)
{
	uint64_t change;
	double *swap;
	int err;

	for (;;) {
		err = exchange(r);
		if (err)
			return err;
		maybe_die(r);
		err = ub_sync_reduce(r->sh.world, UB_SUM, r->change, &change);
		if (err)
			return err;
		*last = change / FIXED;
		if (r->it == r->o->iterations || (r->it && *last < r->o->tolerance))
			return 0;
		r->change = (uint64_t)(join(r, r->it & 1) * FIXED);
		swap = r->x;
		r->x = r->next;
		r->next = swap;
		r->it++;
		err = keep(r);
		if (err)
			return err;
	}
}

/* ---- results ---- */

struct entry {
	double rank;
	uint32_t node;
};

static int better(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? 1 : -1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static void print_top(struct run *r)
{
	struct entry mine[TOP + 1] = { }, *all;
	uint32_t v;
	int n = 0, i;

	for (v = 0; v < r->end - r->begin; v++) {
		mine[n] = (struct entry){ r->x[v], r->begin + v };
		for (i = n; i && better(&mine[i - 1], &mine[i]) > 0; i--) {
			struct entry e = mine[i];

			mine[i] = mine[i - 1];
			mine[i - 1] = e;
		}
		n += n < TOP;
	}
	all = need_mem((size_t)r->sh.n * TOP, sizeof(*all));
	memset(&mine[n], 0, (TOP - n) * sizeof(*mine));
	need(ub_allgather(r->sh.world, mine, TOP * sizeof(*mine), all), "ub_allgather");
	qsort(all, (size_t)r->sh.n * TOP, sizeof(*all), better);
	for (i = 0; i < TOP && all[i].rank > 0 && shape_rank(&r->sh) == 0; i++)
		printf("%2d  %-24s %.9f\n", i + 1, r->g.name[all[i].node], all[i].rank);
	free(all);
}

static double *serial(const struct run *r, int *iterations)
{
	const struct graph *g = &r->g;
	double *x = need_mem(g->n, sizeof(double)), *next, *swap;
	double dangling, base, give, change = 1.0;
	uint32_t v, degree;
	size_t e;
	int it;

	next = need_mem(g->n, sizeof(double));
	for (v = 0; v < g->n; v++)
		x[v] = 1.0 / g->n;
	for (it = 0; it < r->o->iterations && !(it && change < r->o->tolerance); it++) {
		memset(next, 0, g->n * sizeof(double));
		dangling = 0.0;
		for (v = 0; v < g->n; v++) {
			degree = graph_degree(g, v);
			if (!degree)
				dangling += x[v];
			give = degree ? x[v] / degree : 0.0;
			for (e = g->out[v]; e < g->out[v + 1]; e++)
				next[g->to[e]] += give;
		}
		base = (1.0 - DAMPING + DAMPING * dangling) / g->n;
		change = 0.0;
		for (v = 0; v < g->n; v++) {
			next[v] = base + DAMPING * next[v];
			change += fabs(next[v] - x[v]);
		}
		swap = x;
		x = next;
		next = swap;
	}
	free(next);
	*iterations = it;
	return x;
}

static bool compare(const struct run *r, const double *got, int iterations)
{
	double worst = 0.0, sum = 0.0, *want, d;
	int want_iterations;
	uint32_t v;

	want = serial(r, &want_iterations);
	for (v = 0; v < r->g.n; v++) {
		d = fabs(got[v] - want[v]);
		worst = d > worst || isnan(d) ? d : worst;
		sum += got[v];
	}
	free(want);
	printf("serially %d iterations, here %d; sum of ranks 1%+.1e; largest difference %.1e: %s\n",
	       want_iterations, iterations, sum - 1.0, worst,
	       worst <= EPSILON ? "equal" : "DIFFERENT");
	return worst <= EPSILON;
}

/* Rank 0 gets everybody's nodes. Returns whether the check passed, on all. */
static bool check(struct run *r)
{
	struct shape *sh = &r->sh;
	double *all = NULL;
	uint64_t bad = 0;
	int pos;

	memcpy(ub_win_base(r->win), r->x, (r->end - r->begin) * sizeof(double));
	need(ub_sync(sh->world), "ub_sync");
	if (shape_rank(sh) == 0)
		all = need_mem(r->g.n, sizeof(double));
	for (pos = 0; all && pos < sh->n; pos++)
		need(ub_get(sh->world, r->win, sh->at[pos].rank, 0,
			    all + begin_of(r, pos),
			    (begin_of(r, pos + 1) - begin_of(r, pos)) * sizeof(double)),
		     "ub_get");
	need(ub_sync(sh->world), "ub_sync");
	if (all)
		bad = !compare(r, all, r->it);
	free(all);
	need(ub_sync_reduce(sh->world, UB_SUM, bad, &bad), "ub_sync_reduce");
	return !bad;
}

static void parse(struct opts *o, int argc, char **argv)
{
	static const struct option list[] = {
		{ "tolerance", required_argument, NULL, 't' },
		{ "iterations", required_argument, NULL, 'i' },
		{ "check", no_argument, NULL, 'k' },
		{ "stats", no_argument, NULL, 's' },
		{ "no-stats", no_argument, NULL, 'S' },
		{ "level", required_argument, NULL, 'l' },
		{ "recover", no_argument, NULL, 'r' },
		{ "kill", required_argument, NULL, 'K' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	bool good = true;
	int c;

	while ((c = getopt_long(argc, argv, "", list, NULL)) != -1) {
		switch (c) {
		case 't':
			o->tolerance = strtod(optarg, NULL);
			break;
		case 'i':
			o->iterations = atoi(optarg);
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
			good &= sscanf(optarg, "%d:%d", &o->kill_rank, &o->kill_it) == 2;
			break;
		case 'h':
			fputs(usage_text, stdout);
			exit(0);
		default:
			fputs(usage_text, stderr);
			exit(2);
		}
	}
	if (optind < argc)
		o->file = argv[optind++];
	if (!good || optind < argc || o->iterations < 1 || !(o->tolerance >= 0)) {
		fputs(usage_text, stderr);
		exit(2);
	}
}

static double run(struct run *r)
{
	double last = 0.0;
	int err;

	need(plan(r), "the plan");
	err = keep_begin(r);
	for (;;) {
		if (!err)
			err = iterate(r, &last);
		if (err != -EOWNERDEAD || !r->o->recover)
			break;
		err = go_on(r);
	}
	need(err, "an iteration");
	return last;
}

int main(int argc, char **argv)
{
	struct opts o = {
		.file = "build/debian-graph.txt", .level = "board",
		.tolerance = EPSILON, .iterations = 100, .stats = true,
	};
	struct run r = { .o = &o };
	bool good = true;
	double change;
	int err;

	parse(&o, argc, argv);
	/* Before joining: who cannot read it keeps nobody waiting in a barrier. */
	err = graph_read(&r.g, o.file);
	if (err) {
		fprintf(stderr, "pagerank: %s: %s\n", o.file,
			err == -EINVAL ? "no line is node<TAB>neighbours" : strerror(-err));
		if (err == -ENOENT)
			fputs("pagerank: lib/examples/debian-graph makes it\n", stderr);
		return 1;
	}
	shape_join(&r.sh, o.level);
	shape_print(&r.sh, "pagerank");
	r.born = shape_rank(&r.sh);
	if (r.born == 0)
		printf("%s: %u nodes, %zu edges\n", o.file, r.g.n, r.g.edges);
	fflush(stdout);
	change = run(&r);
	if (shape_rank(&r.sh) == 0)
		printf("%d iterations, last change %.2e\n", r.it, change);
	print_top(&r);
	if (o.check)
		good = check(&r);
	fflush(stdout);
	if (o.stats)
		need(ub_stats_print(r.sh.ctx, stdout), "ub_stats_print");
	need(ub_win_free(r.kept), "ub_win_free");
	plan_free(&r);
	graph_free(&r.g);
	shape_leave(&r.sh);
	return good ? 0 : 1;
}
