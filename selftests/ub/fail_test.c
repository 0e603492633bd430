// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes and processes that die: the same answer for all who survive, in
 * time, and life goes on without the dead.
 */
#include "util.h"

#define DETECT	detect_ms()

FIXTURE(fail) {
	struct member m[NODES];
	int extra[NODES];	/* another file of each node */
};

FIXTURE_SETUP(fail)
{
	ASSERT_EQ(heal(), 0);
	ASSERT_EQ(all_open(self->m, self->extra), 0);
}

FIXTURE_TEARDOWN(fail)
{
	all_close(self->m, self->extra);
}

/* Members of @m but @dead have the same answer, and it names @dead. */
static bool all_told(struct __test_metadata *_metadata, struct member *m, int n,
		     int dead, __u32 reason)
{
	bool good = true;
	int i, first = dead ? 0 : 1;

	for (i = 0; i < n; i++) {
		struct ub_lost *l = &m[i].bar.out_lost;

		if (i == dead)
			continue;
		good = good && m[i].ret == -EOWNERDEAD &&
		       same_lost(l, &m[first].bar.out_lost) &&
		       l->member == dead && l->reason == reason &&
		       l->node == dead;
		TH_LOG("member %d: %d, lost %u node %u reason %u epoch %llu", i,
		       m[i].ret, l->member, l->node, l->reason, l->epoch);
	}
	return good;
}

static int kill_node(int fd)
{
	return test_op(fd, UB_TEST_KILL, 0, 0, NULL);
}

TEST_F(fail, killed_while_others_wait)
{
	struct member *m = self->m;
	__u64 start;
	int i;

	ASSERT_EQ(members_run(m, NODES, step_barrier), 0);
	for (i = 0; i < 3; i++)
		member_start(&m[i], step_barrier);
	sleep_ms(50);
	start = now();
	ASSERT_EQ(kill_node(self->extra[3]), 0);
	for (i = 0; i < 3; i++)
		member_join(&m[i]);
	EXPECT_LT(now() - start, 3 * DETECT * MS);
	EXPECT_TRUE(all_told(_metadata, m, 4, 3, UB_REASON_HEARTBEAT));
	EXPECT_EQ(m[0].bar.out_lost.epoch, m[0].gc.out_epoch + 2);
	EXPECT_STREQ(m[0].bar.out_lost.level, "world");
	/* The answer stands. */
	for (i = 0; i < 3; i++) {
		struct ub_lost was = m[i].bar.out_lost;

		EXPECT_EQ(step_barrier(&m[i]), -EOWNERDEAD);
		EXPECT_TRUE(same_lost(&was, &m[i].bar.out_lost));
	}
	/* The dead node's own processes hear of it too. */
	EXPECT_EQ(step_barrier(&m[3]), -ESHUTDOWN);
}

TEST_F(fail, killed_before_others_arrive)
{
	struct member *m = self->m;
	int i;

	ASSERT_EQ(kill_node(m[1].fd), 0);
	for (i = 0; i < NODES; i++)
		if (i != 1)
			member_start(&m[i], step_barrier);
	for (i = 0; i < NODES; i++)
		if (i != 1)
			EXPECT_EQ(member_join(&m[i]), -EOWNERDEAD);
	EXPECT_LT(m[0].took, 3 * DETECT * MS);
	EXPECT_TRUE(all_told(_metadata, m, 4, 1, UB_REASON_HEARTBEAT));
}

/* Who arrived before it died held nobody up: that barrier ends well. */
TEST_F(fail, killed_after_arrival)
{
	struct member *m = self->m;
	int i;

	ASSERT_EQ(barrier(&m[2], UB_BARRIER_ARRIVE, 0, 0, 0), 0);
	ASSERT_EQ(kill_node(m[2].fd), 0);
	sleep_ms(2 * DETECT);
	for (i = 0; i < NODES; i++)
		if (i != 2)
			member_start(&m[i], step_barrier);
	for (i = 0; i < NODES; i++)
		if (i != 2)
			EXPECT_EQ(member_join(&m[i]), 0);
	for (i = 0; i < NODES; i++)
		if (i != 2)
			member_start(&m[i], step_barrier);
	for (i = 0; i < NODES; i++)
		if (i != 2)
			EXPECT_EQ(member_join(&m[i]), -EOWNERDEAD);
	EXPECT_TRUE(all_told(_metadata, m, 4, 2, UB_REASON_HEARTBEAT));
	EXPECT_EQ(m[0].bar.out_lost.epoch, m[0].gc.out_epoch + 2);
}

