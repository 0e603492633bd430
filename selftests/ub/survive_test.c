// SPDX-License-Identifier: GPL-2.0-only
/*
 * Around the failure matrix (matrix_test.c): nodes that stand still in their
 * tick, while they start, or for half the detection time only; what a zombie may
 * still write; who is not disturbed; all die and start again; groups that overlap.
 * With a detection time of seconds: here a node that is held for less lives.
 */
#include "util.h"

#define DETECT	detect_ms()
#define LAST	(NODES - 1)

FIXTURE(survive) {
	struct member m[NODES];
	int extra[NODES];	/* another file of each node */
};

FIXTURE_SETUP(survive)
{
	ASSERT_EQ(heal(), 0);
	ASSERT_EQ(all_open(self->m, self->extra), 0);
}

FIXTURE_TEARDOWN(survive)
{
	all_close(self->m, self->extra);
}

static int hook(int fd, __u32 op, __u64 value)
{
	return test_op(fd, op, value, 0, NULL);
}

/* Until a node's trap springs: true when it did within @ms. */
static bool sprung(int fd, unsigned int ms)
{
	__u64 end = in_ms(ms), at = 0;

	while (!test_op(fd, UB_TEST_SPRUNG, 0, 0, &at) && !at && now() < end)
		sleep_ms(1);
	return at;
}

/* Until the trap that @m set in its step springs: false when the step ended first. */
static bool held(struct member *m, int fd)
{
	while (!LD(&m->over))
		if (sprung(fd, 1))
			return true;
	return false;
}

/* A node finds that it was fenced: its calls are refused. */
static bool refused(int fd)
{
	struct ub_win_create w;
	__u64 end = in_ms(5000);
	int ret;

	while (!(ret = win_create(fd, 1, RW, &w)) && now() < end)
		win_destroy(fd, w.out_desc.window);
	return ret == -ESHUTDOWN;
}

/* ---- half the detection time ---- */

struct hold {
	__u64 nth;
};

static int step_held(struct member *m)
{
	struct hold *h = m->ctx;
	int ret = hook(m->fd, UB_TEST_HOLD_AT, h->nth);

	return ret ? ret : step_barrier(m);
}

/* It stands still at instants of a barrier, and is not dead. */
TEST_F_TIMEOUT(survive, half_the_time, 200)
{
	struct member *m = self->m;
	struct hold h;
	bool hit = true;
	int i;

	m[1].ctx = &h;
	for (h.nth = 1; h.nth < 50 && hit; h.nth += 2) {
		hook(self->extra[1], UB_TEST_HOLD_AT, 0);
		for (i = 0; i < NODES; i++)
			member_start(&m[i], i == 1 ? step_held : step_barrier);
		hit = held(&m[1], self->extra[1]);
		if (hit) {
			sleep_ms(DETECT / 2);
			EXPECT_EQ(hook(self->extra[1], UB_TEST_RESUME, 0), 0);
		}
		for (i = 0; i < NODES; i++)
			EXPECT_EQ(member_join(&m[i]), 0);
	}
	hook(self->extra[1], UB_TEST_HOLD_AT, 0);
	EXPECT_GT(h.nth, 5);
}

/* A time-out says of a node that stands still since when, not that it is lost. */
TEST_F(survive, time_out_tells_silence)
{
	struct member *m = self->m;
	struct ub_lost *l = &m[0].bar.out_lost;

	ASSERT_EQ(hook(self->extra[2], UB_TEST_PAUSE, 0), 0);
	EXPECT_EQ(barrier(&m[1], UB_BARRIER_ARRIVE, 0, 0, 0), 0);
	EXPECT_EQ(barrier(&m[3], UB_BARRIER_ARRIVE, 0, 0, 0), 0);
	EXPECT_EQ(barrier(&m[0], AW, 0, 0, in_ms(DETECT / 2)), -ETIMEDOUT);
	EXPECT_EQ(hook(self->extra[2], UB_TEST_RESUME, 0), 0);
	EXPECT_EQ(l->member, 2);
	EXPECT_EQ(l->node, 2);
	EXPECT_EQ(l->reason, UB_REASON_NONE);
	EXPECT_STREQ(l->level, "world");
	EXPECT_EQ(l->epoch, m[0].gc.out_epoch + 1);
	EXPECT_GE(l->heartbeat_age_ns, DETECT / 4 * MS);
	EXPECT_EQ(step_barrier(&m[2]), 0);
	EXPECT_EQ(barrier(&m[0], UB_BARRIER_WAIT, 0, 0, in_ms(5000)), 0);
}

