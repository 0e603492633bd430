// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups that are being made while, or after, a member of them was lost: the
 * same answer for all, in time, though nobody gave a time-out.
 */
#include "util.h"

FIXTURE(made) {
	struct member m[3];
	int extra[3];	/* another file of each node */
};

FIXTURE_SETUP(made)
{
	int i;

	ASSERT_EQ(heal(), 0);
	ASSERT_EQ(world_open(self->m, 3, 3), 0);
	for (i = 0; i < 3; i++) {
		self->extra[i] = open_node(i);
		ASSERT_GE(self->extra[i], 0);
	}
}

FIXTURE_TEARDOWN(made)
{
	int i;

	for (i = 0; i < 3; i++)
		close(self->extra[i]);
	world_close(self->m, 3);
	heal();
}

/* All three of the world, with no end to the wait. */
static int step_child(struct member *m)
{
	static const __u32 all[] = { 0, 1, 2 };
	int ret;

	m->gc = ARG(ub_group_create, .parent = m->group, .nmembers = 3,
		    .members = PTR(all), .index = m->index, .key = { 7, 7 },
		    .timeout = in_ms(20000), .level = "board");
	ret = call(m->fd, UB_IOC_GROUP_CREATE, &m->gc);
	if (!ret || ret == -EOWNERDEAD)
		m->group = m->gc.out_group;
	return ret;
}

/* Members 0 and 1 try to make a child; 2 is lost, and they hear it. */
static void child_is_lost(struct __test_metadata *_metadata, struct member *m)
{
	__u64 start = now();

	members_run(m, 2, step_child);
	EXPECT_LT(now() - start, 5 * SEC);
	EXPECT_EQ(m[0].ret, -EOWNERDEAD);
	EXPECT_EQ(m[1].ret, -EOWNERDEAD);
	EXPECT_TRUE(same_lost(&m[0].gc.out_lost, &m[1].gc.out_lost));
	EXPECT_EQ(m[0].gc.out_lost.member, 2);
	EXPECT_NE(m[0].gc.out_lost.reason, UB_REASON_TIMEOUT);
	TH_LOG("reason %u", m[0].gc.out_lost.reason);
}

TEST_F(made, child_of_a_dead_process)
{
	struct lane *l = shared_page();
	struct member *m = self->m;
	pid_t pid;
	int i;

	fresh_key(l->key);
	pid = spawn(lane_process, l);
	for (i = 0; i < 2; i++)
		m[i].gc = world_arg(l->key, 3, i, 10000);
	ASSERT_EQ(members_run(m, 2, step_create), 0);
	ASSERT_TRUE(wait_word(&l->up, 5000));
	kill(pid, SIGKILL);
	reap(pid);
	child_is_lost(_metadata, m);
	EXPECT_EQ(m[0].gc.out_lost.reason, UB_REASON_EXIT);
}

TEST_F(made, child_of_a_dead_node)
{
	ASSERT_EQ(test_op(self->extra[2], UB_TEST_KILL, 0, 0, NULL), 0);
	sleep_ms(3 * detect_ms());
	child_is_lost(_metadata, self->m);
}

TEST_F(made, child_of_a_former_life)
{
	ASSERT_EQ(test_op(self->extra[2], UB_TEST_KILL, 0, 0, NULL), 0);
	ASSERT_EQ(test_op(self->extra[2], UB_TEST_REJOIN, 0, 0, NULL), 0);
	child_is_lost(_metadata, self->m);
}

/* Too late to arrive, but alive: it is told of the lost, and goes on. */
TEST_F(made, late_but_alive)
{
	struct member *m = self->m;

	ASSERT_EQ(test_op(self->extra[2], UB_TEST_KILL, 0, 0, NULL), 0);
	ASSERT_EQ(step_child(&m[0]), -EOWNERDEAD);
	EXPECT_EQ(step_child(&m[1]), -EOWNERDEAD);
	EXPECT_TRUE(same_lost(&m[0].gc.out_lost, &m[1].gc.out_lost));
	EXPECT_EQ(m[0].gc.out_lost.member, 2);
	EXPECT_EQ(m[0].gc.out_lost.node, 2);
	ASSERT_EQ(members_run(m, 2, step_shrink), 0);
	EXPECT_EQ(m[1].n, 2);
	EXPECT_EQ(members_run(m, 2, step_barrier), 0);
}

/* With all the time that a lost member could need to be found out. */
static int step_shrink_patient(struct member *m)
{
	int ret;

	m->shrink = ARG(ub_group_shrink, .group = m->group,
			.timeout = in_ms(40000));
	ret = call(m->fd, UB_IOC_GROUP_SHRINK, &m->shrink);
	if (!ret || ret == -EOWNERDEAD)
		m->group = m->shrink.out_group;
	return ret;
}

