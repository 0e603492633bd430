/* SPDX-License-Identifier: MIT */
/*
 * Recovery of libub: windows with a mirror, and spare ranks. Included by libub.h.
 */
#ifndef LIBUB_RECOVER_H
#define LIBUB_RECOVER_H

#include "libub.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a lost member that still runs ---- */
/**
 * ub_win_move() - bring a window out of the reach of lost members
 * @s: collective over it: what ub_shrink() made of the window's scope
 * @win: the window, of a scope that has lost members. Nobody uses it meanwhile
 *
 * A node that only stood still may run on before it finds that it is fenced, and
 * store into what it had mapped. This gives each survivor's part other memory, with
 * the bytes copied, behind the same addresses; what the lost one stores afterwards
 * nobody sees, what it stored before is copied. Where nobody lost can store, as on
 * the host back end, it is a barrier. Parts of the lost stay lost.
 *
 * Return: 0 to all members, or to none; -EOWNERDEAD another one was lost: shrink
 * again, then call it again before the window is used; -ENOSPC no room for a second
 * copy of a part, and -EINVAL a member is not of the window's scope: some parts may
 * have moved and not be attached.
 */
UB_API int ub_win_move(struct ub_scope *s, struct ub_win *win);

/* ---- windows with a mirror ---- */
/*
 * What a mirrored window holds at a ub_checkpoint() is kept twice: by each member
 * for itself, and by its buddy, a member at another vertex of a level that the
 * program names. So it outlives a vertex of that level. Only the last checkpoint
 * that all members completed counts; a death within one leaves the former whole.
 * All that a program needs to go on belongs into the window, as the number of the
 * superstep does.
 */
/**
 * ub_win_create_mirrored() - a window that outlives its members
 * @s: collective over it; sizes may differ and be 0
 * @bytes: of this member. It takes three times as much memory, and twice the
 *	size of each member that it is the buddy of
 * @level: name of a level of the machine file, or "node": a buddy is at another
 *	vertex of it
 * @win: gets the window, zeroed, which also is its first checkpoint
 *
 * When it returns 0 to one member, all have made the window.
 *
 * Return: 0; -ENOENT no such level; -EINVAL all members are at one vertex of it,
 * or they gave different ones; -ENOSPC, -ENOMEM with a text that has the sizes
 */
UB_API int ub_win_create_mirrored(struct ub_scope *s, size_t bytes,
				  const char *level, struct ub_win **win);
/** ub_win_buddy() - who keeps a member's part beside itself
 * @win: the window
 * @rank: of the member, in the window's scope
 *
 * Return: the buddy's rank; -EINVAL no such rank, or no mirror. */
UB_API int ub_win_buddy(const struct ub_win *win, int rank);
/** ub_checkpoint() - keep what the mirrored windows of a scope hold now
 * @s: collective over it
 *
 * Call it right after a sync: nobody stores into these windows in between. It
 * copies the own parts and ends with a barrier; when that returns 0 to one member
 * all have completed the checkpoint.
 *
 * Return: 0; -EIO a member could not write its copy, and the former checkpoint
 * counts. */
UB_API int ub_checkpoint(struct ub_scope *s);
/** ub_win_mirror_get() - read a member's part as of the last checkpoint
 * @win: the window; also when members of its scope are lost
 * @rank: whose, in the window's scope
 * @off: where in it, bytes
 * @dst: to here
 * @len: bytes; may be 0
 *
 * From the member when it lives, else from its buddy. Not collective.
 *
 * Return: 0; -EINVAL no such rank, or no mirror; -ERANGE beyond the member's size;
 * -ENODATA the member and its buddy are lost; -EPERM called in a child of the
 * process that made the context. */
UB_API int ub_win_mirror_get(struct ub_win *win, int rank, size_t off, void *dst,
			     size_t len);

/* ---- spare ranks ---- */
/*
 * A job that was started with spares (ubrun --spares, ub_opts.spares) has ranks
 * beyond its size, which wait in ub_init() as long as nobody is lost. When the
 * world loses a member the survivors call ub_replace(): spares take the places of
 * the lost in a new world of the same size, and their ub_init() returns. Then all
 * call ub_win_rebuild() for each mirrored window, and go on.
 */
/** ub_rejoined() - did this rank take the place of a lost one
 * @ctx: the context
 *
 * Return: 1: it was a spare, and ub_init() returned in the midst of a job; 0. */
UB_API int ub_rejoined(const struct ub_ctx *ctx);
/**
 * ub_replace() - a new world with spares at the places of the lost
 * @s: the world, which has lost a member; it stays until ub_scope_exit(). The
 *	survivors call this together, and nothing else of @s after it
 * @world: gets the new world, ranks as in @s, and ub_world() gives it too. With
 *	-EOWNERDEAD another member died meanwhile and *@world can be replaced in turn
 *
 * Survivors of other boards come when they hear of the loss, at their next sync of
 * @s; who is early waits for them.
 *
 * Return: 0; -ENOENT there are fewer spares than lost members, now and for the
 * rest of the job: ub_shrink() goes on without; -EINVAL @s is not the world, or
 * nobody is lost; -ETIMEDOUT the time-out passed, call it again; -ESTALE this
 * member was taken for dead; -ENOSPC, -ENOMEM
 */
UB_API int ub_replace(struct ub_scope *s, struct ub_scope **world);
/** ub_replaced() - is a member one that ub_replace() brought in
 * @s: the scope that it made
 * @rank: of the member
 *
 * Return: 1: a spare, which has nothing yet; 0. */
UB_API int ub_replaced(const struct ub_scope *s, int rank);
/**
 * ub_win_rebuild() - a mirrored window again, on the scope of ub_replace()
 * @s: collective over it
 * @bytes: of this member; those of @old's part of that rank
 * @level: as for ub_win_create_mirrored()
 * @old: the window that this member has on a former scope; NULL: none, as a spare.
 *	It stays, to be freed when this has succeeded
 * @keep: with @old: 1: the part holds what @old's holds now; 0: what the last
 *	checkpoint holds. A spare's part is from the last checkpoint
 * @win: gets the window, whose checkpoint is the last one of @old
 *
 * When nobody has an old window it is ub_win_create_mirrored().
 *
 * Return: 0; -ENODATA a member and its buddy are both lost; -EINVAL sizes or
 * members are not those of @old; others as for ub_win_create_mirrored()
 */
UB_API int ub_win_rebuild(struct ub_scope *s, size_t bytes, const char *level,
			  struct ub_win *old, int keep, struct ub_win **win);

#ifdef __cplusplus
}
#endif

#endif /* LIBUB_RECOVER_H */