/* ---- the tick, the start ---- */

/*
 * A node fences another, stands still at each instant of that, and is fenced
 * itself: the others have one answer, and what it does later changes nothing.
 */
TEST_F_TIMEOUT(survive, held_in_its_tick, 120)
{
	struct member *m = self->m;
	int i, hits = 0;
	__u64 nth;

	for (nth = 1; nth <= 14; nth++) {
		member_start(&m[0], step_barrier);
		member_start(&m[1], step_barrier);
		hook(self->extra[LAST], UB_TEST_HOLD_TICK_AT, nth);
		ASSERT_EQ(hook(self->extra[0], UB_TEST_FENCE, 2), 0);
		/* A tick between these two has fewer stores, and is not held. */
		hits += sprung(self->extra[LAST], 100);
		ASSERT_EQ(hook(self->extra[0], UB_TEST_FENCE, LAST), 0);
		for (i = 0; i < 2; i++)
			EXPECT_EQ(member_join(&m[i]), -EOWNERDEAD);
		EXPECT_TRUE(same_lost(&m[0].bar.out_lost, &m[1].bar.out_lost));
		EXPECT_GE(m[0].bar.out_lost.member, 2);
		for (i = 0; i < 4 && members_run(m, 2, step_shrink) == -EOWNERDEAD; i++)
			;
		hook(self->extra[LAST], UB_TEST_RESUME, 0);
		sleep_ms(20);
		EXPECT_EQ(members_run(m, 2, step_barrier), 0);
		EXPECT_EQ(m[0].n, 2);
		world_close(m, NODES);
		ASSERT_EQ(heal(), 0);
		ASSERT_EQ(world_open(m, NODES, NODES), 0);
	}
	EXPECT_GE(hits, 4);
}

static int step_rejoin(struct member *m)
{
	struct hold *h = m->ctx;

	hook(m->fd, UB_TEST_HOLD_AT, h->nth);
	return hook(m->fd, UB_TEST_REJOIN, 0);
}

/* A node stands still at each instant of its start: the others do not notice. */
TEST_F_TIMEOUT(survive, held_while_it_starts, 200)
{
	struct member *m = self->m, fresh[NODES] = { 0 };
	struct member starter = { 0 };
	struct hold h;
	__u64 key[2];
	bool hit = true;
	int i;

	ASSERT_EQ(hook(self->extra[LAST], UB_TEST_KILL, 0), 0);
	/* Later ones are of its former windows, thirteen each. */
	for (h.nth = 1; h.nth < 30 && hit; h.nth++) {
		starter.fd = self->extra[LAST];
		starter.ctx = &h;
		hook(self->extra[0], UB_TEST_FENCE, LAST);
		/* Not what an earlier trap of this node told. */
		hook(starter.fd, UB_TEST_HOLD_AT, 0);
		member_start(&starter, step_rejoin);
		hit = held(&starter, starter.fd);
		fresh_key(key);
		for (i = 0; i < LAST; i++) {
			fresh[i].fd = self->extra[i];
			fresh[i].gc = world_arg(key, LAST, i, 5000);
		}
		EXPECT_EQ(members_run(fresh, LAST, step_create), 0);
		EXPECT_EQ(members_run(fresh, LAST, step_barrier), 0);
		if (hit)
			EXPECT_EQ(hook(starter.fd, UB_TEST_RESUME, 0), 0);
		EXPECT_EQ(member_join(&starter), 0);
		hook(starter.fd, UB_TEST_HOLD_AT, 0);
		EXPECT_EQ(members_run(fresh, LAST, step_barrier), 0);
		for (i = 0; i < LAST; i++)
			group_destroy(fresh[i].fd, fresh[i].group);
		close(self->extra[LAST]);
		self->extra[LAST] = open_node(LAST);
		ASSERT_EQ(hook(self->extra[LAST], UB_TEST_KILL, 0), 0);
	}
	EXPECT_GT(h.nth, 8);
	EXPECT_EQ(step_barrier(&m[0]), -EOWNERDEAD);
}

