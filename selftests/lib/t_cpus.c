// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether members outnumber their CPUs, as the library finds by itself: bound to
 * CPUs of their own, to one, in turn, and bound anew while they run.
 */
#include "t.h"
#include "internal.h"

/* Each member in turn is waited for so long that the others look at their CPUs. */
static int look(struct ub_scope *w)
{
	int i;

	for (i = 0; i < ub_size(w); i++) {
		if (i == ub_rank(w))
			usleep(30000);
		T_CHECK(!ub_sync(w));
	}
	return 0;
}

static void forget(struct ub_ctx *ctx)
{
	ctx->crowd_look = 0;
}

/* All have bound themselves; what they find then. */
static int find(struct ub_ctx *ctx, struct ub_scope *w, int crowd)
{
	T_CHECK(!ub_sync(w));
	forget(ctx);
	T_CHECK(!look(w));
	/* Who looked before another had shown its new CPUs looks again. */
	forget(ctx);
	T_CHECK(!look(w));
	if (ctx->crowd != crowd)
		printf("# rank %d: %d, not %d\n", ub_rank(w), ctx->crowd, crowd);
	return ctx->crowd != crowd;
}

static int bound(struct ub_ctx *ctx, struct ub_scope *w)
{
	int n = ub_size(w), me = ub_rank(w);

	t_pin(me % 2);
	T_CHECK(!find(ctx, w, n > 2 ? 2 : 0));
	t_pin(0);
	T_CHECK(!find(ctx, w, 1));
	t_pin(me % 2);
	T_CHECK(!find(ctx, w, n > 2 ? 2 : 0));
	return 0;
}

static void bind_in_turn(void)
{
	t_pin(t_rank % 2);
}

/* Who was here before the others looks again soon, not only after a second. */
static int soon(struct ub_ctx *ctx, struct ub_scope *w)
{
	T_CHECK(!look(w));
	T_CHECK(!look(w));
	T_CHECK(!ctx->crowd);
	return 0;
}

int main(void)
{
	cpu_set_t set;

	t_plan(3);
	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof(set), &set);
	t_skipped = !CPU_ISSET(0, &set) || !CPU_ISSET(1, &set);
	t_result(t_skipped || !t_run(2, NULL, bound), "2 members on 2 CPUs, on 1, on 2");
	t_skipped = !CPU_ISSET(0, &set) || !CPU_ISSET(1, &set);
	t_result(t_skipped || !t_run(4, NULL, bound), "4 members on 2 CPUs, on 1, on 2");
	t_skipped = !CPU_ISSET(0, &set) || !CPU_ISSET(1, &set);
	t_before = bind_in_turn;
	t_result(t_skipped || !t_run(2, NULL, soon), "2 members bound before they join");
	return t_end();
}
