// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attachments: windows of any node that a file may use.
 *
 * Invariants:
 *  - An attachment's range lies in the slice of its home, whatever the home
 *    wrote into its record: a hostile home spoils its own slice only.
 *  - Attachments of a file do not overlap.
 *  - An attachment ends when its record shows another generation or its home
 *    is not alive in that incarnation. It is checked at each use. The entry
 *    stays, to give the right error, until it is detached or attached anew.
 *  - All of a home's records are read once, into a local copy, then checked.
 */
#include <linux/slab.h>
#include "trace.h"
#include "ub.h"

/* ---- the tree of a file ---- */

/**
 * ub_win_find() - attachment that holds an address
 * @file: the file
 * @gva: the address
 *
 * Context: file->lock is held.
 * Return: the attachment, which may have ended, or NULL.
 */
struct ub_attachment *ub_win_find(struct ub_file *file, u64 gva)
{
	struct rb_node *n = file->attachments.rb_node;

	lockdep_assert_held(&file->lock);
	while (n) {
		struct ub_attachment *a = rb_entry(n, struct ub_attachment, node);

		if (gva < a->at.gva)
			n = n->rb_left;
		else if (gva - a->at.gva >= a->at.length)
			n = n->rb_right;
		else
			return a;
	}
	return NULL;
}

/*
 * Takes away ended attachments that are in the way; an overlap stays. What was
 * taken away is to be revoked: *@from to *@to.
 */
static struct ub_attachment *attach_overlap(struct ub_file *file, u64 gva,
					    u64 length, u64 *from, u64 *to)
{
	struct rb_node *n, *next;

	for (n = rb_first(&file->attachments); n; n = next) {
		struct ub_attachment *a = rb_entry(n, struct ub_attachment, node);

		next = rb_next(n);
		if (a->at.gva >= gva + length || gva >= a->at.gva + a->at.length)
			continue;
		if (!ub_win_check(file->fabric, a))
			return a;
		*from = min(*from, a->at.gva);
		*to = max(*to, a->at.gva + a->at.length);
		rb_erase(n, &file->attachments);
		kfree(a);
	}
	return NULL;
}

/**
 * ub_attach_insert() - give a file an attachment
 * @file: the file
 * @a: the attachment; the file's from now on
 *
 * Context: may sleep; the fabric is entered; takes file->lock.
 * Return: 0, or -EEXIST when one is there.
 */
int ub_attach_insert(struct ub_file *file, struct ub_attachment *a)
{
	struct rb_node **link = &file->attachments.rb_node, *parent = NULL;
	u64 from = U64_MAX, to = 0;

	mutex_lock(&file->lock);
	if (attach_overlap(file, a->at.gva, a->at.length, &from, &to)) {
		mutex_unlock(&file->lock);
		return -EEXIST;
	}
	link = &file->attachments.rb_node;
	while (*link) {
		struct ub_attachment *b;

		parent = *link;
		b = rb_entry(parent, struct ub_attachment, node);
		link = a->at.gva < b->at.gva ? &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&a->node, parent, link);
	rb_insert_color(&a->node, &file->attachments);
	mutex_unlock(&file->lock);
	if (to)
		ub_mmap_revoke(file->fabric, from, to - from);
	return 0;
}

/**
 * ub_attach_remove() - take a file's attachment away; mappings are left
 * @file: the file
 * @gva: in it
 *
 * Context: file->lock is held.
 */
void ub_attach_remove(struct ub_file *file, u64 gva)
{
	struct ub_attachment *a = ub_win_find(file, gva);

	if (!a)
		return;
	rb_erase(&a->node, &file->attachments);
	kfree(a);
}

/* ---- checks ---- */

/**
 * ub_win_check() - may an attachment still be used
 * @f: the fabric, entered
 * @a: the attachment
 *
 * Context: any; the shared memory is there.
 * Return: 0; -EOWNERDEAD the home is lost, or bytes were that were on their
 *	way to it; -ESTALE another generation.
 */
int ub_win_check(struct ub_fabric *f, const struct ub_attachment *a)
{
	if (a->dead || !ub_member_alive(f, a->at.home, a->at.incarnation))
		return -EOWNERDEAD;
	if (ub_ld(&ub_shm_win(f, a->at.home, a->at.window)->generation) != a->at.generation)
		return -ESTALE;
	return 0;
}

/* Read a window record, once; false when it is empty or just changing. */
static bool rec_read(struct ub_fabric *f, u32 home, u32 id,
		     struct ub_shm_window *rec)
{
	struct ub_shm_window *r = ub_shm_win(f, home, id);
	int i;

	rec->generation = ub_ld(&r->generation);
	rec->gva = ub_ld(&r->gva);
	rec->length = ub_ld(&r->length);
	rec->offset = ub_ld(&r->offset);
	rec->incarnation = ub_ld(&r->incarnation);
	rec->rights = ub_ld(&r->rights);
	for (i = 0; i < 2; i++)
		rec->salt[i] = ub_ld(&r->salt[i]);
	for (i = 0; i < 4; i++)
		rec->hash[i] = ub_ld(&r->hash[i]);
	return rec->generation && !(rec->generation & 1) &&
	       ub_ld(&r->generation) == rec->generation;
}