/* All die, and start again one after the other. */
TEST_F_TIMEOUT(survive, all_die_and_start_again, 60)
{
	struct member fresh[NODES] = { 0 };
	struct ub_win_create w;
	__u64 key[2];
	int i;

	ASSERT_EQ(win_create(self->extra[0], 1, RW, &w), 0);
	for (i = 0; i < NODES; i++)
		ASSERT_EQ(hook(self->extra[i], UB_TEST_KILL, 0), 0);
	fresh_key(key);
	for (i = 0; i < NODES; i++) {
		ASSERT_EQ(hook(self->extra[i], UB_TEST_REJOIN, 0), 0);
		close(self->extra[i]);
		self->extra[i] = open_node(i);
		ASSERT_GE(self->extra[i], 0);
		fresh[i].fd = self->extra[i];
		fresh[i].gc = world_arg(key, NODES, i, 10000);
	}
	EXPECT_EQ(members_run(fresh, NODES, step_create), 0);
	EXPECT_EQ(members_run(fresh, NODES, step_barrier), 0);
	/* What the former lives had is stale, by name. */
	for (i = 0; i < NODES; i++) {
		EXPECT_EQ(win_attach(self->extra[i], &w, RW), -ESTALE);
		EXPECT_EQ(step_barrier(&self->m[i]), -ESHUTDOWN);
	}
}

/* ---- a zombie ---- */

/*
 * A node that stands still keeps its mapping. Whatever it stores there, before
 * it finds that it was fenced, lies in no window that was made since: the memory
 * stays in quarantine until then, and is used again afterwards.
 */
TEST_F_TIMEOUT(survive, zombie_writes_into_no_new_window, 60)
{
	int home = self->extra[0], z = self->extra[LAST], i, n = 0;
	static struct ub_win_create w[4096];
	struct ub_info info = info_of(home);
	struct ub_win_create old, big;
	unsigned char *p;
	__u64 v;

	ASSERT_EQ(win_create(home, info.out_slice / 2, RW, &old), 0);
	ASSERT_EQ(win_attach(z, &old, RW), 0);
	p = win_map(z, old.out_desc.gva, UNIT, PROT_READ | PROT_WRITE);
	ASSERT_NE(p, MAP_FAILED);
	ASSERT_EQ(touch(p, true), 0);
	ASSERT_EQ(hook(z, UB_TEST_PAUSE, 0), 0);
	ASSERT_EQ(hook(home, UB_TEST_FENCE, LAST), 0);
	ASSERT_EQ(win_destroy(home, old.out_desc.window), 0);
	/* Too large for what is left while the zombie has not noticed. */
	EXPECT_EQ(win_create(home, info.out_slice / 2 + UNIT, RW, &big), -ENOSPC);
	while (n < COUNT(w) && !win_create(home, UNIT, RW, &w[n]))
		n++;
	EXPECT_GT(n, 0);
	memset(p, 0xee, PAGE);
	for (i = 0; i < n; i++) {
		ASSERT_EQ(xfer(home, UB_XFER_GET, w[i].out_desc.gva, &v, 8, 0, 0), 0);
		ASSERT_EQ(v, 0);
		win_destroy(home, w[i].out_desc.window);
	}
	ASSERT_EQ(hook(z, UB_TEST_RESUME, 0), 0);
	EXPECT_EQ(touch_gone(p, true), SIGBUS);
	EXPECT_TRUE(refused(z));
	EXPECT_EQ(win_create(home, info.out_slice / 2 + UNIT, RW, &big), 0);
}

/*
 * A window that it had mapped gets other memory: what it stores is seen by nobody.
 * The others attach anew, and find the bytes where they had them.
 */
