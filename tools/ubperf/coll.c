// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "ubperf.h"

static int prepare(struct perf *p, struct perf_run *r)
{
	return data_doubles(p, r);
}

static void loop(struct perf *p, struct perf_run *r, long count)
{
	while (count--)
		must(ub_allreduce(p->world, r->local, r->remote,
				  r->size / sizeof(double), UB_DOUBLE, UB_OP_SUM),
		     "ub_allreduce");
}

const struct perf_test coll_tests[] = {
	{
		.name = "allreduce", .size = 8, .iters = 100000,
		.prepare = prepare, .loop = loop,
		.verify = data_sums_verify, .finish = data_doubles_free,
	},
	{ }
};
