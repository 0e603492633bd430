// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of this node's slice: window records, units, addresses, quarantine.
 *
 * Memory comes in units of 64 KiB, first fit. Global addresses are given out
 * in rising order, so that one is not used again soon.
 *
 * Invariants:
 *  - Only this node writes its window records. The generation is odd while a
 *    record changes and rises with every change.
 *  - A destroyed window's memory may still be mapped by peers. It stays in
 *    quarantine, and its record keeps the range with no rights, until every
 *    peer that was up then has raised its heartbeat twice since: a node
 *    compares its attachments with their records before it raises it, so the
 *    second rise means that it saw the change and zapped. A peer that left,
 *    that noticed its fence, or that has another incarnation or generation
 *    has zapped too. One that is fenced and silent may be resumed: its
 *    quarantine lasts until it shows one of these.
 *  - The quarantine outlives this node, in the records: a new life begins by
 *    putting everything that the records name into quarantine.
 *  - Ids in use are a prefix of the records, but for those freed meanwhile:
 *    the first record whose generation is 0 was never used, nor any after it.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include "netlink.h"
#include "trace.h"
#include "ub.h"

#define UB_CREATE_TRIES	8

/**
 * ub_win_alloc() - a window that has nothing yet
 * @f: the fabric
 * @gfp: how to allocate
 *
 * Context: as @gfp says.
 * Return: the window, to be freed with kvfree(), or NULL.
 */
struct ub_window *ub_win_alloc(struct ub_fabric *f, gfp_t gfp)
{
	struct ub_window *w = kvzalloc(struct_size(w, peer, f->geo.max_nodes), gfp);

	if (w)
		INIT_LIST_HEAD(&w->link);
	return w;
}

/* ---- records ---- */

/* Write a window's record; @hash is NULL when it has no token any more. */
static void rec_write(struct ub_fabric *f, struct ub_window *w,
		      const u64 *salt, const u64 *hash)
{
	struct ub_shm_window *rec = ub_shm_win(f, f->self, w->id);
	u64 generation = ub_ld(&rec->generation) & ~1ULL;
	int i;

	lockdep_assert_held(&f->win_lock);
	ub_swap(&rec->generation, generation + 1);
	ub_st(&rec->gva, w->gva);
	ub_st(&rec->length, w->length);
	ub_st(&rec->offset, ub_shm_slice(&f->geo, f->self) +
	      w->unit * UB_GVA_ALIGN);
	ub_st(&rec->incarnation, w->incarnation);
	ub_st(&rec->rights, w->rights);
	ub_st(&rec->id, w->id);
	for (i = 0; i < 2; i++)
		ub_st(&rec->salt[i], salt ? salt[i] : 0ULL);
	for (i = 0; i < 4; i++)
		ub_st(&rec->hash[i], hash ? hash[i] : 0ULL);
	w->generation = generation + 2;
	ub_swap(&rec->generation, w->generation);
	if (f->ops->tell_window)
		f->ops->tell_window(f, w->id, w->generation);
}

/**
 * ub_win_renew() - give a window a new token and generation
 * @f: the fabric, entered
 * @w: the window
 * @token: gets the token
 *
 * Context: win_lock is held.
 */
void ub_win_renew(struct ub_fabric *f, struct ub_window *w, u64 token[2])
{
	u64 salt[2], hash[4];

	get_random_bytes(token, 2 * sizeof(u64));
	get_random_bytes(salt, sizeof(salt));
	ub_win_hash(token, salt, hash);
	rec_write(f, w, salt, hash);
	ub_changed(UB_CHANGE_WINDOW);
}

/* ---- memory of the slice ---- */

static void units_set(struct ub_fabric *f, struct ub_window *w)
{
	lockdep_assert_held(&f->win_lock);
	bitmap_set(f->slice_map, w->unit, w->nunits);
	WRITE_ONCE(f->slice_free, f->slice_free - w->nunits * UB_GVA_ALIGN);
}

