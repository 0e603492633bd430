// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/ubfab<N>: open, ioctl dispatch, close.
 *
 * Invariants:
 *  - A command's struct is copied in before, and out after, the fabric is
 *    entered: no user memory is touched under a lock.
 *  - Only the process that opened a file uses it; a file is dead, but can be
 *    closed, once its fabric is fenced, gone, or in another incarnation.
 *  - The lane of a file dies once: in ->flush when its process ends or calls
 *    exec, in the tick when that was missed, at the latest in ->release.
 */
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "ub.h"

#define UB_MINORS	(MINORMASK >> 8)
#define UB_LANE_MAX	0xffff

static dev_t ub_devt;

static char *ub_devnode(UB_DEVNODE_CONST struct device *dev, umode_t *mode)
{
	if (mode)
		*mode = 0660;
	return NULL;
}

/* Of all devices; also names them in messages before they are published. */
struct class ub_class = {
	.name		= "ub",
	.devnode	= ub_devnode,
};

/* ---- lanes ---- */

/**
 * ub_lane_gone() - did the process that opened a file end, or call exec
 * @file: the file
 *
 * Context: any.
 * Return: true when it did, and the lane is not dead yet.
 */
bool ub_lane_gone(struct ub_file *file)
{
	bool gone;

	if (READ_ONCE(file->lane_dead))
		return false;
	rcu_read_lock();
	gone = !pid_task(file->owner, PIDTYPE_TGID);
	rcu_read_unlock();
	return gone || !atomic_read(&file->mm->mm_users);
}

static void lane_end(struct ub_file *file, u16 reason)
{
	mutex_lock(&file->lock);
	if (file->lane_dead) {
		mutex_unlock(&file->lock);
		return;
	}
	WRITE_ONCE(file->lane_dead, true);
	mutex_unlock(&file->lock);
	ub_group_lane_dead(file, reason);
}

/**
 * ub_lane_dead() - the process of a file ended
 * @file: the file
 *
 * Context: may sleep; at most files_lock is held.
 */
void ub_lane_dead(struct ub_file *file)
{
	lane_end(file, UB_REASON_EXIT);
}

static int ub_open(struct inode *inode, struct file *filp)
{
	struct ub_fabric *f = container_of(inode->i_cdev, struct ub_fabric, cdev);
	struct ub_file *file;
	int lane, err;

	if (!current->mm)
		return -EINVAL;
	if (READ_ONCE(f->state) == UB_FABRIC_GONE || !try_module_get(f->owner))
		return -ESHUTDOWN;
	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	err = -ENOMEM;
	if (!file)
		goto module;
	file->events = kvcalloc(UB_EVENTS, sizeof(*file->events),
				GFP_KERNEL_ACCOUNT);
	if (!file->events)
		goto file;
	lane = ida_alloc_max(&f->lanes, UB_LANE_MAX, GFP_KERNEL);
	err = lane;
	if (lane < 0)
		goto events;

	get_device(&f->dev);
	file->fabric = f;
	file->lane = lane;
	file->lane_incarnation = atomic64_inc_return(&f->lane_incarnation);
	file->node_incarnation = f->incarnation;
	file->owner = get_pid(task_tgid(current));
	file->mm = current->mm;
	mmgrab(file->mm);
	mutex_init(&file->lock);
	file->attachments = RB_ROOT;
	INIT_LIST_HEAD(&file->windows);
	file->ahead_mark = ULONG_MAX;
	xa_init_flags(&file->groups, XA_FLAGS_ALLOC1);
	spin_lock_init(&file->event_lock);
	init_waitqueue_head(&file->event_wq);

	filp->private_data = file;
	filp->f_mapping = f->inode->i_mapping;
	mutex_lock(&f->files_lock);
	list_add_tail(&file->fabric_node, &f->files);
	mutex_unlock(&f->files_lock);
	return nonseekable_open(inode, filp);

events:
	kvfree(file->events);
file:
	kfree(file);
module:
	module_put(f->owner);
	return err;
}

/* By exec, or with all its threads: one alone may close files of its own. */
static bool owner_ends(const struct ub_file *file)
{
	if (task_tgid(current) != file->owner)
		return false;
	if (!(current->flags & PF_EXITING))
		return current->mm != file->mm;
	/* not shared */
	return !atomic_read(&current->signal->live) ||
	       (READ_ONCE(current->signal->flags) & SIGNAL_GROUP_EXIT);
}

static int ub_flush(struct file *filp, fl_owner_t id)
{
	struct ub_file *file = filp->private_data;

	if (owner_ends(file))
		ub_lane_dead(file);
	return 0;
}

