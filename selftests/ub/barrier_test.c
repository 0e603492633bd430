// SPDX-License-Identifier: GPL-2.0-only
/*
 * Barriers by ioctl: results, split phases, time-outs, signals, epochs.
 */
#include <sys/syscall.h>
#include "util.h"

#define MANY	8
#define ROUNDS	5000

FIXTURE(barrier) {
	struct member m[MANY];
	int n;
};

FIXTURE_SETUP(barrier)
{
	ASSERT_EQ(heal(), 0);
	self->n = 2;
	ASSERT_EQ(world_open(self->m, 2, 2), 0);
}

FIXTURE_TEARDOWN(barrier)
{
	world_close(self->m, self->n);
}

static __u64 operand(__u64 member, __u64 round)
{
	__u64 x = member * 0x9e3779b97f4a7c15ULL + round * 0xbf58476d1ce4e5b9ULL;

	x ^= x >> 29;
	return x * 0x94d049bb133111ebULL;
}

static __u64 reduce(__u32 op, __u64 a, __u64 b)
{
	switch (op) {
	case UB_RED_SUM:
		return a + b;
	case UB_RED_XOR:
		return a ^ b;
	case UB_RED_AND:
		return a & b;
	case UB_RED_OR:
		return a | b;
	case UB_RED_MIN_U64:
		return a < b ? a : b;
	case UB_RED_MAX_U64:
		return a > b ? a : b;
	case UB_RED_MIN_S64:
		return (__s64)a < (__s64)b ? a : b;
	default:
		return (__s64)a > (__s64)b ? a : b;
	}
}

static __u64 expected(__u32 op, __u64 round, int n)
{
	__u64 v = operand(0, round);
	int i;

	for (i = 1; i < n; i++)
		v = reduce(op, v, operand(i, round));
	return v;
}

/* Rounds of all reductions; ctx: extra flags, and whether to split. */
struct how {
	int rounds;
	__u32 flags;
	bool split;
};

static int step_rounds(struct member *m)
{
	struct how *h = m->ctx;
	__u64 epoch = m->gc.out_epoch;
	int i, ret;

	for (i = 0; i < h->rounds; i++) {
		__u32 op = 1 + i % (UB_RED_OPS - 1);
		__u64 v = operand(m->index, i);

		if (h->split) {
			ret = barrier(m, UB_BARRIER_ARRIVE, op, v, 0);
			if (ret)
				return ret;
			/* now and then there is work in between */
			if (i % (7 + m->index) == 0)
				sched_yield();
			ret = barrier(m, UB_BARRIER_WAIT | h->flags, 0, 0,
				      in_ms(20000));
		} else {
			ret = barrier(m, AW | h->flags, op, v, in_ms(20000));
		}
		if (ret)
			return ret;
		if (m->bar.value != expected(op, i, m->n) ||
		    m->bar.out_epoch != ++epoch)
			return -EIO;
	}
	return 0;
}

FIXTURE(rounds) {
	struct member m[MANY];
};

FIXTURE_VARIANT(rounds) {
	int members;
	struct how how;
};

FIXTURE_VARIANT_ADD(rounds, alone) { 1, { ROUNDS } };
FIXTURE_VARIANT_ADD(rounds, two) { 2, { ROUNDS } };
FIXTURE_VARIANT_ADD(rounds, three) { 3, { ROUNDS } };
FIXTURE_VARIANT_ADD(rounds, four) { 4, { ROUNDS } };
FIXTURE_VARIANT_ADD(rounds, eight) { 8, { ROUNDS / 2 } };
FIXTURE_VARIANT_ADD(rounds, two_split) { 2, { ROUNDS, 0, true } };
FIXTURE_VARIANT_ADD(rounds, four_split) { 4, { ROUNDS, 0, true } };
FIXTURE_VARIANT_ADD(rounds, two_sleeping) { 2, { ROUNDS, UB_BARRIER_SLEEP } };
FIXTURE_VARIANT_ADD(rounds, four_sleeping) { 4, { ROUNDS / 2, UB_BARRIER_SLEEP } };

FIXTURE_SETUP(rounds)
{
	ASSERT_EQ(heal(), 0);
	ASSERT_EQ(world_open(self->m, variant->members, NODES), 0);
}

