// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows: create, attach, detach, rotate, destroy, and each errno of them.
 */
#include "util.h"

FIXTURE(window) {
	int home;		/* a file of node 0 */
	int peer;		/* a file of node 1 */
	struct ub_win_create w;
};

/* Out_free is @want again, perhaps only after some ticks. */
static bool free_again(int fd, __u64 want)
{
	__u64 end = in_ms(3000);

	while (info_of(fd).out_free != want) {
		if (now() > end)
			return false;
		sleep_ms(10);
	}
	return true;
}

FIXTURE_SETUP(window)
{
	ASSERT_EQ(heal(), 0);
	self->home = open_node(0);
	self->peer = open_node(1);
	/* Nobody else has a window: all of the slice comes back. */
	ASSERT_TRUE(free_again(self->home, info_of(self->home).out_slice));
	ASSERT_GE(self->home, 0);
	ASSERT_GE(self->peer, 0);
	ASSERT_EQ(win_create(self->home, 3 * UNIT, UB_WIN_RIGHTS, &self->w), 0);
}

FIXTURE_TEARDOWN(window)
{
	close(self->peer);
	close(self->home);
}

static int get8(int fd, __u64 gva, __u64 *value)
{
	return xfer(fd, UB_XFER_GET, gva, value, 8, 0, 0);
}

static int put8(int fd, __u64 gva, __u64 value)
{
	return xfer(fd, UB_XFER_PUT, gva, &value, 8, 0, 0);
}

TEST_F(window, descriptor)
{
	const struct ub_win_desc *d = &self->w.out_desc;
	struct ub_info i = info_of(self->home);
	struct ub_win_create other;

	EXPECT_EQ(memcmp(d->fabric, i.out_fabric, sizeof(d->fabric)), 0);
	EXPECT_EQ(d->incarnation, i.out_incarnation);
	EXPECT_EQ(d->node, i.out_node);
	EXPECT_EQ(d->length, 3 * UNIT);
	EXPECT_EQ(d->rights, UB_WIN_RIGHTS);
	EXPECT_EQ(d->reserved, 0);
	EXPECT_EQ(d->gva % UNIT, 0);
	EXPECT_EQ(d->gva >> 43, i.out_node);
	EXPECT_NE(d->generation, 0);
	EXPECT_NE(self->w.out_token[0] | self->w.out_token[1], 0);
	EXPECT_EQ(self->w.length, 3 * UNIT);

	ASSERT_EQ(win_create(self->home, 1, UB_WIN_READ, &other), 0);
	EXPECT_EQ(other.out_desc.length, 1);
	EXPECT_EQ(other.out_desc.rights, UB_WIN_READ);
	EXPECT_NE(other.out_desc.window, d->window);
	EXPECT_NE(other.out_token[0], self->w.out_token[0]);
	EXPECT_TRUE(other.out_desc.gva >= d->gva + 3 * UNIT ||
		    other.out_desc.gva + UNIT <= d->gva);
}

TEST_F(window, create_refuses)
{
	struct ub_info before = info_of(self->home);
	struct ub_win_create c;

	EXPECT_EQ(win_create(self->home, 0, RW, &c), -EINVAL);
	EXPECT_EQ(win_create(self->home, 1, 0, &c), -EINVAL);
	EXPECT_EQ(win_create(self->home, 1, UB_WIN_RIGHTS + 1, &c), -EINVAL);
	EXPECT_EQ(win_create(self->home, 1, 1U << 31, &c), -EINVAL);
	/* More than is free, but a slice could hold it. */
	EXPECT_EQ(win_create(self->home, before.out_free + 1, RW, &c), -ENOSPC);
	EXPECT_EQ(win_create(self->home, before.out_slice, RW, &c), -ENOSPC);
	/* No slice holds it. */
	EXPECT_EQ(win_create(self->home, before.out_slice + 1, RW, &c), -EOVERFLOW);
	EXPECT_EQ(win_create(self->home, 1ULL << 42, RW, &c), -EOVERFLOW);
	EXPECT_EQ(win_create(self->home, 1ULL << 63, RW, &c), -EOVERFLOW);
	EXPECT_EQ(win_create(self->home, ~0ULL, RW, &c), -EOVERFLOW);
	EXPECT_EQ(win_create(self->home, ~0ULL - UNIT + 2, RW, &c), -EOVERFLOW);
	EXPECT_EQ(info_of(self->home).out_free, before.out_free);
}

