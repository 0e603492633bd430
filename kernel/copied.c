// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of remote pages: their life and their memory. See copied.h.
 *
 * Invariants:
 *  - A page is mapped only while ub_copied.lock is held and its copy is valid,
 *    so who holds the lock and unmapped it knows that it is mapped nowhere.
 *  - Copies and twins are never more than the limit: a fault that finds no
 *    room waits for the worker, which drops the oldest and writes back. So it
 *    does where there is no memory, or the faulting task's cgroup may have no
 *    more: only who has next to nothing to drop is out of memory.
 *  - Only what is clean is dropped, and what nobody waits for.
 *  - Nothing is allocated in order to write back.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "compat_shrinker.h"
#include "copied.h"
#include "ub.h"

#define EVICT_ROUNDS	8
#define EVICT_WRITES	64U

unsigned int ub_copied_mb = 64;
module_param_named(copied_mb, ub_copied_mb, uint, 0644);
MODULE_PARM_DESC(copied_mb, "MiB that a node's copies of remote pages may take, for fabrics made later");

/* ---- one copy ---- */

/* Take over what its READ brought, once that is over. */
static void copy_settle(struct ub_copied *c, struct ub_copy *copy)
{
	if (!copy->reading || !ub_io_over(&copy->io))
		return;
	copy->reading = false;
	copy->err = copy->io.status;
	if (copy->err)
		copy->seen = 0;
	else if (ub_copied_off(c, UB_COPIED_NO_RECHECK))
		copy->seen = c->number;
}

/**
 * ub_copy_find() - the copy of a page
 * @c: the node's copies
 * @index: of the page
 *
 * Context: ub_copied.lock is held.
 * Return: the copy, or NULL.
 */
struct ub_copy *ub_copy_find(struct ub_copied *c, unsigned long index)
{
	struct ub_copy *copy = xa_load(&c->copies, index);

	lockdep_assert_held(&c->lock);
	if (copy)
		copy_settle(c, copy);
	return copy;
}

/* For a copy or a twin. While there are others, these go before anybody is killed. */
static gfp_t copy_gfp(struct ub_copied *c)
{
	return c->pages > UB_COPIED_LIMIT_MIN ?
	       GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN : GFP_KERNEL_ACCOUNT;
}

/* What a failed allocation by copy_gfp() means. */
static int no_memory(struct ub_copied *c)
{
	lockdep_assert_held(&c->lock);
	if (c->pages <= UB_COPIED_LIMIT_MIN)
		return -ENOMEM;
	WRITE_ONCE(c->short_of, true);
	queue_work(system_unbound_wq, &c->evict);
	return -EAGAIN;
}

/**
 * ub_copy_new() - make an empty copy, within the limit
 * @c: the node's copies; there is none at @index
 * @index: of the page
 * @at: the window
 *
 * Context: may sleep; ub_copied.lock is held. Charged to the caller's cgroup.
 * Return: the copy; an ERR_PTR(): -EAGAIN no room, -ENOMEM.
 */
struct ub_copy *ub_copy_new(struct ub_copied *c, unsigned long index,
			    const struct ub_place *at)
{
	gfp_t gfp = copy_gfp(c);
	struct ub_copy *copy;

	lockdep_assert_held(&c->lock);
	if (ub_copied_full(c))
		return ERR_PTR(-EAGAIN);
	copy = kzalloc(sizeof(*copy), gfp);
	if (!copy)
		return ERR_PTR(no_memory(c));
	/* A READ may end short of the page: what is left must say nothing. */
	copy->page = alloc_page(gfp | __GFP_ZERO);
	if (!copy->page || xa_err(xa_store(&c->copies, index, copy, gfp))) {
		if (copy->page)
			__free_page(copy->page);
		kfree(copy);
		return ERR_PTR(no_memory(c));
	}
	copy->index = index;
	copy->at = *at;
	list_add_tail(&copy->lru, &c->lru);
	INIT_LIST_HEAD(&copy->out);
	c->pages++;
	return copy;
}

/**
 * ub_copy_twin() - keep what a copy holds, within the limit
 * @c: the node's copies
 * @copy: the copy, clean
 *
 * Context: may sleep; ub_copied.lock is held. Charged to the caller's cgroup.
 * Return: 0; -EAGAIN no room, -ENOMEM.
 */
int ub_copy_twin(struct ub_copied *c, struct ub_copy *copy)
{
	lockdep_assert_held(&c->lock);
	if (ub_copied_full(c))
		return -EAGAIN;
	copy->twin = alloc_page(copy_gfp(c));
	if (!copy->twin)
		return no_memory(c);
	c->pages++;
	copy_page(page_address(copy->twin), page_address(copy->page));
	list_add_tail(&copy->out, &c->dirty);
	return 0;
}