FIXTURE_TEARDOWN(rounds)
{
	world_close(self->m, variant->members);
}

TEST_F(rounds, all_reductions)
{
	int n = variant->members, i;
	struct how how = variant->how;
	__u64 start = now();

	for (i = 0; i < n; i++)
		self->m[i].ctx = &how;
	members_run(self->m, n, step_rounds);
	for (i = 0; i < n; i++)
		EXPECT_EQ(self->m[i].ret, 0);
	TH_LOG("%llu us a barrier", (now() - start) / 1000 / how.rounds);
}

/* Nobody leaves before the last has come. */
static int step_late(struct member *m)
{
	int *there = m->ctx;
	int i, ret;

	for (i = 1; i <= 200; i++) {
		__atomic_fetch_add(there, 1, __ATOMIC_SEQ_CST);
		ret = step_barrier(m);
		if (ret)
			return ret;
		if (LD(there) < i * m->n)
			return -EIO;
		ret = step_barrier(m);
		if (ret)
			return ret;
	}
	return 0;
}

TEST_F(rounds, nobody_leaves_early)
{
	int n = variant->members, i, there = 0;

	for (i = 0; i < n; i++)
		self->m[i].ctx = &there;
	EXPECT_EQ(members_run(self->m, n, step_late), 0);
}

TEST_F(barrier, split_phase)
{
	struct member *a = &self->m[0], *b = &self->m[1];

	/* Nothing to wait for yet. */
	EXPECT_EQ(barrier(a, UB_BARRIER_WAIT, 0, 0, in_ms(100)), -EINVAL);
	EXPECT_EQ(barrier(a, UB_BARRIER_TEST, 0, 0, 0), -EINVAL);
	/* Not a call at all. */
	EXPECT_EQ(barrier(a, 0, 0, 0, 0), -EINVAL);
	EXPECT_EQ(barrier(a, AW | UB_BARRIER_TEST, 0, 0, 0), -EINVAL);
	EXPECT_EQ(barrier(a, AW, UB_RED_OPS, 0, 0), -EINVAL);
	EXPECT_EQ(barrier(a, AW, ~0U, 0, 0), -EINVAL);

	EXPECT_EQ(barrier(a, UB_BARRIER_ARRIVE, UB_RED_SUM, 3, 0), 0);
	EXPECT_EQ(a->bar.out_epoch, a->gc.out_epoch + 1);
	EXPECT_EQ(barrier(a, UB_BARRIER_TEST, 0, 0, 0), -EAGAIN);
	EXPECT_EQ(barrier(a, UB_BARRIER_ARRIVE, UB_RED_SUM, 3, 0), -EALREADY);
	EXPECT_EQ(barrier(a, AW, UB_RED_SUM, 3, in_ms(100)), -EALREADY);
	EXPECT_EQ(barrier(a, UB_BARRIER_TEST, 0, 0, 0), -EAGAIN);
	/* The last one need not wait. */
	EXPECT_EQ(barrier(b, UB_BARRIER_ARRIVE | UB_BARRIER_TEST, UB_RED_SUM, 4, 0), 0);
	EXPECT_EQ(b->bar.value, 7);
	EXPECT_EQ(barrier(a, UB_BARRIER_TEST, 0, 0, 0), 0);
	EXPECT_EQ(a->bar.value, 7);
	EXPECT_EQ(barrier(a, UB_BARRIER_TEST, 0, 0, 0), -EINVAL);
}

TEST_F(barrier, struct_is_kept)
{
	struct member *a = &self->m[0], *b = &self->m[1];

	member_start(b, step_barrier);
	a->bar = ARG(ub_barrier, .flags = AW, .group = a->group,
		     .op = UB_RED_NONE, .timeout = in_ms(5000), .last = 0x50000);
	ASSERT_EQ(call(a->fd, UB_IOC_BARRIER, &a->bar), 0);
	/* One may fill it in once and call it often. */
	EXPECT_EQ(a->bar.flags, AW);
	EXPECT_EQ(a->bar.group, a->group);
	EXPECT_EQ(a->bar.size, sizeof(a->bar));
	EXPECT_EQ(a->bar.last, 0x50000);
	EXPECT_EQ(member_join(b), 0);
}

static int step_mixed(struct member *m)
{
	return barrier(m, AW, m->index ? UB_RED_SUM : UB_RED_XOR, 1, in_ms(5000));
}

