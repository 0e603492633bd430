// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copied windows at barriers: arrive writes back, release invalidates.
 *
 * Invariants:
 *  - A page is unmapped in all processes before it is diffed. Until its bytes
 *    are at their home it stays "writing": a store faults and waits.
 *  - Write-backs of a node are one after the other, so when one's turn is over
 *    everything that was dirty before it is placed, whoever wrote it back.
 *  - A copy is dirty only while it is valid: whatever makes copies invalid
 *    turns the dirty ones into "writing" under the same hold of the lock.
 *  - Bytes that cannot be placed end the window on this node, and every lane
 *    that had it tells at its next arrival.
 */
#include <linux/mm.h>
#include "copied.h"
#include "trace.h"
#include "ub.h"

/* ---- writing back ---- */

/* Turn a dirty copy into one that is being written, on @out. */
static void take(struct ub_copied *c, struct ub_copy *copy, struct list_head *out)
{
	lockdep_assert_held(&c->lock);
	copy->writing = true;
	list_move_tail(&copy->out, out);
}

/* The same for all; neighbours are unmapped at once. */
static void take_all(struct ub_copied *c, struct list_head *out)
{
	unsigned long first = 0, n = 0;
	struct ub_copy *copy;

	lockdep_assert_held(&c->lock);
	list_splice_tail_init(&c->dirty, out);
	list_for_each_entry(copy, out, out) {
		copy->writing = true;
		if (n && copy->index == first + n) {
			n++;
			continue;
		}
		if (n && !ub_copied_off(c, UB_COPIED_NO_UNMAP))
			ub_copied_unmap(c, first, n);
		first = copy->index;
		n = 1;
	}
	if (n && !ub_copied_off(c, UB_COPIED_NO_UNMAP))
		ub_copied_unmap(c, first, n);
}

/* Write @n operations; a home that cannot take them loses the window. */
static void push(struct ub_copied *c, u32 n)
{
	u32 i;

	lockdep_assert_held(&c->flush);
	if (ub_copied_off(c, UB_COPIED_NO_WRITE_BACK))
		return;
	ub_io_run(c->out, n);
	for (i = 0; i < n; i++)
		if (c->out[i].status && c->out[i].status != -ESHUTDOWN)
			ub_copied_end(c, &c->out[i].at, c->out[i].status);
}

static void write_back(struct ub_copied *c, struct list_head *out)
{
	struct ub_copy *copy;
	u32 n = 0;

	lockdep_assert_held(&c->flush);
	list_for_each_entry(copy, out, out) {
		u32 at = 0;

		for (;;) {
			struct ub_io *io = &c->out[n];

			ub_io_init(io, c->fabric, UB_IO_WRITE, &copy->at);
			io->gva = (u64)copy->index << PAGE_SHIFT;
			io->buf = page_address(copy->page);
			io->nruns = ub_diff(io->buf, page_address(copy->twin),
					    PAGE_SIZE, &at, io->run, UB_IO_RUNS);
			if (!io->nruns)
				break;
			if (++n == UB_COPIED_OUT) {
				push(c, n);
				n = 0;
			}
		}
		ub_count(c->fabric, copies_written);
	}
	push(c, n);
}

/* What was taken is written, and clean. */
static void finish(struct ub_copied *c, struct list_head *out)
{
	struct ub_copy *copy, *next;

	if (list_empty(out))
		return;
	write_back(c, out);
	mutex_lock(&c->lock);
	list_for_each_entry_safe(copy, next, out, out) {
		list_del_init(&copy->out);
		WRITE_ONCE(copy->writing, false);
		ub_copy_clean(c, copy);
	}
	mutex_unlock(&c->lock);
	wake_up_all(&c->wq);
}

/**
 * ub_copied_flush_all() - write back all that is dirty on this node
 * @c: the node's copies
 *
 * What somebody else is just writing back is placed, too, when it returns.
 *
 * Context: may sleep, bounded; no locks, not between enter and exit.
 */
void ub_copied_flush_all(struct ub_copied *c)
{
	LIST_HEAD(out);

	mutex_lock(&c->flush);
	mutex_lock(&c->lock);
	take_all(c, &out);
	mutex_unlock(&c->lock);
	finish(c, &out);
	mutex_unlock(&c->flush);
}

/**
 * ub_copied_write_old() - write back some of the oldest
 * @c: the node's copies
 * @max: how many
 *
 * Context: may sleep, bounded; no locks.
 */
