// SPDX-License-Identifier: GPL-2.0-only
/*
 * UB_IOC_XFER: puts, gets and atomics on windows, by the kernel.
 *
 * Invariants:
 *  - Bytes are copied straight between user and shared memory, in chunks. A
 *    chunk is copied with state_sem and map_sem held for read, so that what
 *    was checked stays valid, and with page faults disabled: a fault would
 *    take mmap_lock and then the same locks again. Pages that are missing are
 *    faulted in outside, then the chunk goes on. So local memory may itself
 *    be a mapped window.
 *  - Descriptors are read once; the copy is checked and used.
 *  - Atomics are compare-and-swap loops with a bound: another node that never
 *    leaves a word alone gets this call an error, not a hang.
 */
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include "ub.h"

#define XFER_CHUNK	(64UL << 10)
#define XFER_STUCK	64		/* fault-ins without progress */
#define XFER_CAS_TRIES	1000000U
#define XFER_BATCH	8

static const u32 op_right[UB_XFER_OPS] = {
	[UB_XFER_PUT]		= UB_WIN_WRITE,
	[UB_XFER_GET]		= UB_WIN_READ,
	[UB_XFER_FETCH_ADD]	= UB_WIN_ATOMIC,
	[UB_XFER_SWAP]		= UB_WIN_ATOMIC,
	[UB_XFER_COMPARE_SWAP]	= UB_WIN_ATOMIC,
	[UB_XFER_FETCH_AND]	= UB_WIN_ATOMIC,
	[UB_XFER_FETCH_OR]	= UB_WIN_ATOMIC,
	[UB_XFER_FETCH_XOR]	= UB_WIN_ATOMIC,
};

/* Is [gva, gva + len) in an attachment that has @right; the fabric is entered. */
static int xfer_check(struct ub_file *file, u64 gva, u64 len, u32 right,
		      struct ub_place *at)
{
	struct ub_attachment *a;
	int err;

	mutex_lock(&file->lock);
	a = ub_win_find(file, gva);
	err = a ? ub_win_check(file->fabric, a) : -ENOENT;
	if (!err && !ub_gva_inside(gva, len, a->at.gva, a->at.length))
		err = -EOVERFLOW;
	if (!err && (a->rights & right) != right)
		err = -EACCES;
	if (!err)
		*at = a->at;
	mutex_unlock(&file->lock);
	return err;
}

/*
 * Begin to use [gva, gva + len) with @right. On success the locks are held
 * that keep the answer valid until xfer_end().
 */
static int xfer_begin(struct ub_file *file, u64 gva, u64 len, u32 right, void **p)
{
	struct ub_fabric *f = file->fabric;
	struct ub_place at;
	int err;

	err = ub_file_enter(file);
	if (err)
		return err;
	down_read(&f->map_sem);
	err = xfer_check(file, gva, len, right, &at);
	if (err) {
		up_read(&f->map_sem);
		ub_fabric_exit(f);
		return err;
	}
	*p = f->mem + at.offset + (gva - at.gva);
	return 0;
}

static void xfer_end(struct ub_file *file)
{
	up_read(&file->fabric->map_sem);
	ub_fabric_exit(file->fabric);
}

/**
 * ub_xfer_place() - may a file use a range, and where is it
 * @file: the file
 * @gva: start
 * @len: bytes
 * @right: that it needs; 0 for none
 * @at: gets the window
 *
 * Context: may sleep; the fabric is not entered.
 * Return: 0 or -errno as for an element of UB_IOC_XFER.
 */
int ub_xfer_place(struct ub_file *file, u64 gva, u64 len, u32 right,
		  struct ub_place *at)
{
	int err = ub_file_enter(file);

	if (err)
		return err;
	err = xfer_check(file, gva, len, right, at);
	ub_fabric_exit(file->fabric);
	return err;
}

/* Copy a chunk as far as user pages are there. Returns what is left, or < 0. */
static long xfer_chunk(struct ub_file *file, const struct ub_xfer_op_desc *d,
		       u64 done)
{
	char __user *user = u64_to_user_ptr(d->addr + done);
	unsigned long n = min_t(u64, d->length - done, XFER_CHUNK), left;
	void *p;
	int err;

	err = xfer_begin(file, d->gva + done, d->length - done, op_right[d->op], &p);
	if (err)
		return err;
	ub_instant();
	pagefault_disable();
	if (d->op == UB_XFER_PUT)
		left = __copy_from_user_inatomic(p, user, n);
	else
		left = __copy_to_user_inatomic(user, p, n);
	pagefault_enable();
	xfer_end(file);
	return left;
}

