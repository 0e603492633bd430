// SPDX-License-Identifier: GPL-2.0-only
/*
 * Remapping is not rewriting: one nested program, other machines and other
 * mappings of its level's name, the same bits.
 *
 * The program: cells in a row, each rank with a run of them. Between boards a
 * border of DEPTH cells is exchanged in an outer superstep; the DEPTH inner ones
 * read neighbours on the own board mapped, and compute what lies beyond it
 * again by themselves. After each outer superstep all cells, weighted, are
 * summed in floating point.
 */
#include "t.h"
#include <sys/mman.h>

#define CELLS	48	/* of a rank */
#define DEPTH	6
#define OUTER	25
#define SUMS	20000	/* doubles of a sum: more than a chunk */
#define RANKS	4

struct result {
	uint32_t cells[RANKS * CELLS];
	double sums[OUTER];
	double all[SUMS];
	int board;	/* members of rank 0's */
};

static struct result *result;

/* A rank's part of the window: cells by parity, borders from other boards. */
struct part {
	uint32_t cell[2][CELLS];
	uint32_t left[2][DEPTH];	/* by parity of the outer step */
	uint32_t right[2][DEPTH];
};

struct sim {
	struct ub_scope *world;
	struct ub_scope *board;
	struct ub_win *win;
	int me;
	bool left_here;		/* the neighbour is on this board */
	bool right_here;
	uint32_t left[2 * DEPTH];
	uint32_t right[2 * DEPTH];
};

static uint32_t rule(uint32_t l, uint32_t c, uint32_t r)
{
	return (l * 2654435761u ^ (c + 0x9e3779b9u)) + (r << 7 | r >> 25);
}

/* Beyond the row there are zeros. */
static const struct part *part_of(const struct sim *s, int rank)
{
	static const struct part none;

	return rank < 0 || rank == RANKS ? &none : ub_win_peer(s->win, rank);
}

/* The cell at @i of the own run; down to -@depth and up to CELLS + @depth. */
static uint32_t cell(const struct sim *s, int par, int i)
{
	if (i >= 0 && i < CELLS)
		return part_of(s, s->me)->cell[par][i];
	if (i < 0)
		return s->left_here ? part_of(s, s->me - 1)->cell[par][CELLS + i] :
		       s->left[DEPTH + i];
	return s->right_here ? part_of(s, s->me + 1)->cell[par][i - CELLS] :
	       s->right[i - CELLS];
}

/* One step of the own cells and of what is computed again of other boards'. */
static int inner_step(struct sim *s, int par, int step)
{
	struct part *own = ub_win_base(s->win);
	uint32_t left[DEPTH] = { 0 }, right[DEPTH] = { 0 };
	int i;

	for (i = 0; i < CELLS; i++)
		own->cell[!par][i] = rule(cell(s, par, i - 1), cell(s, par, i),
					  cell(s, par, i + 1));
	for (i = 1; i < DEPTH - step; i++) {
		if (!s->left_here && s->me)
			left[DEPTH - i] = rule(cell(s, par, -i - 1),
					       cell(s, par, -i),
					       cell(s, par, -i + 1));
		if (!s->right_here && s->me < RANKS - 1)
			right[i - 1] = rule(cell(s, par, CELLS + i - 2),
					    cell(s, par, CELLS + i - 1),
					    cell(s, par, CELLS + i));
	}
	T_CHECK(!ub_sync(s->board));
	if (!s->left_here)
		memcpy(s->left, left, sizeof(left));
	if (!s->right_here)
		memcpy(s->right, right, sizeof(right));
	return 0;
}