TEST_F_TIMEOUT(survive, zombie_writes_into_no_window_with_fresh_memory, 60)
{
	int home = self->extra[0], peer = self->extra[1], z = self->extra[LAST], i;
	struct ub_win_create w, next;
	struct ub_win_id id;
	unsigned char *p[3];
	__u64 v = 7;

	ASSERT_EQ(win_create(home, 3 * UNIT, UB_WIN_RIGHTS, &w), 0);
	ASSERT_EQ(win_attach(peer, &w, RW), 0);
	ASSERT_EQ(win_attach(z, &w, RW), 0);
	for (i = 0; i < 3; i++) {
		int fd[] = { home, peer, z };

		p[i] = win_map(fd[i], w.out_desc.gva, 3 * UNIT, PROT_READ | PROT_WRITE);
		ASSERT_NE(p[i], MAP_FAILED);
		p[i][i * UNIT + i] = 0x11 * (i + 1);
	}
	/* What it has not mapped by now, it never will. */
	for (v = 0; v < 3 * UNIT; v += PAGE)
		ASSERT_EQ(touch(p[2] + v, false), 0);
	ASSERT_EQ(hook(z, UB_TEST_PAUSE, 0), 0);
	ASSERT_EQ(hook(home, UB_TEST_FENCE, LAST), 0);

	id = ARG(ub_win_id, .window = w.out_desc.window, .flags = UB_ROTATE_FRESH);
	ASSERT_EQ(call(home, UB_IOC_WIN_ROTATE, &id), 0);
	EXPECT_GT(id.out_generation, w.out_desc.generation);
	EXPECT_EQ(touch_gone(p[1], false), SIGBUS);
	EXPECT_EQ(xfer(peer, UB_XFER_PUT, w.out_desc.gva, &v, 8, 0, 0), -ESTALE);
	next = w;
	next.out_desc.generation = id.out_generation;
	memcpy(next.out_token, id.out_token, sizeof(id.out_token));
	EXPECT_EQ(win_attach(peer, &w, RW), -ESTALE);
	ASSERT_EQ(win_attach(peer, &next, RW), 0);

	memset(p[2], 0xee, 3 * UNIT);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(LD(&p[0][i * UNIT + i]), 0x11 * (i + 1));
		EXPECT_EQ(LD(&p[1][i * UNIT + i]), 0x11 * (i + 1));
	}
	ST(&p[1][5], 0x55);
	EXPECT_EQ(LD(&p[0][5]), 0x55);
	ASSERT_EQ(hook(z, UB_TEST_RESUME, 0), 0);
	EXPECT_EQ(touch_gone(p[2], true), SIGBUS);
	EXPECT_EQ(LD(&p[0][5]), 0x55);
	EXPECT_EQ(win_destroy(home, w.out_desc.window), 0);
}

/* The pages of a group that it was in are no other group's. */
TEST_F_TIMEOUT(survive, zombie_writes_into_no_new_group, 60)
{
	struct member *m = self->m, fresh[LAST] = { 0 };
	struct member *zm = &m[LAST];
	int z = self->extra[LAST], i, round;
	unsigned char *p;
	__u64 key[2];

	p = win_map(zm->fd, zm->gc.out_offset, zm->gc.out_map_size,
		    PROT_READ | PROT_WRITE);
	ASSERT_NE(p, MAP_FAILED);
	for (i = 0; i < zm->gc.out_map_size; i += PAGE)
		ASSERT_EQ(touch(p + i, false), 0);
	ASSERT_EQ(hook(z, UB_TEST_PAUSE, 0), 0);
	ASSERT_EQ(hook(self->extra[0], UB_TEST_FENCE, LAST), 0);
	for (i = 0; i < LAST; i++) {
		close(m[i].fd);
		m[i].fd = -1;
		fresh[i].fd = self->extra[i];
		fresh[i].index = i;
	}
	for (round = 0; round < 8; round++) {
		fresh_key(key);
		for (i = 0; i < LAST; i++)
			fresh[i].gc = world_arg(key, LAST, i, 5000);
		ASSERT_EQ(members_run(fresh, LAST, step_create), 0);
		memset(p, 0xee, zm->gc.out_map_size);
		EXPECT_EQ(members_run(fresh, LAST, step_barrier), 0);
		if (round % 2)
			continue;	/* slots are taken, not used again only */
		for (i = 0; i < LAST; i++)
			group_destroy(fresh[i].fd, fresh[i].group);
	}
	ASSERT_EQ(hook(z, UB_TEST_RESUME, 0), 0);
	EXPECT_EQ(touch_gone(p, true), SIGBUS);
}

