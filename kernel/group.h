/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Groups and their barriers, inside the core: a member that lives here, how it is
 * made, sleeps, is shrunk and leaves. Lock order: ub.h.
 */
#ifndef UB_GROUP_H
#define UB_GROUP_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <ub/ub.h>
#include "engine.h"
#include "stats.h"

struct dentry;
struct ub_fabric;
struct ub_file;

/**
 * struct ub_gmember - one member of a group that lives here
 * @ref: count
 * @file: its lane
 * @fabric: of the lane
 * @handle: index in file->groups
 * @slot: of the group
 * @word: slot word under which it was joined
 * @id: group id
 * @driver: held by the thread that is in a barrier ioctl for it; see
 *	ub_group_drive()
 * @helpers: threads that hold @driver for moments only, or try to
 * @bar: its engine, under @driver
 * @base: epoch before the group's first
 * @pending: arrived by ioctl, not awaited yet
 * @origin: while it is made: group its members are of, under members_lock
 * @from: their places there
 * @sched: schedule, or NULL until created
 * @table: members, ub_bar.g.n
 * @home: record index of each member's node, or ~0 when not known yet
 * @shape: the machine
 * @level: name
 * @wq: where its sleeper waits
 * @rung: a ring came since the sleeper looked
 * @user_driver: made with UB_GROUP_USER_DRIVER
 * @lost: a verdict was reported to the file's events
 * @lost_told: number of the last lost window that this group was told of
 * @finals: final words that the tick has seen
 * @arrived: result of its first arrival, until it has a handle
 * @heir: the group of its survivors that it joined already; see shrink.c
 * @shrunk: it was shrunk by this member: no heir any more
 * @helps: while it waits, it takes part in the shrinking of others
 * @sleep_node: in ub_fabric.sleepers
 * @fabric_node: in ub_fabric.members
 * @serial: says where dumps go on
 * @debug: file in debugfs, debug.c's
 * @stats: see ub_stat_inc()
 */
struct ub_gmember {
	struct kref ref;
	struct ub_file *file;
	struct ub_fabric *fabric;
	u32 handle;
	u32 slot;
	u64 word;
	u64 id;
	struct mutex driver;		/* one agent at a time */
	atomic_t helpers;
	struct ub_bar bar;
	u64 base;
	bool pending;
	struct ub_gmember *origin;
	u32 *from;
	struct ub_sched *sched;
	struct ub_member *table;
	u32 *home;
	struct ub_shape shape;
	char level[UB_NAME_LEN];
	bool user_driver;
	bool lost;
	u64 lost_told;
	u32 finals;
	int arrived;
	struct ub_gmember *heir;
	bool shrunk;
	bool helps;
	wait_queue_head_t wq;
	bool rung;
	struct list_head sleep_node;
	struct list_head fabric_node;
	u64 serial;
	struct dentry *debug;
	struct ub_group_stats stats;
};

/**
 * struct ub_group_spec - what a new group will be
 * @id: computed id
 * @base: epoch before the first
 * @timeout: absolute
 * @n: members
 * @index: own place
 * @user_driver: a library drives the pages
 * @absent: the member is lost from the beginning
 * @level: name
 * @shape: the machine
 * @table: members where they are known before, or NULL
 * @origin: group that they are taken from, counted by the caller, or NULL
 * @from: their places in it
 */
struct ub_group_spec {
	u64 id;
	u64 base;
	u64 timeout;
	u32 n;
	u32 index;
	bool user_driver;
	bool absent;
	char level[UB_NAME_LEN];
	struct ub_shape shape;
	const struct ub_member *table;
	struct ub_gmember *origin;
	const u32 *from;
};

/* ---- group_make.c: making groups ---- */
/* What a world's id, and that of the survivors of a group, is made of. */
struct ub_group_key {
	u64 tag;
	u64 key[2];
};

long ub_group_create(struct ub_file *file, struct ub_group_create *arg);
int ub_group_begin(struct ub_file *file, const struct ub_group_spec *spec,
		   struct ub_gmember **out, u64 *clash);
int ub_group_finish(struct ub_gmember *gm, u64 timeout, u64 *clash);
int ub_group_hand_over(struct ub_file *file, struct ub_gmember *gm, u64 table);
u64 ub_group_hash(struct ub_fabric *f, const void *data, size_t len);
u64 ub_group_fence_until(const struct ub_gmember *gm);
#define UB_FENCE_TRIES	4	/* see there */

/* ---- shrink.c ---- */
long ub_group_shrink(struct ub_file *file, struct ub_group_shrink *arg);
void ub_group_help(struct ub_gmember *gm);

/* ---- group.c: references, leaving, the tick ---- */
struct ub_gmember *ub_gmember_alloc(struct ub_file *file,
				    const struct ub_group_spec *spec);
void ub_gmember_made(struct ub_gmember *gm);
void ub_gmember_leave(struct ub_gmember *gm, u32 reason);
void ub_group_tell(struct ub_gmember *gm);
u32 ub_group_home(struct ub_gmember *gm, u32 i);
long ub_group_destroy(struct ub_file *file, struct ub_group_id *arg);
struct ub_gmember *ub_group_get(struct ub_file *file, u32 handle);
bool ub_group_drive(struct ub_gmember *gm);
void ub_group_put(struct ub_gmember *gm);
/* The lane of @file died or its file closes: fence and leave all its groups. */
void ub_group_lane_dead(struct ub_file *file, u16 reason);
void ub_group_release(struct ub_file *file);
/* Kernel offset of page @pgoff of a group that @file is a member of, or 0. */
u64 ub_group_page(struct ub_file *file, u64 gva);
void ub_group_tick(struct ub_fabric *f);
void ub_group_collect(struct ub_fabric *f);
void ub_slot_collect(struct ub_fabric *f, u32 slot);
bool ub_slot_stale(struct ub_fabric *f, u32 slot);

/* ---- barrier.c: arriving, sleeping, ringing ---- */
long ub_barrier(struct ub_file *file, struct ub_barrier *arg);
long ub_kick(struct ub_file *file, struct ub_group_id *arg);
int ub_bar_arrived(struct ub_gmember *gm);
int ub_bar_refused(struct ub_gmember *gm);
int ub_bar_wait(struct ub_gmember *gm, u64 timeout, bool killable);
int ub_bar_sleep_on(struct ub_gmember *gm, u64 timeout, bool killable,
		    int (*done)(struct ub_gmember *gm));
void ub_bar_ring(struct ub_gmember *gm);
void ub_bar_wake_local(struct ub_fabric *f);
void ub_bar_lost(struct ub_gmember *gm, struct ub_lost *lost);
void ub_bar_missing_info(struct ub_gmember *gm, struct ub_lost *lost);

#endif /* UB_GROUP_H */