TEST_F(fail, waiter_on_the_killed_node)
{
	struct member *m = self->m;

	member_start(&m[3], step_barrier);
	member_asleep(&m[3]);
	ASSERT_EQ(kill_node(self->extra[3]), 0);
	EXPECT_EQ(member_join(&m[3]), -ESHUTDOWN);
	EXPECT_LT(m[3].took, SEC);
}

TEST_F(fail, two_killed_at_once)
{
	struct member *m = self->m;

	member_start(&m[0], step_barrier);
	member_start(&m[1], step_barrier);
	ASSERT_EQ(kill_node(m[2].fd), 0);
	ASSERT_EQ(kill_node(m[3].fd), 0);
	EXPECT_EQ(member_join(&m[0]), -EOWNERDEAD);
	EXPECT_EQ(member_join(&m[1]), -EOWNERDEAD);
	EXPECT_TRUE(same_lost(&m[0].bar.out_lost, &m[1].bar.out_lost));
	EXPECT_GE(m[0].bar.out_lost.member, 2);
	EXPECT_EQ(members_run(m, 2, step_shrink), 0);
	EXPECT_EQ(m[0].n, 2);
	EXPECT_EQ(members_run(m, 2, step_barrier), 0);
}

/* No NODE_DOWN of a node but @of in what a file has to read. */
static bool only_down(int fd, __u32 of)
{
	struct ub_event ev;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (read(fd, &ev, sizeof(ev)) == sizeof(ev))
		if (ev.type == UB_EVENT_NODE_DOWN && ev.node != of)
			return false;
	return true;
}

TEST_F(fail, long_pause)
{
	struct member *m = self->m;
	int i;

	ASSERT_EQ(test_op(self->extra[3], UB_TEST_PAUSE, 0, 0, NULL), 0);
	for (i = 0; i < NODES; i++)
		member_start(&m[i], step_barrier);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(member_join(&m[i]), -EOWNERDEAD);
	EXPECT_TRUE(all_told(_metadata, m, 4, 3, UB_REASON_HEARTBEAT));
	sleep_ms(2 * DETECT);
	ASSERT_EQ(test_op(self->extra[3], UB_TEST_RESUME, 0, 0, NULL), 0);
	/* Its word in the group was fenced, or it has seen that it is. */
	member_join(&m[3]);
	EXPECT_TRUE(m[3].ret == -ESHUTDOWN || m[3].ret == -ESTALE);
	sleep_ms(DETECT);
	EXPECT_EQ(step_barrier(&m[3]), -ESHUTDOWN);
	/* It takes nobody with it. */
	sleep_ms(2 * DETECT);
	for (i = 0; i < NODES; i++)
		EXPECT_TRUE(only_down(self->extra[i], 3));
	EXPECT_EQ(members_run(m, 3, step_shrink), 0);
	EXPECT_EQ(members_run(m, 3, step_barrier), 0);
}

TEST_F(fail, rejoin)
{
	struct ub_info before = info_of(self->extra[3]), after;
	struct ub_win_create w, none;
	struct member fresh[2] = { 0 };
	__u64 key[2];
	int i;

	ASSERT_EQ(win_create(self->extra[3], 1, RW, &w), 0);
	/* Who lives cannot be attached again. */
	ASSERT_EQ(kill_node(self->extra[3]), 0);
	sleep_ms(2 * DETECT);
	ASSERT_EQ(test_op(self->extra[3], UB_TEST_REJOIN, 0, 0, NULL), 0);
	/* The old files are of the old life. */
	EXPECT_NE(step_barrier(&self->m[3]), 0);
	EXPECT_EQ(win_create(self->extra[3], 1, RW, &none), -ESHUTDOWN);
	close(self->extra[3]);
	self->extra[3] = open_node(3);
	after = info_of(self->extra[3]);
	EXPECT_EQ(after.out_node, before.out_node);
	EXPECT_GT(after.out_incarnation, before.out_incarnation);
	EXPECT_EQ(win_attach(self->extra[0], &w, RW), -ESTALE);
	/* The old group is lost, a new one works. */
	EXPECT_EQ(step_barrier(&self->m[0]), -EOWNERDEAD);
	fresh_key(key);
	for (i = 0; i < 2; i++) {
		fresh[i].fd = self->extra[2 + i];
		fresh[i].gc = world_arg(key, 2, i, 5000);
	}
	EXPECT_EQ(members_run(fresh, 2, step_create), 0);
	EXPECT_EQ(members_run(fresh, 2, step_barrier), 0);
}

