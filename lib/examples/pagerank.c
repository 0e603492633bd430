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
 * each board: dangling mass of the board and its sums, without the zeros.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"
#include "shape.h"

#define DAMPING		0.85
#define TOP		10
#define EPSILON		(1 / 1e12)	/* what is taken for no difference */
#define FIXED		0x1p60		/* changes are reduced in units of 1/FIXED */

struct opts {
	const char *file;
	const char *level;
	double tolerance;
	int iterations;
	bool check;
	bool stats;
};

/* What this rank adds up for the nodes of the rank at @pos. */
struct work {
	int pos;
	uint32_t n;		/* targets, those that the board points at */
	uint32_t *target;
	uint32_t *first;	/* n + 1 places in @from */
	const double **from;	/* what to add: words in windows of the board */
	double *sum;		/* dangling mass, then the sums: the message */
	size_t off[2];		/* of the message in the window at @pos, by parity */
};

struct run {
	const struct opts *o;
	struct shape sh;
	struct graph g;
	struct ub_win *win;
	uint32_t begin, end;	/* own nodes */
	struct work *work;	/* [0]: for this rank itself */
	int nwork;
	/* messages that come in: of each board, for the own nodes it points at */
	uint32_t **in_target;
	uint32_t *in_n;
	size_t *in_off;		/* bytes, parity 0; [nboards]: parity 1 begins */
	double *x;		/* own nodes */
	double *next;
};

static const char usage_text[] =
"Usage: pagerank [OPTION]... [FILE]\n"
"PageRank of the graph in FILE (build/debian-graph.txt) on the ranks of a fabric.\n"
"\n"
"  --tolerance T      end when an iteration changes less than that (1e-12)\n"
"  --iterations N     end after that many (100)\n"
"  --check            compute it again on one rank and compare\n"
"  --no-stats         do not print the table of time per level\n"
"  --level NAME       level of the machine that is a board (board)\n";

static uint32_t begin_of(const struct run *r, int pos)
{
	return shape_begin(&r->sh, r->g.n, pos);
}

static int my_board(const struct run *r)
{
	return r->sh.at[r->sh.me].board;
}

/* Bytes of give[] and the dangling mass of whoever owns @nodes. */
static size_t give_bytes(uint32_t nodes)
{
	return ((size_t)nodes + 1) * sizeof(double);
}

static size_t message_bytes(uint32_t sums)
{
	return ((size_t)sums + 1) * sizeof(double);
}

/*
 * Marks which nodes of @pos the nodes of @board point at: count[v - begin] is
 * the number of edges. Sender and receiver both do this, so that messages need
 * no node numbers.
 */
static uint32_t count_edges(const struct run *r, int board, int pos, uint32_t *count)
{
	uint32_t from = begin_of(r, r->sh.first[board]);
	uint32_t to = begin_of(r, r->sh.first[board + 1]);
	uint32_t lo = begin_of(r, pos), hi = begin_of(r, pos + 1), v, n = 0;
	size_t e;

	memset(count, 0, (hi - lo) * sizeof(*count));
	for (e = r->g.out[from]; e < r->g.out[to]; e++) {
		v = r->g.to[e];
		if (v >= lo && v < hi)
			n += !count[v - lo]++;
	}
	return n;
}

static void plan_receive(struct run *r)
{
	uint32_t nodes = r->end - r->begin, *count, v;
	size_t off = give_bytes(nodes);
	int b;

	count = need_mem(nodes, sizeof(*count));
	r->in_target = need_mem(r->sh.nboards, sizeof(*r->in_target));
	r->in_n = need_mem(r->sh.nboards, sizeof(*r->in_n));
	r->in_off = need_mem(r->sh.nboards + 1, sizeof(*r->in_off));
	for (b = 0; b < r->sh.nboards; b++) {
		r->in_off[b] = off;
		if (b == my_board(r))
			continue;
		r->in_target[b] = need_mem(count_edges(r, b, r->sh.me, count),
					   sizeof(uint32_t));
		for (v = 0; v < nodes; v++)
			if (count[v])
				r->in_target[b][r->in_n[b]++] = v;
		off += message_bytes(r->in_n[b]);
	}
	r->in_off[b] = off;
	free(count);
}

/* The word in which node @u of this board has what it gives. */
static const double *give_word(const struct run *r, uint32_t u)
{
	int pos = r->sh.first[my_board(r)];

	while (u >= begin_of(r, pos + 1))
		pos++;
	return (double *)ub_win_peer(r->win, r->sh.at[pos].rank) + (u - begin_of(r, pos));
}

static void plan_work(struct run *r, struct work *w, int pos)
{
	uint32_t lo = begin_of(r, pos), hi = begin_of(r, pos + 1), u, v, i, *count, *place;
	int board = my_board(r);
	size_t edges = 0, e;

	w->pos = pos;
	count = need_mem(hi - lo, sizeof(*count));
	place = need_mem(hi - lo, sizeof(*place));
	w->n = count_edges(r, board, pos, count);
	w->target = need_mem(w->n, sizeof(*w->target));
	w->first = need_mem(w->n + 1, sizeof(*w->first));
	w->sum = need_mem(w->n + 1, sizeof(*w->sum));
	for (v = 0, i = 0; v < hi - lo; v++) {
		if (!count[v])
			continue;
		w->target[i] = v;
		w->first[i++] = edges;
		place[v] = edges;
		edges += count[v];
	}
	w->first[i] = edges;
	w->from = need_mem(edges, sizeof(*w->from));
	for (u = begin_of(r, r->sh.first[board]);
	     u < begin_of(r, r->sh.first[board + 1]); u++) {
		const double *word = give_word(r, u);

		for (e = r->g.out[u]; e < r->g.out[u + 1]; e++) {
			v = r->g.to[e];
			if (v >= lo && v < hi)
				w->from[place[v - lo]++] = word;
		}
	}
	free(place);
	free(count);
}

