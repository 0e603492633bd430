// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults on copied windows: read the page, keep a twin, map it.
 *
 * The mapping is VM_PFNMAP: no page of it can be pinned or found by others,
 * so that unmapping it is enough to own it. What needs to pin it (futexes
 * between processes, direct I/O, ptrace) is refused.
 *
 * Invariants:
 *  - A page is mapped writable only when it is dirty, that is, has a twin; by
 *    this file alone, under ub_copied.lock. The kernel maps nothing here.
 *  - The number is noted before the READ; a copy whose number is not the
 *    current one is not mapped.
 *  - No lock is held while a READ is on its way.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include "copied.h"
#include "trace.h"
#include "ub.h"

#define AHEAD_MAX	64U		/* pages */

/* ---- reading ---- */

/* Begin to read a copy: what is to be started when the lock is released. */
static void read_prepare(struct ub_copied *c, struct ub_copy *copy)
{
	lockdep_assert_held(&c->lock);
	copy->reading = true;
	copy->err = 0;
	copy->seen = c->number;
	ub_io_init(&copy->io, c->fabric, UB_IO_READ, &copy->at);
	copy->io.gva = (u64)copy->index << PAGE_SHIFT;
	copy->io.buf = page_address(copy->page);
	copy->io.nruns = 1;
	copy->io.run[0] = (struct ub_run){ .len = PAGE_SIZE };
	list_move_tail(&copy->lru, &c->lru);
}

/* May a copy be read (again)? Not while something is going on with it. */
static bool readable(struct ub_copied *c, struct ub_copy *copy,
		     const struct ub_place *at)
{
	return ub_same_place(&copy->at, at) && !copy->reading && !copy->twin &&
	       copy->seen != c->number;
}

/*
 * How many pages to read at @index, which is a miss or, in a scan, the page
 * after those that are on their way. A lane's threads share this: a guess
 * that is wrong costs a page, and no lock.
 */
static u32 ahead(struct ub_file *file, unsigned long index)
{
	u32 n = index == READ_ONCE(file->ahead_next) ?
		min(READ_ONCE(file->ahead_pages) * 2, AHEAD_MAX) : 1;

	n = max(n, 1U);
	WRITE_ONCE(file->ahead_pages, n);
	WRITE_ONCE(file->ahead_next, index + n);
	/* Reaching the last run's first page sets off the next one. */
	WRITE_ONCE(file->ahead_mark, n > 1 ? index : ULONG_MAX);
	return n;
}

/*
 * What is to be read of [index, index + n), as far as it lies in the window and
 * there is room, into @start for start_reads(). The first page is left to the
 * caller's next look. Returns how many, or an error when there are none.
 */
static int prepare_reads(struct ub_copied *c, const struct ub_place *at,
			 unsigned long index, u32 n, struct ub_copy **start)
{
	unsigned long end = (at->gva + PAGE_ALIGN(at->length)) >> PAGE_SHIFT;
	struct ub_copy *copy;
	int got = 0;
	u32 i;
	int err = 0;

	lockdep_assert_held(&c->lock);
	n = index < end ? min_t(unsigned long, n, end - index) : 0;
	for (i = 0; i < n; i++) {
		copy = ub_copy_find(c, index + i);
		if (!copy)
			copy = ub_copy_new(c, index + i, at);
		if (IS_ERR(copy)) {
			err = PTR_ERR(copy);
			break;
		}
		if (!readable(c, copy, at))
			continue;
		read_prepare(c, copy);
		start[got++] = copy;
	}
	return got ?: err;
}

/* The lock is not held: a transport may end an operation at once. */
static void start_reads(struct ub_copied *c, struct ub_copy **start, int got)
{
	int i;

	for (i = 0; i < got; i++)
		ub_io_start(&start[i]->io);
	if (got > 0)
		ub_count_add(c->fabric, copies_read, got);
}

/* In a scan some pages are always on their way. */
static void go_ahead(struct ub_copied *c, struct ub_file *file,
		     const struct ub_place *at, unsigned long index)
{
	unsigned long next = READ_ONCE(file->ahead_next);
	struct ub_copy *start[AHEAD_MAX];
	int got;

	if (index != READ_ONCE(file->ahead_mark))
		return;
	mutex_lock(&c->lock);
	got = prepare_reads(c, at, next, ahead(file, next), start);
	mutex_unlock(&c->lock);
	start_reads(c, start, got);
}

/* ---- what a fault waits for ---- */

/*
 * A copy of another generation of the window, or of another window. When it is
 * dirty the worker finds out that this cannot be placed.
 */
static bool foreign(struct ub_copied *c, struct ub_copy *copy)
{
	lockdep_assert_held(&c->lock);
	if (ub_copy_drop(c, copy))
		return false;
	WRITE_ONCE(c->foreign, true);
	queue_work(system_unbound_wq, &c->evict);
	return true;
}

static bool write_over(const struct ub_copy *copy)
{
	return !READ_ONCE(copy->writing);
}

