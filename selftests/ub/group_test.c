// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups: worlds and children, who may be in them, and their pages.
 */
#include "util.h"

#define MANY	8

FIXTURE(group) {
	struct member m[MANY];
	__u64 key[2];
};

FIXTURE_SETUP(group)
{
	int i;

	ASSERT_EQ(heal(), 0);
	fresh_key(self->key);
	for (i = 0; i < MANY; i++) {
		self->m[i].index = i;
		self->m[i].fd = open_node(i % NODES);
		ASSERT_GE(self->m[i].fd, 0);
	}
}

FIXTURE_TEARDOWN(group)
{
	world_close(self->m, MANY);
}

/* Members 0 .. n-1 meet by the key. */
static int meet(struct member *m, const __u64 key[2], int n)
{
	int i;

	for (i = 0; i < n; i++) {
		m[i].n = n;
		m[i].index = i;
		m[i].gc = world_arg(key, n, i, 10000);
	}
	return members_run(m, n, step_create);
}

static int step_destroy(struct member *m)
{
	return group_destroy(m->fd, m->group);
}

TEST_F(group, worlds)
{
	struct ub_member table[MANY][MANY] = { 0 };
	int n, i, j;

	for (n = 1; n <= MANY; n++) {
		fresh_key(self->key);
		for (i = 0; i < n; i++) {
			self->m[i].gc = world_arg(self->key, n, i, 10000);
			self->m[i].gc.out_table = PTR(table[i]);
		}
		ASSERT_EQ(members_run(self->m, n, step_create), 0);
		for (i = 0; i < n; i++) {
			struct ub_group_create *gc = &self->m[i].gc;
			struct ub_info info = info_of(self->m[i].fd);

			EXPECT_EQ(gc->out_epoch, self->m[0].gc.out_epoch);
			EXPECT_GE(gc->out_map_size,
				  ub_group_map_size(info.out_max_members,
						    info.out_max_lines));
			EXPECT_EQ(gc->out_offset % PAGE, 0);
			/* One table, the same for all. */
			EXPECT_EQ(memcmp(table[0], table[i], sizeof(table[0])), 0);
			EXPECT_EQ(table[0][i].node, i % NODES);
			EXPECT_EQ(table[0][i].node_incarnation, info.out_incarnation);
			for (j = 0; j < i; j++)
				EXPECT_TRUE(table[0][i].node != table[0][j].node ||
					    table[0][i].lane != table[0][j].lane);
		}
		EXPECT_EQ(members_run(self->m, n, step_barrier), 0);
		EXPECT_EQ(members_run(self->m, n, step_destroy), 0);
	}
}

struct procs {
	__u64 key[2];
	int n;
	int index;
};

static int member_process(void *ctx)
{
	struct procs *p = ctx;
	struct member m = { .fd = open_node(p->index % NODES) };
	int i;

	m.gc = world_arg(p->key, p->n, p->index, 10000);
	if (m.fd < 0 || step_create(&m))
		return 1;
	for (i = 0; i < 100; i++) {
		if (barrier(&m, AW, UB_RED_SUM, i + p->index, in_ms(10000)))
			return 2;
		if (m.bar.value != i * p->n + p->n * (p->n - 1) / 2)
			return 3;
	}
	return 0;
}

TEST_F(group, processes)
{
	struct procs p = { .n = 6 };
	pid_t pid[6];
	int i;

	fresh_key(p.key);
	for (i = 0; i < p.n; i++) {
		p.index = i;
		pid[i] = spawn(member_process, &p);
	}
	for (i = 0; i < p.n; i++)
		EXPECT_EQ(reap(pid[i]), 0);
}