static int outer_step(struct sim *s, int n, double *sums)
{
	const struct part *own = ub_win_base(s->win);
	size_t side = DEPTH * sizeof(uint32_t);
	double mine = 0;
	int i, par = n & 1;

	if (s->me && !s->left_here)
		T_CHECK(!ub_put(s->world, s->win, s->me - 1,
				offsetof(struct part, right) + par * side,
				own->cell[0], side));
	if (s->me < RANKS - 1 && !s->right_here)
		T_CHECK(!ub_put(s->world, s->win, s->me + 1,
				offsetof(struct part, left) + par * side,
				own->cell[0] + CELLS - DEPTH, side));
	T_CHECK(!ub_sync(s->world));
	memcpy(s->left, own->left[par], side);
	memcpy(s->right, own->right[par], side);
	for (i = 0; i < DEPTH; i++)
		if (inner_step(s, i & 1, i))
			return 1;
	/* DEPTH is even: the cells are those of parity 0 again. */
	for (i = 0; i < CELLS; i++)
		mine += own->cell[0][i] / 3.0;
	T_CHECK(!ub_allreduce(s->world, &mine, &sums[n], 1, UB_DOUBLE, UB_OP_SUM));
	return 0;
}

static int program(struct ub_ctx *ctx, struct ub_scope *w)
{
	struct sim s = { .world = w, .me = ub_rank(w) };
	static double much[RANKS][SUMS];
	uint32_t cells[RANKS * CELLS];
	double sums[OUTER];
	struct part *own;
	int i;

	(void)ctx;
	T_CHECK(!ub_scope_enter(w, "board", &s.board));
	T_CHECK(!ub_win_create(w, sizeof(struct part), &s.win));
	s.left_here = ub_rank(s.board) > 0;
	s.right_here = ub_rank(s.board) < ub_size(s.board) - 1;
	own = ub_win_base(s.win);
	for (i = 0; i < CELLS; i++)
		own->cell[0][i] = (s.me * CELLS + i) * 40503u;
	for (i = 0; i < OUTER; i++)
		if (outer_step(&s, i, sums))
			return 1;
	for (i = 0; i < SUMS; i++)
		much[s.me][i] = sums[i % OUTER] / (1 + s.me * 7 + i);
	T_CHECK(!ub_allreduce(w, much[s.me], much[s.me], SUMS, UB_DOUBLE,
			      UB_OP_SUM));
	T_CHECK(!ub_allgather(w, own->cell[0], CELLS * 4, cells));
	/* Memory of all of them, or of this process. */
	if (!s.me || getenv("T_RANKED")) {
		memcpy(result->cells, cells, sizeof(cells));
		memcpy(result->sums, sums, sizeof(sums));
		memcpy(result->all, much[s.me], sizeof(result->all));
		result->board = ub_size(s.board);
	}
	T_CHECK(!ub_win_free(s.win));
	return ub_scope_exit(s.board);
}

struct layout {
	const char *machine;
	const char *map;
	int board;
};

static const struct layout layouts[] = {
	{ "1x4", NULL, 4 },
	{ "2x2", NULL, 2 },
	{ "4x1", NULL, 1 },
	{ "2x1x2", NULL, 2 },
	{ "2x1x2", "board=rack", 2 },
	{ "2x1x2", "board=package", 1 },
	{ "2x1x2", "board=world,rack=board", 4 },
	{ "flat4", "board=world", 4 },
	{ "flat4", "board=package", 1 },
	{ "flat4", "board=node", 1 },
	{ NULL, "board=fabric", 4 },
};

static bool run(const struct layout *l)
{
	static const int dense[RANKS] = { 0, 1, 2, 3 };
	char path[64];
	int bad;

	if (l->machine) {
		snprintf(path, sizeof(path), "lib/machines/%s.yaml", l->machine);
		setenv("UB_MACHINE", path, 1);
	}
	if (l->map)
		setenv("UB_LEVEL_MAP", l->map, 1);
	memset(result, 0, sizeof(*result));
	bad = t_run(RANKS, dense, program);
	unsetenv("UB_MACHINE");
	unsetenv("UB_LEVEL_MAP");
	if (t_skipped)
		return true;
	if (!bad && result->board != l->board)
		printf("# a board has %d members, not %d\n", result->board,
		       l->board);
	return !bad && result->board == l->board;
}