TEST_F(barrier, mixed_operations)
{
	int i;

	for (i = 0; i < 20; i++) {
		members_run(self->m, 2, step_mixed);
		EXPECT_EQ(self->m[0].ret, -EINVAL);
		EXPECT_EQ(self->m[1].ret, -EINVAL);
		/* It counts, and the group lives on. */
		EXPECT_EQ(self->m[0].bar.out_epoch, self->m[1].bar.out_epoch);
		ASSERT_EQ(members_run(self->m, 2, step_barrier), 0);
	}
}

static int step_last(struct member *m)
{
	m->bar = ARG(ub_barrier, .flags = AW, .group = m->group,
		     .timeout = in_ms(5000),
		     .last = UB_AUX_LAST(9000 - m->index * 4000, m->index) |
			     UB_AUX_NOTE(4 + m->index));
	return call(m->fd, UB_IOC_BARRIER, &m->bar);
}

TEST_F(barrier, who_waited_least_and_notes)
{
	ASSERT_EQ(members_run(self->m, 2, step_last), 0);
	EXPECT_EQ(self->m[0].bar.out_last, UB_AUX_LAST(5000, 1) | UB_AUX_NOTE(5));
	EXPECT_EQ(self->m[1].bar.out_last, UB_AUX_LAST(5000, 1) | UB_AUX_NOTE(5));
}

TEST_F(barrier, time_out_is_no_loss)
{
	struct member *a = &self->m[0], *b = &self->m[1];
	__u64 start = now();

	ASSERT_EQ(barrier(a, AW, UB_RED_SUM, 10, in_ms(150)), -ETIMEDOUT);
	/* The same struct goes on waiting. */
	EXPECT_EQ(a->bar.flags, UB_BARRIER_WAIT);
	EXPECT_GE(now() - start, 149 * MS);
	EXPECT_LT(now() - start, 1000 * MS);
	EXPECT_EQ(a->bar.out_lost.member, 1);
	EXPECT_EQ(a->bar.out_lost.node, 1);
	EXPECT_EQ(a->bar.out_lost.reason, UB_REASON_NONE);
	EXPECT_EQ(a->bar.out_lost.epoch, a->gc.out_epoch + 1);
	EXPECT_EQ(a->bar.out_epoch, a->gc.out_epoch + 1);
	EXPECT_EQ(a->bar.out_lost.incarnation, info_of(b->fd).out_incarnation);
	EXPECT_LT(a->bar.out_lost.heartbeat_age_ns, 2 * detect_ms() * MS);
	EXPECT_STREQ(a->bar.out_lost.level, "world");
	/* The time is over before it begins. */
	EXPECT_EQ(barrier(a, UB_BARRIER_WAIT, 0, 0, 0), -ETIMEDOUT);
	EXPECT_EQ(barrier(a, AW, UB_RED_SUM, 10, in_ms(10)), -EALREADY);
	EXPECT_EQ(barrier(b, AW, UB_RED_SUM, 5, in_ms(5000)), 0);
	EXPECT_EQ(b->bar.value, 15);
	EXPECT_EQ(barrier(a, UB_BARRIER_WAIT, 0, 0, in_ms(5000)), 0);
	EXPECT_EQ(a->bar.value, 15);
	EXPECT_EQ(members_run(self->m, 2, step_barrier), 0);
}

TEST_F(barrier, for_ever)
{
	struct member *a = &self->m[0], *b = &self->m[1];

	ASSERT_EQ(barrier(a, UB_BARRIER_ARRIVE, UB_RED_SUM, 1, UB_FOREVER), 0);
	member_start(b, step_barrier);
	sleep_ms(300);
	EXPECT_EQ(barrier(a, UB_BARRIER_WAIT, 0, 0, UB_FOREVER), -EINVAL);
	member_join(b);
	EXPECT_EQ(b->ret, -EINVAL);	/* sum and none do not mix */
	EXPECT_EQ(members_run(self->m, 2, step_barrier), 0);
}

/* ---- signals ---- */

static int handled;

static void on_signal(int sig)
{
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
}