TEST_F(window, rounding_and_accounting)
{
	__u64 free0 = info_of(self->home).out_free;
	struct ub_win_create a, b;

	ASSERT_EQ(win_create(self->home, 1, RW, &a), 0);
	EXPECT_EQ(info_of(self->home).out_free, free0 - UNIT);
	ASSERT_EQ(win_create(self->home, UNIT + 1, RW, &b), 0);
	EXPECT_EQ(info_of(self->home).out_free, free0 - 3 * UNIT);
	EXPECT_EQ(win_destroy(self->home, a.out_desc.window), 0);
	EXPECT_EQ(win_destroy(self->home, b.out_desc.window), 0);
	EXPECT_TRUE(free_again(self->home, free0));
}

TEST_F(window, attach_detach)
{
	__u64 gva = self->w.out_desc.gva, v = 0;

	EXPECT_EQ(put8(self->peer, gva, 1), -ENOENT);
	ASSERT_EQ(win_attach(self->peer, &self->w, RW), 0);
	EXPECT_EQ(win_attach(self->peer, &self->w, RW), -EEXIST);
	EXPECT_EQ(win_attach(self->peer, &self->w, UB_WIN_READ), -EEXIST);
	/* The creator is attached. */
	EXPECT_EQ(win_attach(self->home, &self->w, RW), -EEXIST);
	EXPECT_EQ(put8(self->peer, gva, 42), 0);
	EXPECT_EQ(get8(self->home, gva, &v), 0);
	EXPECT_EQ(v, 42);

	EXPECT_EQ(win_detach(self->peer, gva + UNIT), -ENOENT);
	EXPECT_EQ(win_detach(self->peer, gva + 1), -ENOENT);
	EXPECT_EQ(win_detach(self->peer, 0), -ENOENT);
	EXPECT_EQ(win_detach(self->peer, ~0ULL), -ENOENT);
	EXPECT_EQ(get8(self->peer, gva, &v), 0);
	EXPECT_EQ(win_detach(self->peer, gva), 0);
	EXPECT_EQ(win_detach(self->peer, gva), -ENOENT);
	EXPECT_EQ(get8(self->peer, gva, &v), -ENOENT);
	/* And again. */
	EXPECT_EQ(win_attach(self->peer, &self->w, UB_WIN_READ), 0);
	EXPECT_EQ(get8(self->peer, gva, &v), 0);
	EXPECT_EQ(put8(self->peer, gva, 1), -EACCES);
}

/* Attachments are of one file, not of a process or a node. */
TEST_F(window, attachments_are_per_file)
{
	int second = open_node(1);
	__u64 v;

	ASSERT_GE(second, 0);
	ASSERT_EQ(win_attach(self->peer, &self->w, RW), 0);
	EXPECT_EQ(get8(second, self->w.out_desc.gva, &v), -ENOENT);
	EXPECT_EQ(win_attach(second, &self->w, RW), 0);
	EXPECT_EQ(get8(second, self->w.out_desc.gva, &v), 0);
	EXPECT_EQ(win_detach(self->peer, self->w.out_desc.gva), 0);
	EXPECT_EQ(get8(second, self->w.out_desc.gva, &v), 0);
	close(second);
}

TEST_F(window, attach_refuses)
{
	struct ub_win_create w = self->w;
	__u64 v;

	/* Any wrong bit of the token. */
	w.out_token[0] ^= 1;
	EXPECT_EQ(win_attach(self->peer, &w, RW), -EACCES);
	w = self->w;
	w.out_token[1] ^= 1ULL << 63;
	EXPECT_EQ(win_attach(self->peer, &w, RW), -EACCES);
	w.out_token[0] = 0;
	w.out_token[1] = 0;
	EXPECT_EQ(win_attach(self->peer, &w, RW), -EACCES);

	w = self->w;
	EXPECT_EQ(win_attach(self->peer, &w, 0), -EINVAL);
	EXPECT_EQ(win_attach(self->peer, &w, 1U << 31), -EINVAL);

	/* The fabric's id, the life of the home, the window's generation. */
	w.out_desc.fabric[0] ^= 1;
	EXPECT_EQ(win_attach(self->peer, &w, RW), -ENOENT);
	w = self->w;
	w.out_desc.fabric[1] ^= 1ULL << 63;
	EXPECT_EQ(win_attach(self->peer, &w, RW), -ENOENT);
	w = self->w;
	w.out_desc.incarnation--;
	EXPECT_EQ(win_attach(self->peer, &w, RW), -ESTALE);
	w = self->w;
	w.out_desc.generation -= 2;
	EXPECT_EQ(win_attach(self->peer, &w, RW), -ESTALE);
	w = self->w;
	w.out_desc.generation += 2;
	EXPECT_EQ(win_attach(self->peer, &w, RW), -ESTALE);

	/* No such window, no such node. */
	w = self->w;
	w.out_desc.window = 0x7fffffff;
	EXPECT_NE(win_attach(self->peer, &w, RW), 0);
	w = self->w;
	w.out_desc.node = 3;
	EXPECT_NE(win_attach(self->peer, &w, RW), 0);
	w.out_desc.node = (1U << 20) - 1;
	EXPECT_NE(win_attach(self->peer, &w, RW), 0);
	w.out_desc.node = ~0U;
	EXPECT_NE(win_attach(self->peer, &w, RW), 0);

	/* None of these attached anything. */
	EXPECT_EQ(get8(self->peer, self->w.out_desc.gva, &v), -ENOENT);
	EXPECT_EQ(win_attach(self->peer, &self->w, RW), 0);
}