/*
 * A file of the former life that closes late must not touch what its group's
 * pages were given to meanwhile.
 */
TEST_F(fail, old_files_spoil_no_new_group)
{
	struct member fresh[3] = { 0 };
	__u64 key[2];
	int i, round;

	ASSERT_EQ(kill_node(self->extra[3]), 0);
	ASSERT_EQ(test_op(self->extra[3], UB_TEST_REJOIN, 0, 0, NULL), 0);
	for (i = 0; i < 3; i++) {
		close(self->m[i].fd);
		self->m[i].fd = -1;
		fresh[i].fd = self->extra[i];
		fresh[i].index = i;
	}
	/* The old group's slot is free, and the first to be taken. */
	for (round = 0; round < 3; round++) {
		fresh_key(key);
		for (i = 0; i < 3; i++)
			fresh[i].gc = world_arg(key, 3, i, 5000);
		ASSERT_EQ(members_run(fresh, 3, step_create), 0);
		if (round == 1) {
			close(self->m[3].fd);
			self->m[3].fd = -1;
		}
		sleep_ms(DETECT);
		EXPECT_EQ(members_run(fresh, 3, step_barrier), 0);
		for (i = 0; i < 3; i++)
			EXPECT_EQ(group_destroy(fresh[i].fd, fresh[i].group), 0);
	}
}

TEST_F(fail, killed_and_back_at_once)
{
	struct member *m = self->m;
	int i;

	/* Back before anybody noticed: the old life is lost all the same. */
	ASSERT_EQ(kill_node(self->extra[3]), 0);
	ASSERT_EQ(test_op(self->extra[3], UB_TEST_REJOIN, 0, 0, NULL), 0);
	for (i = 0; i < 3; i++)
		member_start(&m[i], step_barrier);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(member_join(&m[i]), -EOWNERDEAD);
	EXPECT_EQ(m[0].bar.out_lost.member, 3);
	EXPECT_TRUE(same_lost(&m[0].bar.out_lost, &m[1].bar.out_lost));
	EXPECT_TRUE(same_lost(&m[0].bar.out_lost, &m[2].bar.out_lost));
	EXPECT_LT(m[0].took, 3 * DETECT * MS);
}

TEST_F(fail, fenced_by_hand)
{
	struct member *m = self->m;
	int i;

	for (i = 0; i < NODES; i++)
		if (i != 2)
			member_start(&m[i], step_barrier);
	sleep_ms(20);
	ASSERT_EQ(test_op(self->extra[0], UB_TEST_FENCE, 2, 0, NULL), 0);
	for (i = 0; i < NODES; i++)
		if (i != 2)
			EXPECT_EQ(member_join(&m[i]), -EOWNERDEAD);
	EXPECT_TRUE(all_told(_metadata, m, 4, 2, UB_REASON_FENCED));
	EXPECT_LT(m[0].took, DETECT * MS);
	sleep_ms(DETECT);
	EXPECT_EQ(step_barrier(&m[2]), -ESHUTDOWN);
	EXPECT_NE(test_op(self->extra[0], UB_TEST_FENCE, 77, 0, NULL), 0);
}

/* ---- processes ---- */

static void lane_death(struct __test_metadata *_metadata, struct member *m, int sig)
{
	struct lane *l = shared_page();
	__u64 start;
	pid_t pid;
	int i;

	fresh_key(l->key);
	pid = spawn(lane_process, l);
	for (i = 0; i < 2; i++)
		m[i].gc = world_arg(l->key, 3, i, 10000);
	ASSERT_EQ(members_run(m, 2, step_create), 0);
	for (i = 0; i < 2; i++)
		member_start(&m[i], step_barrier);
	sleep_ms(50);
	start = now();
	if (sig)
		kill(pid, sig);
	else
		set_word(&l->go);
	for (i = 0; i < 2; i++)
		EXPECT_EQ(member_join(&m[i]), -EOWNERDEAD);
	EXPECT_LT(now() - start, SEC);
	EXPECT_TRUE(same_lost(&m[0].bar.out_lost, &m[1].bar.out_lost));
	EXPECT_EQ(m[0].bar.out_lost.member, 2);
	EXPECT_EQ(m[0].bar.out_lost.node, 1);
	EXPECT_EQ(m[0].bar.out_lost.reason, UB_REASON_EXIT);
	EXPECT_EQ(reap(pid), sig ? 128 + sig : 0);
}