TEST_F(group, index_taken)
{
	struct member *a = &self->m[0], *b = &self->m[1], *c = &self->m[2];

	a->gc = world_arg(self->key, 2, 0, 10000);
	member_start(a, step_create);
	member_asleep(a);
	b->gc = world_arg(self->key, 2, 0, 10000);
	EXPECT_EQ(step_create(b), -EEXIST);
	EXPECT_EQ(b->gc.out_clash.node, 0);
	b->gc.out_clash.node = 99;
	c->gc = world_arg(self->key, 2, 0, 10000);
	EXPECT_EQ(step_create(c), -EEXIST);
	EXPECT_EQ(c->gc.out_clash.node, 0);
	EXPECT_EQ(c->gc.out_clash.lane, b->gc.out_clash.lane);
	/* And it did not disturb the one who waits. */
	b->gc = world_arg(self->key, 2, 1, 10000);
	EXPECT_EQ(step_create(b), 0);
	EXPECT_EQ(member_join(a), 0);
}

TEST_F(group, members_must_agree)
{
	struct member *a = &self->m[0], *b = &self->m[1];

	a->gc = world_arg(self->key, 2, 0, 10000);
	member_start(a, step_create);
	member_asleep(a);
	b->gc = world_arg(self->key, 3, 1, 10000);
	EXPECT_EQ(step_create(b), -EINVAL);
	b->gc = world_arg(self->key, 2, 1, 10000);
	b->gc.shape.ports[0] = 2;
	EXPECT_EQ(step_create(b), -EINVAL);
	b->gc = world_arg(self->key, 2, 1, 10000);
	b->gc.shape.nlevels = 2;
	b->gc.shape.bits[0] = 10;
	b->gc.shape.bits[1] = 10;
	b->gc.shape.ports[2] = 1;
	EXPECT_EQ(step_create(b), -EINVAL);
	b->gc = world_arg(self->key, 2, 1, 10000);
	EXPECT_EQ(step_create(b), 0);
	EXPECT_EQ(member_join(a), 0);
}

TEST_F(group, other_keys_do_not_meet)
{
	struct member *a = &self->m[0], *b = &self->m[1];
	__u64 key[2] = { self->key[0], self->key[1] ^ 1ULL << 63 };

	a->gc = world_arg(self->key, 2, 0, 300);
	b->gc = world_arg(key, 2, 1, 300);
	members_run(self->m, 2, step_create);
	EXPECT_EQ(a->ret, -EOWNERDEAD);
	EXPECT_EQ(b->ret, -EOWNERDEAD);
	EXPECT_EQ(a->gc.out_lost.member, 1);
	EXPECT_EQ(b->gc.out_lost.member, 0);
}

/* The time is over for one: the same answer for all who are there. */
TEST_F(group, creation_times_out)
{
	struct member *m = self->m;
	int i;

	for (i = 0; i < 3; i += 2) {
		m[i].gc = world_arg(self->key, 4, i, 30000);
		member_start(&m[i], step_create);
		member_asleep(&m[i]);
	}
	/* All others are there: who came after its time would be too late. */
	m[1].gc = world_arg(self->key, 4, 1, 300);
	member_start(&m[1], step_create);
	for (i = 0; i < 3; i++)
		member_join(&m[i]);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(m[i].ret, -EOWNERDEAD);
		EXPECT_LT(m[i].took, 15 * SEC);
		EXPECT_TRUE(same_lost(&m[i].gc.out_lost, &m[0].gc.out_lost));
	}
	EXPECT_EQ(m[0].gc.out_lost.member, 3);
	EXPECT_EQ(m[0].gc.out_lost.reason, UB_REASON_TIMEOUT);
	EXPECT_STREQ(m[0].gc.out_lost.level, "world");
	/* Who comes too late is told so. */
	m[3].gc = world_arg(self->key, 4, 3, 300);
	step_create(&m[3]);
	EXPECT_EQ(m[3].fd < 0, false);
	/* No barrier in it, but it can be shrunk. */
	EXPECT_EQ(step_barrier(&m[0]), -EOWNERDEAD);
	EXPECT_EQ(m[0].bar.out_lost.member, 3);
	ASSERT_EQ(members_run(m, 3, step_shrink), 0);
	EXPECT_EQ(m[2].n, 3);
	EXPECT_EQ(m[2].index, 2);
	EXPECT_EQ(members_run(m, 3, step_barrier), 0);
}

