/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copied windows: the kernel holds local copies of remote pages and makes them
 * agree with their homes at barriers. For transports without shared memory.
 *
 *	fault		copied_fault.c	READ the page, ahead too; map it
 *	first store	copied_fault.c	keep a twin, map it writable
 *	arrive		copied_sync.c	unmap, diff against the twin, WRITE; what
 *			copied_lost.c	cannot be placed ends the window, for all
 *	release		copied_sync.c	raise the number: copies are read again
 *	XFER, SYNC	copied_xfer.c	write back and drop, then go to the home
 *	too much memory	copied.c	a worker writes back and drops; shrinker
 *	all of these	copied_io.c	operations on remote memory, test hooks
 *
 * Copies belong to the node. Own windows are no copies: they are the memory.
 *
 * Lock order, after those of ub.h that may be held:
 *	ub_copied.flush	(one write-back at a time; before files_lock; never
 *			 taken in a fault)
 *	ub_copied.lock	(copies; within state_sem and map_sem)
 *	ub_copied.io_lock (irq safe)
 */
#ifndef UB_COPIED_H
#define UB_COPIED_H

#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <ub/ub.h>
#include "diff.h"
#include "window.h"

struct shrinker;
struct ub_fabric;
struct ub_file;
struct ub_gmember;
struct ub_test;

enum ub_io_op {
	UB_IO_READ,
	UB_IO_WRITE,
	UB_IO_ATOMIC,
};

#define UB_IO_RUNS	16

/**
 * struct ub_io - one operation on remote memory, asynchronous
 * @op: enum ub_io_op
 * @at: the window
 * @gva: address of @buf[0]; page aligned but of an atomic
 * @buf: a page, in the kernel's direct map
 * @nruns: runs of it that are read or written
 * @run: they
 * @atomic: of UB_IO_ATOMIC: operation, operands, length
 * @result: of it: the old value
 * @status: when @over: 0 or -errno
 * @over: the transport has let go of it; read by ub_io_over()
 * @fabric: of the node
 * @hold: test hook: in ub_copied.held
 * @due: until then, jiffies
 * @held: result that is held back, or 1: not begun
 * @lost: test hook: its completion will never come
 */
struct ub_io {
	enum ub_io_op op;
	struct ub_place at;
	u64 gva;
	void *buf;
	u32 nruns;
	struct ub_run run[UB_IO_RUNS];
	struct ub_xfer_op_desc atomic;
	u64 result;
	int status;
	bool over;
	struct ub_fabric *fabric;
	struct list_head hold;
	unsigned long due;
	int held;
	bool lost;
};

static inline bool ub_io_over(const struct ub_io *io)
{
	/* Pairs with the release that ends it: status and bytes are there. */
	return smp_load_acquire(&io->over);	/* not shared */
}

/**
 * struct ub_copy - a page of a remote window on this node
 * @index: gva >> PAGE_SHIFT
 * @at: its window
 * @page: the copy
 * @twin: what it held when it became dirty; NULL while it is clean
 * @seen: invalidation number before its READ; 0 to be read again
 * @reading: a READ into it is on its way; @io
 * @writing: a write-back of it is on its way; stores to it wait
 * @users: waits that look at it; keeps it
 * @err: of its last READ
 * @lru: in ub_copied.lru
 * @out: in ub_copied.dirty, or in a write-back's list
 * @io: its READ
 *
 * Dirty is @twin and not @writing; then it is valid.
 */
struct ub_copy {
	unsigned long index;
	struct ub_place at;
	struct page *page;
	struct page *twin;
	u64 seen;
	bool reading;
	bool writing;
	u32 users;
	int err;
	struct list_head lru;
	struct list_head out;
	struct ub_io io;
};

/* Switches of UB_TEST_COPIED_SET, in the test itself: ub_test.h. */
struct ub_copied_hooks {
	u32 off;		/* UB_COPIED_NO_* */
	u32 delay_ms;
	u32 lose;		/* of so many completions one is lost */
	u32 count;
};

/**
 * struct ub_released - the last release of a group here
 * @word: of its slot; its id may be that of a former group
 * @epoch: of the barrier
 */
struct ub_released {
	u64 word;
	u64 epoch;
};

#define UB_COPIED_OUT	32	/* write-backs under way at once */

