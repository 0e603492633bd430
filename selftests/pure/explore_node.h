/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whole nodes for the explorer: kernel/ over kshim.h. Each life of a node has
 * two coroutines, one that calls and one that ticks; a crash ends both.
 */
#ifndef UB_EXPLORE_NODE_H
#define UB_EXPLORE_NODE_H

#include "kshim.h"
#include "explore.h"
#include "ub.h"

#define LIVES		4
#define MAPS		8
#define APP(l)		(2 * (l))
#define LIFE(co)	((co) / 2)
#define UNITS		4	/* of a node's slice, where there are windows */
#define SHIM_MS		((u64)NSEC_PER_MSEC)

/* What a process has mapped: from its touch until it is zapped. */
struct shim_map {
	bool on;
	int placement;
	u64 gva, len, off;
};

struct life {
	struct ub_fabric *f;
	struct ub_file *file;
	bool joining;
	bool dead;		/* crashed */
	int placement;		/* number of the memory that it now uses */
	struct shim_map map[MAPS];
};

extern struct life life[LIVES];

/* Begin a run: @lives of nodes, with @units of window memory each. */
void nodes_start(int lives, u32 units);
void nodes_body(int co);	/* .body; prog->node is the caller's */
void nodes_crash(int co);	/* .crash */
bool nodes_idle(void);		/* .idle */
bool nodes_timer(int co, bool fire);	/* .timer */

/* Load the module: the caller's life becomes one of @node. 0 or -errno. */
int node_join(u32 node);
/* Unload it. */
void node_leave(void);
/* The caller's life ends here, as by a crash that is not chosen. */
void node_die(void);
/* A load or a store of @gva by a process of the caller's: 0 or the SIGBUS's errno. */
int node_touch(u64 gva);
/*
 * A vector of a put of @value to the second word of a window, 1 added to the third,
 * which held *@sum, and a get of three words. 0 or what the first that failed got.
 */
int node_use(u64 gva, u64 value, u64 word[3], u64 *sum);
/* A life that others can see at work: neither crashed nor fenced nor gone. */
bool node_works(int l);

/* Wait until *@count is @n, and count oneself first. */
void meet_at(int *count, int n);

#endif /* UB_EXPLORE_NODE_H */