TEST_F(group, late_member)
{
	struct member *m = self->m;
	__u64 start = now();
	int ret;

	m[0].gc = world_arg(self->key, 2, 0, 200);
	ASSERT_EQ(step_create(&m[0]), -EOWNERDEAD);
	m[1].gc = world_arg(self->key, 2, 1, 5000);
	ret = step_create(&m[1]);
	EXPECT_TRUE(ret == -ESTALE || ret == -EOWNERDEAD);
	EXPECT_LT(now() - start, 2 * SEC);
	/* When both have left, the key is free again. */
	ASSERT_EQ(group_destroy(m[0].fd, m[0].group), 0);
	ASSERT_EQ(ret == -EOWNERDEAD ? group_destroy(m[1].fd, m[1].group) : 0, 0);
	EXPECT_EQ(meet(m, self->key, 2), 0);
}

/* The next world of a job may be smaller, and its first member quick. */
TEST_F(group, next_world_of_another_size)
{
	struct member *m = self->m;
	__u32 old;
	int ret;

	ASSERT_EQ(meet(m, self->key, 3), 0);
	old = m[2].group;
	ASSERT_EQ(group_destroy(m[0].fd, m[0].group), 0);
	m[0].gc = world_arg(self->key, 2, 0, 10000);
	member_start(&m[0], step_create);
	member_asleep(&m[0]);
	ASSERT_EQ(group_destroy(m[1].fd, m[1].group), 0);
	m[1].gc = world_arg(self->key, 2, 1, 10000);
	member_start(&m[1], step_create);
	member_asleep(&m[1]);
	ASSERT_EQ(group_destroy(m[2].fd, old), 0);
	ret = member_join(&m[0]);
	EXPECT_EQ(ret, 0);
	ret = member_join(&m[1]);
	EXPECT_EQ(ret, 0);
	m[0].n = m[1].n = 2;
	EXPECT_EQ(members_run(m, 2, step_barrier), 0);
	/* While nobody has left, another size is an error at once. */
	m[2].gc = world_arg(self->key, 3, 2, 10000);
	EXPECT_EQ(step_create(&m[2]), -EINVAL);
}

TEST_F(group, no_time_at_all)
{
	struct member *m = self->m;

	/* Alone, everybody is there at once. */
	m[0].gc = world_arg(self->key, 1, 0, 0);
	m[0].gc.timeout = 0;
	EXPECT_EQ(step_create(&m[0]), 0);
	fresh_key(self->key);
	m[1].gc = world_arg(self->key, 2, 0, 0);
	m[1].gc.timeout = 0;
	EXPECT_EQ(step_create(&m[1]), -EOWNERDEAD);
	EXPECT_EQ(m[1].gc.out_lost.reason, UB_REASON_TIMEOUT);
}

TEST_F(group, wrong_arguments)
{
	struct member *m = &self->m[0];
	const struct ub_group_create good = world_arg(self->key, 1, 0, 1000);
	__u32 max = info_of(m->fd).out_max_members;
#define TRY(change, want) do {						\
		m->gc = good;						\
		change;							\
		EXPECT_EQ(step_create(m), want);			\
	} while (0)

	TRY(m->gc.nmembers = 0, -EINVAL);
	TRY(m->gc.index = 1, -EINVAL);
	TRY(m->gc.flags = UB_GROUP_ABSENT, -EINVAL);
	TRY(m->gc.index = ~0U, -EINVAL);
	TRY((m->gc.nmembers = 2, m->gc.index = 2), -EINVAL);
	TRY(m->gc.nmembers = max + 1, -E2BIG);
	TRY(m->gc.nmembers = ~0U, -E2BIG);
	TRY(m->gc.parent = 1, -EINVAL);
	TRY(m->gc.members = PTR(&max), -EINVAL);
	TRY(m->gc.base = 1, -EINVAL);
	TRY((m->gc.base = UB_EPOCH_MAX, m->gc.flags |= UB_GROUP_BASE), -EINVAL);
	TRY((m->gc.base = ~0ULL, m->gc.flags |= UB_GROUP_BASE), -EINVAL);
	TRY(memset(m->gc.level, 'x', UB_NAME_LEN), -EINVAL);
	TRY(m->gc.shape.nlevels = 0, -EINVAL);
	TRY(m->gc.shape.nlevels = UB_SHAPE_LEVELS + 1, -EINVAL);
	TRY(m->gc.shape.nlevels = ~0U, -EINVAL);
	TRY(m->gc.shape.bits[0] = 21, -EINVAL);
	TRY(m->gc.shape.ports[0] = 0, -EINVAL);
	TRY(m->gc.shape.ports[0] = 9, -EINVAL);
	TRY(m->gc.shape.ports[1] = 0, -EINVAL);
	TRY(m->gc.out_table = 1, -EFAULT);
	/* The key is free: nothing was left behind by any of them. */
	TRY(, 0);
