/* SPDX-License-Identifier: MIT */
/*
 * libub: Nested BSP over windows of a UB fabric.
 *
 * A program is a sequence of supersteps: local work, communication, and a
 * barrier, ub_sync(). The local work of a superstep may itself be a BSP
 * computation over a smaller group: ub_scope_enter().
 *
 * Memory model, in one sentence: what a member of scope S stores or puts in a
 * superstep is visible to every member of S after the ub_sync(S) that ends it,
 * and not promised earlier.
 *
 * Conventions
 * -----------
 * Calls return 0 or a negative errno; ub_last_error() has a text that names
 * peer, level and remedy. Collective calls are made by all members of the
 * scope in the same order. A scope is used by one thread at a time; different
 * scopes of one context may be used by different threads unless said
 * otherwise. Sizes and offsets are bytes. Times are CLOCK_MONOTONIC, ns.
 * The library never ends the program and installs no signal handler.
 *
 * Errors of every collective call
 * -------------------------------
 *	-EOWNERDEAD	a member is lost; ub_lost() tells who. All
 *			survivors get the same. ub_shrink() goes on without it
 *	-ETIMEDOUT	the scope's time-out passed; ub_last_error() names who is
 *			missing. Call again to go on waiting
 *	-ESTALE		this member was taken for dead by the others
 *	-EBUSY		another thread is inside a call on this scope
 *	-EALREADY	a former call on this scope is not finished: ub_arrive()
 *			without ub_wait(), or a time-out and then another call
 *	-EPERM		called in a child of the process that made the context
 */
#ifndef LIBUB_H
#define LIBUB_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UB_API __attribute__((visibility("default")))

struct ub_ctx;		/* a fabric joined as rank r of n */
struct ub_scope;	/* a group at a level, nested */
struct ub_win;		/* memory that members of a scope share */

/**
 * struct ub_opts - how to join; zero means: from the environment
 * @size: sizeof(struct ub_opts)
 * @rank: with @nranks: own rank; else UB_RANK
 * @nranks: number of ranks, 0: UB_SIZE, or 1 when that is not set
 * @fabric: "host", "dev" or a device's path; NULL: UB_FABRIC, or the first
 *	device there is when started for one, else "host"
 * @job: key shared by the ranks of a job; NULL: UB_JOB
 * @machine: path of a machine file; NULL: UB_MACHINE, or one flat level
 * @host_arena: host back end between threads: memory from ub_host_arena()
 * @timeout_ms: of every collective call; 0: UB_TIMEOUT_MS, or none
 * @stats: 1 on, -1 off, 0: UB_STATS (on unless "0")
 * @node: host back end, with @nranks: node id of this rank; else UB_NODE, or 0
 */
struct ub_opts {
	size_t size;
	int rank;
	int nranks;
	const char *fabric;
	const char *job;
	const char *machine;
	void *host_arena;
	int timeout_ms;
	int stats;
	int node;
};

/**
 * ub_init() - join; collective over all ranks of the job
 * @ctx: gets the context
 * @opts: how; NULL: all from the environment
 *
 * The calling thread is the member (on the device: its process): when it ends
 * without ub_fini(), by whatever cause, the others take the member for lost. Ranks that do not come
 * within UB_START_MS (60,000) or the time-out, if longer, fail it for all.
 */
UB_API int ub_init(struct ub_ctx **ctx, const struct ub_opts *opts);
/** ub_fini() - leave; NULL is fine. Not collective, but a member that leaves
 * before the others' last barrier ends it for them. */
UB_API void ub_fini(struct ub_ctx *ctx);
/** ub_world() - the scope of all ranks; lives as long as the context */
UB_API struct ub_scope *ub_world(struct ub_ctx *ctx);
/** ub_last_error() - text of this thread's last error; "" when none */
UB_API const char *ub_last_error(void);
/** ub_backend() - "host" or "dev" */
UB_API const char *ub_backend(const struct ub_ctx *ctx);
/** ub_host_arena() - shared memory for ranks that are threads of one process */
UB_API void *ub_host_arena(int nranks);
UB_API void ub_host_arena_free(void *arena);

/* ---- scopes ---- */
UB_API int ub_rank(const struct ub_scope *s);
UB_API int ub_size(const struct ub_scope *s);
/** ub_node() - node id of a member, or a negative errno */
UB_API int ub_node(const struct ub_scope *s, int rank);
/** ub_level() - name of the scope's level */
UB_API const char *ub_level(const struct ub_scope *s);
/** ub_outer() - the scope that this one was made of; NULL for the world */
UB_API struct ub_scope *ub_outer(const struct ub_scope *s);
/** ub_outer_rank() - rank in the outer scope of member @rank */
UB_API int ub_outer_rank(const struct ub_scope *s, int rank);
/**
 * ub_scope_enter() - the scope of those who share this member's @level
 * @outer: where from; collective over it
 * @level: name of a level of the machine file: "board" gives the members on
 *	the same board; "node" the lanes of one node
 * @inner: gets the scope; the same one again when entered before (a machine
 *	level's scope exists once and is kept)
 * Return: 0; -ENOENT no such level
 */
