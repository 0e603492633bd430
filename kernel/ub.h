/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Core structures of ub.ko, and who points to whom.
 *
 *   open()      struct ub_file ---> struct ub_fabric (counted)
 *                  |  lane: owner thread group, incarnation
 *                  |-- attachments (xarray by gva >> 16) --> window of a peer
 *                  |-- windows created by it
 *                  `-- groups (xarray by handle) --> struct ub_gmember
 *   mmap()      vma->vm_file --> ub_file; pages are found at fault time, by
 *               file offset, through the attachments or the groups
 *   fork()      the child shares the ub_file but is not its owner: -EPERM
 *   a doorbell  struct ub_fabric --> sleepers --> struct ub_gmember
 *   the tick    struct ub_fabric --> peers, --> members (all ub_gmember here)
 *
 * Publish last, unpublish first: the char device appears when the node is up,
 * and goes before anything else does. After that open files are dead but
 * safe: each entry takes ub_fabric.state_sem for read and looks at the state.
 *
 * Lock order, outermost first:
 *	ub_fabric.state_sem (read in every entry and fault, write to change)
 *	ub_file.lock (attachments, windows and groups of a file)
 *	ub_gmember.driver (one agent at a time; trylock only)
 *	ub_fabric.win_lock (slice and window records of this node)
 *	ub_fabric.members_lock (list of all local gmembers)
 *	ub_fabric.sleepers_lock (irq safe; taken by doorbells)
 *	ub_file.event_lock (irq safe)
 * mmap_lock is taken before state_sem (faults); so nothing that may fault on
 * user memory is called under state_sem held for write, and user copies under
 * the read lock use memory that was pinned or copied before. See xfer.c.
 */
#ifndef UB_H
#define UB_H

#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <ub/ub.h>
#include <ub/ub_layout.h>
#include "engine.h"
#include "gaddr.h"
#include "shm.h"
#include "slots.h"
#include "transport.h"

#define UB_NO_HOME		(~0U)	/* record index not known */
#define UB_GROUP_MEMBERS_MAX	256	/* bound of max_members of any layout */

enum ub_fabric_state {
	UB_FABRIC_UP,
	UB_FABRIC_FENCED,	/* peers fenced this node, or a test killed it */
	UB_FABRIC_GONE,		/* unplugged or deleted */
};

/**
 * struct ub_peer - what this node knows of another (or of itself)
 * @word: last node word read and checked
 * @incarnation: of the life that is watched; 0 when there is none
 * @heartbeat: last value
 * @seen: when it last moved, ktime
 * @alive: up and not suspected
 * @reason: enum ub_reason once it is not
 */
struct ub_peer {
	u64 word;
	u64 incarnation;
	u64 heartbeat;
	ktime_t seen;
	bool alive;
	u16 reason;
};

/**
 * struct ub_slot_watch - since when a group slot has kept its word
 * @word: last seen
 * @since: when it was first seen so
 */
struct ub_slot_watch {
	u64 word;
	ktime_t since;
};

/**
 * struct ub_fabric - one node attached to a fabric
 *
 * Fields without a comment are set before the device appears and then fixed.
 */
struct ub_fabric {
	struct kref ref;
	struct device dev;
	struct cdev cdev;
	int minor;
	const struct ub_transport_ops *ops;
	void *priv;			/* the transport's */
	struct module *owner;
	struct inode *inode;		/* one address space for all opens */

	void *mem;			/* kernel mapping of the shared memory */
	struct ub_shm_geo geo;
	struct ub_slots slots;
	enum ub_memtype memtype;
	u64 fabric_id[2];
	u64 key[2];
	u64 generation;			/* of the fabric */
	u32 node;			/* node id */
	u32 self;			/* index of the node's record */
	u64 incarnation;
	u32 detect_ms;

	struct rw_semaphore state_sem;
	enum ub_fabric_state state;	/* under state_sem */
	u16 fence_reason;

	struct ub_peer *peer;		/* by record index; written by the tick */
	struct delayed_work tick;
	ktime_t last_tick;
	ktime_t watch_from;		/* suspect nobody silent since before */
	bool paused;			/* test hook */

	struct mutex win_lock;
	struct xarray windows;		/* own, by window id */
	unsigned long *slice_map;	/* 64 KiB units of the own slice in use */

	struct mutex members_lock;
	struct list_head members;	/* ub_gmember.fabric_node */
	struct list_head files;		/* ub_file.fabric_node, under members_lock */
	spinlock_t sleepers_lock;
	struct list_head sleepers;	/* ub_gmember.sleep_node */
	struct ub_slot_watch *slot_watch;
	struct ida lanes;
	atomic64_t lane_incarnation;
	struct ub_stats __percpu *stats;
};

/**
 * struct ub_file - one open of the device: a lane
 * @fabric: counted
 * @owner: thread group that opened it; others get -EPERM
 * @lane: lane number on this node
 * @lane_incarnation: never reused on this incarnation of the node
 * @lane_dead: the owner ended; set once
 */
struct ub_file {
	struct ub_fabric *fabric;
	struct pid *owner;
	u32 lane;
	u64 lane_incarnation;
	bool lane_dead;
	struct mutex lock;
	struct xarray attachments;
	struct xarray groups;
	struct list_head fabric_node;

	spinlock_t event_lock;
	wait_queue_head_t event_wq;
	struct ub_event *events;
	u32 event_head, event_tail;
	u64 event_lost;
};

/**
 * struct ub_attachment - a window that a file may use
 * @gva: of the window
 * @length: bytes, page aligned up for mapping
 * @offset: of its memory from fabric->mem; checked against the home's slice
 * @generation: that was attached
 * @incarnation: of the home
 * @home: record index of the home node
 * @window: id there
 * @rights: of this attachment
 */
struct ub_attachment {
	u64 gva;
	u64 length;
	u64 offset;
	u64 generation;
	u64 incarnation;
	u32 home;
	u32 window;
	u32 rights;
};

/**
 * struct ub_gmember - one member of a group that lives here
 * @file: its lane
 * @handle: index in file->groups
 * @slot: of the group
 * @word: slot word under which it was joined
 * @id: group id
 * @driver: held by the thread that is in a barrier ioctl for it
 * @bar: its engine, under @driver
 * @base: epoch before the group's first
 * @pending: arrived by ioctl, not awaited yet
 * @sched: schedule, or NULL until created
 * @table: members, ub_bar.g.n
 * @home: record index of each member's node, or ~0 when not known yet
 * @shape: the machine
 * @level: name
 * @wq: where its sleeper waits
 * @rung: a ring came since the sleeper looked
 * @lost: a verdict was reported to the file's events
 */
struct ub_gmember {
	struct kref ref;
	struct ub_file *file;
	struct ub_fabric *fabric;
	u32 handle;
	u32 slot;
	u64 word;
	u64 id;
	struct mutex driver;
	struct ub_bar bar;
	u64 base;
	bool pending;
	struct ub_sched *sched;
	struct ub_member *table;
	u32 *home;
	struct ub_shape shape;
	char level[UB_NAME_LEN];
	bool user_driver;
	bool dead;			/* under file->lock: destroyed */
	bool lost;
	wait_queue_head_t wq;
	bool rung;
	struct list_head sleep_node;
	struct list_head fabric_node;
	struct ub_group_stats *stats;
};

/**
 * struct ub_group_spec - what a new group will be
 * @id: computed id
 * @base: epoch before the first
 * @timeout: absolute
 * @n: members
 * @index: own place
 * @user_driver: a library drives the pages
 * @level: name
 * @shape: the machine
 * @table: members where they are known before, or NULL
 */
struct ub_group_spec {
	u64 id;
	u64 base;
	u64 timeout;
	u32 n;
	u32 index;
	bool user_driver;
	char level[UB_NAME_LEN];
	struct ub_shape shape;
	const struct ub_member *table;
};

/* ---- fabric.c: life of a fabric ---- */
struct ub_fabric *ub_fabric_alloc(const struct ub_transport_ops *ops, void *priv,
				  u32 node, struct module *owner);
int ub_fabric_register(struct ub_fabric *f, void *mem, u64 size,
		       enum ub_memtype memtype);
void ub_fabric_unregister(struct ub_fabric *f);
void ub_fabric_put(struct ub_fabric *f);
void ub_fabric_bell(struct ub_fabric *f);
int ub_fabric_enter(struct ub_fabric *f);
void ub_fabric_exit(struct ub_fabric *f);

/* ---- member.c: membership ---- */
int ub_member_attach(struct ub_fabric *f);
void ub_member_detach(struct ub_fabric *f);
void ub_member_fence(struct ub_fabric *f, u32 index, u16 reason);
int ub_member_index(struct ub_fabric *f, u32 node, u64 incarnation);
bool ub_member_alive(struct ub_fabric *f, u32 index, u64 incarnation);
bool ub_member_gone(struct ub_fabric *f, u32 node, u64 incarnation);

/* ---- window.c ---- */
long ub_win_create(struct ub_file *file, struct ub_win_create *arg);
long ub_win_destroy(struct ub_file *file, struct ub_win_id *arg);
long ub_win_rotate(struct ub_file *file, struct ub_win_id *arg);
long ub_win_attach(struct ub_file *file, struct ub_win_attach *arg);
long ub_win_detach(struct ub_file *file, struct ub_win_detach *arg);
int ub_win_check(struct ub_fabric *f, const struct ub_attachment *a);
struct ub_attachment *ub_win_find(struct ub_file *file, u64 gva);
void ub_win_release(struct ub_file *file);
void ub_win_node_down(struct ub_fabric *f, u32 index);

/* ---- mmap.c ---- */
int ub_mmap(struct file *filp, struct vm_area_struct *vma);
void ub_mmap_revoke(struct ub_fabric *f, u64 gva, u64 len);

/* ---- xfer.c ---- */
long ub_xfer(struct ub_file *file, struct ub_xfer *arg);
long ub_fence(struct ub_file *file, struct ub_range *arg);
long ub_sync_range(struct ub_file *file, struct ub_range *arg);

/* ---- event.c ---- */
void ub_event_post(struct ub_file *file, const struct ub_event *ev);
void ub_event_all(struct ub_fabric *f, const struct ub_event *ev);

/* ---- group_make.c: making and shrinking groups ---- */
long ub_group_create(struct ub_file *file, struct ub_group_create *arg);
long ub_group_shrink(struct ub_file *file, struct ub_group_shrink *arg);

/* ---- group.c: references, leaving, the tick ---- */
struct ub_gmember *ub_gmember_alloc(struct ub_file *file,
				    const struct ub_group_spec *spec);
void ub_gmember_leave(struct ub_gmember *gm, u32 reason);
u32 ub_group_home(struct ub_gmember *gm, u32 i);
long ub_group_destroy(struct ub_file *file, struct ub_group_id *arg);
struct ub_gmember *ub_group_get(struct ub_file *file, u32 handle);
void ub_group_put(struct ub_gmember *gm);
/* The lane of @file died or its file closes: fence and leave all its groups. */
void ub_group_lane_dead(struct ub_file *file, u16 reason);
void ub_group_release(struct ub_file *file);
/* Kernel offset of page @pgoff of a group that @file is a member of, or 0. */
u64 ub_group_page(struct ub_file *file, u64 gva);
void ub_group_tick(struct ub_fabric *f);
void ub_group_collect(struct ub_fabric *f);
bool ub_slot_stale(struct ub_fabric *f, u32 slot);

/* ---- barrier.c: arriving, sleeping, ringing ---- */
long ub_barrier(struct ub_file *file, struct ub_barrier *arg);
long ub_kick(struct ub_file *file, struct ub_group_id *arg);
int ub_bar_arrived(struct ub_gmember *gm);
int ub_bar_wait(struct ub_gmember *gm, u64 timeout, bool killable);
int ub_bar_sleep_on(struct ub_gmember *gm, u64 timeout, bool killable,
		    int (*done)(struct ub_gmember *gm));
void ub_bar_ring(struct ub_gmember *gm);
void ub_bar_wake_local(struct ub_fabric *f);
void ub_bar_lost(struct ub_gmember *gm, struct ub_lost *lost);
void ub_bar_missing_info(struct ub_gmember *gm, struct ub_lost *lost);

#endif /* UB_H */
