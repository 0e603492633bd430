// SPDX-License-Identifier: GPL-2.0-only
/*
 * Own windows: memory of this node's slice, exported.
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
#include <crypto/blake2s.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "trace.h"
#include "ub.h"

#define UB_CREATE_TRIES	8

static struct ub_window *win_alloc(struct ub_fabric *f, gfp_t gfp)
{
	struct ub_window *w = kvzalloc(struct_size(w, peer, f->geo.max_nodes), gfp);

	if (w)
		INIT_LIST_HEAD(&w->link);
	return w;
}

/**
 * ub_win_hash() - what a window record shows of its token
 * @token: the token
 * @salt: of the record
 * @hash: gets the keyed hash
 *
 * Context: any.
 */
void ub_win_hash(const u64 token[2], const u64 salt[2], u64 hash[4])
{
	ub_blake2s((const u8 *)salt, 2 * sizeof(u64), (const u8 *)token,
		   2 * sizeof(u64), (u8 *)hash, 4 * sizeof(u64));
}

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
	ub_st(&rec->offset, f->geo.slice_off + f->self * f->geo.slice_size +
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
}

/* Give a window a new token and generation. */
static void rec_renew(struct ub_fabric *f, struct ub_window *w, u64 token[2])
{
	u64 salt[2], hash[4];

	get_random_bytes(token, 2 * sizeof(u64));
	get_random_bytes(salt, sizeof(salt));
	ub_win_hash(token, salt, hash);
	rec_write(f, w, salt, hash);
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
	if (freed)
		WRITE_ONCE(f->freed, f->freed + 1);
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
	u64 start = f->geo.slice_off + f->self * f->geo.slice_size;

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
		w = win_alloc(f, GFP_KERNEL);
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

/* ---- commands ---- */

/* Reserve id, memory and addresses. */
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

/*
 * Like win_reserve(), but when there is no room and some is in quarantine,
 * wait for some ticks. On success the fabric is entered.
 */
static int win_reserve_wait(struct ub_file *file, struct ub_window *w)
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
		    list_empty(&f->quarantine))
			return err;
		left = wait_event_killable_timeout(f->win_wq,
						   READ_ONCE(f->freed) != freed ||
						   READ_ONCE(f->state) != UB_FABRIC_UP,
						   msecs_to_jiffies(f->period_ms) + 1);
		if (left < 0)
			return -EINTR;
	}
}

static void win_zero(struct ub_fabric *f, struct ub_window *w)
{
	char *p = f->mem + f->geo.slice_off + f->self * f->geo.slice_size +
		  w->unit * UB_GVA_ALIGN;
	u32 i;

	for (i = 0; i < w->nunits; i++) {
		memset(p + i * UB_GVA_ALIGN, 0, UB_GVA_ALIGN);
		cond_resched();
	}
}

/* A window that nobody was told of, or whose end was told. */
static void win_end(struct ub_fabric *f, struct ub_window *w)
{
	lockdep_assert_held(&f->win_lock);
	w->rights = 0;
	rec_write(f, w, NULL, NULL);
	trace_ub_win_ended(f->node, w->gva, w->length, w->generation);
	quarantine_begin(f, w);
}

static int win_attach_own(struct ub_file *file, struct ub_window *w)
{
	struct ub_fabric *f = file->fabric;
	struct ub_attachment *a = kzalloc(sizeof(*a), GFP_KERNEL_ACCOUNT);
	int err;

	if (!a)
		return -ENOMEM;
	a->gva = w->gva;
	a->length = w->length;
	a->offset = f->geo.slice_off + f->self * f->geo.slice_size +
		    w->unit * UB_GVA_ALIGN;
	a->generation = w->generation;
	a->incarnation = w->incarnation;
	a->home = f->self;
	a->window = w->id;
	a->rights = w->rights;
	err = ub_attach_insert(file, a);
	if (err)
		kfree(a);
	return err;
}

static void win_publish(struct ub_file *file, struct ub_window *w,
			struct ub_win_create *arg)
{
	struct ub_fabric *f = file->fabric;
	u64 token[2];

	mutex_lock(&f->win_lock);
	rec_renew(f, w, token);
	mutex_unlock(&f->win_lock);
	arg->out_desc = (struct ub_win_desc){
		.fabric = { f->fabric_id[0], f->fabric_id[1] },
		.incarnation = w->incarnation,
		.generation = w->generation,
		.gva = w->gva,
		.length = w->length,
		.node = f->node,
		.window = w->id,
		.rights = w->rights,
	};
	arg->out_token[0] = token[0];
	arg->out_token[1] = token[1];
	trace_ub_win_made(f->node, w->gva, w->length, w->generation);
}

/**
 * ub_win_create() - UB_IOC_WIN_CREATE
 * @file: the file
 * @arg: its struct
 *
 * Context: may sleep; the fabric is not entered.
 * Return: 0 or -errno as in the uAPI.
 */