/* The same on one rank, without any of it. */
static void serial(struct result *r)
{
	static uint32_t next[RANKS * CELLS];
	int n, i, k, m = RANKS * CELLS;

	for (i = 0; i < m; i++)
		r->cells[i] = i * 40503u;
	for (n = 0; n < OUTER; n++) {
		for (k = 0; k < DEPTH; k++) {
			for (i = 0; i < m; i++)
				next[i] = rule(i ? r->cells[i - 1] : 0, r->cells[i],
					       i < m - 1 ? r->cells[i + 1] : 0);
			memcpy(r->cells, next, sizeof(next));
		}
		for (k = 0; k < RANKS; k++) {
			double one = 0;

			for (i = 0; i < CELLS; i++)
				one += r->cells[k * CELLS + i] / 3.0;
			r->sums[n] = k ? r->sums[n] + one : one;
		}
	}
	for (i = 0; i < SUMS; i++) {
		r->all[i] = r->sums[i % OUTER] / (1 + i);
		for (k = 1; k < RANKS; k++)
			r->all[i] += r->sums[i % OUTER] / (1 + k * 7 + i);
	}
}

static bool same(const struct result *want)
{
	return !memcmp(want->cells, result->cells, sizeof(want->cells)) &&
	       !memcmp(want->sums, result->sums, sizeof(want->sums)) &&
	       !memcmp(want->all, result->all, sizeof(want->all));
}

/* A map that makes no sense is refused by name; one rank's own map as well. */
static bool refused(void)
{
	static const char * const bad[] = {
		"board", "board=", "board=galaxy", "=world", "board=world,",
		"averyveryverylongname=world",
	};
	struct ub_ctx *ctx;
	bool ok = true;
	size_t i;

	/* Nothing of this is about members. */
	t_skipped = getenv("T_RANKED");
	if (t_skipped)
		return true;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		setenv("UB_LEVEL_MAP", bad[i], 1);
		if (ub_init(&ctx, NULL) == -EINVAL &&
		    strstr(ub_last_error(), "UB_LEVEL_MAP"))
			continue;
		/* A comma at the end is no pair that is missing. */
		if (strcmp(bad[i], "board=world,")) {
			printf("# \"%s\" is accepted\n", bad[i]);
			ok = false;
		} else {
			ub_fini(ctx);
		}
	}
	unsetenv("UB_LEVEL_MAP");
	t_machine("levels: [{name: rack, radix: 2}]\naliases: {rack: node}\n");
	ok &= ub_init(&ctx, NULL) == -EINVAL;
	t_machine("levels: [{name: rack, radix: 2}]\naliases: {board: cage}\n");
	ok &= ub_init(&ctx, NULL) == -EINVAL && strstr(ub_last_error(), "cage");
	t_machine("aliases: {board: rack}\nlevels: [{name: rack, radix: 2}]\n");
	ok &= !ub_init(&ctx, NULL);
	if (ok) {
		struct ub_scope *s;

		ok &= !ub_scope_enter(ub_world(ctx), "board", &s) &&
		      !strcmp(ub_level(s), "rack") &&
		      ub_scope_enter(ub_world(ctx), "cage", &s) == -ENOENT;
		ub_fini(ctx);
	}
	t_machine(NULL);
	return ok;
}

int main(void)
{
	size_t n = sizeof(layouts) / sizeof(*layouts), i;
	struct result *want = calloc(1, sizeof(*want));
	char name[64];

	result = mmap(NULL, sizeof(*result), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	serial(want);
	t_plan(n + 1);
	for (i = 0; i < n; i++) {
		bool ok = run(&layouts[i]);

		ok &= t_skipped || same(want);
		snprintf(name, sizeof(name), "the same bits on %s%s%s",
			 layouts[i].machine ? layouts[i].machine : "no machine file",
			 layouts[i].map ? " with " : "",
			 layouts[i].map ? layouts[i].map : "");
		t_result(ok, name);
	}
	t_result(refused(), "maps that make no sense");
	free(want);
	return t_end();
}
