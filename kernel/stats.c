// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters, per CPU, summed when somebody looks.
 *
 * Invariant: counters only rise; a sum is not a snapshot of one moment.
 */
#include "ub.h"

/* In the order of struct ub_stats. */
static const char * const names[UB_STATS] = {
	"barriers", "by-record", "sleeps", "timeouts", "verdicts", "rings",
	"bells", "faults", "sigbus", "revokes", "put-bytes", "get-bytes",
	"atomics", "node-up", "node-down", "late-ticks", "events-lost",
	"copies-read", "copies-dirty", "copies-written", "copies-dropped",
	"windows-lost",
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
void ub_stats_sum(struct ub_fabric *f, u64 sum[UB_STATS])
{
	unsigned int i;
	int cpu;

	memset(sum, 0, UB_STATS * sizeof(*sum));
	for_each_possible_cpu(cpu) {
		const u64 *s = (const u64 *)per_cpu_ptr(f->stats, cpu);

		for (i = 0; i < UB_STATS; i++)
			sum[i] += READ_ONCE(s[i]);
	}
}

/**
 * ub_stats_name() - name of a counter, for tools
 * @stat: its number
 *
 * Context: any.
 * Return: the name, or NULL for an unknown one.
 */
const char *ub_stats_name(unsigned int stat)
{
	return stat < UB_STATS ? names[stat] : NULL;
}
