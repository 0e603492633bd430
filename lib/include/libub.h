/* SPDX-License-Identifier: MIT */
/*
 * libub: Nested BSP over windows of a UB fabric.
 *
 *	ubcc prog.c -o prog
 *	cc prog.c $(pkg-config --cflags --libs ub) -o prog
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
 * The library never ends the program and installs no signal handler. Variables
 * of the environment are those of struct ub_opts, see ub_init(), and of ubrun(1).
 *
 * Errors of every collective call
 * -------------------------------
 *	-EOWNERDEAD	a member is lost; ub_lost() tells who. All
 *			survivors get the same. ub_shrink() goes on without it
 *	-ETIMEDOUT	the scope's time-out passed; ub_last_error() names who is
 *			missing. Make the same call again to go on waiting; its
 *			buffers are left alone meanwhile
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
 * @spares: with @nranks: ranks beyond them that wait in ub_init() until one is
 *	lost, see libub_recover.h; else UB_SPARES, or 0
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
	int spares;
};

/**
 * ub_init() - join; collective over all ranks of the job
 * @ctx: gets the context
 * @opts: how; NULL: all from the environment
 *
 * The calling thread is the member (on the device: its process): when it ends
 * without ub_fini(), by whatever cause, the others take the member for lost. Ranks that do not come
 * within UB_START_MS (60,000) or the time-out, if longer, fail it for all.
 *
 * In a spare rank it waits until it is to take the place of a lost one.
 *
 * Return: 0, or what open(2) of the device gives; -EINVAL an option, a variable
 * or the machine file is wrong, the text names it; -EPROTONOSUPPORT the kernel
 * module is of another version; -EEXIST the rank is taken; -ETIMEDOUT a rank is
 * missing; -ECANCELED the job has ended and did not need this spare; -ENOMEM,
 * -ENOSPC
 */
UB_API int ub_init(struct ub_ctx **ctx, const struct ub_opts *opts);
/** ub_fini() - leave
 * @ctx: the context, with all its scopes and windows; NULL is fine
 *
 * Not collective, but a member that leaves before the others' last barrier ends
 * it for them. */
UB_API void ub_fini(struct ub_ctx *ctx);
/** ub_world() - the scope of all ranks
 * @ctx: the context
 *
 * After ub_replace() it is the new one.
 *
 * Return: the scope, which lives as long as the context. */
UB_API struct ub_scope *ub_world(struct ub_ctx *ctx);
/** ub_last_error() - text of this thread's last error
 *
 * Return: the text, until the thread's next error; "" when there was none. */
UB_API const char *ub_last_error(void);
/** ub_backend() - what a context runs on
 * @ctx: the context
 *
 * Return: "host" or "dev". */
UB_API const char *ub_backend(const struct ub_ctx *ctx);
/** ub_host_arena(), ub_host_arena_free() - memory for ranks that are threads of one process
 * @nranks: how many
 * @arena: of ub_host_arena(), when all its contexts have ended; NULL is fine
 *
 * It goes into ub_opts.host_arena of each.
 *
 * Return: ub_host_arena(): the memory; NULL and ub_last_error(). */
UB_API void *ub_host_arena(int nranks);
UB_API void ub_host_arena_free(void *arena);

/* ---- scopes ---- */
/** ub_rank(), ub_size() - who this member is in a scope, of how many
 * @s: the scope
 *
 * Return: the rank, from 0; the number of members. They cannot fail. */
UB_API int ub_rank(const struct ub_scope *s);
UB_API int ub_size(const struct ub_scope *s);
/** ub_node() - node id of a member
 * @s: the scope
 * @rank: of the member
 *
 * Return: the node id; -EINVAL there is no such rank. */
UB_API int ub_node(const struct ub_scope *s, int rank);
/** ub_level() - name of a scope's level
 * @s: the scope
 *
 * Return: as the machine file has it, or "world", "node", "split". */
UB_API const char *ub_level(const struct ub_scope *s);
/** ub_outer(), ub_outer_rank() - the scope that this one was made of
 * @s: the scope
 * @rank: of a member in @s
 *
 * Return: the scope, NULL for the world; the member's rank there; -EINVAL @s has
 * no such rank. */