UB_API int ub_scope_enter(struct ub_scope *outer, const char *level,
			  struct ub_scope **inner);
/**
 * ub_scope_split() - scopes by colour, ranks by key, then by outer rank
 * @outer: where from; collective over it
 * @colour: at least 0; negative: take no part, *@inner is NULL
 * @key: sorts the ranks of a colour
 * @inner: gets the scope
 */
UB_API int ub_scope_split(struct ub_scope *outer, int colour, int key,
			  struct ub_scope **inner);
/** ub_scope_exit() - leave; collective over @inner. Those of ub_scope_split()
 * are freed, those of ub_scope_enter() kept for the next time. */
UB_API int ub_scope_exit(struct ub_scope *inner);

/* ---- supersteps ---- */
enum ub_reduction {
	UB_NONE, UB_SUM, UB_XOR, UB_AND, UB_OR,
	UB_MIN_U64, UB_MAX_U64, UB_MIN_S64, UB_MAX_S64
};

/** ub_sync() - end the superstep of a scope */
UB_API int ub_sync(struct ub_scope *s);
/** ub_sync_reduce() - the same, with one 64-bit value reduced on the way;
 * all members give the same @op, else -EINVAL for all */
UB_API int ub_sync_reduce(struct ub_scope *s, enum ub_reduction op,
			  uint64_t value, uint64_t *result);
/** ub_sync_max_double() - the same for the maximum of values >= 0 (a norm) */
UB_API int ub_sync_max_double(struct ub_scope *s, double value, double *result);
/** ub_arrive() and ub_wait() - the two halves of ub_sync_reduce() */
UB_API int ub_arrive(struct ub_scope *s, enum ub_reduction op, uint64_t value);
UB_API int ub_wait(struct ub_scope *s, uint64_t *result);
/** ub_test() - like ub_wait(), but -EAGAIN when somebody is missing */
UB_API int ub_test(struct ub_scope *s, uint64_t *result);
/** ub_set_timeout() - of the scope's collective calls, ms; 0: none */
UB_API void ub_set_timeout(struct ub_scope *s, int ms);
/** ub_epoch() - number of the scope's last barrier */
UB_API uint64_t ub_epoch(const struct ub_scope *s);

/* ---- windows ---- */
/**
 * ub_win_create() - every member gives @bytes of zeroed memory to the scope
 * @s: collective over it; sizes may differ and be 0
 * @bytes: of this member
 * @win: gets the window
 * Return: 0; -ENOSPC, -ENOMEM with a text that has the sizes
 */
UB_API int ub_win_create(struct ub_scope *s, size_t bytes, struct ub_win **win);
/** ub_win_free() - collective over the scope it was made on */
UB_API int ub_win_free(struct ub_win *win);
/** ub_win_base() - own memory */
UB_API void *ub_win_base(const struct ub_win *win);
/** ub_win_peer() - memory of @rank (of the window's scope), mapped; use it with
 * plain loads and stores. NULL when its size is 0 or @rank is out of range.
 * When the peer's node dies a load gives SIGBUS on the device back end. */
UB_API void *ub_win_peer(const struct ub_win *win, int rank);
UB_API size_t ub_win_size(const struct ub_win *win, int rank);

/*
 * One-sided calls. @s is the scope at whose sync they complete; @rank counts
 * in the window's own scope. A put's source may be reused when it returns.
 * Errors: -EINVAL rank, -ERANGE beyond the peer's size (the text has the
 * sizes), -EOWNERDEAD the home is dead.
 */
UB_API int ub_put(struct ub_scope *s, struct ub_win *win, int rank, size_t off,
		  const void *src, size_t len);
UB_API int ub_get(struct ub_scope *s, struct ub_win *win, int rank, size_t off,
		  void *dst, size_t len);

enum ub_atomic_op {
	UB_ATOMIC_ADD, UB_ATOMIC_SWAP, UB_ATOMIC_CAS,
	UB_ATOMIC_AND, UB_ATOMIC_OR, UB_ATOMIC_XOR
};

/** ub_atomic() - on @width 4 or 8 bytes at @off, aligned (else -EINVAL); done
 * when it returns. @compare is for UB_ATOMIC_CAS; @old may be NULL */
UB_API int ub_atomic(struct ub_scope *s, struct ub_win *win, int rank,
		     size_t off, int width, enum ub_atomic_op op,
		     uint64_t operand, uint64_t compare, uint64_t *old);

