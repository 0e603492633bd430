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
 *	ub_fabric.life (joining, formatting, unregistering)
 *	ub_fabrics_lock (list of fabrics)
 *	ub_copied.flush (write-backs of copied windows)
 *	ub_fabric.files_lock (list of open files)
 *	mmap_lock (faults)
 *	ub_fabric.state_sem (read in every entry and fault, write to change)
 *	ub_fabric.map_sem (read from check to use, write to revoke)
 *	ub_file.lock (attachments, windows and groups of a file)
 *	ub_copied.lock (copies of remote pages)
 *	ub_gmember.driver (one agent at a time; trylock only)
 *	ub_fabric.win_lock (slice and window records of this node)
 *	ub_fabric.members_lock (list of all local gmembers)
 *	ub_fabric.sleepers_lock (irq safe; taken by doorbells)
 *	ub_file.event_lock (irq safe)
 * mmap_lock comes first, so nothing that may fault on user memory is called
 * under any of these, reading included: arguments are copied before entering
 * and after leaving. XFER copies under state_sem and map_sem with page faults
 * disabled, and faults pages in outside; see xfer.c.
 *
 * Revoking: first change what the checks look at (a window record, a list, the
 * state), then call ub_mmap_revoke(), which takes map_sem for write and zaps.
 * After that nothing that was checked before the change is in use any more.
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
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/rbtree.h>
#include <linux/xarray.h>
#include <ub/ub.h>
#include <ub/ub_test.h>
#include <ub/ub_layout.h>
#include "copied.h"
#include "engine.h"
#include "gaddr.h"
#include "group.h"
#include "shm.h"
#include "slots.h"
#include "stats.h"
#include "transport.h"
#include "window.h"

#define UB_NO_HOME		(~0U)	/* record index not known */
#define UB_GROUP_MEMBERS_MAX	256	/* bound of max_members of any layout */
#define UB_TIMER_MIN_US	200U	/* sleeps that no bell ends, the first */
#define UB_TIMER_MAX_US	20000U	/* and the longest */
#define UB_DETECT_MS_MIN	50U
#define UB_DETECT_MS_MAX	600000U

struct dentry;
struct netlink_ext_ack;