UB_API struct ub_scope *ub_outer(const struct ub_scope *s);
UB_API int ub_outer_rank(const struct ub_scope *s, int rank);
/**
 * ub_scope_enter() - the scope of those who share this member's @level
 * @outer: where from; collective over it
 * @level: name of a level of the machine file: "board" gives the members on
 *	the same board; "node" the lanes of one node, "world" all of @outer.
 *	UB_LEVEL_MAP=board=rack makes "board" mean the level "rack", and so do
 *	aliases in the file. All members mean the same level
 * @inner: gets the scope; the same one again when entered before (a machine
 *	level's scope exists once and is kept)
 * Return: 0; -ENOENT no such level; -ENOSPC, -ENOMEM
 */
UB_API int ub_scope_enter(struct ub_scope *outer, const char *level,
			  struct ub_scope **inner);
/**
 * ub_scope_split() - scopes by colour, ranks by key, then by outer rank
 * @outer: where from; collective over it
 * @colour: at least 0; negative: take no part, *@inner is NULL
 * @key: sorts the ranks of a colour
 * @inner: gets the scope
 * Return: 0; -ENOSPC, -ENOMEM
 */
UB_API int ub_scope_split(struct ub_scope *outer, int colour, int key,
			  struct ub_scope **inner);
/** ub_scope_exit() - leave a scope
 * @inner: the scope; collective over it
 *
 * Those of ub_scope_split() are freed, those of ub_scope_enter() kept for the
 * next time.
 *
 * Return: 0; -EINVAL it is the world; -EBUSY a window of it was not freed. */
UB_API int ub_scope_exit(struct ub_scope *inner);

/* ---- supersteps ---- */
enum ub_reduction {
	UB_NONE, UB_SUM, UB_XOR, UB_AND, UB_OR,
	UB_MIN_U64, UB_MAX_U64, UB_MIN_S64, UB_MAX_S64
};

/** ub_sync() - end the superstep of a scope
 * @s: collective over it
 *
 * Return: 0; -EINVAL others gave a reduction; -EOWNERDEAD also when a window is
 * lost. */
UB_API int ub_sync(struct ub_scope *s);
/** ub_sync_reduce() - end a superstep, with one 64-bit value reduced on the way
 * @s: collective over it
 * @op: the same of all members
 * @value: of this member
 * @result: gets that of all; may be NULL
 *
 * Return: 0; -EINVAL for all when members gave different @op. */
UB_API int ub_sync_reduce(struct ub_scope *s, enum ub_reduction op,
			  uint64_t value, uint64_t *result);
/** ub_sync_max_double() - end a superstep, with the maximum of values >= 0 (a norm)
 * @s: collective over it
 * @value: of this member; NaN counts as more than infinity
 * @result: gets that of all; may be NULL
 *
 * Return: 0; -EINVAL @value is below 0. */
UB_API int ub_sync_max_double(struct ub_scope *s, double value, double *result);
/** ub_arrive(), ub_wait(), ub_test() - the two halves of ub_sync_reduce()
 * @s: collective over it
 * @op: the same of all members; UB_NONE for none
 * @value: of this member
 * @result: gets that of all; may be NULL
 *
 * ub_arrive() does not wait. Work that needs nothing of the others may be done
 * before ub_wait(), which does; ub_test() looks only.
 *
 * Return: 0; -EINVAL for all when members gave different @op, or there was no
 * ub_arrive(); -EAGAIN of ub_test(): somebody is missing. */
UB_API int ub_arrive(struct ub_scope *s, enum ub_reduction op, uint64_t value);
UB_API int ub_wait(struct ub_scope *s, uint64_t *result);
UB_API int ub_test(struct ub_scope *s, uint64_t *result);
/** ub_set_timeout() - how long a scope's collective calls may take
 * @s: the scope
 * @ms: milliseconds; 0: for ever */
