/* SPDX-License-Identifier: MIT */
/*
 * What a back end does. The fast path is not here: sync.c runs it over mapped
 * group pages, the same for all.
 */
#ifndef UB_BACKEND_H
#define UB_BACKEND_H

#include "internal.h"

/**
 * struct ub_backend - ops; 0 or a negative errno with a text
 * @open: take part in the fabric, as ctx->rank of ctx->nranks
 * @close: undo @open; @forked: in a child, so nothing shared may be touched
 * @absent: tell the others that @rank ended before it came to the world; NULL: it
 *	is seen without
 * @group_create: make a group of s->n members (s->world_rank, s->outer_rank)
 *	with id from @key; fills s->bar, s->node. -EOWNERDEAD: made, but a
 *	member is lost already
 * @group_shrink: a scope of the survivors of @old; like @group_create
 * @group_leave: the group's words are not used after this
 * @sleep: the last resort of a wait: 0 when complete, -EOWNERDEAD (scope->bar
 *	has the verdict), -ETIMEDOUT at @deadline
 * @arrive: of scopes with @by_kernel: arrive; as ub_bar_arrive(), and
 *	-EOWNERDEAD when a verdict stands (scope->bar has it)
 * @test: of those: like @sleep, but -EAGAIN at once
 * @kick: wake every member that sleeps in the group
 * @look: fence members that will never arrive
 * @win_alloc: own memory of a window
 * @win_describe: what peers need, into a mailbox slot
 * @win_attach: reach the memory of @rank that described itself by @mail
 * @win_move: the own part gets other memory, at the same address; the others'
 *	mappings of it end until @win_again. NULL: the lost reach nothing
 * @win_again: as @win_attach, of a part that moved and is mapped
 * @win_free: give all of it back; @used: peers may still use the own part
 * @win_room: bytes that a member may take for buffers of the library's own
 * @put: copy to @rank's memory; NULL: by the CPU, through the mapping. All three
 *	return -EOWNERDEAD when that memory is gone
 * @get: copy from it
 * @atomic: on a word of it; *@old gets what it held
 * @crowd: CPUs that the members here share when they outnumber them, else 0; may
 *	bring ctx->crowd_look forward
 */
struct ub_backend {
	const char *name;
	int (*open)(struct ub_ctx *ctx, const struct ub_opts *o);
	void (*close)(struct ub_ctx *ctx, bool forked);
	int (*absent)(struct ub_ctx *ctx, int rank);
	int (*group_create)(struct ub_scope *s, const uint64_t key[2]);
	int (*group_shrink)(struct ub_scope *old, struct ub_scope **out);
	void (*group_leave)(struct ub_scope *s);
	int (*sleep)(struct ub_scope *s, uint64_t deadline);
	int (*arrive)(struct ub_scope *s, uint32_t op, uint64_t value,
		      uint64_t last);
	int (*test)(struct ub_scope *s);
	void (*kick)(struct ub_scope *s);
	void (*look)(struct ub_scope *s);
	int (*win_alloc)(struct ub_win *w, size_t bytes);
	void (*win_describe)(struct ub_win *w, void *mail);
	int (*win_attach)(struct ub_win *w, uint32_t rank, const void *mail);
	int (*win_move)(struct ub_win *w);
	int (*win_again)(struct ub_win *w, uint32_t rank, const void *mail);
	void (*win_free)(struct ub_win *w, bool used);
	uint64_t (*win_room)(struct ub_ctx *ctx);
	int (*put)(struct ub_win *w, uint32_t rank, size_t off, const void *src,
		   size_t len);
	int (*get)(struct ub_win *w, uint32_t rank, size_t off, void *dst,
		   size_t len);
	int (*atomic)(struct ub_win *w, uint32_t rank, size_t off, int width,
		      enum ub_atomic_op what, uint64_t operand,
		      uint64_t compare, uint64_t *old);
	int (*crowd)(struct ub_ctx *ctx);
};

extern const struct ub_backend ub_backend_host;
extern const struct ub_backend ub_backend_dev;

#endif /* UB_BACKEND_H */