long ub_win_create(struct ub_file *file, struct ub_win_create *arg)
{
	struct ub_fabric *f = file->fabric;
	struct ub_window *w;
	int err;

	if (!arg->length || !arg->rights || (arg->rights & ~UB_WIN_RIGHTS))
		return -EINVAL;
	if (arg->length > f->geo.slice_size)
		return -EOVERFLOW;
	w = win_alloc(f, GFP_KERNEL_ACCOUNT);
	if (!w)
		return -ENOMEM;
	w->length = arg->length;
	w->rights = arg->rights;
	w->nunits = DIV_ROUND_UP(arg->length, UB_GVA_ALIGN);
	err = win_reserve_wait(file, w);
	if (err) {
		kvfree(w);
		return err;
	}
	win_zero(f, w);
	win_publish(file, w, arg);
	err = win_attach_own(file, w);
	if (err) {
		mutex_lock(&f->win_lock);
		win_end(f, w);
		mutex_unlock(&f->win_lock);
	} else {
		mutex_lock(&file->lock);
		list_add_tail(&w->link, &file->windows);
		mutex_unlock(&file->lock);
	}
	ub_fabric_exit(f);
	return err;
}

static struct ub_window *win_own(struct ub_file *file, u32 id)
{
	struct ub_window *w;

	lockdep_assert_held(&file->lock);
	list_for_each_entry(w, &file->windows, link)
		if (w->id == id)
			return w;
	return NULL;
}

/**
 * ub_win_destroy() - UB_IOC_WIN_DESTROY
 * @file: the file
 * @arg: its struct
 *
 * Context: may sleep; the fabric is entered.
 * Return: 0 or -errno as in the uAPI.
 */
long ub_win_destroy(struct ub_file *file, struct ub_win_id *arg)
{
	struct ub_fabric *f = file->fabric;
	struct ub_window *w;
	u64 gva, length;

	mutex_lock(&file->lock);
	w = win_own(file, arg->window);
	if (!w) {
		mutex_unlock(&file->lock);
		return -ENOENT;
	}
	list_del(&w->link);
	gva = w->gva;
	length = w->length;
	ub_attach_remove(file, gva);
	mutex_lock(&f->win_lock);
	win_end(f, w);
	mutex_unlock(&f->win_lock);
	mutex_unlock(&file->lock);
	ub_mmap_revoke(f, gva, length);
	ub_member_poke_all(f);
	return 0;
}

/**
 * ub_win_rotate() - UB_IOC_WIN_ROTATE
 * @file: the file
 * @arg: its struct
 *
 * Context: may sleep; the fabric is entered.
 * Return: 0 or -errno as in the uAPI.
 */
long ub_win_rotate(struct ub_file *file, struct ub_win_id *arg)
{
	struct ub_fabric *f = file->fabric;
	struct ub_attachment *a;
	struct ub_window *w;
	u64 gva, length;

	mutex_lock(&file->lock);
	w = win_own(file, arg->window);
	if (!w) {
		mutex_unlock(&file->lock);
		return -ENOENT;
	}
	gva = w->gva;
	length = w->length;
	mutex_lock(&f->win_lock);
	rec_renew(f, w, arg->out_token);
	arg->out_generation = w->generation;
	mutex_unlock(&f->win_lock);
	a = ub_win_find(file, gva);
	if (a)
		a->generation = arg->out_generation;
	mutex_unlock(&file->lock);
	/* The creator's pages come back at its next touch. */
	ub_mmap_revoke(f, gva, length);
	ub_member_poke_all(f);
	return 0;
}

/**
 * ub_win_release() - a file closes: its attachments and windows end
 * @file: the file; nobody uses it any more
 *
 * Context: may sleep; no locks.
 */
void ub_win_release(struct ub_file *file)
{
	struct ub_fabric *f = file->fabric;
	struct ub_window *w, *next;
	bool ended = false, up = !ub_fabric_enter_now(f);

	list_for_each_entry_safe(w, next, &file->windows, link) {
		u64 gva = w->gva, length = w->length;

		list_del(&w->link);
		if (!up || w->incarnation != f->incarnation) {
			/* The table was forgotten, or will be. */
			mutex_lock(&f->win_lock);
			if (xa_load(&f->windows, w->id) == w)
				xa_erase(&f->windows, w->id);
			mutex_unlock(&f->win_lock);
			kvfree(w);
			continue;
		}
		mutex_lock(&f->win_lock);
		win_end(f, w);
		mutex_unlock(&f->win_lock);
		ub_mmap_revoke(f, gva, length);
		ended = true;
	}
	if (up && ended)
		ub_member_poke_all(f);
	if (up)
		ub_fabric_exit(f);
	while (!RB_EMPTY_ROOT(&file->attachments)) {
		struct ub_attachment *a = rb_entry(rb_first(&file->attachments),
						   struct ub_attachment, node);

		rb_erase(&a->node, &file->attachments);
		kfree(a);
	}
}