/* Is a record sound? Its home may have written anything. */
static bool rec_sound(struct ub_fabric *f, u32 home, u32 node,
		      const struct ub_shm_window *rec)
{
	return ub_gva_range_ok(rec->gva, rec->length) &&
	       ub_gva_node(rec->gva) == node &&
	       rec->gva % UB_GVA_ALIGN == 0 &&
	       rec->offset % UB_GVA_ALIGN == 0 &&
	       ub_gva_inside(rec->offset, rec->length,
			     ub_shm_slice(&f->geo, home), f->geo.slice_size);
}

static int attach_token(const struct ub_win_attach *arg,
			const struct ub_shm_window *rec)
{
	u64 token[2] = { arg->token[0], arg->token[1] }, hash[4], differ = 0;
	int i;

	ub_win_hash(token, rec->salt, hash);
	/* All words, always: the time tells nothing. */
	for (i = 0; i < 4; i++) {
		differ |= hash[i] ^ rec->hash[i];
		OPTIMIZER_HIDE_VAR(differ);
	}
	return differ ? -EACCES : 0;
}

/* Find the home of a descriptor, alive. */
static int attach_home(struct ub_fabric *f, const struct ub_win_desc *d)
{
	int home;

	if (d->fabric[0] != f->fabric_id[0] || d->fabric[1] != f->fabric_id[1])
		return -ENOENT;
	home = ub_member_index(f, d->node, d->incarnation);
	if (home < 0)
		return home;
	if (!ub_member_alive(f, home, d->incarnation) ||
	    ub_copied_dead(f, d->gva, d->generation))
		return -EOWNERDEAD;
	return d->window < f->geo.max_wins ? home : -ENOENT;
}

/**
 * ub_win_admit() - may a window be attached: what its home's record says
 * @f: the fabric
 * @arg: the request
 * @home: record index of the home
 * @rec: gets the record
 *
 * Context: any; the memory that has the record is there.
 * Return: 0; -ESTALE another generation; -ENOENT the descriptor is of no
 *	window; -EACCES the token or the rights.
 */
int ub_win_admit(struct ub_fabric *f, const struct ub_win_attach *arg,
		 u32 home, struct ub_shm_window *rec)
{
	const struct ub_win_desc *d = &arg->desc;

	if (d->window >= f->geo.max_wins)
		return -ENOENT;

	if (!rec_read(f, home, d->window, rec) ||
	    rec->generation != d->generation ||
	    rec->incarnation != d->incarnation)
		return -ESTALE;
	if (!rec_sound(f, home, d->node, rec) || rec->gva != d->gva ||
	    rec->length != d->length)
		return -ENOENT;
	if (arg->rights & ~(d->rights & rec->rights))
		return -EACCES;
	return attach_token(arg, rec);
}
EXPORT_SYMBOL_GPL(ub_win_admit);

/*
 * Ask the home, where its records are not here. The fabric is left meanwhile:
 * the window, or its home, may have ended when the answer is there.
 */
static int attach_ask(struct ub_file *file, const struct ub_win_attach *arg,
		      u32 home, struct ub_shm_window *rec)
{
	struct ub_fabric *f = file->fabric;
	const struct ub_win_desc *d = &arg->desc;
	int err, entered;

	ub_fabric_exit(f);
	err = f->ops->attach(f, home, arg);
	entered = ub_file_enter(file);
	if (entered)
		return entered;
	if (!err && attach_home(f, d) != home)
		err = -EOWNERDEAD;
	if (!err && (!ub_gva_range_ok(d->gva, d->length) ||
		     ub_gva_node(d->gva) != d->node || d->gva % UB_GVA_ALIGN))
		err = -ENOENT;
	if (err) {
		ub_fabric_exit(f);
		return err;
	}
	*rec = (struct ub_shm_window){
		.generation = d->generation,
		.gva = d->gva,
		.length = d->length,
		.incarnation = d->incarnation,
	};
	return 0;
}

/* Find the window and its home; on success the fabric is entered. */
static int attach_find(struct ub_file *file, const struct ub_win_attach *arg,
		       u32 *home, struct ub_shm_window *rec)
{
	struct ub_fabric *f = file->fabric;
	int index, err = ub_file_enter(file);

	if (err)
		return err;
	index = attach_home(f, &arg->desc);
	*home = index;
	if (index >= 0 && f->ops->attach && index != f->self)
		return attach_ask(file, arg, index, rec);
	err = index < 0 ? index : ub_win_admit(f, arg, index, rec);
	if (err)
		ub_fabric_exit(f);
	return err;
}