/* ---- collectives ---- */
enum ub_type { UB_INT32, UB_INT64, UB_UINT64, UB_FLOAT, UB_DOUBLE };
enum ub_combine { UB_OP_SUM, UB_OP_MIN, UB_OP_MAX };

/** ub_allreduce() - @count elements; the same bits on all members and in every
 * run: members are combined in rank order. @in may be @out */
UB_API int ub_allreduce(struct ub_scope *s, const void *in, void *out,
			size_t count, enum ub_type type, enum ub_combine op);
UB_API int ub_bcast(struct ub_scope *s, void *data, size_t bytes, int root);
/** ub_allgather() - @bytes of each member, in rank order, into @out */
UB_API int ub_allgather(struct ub_scope *s, const void *in, size_t bytes,
			void *out);

/* ---- messages ---- */
/*
 * What is sent in a superstep of a scope is in the receiver's queue in the next
 * one, by rising rank of the sender and then in the order of the calls; what is
 * left there at the end of that superstep is gone. Any sizes, 0 as well; one's
 * own rank is a receiver like others. Not between ub_arrive() and ub_wait(), and
 * not in a superstep that a time-out interrupted: -EALREADY.
 */
/**
 * ub_set_tagsize() - bytes of the tag of each message, 0 at first
 * @s: all members give the same, else the receivers' ub_sync() is -EINVAL
 * @bytes: from the next superstep on; gets what was set before
 */
UB_API int ub_set_tagsize(struct ub_scope *s, size_t *bytes);
/** ub_send() - tag and payload are copied; -ENOMEM */
UB_API int ub_send(struct ub_scope *s, int rank, const void *tag,
		   const void *payload, size_t len);
/** ub_qsize() - messages that remain, and bytes of their payloads */
UB_API int ub_qsize(struct ub_scope *s, size_t *messages, size_t *bytes);
/** ub_get_tag() - length of the first message's payload, and its tag; -ENOMSG
 * when there is none */
UB_API int ub_get_tag(struct ub_scope *s, size_t *len, void *tag);
/** ub_move() - copy up to @room bytes of the first payload and remove the
 * message; -ENOMSG */
UB_API int ub_move(struct ub_scope *s, void *payload, size_t room);
/** ub_hpmove() - remove the first message without copying: tag and payload lie
 * aligned for any type, until the scope's next sync; -ENOMSG */
UB_API int ub_hpmove(struct ub_scope *s, const void **tag, const void **payload,
		     size_t *len);

/* ---- failure ---- */
/**
 * struct ub_lost_info - the uniform answer
 * @epoch: first barrier of the scope that the member never reached
 * @incarnation: of its node (device back end)
 * @rank: in the scope
 * @node: node id
 * @lane: on that node
 * @reason: text, static
 * @level: name of the scope's level
 */
struct ub_lost_info {
	uint64_t epoch;
	uint64_t incarnation;
	int rank;
	int node;
	int lane;
	const char *reason;
	char level[16];
};

/** ub_lost() - who ended the scope; -ENOENT while nobody did */
UB_API int ub_lost(const struct ub_scope *s, struct ub_lost_info *info);
/**
 * ub_shrink() - a new scope of the survivors of one that lost a member
 * @s: stays until ub_scope_exit(), or ub_fini() for the world
 * @survivors: gets the scope, ranks in the old order. With -EOWNERDEAD another
 *	member died meanwhile and *@survivors can be shrunk in turn
 */
UB_API int ub_shrink(struct ub_scope *s, struct ub_scope **survivors);

/* ---- accounting, always on unless UB_STATS=0 ---- */
/**
 * struct ub_level_stats - of all scopes of one level of this member
 * @level: name
 * @supersteps: barriers that ended
 * @bytes: moved by put, get, atomics and collectives
 * @compute_ns: between a sync's end and the next arrival
 * @move_ns: inside put, get, atomics and collectives' copies
 * @wait_ns: waiting in syncs
 */
struct ub_level_stats {
	char level[16];
	uint64_t supersteps;
	uint64_t bytes;
	uint64_t compute_ns;
	uint64_t move_ns;
	uint64_t wait_ns;
};

/** ub_stats() - level @i of this member; -ENOENT past the last */
UB_API int ub_stats(struct ub_ctx *ctx, int i, struct ub_level_stats *st);
/** ub_waited_for() - how often @rank of @s was the one waited for */
UB_API uint64_t ub_waited_for(const struct ub_scope *s, int rank);
/** ub_stats_print() - the table of all ranks; collective over the world, rank 0
 * prints to @out */
UB_API int ub_stats_print(struct ub_ctx *ctx, FILE *out);

#ifdef __cplusplus
}
#endif
#endif /* LIBUB_H */