static int step_interrupted(struct member *m)
{
	struct sigevent ev = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	struct itimerspec every = { { 0, 1000000 }, { 0, 1000000 } };
	int *eintr = m->ctx;
	timer_t timer;
	int i, ret = 0;

	ev._sigev_un._tid = syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer))
		return -errno;
	timer_settime(timer, 0, &every, NULL);
	for (i = 0; i < 200 && !ret; i++) {
		/* Now one is late, now the other. */
		if (i % 2 == m->index)
			sleep_ms(4);
		m->bar = ARG(ub_barrier, .flags = AW, .group = m->group,
			     .op = UB_RED_SUM, .value = i + m->index,
			     .timeout = in_ms(20000));
		while ((ret = call(m->fd, UB_IOC_BARRIER, &m->bar)) == -EINTR)
			__atomic_fetch_add(eintr, 1, __ATOMIC_RELAXED);
		if (!ret && m->bar.value != 2 * i + 1)
			ret = -EIO;
		if (!ret && m->bar.out_epoch != m->gc.out_epoch + i + 1)
			ret = -ERANGE;
	}
	timer_delete(timer);
	return ret;
}

TEST_F(barrier, signals_restart)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	int eintr = 0;

	sigaction(SIGUSR1, &sa, NULL);
	self->m[0].ctx = self->m[1].ctx = &eintr;
	EXPECT_EQ(members_run(self->m, 2, step_interrupted), 0);
	EXPECT_EQ(self->m[1].ret, 0);
	EXPECT_EQ(eintr, 0);
	EXPECT_GT(handled, 100);
}

TEST_F(barrier, signals_interrupt)
{
	struct sigaction sa = { .sa_handler = on_signal };
	int eintr = 0;

	sigaction(SIGUSR1, &sa, NULL);
	self->m[0].ctx = self->m[1].ctx = &eintr;
	EXPECT_EQ(members_run(self->m, 2, step_interrupted), 0);
	EXPECT_EQ(self->m[1].ret, 0);
	EXPECT_GT(eintr, 50);
}

/* ---- one driver ---- */

TEST_F(barrier, one_thread_at_a_time)
{
	struct member *a = &self->m[0], *b = &self->m[1], second = *a;

	member_start(a, step_barrier);
	member_asleep(a);
	EXPECT_EQ(step_barrier(&second), -EBUSY);
	EXPECT_EQ(barrier(&second, UB_BARRIER_WAIT, 0, 0, in_ms(10)), -EBUSY);
	EXPECT_EQ(group_destroy(a->fd, a->group), -EBUSY);
	EXPECT_EQ(step_barrier(b), 0);
	EXPECT_EQ(member_join(a), 0);
}

static int do_kick(struct member *m, __u32 group)
{
	struct ub_group_id g = ARG(ub_group_id, .group = group);

	return call(m->fd, UB_IOC_KICK, &g);
}

TEST_F(barrier, kick)
{
	struct member *a = &self->m[0], *b = &self->m[1];
	int i;

	EXPECT_EQ(do_kick(a, a->group), 0);
	EXPECT_EQ(do_kick(a, ~0U), -ENOENT);
	/* It wakes, and whoever finds nothing sleeps again. */
	member_start(a, step_barrier);
	for (i = 0; i < 50; i++) {
		EXPECT_EQ(do_kick(b, b->group), 0);
		sleep_ms(1);
	}
	EXPECT_EQ(a->ret, 1);
	EXPECT_EQ(step_barrier(b), 0);
	EXPECT_EQ(member_join(a), 0);
}

static int step_handover(struct member *m)
{
	int i, ret = 0;

	for (i = 0; i < 100 && !ret; i++) {
		ret = barrier(m, AW | UB_BARRIER_HANDOVER, UB_RED_SUM, 1,
			      in_ms(5000));
		if (!ret && m->bar.value != 2)
			ret = -EIO;
	}
	return ret;
}

TEST_F(barrier, driven_by_a_library)
{
	__u64 key[2];
	int i;

	fresh_key(key);
	for (i = 0; i < 2; i++) {
		self->m[i].gc = world_arg(key, 2, i, 5000);
		self->m[i].gc.flags |= UB_GROUP_USER_DRIVER;
	}
	ASSERT_EQ(members_run(self->m, 2, step_create), 0);
	EXPECT_EQ(step_barrier(&self->m[0]), -EBUSY);
	EXPECT_EQ(members_run(self->m, 2, step_handover), 0);
	EXPECT_EQ(self->m[1].ret, 0);
}

