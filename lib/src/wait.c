// SPDX-License-Identifier: MIT
/*
 * How to wait when the flags are not there at once.
 *
 * Spin for a bounded time, which adapts to whether spinning ended the last
 * waits; where members outnumber CPUs, a much shorter one, then give the CPU
 * away; then sleep in the back end. From the moment others may be without a CPU the record is
 * read instead of the flags: then one turn of each member ends a barrier,
 * whatever the number of rounds.
 */
#include "internal.h"
#include "backend.h"
#include <sched.h>

#define UB_SPIN_MAX_NS	40000	/* about what sleeping and waking costs */
#define UB_SPIN_MIN_NS	500
#define UB_SPIN_CROWD_MAX_NS 1500	/* about what giving the CPU away costs */
#define UB_SPIN_CROWD_MIN_NS 100
#define UB_SPIN_PROBE	32	/* waits between tries of the longest spin */
#define UB_SPIN_BATCH	16	/* polls between looks at the clock */
#define UB_YIELDS	48
#define UB_YIELD_SLOW_NS 1000000	/* somebody else wants this CPU */
#define UB_CROWD_NS	1000000000ULL

static int crowd(struct ub_ctx *ctx)
{
	uint64_t now = ub_now();

	if (now >= ctx->crowd_look) {
		ctx->crowd_look = now + UB_CROWD_NS;
		ctx->crowd = ctx->be->crowd(ctx);
	}
	return ctx->crowd;
}

static bool spin(struct ub_scope *s, uint32_t least_ns, uint32_t most_ns)
{
	struct ub_spin *sp = &s->spin;
	uint64_t most = ub_ns_ticks(most_ns);
	uint64_t least = ub_ns_ticks(least_ns);
	uint64_t limit, from = ub_ticks();
	uint32_t i;

	limit = ++sp->waits % UB_SPIN_PROBE ? sp->limit : most;
	do {
		for (i = 0; i < UB_SPIN_BATCH; i++) {
			if (ub_bar_poll(&s->bar)) {
				sp->limit = sp->limit * 2 > most ? most :
					    sp->limit * 2;
				return true;
			}
			ub_bar_pause(&s->bar);
		}
	} while (ub_elapsed(from, ub_ticks()) < limit);
	sp->limit = sp->limit / 2 < least ? least : sp->limit / 2;
	return false;
}

/* A peer without a CPU will not come now, one that runs on another CPU soon. */
static bool spin_crowded(struct ub_scope *s, int cpus)
{
	return cpus > 1 && spin(s, UB_SPIN_CROWD_MIN_NS, UB_SPIN_CROWD_MAX_NS);
}

static enum ub_bar_state yield(struct ub_scope *s)
{
	uint64_t slow = ub_ns_ticks(UB_YIELD_SLOW_NS), before, after;
	enum ub_bar_state st = UB_BAR_WAIT;
	int i;

	after = ub_ticks();
	for (i = 0; i < UB_YIELDS; i++) {
		sched_yield();
		st = ub_bar_record(&s->bar);
		if (st != UB_BAR_WAIT)
			break;
		before = after;
		after = ub_ticks();
		if (ub_elapsed(before, after) > slow)
			break;
	}
	return st;
}

static int wait_on(struct ub_scope *s)
{
	enum ub_bar_state st = UB_BAR_WAIT;
	uint64_t deadline = ub_deadline(s);
	int cpus;

	if (s->by_kernel)
		return s->ctx->be->sleep(s, deadline);
	cpus = crowd(s->ctx);
	/* Where others wait for this CPU, the first polls are to be over soon. */
	s->bar.pause = cpus ? 0 : ub_clock.pause;
	if (cpus ? spin_crowded(s, cpus) : spin(s, UB_SPIN_MIN_NS, UB_SPIN_MAX_NS))
		return 0;
	if (cpus)
		st = yield(s);
	if (st == UB_BAR_DONE)
		return 0;
	if (st == UB_BAR_WAIT)
		return s->ctx->be->sleep(s, deadline);
	if (s->bar.wake)
		s->ctx->be->kick(s);
	return -EOWNERDEAD;
}

int ub_wait_long(struct ub_scope *s)
{
	uint64_t from = s->timing ? ub_ticks() : 0;
	int err = wait_on(s);

	if (s->timing) {
		uint64_t waited = ub_elapsed(from, ub_ticks());

		ub_add(&s->count.wait, waited);
		s->last = UB_AUX_LAST(ub_ticks_ns(waited) +
				      UB_POLLS * UB_PAUSE_NS, s->rank);
	}
	if (err == -EOWNERDEAD)
		return ub_lost_error(s);
	if (err == -ETIMEDOUT)
		s->state = UB_SCOPE_TIMED_OUT;
	return err;
}
