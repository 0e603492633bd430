/* SPDX-License-Identifier: MIT */
/*
 * Core structures of libub, and who points to whom.
 *
 *	struct ub_ctx ---> back end, machine, world
 *	    |-- list of all scopes (under ctx->lock)
 *	    `-- tables of the world: node and lane of each rank
 *	struct ub_scope ---> outer, ctx; ranks in the outer scope and the world
 *	    |-- struct ub_bar: the engine over the group's shared pages
 *	    `-- what the back end knows of the group
 *	struct ub_win ---> the scope it was made on; a pointer for each peer
 *
 * A scope is driven by one thread at a time (see ub_scope_begin()); what
 * others may read meanwhile, the accounting, is written atomically.
 */
#ifndef UB_INTERNAL_H
#define UB_INTERNAL_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "libub.h"
#include "engine.h"
#include "clock.h"
#include "error.h"
#include "machine.h"

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define UB_NEVER	(~(uint64_t)0)

struct ub_backend;
struct ub_mirror;
struct ub_plan;

/* Levels of the accounting: world, the machine's, lanes of a node, splits. */
#define UB_STAT_LEVELS	(UB_SHAPE_LEVELS + 3)

/* Accounting of a scope; times in ticks. */
struct ub_count {
	uint64_t supersteps;
	uint64_t bytes;
	uint64_t compute;
	uint64_t move;
	uint64_t wait;
	uint64_t checkpoints;
	uint64_t mirror_bytes;
	uint64_t mirror;
	uint64_t late;		/* barriers that waited for this member */
};

/**
 * struct ub_spin - how one scope waits
 * @limit: ticks to spin before anything else, adapted
 * @waits: waits so far that were not over at once
 */
struct ub_spin {
	uint64_t limit;
	uint32_t waits;
};

enum ub_scope_state {
	UB_SCOPE_IDLE,
	UB_SCOPE_ARRIVED,	/* by ub_arrive() */
	UB_SCOPE_TIMED_OUT,	/* arrived; a wait passed its time */
};

/**
 * struct ub_pending - a collective call that a time-out interrupted
 * @call: which, by address of its name; NULL: none
 * @step: steps that are done
 * @most: the largest value that its members gave
 * @misfit: rank, plus one, whose data did not fit
 * @obj: what it made so far
 * @mirror: mirror of the window that it makes
 */
struct ub_pending {
	const char *call;
	size_t step;
	uint64_t most;
	uint32_t misfit;
	void *obj;
	struct ub_mirror *mirror;
};

struct ub_bulk;
struct ub_queue;

/**
 * struct ub_scope - a group at a level
 * @owner: thread whose calls need no locked instruction, see sync.c; NULL in a
 *	child of the process that made the context
 * @inside: thread that is inside a call, or NULL
 * @state: enum ub_scope_state
 * @timing: accounting is on
 * @last: UB_AUX_LAST() of the last wait
 * @n: members
 * @rank: own
 * @waited: how often each rank was the one waited for
 * @bar: the engine
 * @alive: reads 0 in a child of the process that made the context
 * @opened: ticks when it was made
 * @first: epoch then
 * @count: accounting
 * @notes: the user's next sync has records to hand over, or to forget: bulk.h
 * @by_kernel: barriers are the back end's, from arrival to end: windows are
 *	copied, and both move the copies
 * @lost: a verdict stands; no more arrivals
 * @creating: the group's first barrier runs
 * @kept: made by ub_scope_enter()
 * @alone: of one member and nothing shared: @map is memory of its own
 * @job: of all ranks, with the spares: none of the program's
 * @level: index of the accounting level
 * @level_name: for messages
 * @node: node id of each member
 * @lane: lane of each member
 * @outer_rank: rank in @outer of each member
 * @world_rank: rank in the world of each member
 * @incarnation: of each member's node, or on host of the rank
 * @fresh: which members ub_replace() brought in, or NULL
 * @heir: made of this one by ub_shrink() or ub_replace(), or NULL
 * @timeout_ms: of collective calls, 0: none
 * @exchanges: mailbox exchanges so far
 * @splits: ub_scope_split() calls so far
 * @wins: list of windows that were made on it and not freed
 * @coll: window of the collectives, or NULL
 * @coll_copy: room for two chunks of peers, where they are not read in place
 * @coll_turn: which of the two was used last
 * @coll_steps: steps of the collectives in @coll
 * @plan: how the collectives may use the levels, or NULL
 * @plan_agreed: all members have the same
 * @bulk: records of the user's supersteps, or NULL
 * @queue: messages among them, or NULL
 * @id: host: group id
 * @slot: host: slot, and @word under which it was joined
 * @handle: dev: group handle, and @table: its members as the kernel tells
 * @map: own mapping of the group's pages, or private memory, @map_size bytes
 * @look: when to look after the living next, CLOCK_MONOTONIC
 */
struct ub_scope {
	/* A line that ends a page which a fork wipes; the rest is kept. */
	void *owner;
	void *inside;

