/* SPDX-License-Identifier: MIT */
/*
 * pagerank: what its files share. The iterations are in pagerank.c, who sends
 * what to whom in pagerank_plan.c, going on after a loss in pagerank_recover.c.
 */
#ifndef PAGERANK_H
#define PAGERANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph.h"
#include "shape.h"

#define FIXED		0x1p60		/* changes are reduced in units of 1/FIXED */

struct opts {
	const char *file;
	const char *level;
	double tolerance;
	int iterations;
	bool check;
	bool stats;
	bool recover;
	int kill_rank;		/* that dies in iteration kill_it, counted from 1 */
	int kill_it;
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
	struct ub_win *kept;	/* struct state, mirrored; NULL: not kept */
	int it;			/* iterations that are done */
	uint64_t change;	/* of the own nodes in the last one, in 1/FIXED */
	int born;		/* rank when it joined */
};

static inline uint32_t begin_of(const struct run *r, int pos)
{
	return shape_begin(&r->sh, r->g.n, pos);
}

static inline int my_board(const struct run *r)
{
	return r->sh.at[r->sh.me].board;
}

/* Bytes of give[] and the dangling mass of whoever owns @nodes. */
static inline size_t give_bytes(uint32_t nodes)
{
	return ((size_t)nodes + 1) * sizeof(double);
}

static inline size_t message_bytes(uint32_t sums)
{
	return ((size_t)sums + 1) * sizeof(double);
}

/* pagerank_plan.c: 0 or a negative errno; everything of the shape, no ranks yet. */
int plan(struct run *r);
void plan_free(struct run *r);

/* pagerank_recover.c */
/* All ranks as they begin; with --recover their window. */
int keep_begin(struct run *r);
/* The iteration is done: 0 when all have it kept. */
int keep(struct run *r);
/* After a loss: the survivors, as after the last iteration that all have kept. */
int go_on(struct run *r);

#endif