/* ---- epochs ---- */

static int based_world(struct member *m, __u64 base)
{
	__u64 key[2];
	int i;

	fresh_key(key);
	for (i = 0; i < 2; i++) {
		m[i].gc = world_arg(key, 2, i, 5000);
		m[i].gc.flags |= UB_GROUP_BASE;
		m[i].gc.base = base;
	}
	return members_run(m, 2, step_create);
}

TEST_F(barrier, epochs_past_32_bits)
{
	struct how how = { .rounds = 64 };
	int i;

	ASSERT_EQ(based_world(self->m, (1ULL << 32) - 20), 0);
	EXPECT_EQ(self->m[0].gc.out_epoch, (1ULL << 32) - 19);
	for (i = 0; i < 2; i++)
		self->m[i].ctx = &how;
	EXPECT_EQ(members_run(self->m, 2, step_rounds), 0);
	EXPECT_EQ(self->m[1].ret, 0);
	EXPECT_EQ(self->m[1].bar.out_epoch, (1ULL << 32) + 45);
}

TEST_F(barrier, last_epoch)
{
	struct how how = { .rounds = 9 };
	int i;

	ASSERT_EQ(based_world(self->m, UB_EPOCH_MAX - 10), 0);
	for (i = 0; i < 2; i++)
		self->m[i].ctx = &how;
	EXPECT_EQ(members_run(self->m, 2, step_rounds), 0);
	EXPECT_EQ(self->m[1].bar.out_epoch, UB_EPOCH_MAX);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(step_barrier(&self->m[i % 2]), -EOVERFLOW);
}

/* ---- SIGKILL ---- */

struct killed {
	__u64 key[2];
	__u32 up[3];
	struct ub_lost lost[3];
	int ret[3][2];
};

struct waiter {
	struct killed *k;
	int index;
};

static int waits_for_ever(void *ctx)
{
	struct waiter *w = ctx;
	struct member m = { .fd = open_node(w->index) };
	int i;

	m.gc = world_arg(w->k->key, 4, w->index, 10000);
	if (m.fd < 0 || step_create(&m))
		return 1;
	set_word(&w->k->up[w->index]);
	for (i = 0; i < 2; i++)
		w->k->ret[w->index][i] = barrier(&m, AW, 0, 0, UB_FOREVER);
	w->k->lost[w->index] = m.bar.out_lost;
	return 0;
}

TEST_F(barrier, sigkill)
{
	struct killed *k = shared_page();
	struct waiter w = { .k = k };
	struct member last = { .fd = open_node(3) };
	pid_t pid[3];
	__u64 start;
	int i;

	fresh_key(k->key);
	for (i = 0; i < 3; i++) {
		w.index = i;
		pid[i] = spawn(waits_for_ever, &w);
	}
	last.gc = world_arg(k->key, 4, 3, 10000);
	ASSERT_EQ(step_create(&last), 0);
	for (i = 0; i < 3; i++)
		ASSERT_TRUE(wait_word(&k->up[i], 5000));
	sleep_ms(100);
	start = now();
	kill(pid[1], SIGKILL);
	EXPECT_EQ(reap(pid[1]), 128 + SIGKILL);
	EXPECT_LT(now() - start, 500 * MS);
	/* It had arrived: the barrier that it waited in ends well. */
	EXPECT_EQ(step_barrier(&last), 0);
	EXPECT_EQ(step_barrier(&last), -EOWNERDEAD);
	EXPECT_EQ(reap(pid[0]), 0);
	EXPECT_EQ(reap(pid[2]), 0);
	EXPECT_LT(now() - start, 2000 * MS);
	for (i = 0; i < 3; i += 2) {
		EXPECT_EQ(k->ret[i][0], 0);
		EXPECT_EQ(k->ret[i][1], -EOWNERDEAD);
		EXPECT_TRUE(same_lost(&k->lost[i], &last.bar.out_lost));
	}
	EXPECT_EQ(last.bar.out_lost.member, 1);
	EXPECT_EQ(last.bar.out_lost.reason, UB_REASON_EXIT);
	EXPECT_EQ(last.bar.out_lost.epoch, last.gc.out_epoch + 2);
	close(last.fd);
}

TEST_HARNESS_MAIN