/**
 * ub_copy_clean() - a copy is not dirty any more
 * @c: the node's copies
 * @copy: the copy; in no list of write-backs
 *
 * Context: ub_copied.lock is held.
 */
void ub_copy_clean(struct ub_copied *c, struct ub_copy *copy)
{
	lockdep_assert_held(&c->lock);
	if (!copy->twin)
		return;
	__free_page(copy->twin);
	copy->twin = NULL;
	c->pages--;
}

static bool copy_idle(struct ub_copied *c, struct ub_copy *copy)
{
	copy_settle(c, copy);
	return !copy->reading && !copy->twin && !copy->users;
}

/**
 * ub_copy_drop() - free a copy, unless something is going on with it
 * @c: the node's copies
 * @copy: the copy
 *
 * Context: may sleep; ub_copied.lock is held.
 * Return: true when it is gone.
 */
bool ub_copy_drop(struct ub_copied *c, struct ub_copy *copy)
{
	lockdep_assert_held(&c->lock);
	if (!copy_idle(c, copy))
		return false;
	if (copy->seen)
		ub_copied_unmap(c, copy->index, 1);
	xa_erase(&c->copies, copy->index);
	list_del(&copy->lru);
	__free_page(copy->page);
	kfree(copy);
	c->pages--;
	return true;
}

/**
 * ub_copied_unmap() - take pages out of all processes
 * @c: the node's copies
 * @first: index of the first
 * @n: how many
 *
 * Context: may sleep; ub_copied.lock is held.
 */
void ub_copied_unmap(struct ub_copied *c, unsigned long first, unsigned long n)
{
	lockdep_assert_held(&c->lock);
	unmap_mapping_range(c->fabric->inode->i_mapping,
			    (loff_t)first << PAGE_SHIFT, (loff_t)n << PAGE_SHIFT, 1);
}

/* ---- memory ---- */

/**
 * ub_copied_full() - is the limit reached
 * @c: the node's copies
 *
 * Context: ub_copied.lock is held.
 * Return: true when it is; the worker makes room then.
 */
bool ub_copied_full(struct ub_copied *c)
{
	lockdep_assert_held(&c->lock);
	if (c->pages < READ_ONCE(c->limit))
		return false;
	queue_work(system_unbound_wq, &c->evict);
	return true;
}

static bool has_room(struct ub_copied *c)
{
	return READ_ONCE(c->pages) < READ_ONCE(c->limit) && !READ_ONCE(c->short_of);
}

/**
 * ub_copied_room() - wait until there is room for a page
 * @c: the node's copies
 *
 * Context: may sleep; no locks but mmap_lock.
 * Return: 0; -EINTR when killed.
 */
int ub_copied_room(struct ub_copied *c)
{
	struct ub_fabric *f = c->fabric;
	long left;

	while (!has_room(c) && READ_ONCE(f->state) == UB_FABRIC_UP) {
		queue_work(system_unbound_wq, &c->evict);
		left = wait_event_killable_timeout(c->wq, has_room(c) ||
						   READ_ONCE(f->state) != UB_FABRIC_UP,
						   HZ / 10);
		if (left < 0)
			return -EINTR;
	}
	return 0;
}

/* Drop clean copies, oldest first, down to @pages; at most @most of them. */
static unsigned long drop_clean(struct ub_copied *c, unsigned long pages,
				unsigned long most)
{
	struct ub_copy *copy, *next;
	unsigned long n = 0;

	lockdep_assert_held(&c->lock);
	list_for_each_entry_safe(copy, next, &c->lru, lru) {
		if (c->pages <= pages || n >= most)
			break;
		n += ub_copy_drop(c, copy);
	}
	ub_count_add(c->fabric, copies_dropped, n);
	return n;
}

static void evict_work(struct work_struct *work)
{
	struct ub_copied *c = container_of(work, struct ub_copied, evict);
	unsigned long low = READ_ONCE(c->limit) / 8 * 7;
	bool enough;
	int round;

	if (xchg(&c->foreign, false))	/* not shared */
		ub_copied_flush_all(c);
	if (READ_ONCE(c->short_of))
		low = min(low, READ_ONCE(c->pages) / 2);
	for (round = 0; round < EVICT_ROUNDS; round++) {
		mutex_lock(&c->lock);
		drop_clean(c, low, ULONG_MAX);
		enough = c->pages <= low;
		mutex_unlock(&c->lock);
		wake_up_all(&c->wq);
		if (enough || READ_ONCE(c->fabric->state) != UB_FABRIC_UP)
			break;
		ub_copied_write_old(c, EVICT_WRITES);
	}
	/* Who still finds no memory comes again, and half of the rest goes. */
	WRITE_ONCE(c->short_of, false);
	wake_up_all(&c->wq);
}

