// SPDX-License-Identifier: GPL-2.0-only
/*
 * Life of a fabric: alloc, register, unregister, put.
 *
 * Invariants:
 *  - The char device is published last and goes first.
 *  - The state changes under state_sem held for write. While it is UP and
 *    state_sem is held for read, the shared memory may be touched; after
 *    ub_fabric_unregister() nobody touches it, whatever files are still open.
 *  - Mappings are found through one inode per fabric, so revoking reaches
 *    those made through any device node.
 *  - A fabric whose memory holds something else is REFUSED: listed, so that it
 *    can be seen and formatted, but without a device and a member of nothing.
 *  - Joining again is JOINING: nobody in here reads what it writes then.
 *  - The fabric is freed with its struct device.
 */
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/pseudo_fs.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include "debug.h"
#include "netlink.h"
#include "trace.h"
#include "ub.h"

#define UB_FS_MAGIC	0x55424641

/* Registered fabrics. */
LIST_HEAD(ub_fabrics);
DEFINE_MUTEX(ub_fabrics_lock);	/* of the list; members of it stay up under it */

static struct workqueue_struct *ub_wq;
static struct vfsmount *ub_mnt;
static DEFINE_IDA(ub_minors);

static int ub_fs_init_context(struct fs_context *fc)
{
	return init_pseudo(fc, UB_FS_MAGIC) ? 0 : -ENOMEM;
}

/* No owner: it would pin this module for as long as it is mounted by it. */
static struct file_system_type ub_fs_type = {
	.name		 = "ub",
	.init_fs_context = ub_fs_init_context,
	.kill_sb	 = kill_anon_super,
};

/**
 * ub_fabric_init() - what all fabrics share
 *
 * Context: module init.
 * Return: 0 or -errno.
 */