enum ub_fabric_state {
	UB_FABRIC_UP,
	UB_FABRIC_FENCED,	/* peers fenced this node, or a test killed it */
	UB_FABRIC_JOINING,	/* it was fenced or refused, and joins again */
	UB_FABRIC_REFUSED,	/* the memory holds something else: no device */
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
 * @rings: doorbells sent to it
 */
struct ub_peer {
	u64 word;
	u64 incarnation;
	u64 heartbeat;
	ktime_t seen;
	bool alive;
	u16 reason;
	atomic64_t rings;
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
 * struct ub_trap - test hook: the instant at which a node is held, see instant.c
 * @node: in the list of armed ones
 * @armed: it is in it
 * @thread: whose stores count; NULL while the tick is awaited
 * @left: stores until it springs
 * @how: enum ub_test_op
 * @sprung: when it did, CLOCK_MONOTONIC ns; 0 not yet
 */
struct ub_trap {
	struct list_head node;
	bool armed;
	struct pid *thread;
	u64 left;
	u32 how;
	u64 sprung;
};

/**
 * struct ub_fabric - one node attached to a fabric
 * @dev: its count is the fabric's
 * @cdev: the char device
 * @minor: N of /dev/ubfab<N>
 * @ops: the transport
 * @priv: the transport's
 * @owner: module of the transport
 * @transport: its name
 * @inode: one address space for all opens
 * @node_list: in ub_fabrics, in the order of @minor
 * @life: see above
 * @leaving: waits under @life end: it is about to be unregistered
 * @mem: kernel mapping of the shared memory
 * @geo: what lies where in it
 * @slots: of groups
 * @memtype: how @mem is mapped
 * @fabric_id: the fabric's
 * @key: secret for computing group ids
 * @generation: of the fabric
 * @node: node id
 * @self: index of the node's record
 * @incarnation: of this node; rises when it rejoins
 * @word: own record's word, while up
 * @detect_ms: silence after which a peer is dead; may change at any time
 * @period_ms: of the tick; follows @detect_ms
 * @state_sem: see above
 * @map_sem: see above
 * @state: changes under @state_sem held for write
 * @fence_reason: enum ub_reason, when fenced
 * @peer: by record index; written by the tick
 * @tick: heartbeat
 * @last_tick: when it ran
 * @watch_from: suspect nobody for being silent before
 * @mute: some living peer rings nobody: sleepers here wake by timer, too
 * @paused: test hook: heartbeat and calls stand still
 * @killed: test hook: leave all words alone
 * @trap: test hook: instant.c's
 * @pause_wq: calls that @paused holds
 * @win_lock: for the fields up to @win_wq
 * @windows: struct ub_window by id, quarantine included
 * @slice_map: 64 KiB units of the own slice in use
 * @slice_free: bytes of it not in use
 * @next_off: where global addresses are given out next
 * @quarantine: ub_window.link
 * @freed: counts releases from quarantine
 * @win_wq: waits for @freed
 * @files_lock: for @files
 * @files: ub_file.fabric_node
 * @members_lock: for @members
 * @members: ub_gmember.fabric_node, in the order of ub_gmember.serial
 * @next_serial: of a member
 * @sleepers_lock: for @sleepers
 * @sleepers: ub_gmember.sleep_node
 * @slot_watch: by slot; the tick's
 * @lanes: numbers in use
 * @lane_incarnation: last given out
 * @stats: counters
 * @copied: copies of remote pages; NULL where windows are coherent
 * @debug: folder in debugfs, debug.c's
 * @debug_groups: in it
 *
 * What is not said to change is set before the device appears.
 */
struct ub_fabric {
	struct device dev;
	struct cdev cdev;
	int minor;
	const struct ub_transport_ops *ops;
	void *priv;
	struct module *owner;
	char transport[UB_NAME_LEN];
	struct inode *inode;
	struct list_head node_list;
	struct mutex life;		/* one of joining, formatting, leaving */
	bool leaving;

	void *mem;
	struct ub_shm_geo geo;
	struct ub_slots slots;
	enum ub_memtype memtype;
	u64 fabric_id[2];
	u64 key[2];
	u64 generation;
	u32 node;
	u32 self;
	u64 incarnation;
	u64 word;
	u32 detect_ms;
	u32 period_ms;

	struct rw_semaphore state_sem;
	struct rw_semaphore map_sem;
	enum ub_fabric_state state;
	u16 fence_reason;

	struct ub_peer *peer;
	struct delayed_work tick;
	ktime_t last_tick;
	ktime_t watch_from;
	bool mute;
	bool paused;
	bool killed;
	struct ub_trap trap;
	wait_queue_head_t pause_wq;

	struct mutex win_lock;		/* of own windows */
	struct xarray windows;
	unsigned long *slice_map;
	u64 slice_free;
	u64 next_off;
	struct list_head quarantine;
	u32 freed;
	wait_queue_head_t win_wq;

