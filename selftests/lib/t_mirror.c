// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows with a mirror: who keeps whose, and what is there when members die at
 * random moments of supersteps and checkpoints.
 */
#include "t.h"
#include <sys/mman.h>

#define MEMBERS	4
#define WORDS	10000	/* so that three times as much is there for each node of loop */

static const int boards[] = { 0, 1, 2, 3 };	/* 2x2: two boards of two */

/* ---- buddies ---- */

/* Everybody is kept at another vertex, and where these are alike by one ward. */
static int buddies(struct ub_ctx *ctx, struct ub_scope *w)
{
	int n = ub_size(w), wards = 0, i, b;
	struct ub_scope *board;
	struct ub_win *win;

	(void)ctx;
	T_CHECK(!ub_scope_enter(w, "board", &board));
	T_CHECK(!ub_win_create_mirrored(w, 100 * t_rank, "board", &win));
	T_CHECK(ub_win_size(win, n - 1) == (size_t)100 * (n - 1));
	for (i = 0; i < n; i++) {
		b = ub_win_buddy(win, i);
		T_CHECK(b >= 0 && b < n && b != i);
		/* The machine's boards have two nodes each. */
		T_CHECK(ub_node(w, b) / 2 != ub_node(w, i) / 2);
		wards += b == t_rank;
	}
	T_CHECK(n % 2 || wards == 1);
	T_CHECK(ub_win_buddy(win, n) == -EINVAL && ub_win_buddy(win, -1) == -EINVAL);
	T_CHECK(!ub_win_free(win));
	/* On one board nobody is at another. */
	T_CHECK(ub_win_create_mirrored(board, 8, "board", &win) == -EINVAL);
	T_CHECK(strstr(ub_last_error(), "one vertex"));
	T_CHECK(ub_win_create_mirrored(w, 8, "shelf", &win) == -ENOENT);
	T_CHECK(ub_win_create_mirrored(w, 8, NULL, &win) == -EINVAL);
	T_CHECK(ub_win_create_mirrored(w, 8, t_rank ? "board" : "node", &win) ==
		-EINVAL);
	T_CHECK(!ub_win_create_mirrored(w, 8, "node", &win));
	T_CHECK(!ub_sync(w) && !ub_win_free(win));
	return 0;
}

/* ---- contents ---- */

static size_t words_of(int rank)
{
	return rank == 2 ? 0 : 1 + (size_t)rank * WORDS;
}

static uint64_t word(uint64_t step, int rank, size_t i)
{
	return (step * 0x9e3779b97f4a7c15ULL) ^ ((uint64_t)rank << 56) ^ i;
}

/* Does the mirror of @rank hold checkpoint @step, every word of it? */
static int holds(struct ub_win *win, int rank, uint64_t step)
{
	size_t n = words_of(rank), i;
	uint64_t *got = calloc(n + 1, sizeof(*got));
	int err = ub_win_mirror_get(win, rank, 0, got, n * sizeof(*got));

	for (i = 0; !err && i < n; i++)
		if (got[i] != (step ? word(step, rank, i) : 0))
			err = 1;
	if (err > 0)
		printf("# rank %d, word %zu of %zu: %llx, not that of checkpoint %llu\n",
		       rank, i - 1, n, (unsigned long long)got[i - 1],
		       (unsigned long long)step);
	free(got);
	return err;
}

static void store(struct ub_win *win, uint64_t step)
{
	uint64_t *mem = ub_win_base(win);
	size_t i;

	for (i = 0; i < words_of(t_rank); i++)
		mem[i] = word(step, t_rank, i);
}

static int contents(struct ub_ctx *ctx, struct ub_scope *w)
{
	struct ub_win *win, *plain;
	uint64_t step, x;
	int r;

	(void)ctx;
	T_CHECK(!ub_win_create(w, 64, &plain));
	T_CHECK(!ub_win_create_mirrored(w, words_of(t_rank) * 8, "board", &win));
	for (step = 0; step < 6; step++) {
		if (step) {
			store(win, step);
			T_CHECK(!ub_sync(w) && !ub_checkpoint(w));
		}
		/* What is stored since does not count. */
		store(win, 99);
		T_CHECK(!ub_sync(w));
		for (r = 0; r < MEMBERS; r++)
			T_CHECK(!holds(win, r, step));
		T_CHECK(!ub_sync(w));
	}
	T_CHECK(ub_win_mirror_get(win, 1, words_of(1) * 8 - 4, &x, 8) == -ERANGE);
	T_CHECK(ub_win_mirror_get(win, 2, 0, &x, 1) == -ERANGE);
	T_CHECK(!ub_win_mirror_get(win, 2, 0, &x, 0));
	T_CHECK(ub_win_mirror_get(win, MEMBERS, 0, &x, 1) == -EINVAL);
	T_CHECK(ub_win_mirror_get(plain, 0, 0, &x, 1) == -EINVAL);
	/* The mirror cannot be reached as part of the window. */
	T_CHECK(ub_put(w, win, 1, words_of(1) * 8, &x, 1) == -ERANGE);
	T_CHECK(!ub_sync(w) && !ub_win_free(win) && !ub_win_free(plain));
	return 0;
}

/* Its cost is in the accounts. */
static int accounts(struct ub_ctx *ctx, struct ub_scope *w)
{
	struct ub_level_stats st;
	struct ub_win *win;
	char *text = NULL;
	size_t size = 0;
	FILE *out;
	int i;

	T_CHECK(!ub_win_create_mirrored(w, 1 << 18, "board", &win));
	for (i = 0; i < 5; i++)
		T_CHECK(!ub_sync(w) && !ub_checkpoint(w));
	T_CHECK(!ub_stats(ctx, 0, &st));
	T_CHECK(st.checkpoints == 5 && st.mirror_bytes == 10 << 18);
	T_CHECK(st.mirror_ns > 0);
	out = open_memstream(&text, &size);
	T_CHECK(!ub_stats_print(ctx, out));
	fclose(out);
	T_CHECK(t_rank || strstr(text, "mirrors of world: 5 checkpoints, 10485760 bytes, "));
	free(text);
	return !!ub_win_free(win);
}

