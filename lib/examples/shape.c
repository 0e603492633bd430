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

void shape_join(struct shape *sh, const char *level)
{
	struct card mine, *cards;
	int err, i;

	memset(sh, 0, sizeof(*sh));
	need(ub_init(&sh->ctx, NULL), "ub_init");
	sh->world = ub_world(sh->ctx);
	sh->n = ub_size(sh->world);
	err = ub_scope_enter(sh->world, level, &sh->board);
	if (err == -ENOENT)
		sh->board = sh->world;
	else
		need(err, "ub_scope_enter");

	mine.leader = sh->board == sh->world ? 0 : ub_outer_rank(sh->board, 0);
	mine.member = ub_rank(sh->board);
	cards = need_mem(sh->n, sizeof(*cards));
	sh->at = need_mem(sh->n, sizeof(*sh->at));
	sh->first = need_mem(sh->n + 1, sizeof(*sh->first));
	need(ub_allgather(sh->world, &mine, sizeof(mine), cards), "ub_allgather");

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
	free(cards);
}

void shape_leave(struct shape *sh)
{
	if (sh->board != sh->world)
		need(ub_scope_exit(sh->board), "ub_scope_exit");
	ub_fini(sh->ctx);
	free(sh->at);
	free(sh->first);
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

double shape_load(struct shape *sh, double (*work)(void *arg), void *arg)
{
	static bool installed;
	double result;

	if (!installed)
		signal(SIGBUS, on_bus);
	installed = true;
	if (sigsetjmp(back, 1)) {
		__atomic_store_n(&loading, 0, __ATOMIC_RELAXED);
		need(ub_sync(sh->board), "a peer's memory is gone");
		need(-EIO, "SIGBUS, though all of the board live");
	}
	__atomic_store_n(&loading, 1, __ATOMIC_RELAXED);
	result = work(arg);
	__atomic_store_n(&loading, 0, __ATOMIC_RELAXED);
	return result;
}
