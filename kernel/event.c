// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of a file: a ring, read() and poll().
 *
 * Invariants:
 *  - Records come in the order in which they were posted. When the ring is
 *    full new ones are dropped and counted; UB_EVENT_OVERRUN tells how many,
 *    after the records that were kept.
 */
#include <linux/poll.h>
#include "netlink.h"
#include "ub.h"

/**
 * ub_event_post() - add a record to a file's ring
 * @file: the file
 * @ev: the record; its time is filled in
 *
 * Context: any.
 */
void ub_event_post(struct ub_file *file, const struct ub_event *ev)
{
	unsigned long flags;

	spin_lock_irqsave(&file->event_lock, flags);
	if (file->event_lost || file->event_head - file->event_tail == UB_EVENTS) {
		file->event_lost++;
		ub_count(file->fabric, events_lost);
	} else {
		struct ub_event *slot = &file->events[file->event_head % UB_EVENTS];

		*slot = *ev;
		slot->time_ns = ktime_get_ns();
		file->event_head++;
	}
	spin_unlock_irqrestore(&file->event_lock, flags);
	wake_up_interruptible(&file->event_wq);
}

/**
 * ub_event_all() - post a record to all files of a fabric, and by netlink
 * @f: the fabric
 * @ev: the record
 *
 * Context: may sleep; takes files_lock.
 */
void ub_event_all(struct ub_fabric *f, const struct ub_event *ev)
{
	struct ub_file *file;

	mutex_lock(&f->files_lock);
	list_for_each_entry(file, &f->files, fabric_node)
		ub_event_post(file, ev);
	mutex_unlock(&f->files_lock);
	ub_netlink_event(f, ev);
}

static bool event_pop(struct ub_file *file, struct ub_event *ev)
{
	bool got = true;

	spin_lock_irq(&file->event_lock);
	if (file->event_head != file->event_tail) {
		*ev = file->events[file->event_tail % UB_EVENTS];
		file->event_tail++;
	} else if (file->event_lost) {
		*ev = (struct ub_event){
			.time_ns = ktime_get_ns(),
			.type = UB_EVENT_OVERRUN,
			.node = file->fabric->node,
			.value = file->event_lost,
		};
		file->event_lost = 0;
	} else {
		got = false;
	}
	spin_unlock_irq(&file->event_lock);
	return got;
}

/* The record just popped could not be told: it is the next one again. */
static void event_unpop(struct ub_file *file, const struct ub_event *ev)
{
	spin_lock_irq(&file->event_lock);
	if (ev->type == UB_EVENT_OVERRUN) {
		file->event_lost += ev->value;
	} else if (file->event_head - file->event_tail < UB_EVENTS) {
		file->event_tail--;
		file->events[file->event_tail % UB_EVENTS] = *ev;
	} else {
		file->event_lost++;
	}
	spin_unlock_irq(&file->event_lock);
}

static bool event_there(struct ub_file *file)
{
	return READ_ONCE(file->event_head) != READ_ONCE(file->event_tail) ||
	       READ_ONCE(file->event_lost);
}

static bool event_over(struct ub_file *file)
{
	return READ_ONCE(file->fabric->state) != UB_FABRIC_UP ||
	       READ_ONCE(file->fabric->incarnation) != file->node_incarnation;
}

/**
 * ub_event_read() - read() of the device: whole records
 * @filp: the file
 * @buf: where to
 * @count: room
 * @pos: not used
 *
 * Context: process; may sleep.
 * Return: bytes; -EINVAL when not one record fits; -EAGAIN; -ESHUTDOWN when
 *	the fabric is down and everything has been read.
 */
ssize_t ub_event_read(struct file *filp, char __user *buf, size_t count,
		      loff_t *pos)
{
	struct ub_file *file = filp->private_data;
	struct ub_event ev;
	size_t done = 0;
	int err;

	if (task_tgid(current) != file->owner)
		return -EPERM;
	if (count < sizeof(ev))
		return -EINVAL;
	while (!event_there(file)) {
		if (event_over(file))
			return -ESHUTDOWN;
		if (filp->f_flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(file->event_wq, event_there(file) ||
					       event_over(file));
		if (err)
			return err;
	}
	while (count - done >= sizeof(ev) && event_pop(file, &ev)) {
		if (copy_to_user(buf + done, &ev, sizeof(ev))) {
			event_unpop(file, &ev);
			return done ?: -EFAULT;
		}
		done += sizeof(ev);
	}
	return done ?: -EAGAIN;
}

/**
 * ub_event_poll() - poll() of the device
 * @filp: the file
 * @wait: the poll table
 *
 * Context: process.
 * Return: EPOLLIN when there are records, EPOLLHUP when the fabric is down.
 */
__poll_t ub_event_poll(struct file *filp, struct poll_table_struct *wait)
{
	struct ub_file *file = filp->private_data;
	__poll_t mask = 0;

	poll_wait(filp, &file->event_wq, wait);
	if (event_there(file))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (event_over(file))
		mask |= EPOLLHUP;
	return mask;
}