/* ---- time-outs ---- */

#define AGAIN(call) do {						\
	err = call;							\
	late += err == -ETIMEDOUT;					\
} while (err == -ETIMEDOUT)

/* A member that comes late: the call goes on where it was. */
static int late_member(struct ub_ctx *ctx, struct ub_scope *w)
{
	struct ub_win *win, *next;
	int late = 0, err;

	(void)ctx;
	ub_set_timeout(w, 30);
	if (t_rank == 1)
		usleep(150000);
	AGAIN(ub_win_create_mirrored(w, words_of(t_rank) * 8, "board", &win));
	T_CHECK(!err);
	store(win, 1);
	AGAIN(ub_sync(w));
	T_CHECK(!err);
	if (t_rank == 1)
		usleep(150000);
	AGAIN(ub_checkpoint(w));
	T_CHECK(!err && !holds(win, (t_rank + 1) % MEMBERS, 1));
	AGAIN(ub_sync(w));
	T_CHECK(!err);
	if (t_rank == 1)
		usleep(150000);
	AGAIN(ub_win_rebuild(w, words_of(t_rank) * 8, "board", win, 0, &next));
	T_CHECK(!err && !holds(next, (t_rank + 1) % MEMBERS, 1));
	T_CHECK(t_rank == 1 || late >= 3);
	ub_set_timeout(w, 0);
	T_CHECK(!ub_sync(w) && !ub_win_free(win) && !ub_win_free(next));
	return 0;
}

/* ---- deaths ---- */

static volatile int *ready;	/* in memory of the test */
static bool both;		/* two die: a member and its buddy */

static int keep_on(struct ub_ctx *ctx, struct ub_scope *w)
{
	uint64_t done = 0, lo, hi;
	struct ub_scope *s, *t;
	struct ub_win *win;
	int err, r, gone = 0;

	(void)ctx;
	T_CHECK(!ub_win_create_mirrored(w, words_of(t_rank) * 8, "board", &win));
	__atomic_add_fetch(ready, 1, __ATOMIC_SEQ_CST);
	for (;;) {
		store(win, done + 1);
		err = ub_sync(w);
		if (!err)
			err = ub_checkpoint(w);
		if (err)
			break;
		done++;
	}
	T_CHECK(err == -EOWNERDEAD);
	for (s = w; err == -EOWNERDEAD; s = t) {
		err = ub_shrink(s, &t);
		T_CHECK(t);
		if (!err)
			err = ub_sync_reduce(t, UB_MIN_U64, done, &lo);
		if (!err)
			err = ub_sync_reduce(t, UB_MAX_U64, done, &hi);
		if (!err && both && ub_size(t) > MEMBERS - 2)
			while (!err)
				err = ub_sync(t);
	}
	T_CHECK(!err && lo == hi);
	for (r = 0; r < MEMBERS; r++) {
		err = holds(win, r, done);
		gone += err == -ENODATA;
		T_CHECK(!err || (both && err == -ENODATA));
	}
	/* Ranks 1 and 3 have each other. */
	T_CHECK(gone == (both ? 2 : 0));
	T_CHECK(!ub_sync(s));
	T_CHECK(!ub_win_free(win));
	return 0;
}

static bool killed(int victim, int other, long us)
{
	uint64_t until = t_now() + 30000000000ULL;
	struct t_job j;

	*ready = 0;
	both = other >= 0;
	if (t_start(&j, MEMBERS, boards, keep_on))
		return false;
	while (*ready < MEMBERS && t_now() < until)
		usleep(100);
	usleep(us);
	kill(j.pid[victim], SIGKILL);
	if (both)
		kill(j.pid[other], SIGKILL);
	return !t_wait(&j, 1ULL << victim | (both ? 1ULL << other : 0));
}

int main(int argc, char **argv)
{
	static const int three[] = { 0, 1, 2 }, odd[] = { 0, 1, 2, 3, 4 };
	int rounds = argc > 1 ? atoi(argv[1]) : getenv("UB_LONG") ? 120 : 12, i;
	bool ok = true;

	setvbuf(stdout, NULL, _IOLBF, 0);
	srand(argc > 2 ? atoi(argv[2]) : 1);
	ready = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	t_plan(8);
	t_machine("name: boards\nlevels:\n  - {name: board, radix: 3}\n  - {name: package, radix: 2}\n");
	t_result(!t_run(4, boards, buddies), "buddies on two boards");
	t_result(!t_run(3, three, buddies), "buddies on a board and a half");
	t_result(!t_run(5, odd, buddies), "buddies on two boards and a half");
	t_result(!t_run(MEMBERS, boards, contents), "the mirror holds the last checkpoint");
	t_result(!t_run(MEMBERS, boards, accounts), "what it costs is in the accounts");
	t_result(!t_run(MEMBERS, boards, late_member), "a member that comes late");
	for (i = 0; i < rounds; i++)
		ok &= killed(rand() % MEMBERS, -1, rand() % 30000);
	t_result(ok, "killed at random: the mirror is whole");
	for (ok = true, i = 0; i < rounds / 4; i++)
		ok &= killed(1, 3, rand() % 30000);
	t_result(ok, "a member and its buddy killed: told so");
	t_machine(NULL);
	return t_end();
}
