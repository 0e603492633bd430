/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shapes of groups on which collectives take different ways. Links that are slow
 * and barriers that cost little make teams worth while, whatever the size.
 */
#ifndef T_MACHINES_H
#define T_MACHINES_H

#include "t.h"

#define SLOW	"latency: 1, bandwidth: 10"

struct shape {
	const char *name;
	const char *machine;
	int n;
	const int *node;
	int teams;	/* that an allreduce of much is to use; 0: one of all */
};

static const int alike[64];
static const int dense[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
static const int mixed[4] = { 0, 2, 1, 3 };
static const int lanes[7] = { 0, 0, 0, 1, 1, 3, 3 };

static const struct shape shapes[] = {
	{ "1 rank", NULL, 1, alike, 0 },
	{ "2 ranks", NULL, 2, alike, 0 },
	{ "3 ranks", NULL, 3, alike, 0 },
	{ "5 ranks", NULL, 5, alike, 0 },
	{ "2 boards of 2",
	  "levels:\n  - {name: board, radix: 2, " SLOW "}\n"
	  "  - {name: package, radix: 2, latency: 1}\n", 4, dense, 2 },
	{ "2 boards of 2 with mixed ranks",
	  "levels:\n  - {name: board, radix: 2, " SLOW "}\n"
	  "  - {name: package, radix: 2, latency: 1}\n", 4, mixed, 0 },
	{ "2 racks of 2 boards of 2, 7 ranks",
	  "levels:\n  - {name: rack, radix: 2, latency: 1}\n"
	  "  - {name: board, radix: 2, " SLOW "}\n"
	  "  - {name: package, radix: 2, latency: 1}\n", 7, dense, 4 },
	{ "nodes of 3, 2 and 2 lanes",
	  "levels:\n  - {name: board, radix: 2, " SLOW "}\n"
	  "  - {name: package, radix: 2, " SLOW "}\n"
	  "lanes: {latency: 1}\n", 7, lanes, 3 },
};

#define SHAPES	(sizeof(shapes) / sizeof(*shapes))

static int want_teams;	/* of the shape that runs */

/* The whole program: @battery on each shape. */
static inline int t_shapes(t_member_fn battery)
{
	size_t i;

	t_plan(SHAPES);
	for (i = 0; i < SHAPES; i++) {
		t_machine(shapes[i].machine);
		want_teams = shapes[i].teams;
		t_result(!t_run(shapes[i].n, shapes[i].node, battery),
			 shapes[i].name);
	}
	t_machine(NULL);
	return t_end();
}

#endif /* T_MACHINES_H */