static int ub_release(struct inode *inode, struct file *filp)
{
	struct ub_file *file = filp->private_data;
	struct ub_fabric *f = file->fabric;

	mutex_lock(&f->files_lock);
	list_del(&file->fabric_node);
	mutex_unlock(&f->files_lock);
	lane_end(file, UB_REASON_LEFT);
	ub_group_release(file);
	ub_win_release(file);
	ub_quiet_release(file);
	xa_destroy(&file->groups);
	ida_free(&f->lanes, file->lane);
	mmdrop(file->mm);
	put_pid(file->owner);
	kvfree(file->events);
	kfree(file);
	module_put(f->owner);
	put_device(&f->dev);
	return 0;
}

/* ---- commands ---- */

union ub_ucmd {
	struct ub_info info;
	struct ub_win_create win_create;
	struct ub_win_id win_id;
	struct ub_win_attach win_attach;
	struct ub_win_detach win_detach;
	struct ub_group_create group_create;
	struct ub_group_id group_id;
	struct ub_group_shrink group_shrink;
	struct ub_barrier barrier;
	struct ub_xfer xfer;
	struct ub_range range;
	struct ub_test test;
};

static long cmd_info(struct ub_file *file, union ub_ucmd *u, void __user *uarg)
{
	struct ub_fabric *f = file->fabric;
	struct ub_info *i = &u->info;

	i->out_abi = UB_ABI_VERSION;
	i->out_layout = UB_LAYOUT_VERSION;
	i->out_caps = UB_CAP_GROUP_PAGES;
	if (!f->copied)
		i->out_caps |= UB_CAP_COHERENT | UB_CAP_USER_BARRIER | UB_CAP_QUIET;
	if (f->ops->ring)
		i->out_caps |= UB_CAP_DOORBELL;
	if (ub_test_hooks)
		i->out_caps |= UB_CAP_TEST;
	i->out_fabric[0] = f->fabric_id[0];
	i->out_fabric[1] = f->fabric_id[1];
	i->out_incarnation = f->incarnation;
	i->out_node = f->node;
	i->out_memtype = f->memtype;
	i->out_max_nodes = f->geo.max_nodes;
	i->out_max_members = f->geo.max_members;
	i->out_max_lines = f->geo.max_lines;
	i->out_detect_ms = READ_ONCE(f->detect_ms);
	i->out_slice = f->geo.slice_size;
	i->out_free = READ_ONCE(f->slice_free);
	memset(i->out_transport, 0, sizeof(i->out_transport));
	strscpy(i->out_transport, f->transport, sizeof(i->out_transport));
	return 0;
}

static long cmd_win_create(struct ub_file *file, union ub_ucmd *u,
			   void __user *uarg)
{
	return u->win_create.reserved ? -EINVAL :
	       ub_win_create(file, &u->win_create);
}

static long cmd_win_destroy(struct ub_file *file, union ub_ucmd *u,
			    void __user *uarg)
{
	return u->win_id.reserved ? -EINVAL : ub_win_destroy(file, &u->win_id);
}

static long cmd_win_rotate(struct ub_file *file, union ub_ucmd *u,
			   void __user *uarg)
{
	return u->win_id.reserved ? -EINVAL : ub_win_rotate(file, &u->win_id);
}

static long cmd_win_attach(struct ub_file *file, union ub_ucmd *u,
			   void __user *uarg)
{
	return u->win_attach.reserved || u->win_attach.desc.reserved ? -EINVAL :
	       ub_win_attach(file, &u->win_attach);
}

static long cmd_win_detach(struct ub_file *file, union ub_ucmd *u,
			   void __user *uarg)
{
	return ub_win_detach(file, &u->win_detach);
}

static long cmd_group_create(struct ub_file *file, union ub_ucmd *u,
			     void __user *uarg)
{
	return u->group_create.reserved || u->group_create.shape.reserved ?
	       -EINVAL : ub_group_create(file, &u->group_create);
}

static long cmd_group_destroy(struct ub_file *file, union ub_ucmd *u,
			      void __user *uarg)
{
	return u->group_id.reserved ? -EINVAL :
	       ub_group_destroy(file, &u->group_id);
}

static long cmd_group_shrink(struct ub_file *file, union ub_ucmd *u,
			     void __user *uarg)
{
	return ub_group_shrink(file, &u->group_shrink);
}

static long cmd_barrier(struct ub_file *file, union ub_ucmd *u,
			void __user *uarg)
{
	return ub_barrier(file, &u->barrier);
}

static long cmd_kick(struct ub_file *file, union ub_ucmd *u, void __user *uarg)
{
	return u->group_id.reserved ? -EINVAL : ub_kick(file, &u->group_id);
}

static long cmd_xfer(struct ub_file *file, union ub_ucmd *u, void __user *uarg)
{
	return ub_xfer(file, &u->xfer);
}

static long cmd_fence(struct ub_file *file, union ub_ucmd *u, void __user *uarg)
{
	return ub_fence(file, &u->range);
}