TEST_F(fail, process_exits)
{
	lane_death(_metadata, self->m, 0);
}

TEST_F(fail, process_is_killed)
{
	lane_death(_metadata, self->m, SIGKILL);
}

/* ---- shrinking ---- */

static int step_thousand(struct member *m)
{
	int i, ret = 0;

	for (i = 0; i < 1000 && !ret; i++) {
		ret = barrier(m, AW, UB_RED_SUM, m->index + i, in_ms(10000));
		if (!ret && m->bar.value != m->n * i + m->n * (m->n - 1) / 2)
			ret = -EIO;
	}
	return ret;
}

TEST_F(fail, shrink_needs_a_verdict)
{
	EXPECT_EQ(step_shrink(&self->m[0]), -EINVAL);
	self->m[0].shrink = ARG(ub_group_shrink, .group = ~0U);
	EXPECT_EQ(call(self->m[0].fd, UB_IOC_GROUP_SHRINK, &self->m[0].shrink),
		  -ENOENT);
	EXPECT_EQ(members_run(self->m, NODES, step_barrier), 0);
}

TEST_F(fail, shrink_and_go_on)
{
	struct ub_member table[NODES] = { 0 };
	struct member s[3];
	__u32 old = self->m[0].group;
	int i;

	ASSERT_EQ(kill_node(self->extra[1]), 0);
	for (i = 0; i < 3; i++)
		s[i] = self->m[i ? i + 1 : 0];
	members_run(s, 3, step_barrier);
	EXPECT_EQ(s[2].ret, -EOWNERDEAD);
	ASSERT_EQ(members_run(s, 3, step_shrink), 0);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(s[i].n, 3);
		EXPECT_EQ(s[i].index, i);
		EXPECT_GT(s[i].shrink.out_map_size, 0);
	}
	EXPECT_EQ(members_run(s, 3, step_thousand), 0);
	/* The old group is there until it is destroyed. */
	self->m[0].group = old;
	EXPECT_EQ(step_barrier(&self->m[0]), -EOWNERDEAD);
	EXPECT_EQ(group_destroy(s[0].fd, old), 0);
	EXPECT_EQ(members_run(s, 3, step_barrier), 0);
	/* And again, down to one; the table is the survivors'. */
	ASSERT_EQ(kill_node(self->extra[3]), 0);
	ASSERT_EQ(kill_node(self->extra[2]), 0);
	EXPECT_EQ(step_barrier(&s[0]), -EOWNERDEAD);
	s[0].shrink = ARG(ub_group_shrink, .group = s[0].group,
			  .timeout = in_ms(5000), .out_table = PTR(table));
	ASSERT_EQ(call(s[0].fd, UB_IOC_GROUP_SHRINK, &s[0].shrink), 0);
	EXPECT_EQ(s[0].shrink.out_nmembers, 1);
	EXPECT_EQ(table[0].node, 0);
	EXPECT_EQ(table[0].node_incarnation, info_of(s[0].fd).out_incarnation);
	EXPECT_EQ(table[1].node_incarnation, 0);
}

/* Another node dies while the others agree: they do, in the end. */
TEST_F(fail, death_while_shrinking)
{
	struct member *m = self->m;
	int i, tries;

	ASSERT_EQ(kill_node(self->extra[3]), 0);
	members_run(m, 3, step_barrier);
	member_start(&m[0], step_shrink);
	member_start(&m[1], step_shrink);
	sleep_ms(50);
	ASSERT_EQ(kill_node(self->extra[2]), 0);
	for (i = 0; i < 2; i++)
		member_join(&m[i]);
	EXPECT_EQ(m[0].ret, m[1].ret);
	for (tries = 0; m[0].ret == -EOWNERDEAD && tries < 3; tries++)
		members_run(m, 2, step_shrink);
	ASSERT_EQ(m[0].ret, 0);
	ASSERT_EQ(m[1].ret, 0);
	EXPECT_EQ(m[0].n, 2);
	EXPECT_EQ(m[1].index, 1);
	EXPECT_EQ(members_run(m, 2, step_thousand), 0);
}