#undef TRY
}

/* {first, ...}: indices in the parent m->group. */
static int make_child(struct member *m, const __u32 *members, __u32 n,
		      __u32 index, __u64 seq)
{
	m->gc = ARG(ub_group_create, .parent = m->group, .nmembers = n,
		    .members = PTR(members), .index = index, .key = { 1, seq },
		    .timeout = in_ms(10000), .level = "board");
	return call(m->fd, UB_IOC_GROUP_CREATE, &m->gc);
}

static int step_board(struct member *m)
{
	static const __u32 board[2][2] = { { 0, 1 }, { 2, 3 } };
	struct member b = *m;
	int i, ret;

	ret = make_child(m, board[m->index / 2], 2, m->index % 2, 1);
	if (ret)
		return ret;
	b.group = m->gc.out_group;
	/* The boards do not run in step. */
	for (i = 0; i < 100 * (1 + m->index / 2); i++) {
		ret = barrier(&b, AW, UB_RED_SUM, m->index, in_ms(10000));
		if (!ret && b.bar.value != (m->index / 2 ? 5 : 1))
			ret = -EIO;
		if (ret)
			return ret;
	}
	ret = barrier(m, AW, UB_RED_SUM, 1, in_ms(10000));
	if (!ret && m->bar.value != 4)
		ret = -EIO;
	return ret ?: group_destroy(m->fd, b.group);
}

TEST_F(group, two_boards_of_two)
{
	int i;

	ASSERT_EQ(meet(self->m, self->key, 4), 0);
	for (i = 0; i < 5; i++)
		ASSERT_EQ(members_run(self->m, 4, step_board), 0);
	EXPECT_EQ(members_run(self->m, 4, step_barrier), 0);
}

TEST_F(group, outsiders)
{
	static const __u32 twice[] = { 0, 0 }, far[] = { 0, 4 },
			   others[] = { 2, 3 }, mine[] = { 0, 1 },
			   wild[] = { 0, ~0U };
	struct member *m = self->m;

	ASSERT_EQ(meet(m, self->key, 4), 0);
	EXPECT_EQ(make_child(&m[0], twice, 2, 0, 1), -EINVAL);
	EXPECT_EQ(make_child(&m[0], far, 2, 0, 1), -EINVAL);
	EXPECT_EQ(make_child(&m[0], wild, 2, 0, 1), -EINVAL);
	EXPECT_EQ(make_child(&m[0], others, 2, 0, 1), -EINVAL);
	EXPECT_EQ(make_child(&m[0], others, 2, 1, 1), -EINVAL);
	EXPECT_EQ(make_child(&m[0], mine, 2, 1, 1), -EINVAL);
	EXPECT_EQ(make_child(&m[0], mine, 2, 2, 1), -EINVAL);
	EXPECT_EQ(make_child(&m[0], NULL, 2, 0, 1), -EFAULT);
	EXPECT_EQ(make_child(&m[0], (void *)(1UL << 63), 2, 0, 1), -EFAULT);
	/* Another file of the node does not know the parent. */
	m[4].group = m[0].group;
	EXPECT_EQ(make_child(&m[4], mine, 2, 0, 1), -ENOENT);
	/* The shape is the world's. */
	m[0].gc = ARG(ub_group_create, .parent = m[0].group, .nmembers = 1,
		      .members = PTR(mine), .timeout = in_ms(100),
		      .shape.nlevels = 1);
	EXPECT_EQ(call(m[0].fd, UB_IOC_GROUP_CREATE, &m[0].gc), -EINVAL);
	EXPECT_EQ(members_run(m, 4, step_barrier), 0);
}

