// SPDX-License-Identifier: GPL-2.0-only
/*
 * Worlds of which a launcher says that one member will never come: the others are
 * told at once, whenever they come themselves, and go on without it.
 */
#include "util.h"

FIXTURE(absent) {
	struct member m[4];
	__u64 key[2];
};

FIXTURE_SETUP(absent)
{
	int i;

	ASSERT_EQ(heal(), 0);
	fresh_key(self->key);
	for (i = 0; i < 4; i++) {
		self->m[i].index = i;
		self->m[i].fd = open_node(i % NODES);
		ASSERT_GE(self->m[i].fd, 0);
	}
}

FIXTURE_TEARDOWN(absent)
{
	world_close(self->m, 4);
}

static int told_absent(struct member *m)
{
	return m->ret == -EOWNERDEAD && m->gc.out_lost.member == 2 &&
	       m->gc.out_lost.reason == UB_REASON_EXIT && m->took < 5 * SEC;
}

/* A launcher knows that a process will never come: nobody waits for it. */
TEST_F(absent, never_comes)
{
	struct member *m = self->m, gone;
	int i;

	for (i = 0; i < 4; i++)
		m[i].gc = world_arg(self->key, 4, i, 30000);
	m[2].gc.flags |= UB_GROUP_ABSENT;
	member_start(&m[0], step_create);
	member_asleep(&m[0]);
	ASSERT_EQ(step_create(&m[2]), 0);
	ASSERT_EQ(member_join(&m[0]), -EOWNERDEAD);
	EXPECT_TRUE(told_absent(&m[0]));
	/* Who comes long after it hears the same. */
	sleep_ms(3 * 1000);
	members_run(&m[1], 1, step_create);
	members_run(&m[3], 1, step_create);
	EXPECT_TRUE(told_absent(&m[1]));
	EXPECT_TRUE(told_absent(&m[3]));
	/* It is no member that could go on. */
	EXPECT_EQ(step_barrier(&m[2]), -EOWNERDEAD);
	EXPECT_EQ(step_shrink(&m[2]), -ESTALE);
	ASSERT_EQ(group_destroy(m[2].fd, m[2].gc.out_group), 0);
	gone = m[2];
	m[2] = m[3];
	m[3] = gone;
	ASSERT_EQ(members_run(m, 3, step_shrink), 0);
	EXPECT_EQ(m[2].n, 3);
	EXPECT_EQ(members_run(m, 3, step_barrier), 0);
}

/* Of one who has been there nothing need be said, and nothing is taken away. */
TEST_F(absent, has_been_there)
{
	struct member *m = self->m;
	int i;

	for (i = 0; i < 2; i++)
		m[i].gc = world_arg(self->key, 2, i, 10000);
	ASSERT_EQ(members_run(m, 2, step_create), 0);
	m[2].gc = world_arg(self->key, 2, 1, 0);
	m[2].gc.flags |= UB_GROUP_ABSENT;
	EXPECT_EQ(step_create(&m[2]), -EEXIST);
	EXPECT_EQ(members_run(m, 2, step_barrier), 0);
}

TEST_HARNESS_MAIN