void ub_copied_write_old(struct ub_copied *c, u32 max)
{
	struct ub_copy *copy;
	LIST_HEAD(out);

	mutex_lock(&c->flush);
	mutex_lock(&c->lock);
	while (max-- && !list_empty(&c->dirty)) {
		copy = list_first_entry(&c->dirty, struct ub_copy, out);
		take(c, copy, &out);
		if (!ub_copied_off(c, UB_COPIED_NO_UNMAP))
			ub_copied_unmap(c, copy->index, 1);
	}
	mutex_unlock(&c->lock);
	finish(c, &out);
	mutex_unlock(&c->flush);
}

/*
 * Copies in a range of pages: make those that are clean be read again, if
 * @drop, and take the dirty ones, if @out; true when one must be waited for.
 */
static bool range(struct ub_copied *c, u64 gva, u64 len, bool drop,
		  struct list_head *out)
{
	unsigned long last = (gva + len - 1) >> PAGE_SHIFT, index;
	struct ub_copy *copy;
	bool busy = false;

	lockdep_assert_held(&c->lock);
	xa_for_each_range(&c->copies, index, copy, gva >> PAGE_SHIFT, last) {
		bool unmap = drop && copy->seen;

		if (copy->twin && out) {
			take(c, copy, out);
			unmap |= !ub_copied_off(c, UB_COPIED_NO_UNMAP);
		} else if (copy->twin) {
			busy = true;
			continue;
		}
		/* A READ that is on its way is not taken either. */
		if (drop)
			copy->seen = 0;
		if (unmap)
			ub_copied_unmap(c, index, 1);
	}
	return busy;
}

/**
 * ub_copied_flush() - write back what is dirty in a range
 * @c: the node's copies
 * @gva: start
 * @len: bytes, not 0
 * @drop: what is there is read again at the next touch
 *
 * Context: may sleep, bounded; no locks, not between enter and exit.
 */
void ub_copied_flush(struct ub_copied *c, u64 gva, u64 len, bool drop)
{
	LIST_HEAD(out);
	bool busy;

	mutex_lock(&c->lock);
	busy = range(c, gva, len, drop, NULL);
	mutex_unlock(&c->lock);
	if (!busy)
		return;
	mutex_lock(&c->flush);
	mutex_lock(&c->lock);
	range(c, gva, len, drop, &out);
	mutex_unlock(&c->lock);
	finish(c, &out);
	mutex_unlock(&c->flush);
}

/* ---- release ---- */

/* Was that barrier's release done by another lane of the node? */
static bool released(struct ub_copied *c, const struct ub_gmember *gm)
{
	struct ub_released *r = &c->released[gm->slot];

	lockdep_assert_held(&c->lock);
	if (r->word == gm->word && r->epoch >= gm->bar.epoch)
		return true;
	r->word = gm->word;
	r->epoch = gm->bar.epoch;
	return false;
}

/* Pages of windows of other nodes; groups' and own ones stay. */
static void unmap_copies(struct ub_copied *c)
{
	unsigned long first = 0, n = 0, index;
	struct ub_copy *copy;

	lockdep_assert_held(&c->lock);
	xa_for_each(&c->copies, index, copy) {
		if (copy->seen + 1 != c->number)
			continue;
		if (n && index == first + n) {
			n++;
			continue;
		}
		if (n)
			ub_copied_unmap(c, first, n);
		first = index;
		n = 1;
	}
	if (n)
		ub_copied_unmap(c, first, n);
}

/**
 * ub_copied_release() - a barrier is complete: copies are read again
 * @gm: a member of it
 *
 * Once per node and epoch. Lanes of other groups may be in a superstep: what
 * they have stored is written back and read again.
 *
 * Context: may sleep, bounded; not between enter and exit; driver is held.
 */
void ub_copied_release(struct ub_gmember *gm)
{
	struct ub_copied *c = gm->fabric->copied;
	LIST_HEAD(out);

	mutex_lock(&c->flush);
	mutex_lock(&c->lock);
	if (!released(c, gm) && !ub_copied_off(c, UB_COPIED_NO_INVALIDATE)) {
		c->number++;
		unmap_copies(c);
		take_all(c, &out);
	}
	mutex_unlock(&c->lock);
	finish(c, &out);
	mutex_unlock(&c->flush);
}