struct agreed {
	__u64 key[2];
	__u32 held;
	__u32 go;
};

/* Member 2 of 4: agrees to shrink, while its child holds the file as well. */
static int agreeing_process(void *ctx)
{
	struct agreed *a = ctx;
	struct member m = { .fd = open_node(2) };

	m.gc = world_arg(a->key, 4, 2, 10000);
	if (m.fd < 0 || step_create(&m))
		return 1;
	if (!fork()) {
		set_word(&a->held);
		wait_word(&a->go, 60000);
		_exit(0);
	}
	if (step_barrier(&m) != -EOWNERDEAD)
		return 2;
	step_shrink(&m);
	return 3;
}

/*
 * Killed after it agreed to shrink, before it joined the new group: its word is
 * final and does not tell, and its file stays open. The others hear it in time.
 */
TEST_F(made, agreed_to_shrink_and_died)
{
	struct agreed *a = shared_page();
	struct ub_member_line *line;
	struct member m[3] = { 0 };	/* 0, 1 and 3, who leaves */
	__u64 end = in_ms(10000), start;
	unsigned char *p;
	pid_t pid;
	int i;

	fresh_key(a->key);
	pid = spawn(agreeing_process, a);
	for (i = 0; i < 3; i++) {
		m[i].fd = open_node(i);
		m[i].gc = world_arg(a->key, 4, i == 2 ? 3 : i, 10000);
	}
	ASSERT_EQ(members_run(m, 3, step_create), 0);
	p = win_map(m[0].fd, m[0].gc.out_offset, m[0].gc.out_map_size, PROT_READ);
	ASSERT_NE(p, MAP_FAILED);
	line = (void *)(p + ub_group_lines_off());
	ASSERT_TRUE(wait_word(&a->held, 10000));
	close(m[2].fd);
	while (!(LD(&line[2].arrival) & UB_ARR_SHRINKING) && now() < end)
		sleep_ms(1);
	ASSERT_TRUE(LD(&line[2].arrival) & UB_ARR_SHRINKING);
	kill(pid, SIGKILL);
	EXPECT_EQ(reap(pid), 128 + SIGKILL);

	EXPECT_EQ(step_barrier(&m[0]), -EOWNERDEAD);
	EXPECT_EQ(step_barrier(&m[1]), -EOWNERDEAD);
	start = now();
	members_run(m, 2, step_shrink_patient);
	EXPECT_LT(now() - start, 15 * SEC);
	EXPECT_EQ(m[0].ret, -EOWNERDEAD);
	EXPECT_EQ(m[1].ret, -EOWNERDEAD);
	EXPECT_TRUE(same_lost(&m[0].shrink.out_lost, &m[1].shrink.out_lost));
	EXPECT_EQ(m[0].shrink.out_lost.member, 2);
	EXPECT_EQ(m[0].shrink.out_lost.reason, UB_REASON_EXIT);
	EXPECT_EQ(members_run(m, 2, step_shrink), 0);
	EXPECT_EQ(m[1].n, 2);
	EXPECT_EQ(members_run(m, 2, step_barrier), 0);
	set_word(&a->go);
	world_close(m, 2);
}

/* What cannot be told is not done: the struct is in memory that only reads. */
TEST_F(made, rotating_needs_a_place_for_the_token)
{
	int home = self->extra[0], peer = self->extra[1];
	struct ub_win_create c;
	struct ub_win_id *id = shared_page();
	__u64 word = 5, old;

	ASSERT_EQ(win_create(home, 4096, UB_WIN_RIGHTS, &c), 0);
	ASSERT_EQ(win_attach(peer, &c, UB_WIN_RIGHTS), 0);
	*id = ARG(ub_win_id, .window = c.out_desc.window);
	ASSERT_EQ(mprotect(id, PAGE, PROT_READ), 0);
	EXPECT_EQ(call(home, UB_IOC_WIN_ROTATE, id), -EFAULT);
	EXPECT_EQ(xfer(peer, UB_XFER_PUT, c.out_desc.gva, &word, 8, 0, 0), 0);

	/* Nor is an atomic whose old value has no place to go. */
	EXPECT_EQ(xfer(peer, UB_XFER_FETCH_ADD, c.out_desc.gva, id, 8, 1, 0), -EFAULT);
	EXPECT_EQ(xfer(peer, UB_XFER_GET, c.out_desc.gva, &old, 8, 0, 0), 0);
	EXPECT_EQ(old, 5);
}

TEST_HARNESS_MAIN