int ub_fabric_init(void)
{
	ub_wq = alloc_workqueue("ub", WQ_UNBOUND | WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	if (!ub_wq)
		return -ENOMEM;
	ub_mnt = kern_mount(&ub_fs_type);
	if (IS_ERR(ub_mnt)) {
		destroy_workqueue(ub_wq);
		return PTR_ERR(ub_mnt);
	}
	return 0;
}

/**
 * ub_fabric_fini() - undo ub_fabric_init()
 *
 * Context: module exit; no fabric is left.
 */
void ub_fabric_fini(void)
{
	kern_unmount(ub_mnt);
	destroy_workqueue(ub_wq);
	ida_destroy(&ub_minors);
}

static void fabric_release(struct device *dev)
{
	struct ub_fabric *f = container_of(dev, struct ub_fabric, dev);

	/* A late bell may have queued it after unregistering. */
	cancel_delayed_work_sync(&f->tick);
	ub_instant_arm(f, 0, 0);
	ub_copied_free(f);
	ub_win_forget(f);
	xa_destroy(&f->windows);
	ida_destroy(&f->lanes);
	if (f->inode)
		iput(f->inode);
	if (f->minor >= 0)
		ida_free(&ub_minors, f->minor);
	free_percpu(f->stats);
	bitmap_free(f->slice_map);
	kvfree(f->slot_watch);
	kvfree(f->peer);
	kfree(f);
}

static void fabric_init_locks(struct ub_fabric *f)
{
	init_rwsem(&f->state_sem);
	init_rwsem(&f->map_sem);
	mutex_init(&f->life);
	mutex_init(&f->win_lock);
	mutex_init(&f->files_lock);
	mutex_init(&f->members_lock);
	spin_lock_init(&f->sleepers_lock);
	init_waitqueue_head(&f->pause_wq);
	init_waitqueue_head(&f->win_wq);
	INIT_LIST_HEAD(&f->node_list);
	INIT_LIST_HEAD(&f->quarantine);
	INIT_LIST_HEAD(&f->files);
	INIT_LIST_HEAD(&f->members);
	INIT_LIST_HEAD(&f->sleepers);
	INIT_DELAYED_WORK(&f->tick, ub_member_tick);
	xa_init_flags(&f->windows, XA_FLAGS_ALLOC);
	ida_init(&f->lanes);
}

/**
 * ub_fabric_alloc() - a fabric that is not attached yet
 * @ops: the transport
 * @priv: the transport's
 * @node: node id of this kernel on it
 * @owner: module of the transport; pinned by open files
 *
 * Context: may sleep.
 * Return: the fabric, to be freed with ub_fabric_put(), or an ERR_PTR().
 */
struct ub_fabric *ub_fabric_alloc(const struct ub_transport_ops *ops, void *priv,
				  u32 node, struct module *owner)
{
	struct ub_fabric *f;
	int err = -ENOMEM;

	if (node > UB_GVA_NODE_MAX)
		return ERR_PTR(-EINVAL);
	f = kzalloc(sizeof(*f), GFP_KERNEL);
	if (!f)
		return ERR_PTR(-ENOMEM);
	fabric_init_locks(f);
	f->ops = ops;
	f->priv = priv;
	f->owner = owner;
	f->node = node;
	f->state = UB_FABRIC_GONE;
	ub_fabric_detect(f, READ_ONCE(ub_detect_ms));
	strscpy(f->transport, ops->name, sizeof(f->transport));
	device_initialize(&f->dev);
	f->dev.release = fabric_release;
	f->dev.class = &ub_class;

	f->minor = ida_alloc_max(&ub_minors, MINORMASK >> 8, GFP_KERNEL);
	if (f->minor < 0) {
		err = f->minor;
		goto put;
	}
	err = dev_set_name(&f->dev, "ubfab%d", f->minor);
	if (err)
		goto put;
	f->inode = alloc_anon_inode(ub_mnt->mnt_sb);
	if (IS_ERR(f->inode)) {
		err = PTR_ERR(f->inode);
		f->inode = NULL;
		goto put;
	}
	f->stats = ub_stats_alloc();
	if (f->stats)
		return f;
	err = -ENOMEM;
put:
	put_device(&f->dev);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_GPL(ub_fabric_alloc);

/**
 * ub_fabric_detect() - set the detection time of this node
 * @f: the fabric
 * @detect_ms: clamped
 *
 * Context: any.
 */
void ub_fabric_detect(struct ub_fabric *f, u32 detect_ms)
{
	detect_ms = clamp(detect_ms, UB_DETECT_MS_MIN, UB_DETECT_MS_MAX);
	WRITE_ONCE(f->detect_ms, detect_ms);
	WRITE_ONCE(f->period_ms, clamp(detect_ms / 8, 10U, 125U));
}

static int fabric_lay_out(struct ub_fabric *f, void *mem, u64 size)
{
	int err = ub_shm_geometry(size, &f->geo);

	if (err) {
		dev_err(&f->dev, "memory of %llu KiB is too small: the least is %llu KiB\n",
			size >> 10, ub_shm_least() >> 10);
		return err;
	}
	if (f->ops->replica)
		ub_shm_one_slice(&f->geo);
	f->mem = mem;
	f->slots = (struct ub_slots){
		.recs = mem + f->geo.recs_off,
		.pages = mem + f->geo.pages_off,
		.nslots = f->geo.nslots,
		.rec_stride = f->geo.rec_stride,
		.map_size = f->geo.map_size,
		.max_members = f->geo.max_members,
	};
	f->self = f->geo.max_nodes;
	if (f->ops->submit && ub_copied_start(f))
		return -ENOMEM;
	f->peer = kvcalloc(f->geo.max_nodes, sizeof(*f->peer), GFP_KERNEL);
	f->slice_map = bitmap_zalloc(f->geo.slice_size / UB_GVA_ALIGN, GFP_KERNEL);
	f->slot_watch = kvcalloc(f->geo.nslots, sizeof(*f->slot_watch), GFP_KERNEL);
	return f->peer && f->slice_map && f->slot_watch ? 0 : -ENOMEM;
}

static void fabric_set_state(struct ub_fabric *f, enum ub_fabric_state state)
{
	down_write(&f->state_sem);
	f->state = state;
	up_write(&f->state_sem);
}

/* Become a member and let callers in. */
static int fabric_join(struct ub_fabric *f)
{
	int err = ub_member_attach(f);

	if (err)
		return err;
	f->killed = false;
	f->paused = false;
	ub_copied_open(f);
	fabric_set_state(f, UB_FABRIC_UP);
	ub_fabric_requeue(f, 0);
	return 0;
}

/* Dumps go by number, and numbers are used again. */
static void fabric_list(struct ub_fabric *f)
{
	struct list_head *at;

	mutex_lock(&ub_fabrics_lock);
	list_for_each(at, &ub_fabrics)
		if (list_entry(at, struct ub_fabric, node_list)->minor > f->minor)
			break;
	list_add_tail(&f->node_list, at);
	ub_changed(UB_CHANGE_FABRIC);
	mutex_unlock(&ub_fabrics_lock);
	ub_netlink_fabric(f, UB_NL_CMD_FABRIC_ADD_NTF);
}

/**
 * ub_fabric_publish() - offer the device of a fabric that is up
 * @f: the fabric
 *
 * Context: may sleep.
 * Return: 0 or -errno.
 */
int ub_fabric_publish(struct ub_fabric *f)
{
	int err = ub_chardev_add(f);

	if (!err)
		dev_info(&f->dev, "node %u, incarnation %llu, %s, %llu MiB\n",
			 f->node, f->incarnation, f->transport, f->geo.size >> 20);
	if (!err && !f->ops->ring)
		dev_info(&f->dev, "no doorbell: sleepers look again every %u to %u us\n",
			 UB_TIMER_MIN_US, UB_TIMER_MAX_US);
	return err;
}

/**
 * ub_fabric_register() - attach the node and publish its device
 * @f: from ub_fabric_alloc()
 * @mem: kernel mapping of the shared memory, valid until unregistered
 * @size: its bytes
 * @memtype: how it is mapped
 *
 * When the memory holds something else, the fabric is registered without a
 * device, and waits to be formatted or unregistered.
 *
 * Context: may sleep, for twice the detection time when the memory holds
 *	nodes that are all silent.
 * Return: 0, or -errno; then the caller calls ub_fabric_put().
 */
int ub_fabric_register(struct ub_fabric *f, void *mem, u64 size,
		       enum ub_memtype memtype)
{
	int err;

	f->memtype = memtype;
	err = fabric_lay_out(f, mem, size);
	if (err)
		return err;
	err = fabric_join(f);
	if (err && err != -EMEDIUMTYPE)
		return err;
	ub_debug_fabric_add(f);
	if (err) {
		fabric_set_state(f, UB_FABRIC_REFUSED);
		dev_err(&f->dev, "no device: 'ubfab fabric format %s force' erases the memory\n",
			dev_name(&f->dev));
	} else {
		err = ub_fabric_publish(f);
		if (err) {
			ub_fabric_unregister(f);
			return err;
		}
	}
	fabric_list(f);
	return 0;
}
EXPORT_SYMBOL_GPL(ub_fabric_register);

/**
 * ub_fabric_rejoin_locked() - a node that is no member joins again
 * @f: the fabric, fenced or refused
 *
 * Context: may sleep, as for ub_fabric_register(); @f->life is held.
 * Return: 0, with a new incarnation; -EBUSY when it is not fenced or refused;
 *	-ESHUTDOWN when it is about to go; or what ub_member_attach() returns,
 *	and the state is as before.
 */
int ub_fabric_rejoin_locked(struct ub_fabric *f)
{
	enum ub_fabric_state before = READ_ONCE(f->state);
	int err;

	lockdep_assert_held(&f->life);
	if (READ_ONCE(f->leaving))
		return -ESHUTDOWN;
	if (before != UB_FABRIC_FENCED && before != UB_FABRIC_REFUSED)
		return -EBUSY;
	/* After this no dump reads the peers. */
	mutex_lock(&ub_fabrics_lock);
	fabric_set_state(f, UB_FABRIC_JOINING);
	mutex_unlock(&ub_fabrics_lock);
	cancel_delayed_work_sync(&f->tick);
	err = fabric_join(f);
	if (err)
		fabric_set_state(f, before);
	ub_changed(UB_CHANGE_NODE);
	return err;
}

/**
 * ub_fabric_rejoin() - a fenced node takes part again
 * @f: the fabric
 *
 * Files that are open stay dead.
 *
 * Context: may sleep, as for ub_fabric_register(); no locks.
 * Return: as ub_fabric_rejoin_locked(); -EBUSY also when it was refused.
 */
int ub_fabric_rejoin(struct ub_fabric *f)
{
	int err = -EBUSY;

	mutex_lock(&f->life);
	if (READ_ONCE(f->state) != UB_FABRIC_REFUSED)
		err = ub_fabric_rejoin_locked(f);
	mutex_unlock(&f->life);
	return err;
}

/* Wake everybody who waits for anything of this node. */
static void fabric_wake(struct ub_fabric *f)
{
	struct ub_file *file;

	ub_bar_wake_local(f);
	wake_up_all(&f->pause_wq);
	wake_up_all(&f->win_wq);
	mutex_lock(&f->files_lock);
	list_for_each_entry(file, &f->files, fabric_node)
		wake_up_all(&file->event_wq);
	mutex_unlock(&f->files_lock);
}

/**
 * ub_fabric_unregister() - leave the fabric; open files are dead but safe
 * @f: the fabric
 *
 * Never waits for a peer. Afterwards the transport is not called any more, and
 * the shared memory is touched by ub_fabric_bell() alone.
 *
 * Context: may sleep; no locks.
 */
void ub_fabric_unregister(struct ub_fabric *f)
{
	bool listed, up;

	WRITE_ONCE(f->leaving, true);
	mutex_lock(&f->life);
	mutex_lock(&ub_fabrics_lock);
	listed = !list_empty(&f->node_list);
	list_del_init(&f->node_list);
	ub_changed(UB_CHANGE_FABRIC);
	mutex_unlock(&ub_fabrics_lock);
	ub_chardev_del(f);
	ub_debug_fabric_del(f);

	/* Callers that a test hook holds would never let go of state_sem. */
	WRITE_ONCE(f->paused, false);
	wake_up_all(&f->pause_wq);
	down_write(&f->state_sem);
	up = f->state == UB_FABRIC_UP;
	f->state = UB_FABRIC_GONE;
	up_write(&f->state_sem);
	synchronize_rcu();	/* bells */
	cancel_delayed_work_sync(&f->tick);

	ub_mmap_revoke_all(f);
	ub_copied_drop_all(f);
	fabric_wake(f);
	if (up)
		ub_member_detach(f);
	ub_win_forget(f);
	mutex_unlock(&f->life);
	if (listed)
		ub_netlink_fabric(f, UB_NL_CMD_FABRIC_DEL_NTF);
}
EXPORT_SYMBOL_GPL(ub_fabric_unregister);

/**
 * ub_fabric_put() - give up the reference from ub_fabric_alloc()
 * @f: the fabric, unregistered or never registered
 *
 * Context: may sleep.
 */
void ub_fabric_put(struct ub_fabric *f)
{
	put_device(&f->dev);
}
EXPORT_SYMBOL_GPL(ub_fabric_put);

/**
 * ub_fabric_bell() - a doorbell for this node arrived
 * @f: the fabric
 *
 * Wakes the local sleepers; when a peer asked for it, the tick runs at once.
 *
 * Context: any, hard interrupts included, between alloc and put.
 */
void ub_fabric_bell(struct ub_fabric *f)
{
	/* ub_fabric_unregister() waits for bells that still see it up. */
	rcu_read_lock();
	if (READ_ONCE(f->state) == UB_FABRIC_UP) {
		ub_count(f, bells);
		ub_bar_wake_local(f);
		if (ub_ld(&ub_shm_node_rec(f, f->self)->poke))
			mod_delayed_work(ub_wq, &f->tick, 0);
	}
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(ub_fabric_bell);

/**
 * ub_fabric_enter_now() - ub_fabric_enter(), whatever a test hook holds
 * @f: the fabric
 *
 * For the tick, and for ends that must not fail.
 *
 * Context: as ub_fabric_enter().
 * Return: 0 or -ESHUTDOWN.
 */
int ub_fabric_enter_now(struct ub_fabric *f)
{
	down_read(&f->state_sem);
	if (f->state == UB_FABRIC_UP)
		return 0;
	up_read(&f->state_sem);
	return -ESHUTDOWN;
}
EXPORT_SYMBOL_GPL(ub_fabric_enter_now);

/**
 * ub_fabric_enter() - begin to touch the shared memory
 * @f: the fabric
 *
 * Context: may sleep. On success state_sem is held for read; do not sleep for
 *	long, and do not touch user memory, before ub_fabric_exit().
 * Return: 0; -ESHUTDOWN when the node is fenced or gone; -EINTR when killed
 *	while a test hook holds all calls.
 */
int ub_fabric_enter(struct ub_fabric *f)
{
	if (READ_ONCE(f->paused) && !(current->flags & (PF_EXITING | PF_WQ_WORKER)) &&
	    wait_event_killable(f->pause_wq, !READ_ONCE(f->paused) ||
				READ_ONCE(f->state) != UB_FABRIC_UP))
		return -EINTR;
	return ub_fabric_enter_now(f);
}

/**
 * ub_file_enter() - the same for the life of the node that @file was opened in
 * @file: the lane
 *
 * After the node joined again, what a former life named in the shared memory
 * may belong to others.
 *
 * Context: as ub_fabric_enter(), ends with ub_fabric_exit().
 * Return: as ub_fabric_enter(); -ESHUTDOWN also for a file of a former life.
 */
int ub_file_enter(struct ub_file *file)
{
	struct ub_fabric *f = file->fabric;
	int err = ub_fabric_enter(f);

	if (!err && f->incarnation != file->node_incarnation) {
		ub_fabric_exit(f);
		err = -ESHUTDOWN;
	}
	return err;
}

/**
 * ub_fabric_exit() - end what ub_fabric_enter() began
 * @f: the fabric
 *
 * Context: any.
 */
void ub_fabric_exit(struct ub_fabric *f)
{
	up_read(&f->state_sem);
}
EXPORT_SYMBOL_GPL(ub_fabric_exit);

/**
 * ub_fabric_fenced() - peers took this node for dead: stop
 * @f: the fabric
 * @reason: enum ub_reason
 *
 * Refuses new work, zaps all mappings, wakes all sleepers, tells all files.
 *
 * Context: may sleep; no locks.
 */
void ub_fabric_fenced(struct ub_fabric *f, u16 reason)
{
	struct ub_event ev = {
		.type = UB_EVENT_FENCED,
		.reason = reason,
		.node = f->node,
		.incarnation = f->incarnation,
	};

	if (READ_ONCE(f->state) != UB_FABRIC_UP)
		return;
	/* First: a reader that finds the node down looks no more. */
	ub_event_all(f, &ev);
	down_write(&f->state_sem);
	if (f->state != UB_FABRIC_UP) {
		up_write(&f->state_sem);
		return;
	}
	f->state = UB_FABRIC_FENCED;
	f->fence_reason = reason;
	up_write(&f->state_sem);
	ub_mmap_revoke_all(f);
	ub_copied_drop_all(f);
	fabric_wake(f);
}

/**
 * ub_fabric_requeue() - run the tick again after its period
 * @f: the fabric
 * @delay_ms: from now
 *
 * Context: any.
 */
void ub_fabric_requeue(struct ub_fabric *f, u32 delay_ms)
{
	queue_delayed_work(ub_wq, &f->tick, msecs_to_jiffies(delay_ms));
}
