/* SPDX-License-Identifier: MIT */
/*
 * heat: what its two files share, the supersteps in heat.c and what happens when
 * a member is lost in heat_recover.c.
 */
#ifndef HEAT_H
#define HEAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shape.h"

#define ALIGN	8		/* doubles in a cache line */
#define HEAD	ALIGN		/* doubles that struct head takes */
#define DEATHS	8
#define ERAS	8
#define BOARDS	64		/* of an era; more are one */

enum side { UPPER, LOWER };
enum where { INNER, OUTER, MIRROR };

/* --kill */
struct death {
	int rank;
	int step;
	enum where where;
};

struct opts {
	size_t rows;
	size_t cols;
	int inner;
	int outer;
	bool check;
	bool stats;
	bool recover;
	const char *level;
	struct death death[DEATHS];
	int deaths;
};

/**
 * struct head - begin of a rank's window: where it stands at a checkpoint
 * @step: outer supersteps that are done
 * @cur: the grid that is read next
 * @halo: the halo that is read next
 * @change: the largest of the last sweep, of all ranks
 */
struct head {
	uint64_t step;
	uint32_t cur;
	uint32_t halo;
	double change;
};

/**
 * struct era - outer supersteps with one shape: the boards decide what is frozen
 * @from: its first superstep
 * @begin: where each board's rows begin, and where those of the last end
 */
struct era {
	int from;
	int nboards;
	size_t begin[BOARDS + 1];
};

/**
 * struct plate - what a rank has of it
 * @stride: doubles of a row
 * @rows: own
 * @born: rank when it joined
 * @step: outer supersteps that are done
 * @cur: the grid that is read
 * @halo: the halo that is read
 * @swept: the inner supersteps of the one under way are done
 * @change: largest of the last own sweep
 * @last_change: largest of the last outer superstep, of all ranks
 * @rim: upper rim; a row of 0 follows it
 * @era: eras so far, @eras of them
 */
struct plate {
	const struct opts *o;
	struct shape sh;
	struct ub_win *win;
	size_t stride;
	size_t rows;
	int born;
	int step;
	int cur;
	int halo;
	bool swept;
	double change;
	double last_change;
	double *rim;
	struct era *era;
	int eras;
};

/* Rows of whoever is at @pos, and places in its window, in doubles. */
size_t heat_rows(const struct plate *p, const struct shape *sh, int pos);
size_t heat_halo(const struct plate *p, int halo, enum side side);
size_t heat_grid(const struct plate *p, const struct shape *sh, int pos, int grid,
		 size_t row);

/* heat_recover.c: all return 0 or a negative errno; -EOWNERDEAD: go on again. */
/* The window; in a spare that has come, all that the lost one had. */
int heat_begin(struct plate *p);
/* After a loss: a whole plate again, at the last checkpoint. */
int heat_go_on(struct plate *p);
/* The shape that superstep @step had. */
const struct era *heat_era(const struct plate *p, int step);

#endif