/* Fault in the user page that a copy stopped at. */
static bool xfer_fault_in(const struct ub_xfer_op_desc *d, u64 at)
{
	char __user *user = u64_to_user_ptr(d->addr + at);
	size_t n = min_t(u64, d->length - at,
			 PAGE_SIZE - offset_in_page(d->addr + at));

	return !(d->op == UB_XFER_PUT ? fault_in_readable(user, n) :
					fault_in_safe_writeable(user, n));
}

static int xfer_copy(struct ub_file *file, const struct ub_xfer_op_desc *d)
{
	int stuck = 0;
	u64 done = 0;

	if (d->length > UB_GVA_GROUPS)
		return -EOVERFLOW;
	if (!access_ok(u64_to_user_ptr(d->addr), d->length))
		return -EFAULT;
	while (done < d->length) {
		unsigned long n = min_t(u64, d->length - done, XFER_CHUNK);
		long left;

		if (fatal_signal_pending(current))
			return -EINTR;
		left = xfer_chunk(file, d, done);
		if (left < 0)
			return left;
		stuck = left == n ? stuck + 1 : 0;
		done += n - left;
		if (left && (stuck > XFER_STUCK || !xfer_fault_in(d, done)))
			return -EFAULT;
		cond_resched();
	}
	if (d->op == UB_XFER_PUT)
		ub_count_add(file->fabric, put_bytes, done);
	else
		ub_count_add(file->fabric, get_bytes, done);
	return 0;
}

/* ---- atomics ---- */

static u64 atomic_new(const struct ub_xfer_op_desc *d, u64 old)
{
	switch (d->op) {
	case UB_XFER_FETCH_ADD:
		return old + d->operand;
	case UB_XFER_FETCH_AND:
		return old & d->operand;
	case UB_XFER_FETCH_OR:
		return old | d->operand;
	case UB_XFER_FETCH_XOR:
		return old ^ d->operand;
	default:
		return d->operand;
	}
}

static int atomic_64(const struct ub_xfer_op_desc *d, u64 *p, u64 *old)
{
	unsigned int tries;

	if (d->op == UB_XFER_SWAP) {
		*old = ub_swap(p, d->operand);
		return 0;
	}
	if (d->op == UB_XFER_COMPARE_SWAP) {
		*old = ub_cas(p, d->compare, d->operand);
		return 0;
	}
	*old = ub_ld(p);
	for (tries = 0; tries < XFER_CAS_TRIES; tries++) {
		u64 was = ub_cas(p, *old, atomic_new(d, *old));

		if (was == *old)
			return 0;
		*old = was;
		ub_relax();
	}
	return -EBUSY;
}

static int atomic_32(const struct ub_xfer_op_desc *d, u32 *p, u64 *old)
{
	u32 seen, was;
	unsigned int tries;

	if (d->op == UB_XFER_SWAP) {
		*old = ub_swap(p, (u32)d->operand);
		return 0;
	}
	if (d->op == UB_XFER_COMPARE_SWAP) {
		*old = ub_cas(p, (u32)d->compare, (u32)d->operand);
		return 0;
	}
	seen = ub_ld(p);
	for (tries = 0; tries < XFER_CAS_TRIES; tries++) {
		was = ub_cas(p, seen, (u32)atomic_new(d, seen));
		if (was == seen) {
			*old = seen;
			return 0;
		}
		seen = was;
		ub_relax();
	}
	return -EBUSY;
}

/**
 * ub_xfer_word() - run an atomic on a word of this kernel's memory
 * @d: the atomic, checked
 * @p: the word, aligned
 * @old: gets what it held
 *
 * Context: any.
 * Return: 0, or -EBUSY when others never leave it alone.
 */
int ub_xfer_word(const struct ub_xfer_op_desc *d, void *p, u64 *old)
{
	return d->length == 8 ? atomic_64(d, p, old) : atomic_32(d, p, old);
}
EXPORT_SYMBOL_GPL(ub_xfer_word);

/* Is the home of an element another node, and its window copied? */
static bool xfer_far(struct ub_file *file, const struct ub_xfer_op_desc *d)
{
	struct ub_fabric *f = file->fabric;

	return f->copied && ub_gva_node(d->gva) != f->node;
}

static int xfer_atomic(struct ub_file *file, const struct ub_xfer_op_desc *d)
{
	void __user *user = u64_to_user_ptr(d->addr);
	u32 old32;
	u64 old;
	void *p;
	int err;

	if ((d->length != 4 && d->length != 8) || d->gva & (d->length - 1))
		return -EINVAL;
	if (d->length == 4 && (d->operand >> 32 || d->compare >> 32))
		return -EINVAL;
	/* What cannot be told must not be done. */
	if (d->addr && fault_in_safe_writeable(user, d->length))
		return -EFAULT;
	if (xfer_far(file, d)) {
		err = ub_copied_xfer(file, d, &old);
	} else {
		err = xfer_begin(file, d->gva, d->length, UB_WIN_ATOMIC, &p);
		if (err)
			return err;
		err = ub_xfer_word(d, p, &old);
		xfer_end(file);
	}
	if (err)
		return err;
	ub_count(file->fabric, atomics);
	if (!d->addr)
		return 0;
	old32 = old;
	if (d->length == 8)
		err = copy_to_user(user, &old, sizeof(old));
	else
		err = copy_to_user(user, &old32, sizeof(old32));
	return err ? -EFAULT : 0;
}