static void units_clear(struct ub_fabric *f, struct ub_window *w)
{
	lockdep_assert_held(&f->win_lock);
	bitmap_clear(f->slice_map, w->unit, w->nunits);
	WRITE_ONCE(f->slice_free, f->slice_free + w->nunits * UB_GVA_ALIGN);
}

static int units_find(struct ub_fabric *f, struct ub_window *w)
{
	unsigned long size = f->geo.slice_size / UB_GVA_ALIGN;
	unsigned long unit;

	unit = bitmap_find_next_zero_area(f->slice_map, size, 0, w->nunits, 0);
	if (unit + w->nunits > size)
		return -ENOSPC;
	w->unit = unit;
	return 0;
}

/* The next free run of global addresses. */
static void gva_find(struct ub_fabric *f, struct ub_window *w)
{
	u64 len = w->nunits * UB_GVA_ALIGN, off = f->next_off;
	struct ub_window *other;
	unsigned long id;

	lockdep_assert_held(&f->win_lock);
again:
	if (off < UB_GVA_FIRST || off + len > UB_GVA_GROUPS)
		off = UB_GVA_FIRST;
	xa_for_each(&f->windows, id, other) {
		u64 start = ub_gva_off(other->gva);
		u64 end = start + other->nunits * UB_GVA_ALIGN;

		/* The slice is much smaller than the range: this ends. */
		if (other != w && off < end && start < off + len) {
			off = end;
			goto again;
		}
	}
	w->gva = ub_gva(f->node, off);
	f->next_off = off + len;
}

/* Remember what each peer must pass before the memory is used again. */
static void quarantine_begin(struct ub_fabric *f, struct ub_window *w)
{
	u32 i;

	lockdep_assert_held(&f->win_lock);
	ub_mb();
	for (i = 0; i < f->geo.max_nodes; i++) {
		struct ub_pass *p = &w->peer[i];
		struct ub_node_view v;

		*p = (struct ub_pass){ 0 };
		ub_member_view(f, i, &v);	/* its word may just be fenced */
		if (i == f->self || UB_NODE_STATE(v.word) != UB_NODE_UP ||
		    !v.current_gen)
			continue;
		p->incarnation = v.incarnation;
		p->heartbeat = v.heartbeat;
	}
	list_add_tail(&w->link, &f->quarantine);
}

static bool quarantine_over(struct ub_fabric *f, struct ub_window *w)
{
	u32 i;

	for (i = 0; i < f->geo.max_nodes; i++) {
		struct ub_pass *p = &w->peer[i];
		struct ub_node_view v;

		if (!p->incarnation)
			continue;
		/* Just changing: look again at the next tick. */
		if (!ub_member_view(f, i, &v) &&
		    UB_NODE_STATE(v.word) != UB_NODE_EMPTY)
			return false;
		if (v.current_gen && v.incarnation == p->incarnation &&
		    UB_NODE_STATE(v.word) == UB_NODE_UP &&
		    v.heartbeat - p->heartbeat < 2)
			return false;
		p->incarnation = 0;
	}
	return true;
}

/**
 * ub_win_tick() - give memory whose quarantine is over back to the slice
 * @f: the fabric, up
 *
 * Context: the tick; no locks.
 */
void ub_win_tick(struct ub_fabric *f)
{
	struct ub_window *w, *next;
	bool freed = false;

	mutex_lock(&f->win_lock);
	list_for_each_entry_safe(w, next, &f->quarantine, link) {
		if (!quarantine_over(f, w))
			continue;
		units_clear(f, w);
		w->gva = 0;
		w->length = 0;
		rec_write(f, w, NULL, NULL);
		xa_erase(&f->windows, w->id);
		list_del(&w->link);
		kvfree(w);
		freed = true;
	}
	if (freed) {
		WRITE_ONCE(f->freed, f->freed + 1);
		ub_changed(UB_CHANGE_WINDOW);
	}
	mutex_unlock(&f->win_lock);
	if (freed)
		wake_up_all(&f->win_wq);
}