static int step_child_of_child(struct member *m)
{
	static const __u32 all[] = { 3, 1, 0, 2 }, pair[] = { 1, 3 };
	static const __u32 place[] = { 2, 1, 3, 0 };
	struct member c = *m, g;
	int ret = make_child(&c, all, 4, place[m->index], 7);

	if (ret)
		return ret;
	c.group = c.gc.out_group;
	g = c;
	/* In the child's indices: 1 is world's 1, 3 is world's 2. */
	if (m->index == 1 || m->index == 2) {
		ret = make_child(&g, pair, 2, m->index - 1, 1);
		g.group = g.gc.out_group;
		ret = ret ?: barrier(&g, AW, UB_RED_SUM, m->index, in_ms(10000));
		if (!ret && g.bar.value != 3)
			ret = -EIO;
	}
	return ret ?: step_barrier(&c);
}

TEST_F(group, children_of_children_in_another_order)
{
	ASSERT_EQ(meet(self->m, self->key, 4), 0);
	EXPECT_EQ(members_run(self->m, 4, step_child_of_child), 0);
}

TEST_F(group, destroyed_and_made_again)
{
	struct member *m = self->m;
	__u32 old;
	int i;

	for (i = 0; i < 20; i++) {
		ASSERT_EQ(meet(m, self->key, 3), 0);
		ASSERT_EQ(members_run(m, 3, step_barrier), 0);
		old = m[0].group;
		ASSERT_EQ(members_run(m, 3, step_destroy), 0);
		EXPECT_EQ(group_destroy(m[0].fd, old), -ENOENT);
		m[0].group = old;
		EXPECT_EQ(step_barrier(&m[0]), -ENOENT);
	}
	EXPECT_EQ(group_destroy(m[0].fd, ~0U), -ENOENT);
}

/* Leaving early ends it for the others, and they are told who left. */
TEST_F(group, leaving)
{
	struct member *m = self->m;

	ASSERT_EQ(meet(m, self->key, 3), 0);
	ASSERT_EQ(group_destroy(m[1].fd, m[1].group), 0);
	EXPECT_EQ(step_barrier(&m[0]), -EOWNERDEAD);
	EXPECT_EQ(step_barrier(&m[2]), -EOWNERDEAD);
	EXPECT_TRUE(same_lost(&m[0].bar.out_lost, &m[2].bar.out_lost));
	EXPECT_EQ(m[0].bar.out_lost.member, 1);
	EXPECT_EQ(m[0].bar.out_lost.node, 1);
	EXPECT_EQ(m[0].bar.out_lost.reason, UB_REASON_LEFT);
}

TEST_F(group, two_hundred)
{
	struct member *m = self->m;
	__u32 handle[256];
	int i, n, again;

	for (i = 0; i < 200; i++) {
		fresh_key(self->key);
		ASSERT_EQ(meet(m, self->key, 2), 0);
		ASSERT_EQ(members_run(m, 2, step_destroy), 0);
	}
	/* As many at once as there is room for, twice the same number. */
	for (again = 0, n = 0; again < 2; again++) {
		int was = n;

		for (n = 0; n < 256; n++) {
			fresh_key(self->key);
			m[0].gc = world_arg(self->key, 1, 0, 1000);
			if (step_create(&m[0]))
				break;
			handle[n] = m[0].group;
		}
		EXPECT_TRUE(n == 256 || m[0].ret == 0);
		EXPECT_GE(n, 8);
		EXPECT_TRUE(!again || n == was);
		for (i = 0; i < n; i++)
			ASSERT_EQ(group_destroy(m[0].fd, handle[i]), 0);
	}
	TH_LOG("%d groups at once", n);
}