	/* What a sync touches. */
	uint32_t state __attribute__((aligned(64)));
	uint32_t notes;
	bool timing;
	uint64_t last;
	uint32_t n;
	uint32_t rank;
	uint64_t *waited;
	struct ub_bar bar;

	const uint64_t *alive;
	bool by_kernel;
	bool lost;
	bool creating;
	bool kept;
	bool alone;
	bool job;
	uint64_t opened;
	uint64_t first;
	struct ub_count count;
	struct ub_ctx *ctx;
	struct ub_scope *outer;
	struct ub_scope *next;
	int level;
	char level_name[UB_NAME_LEN];
	uint32_t *node;
	uint32_t *lane;
	uint32_t *outer_rank;
	uint32_t *world_rank;
	uint64_t *incarnation;
	bool *fresh;
	struct ub_scope *heir;
	struct ub_sched *sched;
	struct ub_spin spin;
	int timeout_ms;
	uint64_t exchanges;
	uint64_t splits;
	struct ub_win *wins;
	struct ub_win *coll;
	char *coll_copy;
	uint32_t coll_turn;
	uint64_t coll_steps;
	struct ub_plan *plan;
	bool plan_agreed;
	struct ub_bulk *bulk;
	struct ub_queue *queue;
	struct ub_pending pending;

	uint64_t id;
	uint32_t slot;
	uint64_t word;
	uint32_t handle;
	struct ub_member *table;
	void *map;
	size_t map_size;
	uint64_t look;
};

struct ub_quiet;

enum ub_win_stage {
	UB_WIN_TELL,	/* all tell of their parts */
	UB_WIN_AGREE,	/* whether all could attach them */
	UB_WIN_HEAR,	/* a home has died: who it was */
};

/**
 * struct ub_win - memory that members of a scope share
 * @scope: it was made on
 * @peer: each member's memory, mapped; NULL when its size is 0
 * @size: of each member
 * @handle: of each member, the back end's
 * @quiet: dev: of each member, mappings for copies of the library's own, or NULL
 * @own: dev: struct ub_win_create of the own window, or NULL
 * @inner: the library's own, gone with the scope
 * @mirror: what outlives its members, or NULL: mirror.c
 * @stage: of making it, enum ub_win_stage
 * @err: of attaching the others' parts
 */
struct ub_win {
	struct ub_scope *scope;
	struct ub_win *next;
	char **peer;
	uint64_t *size;
	uint64_t *handle;
	struct ub_quiet *quiet;
	void *own;
	bool inner;
	struct ub_mirror *mirror;
	int stage;
	int err;
};

/**
 * struct ub_ctx - a fabric joined
 * @be: back end
 * @priv: of the back end
 * @alive: one page that a fork wipes
 * @biased: see sync.c
 * @key: of the job
 * @start_ms: allowance for the ranks to start
 * @nranks: ranks of the job, @spares of them spare
 * @job: scope of all ranks when there are spares, or NULL: spare.c
 * @place: of each of its members: rank in the world, or -1
 * @rejoined: was a spare
 * @retired: accounting of scopes that are gone, by level
 * @crowd: CPUs that more members share here, else 0; looked at again at
 *	@crowd_look
 */
struct ub_ctx {
	const struct ub_backend *be;
	void *priv;
	uint64_t *alive;
	bool biased;
	bool timing;
	int rank;
	int nranks;
	int spares;
	uint32_t own_node;
	int timeout_ms;
	int start_ms;
	uint64_t key[2];
	const char *fabric;
	struct ub_machine machine;
	struct ub_scope *world;
	struct ub_scope *job;
	int *place;
	bool rejoined;

	pthread_mutex_t lock;
	struct ub_scope *scopes;
	struct ub_count retired[UB_STAT_LEVELS];

	int crowd;
	uint64_t crowd_look;
};

/* ---- ctx.c ---- */
/** ub_env_int() - a number from the environment; @def when it is not set */
int ub_env_int(const char *name, long min, long max, long def, long *value);

/* ---- scope.c ---- */
struct ub_scope *ub_scope_alloc(struct ub_ctx *ctx, struct ub_scope *outer,
				uint32_t n, uint32_t rank, int level,
				const char *name);
/** ub_scope_make() - create the group, schedule and list the scope */
int ub_scope_make(struct ub_scope *s, const uint64_t key[2]);
/** ub_scope_ready() - the group exists: lanes, schedule, list */
int ub_scope_ready(struct ub_scope *s);
/** ub_scope_drop() - leave the group and free the scope */
void ub_scope_drop(struct ub_scope *s);
/** ub_scope_subset() - a scope to be made, of @n members of @outer; @who: its
 * ranks there, in order */
struct ub_scope *ub_scope_subset(struct ub_scope *outer, const uint32_t *who,
				 uint32_t n, int level, const char *name);
/** ub_scope_vertex() - what members at one vertex of a level share */
uint32_t ub_scope_vertex(const struct ub_scope *s, uint32_t rank, int level);
void ub_scope_free(struct ub_scope *s);