/**
 * struct ub_copied - copies of one node
 * @fabric: the node
 * @lock: for the fields up to @released
 * @copies: struct ub_copy by index
 * @lru: all of them, the longest here first
 * @dirty: those that are dirty
 * @number: raised by each release; from 1
 * @pages: of copies and twins
 * @limit: most of them
 * @released: by group slot
 * @flush: for @out, and write-backs as such
 * @out: their operations
 * @lost: windows that bytes could not be brought to; number of the last
 * @dead: their generation by gva >> 16
 * @short_of: memory: drop half of what there is; none are made until then
 * @foreign: a fault met dirty copies of an ended window: write all back
 * @wq: waits for operations and for room
 * @io_lock: for the fields up to @hooks
 * @inflight: operations that are not over
 * @closed: begin no more
 * @held_list: test hook: held back
 * @hold_work: lets them go
 * @hooks: for tests
 * @evict: makes room
 * @shrinker: drops clean copies
 */
struct ub_copied {
	struct ub_fabric *fabric;
	struct mutex lock;		/* copies */
	struct xarray copies;
	struct list_head lru;
	struct list_head dirty;
	u64 number;
	unsigned long pages;
	unsigned long limit;
	struct ub_released *released;

	struct mutex flush;		/* write-backs */
	struct ub_io *out;
	u64 lost;
	struct xarray dead;
	bool foreign;
	bool short_of;

	wait_queue_head_t wq;
	spinlock_t io_lock;		/* operations */
	unsigned int inflight;
	bool closed;
	struct list_head held_list;
	struct delayed_work hold_work;
	struct ub_copied_hooks hooks;

	struct work_struct evict;
	struct shrinker *shrinker;
};

/* ---- copied.c: life, memory ---- */
extern unsigned int ub_copied_mb;
int ub_copied_start(struct ub_fabric *f);
void ub_copied_open(struct ub_fabric *f);
void ub_copied_drop_all(struct ub_fabric *f);
void ub_copied_free(struct ub_fabric *f);
struct ub_copy *ub_copy_find(struct ub_copied *c, unsigned long index);
struct ub_copy *ub_copy_new(struct ub_copied *c, unsigned long index,
			    const struct ub_place *at);
bool ub_copy_drop(struct ub_copied *c, struct ub_copy *copy);
int ub_copy_twin(struct ub_copied *c, struct ub_copy *copy);
void ub_copy_clean(struct ub_copied *c, struct ub_copy *copy);
void ub_copied_unmap(struct ub_copied *c, unsigned long first, unsigned long n);
bool ub_copied_full(struct ub_copied *c);
int ub_copied_room(struct ub_copied *c);

/* Can it be mapped? */
static inline bool ub_copy_valid(const struct ub_copied *c,
				 const struct ub_copy *copy)
{
	return !copy->reading && copy->seen == c->number;
}

/* ---- copied_fault.c ---- */
extern const struct vm_operations_struct ub_copied_vm_ops;

/* ---- copied_sync.c ---- */
void ub_copied_flush(struct ub_copied *c, u64 gva, u64 len, bool drop);
void ub_copied_flush_all(struct ub_copied *c);
void ub_copied_release(struct ub_gmember *gm);
void ub_copied_write_old(struct ub_copied *c, u32 max);

/* ---- copied_lost.c ---- */
bool ub_copied_dead(struct ub_fabric *f, u64 gva, u64 generation);
void ub_copied_end(struct ub_copied *c, const struct ub_place *at, int status);
u64 ub_copied_tell(struct ub_gmember *gm);

/* ---- copied_xfer.c ---- */
int ub_copied_xfer(struct ub_file *file, const struct ub_xfer_op_desc *d, u64 *old);

/* ---- xfer.c, mmap.c: may a file use a range, and of what window is it ---- */
int ub_xfer_place(struct ub_file *file, u64 gva, u64 len, u32 right,
		  struct ub_place *at);
int ub_xfer_word(const struct ub_xfer_op_desc *d, void *p, u64 *old);
int ub_mmap_begin(struct ub_file *file, u64 gva, bool write, struct ub_place *at);
void ub_mmap_end(struct ub_file *file);
int ub_mremap(struct vm_area_struct *vma);

/* ---- copied_io.c ---- */
void ub_io_init(struct ub_io *io, struct ub_fabric *f, enum ub_io_op op,
		const struct ub_place *at);
void ub_io_start(struct ub_io *io);
void ub_io_done(struct ub_io *io, int status);
int ub_io_wait(struct ub_io *io);
int ub_io_wait_killable(struct ub_io *io);
void ub_io_close(struct ub_copied *c);
void ub_io_run(struct ub_io *io, u32 n);
bool ub_io_again(struct ub_fabric *f, const struct ub_io *io, u64 *until);
void ub_io_hold_work(struct work_struct *work);
long ub_copied_test(struct ub_fabric *f, struct ub_test *arg);

/* Is a step of the protocol switched off by a test? */
static inline bool ub_copied_off(const struct ub_copied *c, u32 step)
{
	return READ_ONCE(c->hooks.off) & step;
}

#endif /* UB_COPIED_H */