static int xfer_one(struct ub_file *file, const struct ub_xfer_op_desc *d)
{
	if (d->op >= UB_XFER_OPS)
		return -EINVAL;
	if (!d->length)
		return 0;
	if (d->op == UB_XFER_PUT || d->op == UB_XFER_GET)
		return xfer_far(file, d) ? ub_copied_xfer(file, d, NULL) :
					   xfer_copy(file, d);
	return xfer_atomic(file, d);
}

/* One batch of descriptors: read, run, report. */
static int xfer_batch(struct ub_file *file, struct ub_xfer *arg,
		      struct ub_xfer_op_desc __user *ops, u32 n)
{
	struct ub_xfer_op_desc d[XFER_BATCH];
	u32 i;

	if (copy_from_user(d, ops, n * sizeof(d[0])))
		return -EFAULT;
	for (i = 0; i < n; i++) {
		int status = xfer_one(file, &d[i]);

		if (status == -EINTR)
			return -EINTR;
		if (put_user(status, &ops[i].out_status))
			return -EFAULT;
		arg->out_done += !status;
	}
	return 0;
}

/**
 * ub_xfer() - UB_IOC_XFER
 * @file: the file
 * @arg: its struct
 *
 * Context: may sleep; the fabric is not entered.
 * Return: 0 or -errno as in the uAPI.
 */
long ub_xfer(struct ub_file *file, struct ub_xfer *arg)
{
	struct ub_xfer_op_desc __user *ops = u64_to_user_ptr(arg->ops);
	u32 at, n;
	int err;

	if (!arg->nops || arg->nops > UB_XFER_MAX)
		return -EINVAL;
	arg->out_done = 0;
	for (at = 0; at < arg->nops; at += n) {
		n = min_t(u32, arg->nops - at, XFER_BATCH);
		err = xfer_batch(file, arg, ops + at, n);
		if (err)
			return err;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

/**
 * ub_fence() - UB_IOC_FENCE: earlier stores, puts and atomics are placed
 * @file: the file
 * @arg: its struct
 *
 * Context: may sleep; the fabric is not entered.
 * Return: 0, -EINVAL, what ub_file_enter() returns.
 */
long ub_fence(struct ub_file *file, struct ub_range *arg)
{
	int err;

	if (arg->gva || arg->length)
		return -EINVAL;
	if (file->fabric->copied)
		ub_copied_flush_all(file->fabric->copied);
	err = ub_file_enter(file);
	if (err)
		return err;
	ub_mb();
	ub_fabric_exit(file->fabric);
	return 0;
}

/**
 * ub_sync_range() - UB_IOC_SYNC: local copies agree with the home
 * @file: the file
 * @arg: its struct
 *
 * On coherent windows that is a check and a fence.
 *
 * Context: may sleep; the fabric is not entered.
 * Return: 0 or -errno as in the uAPI.
 */
long ub_sync_range(struct ub_file *file, struct ub_range *arg)
{
	struct ub_place at;
	int err;

	if (!ub_gva_range_ok(arg->gva, arg->length))
		return -EINVAL;
	err = ub_xfer_place(file, arg->gva, arg->length, 0, &at);
	if (err)
		return err;
	if (file->fabric->copied) {
		ub_copied_flush(file->fabric->copied, arg->gva, arg->length, true);
		/* It may have ended just now. */
		err = ub_xfer_place(file, arg->gva, arg->length, 0, &at);
	}
	ub_mb();
	return err;
}

/**
 * ub_xfer_add() - test hook: the kernel adds 1 to a word, many times
 * @file: the file
 * @gva: of the word
 * @times: how often
 *
 * Context: may sleep; the fabric is not entered.
 * Return: 0 or -errno as for an element of UB_IOC_XFER.
 */
int ub_xfer_add(struct ub_file *file, u64 gva, u64 times)
{
	const struct ub_xfer_op_desc d = {
		.gva = gva, .length = 8, .op = UB_XFER_FETCH_ADD, .operand = 1,
	};
	int err = 0;

	while (times-- && !err) {
		if (fatal_signal_pending(current))
			return -EINTR;
		err = xfer_atomic(file, &d);
		cond_resched();
	}
	return err;
}
