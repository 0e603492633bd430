// SPDX-License-Identifier: GPL-2.0-only
/*
 * Own windows: the commands that export memory of this node. The memory and
 * the records are in slice.c.
 *
 * Invariant: a window is in its file's list from when its creator is told of
 * it until it ends; then it is the quarantine's.
 */
#include <crypto/blake2s.h>
#include <linux/slab.h>
#include "trace.h"
#include "ub.h"

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

static int win_attach_own(struct ub_file *file, struct ub_window *w)
{
	struct ub_fabric *f = file->fabric;
	struct ub_attachment *a = kzalloc(sizeof(*a), GFP_KERNEL_ACCOUNT);
	int err;

	if (!a)
		return -ENOMEM;
	a->at = (struct ub_place){
		.gva = w->gva,
		.length = w->length,
		.offset = ub_shm_slice(&f->geo, f->self) +
			  w->unit * UB_GVA_ALIGN,
		.generation = w->generation,
		.incarnation = w->incarnation,
		.home = f->self,
		.window = w->id,
	};
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
	ub_win_renew(f, w, token);
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
	w = ub_win_alloc(f, GFP_KERNEL_ACCOUNT);
	if (!w)
		return -ENOMEM;
	w->file = file;
	w->length = arg->length;
	w->rights = arg->rights;
	w->nunits = DIV_ROUND_UP(arg->length, UB_GVA_ALIGN);
	err = ub_win_reserve(file, w);
	if (err) {
		kvfree(w);
		return err;
	}
	ub_win_zero(f, w);
	win_publish(file, w, arg);
	err = win_attach_own(file, w);
	if (err) {
		mutex_lock(&f->win_lock);
		ub_win_end(f, w);
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

/*
 * A window that is in no list any more ends. It is unmapped here first: as soon
 * as it is in quarantine, with no peer to wait for, others may get its memory.
 */
static void win_end(struct ub_fabric *f, struct ub_window *w)
{
	down_write(&f->map_sem);
	ub_mmap_zap(f, w->gva, w->length);
	mutex_lock(&f->win_lock);
	ub_win_end(f, w);
	mutex_unlock(&f->win_lock);
	up_write(&f->map_sem);
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

	mutex_lock(&file->lock);
	w = win_own(file, arg->window);
	if (!w) {
		mutex_unlock(&file->lock);
		return -ENOENT;
	}
	list_del(&w->link);
	ub_attach_remove(file, w->gva);
	mutex_unlock(&file->lock);
	win_end(f, w);
	ub_member_poke_all(f);
	return 0;
}

/* A new token, and with @old other memory. file->lock is held. */
static int rotate(struct ub_file *file, struct ub_window *w,
		  struct ub_window *old, struct ub_win_id *arg)
{
	struct ub_fabric *f = file->fabric;
	struct ub_attachment *a = ub_win_find(file, w->gva);
	int err = old ? ub_win_move(f, w, old) : 0;

	if (err)
		return err;
	mutex_lock(&f->win_lock);
	ub_win_renew(f, w, arg->out_token);
	arg->out_generation = w->generation;
	mutex_unlock(&f->win_lock);
	if (!a)
		return 0;
	a->at.generation = arg->out_generation;
	a->at.offset = ub_shm_slice(&f->geo, f->self) + w->unit * UB_GVA_ALIGN;
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
	struct ub_window *w, *old = NULL;
	int err = -ENOENT;

	if (arg->flags & UB_ROTATE_FRESH) {
		old = ub_win_alloc(f, GFP_KERNEL_ACCOUNT);
		if (!old)
			return -ENOMEM;
	}
	/* The creator's pages come back at its next touch. */
	down_write(&f->map_sem);
	mutex_lock(&file->lock);
	w = win_own(file, arg->window);
	if (w) {
		ub_mmap_zap(f, w->gva, w->length);
		err = rotate(file, w, old, arg);
	}
	mutex_unlock(&file->lock);
	up_write(&f->map_sem);
	if (err)
		kvfree(old);
	else
		ub_member_poke_all(f);
	return err;
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
		win_end(f, w);
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
