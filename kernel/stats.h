/* SPDX-License-Identifier: GPL-2.0-only */
/* Counters of a fabric and of a group's member. */
#ifndef UB_STATS_H
#define UB_STATS_H

#include <linux/percpu.h>
#include <linux/types.h>

struct ub_fabric;

enum ub_stat {
	UB_STAT_BARRIERS,	/* waits that ended well */
	UB_STAT_SLEEPS,		/* times a waiter slept */
	UB_STAT_RINGS,		/* doorbells and local wake-ups sent */
	UB_STAT_BELLS,		/* doorbells that arrived */
	UB_STAT_TIMEOUTS,	/* waits that timed out */
	UB_STAT_VERDICTS,	/* groups lost */
	UB_STAT_FAULTS,		/* pages mapped */
	UB_STAT_SIGBUS,		/* faults refused */
	UB_STAT_REVOKES,	/* ranges unmapped */
	UB_STAT_PUT_BYTES,
	UB_STAT_GET_BYTES,
	UB_STAT_ATOMICS,
	UB_STAT_NODE_UP,
	UB_STAT_NODE_DOWN,
	UB_STAT_LATE_TICKS,	/* own ticks that came late */
	UB_STAT_EVENTS_LOST,
	UB_STATS
};

struct ub_stats {
	u64 count[UB_STATS];
};

/* Fabric counter, from any context; UB_STAT_* without a lock. */
#define ub_stat_add(f, stat, n)	this_cpu_add((f)->stats->count[stat], n)
#define ub_stat_inc(f, stat)	ub_stat_add(f, stat, 1)

/**
 * struct ub_group_stats - of one member, written by its driver alone
 * @barriers: waits that ended well
 * @by_record: of them by the record
 * @sleeps: times it slept
 * @rings: rings it sent
 * @timeouts: waits that timed out
 * @wait_ns: time in waits that were long enough to be measured
 * @wait_max_ns: the longest
 */
struct ub_group_stats {
	u64 barriers;
	u64 by_record;
	u64 sleeps;
	u64 rings;
	u64 timeouts;
	u64 wait_ns;
	u64 wait_max_ns;
};

struct ub_stats __percpu *ub_stats_alloc(void);
void ub_stats_sum(struct ub_fabric *f, struct ub_stats *sum);
const char *ub_stats_name(enum ub_stat stat);

#endif /* UB_STATS_H */