/* ---- who is not concerned ---- */

static int board(struct member *m, __u32 first, __u32 n)
{
	__u32 members[NODES], i;
	struct ub_group_create gc;
	int ret;

	for (i = 0; i < n; i++)
		members[i] = first + i;
	gc = ARG(ub_group_create, .parent = m->group, .nmembers = n,
		 .members = PTR(members), .index = m->index - first,
		 .key = { first, n }, .timeout = in_ms(5000), .level = "board");
	ret = call(m->fd, UB_IOC_GROUP_CREATE, &gc);
	m->gc = gc;
	return ret;
}

static int step_board(struct member *m)
{
	return board(m, m->index / 2 * 2, 2);
}

struct latency {
	__u64 end, max;
	int n, slow;
};

/* Barriers for a while: how long the longest took, and how many over a tenth. */
static int step_measure(struct member *m)
{
	struct latency *l = m->ctx;
	int ret = 0;
	__u64 last, t = now();
	__u64 more = 1;

	for (; more && !ret; l->n++) {
		last = t;
		ret = barrier(m, AW, UB_RED_MIN_U64, last < l->end, in_ms(10000));
		more = m->bar.value;
		t = now();
		if (t - last > l->max)
			l->max = t - last;
		l->slow += t - last > DETECT * MS / 10;
	}
	return ret;
}

/* One board loses a node: the other one's syncs go on as if nothing was. */
TEST_F(survive, the_other_board_is_not_delayed)
{
	struct latency l[2] = { 0 };
	struct member b[NODES];
	int i;

	memcpy(b, self->m, sizeof(b));
	ASSERT_EQ(members_run(b, NODES, step_board), 0);
	for (i = 0; i < NODES; i++)
		b[i].group = b[i].gc.out_group;
	ASSERT_EQ(members_run(b, NODES, step_barrier), 0);
	ASSERT_EQ(hook(self->extra[LAST], UB_TEST_KILL, 0), 0);
	for (i = 0; i < 2; i++) {
		l[i].end = in_ms(2 * DETECT);
		b[i].ctx = &l[i];
		member_start(&b[i], step_measure);
	}
	/* Its neighbour waits for as long as it takes to notice. */
	EXPECT_EQ(step_barrier(&b[2]), -EOWNERDEAD);
	EXPECT_EQ(b[2].bar.out_lost.node, LAST);
	EXPECT_STREQ(b[2].bar.out_lost.level, "board");
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(member_join(&b[i]), 0);
		EXPECT_GT(l[i].n, 20);
		/* The machine may be busy with others. */
		EXPECT_LT(l[i].slow * 10, l[i].n);
		TH_LOG("board 0 while board 1 was lost: %d barriers, %d over a tenth of the detection time, the longest %llu us",
		       l[i].n, l[i].slow, l[i].max / 1000);
	}
	/* At the outer sync all hear of it. */
	EXPECT_EQ(members_run(self->m, LAST, step_barrier), -EOWNERDEAD);
	for (i = 1; i < LAST; i++)
		EXPECT_TRUE(same_lost(&self->m[0].bar.out_lost,
				      &self->m[i].bar.out_lost));
}

/* ---- two groups that overlap ---- */

struct both {
	struct member low, high;
	bool high_first;
	bool once;		/* only the first of them */
};

static int step_low(struct member *m)
{
	return board(m, 0, NODES);
}