static unsigned long shrink_count(struct shrinker *s, struct shrink_control *sc)
{
	struct ub_copied *c = ub_shrinker_data(s);

	return READ_ONCE(c->pages) ?: SHRINK_EMPTY;
}

static unsigned long shrink_scan(struct shrinker *s, struct shrink_control *sc)
{
	struct ub_copied *c = ub_shrinker_data(s);
	unsigned long n;

	/* Who holds it may be allocating. */
	if (!mutex_trylock(&c->lock))
		return SHRINK_STOP;
	n = drop_clean(c, 0, sc->nr_to_scan);
	mutex_unlock(&c->lock);
	wake_up_all(&c->wq);
	return n ?: SHRINK_STOP;
}

/* ---- life ---- */

/**
 * ub_copied_start() - a fabric whose windows are copied gets its engine
 * @f: the fabric, laid out, with a transport that has @submit
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM; ub_copied_free() frees what there is.
 */
int ub_copied_start(struct ub_fabric *f)
{
	struct ub_copied *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return -ENOMEM;
	f->copied = c;
	c->fabric = f;
	mutex_init(&c->lock);
	mutex_init(&c->flush);
	xa_init(&c->copies);
	xa_init(&c->dead);
	INIT_LIST_HEAD(&c->lru);
	INIT_LIST_HEAD(&c->dirty);
	c->number = 1;
	c->limit = max(((unsigned long)READ_ONCE(ub_copied_mb) << 20) >> PAGE_SHIFT,
		       (unsigned long)UB_COPIED_LIMIT_MIN);
	init_waitqueue_head(&c->wq);
	spin_lock_init(&c->io_lock);
	INIT_LIST_HEAD(&c->held_list);
	INIT_DELAYED_WORK(&c->hold_work, ub_io_hold_work);
	INIT_WORK(&c->evict, evict_work);
	c->released = kvcalloc(f->geo.nslots, sizeof(*c->released), GFP_KERNEL);
	c->out = kvcalloc(UB_COPIED_OUT, sizeof(*c->out), GFP_KERNEL);
	if (!c->released || !c->out)
		return -ENOMEM;
	c->shrinker = ub_shrinker_new(c, shrink_count, shrink_scan, "ub-copied");
	return c->shrinker ? 0 : -ENOMEM;
}

/**
 * ub_copied_drop_all() - the life of the node has ended: forget all copies
 * @f: the fabric, not up; nothing of it is mapped
 *
 * What is dirty is lost. Nothing is waited for but operations that are over
 * at once, since the node is not up.
 *
 * Context: may sleep; no locks.
 */
void ub_copied_drop_all(struct ub_fabric *f)
{
	struct ub_copied *c = f->copied;
	struct ub_copy *copy, *next;
	unsigned long index;
	void *entry;

	if (!c)
		return;
	wake_up_all(&c->wq);
	mutex_lock(&c->flush);
	mutex_lock(&c->lock);
	list_for_each_entry_safe(copy, next, &c->dirty, out) {
		list_del_init(&copy->out);
		ub_copy_clean(c, copy);
	}
	/* One that is waited for goes with the engine. */
	list_for_each_entry_safe(copy, next, &c->lru, lru) {
		if (copy->reading)
			ub_io_wait(&copy->io);
		copy->seen = 0;
		ub_copy_drop(c, copy);
	}
	c->number++;
	xa_for_each(&c->dead, index, entry)
		xa_erase(&c->dead, index);
	mutex_unlock(&c->lock);
	mutex_unlock(&c->flush);
	ub_io_close(c);
}

/**
 * ub_copied_open() - a life of the node begins
 * @f: the fabric, not up yet
 *
 * Context: any.
 */
void ub_copied_open(struct ub_fabric *f)
{
	if (f->copied)
		WRITE_ONCE(f->copied->closed, false);
}

/**
 * ub_copied_free() - undo ub_copied_start()
 * @f: the fabric; no file is open
 *
 * Context: may sleep.
 */
void ub_copied_free(struct ub_fabric *f)
{
	struct ub_copied *c = f->copied;

	if (!c)
		return;
	ub_copied_drop_all(f);
	if (c->shrinker)
		ub_shrinker_free(c->shrinker);
	cancel_work_sync(&c->evict);
	cancel_delayed_work_sync(&c->hold_work);
	xa_destroy(&c->copies);
	xa_destroy(&c->dead);
	kvfree(c->released);
	kvfree(c->out);
	kfree(c);
	f->copied = NULL;
}
