// SPDX-License-Identifier: GPL-2.0-only
/*
 * pingpong: no library between store and load. barrier: ub_sync().
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "ubperf.h"

#define LINE		64
#define SPINS		4096		/* before the CPU is given away */
#define LOOK_NS		1000000000ULL	/* between looks after the peer */

static int pingpong_prepare(struct perf *p, struct perf_run *r)
{
	r->active = p->rank < 2;
	data_prepare(p, r, LINE);
	r->remote = ub_win_peer(r->win, p->rank ^ 1);
	if (perf_coherent(p))
		return 0;
	strcpy(r->why, "windows are not coherent");
	return -ENOTSUP;
}

static void wait_word(struct perf *p, const uint64_t *word, uint64_t value)
{
	struct ub_lost_info lost;
	uint64_t from = 0;
	long spins = 0;

	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < value) {
		if (++spins % SPINS)
			continue;
		sched_yield();
		if (!from)
			from = ub_now();
		if (ub_now() - from < LOOK_NS)
			continue;
		from = 0;
		if (!ub_lost(p->world, &lost)) {
			fprintf(stderr, "ubperf: rank %d is lost: %s\n", lost.rank,
				lost.reason);
			must(-EOWNERDEAD, "pingpong");
		}
	}
}

static void pingpong_loop(struct perf *p, struct perf_run *r, long count)
{
	uint64_t *mine = ub_win_base(r->win), *peer = (uint64_t *)r->remote;
	uint64_t v = r->done, end = r->done + count;

	while (v++ < end) {
		if (p->rank == 0)
			__atomic_store_n(peer, v, __ATOMIC_RELEASE);
		wait_word(p, mine, v);
		if (p->rank == 1)
			__atomic_store_n(peer, v, __ATOMIC_RELEASE);
	}
}

static enum perf_verdict pingpong_verify(struct perf *p, struct perf_run *r)
{
	(void)p;
	if (!r->active)
		return PERF_UNCHECKED;
	return *(uint64_t *)ub_win_base(r->win) == r->done ? PERF_GOOD : PERF_BAD;
}

int barrier_prepare(struct perf *p, struct perf_run *r)
{
	r->first_epoch = ub_epoch(p->world);
	return 0;
}

void barrier_loop(struct perf *p, struct perf_run *r, long count)
{
	(void)r;
	while (count--) {
		int err = ub_sync(p->world);

		if (err)	/* a call less in a loop this short */
			must(err, "ub_sync");
	}
}

/* Each barrier must have had a number of its own. */
enum perf_verdict barrier_verify(struct perf *p, struct perf_run *r)
{
	return ub_epoch(p->world) - r->first_epoch >= r->done ? PERF_GOOD : PERF_BAD;
}

/*
 * --sleep: rank 0 comes late, when the others are asleep, and the second barrier
 * ends when all of them are awake.
 */
static int wake_prepare(struct perf *p, struct perf_run *r)
{
	r->untimed = p->rank != 0;
	return barrier_prepare(p, r);
}

static void wake_before(struct perf *p, struct perf_run *r)
{
	const struct timespec late = { .tv_nsec = 2000000 };

	(void)r;
	if (p->rank == 0)
		nanosleep(&late, NULL);
}

static void wake_loop(struct perf *p, struct perf_run *r, long count)
{
	(void)r;
	while (count--) {
		must(ub_sync(p->world), "ub_sync");
		must(ub_sync(p->world), "ub_sync");
	}
}

const struct perf_test latency_tests[] = {
	{
		.name = "pingpong", .iters = 200000,
		.prepare = pingpong_prepare, .loop = pingpong_loop,
		.verify = pingpong_verify, .finish = data_finish,
	}, {
		.name = "barrier", .iters = 200000,
		.prepare = barrier_prepare, .loop = barrier_loop,
		.verify = barrier_verify,
	}, {
		.name = "barrier-wake", .group = "barrier", .iters = 500,
		.sleepers = true,
		.prepare = wake_prepare, .before = wake_before, .loop = wake_loop,
		.verify = barrier_verify,
	},
	{ }
};