/* A forged length or address must not reach memory of others. */
TEST_F(window, forged_descriptor)
{
	struct ub_win_create w = self->w;
	__u64 gva = w.out_desc.gva, v;

	w.out_desc.length += UNIT;
	EXPECT_NE(win_attach(self->peer, &w, RW), 0);
	w.out_desc.length = ~0ULL;
	EXPECT_NE(win_attach(self->peer, &w, RW), 0);
	w = self->w;
	w.out_desc.gva += UNIT;
	EXPECT_NE(win_attach(self->peer, &w, RW), 0);
	w.out_desc.gva = ~0ULL - UNIT + 1;
	EXPECT_NE(win_attach(self->peer, &w, RW), 0);
	EXPECT_EQ(get8(self->peer, gva + 3 * UNIT, &v), -ENOENT);
}

TEST_F(window, rights)
{
	struct ub_win_create r;
	__u64 gva, v;

	ASSERT_EQ(win_create(self->home, 8, UB_WIN_READ, &r), 0);
	gva = r.out_desc.gva;
	EXPECT_EQ(win_attach(self->peer, &r, RW), -EACCES);
	EXPECT_EQ(win_attach(self->peer, &r, UB_WIN_ATOMIC), -EACCES);
	/* Forged rights in the descriptor do not help. */
	r.out_desc.rights = UB_WIN_RIGHTS;
	EXPECT_NE(win_attach(self->peer, &r, RW), 0);
	r.out_desc.rights = UB_WIN_READ;
	ASSERT_EQ(win_attach(self->peer, &r, UB_WIN_READ), 0);
	EXPECT_EQ(get8(self->peer, gva, &v), 0);
	EXPECT_EQ(v, 0);
	EXPECT_EQ(put8(self->peer, gva, 1), -EACCES);
	EXPECT_EQ(xfer(self->peer, UB_XFER_FETCH_ADD, gva, NULL, 8, 1, 0), -EACCES);
	/* Not the creator either: it has the window's rights. */
	EXPECT_EQ(put8(self->home, gva, 1), -EACCES);
}

TEST_F(window, rotate)
{
	struct ub_win_create w = self->w;
	struct ub_win_id id;
	__u64 gva = w.out_desc.gva, v;

	ASSERT_EQ(win_attach(self->peer, &w, RW), 0);
	ASSERT_EQ(put8(self->peer, gva, 7), 0);
	EXPECT_EQ(win_rotate(self->peer, w.out_desc.window, &id), -ENOENT);
	ASSERT_EQ(win_rotate(self->home, w.out_desc.window, &id), 0);
	EXPECT_GT(id.out_generation, w.out_desc.generation);
	EXPECT_NE(id.out_token[0], w.out_token[0]);

	/* The peer is out, the creator is not, the bytes stay. */
	EXPECT_EQ(get8(self->peer, gva, &v), -ESTALE);
	EXPECT_EQ(put8(self->peer, gva, 8), -ESTALE);
	EXPECT_EQ(get8(self->home, gva, &v), 0);
	EXPECT_EQ(v, 7);
	win_detach(self->peer, gva);
	EXPECT_EQ(win_attach(self->peer, &w, RW), -ESTALE);
	w.out_desc.generation = id.out_generation;
	EXPECT_EQ(win_attach(self->peer, &w, RW), -EACCES);
	memcpy(w.out_token, id.out_token, sizeof(w.out_token));
	EXPECT_EQ(win_attach(self->peer, &w, RW), 0);
	EXPECT_EQ(get8(self->peer, gva, &v), 0);
	EXPECT_EQ(v, 7);
}

