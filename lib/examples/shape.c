// SPDX-License-Identifier: MIT
#include "shape.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void need(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
		ub_last_error()[0] ? ub_last_error() : strerror(-err));
	exit(err == -EOWNERDEAD ? 3 : 1);
}

void *need_mem(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	need(p ? 0 : -ENOMEM, "memory");
	return p;
}

/* What each rank tells of itself. */
struct card {
	int leader;	/* world rank of its board's first member */
	int member;
};

static int compare(const void *a, const void *b, void *cards)
{
	const struct card *x = (struct card *)cards + ((const struct place *)a)->rank;
	const struct card *y = (struct card *)cards + ((const struct place *)b)->rank;

	if (x->leader != y->leader)
		return x->leader - y->leader;
	return x->member - y->member;
}

static int collect(struct shape *sh, struct card *cards)
{
	struct card mine = { 0, ub_rank(sh->board) };
	int err, i;

	if (sh->board != sh->world)
		mine.leader = ub_outer_rank(sh->board, 0);
	err = ub_allgather(sh->world, &mine, sizeof(mine), cards);
	if (err)
		return err;
	for (i = 0; i < sh->n; i++)
		sh->at[i].rank = i;
	qsort_r(sh->at, sh->n, sizeof(*sh->at), compare, cards);
	for (i = 0; i < sh->n; i++) {
		if (!i || cards[sh->at[i].rank].leader != cards[sh->at[i - 1].rank].leader)
			sh->first[sh->nboards++] = i;
		sh->at[i].board = sh->nboards - 1;
		sh->at[i].member = cards[sh->at[i].rank].member;
		if (sh->at[i].rank == ub_rank(sh->world))
			sh->me = i;
	}
	sh->first[sh->nboards] = sh->n;
	return 0;
}

int shape_build(struct shape *sh, const char *level)
{
	struct card *cards;
	int err;

	sh->n = ub_size(sh->world);
	sh->nboards = 0;
	err = ub_scope_enter(sh->world, level, &sh->board);
	if (err == -ENOENT)
		sh->board = sh->world;
	else if (err)
		return err;
	cards = need_mem(sh->n, sizeof(*cards));
	sh->at = need_mem(sh->n, sizeof(*sh->at));
	sh->first = need_mem(sh->n + 1, sizeof(*sh->first));
	err = collect(sh, cards);
	free(cards);
	if (err)
		shape_free(sh);
	return err;
}

/* The row as rank @from has it, to all. */
static int share(struct shape *sh, int from, struct place *at, int *first)
{
	int n = ub_size(sh->world), err;

	if (sh->at) {
		memcpy(at, sh->at, n * sizeof(*at));
		memcpy(first, sh->first, (n + 1) * sizeof(*first));
	}
	err = ub_bcast(sh->world, at, n * sizeof(*at), from);
	return err ? err : ub_bcast(sh->world, first, (n + 1) * sizeof(*first), from);
}

int shape_renew(struct shape *sh)
{
	int n = ub_size(sh->world), me = ub_rank(sh->world), err, i;
	struct place *at = need_mem(n, sizeof(*at));
	int *first = need_mem(n + 1, sizeof(*first));
	uint64_t from;

	err = ub_sync_reduce(sh->world, UB_MIN_U64, sh->at ? me : n, &from);
	if (!err)
		err = share(sh, from, at, first);
	if (err) {
		free(at);
		free(first);
		return err;
	}
	shape_free(sh);
	sh->at = at;
	sh->first = first;
	sh->n = n;
	sh->nboards = at[n - 1].board + 1;
	for (i = 0; i < n; i++)
		if (at[i].rank == me)
			sh->me = i;
	return ub_scope_split(sh->world, at[sh->me].board, at[sh->me].member, &sh->board);
}

void shape_free(struct shape *sh)
{
	free(sh->at);
	free(sh->first);
	sh->at = NULL;
	sh->first = NULL;
}

void shape_join(struct shape *sh, const char *level)
{
	int err;

	memset(sh, 0, sizeof(*sh));
	err = ub_init(&sh->ctx, NULL);
	if (err == -ECANCELED)
		exit(0);
	need(err, "ub_init");
	sh->world = ub_world(sh->ctx);
	if (!ub_rejoined(sh->ctx))
		need(shape_build(sh, level), "the ranks in a row");
}

void shape_leave(struct shape *sh)
{
	if (sh->board != sh->world)
		need(ub_scope_exit(sh->board), "ub_scope_exit");
	ub_fini(sh->ctx);
	shape_free(sh);
}

void shape_print(const struct shape *sh, const char *title)
{
	int i;

	if (ub_rank(sh->world))
		return;
	printf("%s: %d rank%s (%s), boards of", title, sh->n,
	       sh->n == 1 ? "" : "s", ub_backend(sh->ctx));
	for (i = 0; i < sh->nboards; i++)
		printf(" %d", shape_board_size(sh, i));
	printf("\n");
	fflush(stdout);
}

static sigjmp_buf back;
static int loading;

static void on_bus(int sig)
{
	if (__atomic_load_n(&loading, __ATOMIC_RELAXED))
		siglongjmp(back, 1);
	/* Not ours: let it end the program when it comes again. */
	signal(sig, SIG_DFL);
}

int shape_load(struct shape *sh, double (*work)(void *arg), void *arg,
	       double *result)
{
	static bool installed;

	if (!installed)
		signal(SIGBUS, on_bus);
	installed = true;
	if (sigsetjmp(back, 1)) {
		int err;

		__atomic_store_n(&loading, 0, __ATOMIC_RELAXED);
		err = ub_sync(sh->board);
		return err ? err : -EIO;	/* SIGBUS, though all of the board live */
	}
	__atomic_store_n(&loading, 1, __ATOMIC_RELAXED);
	*result = work(arg);
	__atomic_store_n(&loading, 0, __ATOMIC_RELAXED);
	return 0;
}