static int step_both(struct member *m)
{
	struct both *b = m->ctx;
	struct member *first = b->high_first ? &b->high : &b->low;
	struct member *then = b->high_first ? &b->low : &b->high;
	int ret = step_shrink(first);

	return ret || b->once ? ret : step_shrink(then);
}

/* Two groups of all; the last node is lost to both. Fills @b. */
static void lose_two(struct __test_metadata *_metadata, struct member *m, int fd,
		     struct both *b)
{
	struct member low[NODES];
	int i;

	memcpy(low, m, sizeof(low));
	ASSERT_EQ(members_run(low, NODES, step_low), 0);
	for (i = 0; i < NODES; i++)
		low[i].group = low[i].gc.out_group;
	ASSERT_EQ(hook(fd, UB_TEST_KILL, 0), 0);
	ASSERT_EQ(hook(m[0].fd, UB_TEST_FENCE, LAST), 0);
	members_run(low, LAST, step_barrier);
	members_run(m, LAST, step_barrier);
	for (i = 0; i < LAST; i++) {
		b[i] = (struct both){ low[i], m[i], i == 1 };
		m[i].ctx = &b[i];
	}
}

/* Most shrink one group first, one the other: nobody is to be lost for it. */
TEST_F(survive, overlapping_groups_in_any_order)
{
	struct member *m = self->m, low[LAST], high[LAST];
	struct both b[LAST];
	int i;

	lose_two(_metadata, m, self->extra[LAST], b);
	for (i = 0; i < LAST; i++)
		member_start(&m[i], step_both);
	for (i = 0; i < LAST; i++) {
		EXPECT_EQ(member_join(&m[i]), 0);
		EXPECT_LT(m[i].took, 3 * SEC);
		low[i] = b[i].low;
		high[i] = b[i].high;
		EXPECT_EQ(low[i].n, LAST);
		EXPECT_EQ(high[i].n, LAST);
	}
	EXPECT_EQ(members_run(low, LAST, step_barrier), 0);
	EXPECT_EQ(members_run(high, LAST, step_barrier), 0);
}

/* By a thread for each group, none is told that another is busy. */
TEST_F(survive, overlapping_groups_by_threads)
{
	struct member low[LAST], high[LAST];
	struct both b[LAST];
	int i;

	lose_two(_metadata, self->m, self->extra[LAST], b);
	for (i = 0; i < LAST; i++) {
		low[i] = b[i].low;
		high[i] = b[i].high;
		member_start(&low[i], step_shrink);
		member_start(&high[i], step_shrink);
	}
	for (i = 0; i < LAST; i++) {
		EXPECT_EQ(member_join(&low[i]), 0);
		EXPECT_EQ(member_join(&high[i]), 0);
	}
	EXPECT_EQ(members_run(low, LAST, step_barrier), 0);
	EXPECT_EQ(members_run(high, LAST, step_barrier), 0);
}

/* Who took part in a shrink by the way and then gives the group up has left. */
TEST_F(survive, overlapping_groups_one_given_up)
{
	struct member *m = self->m, high[LAST], *one = &high[1];
	struct both b[LAST];
	int i;

	lose_two(_metadata, m, self->extra[LAST], b);
	b[1].high_first = false;
	b[1].once = true;
	b[0].high_first = b[2].high_first = true;
	for (i = 0; i < LAST; i++)
		member_start(&m[i], step_both);
	for (i = 0; i < LAST; i++) {
		EXPECT_EQ(member_join(&m[i]), 0);
		EXPECT_LT(m[i].took, 3 * SEC);
		high[i] = b[i].high;
	}
	EXPECT_EQ(high[0].n, LAST);
	EXPECT_EQ(group_destroy(one->fd, one->group), 0);
	EXPECT_EQ(step_barrier(&high[0]), -EOWNERDEAD);
	EXPECT_EQ(step_barrier(&high[2]), -EOWNERDEAD);
	EXPECT_TRUE(same_lost(&high[0].bar.out_lost, &high[2].bar.out_lost));
	EXPECT_EQ(high[0].bar.out_lost.member, 1);
	EXPECT_EQ(high[0].bar.out_lost.reason, UB_REASON_LEFT);
}

TEST_HARNESS_MAIN
