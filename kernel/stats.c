// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters, per CPU, summed when somebody looks.
 *
 * Invariant: counters only rise; a sum is not a snapshot of one moment.
 */
#include "ub.h"

static const char * const names[UB_STATS] = {
	[UB_STAT_BARRIERS]	= "barriers",
	[UB_STAT_SLEEPS]	= "sleeps",
	[UB_STAT_RINGS]		= "rings",
	[UB_STAT_BELLS]		= "bells",
	[UB_STAT_TIMEOUTS]	= "timeouts",
	[UB_STAT_VERDICTS]	= "verdicts",
	[UB_STAT_FAULTS]	= "faults",
	[UB_STAT_SIGBUS]	= "sigbus",
	[UB_STAT_REVOKES]	= "revokes",
	[UB_STAT_PUT_BYTES]	= "put-bytes",
	[UB_STAT_GET_BYTES]	= "get-bytes",
	[UB_STAT_ATOMICS]	= "atomics",
	[UB_STAT_NODE_UP]	= "node-up",
	[UB_STAT_NODE_DOWN]	= "node-down",
	[UB_STAT_LATE_TICKS]	= "late-ticks",
	[UB_STAT_EVENTS_LOST]	= "events-lost",
};

/**
 * ub_stats_alloc() - counters of a fabric, all zero
 *
 * Context: may sleep. Free with free_percpu().
 * Return: the counters, or NULL.
 */
struct ub_stats __percpu *ub_stats_alloc(void)
{
	return alloc_percpu(struct ub_stats);
}

/**
 * ub_stats_sum() - add up the counters of all CPUs
 * @f: the fabric
 * @sum: gets the sums
 *
 * Context: any.
 */
void ub_stats_sum(struct ub_fabric *f, struct ub_stats *sum)
{
	int cpu, i;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		const struct ub_stats *s = per_cpu_ptr(f->stats, cpu);

		for (i = 0; i < UB_STATS; i++)
			sum->count[i] += READ_ONCE(s->count[i]);
	}
}

/**
 * ub_stats_name() - name of a counter, for tools
 * @stat: the counter
 *
 * Context: any.
 * Return: the name, or NULL for an unknown one.
 */
const char *ub_stats_name(enum ub_stat stat)
{
	return stat < UB_STATS ? names[stat] : NULL;
}
