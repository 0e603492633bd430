/* SPDX-License-Identifier: MIT */
/*
 * How the demos see the machine: ranks in a row, board by board.
 *
 * A rank's position in that row decides which part of the data it owns, so
 * that a board owns one contiguous part. Without a machine file, or without
 * the level, all ranks are on one board.
 */
#ifndef SHAPE_H
#define SHAPE_H

#include <libub.h>
#include <stddef.h>

/**
 * struct place - who stands at a position
 * @rank: in the world
 * @board: number of its board, counted along the row
 * @member: rank inside the board
 */
struct place {
	int rank;
	int board;
	int member;
};

/**
 * struct shape - the row
 * @ctx: the fabric joined
 * @world: all ranks
 * @board: those of this board
 * @n: ranks
 * @nboards: boards
 * @me: own position
 * @at: n places, by position
 * @first: nboards + 1 positions, where each board begins
 */
struct shape {
	struct ub_ctx *ctx;
	struct ub_scope *world;
	struct ub_scope *board;
	int n;
	int nboards;
	int me;
	struct place *at;
	int *first;
};

/* Joins the fabric; ends the program with a message when that fails, and without
 * one when this is a spare that nobody needed. A spare that is needed has a world
 * and no row yet. */
void shape_join(struct shape *sh, const char *level);
/* The row and the board of the members of sh->world, by the machine. 0 or a
 * negative errno, and then there is none. */
int shape_build(struct shape *sh, const char *level);
/* The same row on a new world, for members that have none too, and a board of
 * the members that it says. */
int shape_renew(struct shape *sh);
void shape_free(struct shape *sh);
void shape_leave(struct shape *sh);
/* "2 boards of 2 ranks", on rank 0's standard output, after @title. */
void shape_print(const struct shape *sh, const char *title);

static inline int shape_rank(const struct shape *sh)
{
	return sh->at[sh->me].rank;
}

static inline int shape_board_size(const struct shape *sh, int board)
{
	return sh->first[board + 1] - sh->first[board];
}

/* Where part @pos of @total things begins. */
static inline size_t shape_begin(const struct shape *sh, size_t total, int pos)
{
	return total * pos / sh->n;
}

/*
 * Work that loads from windows of this board. Where a peer's memory goes with
 * the peer, on the device, a load gives SIGBUS; then the barrier that would have
 * come next tells who it was, as it tells the others. Returns 0 and what @work
 * does, or that barrier's error.
 */
int shape_load(struct shape *sh, double (*work)(void *arg), void *arg,
	       double *result);

/* Ends the program when @err is not 0: status 3 for a lost member, else 1. */
void need(int err, const char *what);
/* malloc that does not fail; zeroed. */
void *need_mem(size_t n, size_t size);

#endif