/* Everybody tells where in its window the message of each board goes. */
static void plan_messages(struct run *r)
{
	struct shape *sh = &r->sh;
	size_t per = sh->nboards + 1, *all, *at;
	int i, pos;

	all = need_mem(sh->n * per, sizeof(*all));
	need(ub_allgather(sh->world, r->in_off, per * sizeof(*all), all),
	     "ub_allgather");
	for (i = 1; i < r->nwork; i++) {
		pos = r->work[i].pos;
		at = all + sh->at[pos].rank * per;
		r->work[i].off[0] = at[my_board(r)];
		r->work[i].off[1] = at[my_board(r)] + at[sh->nboards] -
				    give_bytes(begin_of(r, pos + 1) - begin_of(r, pos));
	}
	free(all);
}

static void plan(struct run *r)
{
	struct shape *sh = &r->sh;
	int pos, size = shape_board_size(sh, my_board(r));
	uint32_t nodes;

	r->begin = begin_of(r, sh->me);
	r->end = begin_of(r, sh->me + 1);
	nodes = r->end - r->begin;
	plan_receive(r);
	need(ub_win_create(sh->world, 2 * r->in_off[sh->nboards] - give_bytes(nodes),
			   &r->win), "ub_win_create");
	r->work = need_mem(sh->n, sizeof(*r->work));
	plan_work(r, &r->work[r->nwork++], sh->me);
	/* A rank elsewhere gets this board's sums from the member of its number. */
	for (pos = 0; pos < sh->n; pos++)
		if (sh->at[pos].board != my_board(r) &&
		    sh->at[pos].member % size == sh->at[sh->me].member)
			plan_work(r, &r->work[r->nwork++], pos);
	plan_messages(r);
	r->x = need_mem(nodes, sizeof(double));
	r->next = need_mem(nodes, sizeof(double));
}

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

/*
 * Each outer barrier carries the change of the iteration before, since that
 * of its own is known only after it. Returns the iterations that counted.
 */
static int iterate(struct run *r, double *last)
{
	uint64_t fixed = (uint64_t)FIXED;	/* nothing known yet: not converged */
	double *swap, change;
	uint32_t v;
	int it, i;

	for (v = 0; v < r->end - r->begin; v++)
		r->x[v] = 1.0 / r->g.n;
	for (it = 0; ; it++) {
		publish(r);
		need(ub_sync(r->sh.board), "ub_sync");
		need(shape_load(&r->sh, add_up_all, r, &change), "the sums");
		for (i = 1; i < r->nwork; i++) {
			struct work *w = &r->work[i];

			need(ub_put(r->sh.world, r->win, r->sh.at[w->pos].rank,
				    w->off[it & 1], w->sum, message_bytes(w->n)),
			     "ub_put");
		}
		need(ub_sync_reduce(r->sh.world, UB_SUM, fixed, &fixed),
		     "ub_sync_reduce");
		*last = fixed / FIXED;
		if (it == r->o->iterations || (it && *last < r->o->tolerance))
			return it;
		change = join(r, it & 1);
		fixed = (uint64_t)(change * FIXED);
		swap = r->x;
		r->x = r->next;
		r->next = swap;
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
static bool check(struct run *r, int iterations)
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
		bad = !compare(r, all, iterations);
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
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
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
	if (optind < argc || o->iterations < 1 || !(o->tolerance >= 0)) {
		fputs(usage_text, stderr);
		exit(2);
	}
}

static void run_free(struct run *r)
{
	int i;

	for (i = 0; i < r->nwork; i++) {
		free(r->work[i].target);
		free(r->work[i].first);
		free(r->work[i].from);
		free(r->work[i].sum);
	}
	for (i = 0; i < r->sh.nboards; i++)
		free(r->in_target[i]);
	free(r->work);
	free(r->in_target);
	free(r->in_n);
	free(r->in_off);
	free(r->x);
	free(r->next);
	graph_free(&r->g);
}

int main(int argc, char **argv)
{
	struct opts o = { "build/debian-graph.txt", "board", EPSILON, 100, false, true };
	struct run r = { .o = &o };
	double change;
	bool good = true;
	int err, it;

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
	if (shape_rank(&r.sh) == 0)
		printf("%s: %u nodes, %zu edges\n", o.file, r.g.n, r.g.edges);
	plan(&r);
	it = iterate(&r, &change);
	if (shape_rank(&r.sh) == 0)
		printf("%d iterations, last change %.2e\n", it, change);
	print_top(&r);
	if (o.check)
		good = check(&r, it);
	fflush(stdout);
	if (o.stats)
		need(ub_stats_print(r.sh.ctx, stdout), "ub_stats_print");
	need(ub_win_free(r.win), "ub_win_free");
	run_free(&r);
	shape_leave(&r.sh);
	return good ? 0 : 1;
}
