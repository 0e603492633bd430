// SPDX-License-Identifier: GPL-2.0-only
/*
 * What waiting costs the CPU: times are CPU time of the slowest rank's process,
 * here the one that used most.
 */
#include "ubperf.h"

static int idle_prepare(struct perf *p, struct perf_run *r)
{
	r->untimed = p->rank == 0;
	return barrier_prepare(p, r);
}

const struct perf_test cpu_tests[] = {
	{
		.name = "barrier-cpu", .iters = 200000, .by_name = true, .cpu = true,
		.prepare = barrier_prepare, .loop = barrier_loop, .verify = barrier_verify,
	}, {
		.name = "idle", .iters = 1, .by_name = true, .cpu = true,
		.prepare = idle_prepare, .before = perf_late, .loop = barrier_loop,
		.verify = barrier_verify,
	},
	{ }
};
