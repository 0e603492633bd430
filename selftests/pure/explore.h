/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parts of the explorer: explore.c has the list of programs, explore_search.c
 * runs them in all the orders, the others are the programs.
 */
#ifndef UB_EXPLORE_H
#define UB_EXPLORE_H

#include <errno.h>
#include "test.h"
#include "explore_memset.h"
#undef memset
#include "engine.h"
#include "slots.h"

#define MAXN		4
#define MAXE		4
#define MAX_SLOTS	3

struct program {
	const char *name;
	void (*start)(void);	/* world and coroutines */
	void (*body)(int i);
	void (*check)(void);	/* after all ended */
	void (*crash)(int who);	/* somebody ended for good */
	void (*node)(int life);	/* of programs with whole nodes: their caller */
	/* May one that sleeps be woken early by its timer? Do it. */
	bool (*timer)(int co, bool wake);
	bool (*idle)(void);	/* nobody can run: false, that is the end */
	int n, k, epochs, polls;
	int straight;		/* no value; bit (member + epoch) % 4: go straight */
	int suspect;		/* member + 1 that is taken for dead though it lives */
	bool xfer;		/* windows: put and get, instead of touching */
	bool slow;		/* long from a check to its copy, from a claim to the rest */
	int nslots, lives;
	__u32 id[MAXN][2];	/* of the group of each member's each life */
	int switches, crashes;	/* bounds of the exhaustive search */
	int random;		/* share of the random walks */
};

/* One group: its words and what was answered in it. */
struct group {
	struct ub_grp g;
	int n, who[MAXN];	/* coroutine of each member */
	char *pages;
	bool ok[MAXE + 2], lost;
	__u64 verdict, lost_epoch;
};

/* ---- explore_search.c ---- */

enum co_state { READY, BLOCKED, ENDED, CRASHED };

extern const struct program *prog;	/* the one that runs */
extern enum co_state state[];
extern bool may_crash[], daemon_co[];
extern bool rung[];			/* while or before it was blocked */
extern int nco, crashes;
extern bool trace;
extern bool quiet;			/* no choices: a program gets ready */
extern unsigned long long runs, accesses;

/* For programs: the coroutine that runs; end this run; others first; sleep. */
int self(void);
__attribute__((format(printf, 1, 2))) void fail(const char *fmt, ...);
void spin(void);
void block(void);
void wake(int i);

/* false: one failed, and was told of. Counts in runs and accesses. */
bool search_all(int switches, int left);
bool walk(unsigned long long walks, uint64_t seed, int budget);
/* 0 passes, 1 fails, 2 is no list of choices */
int replay(const char *list);

/* ---- explore_bar.c ---- */

extern struct ub_sched *sched[MAXN + 1][MAXN];	/* of groups of 1 to n */
extern char *arena;
extern size_t pages_size;

void build_scheds(void);
void arena_up(size_t size);
int barrier(struct group *gr, struct ub_bar *b, bool tick);
void wake_all(int who);

void bar_start(void);
void bar_body(int i);
void bar_check(void);
void bar_crash(int who);
void shrink_start(void);
void shrink_body(int i);
void no_check(void);

/* ---- explore_slots.c ---- */

void slots_start(void);
void slots_body(int i);
void slots_check(void);

/* ---- explore_node.c, and the programs of whole nodes ---- */

void nodes_body(int co);
void nodes_crash(int co);
bool nodes_idle(void);
bool nodes_timer(int co, bool fire);

void heirs_start(void);
void heirs_node(int life);
void windows_start(void);
void windows_node(int life);
void join_start(void);
void join_node(int life);
void join_crash(int co);
void join_check(void);

#endif /* UB_EXPLORE_H */
