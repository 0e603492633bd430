/* SPDX-License-Identifier: GPL-2.0-only */
/* Counters of a fabric and of a group's member. */
#ifndef UB_STATS_H
#define UB_STATS_H

#include <linux/build_bug.h>
#include <linux/percpu.h>
#include <linux/stddef.h>
#include <linux/types.h>

struct ub_fabric;

/**
 * struct ub_stats - counters of a fabric, per CPU; they only rise
 * @barriers: arrivals by ioctl
 * @by_record: waits that ended by the record
 * @sleeps: times a waiter slept
 * @timeouts: waits that timed out
 * @verdicts: groups lost
 * @rings: doorbells sent
 * @bells: doorbells that arrived
 * @faults: pages mapped
 * @sigbus: faults refused
 * @revokes: ranges unmapped
 * @put_bytes: by UB_IOC_XFER
 * @get_bytes: by UB_IOC_XFER
 * @atomics: by UB_IOC_XFER
 * @node_up: peers that came
 * @node_down: peers that were lost or left
 * @late_ticks: own ticks that came late
 * @events_lost: records dropped from full rings
 * @copies_read: pages of copied windows read from their homes, ahead too
 * @copies_dirty: times one became dirty
 * @copies_written: times one was compared and written back
 * @copies_dropped: dropped for want of memory
 * @windows_lost: windows that bytes could not be brought to
 *
 * All u64; stats.c has the names in the same order.
 */
struct ub_stats {
	u64 barriers;
	u64 by_record;
	u64 sleeps;
	u64 timeouts;
	u64 verdicts;
	u64 rings;
	u64 bells;
	u64 faults;
	u64 sigbus;
	u64 revokes;
	u64 put_bytes;
	u64 get_bytes;
	u64 atomics;
	u64 node_up;
	u64 node_down;
	u64 late_ticks;
	u64 events_lost;
	u64 copies_read;
	u64 copies_dirty;
	u64 copies_written;
	u64 copies_dropped;
	u64 windows_lost;
};

#define UB_STATS	(sizeof(struct ub_stats) / sizeof(u64))

/* Fabric counter, from any context. */
#define ub_count_add(f, field, n)	this_cpu_add((f)->stats->field, n)
#define ub_count(f, field)		ub_count_add(f, field, 1)

/**
 * struct ub_group_stats - of one member, written by its driver alone
 * @barriers: arrivals by ioctl
 * @by_record: waits that ended by the record
 * @sleeps: times it slept
 * @timeouts: waits that timed out
 * @verdicts: 1 when the group is lost
 *
 * The first of struct ub_stats, by the same names.
 */
struct ub_group_stats {
	u64 barriers;
	u64 by_record;
	u64 sleeps;
	u64 timeouts;
	u64 verdicts;
};

#define UB_GROUP_STATS	(sizeof(struct ub_group_stats) / sizeof(u64))
static_assert(offsetof(struct ub_group_stats, verdicts) ==
	      offsetof(struct ub_stats, verdicts));

/* Counter of a member and of its fabric; the member's driver is held. */
#define ub_stat_inc(gm, field) do {			\
	(gm)->stats.field++;				\
	ub_count((gm)->fabric, field);			\
} while (0)

struct ub_stats __percpu *ub_stats_alloc(void);
void ub_stats_sum(struct ub_fabric *f, u64 sum[UB_STATS]);
const char *ub_stats_name(unsigned int stat);

#endif /* UB_STATS_H */