static long cmd_sync(struct ub_file *file, union ub_ucmd *u, void __user *uarg)
{
	return ub_sync_range(file, &u->range);
}

static long cmd_test(struct ub_file *file, union ub_ucmd *u, void __user *uarg)
{
	return u->test.reserved ? -EINVAL : ub_test(file, &u->test);
}

#define UB_C_ANYBODY	BIT(0)	/* any process, and on a dead fabric */
#define UB_C_ENTER	BIT(1)	/* dispatch enters the fabric for it */
#define UB_C_OUT	BIT(2)	/* has out fields */
#define UB_C_OUT_ERR	BIT(3)	/* they are written on error, too */
#define UB_C_TEST	BIT(4)	/* on a dead fabric, with test hooks */

struct ub_cmd {
	u32 size;
	u32 min_size;
	u32 how;
	u32 flags;		/* that the struct may have */
	long (*fn)(struct ub_file *file, union ub_ucmd *u, void __user *uarg);
};

#define UB_CMD(nr, member, last, _how, _flags, _fn)			\
	[(nr) - UB_CMD_INFO] = {					\
		.size = sizeof(((union ub_ucmd *)0)->member) +		\
			BUILD_BUG_ON_ZERO(offsetof(typeof(		\
			((union ub_ucmd *)0)->member), flags) != 4),	\
		.min_size = offsetofend(typeof(				\
			((union ub_ucmd *)0)->member), last),		\
		.how = _how,						\
		.flags = _flags,					\
		.fn = _fn,						\
	}

static const struct ub_cmd commands[] = {
	UB_CMD(UB_CMD_INFO, info, out_transport, UB_C_ANYBODY | UB_C_OUT, 0,
	       cmd_info),
	UB_CMD(UB_CMD_WIN_CREATE, win_create, out_token, UB_C_OUT, 0,
	       cmd_win_create),
	UB_CMD(UB_CMD_WIN_DESTROY, win_id, out_token, UB_C_ENTER, 0,
	       cmd_win_destroy),
	UB_CMD(UB_CMD_WIN_ROTATE, win_id, out_token, UB_C_ENTER | UB_C_OUT,
	       UB_ROTATE_FRESH, cmd_win_rotate),
	UB_CMD(UB_CMD_WIN_ATTACH, win_attach, reserved, 0, 0, cmd_win_attach),
	UB_CMD(UB_CMD_WIN_DETACH, win_detach, gva, 0, 0, cmd_win_detach),
	UB_CMD(UB_CMD_GROUP_CREATE, group_create, out_clash,
	       UB_C_OUT | UB_C_OUT_ERR,
	       UB_GROUP_WORLD | UB_GROUP_USER_DRIVER | UB_GROUP_BASE |
	       UB_GROUP_ABSENT,
	       cmd_group_create),
	UB_CMD(UB_CMD_GROUP_DESTROY, group_id, reserved, 0, 0,
	       cmd_group_destroy),
	UB_CMD(UB_CMD_GROUP_SHRINK, group_shrink, out_lost,
	       UB_C_OUT | UB_C_OUT_ERR, 0, cmd_group_shrink),
	UB_CMD(UB_CMD_BARRIER, barrier, out_lost, UB_C_OUT | UB_C_OUT_ERR,
	       UB_BARRIER_ARRIVE | UB_BARRIER_WAIT | UB_BARRIER_TEST |
	       UB_BARRIER_HANDOVER | UB_BARRIER_SLEEP, cmd_barrier),
	UB_CMD(UB_CMD_KICK, group_id, reserved, 0, 0, cmd_kick),
	UB_CMD(UB_CMD_XFER, xfer, out_done, UB_C_OUT | UB_C_OUT_ERR, 0,
	       cmd_xfer),
	UB_CMD(UB_CMD_FENCE, range, length, 0, 0, cmd_fence),
	UB_CMD(UB_CMD_SYNC, range, length, 0, 0, cmd_sync),
	UB_CMD(UB_CMD_TEST, test, out_value, UB_C_TEST | UB_C_OUT, 0, cmd_test),
};

/* May the caller use this file, and is it alive? */
static int cmd_allowed(struct ub_file *file, u32 how)
{
	struct ub_fabric *f = file->fabric;

	if (how & UB_C_ANYBODY)
		return 0;
	if (task_tgid(current) != file->owner || current->mm != file->mm)
		return -EPERM;
	if (how & UB_C_TEST)
		return 0;
	if (READ_ONCE(f->state) != UB_FABRIC_UP ||
	    READ_ONCE(f->incarnation) != file->node_incarnation)
		return -ESHUTDOWN;
	return 0;
}

static long cmd_run(struct ub_file *file, const struct ub_cmd *c,
		    union ub_ucmd *u, void __user *uarg)
{
	long ret;

