// SPDX-License-Identifier: GPL-2.0-only
/*
 * Documented errors of groups and barriers that come of using them in a wrong
 * order or in a wrong place, and that afterwards all goes on.
 */
#include "util.h"

FIXTURE(errors) {
	struct member m[NODES];
};

FIXTURE_SETUP(errors)
{
	ASSERT_EQ(heal(), 0);
	ASSERT_EQ(world_open(self->m, NODES, NODES), 0);
}

FIXTURE_TEARDOWN(errors)
{
	world_close(self->m, NODES);
}

/* Nodes 0 to 3, and a machine of two: all are told, and may try again. */
TEST_F(errors, nodes_outside_the_shape)
{
	struct member *m = self->m;
	__u64 key[2];
	int i;

	fresh_key(key);
	for (i = 0; i < NODES; i++) {
		m[i].gc = world_arg(key, NODES, i, 10000);
		m[i].gc.shape.bits[0] = 1;
	}
	members_run(m, NODES, step_create);
	for (i = 0; i < NODES; i++)
		EXPECT_EQ(m[i].ret, -ERANGE);
	for (i = 0; i < NODES; i++)
		m[i].gc = world_arg(key, NODES, i, 10000);
	EXPECT_EQ(members_run(m, NODES, step_create), 0);
	EXPECT_EQ(members_run(m, NODES, step_barrier), 0);
}

TEST_F(errors, shrunk_twice)
{
	struct member *m = self->m;
	struct ub_group_shrink again;
	__u32 old[NODES];
	int i;

	for (i = 0; i < NODES; i++)
		old[i] = m[i].group;
	ASSERT_EQ(group_destroy(m[3].fd, m[3].group), 0);
	members_run(m, 3, step_barrier);
	ASSERT_EQ(members_run(m, 3, step_shrink), 0);
	for (i = 0; i < 3; i++) {
		again = ARG(ub_group_shrink, .group = old[i],
			    .timeout = in_ms(10000));
		EXPECT_EQ(call(m[i].fd, UB_IOC_GROUP_SHRINK, &again), -EEXIST);
	}
	EXPECT_EQ(members_run(m, 3, step_barrier), 0);
}

/* One of two has left and is back before the other has gone. */
TEST_F(errors, former_group_is_not_gone)
{
	struct member *m = self->m;
	__u64 key[2];
	int i;

	fresh_key(key);
	for (i = 0; i < 2; i++)
		m[i].gc = world_arg(key, 2, i, 10000);
	ASSERT_EQ(members_run(m, 2, step_create), 0);
	ASSERT_EQ(group_destroy(m[1].fd, m[1].group), 0);
	m[1].gc = world_arg(key, 2, 1, 300);
	EXPECT_EQ(step_create(&m[1]), -EEXIST);
	ASSERT_EQ(group_destroy(m[0].fd, m[0].group), 0);
	for (i = 0; i < 2; i++)
		m[i].gc = world_arg(key, 2, i, 10000);
	EXPECT_EQ(members_run(m, 2, step_create), 0);
}

TEST_F(errors, parent_that_was_never_complete)
{
	static const __u32 both[] = { 0, 1 };
	struct member *m = self->m;
	__u64 key[2];

	fresh_key(key);
	m[0].gc = world_arg(key, 2, 0, 100);
	ASSERT_EQ(step_create(&m[0]), -EOWNERDEAD);
	m[0].gc = ARG(ub_group_create, .parent = m[0].group, .nmembers = 2,
		      .members = PTR(both), .timeout = in_ms(1000));
	EXPECT_EQ(call(m[0].fd, UB_IOC_GROUP_CREATE, &m[0].gc), -EINVAL);
}

TEST_F(errors, barrier_in_a_wrong_way)
{
	struct member *m = self->m;

	EXPECT_EQ(barrier(m, UB_BARRIER_WAIT, 0, 0, in_ms(100)), -EINVAL);
	EXPECT_EQ(barrier(m, UB_BARRIER_TEST, 0, 0, 0), -EINVAL);
	EXPECT_EQ(barrier(m, 0, 0, 0, 0), -EINVAL);
	EXPECT_EQ(barrier(m, UB_BARRIER_SLEEP, 0, 0, 0), -EINVAL);
	EXPECT_EQ(barrier(m, AW | UB_BARRIER_TEST, 0, 0, 0), -EINVAL);
	EXPECT_EQ(barrier(m, AW, UB_RED_OPS, 0, 0), -EINVAL);
	/* No library drives this group. */
	EXPECT_EQ(barrier(m, AW | UB_BARRIER_HANDOVER, 0, 0, 0), -EBUSY);
	EXPECT_EQ(members_run(m, NODES, step_barrier), 0);
}

TEST_F(errors, hooks_in_a_wrong_order)
{
	EXPECT_EQ(test_op(self->m[0].fd, UB_TEST_RESUME, 0, 0, NULL), -EINVAL);
	EXPECT_EQ(test_op(self->m[0].fd, UB_TEST_REJOIN, 0, 0, NULL), -EBUSY);
	EXPECT_EQ(test_op(self->m[0].fd, UB_TEST_PTE_MEMTYPE, PTR(self), 0, NULL),
		  -EFAULT);
}

TEST_HARNESS_MAIN