	struct mutex files_lock;	/* of @files */
	struct list_head files;
	struct mutex members_lock;	/* of @members */
	struct list_head members;
	u64 next_serial;
	spinlock_t sleepers_lock;	/* of @sleepers */
	struct list_head sleepers;
	struct ub_slot_watch *slot_watch;
	struct ida lanes;
	atomic64_t lane_incarnation;
	struct ub_stats __percpu *stats;
	struct ub_copied *copied;
	struct dentry *debug;
	struct dentry *debug_groups;
};

/**
 * struct ub_file - one open of the device: a lane
 * @fabric: counted
 * @owner: thread group that opened it; others get -EPERM
 * @mm: its memory, counted by mmgrab(); tells exec
 * @node_incarnation: of the node at open; the file is dead when it differs
 * @lane: lane number on this node
 * @lane_incarnation: never reused on this incarnation of the node
 * @lane_dead: the owner ended; set once
 * @lock: for the three below; never held over a user copy
 * @attachments: struct ub_attachment by gva, not overlapping
 * @windows: ub_window.link of own windows
 * @groups: struct ub_gmember by handle
 * @lost_number: of the last window that bytes could not be brought to
 * @lost_gva: of that window; under @lock, like the former
 * @ahead_next: read-ahead of copied windows: page after the last that was read
 * @ahead_mark: page whose touch sets off the next run
 * @ahead_pages: of the last run
 * @blank: page of quiet mappings, or NULL; set once, under @lock
 * @blanks: page with the number of times that it was mapped, which rises under @lock
 * @fabric_node: in ub_fabric.files
 * @event_lock: for the ring of events
 * @event_wq: readers
 * @events: ring of UB_EVENTS
 * @event_head: next to write
 * @event_tail: next to read
 * @event_lost: dropped since the last read
 */
struct ub_file {
	struct ub_fabric *fabric;
	struct pid *owner;
	struct mm_struct *mm;
	u64 node_incarnation;
	u32 lane;
	u64 lane_incarnation;
	bool lane_dead;
	struct mutex lock;		/* of the next three */
	struct rb_root attachments;
	struct list_head windows;
	struct xarray groups;
	u64 lost_number;
	u64 lost_gva;
	unsigned long ahead_next;
	unsigned long ahead_mark;
	u32 ahead_pages;
	void *blank;
	u64 *blanks;
	struct list_head fabric_node;