TEST_F(group, pages)
{
	struct member *m = self->m;
	struct ub_member_line *line;
	struct ub_mailbox *mail[2];
	unsigned char *p[2];
	__u64 off, size;
	int i, other = open_node(0);

	ASSERT_EQ(meet(m, self->key, 2), 0);
	size = m[0].gc.out_map_size;
	for (i = 0; i < 2; i++) {
		__u32 max = info_of(m[i].fd).out_max_members;

		p[i] = win_map(m[i].fd, m[i].gc.out_offset, size,
			       PROT_READ | PROT_WRITE);
		ASSERT_NE(p[i], MAP_FAILED);
		mail[i] = (void *)(p[i] + ub_group_mail_off(max));
	}
	strcpy((char *)mail[0][0].slot[0], "from member 0");
	EXPECT_STREQ((char *)mail[1][0].slot[0], "from member 0");
	line = (void *)(p[1] + ub_group_lines_off());
	EXPECT_EQ(line[0].arrival, m[0].gc.out_epoch);
	EXPECT_EQ(line[1].arrival, m[0].gc.out_epoch);

	/* Only for this file, only these pages, only shared. */
	off = m[0].gc.out_offset;
	EXPECT_EQ(win_map(other, off, PAGE, PROT_READ), MAP_FAILED);
	EXPECT_EQ(win_map(m[4].fd, off, PAGE, PROT_READ), MAP_FAILED);
	EXPECT_EQ(win_map(m[0].fd, off, size + PAGE, PROT_READ), MAP_FAILED);
	EXPECT_EQ(win_map(m[0].fd, off + size, PAGE, PROT_READ), MAP_FAILED);
	EXPECT_EQ(win_map(m[0].fd, off - PAGE, PAGE, PROT_READ), MAP_FAILED);
	EXPECT_EQ(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, m[0].fd, off), MAP_FAILED);
	EXPECT_EQ(win_map(m[0].fd, m[1].gc.out_offset, PAGE, PROT_READ), MAP_FAILED);

	ASSERT_EQ(group_destroy(m[0].fd, m[0].group), 0);
	EXPECT_EQ(touch(p[0], false), SIGBUS);
	EXPECT_EQ(touch(p[1], true), 0);
	EXPECT_EQ(win_map(m[0].fd, off, PAGE, PROT_READ), MAP_FAILED);
	close(other);
}

static int child_of_pages(void *ctx)
{
	return touch(ctx, false) == SIGSEGV ? 0 : 1;
}

TEST_F(group, pages_are_not_inherited)
{
	unsigned char *p;

	ASSERT_EQ(meet(self->m, self->key, 1), 0);
	p = win_map(self->m[0].fd, self->m[0].gc.out_offset, PAGE, PROT_READ);
	ASSERT_NE(p, MAP_FAILED);
	EXPECT_EQ(reap(spawn(child_of_pages, p)), 0);
	EXPECT_EQ(touch(p, false), 0);
}

/* A member that spoils its group ends or delays it, and nothing else. */
TEST_F(group, spoiled_pages)
{
	struct member *m = self->m;
	__u64 key[2], i, x = 88172645463325252ULL;
	__u64 *p;
	int round;

	fresh_key(key);
	ASSERT_EQ(meet(m + 2, key, 2), 0);
	for (round = 0; round < 20; round++) {
		fresh_key(self->key);
		ASSERT_EQ(meet(m, self->key, 2), 0);
		p = win_map(m[1].fd, m[1].gc.out_offset, m[1].gc.out_map_size,
			    PROT_READ | PROT_WRITE);
		ASSERT_NE(p, MAP_FAILED);
		for (i = 0; i < m[1].gc.out_map_size / 8; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			p[i] = round & 1 ? x : x & 1 ? ~0ULL : x >> 60;
		}
		for (i = 0; i < 2; i++) {
			barrier(&m[i], AW, UB_RED_SUM, 1, in_ms(20));
			m[i].shrink = ARG(ub_group_shrink, .group = m[i].group,
					  .timeout = in_ms(20));
			call(m[i].fd, UB_IOC_GROUP_SHRINK, &m[i].shrink);
		}
		EXPECT_EQ(members_run(m + 2, 2, step_barrier), 0);
		EXPECT_EQ(group_destroy(m[0].fd, m[0].group), 0);
		EXPECT_EQ(group_destroy(m[1].fd, m[1].group), 0);
		munmap(p, m[1].gc.out_map_size);
	}
}

TEST_HARNESS_MAIN
