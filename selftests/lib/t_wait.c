// SPDX-License-Identifier: GPL-2.0-only
/*
 * What waiting costs: CPU while a member sleeps, CPU with one for all. Not time:
 * others may work on this machine.
 */
#include "t.h"
#include <sys/resource.h>

static long pause_ms = 3000;

static double cpu_used(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_utime.tv_sec + u.ru_stime.tv_sec +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static int asleep(struct ub_ctx *ctx, struct ub_scope *w)
{
	double used;
	int i;

	(void)ctx;
	for (i = 0; i < 1000; i++)
		T_CHECK(!ub_sync(w));
	used = cpu_used();
	if (!ub_rank(w))
		usleep(pause_ms * 1000);
	T_CHECK(!ub_sync(w));
	used = cpu_used() - used;
	printf("# rank %d used %.2f %% of a CPU\n", ub_rank(w),
	       used * 1e5 / pause_ms);
	T_CHECK(used * 1e3 < 0.02 * pause_ms);
	/* Who was waited for is known one barrier later. */
	T_CHECK(!ub_sync(w));
	T_CHECK(ub_waited_for(w, 0) > 0);
	return 0;
}

/* Who polls without letting others on uses up its slice, milliseconds. */
static int one_cpu(struct ub_ctx *ctx, struct ub_scope *w)
{
	double used;
	int i;

	(void)ctx;
	t_pin(0);
	T_CHECK(!ub_sync(w));
	used = cpu_used();
	for (i = 0; i < 5000; i++)
		T_CHECK(!ub_sync(w));
	used = (cpu_used() - used) * 1e6 / 5000;
	if (!ub_rank(w))
		printf("# %d ranks on one CPU: each used %.2f us a sync\n",
		       ub_size(w), used);
	T_CHECK(used < 60);
	return 0;
}

int main(void)
{
	t_plan(4);
	t_result(!t_run(3, NULL, asleep), "a member sleeps");
	t_result(!t_run(2, NULL, one_cpu), "2 ranks on one CPU");
	t_result(!t_run(4, NULL, one_cpu), "4 ranks on one CPU");
	t_result(!t_run(8, NULL, one_cpu), "8 ranks on one CPU");
	return t_end();
}
