// SPDX-License-Identifier: GPL-2.0-only
/*
 * Members as threads of one process: what ThreadSanitizer can look into.
 * "t_threads race" stores into a peer's memory in the superstep in which the
 * peer stores as well; under ThreadSanitizer that must be reported, or the
 * silence about the rest means nothing.
 */
#include "t.h"
#include <pthread.h>

#define MEMBERS	4

struct member {
	pthread_t thread;
	void *arena;
	int rank;
	int node;
	int (*fn)(struct ub_ctx *ctx, struct ub_scope *w);
};

static long steps = 2000;
static _Thread_local int my_rank;

#define t_rank my_rank

static int work(struct ub_ctx *ctx, struct ub_scope *w)
{
	int me = ub_rank(w), n = ub_size(w);
	struct ub_scope *board, *s;
	struct ub_win *win;
	uint64_t sum, *own, in[64], out[64];
	long i, k;

	T_CHECK(!ub_win_create(w, 4096, &win));
	T_CHECK(!ub_scope_enter(w, "board", &board));
	T_CHECK(ub_size(board) == 2);
	own = ub_win_base(win);
	for (i = 0; i < steps; i++) {
		uint64_t *next = ub_win_peer(win, (me + 1) % n);

		next[i % 512] = i * 10 + me;
		T_CHECK(!ub_sync_reduce(w, UB_SUM, i, &sum));
		T_CHECK(sum == (uint64_t)i * n);
		T_CHECK(own[i % 512] == (uint64_t)i * 10 + (me + n - 1) % n);
		T_CHECK(!ub_sync(board));
		if (i % 50)
			continue;
		if (i % 100 == 0 && me == i / 100 % n)
			usleep(3000);
		for (k = 0; k < 64; k++)
			in[k] = me + k;
		T_CHECK(!ub_allreduce(w, in, out, 4, UB_UINT64, UB_OP_SUM));
		T_CHECK(!ub_allreduce(w, in, out, 64, UB_UINT64, UB_OP_SUM));
		T_CHECK(out[63] == (uint64_t)n * 63 + n * (n - 1) / 2);
		T_CHECK(!ub_scope_split(w, me % 2, 0, &s));
		T_CHECK(!ub_sync(s) && !ub_scope_exit(s));
	}
	T_CHECK(!ub_stats_print(ctx, stderr));
	T_CHECK(!ub_sync(w));
	return ub_win_free(win);
}

static int race(struct ub_ctx *ctx, struct ub_scope *w)
{
	int me = ub_rank(w), n = ub_size(w);
	struct ub_win *win;
	long i;

	(void)ctx;
	T_CHECK(!ub_win_create(w, 4096, &win));
	for (i = 0; i < 100; i++) {
		/* All have left the sync, so nothing orders the stores by luck. */
		usleep(2000);
		((uint64_t *)ub_win_peer(win, (me + 1) % n))[0] = i;
		((uint64_t *)ub_win_base(win))[0] = me;
		T_CHECK(!ub_sync(w));
	}
	return ub_win_free(win);
}

#ifndef __SANITIZE_THREAD__
struct ub_ctx *abandoned;	/* reachable, so no leak */

/* A thread that ends without ub_fini() is lost to the others. */
static int quits(struct ub_ctx *ctx, struct ub_scope *w)
{
	struct ub_lost_info info;
	struct ub_scope *s;

	T_CHECK(!ub_sync(w));
	if (ub_rank(w) == 2) {
		abandoned = ctx;
		pthread_exit(NULL);
	}
	T_CHECK(ub_sync(w) == -EOWNERDEAD);
	T_CHECK(!ub_lost(w, &info) && info.rank == 2 && info.epoch == 3);
	T_CHECK(!strcmp(info.reason, "its process ended"));
	T_CHECK(!ub_shrink(w, &s) && ub_size(s) == ub_size(w) - 1);
	T_CHECK(!ub_sync(s));
	return 0;
}
#endif

static void *run(void *arg)
{
	struct member *m = arg;
	struct ub_opts o = {
		.size = sizeof(o), .rank = m->rank, .nranks = MEMBERS,
		.host_arena = m->arena, .node = m->node,
		.machine = "lib/machines/2x2.yaml",
	};
	struct ub_ctx *ctx;
	long err;

	my_rank = m->rank;
	err = ub_init(&ctx, &o);

	if (err) {
		printf("# rank %d: %s\n", m->rank, ub_last_error());
		return (void *)err;
	}
	err = m->fn(ctx, ub_world(ctx));
	ub_fini(ctx);
	return (void *)err;
}

static int run_all(int (*fn)(struct ub_ctx *ctx, struct ub_scope *w))
{
	struct member m[MEMBERS];
	void *arena, *ret;
	int i, bad = 0;

	setenv("UB_HOST_MEM", "64M", 1);
	arena = ub_host_arena(MEMBERS);
	if (!arena)
		return 1;
	for (i = 0; i < MEMBERS; i++) {
		m[i] = (struct member){
			.arena = arena, .rank = i, .node = i, .fn = fn,
		};
		pthread_create(&m[i].thread, NULL, run, &m[i]);
	}
	for (i = 0; i < MEMBERS; i++) {
		pthread_join(m[i].thread, &ret);
		bad |= !!ret;
	}
	ub_host_arena_free(arena);
	return bad;
}

int main(int argc, char **argv)
{
	if (getenv("T_SYNCS"))
		steps = atol(getenv("T_SYNCS"));
	if (argc > 1 && !strcmp(argv[1], "race"))
		return run_all(race);
	t_plan(2);
	t_result(!run_all(work), "threads as members");
#ifdef __SANITIZE_THREAD__
	/* The kernel tells of the end, which ThreadSanitizer does not know. */
	t_result(true, "a thread that ends is lost # SKIP");
#else
	t_result(!run_all(quits), "a thread that ends is lost");
#endif
	return t_end();
}
