// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations on remote memory: begin, wait, try again; test hooks.
 *
 * Invariants:
 *  - An operation is over exactly once. Its memory is the transport's until
 *    then, and the waiter's from then on: nobody else looks at it any more.
 *  - Nobody waits for ever: an operation that is not over in time is given up,
 *    and what can be repeated is, until the home is found dead or the limit
 *    has passed. Reads and writes can: until the barrier the bytes have one
 *    writer. An atomic cannot.
 *  - No wait outlasts the life of the node: when it ends, operations are over
 *    with -ESHUTDOWN or given up.
 */
#include <linux/delay.h>
#include <linux/random.h>
#include "copied.h"
#include "ub.h"

#define HOLD_UNSENT	1	/* ub_io.held: not given to the transport yet */

static void io_over(struct ub_copied *c, struct ub_io *io, int status)
{
	lockdep_assert_held(&c->io_lock);
	io->status = status;
	c->inflight--;
	/* Pairs with ub_io_over(). */
	smp_store_release(&io->over, true);	/* not shared */
	wake_up_all(&c->wq);
}

/* ---- test hooks ---- */

/* Keep @io back for a random time; in the order of that. */
static void io_hold(struct ub_copied *c, struct ub_io *io, int held)
{
	u32 ms = READ_ONCE(c->hooks.delay_ms);

	lockdep_assert_held(&c->io_lock);
	io->held = held;
	io->due = jiffies + msecs_to_jiffies(ms / 2 + get_random_u32_below(ms / 2 + 1));
	list_add_tail(&io->hold, &c->held_list);
	mod_delayed_work(system_unbound_wq, &c->hold_work, 0);
}

/* The next that is due, off the list, or NULL and when to look again. */
static struct ub_io *io_due(struct ub_copied *c, unsigned long *next)
{
	struct ub_io *io;

	*next = 0;
	list_for_each_entry(io, &c->held_list, hold) {
		long left = io->due - jiffies;

		if (left <= 0) {
			list_del_init(&io->hold);
			return io;
		}
		if (!*next || left < *next)
			*next = left;
	}
	return NULL;
}

/**
 * ub_io_hold_work() - let go of what a test hook held back long enough
 * @work: ub_copied.hold_work
 *
 * Context: work queue.
 */
void ub_io_hold_work(struct work_struct *work)
{
	struct ub_copied *c = container_of(to_delayed_work(work),
					   struct ub_copied, hold_work);
	unsigned long next;
	struct ub_io *io;

	spin_lock_irq(&c->io_lock);
	while ((io = io_due(c, &next))) {
		if (io->held != HOLD_UNSENT) {
			io_over(c, io, io->held);
			continue;
		}
		spin_unlock_irq(&c->io_lock);
		c->fabric->ops->submit(c->fabric, io);
		spin_lock_irq(&c->io_lock);
	}
	spin_unlock_irq(&c->io_lock);
	if (next)
		queue_delayed_work(system_unbound_wq, &c->hold_work, next);
}

static bool hook_loses(struct ub_copied *c)
{
	u32 lose = c->hooks.lose;

	lockdep_assert_held(&c->io_lock);
	return lose && ++c->hooks.count % lose == 0;
}

/* ---- begin, end ---- */

/**
 * ub_io_init() - an operation that was not begun
 * @io: the operation
 * @f: of the node
 * @op: what
 * @at: the window
 *
 * Context: any.
 */
void ub_io_init(struct ub_io *io, struct ub_fabric *f, enum ub_io_op op,
		const struct ub_place *at)
{
	io->op = op;
	io->at = *at;
	io->fabric = f;
	io->nruns = 0;
	io->status = 0;
	io->over = false;
	io->lost = false;
	INIT_LIST_HEAD(&io->hold);
}

/**
 * ub_io_start() - begin an operation
 * @io: filled in
 *
 * A read is done first and told late, a write done late, when a test hook
 * delays: what came between must be seen.
 *
 * Context: may sleep; no locks but ub_copied.flush.
 */
void ub_io_start(struct ub_io *io)
{
	struct ub_fabric *f = io->fabric;
	struct ub_copied *c = f->copied;
	bool hold = READ_ONCE(c->hooks.delay_ms) && io->op != UB_IO_READ;
	bool send = false;

	spin_lock_irq(&c->io_lock);
	io->over = false;
	io->lost = false;
	c->inflight++;
	if (c->closed)
		io_over(c, io, -ESHUTDOWN);
	else if (hold)
		io_hold(c, io, HOLD_UNSENT);
	else
		send = true;
	spin_unlock_irq(&c->io_lock);
	if (send)
		f->ops->submit(f, io);
}

/**
 * ub_io_done() - the transport has let go of an operation
 * @io: the operation
 * @status: 0; -EOWNERDEAD, -ESTALE: the home or the window is no more;
 *	-ESHUTDOWN: this node; else it may be tried again
 *
 * Context: any.
 */
void ub_io_done(struct ub_io *io, int status)
{
	struct ub_copied *c = io->fabric->copied;
	unsigned long flags;

	spin_lock_irqsave(&c->io_lock, flags);
	if (!status && hook_loses(c))
		io->lost = true;
	else if (READ_ONCE(c->hooks.delay_ms) && io->op == UB_IO_READ)
		io_hold(c, io, status);
	else
		io_over(c, io, status);
	spin_unlock_irqrestore(&c->io_lock, flags);
}
EXPORT_SYMBOL_GPL(ub_io_done);