/* Who does not call in time is not waited for. */
TEST_F(fail, shrink_without_one_who_lives)
{
	struct member *m = self->m;
	int i;

	ASSERT_EQ(kill_node(self->extra[3]), 0);
	members_run(m, 3, step_barrier);
	for (i = 0; i < 2; i++) {
		m[i].shrink = ARG(ub_group_shrink, .group = m[i].group,
				  .timeout = in_ms(500));
	}
	members_run(m, 2, step_shrink);
	EXPECT_EQ(m[0].ret, 0);
	EXPECT_EQ(m[0].n, 2);
	EXPECT_EQ(members_run(m, 2, step_barrier), 0);
	EXPECT_EQ(step_shrink(&m[2]), -ESTALE);
	EXPECT_EQ(group_destroy(m[2].fd, m[2].group), 0);
}

/* ---- groups that overlap ---- */

static int child_of(struct member *m, const __u32 *members, int n, int index)
{
	m->gc = ARG(ub_group_create, .parent = m->group, .nmembers = n,
		    .members = PTR(members), .index = index, .key = { 1, 1 },
		    .timeout = in_ms(5000), .level = "board");
	return call(m->fd, UB_IOC_GROUP_CREATE, &m->gc);
}

static int step_low(struct member *m)
{
	static const __u32 low[] = { 0, 1, 2 };

	return child_of(m, low, 3, m->index);
}

static int step_high(struct member *m)
{
	static const __u32 high[] = { 1, 2, 3 };

	return child_of(m, high, 3, m->index - 1);
}

TEST_F(fail, overlapping_groups)
{
	struct member low[3], high[3];
	int i;

	memcpy(low, self->m, sizeof(low));
	memcpy(high, self->m + 1, sizeof(high));
	ASSERT_EQ(members_run(low, 3, step_low), 0);
	ASSERT_EQ(members_run(high, 3, step_high), 0);
	for (i = 0; i < 3; i++) {
		low[i].group = low[i].gc.out_group;
		high[i].group = high[i].gc.out_group;
		low[i].n = 3;
	}
	EXPECT_EQ(members_run(high, 3, step_barrier), 0);
	ASSERT_EQ(kill_node(self->extra[3]), 0);
	members_run(high, 2, step_barrier);
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(high[i].ret, -EOWNERDEAD);
		EXPECT_EQ(high[i].bar.out_lost.member, 2);
		EXPECT_EQ(high[i].bar.out_lost.node, 3);
		EXPECT_STREQ(high[i].bar.out_lost.level, "board");
	}
	/* The group without the dead one has not noticed. */
	EXPECT_EQ(members_run(low, 3, step_thousand), 0);
	EXPECT_EQ(members_run(high, 2, step_shrink), 0);
	EXPECT_EQ(members_run(high, 2, step_barrier), 0);
}

/* ---- windows of the dead ---- */

TEST_F(fail, windows_of_the_dead)
{
	unsigned char *p;
	struct ub_win_create w;
	__u64 v, start;
	int ret;

	ASSERT_EQ(win_create(self->extra[1], UNIT, UB_WIN_RIGHTS, &w), 0);
	ASSERT_EQ(win_attach(self->extra[0], &w, RW), 0);
	p = win_map(self->extra[0], w.out_desc.gva, UNIT, PROT_READ | PROT_WRITE);
	ASSERT_NE(p, MAP_FAILED);
	EXPECT_EQ(touch(p, true), 0);
	ASSERT_EQ(kill_node(self->extra[1]), 0);
	start = now();
	do {
		ret = xfer(self->extra[0], UB_XFER_GET, w.out_desc.gva, &v, 8, 0, 0);
		sleep_ms(1);
	} while (!ret && now() - start < 3 * SEC);
	EXPECT_EQ(ret, -EOWNERDEAD);
	EXPECT_LT(now() - start, 3 * DETECT * MS);
	sleep_ms(50);
	EXPECT_EQ(touch(p, false), SIGBUS);
	EXPECT_EQ(win_attach(self->extra[2], &w, RW), -EOWNERDEAD);
}

TEST_HARNESS_MAIN
