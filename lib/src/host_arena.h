/* SPDX-License-Identifier: MIT */
/*
 * The host back end's memory: one memfd that all ranks of a job map.
 *
 *	header		sizes, state of the heap
 *	live		struct ub_host_live of each rank
 *	records		of the group slots, see slots.h
 *	pages		of the groups
 *	map		one bit for each heap unit in use
 *	heap		windows, in units of 64 KiB
 *
 * A launcher makes it with ub_host_arena_create() and leaves the descriptor
 * open in the ranks, with its number in UB_HOST_FD. It has no name, so
 * nothing is left when the last process that has it ends.
 */
#ifndef UB_HOST_ARENA_H
#define UB_HOST_ARENA_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UB_HOST_MAGIC	0x74736f6862755553ULL
#define UB_HOST_LAYOUT	2
#define UB_HOST_UNIT	(64ULL << 10)
#define UB_HOST_RANKS	4096
#define UB_HOST_LINES	32
#define UB_HOST_CPU_WORDS 16

enum ub_host_state {
	UB_HOST_ABSENT,		/* did not call ub_init() yet */
	UB_HOST_UP,
	UB_HOST_LEFT,		/* called ub_fini() */
	UB_HOST_EXIT,		/* ended without */
};

/**
 * struct ub_host_live - one rank
 * @lock: robust; held by the thread that is the rank, from ub_init() to
 *	ub_fini(). Others only look whether the kernel marked it ownerless: the
 *	rank is dead, for good
 * @state: enum ub_host_state
 * @node: node id
 * @inits: calls of ub_init(), also the incarnation
 * @cpus: mask of CPUs the rank may use
 */
struct ub_host_live {
	pthread_mutex_t lock;
	uint32_t state;
	uint32_t node;
	uint64_t inits;
	uint64_t cpus[UB_HOST_CPU_WORDS];
} __attribute__((aligned(64)));

/**
 * struct ub_host_arena - header; offsets count from it
 *
 * All is fixed but what the heap's owner writes: its last three.
 */
struct ub_host_arena {
	uint64_t magic;
	uint32_t layout;
	uint32_t nranks;
	uint64_t size;
	uint32_t nslots;
	uint32_t max_lines;
	uint32_t rec_stride;
	uint32_t heap_owner;		/* rank + 1 of who is inside, or 0 */
	uint64_t epoch;			/* before a group's first; 0 but in tests */
	uint64_t map_size;	/* of a group's pages */
	uint64_t live_off;
	uint64_t recs_off;
	uint64_t pages_off;
	uint64_t map_off;
	uint64_t heap_off;
	uint64_t heap_units;
	uint64_t heap_next;		/* where to look first */
	uint64_t heap_used;		/* units */
};

/**
 * ub_host_arena_create() - make and format an arena
 * @nranks: ranks of the job
 * @bytes: for windows; 0: UB_HOST_MEM (with suffix K, M, G, T), or as much as
 *	the machine has memory. Pages cost when they are touched
 *
 * Return: a descriptor (close-on-exec: a launcher clears that for its ranks),
 *	or a negative errno with a text
 */
int ub_host_arena_create(int nranks, uint64_t bytes);

/** ub_host_arena_map() - map and check it; NULL with a text and errno */
struct ub_host_arena *ub_host_arena_map(int fd);
void ub_host_arena_unmap(struct ub_host_arena *a);

/**
 * ub_host_arena_exited() - the launcher saw @rank end
 *
 * Survivors learn it at once instead of at their next look. Harmless for a
 * rank that called ub_fini(). Also right for a rank that never got as far as
 * ub_init(), which nobody else could tell from a late one.
 */
void ub_host_arena_exited(struct ub_host_arena *a, int rank);

/* ---- for the back end ---- */

static inline struct ub_host_live *ub_host_live(struct ub_host_arena *a,
						uint32_t rank)
{
	return (struct ub_host_live *)((char *)a + a->live_off) + rank;
}

/** ub_host_alloc() - zeroed memory for @rank, which calls; offset from @a, 0 when
 * there is no room */
uint64_t ub_host_alloc(struct ub_host_arena *a, uint32_t rank, uint64_t bytes);
void ub_host_free(struct ub_host_arena *a, uint32_t rank, uint64_t off,
		  uint64_t bytes);
uint64_t ub_host_room(struct ub_host_arena *a);

/* ---- host_live.c ---- */

/** ub_host_up() - this thread is @rank from now on; -EEXIST, -EOWNERDEAD */
int ub_host_up(struct ub_host_arena *a, uint32_t rank, uint32_t node);
void ub_host_down(struct ub_host_arena *a, uint32_t rank);
/** ub_host_dead() - did @rank end without ub_fini() */
bool ub_host_dead(struct ub_host_arena *a, uint32_t rank);
/** ub_host_left() - did @rank call ub_fini() for its ub_init() number @inits */
bool ub_host_left(struct ub_host_arena *a, uint32_t rank, uint64_t inits);
/** ub_host_wake() - wake who sleeps on the words of a group's members */
struct ub_grp;
void ub_host_wake(const struct ub_grp *g);

#endif /* UB_HOST_ARENA_H */