/* ---- sync.c ---- */
/**
 * ub_scope_begin() - a collective call begins: this thread drives the scope
 * @call: its name
 *
 * When a time-out interrupted the same call, s->pending says how far it came;
 * ub_again() tells. A step that is done must not touch shared memory again.
 */
int ub_scope_begin(struct ub_scope *s, const char *call);
static inline bool ub_again(const struct ub_scope *s)
{
	return s->state == UB_SCOPE_TIMED_OUT;
}
/** ub_scope_begin_lost() - the same for calls that a lost scope is no error of */
int ub_scope_begin_lost(struct ub_scope *s);
void ub_scope_end(struct ub_scope *s);
/** ub_sync_inside() - one barrier, between ub_scope_begin() and _end() */
int ub_sync_inside(struct ub_scope *s);
/** ub_reduce_inside() - the same, with a value reduced on the way */
int ub_reduce_inside(struct ub_scope *s, enum ub_reduction op, uint64_t value,
		     uint64_t *result);
/** ub_sync_noted() - the same with notes; @seen gets all members', or-ed */
int ub_sync_noted(struct ub_scope *s, uint32_t notes, uint32_t *seen);
/** ub_mail() - own mailbox slot of the exchange to come */
void *ub_mail(struct ub_scope *s);
/** ub_exchange() - a barrier; then ub_mail_of() has what the others wrote */
int ub_exchange(struct ub_scope *s);
const void *ub_mail_of(const struct ub_scope *s, uint32_t rank);
/** ub_lost_error() - the verdict's text and -EOWNERDEAD, or -ESTALE */
int ub_lost_error(struct ub_scope *s);
/** ub_deadline() - of a collective call that begins now */
uint64_t ub_deadline(const struct ub_scope *s);

/* ---- wait.c ---- */
/* Polls, UB_PAUSE_NS apart, before a wait counts as one and a clock is read. */
#define UB_POLLS	64
/** ub_wait_long() - wait on, however long; 0 when the barrier is complete */
int ub_wait_long(struct ub_scope *s);

/* ---- late.c ---- */
/**
 * ub_late_error() - who is missing, and where it is; returns -ETIMEDOUT
 * @heard_ns: since its node was last heard of; 0: its process lives
 */
int ub_late_error(struct ub_scope *s, uint64_t heard_ns);

/* ---- cpus.c ---- */
#define UB_CPU_WORDS	16
/** ub_cpus() - CPUs that this thread may use, at least 1, and their mask */
int ub_cpus(uint64_t mask[UB_CPU_WORDS]);

/* A word is moved by one store, not by a call of memcpy(). */
static inline void ub_copy(void *to, const void *from, size_t len)
{
	if (len == sizeof(uint64_t))
		memcpy(to, from, sizeof(uint64_t));
	else
		memcpy(to, from, len);
}

/* ---- stats.c ---- */
static inline void ub_add(uint64_t *p, uint64_t v)
{
	/* One writer; readers may be other threads. */
	__atomic_store_n(p, *p + v, __ATOMIC_RELAXED);
}

/** ub_count_scope() - add what @s has counted to @to */
void ub_count_scope(struct ub_count *to, const struct ub_scope *s);

/* ---- msg.c ---- */
/** ub_msg_bulk() - the scope's records carry messages; 0 or -ENOMEM */
int ub_msg_bulk(struct ub_scope *s);

/* ---- spare.c ---- */
/** ub_job_begin() - @job is made: make the world, or wait as a spare */
int ub_job_begin(struct ub_ctx *ctx, struct ub_scope *job);
/** ub_job_done() - this member has computed all it has to */
void ub_job_done(struct ub_ctx *ctx);

/* ---- mirror.c ---- */
/** ub_mirror_free() - @w: the window that had it, or NULL */
void ub_mirror_free(struct ub_mirror *m, struct ub_win *w);

/* ---- win.c ---- */
/* Bytes of a mailbox in which a back end describes a window. */
#define UB_WIN_MAIL	(UB_MAILBOX_BYTES - 16)
/** ub_win_make() - inside a call on @s; after a time-out call it again. The
 * window is the library's own. */
int ub_win_make(struct ub_scope *s, size_t bytes, struct ub_win **win);
/** ub_win_read() - copy from a member's memory; -EOWNERDEAD when it is gone */
int ub_win_read(struct ub_win *w, uint32_t rank, size_t off, void *dst, size_t len);
/** ub_win_write() - copy to a member's memory; -EOWNERDEAD when it is gone */
int ub_win_write(struct ub_win *w, uint32_t rank, size_t off, const void *src,
		 size_t len);
/** ub_win_drop() - not collective; @used: peers may still use the own part */
void ub_win_drop(struct ub_win *w, bool used);

/*
 * There in programs under LeakSanitizer, which looks for pointers in no mapping else.
 * Its own header comes with a compiler's runtime, which clang alone has not.
 */
void __lsan_register_root_region(const void *p, size_t size) __attribute__((weak));
void __lsan_unregister_root_region(const void *p, size_t size) __attribute__((weak));

#endif /* UB_INTERNAL_H */