	spinlock_t event_lock;		/* of the ring */
	wait_queue_head_t event_wq;
	struct ub_event *events;
	u32 event_head, event_tail;
	u64 event_lost;
};

/* ---- records in shared memory ---- */
static inline struct ub_shm_header *ub_shm_hdr(struct ub_fabric *f)
{
	return f->mem;
}

static inline struct ub_shm_node *ub_shm_node_rec(struct ub_fabric *f, u32 index)
{
	return (struct ub_shm_node *)(f->mem + f->geo.nodes_off) + index;
}

static inline struct ub_shm_window *ub_shm_win(struct ub_fabric *f, u32 index,
					       u32 id)
{
	return (struct ub_shm_window *)(f->mem + f->geo.wins_off) +
	       (u64)index * f->geo.max_wins + id;
}

/* ---- main.c: module parameters ---- */
extern unsigned int ub_detect_ms;
extern bool ub_test_hooks;

/* ---- chardev.c ---- */
extern struct class ub_class;
int ub_chardev_init(void);
void ub_chardev_exit(void);
int ub_chardev_add(struct ub_fabric *f);
void ub_chardev_del(struct ub_fabric *f);
bool ub_lane_gone(struct ub_file *file);
void ub_lane_dead(struct ub_file *file);

/* ---- fabric.c: life of a fabric ---- */
extern struct list_head ub_fabrics;
extern struct mutex ub_fabrics_lock;
int ub_fabric_init(void);
void ub_fabric_fini(void);
struct ub_fabric *ub_fabric_alloc(const struct ub_transport_ops *ops, void *priv,
				  u32 node, struct module *owner);
int ub_fabric_register(struct ub_fabric *f, void *mem, u64 size,
		       enum ub_memtype memtype);
void ub_fabric_unregister(struct ub_fabric *f);
void ub_fabric_put(struct ub_fabric *f);
void ub_fabric_bell(struct ub_fabric *f);
int ub_fabric_enter(struct ub_fabric *f);
int ub_fabric_enter_now(struct ub_fabric *f);
void ub_fabric_exit(struct ub_fabric *f);
int ub_file_enter(struct ub_file *file);
int ub_fabric_rejoin(struct ub_fabric *f);
int ub_fabric_rejoin_locked(struct ub_fabric *f);
int ub_fabric_publish(struct ub_fabric *f);
void ub_fabric_detect(struct ub_fabric *f, u32 detect_ms);
void ub_fabric_fenced(struct ub_fabric *f, u16 reason);
void ub_fabric_requeue(struct ub_fabric *f, u32 delay_ms);

/* ---- shm.c: layout and header ---- */
u64 ub_shm_least(void);
int ub_shm_geometry(u64 size, struct ub_shm_geo *geo);
void ub_shm_one_slice(struct ub_shm_geo *geo);
int ub_shm_open(struct ub_fabric *f);
bool ub_shm_raise(struct ub_fabric *f);
bool ub_shm_current(struct ub_fabric *f);

/* ---- member.c: membership ---- */
struct ub_node_view {
	u64 word;
	u64 incarnation;
	u64 heartbeat;
	bool current_gen;
};

/* Is that a node that takes part? */
static inline bool ub_view_up(const struct ub_node_view *v)
{
	return UB_NODE_STATE(v->word) == UB_NODE_UP && v->current_gen &&
	       !(v->word & UB_NODE_FENCED);
}

bool ub_member_view(struct ub_fabric *f, u32 index, struct ub_node_view *v);
void ub_member_detach(struct ub_fabric *f);
void ub_member_fence(struct ub_fabric *f, u32 index, u16 reason);
int ub_member_index(struct ub_fabric *f, u32 node, u64 incarnation);
bool ub_member_alive(struct ub_fabric *f, u32 index, u64 incarnation);
u32 ub_member_reason(struct ub_fabric *f, u32 index, u64 incarnation);
bool ub_member_gone(struct ub_fabric *f, u32 node, u64 incarnation);
/* Rings the sleepers of another node, and with @poke its tick. */
u64 ub_member_age(struct ub_fabric *f, u32 index);
void ub_member_ring(struct ub_fabric *f, u32 index, u64 group, bool poke);
void ub_member_poke_all(struct ub_fabric *f);
void ub_member_tick(struct work_struct *work);

/* ---- join.c ---- */
int ub_member_attach(struct ub_fabric *f);
int ub_join_ends(const struct ub_fabric *f);
int ub_member_beats(struct ub_fabric *f, u32 except);

/* ---- format.c ---- */
int ub_fabric_format(struct ub_fabric *f, bool force,
		     struct netlink_ext_ack *extack);

/* ---- mmap.c ---- */
int ub_mmap(struct file *filp, struct vm_area_struct *vma);
void ub_mmap_zap(struct ub_fabric *f, u64 gva, u64 len);
void ub_mmap_revoke(struct ub_fabric *f, u64 gva, u64 len);
void ub_mmap_revoke_all(struct ub_fabric *f);
enum ub_memtype ub_kernel_memtype(void *mem);
int ub_mmap_memtype(unsigned long addr);
vm_fault_t ub_mmap_fault(struct vm_fault *vmf);

/* ---- quiet.c ---- */
extern const struct vm_operations_struct ub_quiet_vm_ops;
int ub_quiet_mmap(struct ub_file *file, struct vm_area_struct *vma, u64 *gva);
void ub_quiet_release(struct ub_file *file);

/* ---- xfer.c ---- */
long ub_xfer(struct ub_file *file, struct ub_xfer *arg);
long ub_fence(struct ub_file *file, struct ub_range *arg);
long ub_sync_range(struct ub_file *file, struct ub_range *arg);
int ub_xfer_add(struct ub_file *file, u64 gva, u64 times);

long ub_test(struct ub_file *file, struct ub_test *arg);	/* testhook.c */

/* ---- instant.c ---- */
void ub_instant_init(void);
void ub_instant_arm(struct ub_fabric *f, u32 how, u64 nth);
void ub_instant_tick(struct ub_fabric *f, bool begins);

/* ---- event.c ---- */
#define UB_EVENTS	256
void ub_event_post(struct ub_file *file, const struct ub_event *ev);
void ub_event_all(struct ub_fabric *f, const struct ub_event *ev);
ssize_t ub_event_read(struct file *filp, char __user *buf, size_t count,
		      loff_t *pos);
__poll_t ub_event_poll(struct file *filp, struct poll_table_struct *wait);

#endif /* UB_H */