UB_API void ub_set_timeout(struct ub_scope *s, int ms);
/** ub_epoch() - number of a scope's last barrier
 * @s: the scope
 *
 * Return: the number; it grows by 1 with each barrier, those inside other
 * collective calls too. */
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
/** ub_win_free() - take a window's memory back
 * @win: collective over the scope it was made on; NULL is fine
 *
 * Return: 0, also when a member is lost. */
UB_API int ub_win_free(struct ub_win *win);
/** ub_win_base(), ub_win_peer(), ub_win_size() - memory of a window, mapped
 * @win: the window
 * @rank: whose, in the window's scope
 *
 * For plain loads and stores. When the peer's node dies a load gives SIGBUS on
 * the device back end.
 *
 * Return: own memory; that of @rank; its size. NULL or 0 when the size is 0 or
 * there is no such rank. */
UB_API void *ub_win_base(const struct ub_win *win);
UB_API void *ub_win_peer(const struct ub_win *win, int rank);
UB_API size_t ub_win_size(const struct ub_win *win, int rank);

/** ub_put(), ub_get() - copy to or from a member's memory
 * @s: the scope at whose sync the call completes
 * @win: the window
 * @rank: whose memory, in the window's own scope
 * @off: where in it, bytes
 * @src: from here; may be reused when ub_put() returns
 * @dst: to here
 * @len: bytes; may be 0
 *
 * Return: 0; -EINVAL no such rank; -ERANGE beyond the member's size, the text has
 * the sizes; -EOWNERDEAD the memory is gone with its home; -EPERM called in a
 * child of the process that made the context. */
UB_API int ub_put(struct ub_scope *s, struct ub_win *win, int rank, size_t off,
		  const void *src, size_t len);
UB_API int ub_get(struct ub_scope *s, struct ub_win *win, int rank, size_t off,
		  void *dst, size_t len);

enum ub_atomic_op {
	UB_ATOMIC_ADD, UB_ATOMIC_SWAP, UB_ATOMIC_CAS,
	UB_ATOMIC_AND, UB_ATOMIC_OR, UB_ATOMIC_XOR
};

/** ub_atomic() - change a word of a member's memory atomically
 * @s: the scope that it is counted for
 * @win: the window
 * @rank: whose memory, in the window's own scope
 * @off: where in it, a multiple of @width
 * @width: 4 or 8 bytes
 * @op: how
 * @operand: with what; of UB_ATOMIC_CAS the new value
 * @compare: UB_ATOMIC_CAS: the value that it must have
 * @old: gets the value before; may be NULL
 *
 * Done when it returns.
 *
 * Return: 0, also when a comparison failed; -EINVAL @width, @off, @op or @rank;
 * -ERANGE, -EOWNERDEAD and -EPERM as for ub_put(). */
UB_API int ub_atomic(struct ub_scope *s, struct ub_win *win, int rank,
		     size_t off, int width, enum ub_atomic_op op,
		     uint64_t operand, uint64_t compare, uint64_t *old);

/* ---- messages ---- */
/*
 * What is sent in a superstep of a scope is in the receiver's queue in the next
 * one, by rising rank of the sender and then in the order of the calls; what is
 * left there at the end of that superstep is gone.
 *
 * Errors of all these calls: -EALREADY between ub_arrive() and ub_wait(), and in
 * a sync that timed out; those of every collective call that need no peer.
 */
/** ub_set_tagsize() - bytes of the tag of each message, 0 at first
 * @s: the scope; all members give the same, else the ub_sync() of those who
 *	receive with another size is -EINVAL
 * @bytes: of messages that are sent from the next superstep on, the last call of
 *	a superstep counts; gets what was set last before
 *
 * Return: 0; -EINVAL no size, or above 1 GiB; -EALREADY as ub_send(). */
UB_API int ub_set_tagsize(struct ub_scope *s, size_t *bytes);
/** ub_send() - put a message into a member's queue, which has it in the next superstep
 * @s: the scope
 * @rank: of the receiver, which may be the sender
 * @tag: as many bytes as the tag size; may be NULL when that is 0
 * @payload: copied; may be NULL when @len is 0
 * @len: bytes; may be 0, and as many as memory holds
 *
 * Return: 0; -EINVAL no such rank, or NULL; -ENOMEM; -EALREADY between ub_arrive()
 * and ub_wait(), or after a time-out of ub_sync(); -EOWNERDEAD the scope has lost a
 * member. */