/* Wait for what goes on with a copy, of which the caller is a user until then. */
static int wait_copy(struct ub_copied *c, struct ub_copy *copy, u64 *until)
{
	struct ub_fabric *f = c->fabric;
	int err = 0;

	if (READ_ONCE(copy->reading))
		err = ub_io_wait_killable(&copy->io);
	else if (wait_event_killable_timeout(c->wq, write_over(copy), HZ) < 0)
		err = -EINTR;
	mutex_lock(&c->lock);
	ub_copy_find(c, copy->index);
	copy->users--;
	if (!err && copy->err && !copy->reading) {
		struct ub_io io = { .status = copy->err };

		mutex_unlock(&c->lock);
		return ub_io_again(f, &io, until) ? 0 : io.status;
	}
	mutex_unlock(&c->lock);
	return err;
}

/* One step towards a copy that can be mapped. 0 look again, or an error. */
static int fetch(struct ub_copied *c, struct ub_file *file,
		 const struct ub_place *at, unsigned long index, u64 *until)
{
	struct ub_copy *copy, *start[AHEAD_MAX];
	int got;

	mutex_lock(&c->lock);
	copy = ub_copy_find(c, index);
	if (copy && !ub_same_place(&copy->at, at)) {
		bool there = foreign(c, copy);

		mutex_unlock(&c->lock);
		if (there)
			schedule_timeout_killable(1);
		return 0;
	}
	if (copy && (copy->reading || copy->writing)) {
		copy->users++;
		mutex_unlock(&c->lock);
		return wait_copy(c, copy, until);
	}
	if (!copy || !ub_copy_valid(c, copy)) {
		got = prepare_reads(c, at, index, ahead(file, index), start);
		mutex_unlock(&c->lock);
		start_reads(c, start, got);
		return got == -EAGAIN ? ub_copied_room(c) : min(got, 0);
	}
	mutex_unlock(&c->lock);
	/* There is no room for its twin. */
	return ub_copied_room(c);
}

/* ---- mapping ---- */

/* The first store to a page since it was clean: keep what it holds. */
static int make_dirty(struct ub_copied *c, struct ub_copy *copy)
{
	int err;

	lockdep_assert_held(&c->lock);
	if (copy->twin)
		return copy->writing ? -EAGAIN : 0;
	err = ub_copy_twin(c, copy);
	if (!err)
		ub_count(c->fabric, copies_dirty);
	return err;
}

/* Map the copy when there is one: -EAGAIN when not, or 0 and *@ret. */
static int map_copy(struct ub_copied *c, struct vm_fault *vmf,
		    const struct ub_place *at, bool write, vm_fault_t *ret)
{
	struct vm_area_struct *vma = vmf->vma;
	unsigned long flags = vma->vm_flags;
	struct ub_copy *copy;
	int err = -EAGAIN;

	mutex_lock(&c->lock);
	copy = ub_copy_find(c, vmf->pgoff);
	if (copy && ub_same_place(&copy->at, at) && ub_copy_valid(c, copy))
		err = write ? make_dirty(c, copy) : 0;
	if (!err) {
		/* Inserting does not change what is there. */
		if (vmf->flags & FAULT_FLAG_MKWRITE)
			ub_copied_unmap(c, copy->index, 1);
		/* Private is what the kernel maps read-only. */
		if (!copy->twin || copy->writing)
			flags &= ~VM_SHARED;
		*ret = vmf_insert_pfn_prot(vma, vmf->address,
					   page_to_pfn(copy->page),
					   vm_get_page_prot(flags));
	}
	mutex_unlock(&c->lock);
	return err;
}

static vm_fault_t fault(struct vm_fault *vmf, bool write)
{
	struct vm_area_struct *vma = vmf->vma;
	struct ub_file *file = vma->vm_file->private_data;
	struct ub_fabric *f = file->fabric;
	vm_fault_t ret = VM_FAULT_SIGBUS;
	struct ub_place at;
	u64 until = 0;
	int err;

	do {
		err = ub_mmap_begin(file, (u64)vmf->pgoff << PAGE_SHIFT,
				    vma->vm_flags & VM_WRITE, &at);
		if (err)
			break;
		err = map_copy(f->copied, vmf, &at, write, &ret);
		ub_mmap_end(file);
		if (!err)
			go_ahead(f->copied, file, &at, vmf->pgoff);
		if (err != -EAGAIN)
			break;
		err = fatal_signal_pending(current) ? -EINTR :
		      fetch(f->copied, file, &at, vmf->pgoff, &until);
	} while (!err);
	if (err == -ENOMEM)
		return VM_FAULT_OOM;
	if (ret == VM_FAULT_SIGBUS)
		ub_count(f, sigbus);
	else
		ub_count(f, faults);
	return ret;
}

static vm_fault_t copied_fault(struct vm_fault *vmf)
{
	return fault(vmf, vmf->flags & FAULT_FLAG_WRITE);
}

/* A store to a page that is mapped for reading. */
static vm_fault_t copied_mkwrite(struct vm_fault *vmf)
{
	return fault(vmf, true);
}

const struct vm_operations_struct ub_copied_vm_ops = {
	.fault		= copied_fault,
	.pfn_mkwrite	= copied_mkwrite,
	.mremap		= ub_mremap,
};