/**
 * ub_win_forget() - drop what is known of the slice; shared memory is left
 * @f: the fabric, not up
 *
 * Windows of open files stay with them, but out of the table.
 *
 * Context: may sleep; no locks.
 */
void ub_win_forget(struct ub_fabric *f)
{
	struct ub_window *w, *next;
	unsigned long id;

	mutex_lock(&f->win_lock);
	xa_for_each(&f->windows, id, w)
		xa_erase(&f->windows, id);
	list_for_each_entry_safe(w, next, &f->quarantine, link) {
		list_del(&w->link);
		kvfree(w);
	}
	mutex_unlock(&f->win_lock);
}

/* Does a record of a former life name memory that lies in the own slice? */
static bool rec_usable(struct ub_fabric *f, struct ub_window *w, u64 offset)
{
	u64 start = ub_shm_slice(&f->geo, f->self);

	if (!ub_gva_range_ok(w->gva, w->length) ||
	    !ub_gva_inside(offset, w->length, start, f->geo.slice_size) ||
	    (offset - start) % UB_GVA_ALIGN)
		return false;
	w->unit = (offset - start) / UB_GVA_ALIGN;
	w->nunits = DIV_ROUND_UP(w->length, UB_GVA_ALIGN);
	return find_next_bit(f->slice_map, w->unit + w->nunits, w->unit) >=
	       w->unit + w->nunits;
}

/**
 * ub_win_reset() - begin a life: everything of a former one to quarantine
 * @f: the fabric; its record is claimed
 *
 * Context: may sleep; no locks.
 * Return: 0 or -ENOMEM.
 */
int ub_win_reset(struct ub_fabric *f)
{
	u32 id;

	ub_win_forget(f);
	mutex_lock(&f->win_lock);
	bitmap_zero(f->slice_map, f->geo.slice_size / UB_GVA_ALIGN);
	f->slice_free = f->geo.slice_size;
	f->next_off = (u64)get_random_u32() << 9 & ~(UB_GVA_ALIGN - 1);
	for (id = 0; id < f->geo.max_wins; id++) {
		struct ub_shm_window *rec = ub_shm_win(f, f->self, id);
		struct ub_window *w;

		if (!ub_ld(&rec->generation))
			break;
		w = ub_win_alloc(f, GFP_KERNEL);
		if (!w) {
			mutex_unlock(&f->win_lock);
			return -ENOMEM;
		}
		w->id = id;
		w->gva = ub_ld(&rec->gva);
		w->length = ub_ld(&rec->length);
		w->incarnation = f->incarnation;
		if (!w->length || !rec_usable(f, w, ub_ld(&rec->offset)) ||
		    xa_err(xa_store(&f->windows, id, w, GFP_KERNEL))) {
			w->gva = 0;
			w->length = 0;
			rec_write(f, w, NULL, NULL);
			kvfree(w);
			continue;
		}
		rec_write(f, w, NULL, NULL);
		units_set(f, w);
		quarantine_begin(f, w);
	}
	mutex_unlock(&f->win_lock);
	return 0;
}

/* ---- for the commands ---- */

static int win_reserve(struct ub_fabric *f, struct ub_window *w)
{
	int err;

	mutex_lock(&f->win_lock);
	err = units_find(f, w);
	if (!err)
		err = xa_alloc(&f->windows, &w->id, w,
			       XA_LIMIT(0, f->geo.max_wins - 1), GFP_KERNEL);
	if (err) {
		mutex_unlock(&f->win_lock);
		return err == -EBUSY ? -ENOSPC : err;
	}
	units_set(f, w);
	gva_find(f, w);
	w->incarnation = f->incarnation;
	mutex_unlock(&f->win_lock);
	return 0;
}

/* May there be room, now or soon, where there was none at @freed? */
static bool room_later(struct ub_fabric *f, u32 freed)
{
	bool ret;

	mutex_lock(&f->win_lock);
	ret = f->freed != freed || !list_empty(&f->quarantine);
	mutex_unlock(&f->win_lock);
	return ret;
}

