// SPDX-License-Identifier: GPL-2.0-only
/*
 * UB_IOC_XFER, UB_IOC_FENCE and UB_IOC_SYNC on windows whose home is elsewhere.
 *
 * Invariants:
 *  - Program order with mapped access: local copies that overlap are written
 *    back and dropped before, and dropped again after what changes the home,
 *    since another thread may have read the page meanwhile.
 *  - User memory is touched with nothing held: it may be a mapped window.
 */
#include <linux/slab.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include "copied.h"
#include "ub.h"

#define XFER_PAGES	16	/* under way at once */

/**
 * struct xfer_buf - a chunk between user memory and a home
 * @io: for each page
 * @page: offsets in it are those of the remote page
 * @n: pages of this chunk
 */
struct xfer_buf {
	struct ub_io io[XFER_PAGES];
	struct page *page[XFER_PAGES];
	u32 n;
};

static void buf_free(struct xfer_buf *b)
{
	u32 i;

	for (i = 0; i < XFER_PAGES; i++)
		if (b->page[i])
			__free_page(b->page[i]);
	kvfree(b);
}

static struct xfer_buf *buf_alloc(u64 gva, u64 length)
{
	u64 pages = DIV_ROUND_UP(offset_in_page(gva) + length, PAGE_SIZE), i;
	struct xfer_buf *b = kvzalloc(sizeof(*b), GFP_KERNEL_ACCOUNT);

	for (i = 0; b && i < min_t(u64, pages, XFER_PAGES); i++) {
		b->page[i] = alloc_page(GFP_KERNEL_ACCOUNT);
		if (!b->page[i]) {
			buf_free(b);
			b = NULL;
		}
	}
	return b;
}

/* The chunk at @gva: one run of each page. Returns its bytes. */
static u64 buf_chunk(struct xfer_buf *b, struct ub_file *file, enum ub_io_op op,
		     const struct ub_place *at, u64 gva, u64 left)
{
	u64 done = 0;

	for (b->n = 0; b->n < XFER_PAGES && done < left; b->n++) {
		struct ub_io *io = &b->io[b->n];
		u32 off = offset_in_page(gva + done);
		u32 len = min_t(u64, left - done, PAGE_SIZE - off);

		ub_io_init(io, file->fabric, op, at);
		io->gva = gva + done - off;
		io->buf = page_address(b->page[b->n]);
		io->nruns = 1;
		io->run[0] = (struct ub_run){ .off = off, .len = len };
		done += len;
	}
	return done;
}

/* Copy a chunk from (PUT) or to user memory: 0 or -EFAULT. */
static int buf_user(struct xfer_buf *b, bool put, u64 addr)
{
	u32 i;

	for (i = 0; i < b->n; i++) {
		const struct ub_run *run = &b->io[i].run[0];
		void *p = b->io[i].buf + run->off;
		void __user *user = u64_to_user_ptr(addr);

		if (put ? copy_from_user(p, user, run->len) :
			  copy_to_user(user, p, run->len))
			return -EFAULT;
		addr += run->len;
	}
	return 0;
}

static int buf_run(struct xfer_buf *b)
{
	u32 i;

	ub_io_run(b->io, b->n);
	for (i = 0; i < b->n; i++)
		if (b->io[i].status)
			return b->io[i].status;
	return 0;
}

/* What an operation failed with, as the caller is told. */
static int told(int status)
{
	switch (status) {
	case 0:
	case -EFAULT:
	case -ESTALE:
	case -ESHUTDOWN:
	case -ETIMEDOUT:	/* of an atomic: not known what became of it */
		return status;
	default:
		return -EOWNERDEAD;
	}
}

static int copy_chunk(struct ub_file *file, struct xfer_buf *b,
		      const struct ub_xfer_op_desc *d, u64 done, u64 *n)
{
	bool put = d->op == UB_XFER_PUT;
	struct ub_copied *c = file->fabric->copied;
	u64 gva = d->gva + done;
	struct ub_place at;
	int err;

	err = ub_xfer_place(file, gva, d->length - done,
			    put ? UB_WIN_WRITE : UB_WIN_READ, &at);
	if (err)
		return err;
	*n = buf_chunk(b, file, put ? UB_IO_WRITE : UB_IO_READ, &at, gva,
		       d->length - done);
	if (put && buf_user(b, true, d->addr + done))
		return -EFAULT;
	ub_copied_flush(c, gva, *n, true);
	err = buf_run(b);
	if (put)
		ub_copied_flush(c, gva, *n, true);
	else if (!err)
		err = buf_user(b, false, d->addr + done);
	return err == -ETIMEDOUT ? -EOWNERDEAD : told(err);
}

static int copied_copy(struct ub_file *file, const struct ub_xfer_op_desc *d)
{
	struct xfer_buf *b;
	u64 done, n;
	int err = 0;

	if (d->length > UB_GVA_GROUPS)
		return -EOVERFLOW;
	if (!access_ok(u64_to_user_ptr(d->addr), d->length))
		return -EFAULT;
	b = buf_alloc(d->gva, d->length);
	if (!b)
		return -ENOMEM;
	for (done = 0; done < d->length && !err; done += n) {
		n = 0;
		err = fatal_signal_pending(current) ? -EINTR :
		      copy_chunk(file, b, d, done, &n);
	}
	buf_free(b);
	if (err)
		return err;
	if (d->op == UB_XFER_PUT)
		ub_count_add(file->fabric, put_bytes, d->length);
	else
		ub_count_add(file->fabric, get_bytes, d->length);
	return 0;
}

static int copied_atomic(struct ub_file *file, const struct ub_xfer_op_desc *d,
			 u64 *old)
{
	struct ub_copied *c = file->fabric->copied;
	struct ub_place at;
	struct ub_io *io;
	int err;

	err = ub_xfer_place(file, d->gva, d->length, UB_WIN_ATOMIC, &at);
	if (err)
		return err;
	io = kmalloc(sizeof(*io), GFP_KERNEL_ACCOUNT);
	if (!io)
		return -ENOMEM;
	ub_io_init(io, file->fabric, UB_IO_ATOMIC, &at);
	io->gva = d->gva;
	io->buf = NULL;
	io->atomic = *d;
	ub_copied_flush(c, d->gva, d->length, true);
	ub_io_start(io);
	err = told(ub_io_wait(io));
	ub_copied_flush(c, d->gva, d->length, true);
	*old = io->result;
	kfree(io);
	return err;
}

/**
 * ub_copied_xfer() - an element of UB_IOC_XFER, if its home is elsewhere
 * @file: the file
 * @d: the element, with a known op and a length
 * @old: gets an atomic's old value
 *
 * Context: may sleep; the fabric is not entered.
 * Return: as for an element of UB_IOC_XFER; -EINTR when killed.
 */
int ub_copied_xfer(struct ub_file *file, const struct ub_xfer_op_desc *d, u64 *old)
{
	if (d->op == UB_XFER_PUT || d->op == UB_XFER_GET)
		return copied_copy(file, d);
	return copied_atomic(file, d, old);
}