/* One may attach the new generation without detaching the dead one. */
TEST_F(window, attach_over_a_dead_attachment)
{
	struct ub_win_create w = self->w;
	struct ub_win_id id;
	__u64 v;

	ASSERT_EQ(win_attach(self->peer, &w, RW), 0);
	ASSERT_EQ(win_rotate(self->home, w.out_desc.window, &id), 0);
	w.out_desc.generation = id.out_generation;
	memcpy(w.out_token, id.out_token, sizeof(w.out_token));
	EXPECT_EQ(win_attach(self->peer, &w, RW), 0);
	EXPECT_EQ(get8(self->peer, w.out_desc.gva, &v), 0);
}

TEST_F(window, rotate_many)
{
	__u64 last = self->w.out_desc.generation;
	struct ub_win_id id;
	int i;

	for (i = 0; i < 500; i++) {
		ASSERT_EQ(win_rotate(self->home, self->w.out_desc.window, &id), 0);
		ASSERT_GT(id.out_generation, last);
		last = id.out_generation;
	}
}

TEST_F(window, destroy)
{
	__u64 gva = self->w.out_desc.gva, v;
	__u32 id = self->w.out_desc.window;
	int ret;

	ASSERT_EQ(win_attach(self->peer, &self->w, RW), 0);
	EXPECT_EQ(win_destroy(self->peer, id), -ENOENT);
	EXPECT_EQ(win_destroy(self->home, id + 1000), -ENOENT);
	EXPECT_EQ(win_destroy(self->home, id), 0);
	EXPECT_EQ(win_destroy(self->home, id), -ENOENT);
	EXPECT_EQ(get8(self->peer, gva, &v), -ESTALE);
	EXPECT_EQ(get8(self->home, gva, &v), -ENOENT);
	win_detach(self->peer, gva);
	ret = win_attach(self->peer, &self->w, RW);
	EXPECT_TRUE(ret == -ESTALE || ret == -ENOENT);
}

TEST_F(window, goes_with_its_file)
{
	__u64 free0 = info_of(self->home).out_free, v;
	struct ub_win_create c;
	int fd = open_node(0);

	ASSERT_EQ(win_create(fd, 5 * UNIT, RW, &c), 0);
	ASSERT_EQ(win_attach(self->peer, &c, RW), 0);
	EXPECT_EQ(info_of(self->home).out_free, free0 - 5 * UNIT);
	/* Another file of the node may attach, but it does not own it. */
	EXPECT_EQ(win_destroy(self->home, c.out_desc.window), -ENOENT);
	EXPECT_EQ(win_attach(self->home, &c, RW), 0);
	close(fd);
	EXPECT_EQ(get8(self->peer, c.out_desc.gva, &v), -ESTALE);
	EXPECT_EQ(get8(self->home, c.out_desc.gva, &v), -ESTALE);
	EXPECT_TRUE(free_again(self->home, free0));
}

/* What one user left in memory, the next must not see. */
TEST_F(window, memory_is_zero)
{
	__u64 size = info_of(self->home).out_free / 4 / UNIT * UNIT;
	struct ub_win_create c;
	unsigned char *p;
	__u64 i, bad = 0;
	int round;

	if (size > 64 * UNIT)
		size = 64 * UNIT;
	for (round = 0; round < 8; round++) {
		ASSERT_EQ(win_create(self->home, size, RW, &c), 0);
		p = win_map(self->home, c.out_desc.gva, size, PROT_READ | PROT_WRITE);
		ASSERT_NE(p, MAP_FAILED);
		for (i = 0; i < size; i += 8)
			bad += !!*(__u64 *)(p + i);
		memset(p, 0xee, size);
		munmap(p, size);
		ASSERT_EQ(win_destroy(self->home, c.out_desc.window), 0);
	}
	EXPECT_EQ(bad, 0);
}

/* All of the slice, in one piece, again and again. */
TEST_F(window, whole_slice)
{
	struct ub_info i;
	struct ub_win_create c, d;
	int round;

	ASSERT_EQ(win_destroy(self->home, self->w.out_desc.window), 0);
	i = info_of(self->home);
	for (round = 0; round < 3; round++) {
		ASSERT_TRUE(free_again(self->home, i.out_slice));
		i = info_of(self->home);
		ASSERT_EQ(win_create(self->home, i.out_free, RW, &c), 0);
		EXPECT_EQ(info_of(self->home).out_free, 0);
		EXPECT_EQ(win_create(self->home, 1, RW, &d), -ENOSPC);
		ASSERT_EQ(win_destroy(self->home, c.out_desc.window), 0);
	}
}