/**
 * ub_win_attach() - UB_IOC_WIN_ATTACH
 * @file: the file
 * @arg: its struct
 *
 * Context: may sleep; the fabric is not entered.
 * Return: 0 or -errno as in the uAPI.
 */
long ub_win_attach(struct ub_file *file, struct ub_win_attach *arg)
{
	struct ub_fabric *f = file->fabric;
	struct ub_shm_window rec;
	struct ub_attachment *a;
	u32 home;
	int err;

	if (!arg->rights || (arg->rights & ~UB_WIN_RIGHTS) ||
	    (arg->desc.rights & ~UB_WIN_RIGHTS))
		return -EINVAL;
	a = kzalloc(sizeof(*a), GFP_KERNEL_ACCOUNT);
	if (!a)
		return -ENOMEM;
	err = attach_find(file, arg, &home, &rec);
	if (err) {
		kfree(a);
		return err;
	}
	a->at = (struct ub_place){
		.gva = rec.gva,
		.length = rec.length,
		.offset = rec.offset,
		.generation = rec.generation,
		.incarnation = rec.incarnation,
		.home = home,
		.window = arg->desc.window,
	};
	a->rights = arg->rights;
	err = ub_attach_insert(file, a);
	if (err)
		kfree(a);
	else
		trace_ub_win_attached(f->node, rec.gva, rec.length, rec.generation);
	ub_fabric_exit(f);
	return err;
}

/**
 * ub_win_detach() - UB_IOC_WIN_DETACH
 * @file: the file
 * @arg: its struct
 *
 * What was stored through it is brought home first: a loss would have nobody
 * to be told to.
 *
 * Context: may sleep; the fabric is not entered.
 * Return: 0 or -errno as in the uAPI.
 */
long ub_win_detach(struct ub_file *file, struct ub_win_detach *arg)
{
	struct ub_fabric *f = file->fabric;
	struct ub_attachment *a;
	u64 length = 0;
	int err;

	if (f->copied) {
		mutex_lock(&file->lock);
		a = ub_win_find(file, arg->gva);
		length = a && a->at.gva == arg->gva ? a->at.length : 0;
		mutex_unlock(&file->lock);
		if (length)
			ub_copied_flush(f->copied, arg->gva, length, false);
	}
	err = ub_file_enter(file);
	if (err)
		return err;
	mutex_lock(&file->lock);
	a = ub_win_find(file, arg->gva);
	if (!a || a->at.gva != arg->gva) {
		mutex_unlock(&file->lock);
		ub_fabric_exit(f);
		return -ENOENT;
	}
	length = a->at.length;
	ub_attach_remove(file, arg->gva);
	mutex_unlock(&file->lock);
	/* Other files that have it mapped fault it in again. */
	ub_mmap_revoke(f, arg->gva, length);
	ub_fabric_exit(f);
	return 0;
}

/* ---- ends ---- */

/* The first attachment of @file that ended and was not told yet. */
static bool attach_ended(struct ub_file *file, struct ub_event *ev)
{
	struct ub_fabric *f = file->fabric;
	struct rb_node *n;
	bool found = false;

	mutex_lock(&file->lock);
	for (n = rb_first(&file->attachments); n && !found; n = rb_next(n)) {
		struct ub_attachment *a = rb_entry(n, struct ub_attachment, node);
		int err = a->lost ? 0 : ub_win_check(f, a);

		if (!err)
			continue;
		a->lost = true;
		found = true;
		*ev = (struct ub_event){
			.type = UB_EVENT_WINDOW_LOST,
			.node = ub_gva_node(a->at.gva),
			.incarnation = a->at.incarnation,
			.gva = a->at.gva,
			.value = a->at.length,
			.reason = err == -EOWNERDEAD ?
				  ub_member_reason(f, a->at.home, a->at.incarnation) :
				  UB_REASON_NONE,
		};
	}
	mutex_unlock(&file->lock);
	return found;
}

/**
 * ub_attach_tick() - revoke attachments that ended
 * @f: the fabric, up
 *
 * When it returns, no page and no copy of a window whose record had changed
 * before it was called is in use on this node.
 *
 * Context: the tick; no locks.
 */
void ub_attach_tick(struct ub_fabric *f)
{
	struct ub_file *file;
	struct ub_event ev;

	mutex_lock(&f->files_lock);
	list_for_each_entry(file, &f->files, fabric_node) {
		while (attach_ended(file, &ev)) {
			ub_mmap_revoke(f, ev.gva, ev.value);
			ub_event_post(file, &ev);
		}
	}
	mutex_unlock(&f->files_lock);
	/* Copies that began before an attachment was taken away. */
	down_write(&f->map_sem);
	up_write(&f->map_sem);
}

/**
 * ub_win_node_down() - a node is lost: the attachments of its windows end
 * @f: the fabric
 * @index: of the node's record
 *
 * Context: the tick; no locks.
 */
void ub_win_node_down(struct ub_fabric *f, u32 index)
{
	ub_attach_tick(f);
}