/**
 * ub_win_reserve() - reserve id, memory and addresses for a window
 * @file: the lane that makes it
 * @w: the window; its units are set
 *
 * When there is no room and some is in quarantine, waits for some ticks.
 *
 * Context: may sleep; the fabric is not entered. On success it is.
 * Return: 0; -ENOSPC; -EINTR when killed; what ub_file_enter() returns.
 */
int ub_win_reserve(struct ub_file *file, struct ub_window *w)
{
	struct ub_fabric *f = file->fabric;
	int tries, err;

	for (tries = 0; ; tries++) {
		u32 freed = READ_ONCE(f->freed);
		long left;

		err = ub_file_enter(file);
		if (err)
			return err;
		err = win_reserve(f, w);
		if (!err)
			return 0;
		if (err == -ENOSPC && tries < UB_CREATE_TRIES)
			ub_member_poke_all(f);
		ub_fabric_exit(f);
		if (err != -ENOSPC || tries == UB_CREATE_TRIES ||
		    !room_later(f, freed))
			return err;
		left = wait_event_killable_timeout(f->win_wq,
						   READ_ONCE(f->freed) != freed ||
						   READ_ONCE(f->state) != UB_FABRIC_UP,
						   msecs_to_jiffies(READ_ONCE(f->period_ms)) + 1);
		if (left < 0)
			return -EINTR;
	}
}

static void *unit_mem(struct ub_fabric *f, u32 unit)
{
	return f->mem + ub_shm_slice(&f->geo, f->self) + unit * UB_GVA_ALIGN;
}

/**
 * ub_win_zero() - clear a window's memory
 * @f: the fabric, entered
 * @w: the window, reserved
 *
 * Context: may sleep.
 */
void ub_win_zero(struct ub_fabric *f, struct ub_window *w)
{
	u32 i;

	for (i = 0; i < w->nunits; i++) {
		ub_clear(unit_mem(f, w->unit + i), UB_GVA_ALIGN);
		cond_resched();
	}
}

/**
 * ub_win_move() - give a window other memory; what it had goes to quarantine
 * @f: the fabric, entered
 * @w: the window; ub_win_renew() must follow
 * @old: from ub_win_alloc(); the old memory's, when it succeeds
 *
 * The old memory has a record before the window's own names the new, so that a
 * next life of this node finds it whenever this one ends.
 *
 * Context: may sleep; map_sem is held for write, the window is mapped nowhere
 *	on this node; takes win_lock.
 * Return: 0, -ENOSPC or -ENOMEM.
 */
int ub_win_move(struct ub_fabric *f, struct ub_window *w, struct ub_window *old)
{
	u32 i;
	int err;

	lockdep_assert_held_write(&f->map_sem);
	old->length = w->length;
	old->nunits = w->nunits;
	err = win_reserve(f, old);
	if (err)
		return err;
	for (i = 0; i < w->nunits; i++) {
		ub_instant();
		memcpy(unit_mem(f, old->unit + i), unit_mem(f, w->unit + i),
		       UB_GVA_ALIGN);
		cond_resched();
	}
	mutex_lock(&f->win_lock);
	swap(w->unit, old->unit);
	ub_win_end(f, old);
	mutex_unlock(&f->win_lock);
	return 0;
}

/**
 * ub_win_end() - a window goes to quarantine
 * @f: the fabric, entered
 * @w: the window; in no file's list
 *
 * Context: win_lock is held.
 */
void ub_win_end(struct ub_fabric *f, struct ub_window *w)
{
	lockdep_assert_held(&f->win_lock);
	w->file = NULL;
	w->rights = 0;
	rec_write(f, w, NULL, NULL);
	ub_changed(UB_CHANGE_WINDOW);
	trace_ub_win_ended(f->node, w->gva, w->length, w->generation);
	quarantine_begin(f, w);
}