TEST_F(window, thousand)
{
	enum { MANY = 1000 };
	static struct ub_win_create c[MANY];
	__u64 free0 = info_of(self->home).out_free;
	int n, i, bad = 0, ret = 0;

	for (n = 0; n < MANY; n++) {
		ret = win_create(self->home, 8, RW, &c[n]);
		if (ret)
			break;
	}
	/* The slice or the table of records may hold fewer. */
	EXPECT_TRUE(n == MANY || ret == -ENOSPC);
	EXPECT_TRUE(n >= 64 || n == free0 / UNIT);
	TH_LOG("%d windows at once", n);
	for (i = 0; i < n; i++)
		bad += !!put8(self->home, c[i].out_desc.gva, i);
	for (i = 0; i < n; i++) {
		__u64 v = ~0ULL;

		bad += !!win_attach(self->peer, &c[i], UB_WIN_READ);
		bad += !!get8(self->peer, c[i].out_desc.gva, &v) || v != i;
	}
	for (i = 0; i < n; i++)
		bad += !!win_destroy(self->home, c[i].out_desc.window);
	EXPECT_EQ(bad, 0);
	EXPECT_TRUE(free_again(self->home, free0));
	/* And a thousand one after the other. */
	for (i = 0; i < MANY; i++) {
		ASSERT_EQ(win_create(self->home, 8, RW, &c[0]), 0);
		ASSERT_EQ(win_destroy(self->home, c[0].out_desc.window), 0);
	}
	EXPECT_TRUE(free_again(self->home, free0));
}

TEST_F(window, old_incarnation)
{
	int fd = open_node(3), ret;
	struct ub_win_create c, d;
	__u64 v;

	ASSERT_EQ(win_create(fd, UNIT, RW, &c), 0);
	ASSERT_EQ(win_attach(self->peer, &c, RW), 0);
	ASSERT_EQ(test_op(fd, UB_TEST_KILL, 0, 0, NULL), 0);
	sleep_ms(3 * detect_ms());
	EXPECT_EQ(get8(self->peer, c.out_desc.gva, &v), -EOWNERDEAD);
	ret = win_attach(self->home, &c, RW);
	EXPECT_EQ(ret, -EOWNERDEAD);
	ASSERT_EQ(heal(), 0);
	EXPECT_EQ(win_attach(self->home, &c, RW), -ESTALE);
	/* The attachment of the former life stays dead. */
	EXPECT_NE(get8(self->peer, c.out_desc.gva, &v), 0);
	close(fd);
	fd = open_node(3);
	ASSERT_EQ(win_create(fd, UNIT, RW, &d), 0);
	EXPECT_GT(d.out_desc.incarnation, c.out_desc.incarnation);
	EXPECT_EQ(win_attach(self->home, &d, RW), 0);
	EXPECT_EQ(get8(self->home, d.out_desc.gva, &v), 0);
	close(fd);
}

/* create and attach race with destroy: any answer but a wrong one */
static int step_attach_loop(struct member *m)
{
	struct ub_win_create *c = m->ctx;
	int i, ret;

	for (i = 0; i < 2000; i++) {
		ret = win_attach(m->fd, c, RW);
		if (ret && ret != -ESTALE && ret != -ENOENT && ret != -EACCES)
			return ret;
		if (!ret) {
			ret = put8(m->fd, c->out_desc.gva, i);
			if (ret && ret != -ESTALE)
				return ret;
			ret = win_detach(m->fd, c->out_desc.gva);
			if (ret)
				return ret;
		}
	}
	return 0;
}

TEST_F(window, attach_races_with_rotate)
{
	struct ub_win_create w = self->w;
	struct ub_win_id id;
	struct member m = { .fd = self->peer, .ctx = &w };
	int i;

	member_start(&m, step_attach_loop);
	for (i = 0; i < 300; i++) {
		ASSERT_EQ(win_rotate(self->home, w.out_desc.window, &id), 0);
		w.out_desc.generation = id.out_generation;
		memcpy(w.out_token, id.out_token, sizeof(w.out_token));
	}
	EXPECT_EQ(member_join(&m), 0);
}

TEST_HARNESS_MAIN