/* It took too long: have it over, whatever became of it. */
static void io_give_up(struct ub_copied *c, struct ub_io *io)
{
	bool ours;

	spin_lock_irq(&c->io_lock);
	ours = !io->over && (io->lost || !list_empty(&io->hold));
	if (ours) {
		list_del_init(&io->hold);
		io_over(c, io, -ETIMEDOUT);
	}
	spin_unlock_irq(&c->io_lock);
	if (!ours && !ub_io_over(io) && c->fabric->ops->cancel)
		c->fabric->ops->cancel(c->fabric, io);
	wait_event(c->wq, ub_io_over(io));
}

static bool node_up(const struct ub_fabric *f)
{
	return READ_ONCE(f->state) == UB_FABRIC_UP;
}

/**
 * ub_io_wait() - until an operation is over
 * @io: the operation, begun
 *
 * Context: may sleep, for the detection time at most.
 * Return: its status; -ETIMEDOUT when it was given up.
 */
int ub_io_wait(struct ub_io *io)
{
	struct ub_fabric *f = io->fabric;
	struct ub_copied *c = f->copied;

	wait_event_timeout(c->wq, ub_io_over(io) || !node_up(f),
			   msecs_to_jiffies(READ_ONCE(f->detect_ms)) + 1);
	if (!ub_io_over(io))
		io_give_up(c, io);
	return io->status;
}

/**
 * ub_io_wait_killable() - the same, but a fatal signal ends it
 * @io: the operation, which goes on then
 *
 * When others wait for it, too, one of them may have begun it anew by now: only
 * a wait that took too long gives it up.
 *
 * Context: may sleep, for the detection time at most.
 * Return: 0 when it was over, -EINTR.
 */
int ub_io_wait_killable(struct ub_io *io)
{
	struct ub_fabric *f = io->fabric;
	struct ub_copied *c = f->copied;
	long left = wait_event_killable_timeout(c->wq,
			ub_io_over(io) || !node_up(f),
			msecs_to_jiffies(READ_ONCE(f->detect_ms)) + 1);

	if (left < 0)
		return -EINTR;
	if (!left || !node_up(f))
		io_give_up(c, io);
	return 0;
}

/**
 * ub_io_close() - begin no more operations, and wait for those under way
 * @c: the node's copies; the node is not up
 *
 * Context: may sleep.
 */
void ub_io_close(struct ub_copied *c)
{
	spin_lock_irq(&c->io_lock);
	c->closed = true;
	spin_unlock_irq(&c->io_lock);
	wake_up_all(&c->wq);
	wait_event(c->wq, !READ_ONCE(c->inflight));
}

/**
 * ub_io_again() - an operation failed: is it worth another try
 * @f: the fabric
 * @io: the operation, over, which can be repeated
 * @until: jiffies when to stop; 0 at first
 *
 * Context: may sleep.
 * Return: true after a short sleep.
 */
bool ub_io_again(struct ub_fabric *f, const struct ub_io *io, u64 *until)
{
	if (!*until)
		*until = get_jiffies_64() + HZ +
			 2 * msecs_to_jiffies(READ_ONCE(f->detect_ms));
	if (io->status == -EOWNERDEAD || io->status == -ESTALE ||
	    io->status == -ESHUTDOWN || !node_up(f) ||
	    time_after64(get_jiffies_64(), *until))
		return false;
	if (io->status != -ETIMEDOUT)
		msleep(20);
	return true;
}

/**
 * ub_io_run() - operations that can be repeated, all at once, to the end
 * @io: the operations, filled in
 * @n: how many
 *
 * Context: may sleep; bounded.
 */
void ub_io_run(struct ub_io *io, u32 n)
{
	u64 until = 0;
	u32 i;

	for (i = 0; i < n; i++)
		ub_io_start(&io[i]);
	for (i = 0; i < n; i++) {
		while (ub_io_wait(&io[i]) && ub_io_again(io[i].fabric, &io[i], &until))
			ub_io_start(&io[i]);
	}
}

/**
 * ub_copied_test() - UB_TEST_COPIED_*: hooks of the engine
 * @f: the fabric
 * @arg: copied in
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP windows are not copied; -EINVAL.
 */
long ub_copied_test(struct ub_fabric *f, struct ub_test *arg)
{
	struct ub_copied *c = f->copied;

	if (!c)
		return -EOPNOTSUPP;
	switch (arg->op) {
	case UB_TEST_COPIED_OFF:
		if (arg->value & ~(u64)UB_COPIED_NO_ALL)
			return -EINVAL;
		WRITE_ONCE(c->hooks.off, arg->value);
		return 0;
	case UB_TEST_COPIED_DELAY:
		if (arg->value > 10000)
			return -EINVAL;
		WRITE_ONCE(c->hooks.delay_ms, arg->value);
		return 0;
	case UB_TEST_COPIED_LOSE:
		if (arg->value > U32_MAX)
			return -EINVAL;
		spin_lock_irq(&c->io_lock);
		c->hooks.lose = arg->value;
		c->hooks.count = 0;
		spin_unlock_irq(&c->io_lock);
		return 0;
	case UB_TEST_COPIED_LIMIT:
		if (arg->value < UB_COPIED_LIMIT_MIN || arg->value > LONG_MAX)
			return -EINVAL;
		WRITE_ONCE(c->limit, arg->value);
		queue_work(system_unbound_wq, &c->evict);
		return 0;
	case UB_TEST_COPIED_PAGES:
		arg->out_value = READ_ONCE(c->pages);
		return 0;
	case UB_TEST_COPIED_BUSY:
		arg->out_value = READ_ONCE(c->inflight);
		return 0;
	default:
		return -EINVAL;
	}
}