	if (!(c->how & UB_C_ENTER))
		return c->fn(file, u, uarg);
	ret = ub_file_enter(file);
	if (ret)
		return ret;
	ret = c->fn(file, u, uarg);
	ub_fabric_exit(file->fabric);
	return ret;
}

/* The caller could not be told of a new object: it shall not have it. */
static void take_back(struct ub_file *file, u32 cmd, const union ub_ucmd *u)
{
	struct ub_win_id win = { .window = u->win_create.out_desc.window };
	struct ub_group_id group = { };

	switch (cmd) {
	case UB_CMD_WIN_CREATE:
		if (ub_file_enter(file))
			return;	/* it goes with the file */
		ub_win_destroy(file, &win);
		ub_fabric_exit(file->fabric);
		return;
	case UB_CMD_GROUP_CREATE:
		group.group = u->group_create.out_group;
		break;
	case UB_CMD_GROUP_SHRINK:
		group.group = u->group_shrink.out_group;
		break;
	default:
		return;
	}
	ub_group_destroy(file, &group);
}

static long ub_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct ub_file *file = filp->private_data;
	void __user *uarg = (void __user *)arg;
	u32 nr = _IOC_NR(cmd) - UB_CMD_INFO, size, head = 2 * sizeof(u32);
	const struct ub_cmd *c;
	union ub_ucmd u = { };
	long ret;

	BUILD_BUG_ON(ARRAY_SIZE(commands) != UB_CMD_END - UB_CMD_INFO);
	BUILD_BUG_ON(sizeof(u) > 512);

	if (cmd != _IO(UB_IOC_TYPE, _IOC_NR(cmd)) || nr >= ARRAY_SIZE(commands))
		return -ENOTTY;
	c = &commands[nr];
	if ((c->how & UB_C_TEST) && !ub_test_hooks)
		return -ENOTTY;
	ret = cmd_allowed(file, c->how);
	if (ret)
		return ret;
	if (get_user(size, (u32 __user *)uarg))
		return -EFAULT;
	if (size < c->min_size)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(&u, c->size, uarg, size);
	if (ret)
		return ret;
	if (u.info.flags & ~c->flags)
		return -EINVAL;

	/* What cannot be told must not be done. */
	if ((c->how & UB_C_OUT) && copy_to_user(uarg, &u, min(size, c->size)))
		return -EFAULT;
	ret = cmd_run(file, c, &u, uarg);
	if (!(c->how & UB_C_OUT) || (ret && !(c->how & UB_C_OUT_ERR)))
		return ret;
	/* A call that is made again asks for less: it has arrived. */
	if (ret == -ERESTARTSYS || ret == -ETIMEDOUT || ret == -EAGAIN)
		head = offsetof(struct ub_info, flags);
	if (!copy_to_user(uarg + head, (char *)&u + head,
			  min(size, c->size) - head))
		return ret;
	if (!ret || ret == -EOWNERDEAD)
		take_back(file, _IOC_NR(cmd), &u);
	return -EFAULT;
}

static const struct file_operations ub_fops = {
	.owner		= THIS_MODULE,
	.open		= ub_open,
	.flush		= ub_flush,
	.release	= ub_release,
	.unlocked_ioctl	= ub_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.mmap		= ub_mmap,
	.read		= ub_event_read,
	.poll		= ub_event_poll,
};

/**
 * ub_chardev_add() - publish a fabric's device
 * @f: the fabric, up
 *
 * Context: may sleep.
 * Return: 0 or -errno.
 */
int ub_chardev_add(struct ub_fabric *f)
{
	f->dev.devt = MKDEV(MAJOR(ub_devt), f->minor);
	cdev_init(&f->cdev, &ub_fops);
	f->cdev.owner = THIS_MODULE;
	return cdev_device_add(&f->cdev, &f->dev);
}

/**
 * ub_chardev_del() - take a fabric's device away; open files stay
 * @f: the fabric
 *
 * Context: may sleep.
 */
void ub_chardev_del(struct ub_fabric *f)
{
	if (device_is_registered(&f->dev))
		cdev_device_del(&f->cdev, &f->dev);
}

/**
 * ub_chardev_init() - class and device numbers
 *
 * Context: module init.
 * Return: 0 or -errno.
 */
int ub_chardev_init(void)
{
	int err = alloc_chrdev_region(&ub_devt, 0, UB_MINORS, "ub");

	if (err)
		return err;
	err = class_register(&ub_class);
	if (err)
		unregister_chrdev_region(ub_devt, UB_MINORS);
	return err;
}

/**
 * ub_chardev_exit() - undo ub_chardev_init()
 *
 * Context: module exit.
 */
void ub_chardev_exit(void)
{
	class_unregister(&ub_class);
	unregister_chrdev_region(ub_devt, UB_MINORS);
}