UB_API int ub_send(struct ub_scope *s, int rank, const void *tag,
		   const void *payload, size_t len);
/** ub_qsize() - what remains in the own queue
 * @s: the scope
 * @messages: gets their number; may be NULL
 * @bytes: gets the bytes of their payloads; may be NULL
 *
 * Return: 0; -EALREADY and -EOWNERDEAD as ub_send(). */
UB_API int ub_qsize(struct ub_scope *s, size_t *messages, size_t *bytes);
/** ub_get_tag() - look at the first message of the own queue
 * @s: the scope
 * @len: gets the bytes of its payload; may be NULL
 * @tag: gets its tag; may be NULL
 *
 * Return: 0; -ENOMSG the queue is empty; -EALREADY and -EOWNERDEAD as ub_send(). */
UB_API int ub_get_tag(struct ub_scope *s, size_t *len, void *tag);
/** ub_move() - copy the first message's payload and remove the message
 * @s: the scope
 * @payload: gets it
 * @room: most bytes to copy
 *
 * Return: 0; -ENOMSG the queue is empty; -EINVAL @payload is NULL, but there are
 * bytes to copy; -EALREADY and -EOWNERDEAD as ub_send(). */
UB_API int ub_move(struct ub_scope *s, void *payload, size_t room);
/** ub_hpmove() - remove the first message without copying it
 * @s: the scope
 * @tag: gets the address of its tag; may be NULL
 * @payload: gets the address of its payload; may be NULL
 * @len: gets the bytes of the payload; may be NULL
 *
 * Both are aligned for any type and live until the scope's next sync.
 *
 * Return: 0; -ENOMSG the queue is empty; -EALREADY and -EOWNERDEAD as ub_send(). */
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

/** ub_lost() - who ended a scope
 * @s: the scope
 * @info: gets the answer, the same on all survivors
 *
 * Return: 0; -ENOENT nobody is lost; -EPERM called in a child of the process that
 * made the context. */
UB_API int ub_lost(const struct ub_scope *s, struct ub_lost_info *info);
/**
 * ub_shrink() - a new scope of the survivors of one that lost a member
 * @s: stays until ub_scope_exit(), or ub_fini() for the world
 * @survivors: gets the scope, ranks in the old order. With -EOWNERDEAD another
 *	member died meanwhile and *@survivors can be shrunk in turn
 *
 * Collective over the survivors.
 * Return: 0; -EINVAL nobody is lost; -ENOSPC, -ENOMEM
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
 * @checkpoints: calls of ub_checkpoint()
 * @mirror_bytes: copied by them
 * @mirror_ns: copying there
 */
struct ub_level_stats {
	char level[16];
	uint64_t supersteps;
	uint64_t bytes;
	uint64_t compute_ns;
	uint64_t move_ns;
	uint64_t wait_ns;
	uint64_t checkpoints;
	uint64_t mirror_bytes;
	uint64_t mirror_ns;
};

/** ub_stats() - the accounting of a level
 * @ctx: the context
 * @i: which level, from 0, the outermost
 * @st: gets the sums of this member
 *
 * Return: 0; -ENOENT past the last level. */
UB_API int ub_stats(struct ub_ctx *ctx, int i, struct ub_level_stats *st);
/** ub_waited_for() - how often a member was the one waited for
 * @s: the scope
 * @rank: of the member
 *
 * Return: the number of barriers; 0 when there is no such rank. */
UB_API uint64_t ub_waited_for(const struct ub_scope *s, int rank);
/** ub_stats_print() - the table of all ranks
 * @ctx: the context; collective over the world, or over what ub_shrink() and
 *	ub_replace() made of it
 * @out: where rank 0 prints it
 *
 * Return: 0; -ENOMEM */
UB_API int ub_stats_print(struct ub_ctx *ctx, FILE *out);

#ifdef __cplusplus
}
#endif

#include "libub_coll.h"
#include "libub_recover.h"

#endif /* LIBUB_H */
