// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copied windows: the memory model, and that it does not hold when a step of
 * the protocol is left out. Wants "insmod ub.ko loop_nodes=4 loop_copied=1
 * test_hooks=1".
 *
 * A program's result is how many loads gave another value than the model says.
 */
#include "copied.h"

#define STEPS	4	/* supersteps; bytes are used again in each */

static unsigned char value(int step, int lane, int i)
{
	return 1 + (step * 61 + lane * 17 + i * 7) % 255;
}

/*
 * Every lane stores its bytes of each page, next to the others'; all load all
 * of them; again. Loads and stores are in supersteps of their own.
 */
static int interleaved(struct rig *r)
{
	int wrong = 0, step, i, j;

	for (step = 0; step < STEPS; step++) {
		for (j = 0; j < LANES; j++)
			for (i = j; i < 2 * (int)PAGE; i += LANES)
				ST(&r->p[j][i], value(step, j, i));
		if (sync_world(r))
			return -1;
		for (j = 0; j < LANES; j++)
			for (i = 0; i < 2 * (int)PAGE; i++)
				wrong += LD(&r->p[j][i]) !=
					 value(step, i % LANES, i);
		if (sync_world(r))
			return -1;
	}
	return wrong;
}

/*
 * Lanes 1 and 2 share a node and a page, not an inner group. Lane 2 stores
 * before and after lane 1 arrives in the other group.
 */
static int nested(struct rig *r)
{
	int wrong = 0, step;

	for (step = 0; step < STEPS; step++) {
		unsigned char v = value(step, 1, 0), w = value(step, 2, 0);

		ST(&r->p[2][8], w);
		ST(&r->p[1][0], v);
		if (arrive(&r->inner[1]))
			return -1;
		ST(&r->p[2][9], w);
		ST(&r->p[0][1], v);
		if (arrive(&r->inner[0]) || await(&r->inner[0]) ||
		    await(&r->inner[1]))
			return -1;
		wrong += LD(&r->p[0][0]) != v;
		wrong += LD(&r->p[1][1]) != v;
		ST(&r->p[3][10], w);
		if (sync_inner(r, 1))
			return -1;
		wrong += LD(&r->p[3][8]) != w;
		wrong += LD(&r->p[3][9]) != w;
		wrong += LD(&r->p[2][10]) != w;
		if (sync_world(r))
			return -1;
		wrong += LD(&r->p[0][9]) != w;
		wrong += LD(&r->p[1][10]) != w;
		if (sync_world(r))
			return -1;
	}
	return wrong;
}

struct reader {
	pthread_t thread;
	unsigned char *p;
	unsigned char got;
};

static void *reader_main(void *arg)
{
	struct reader *rd = arg;

	rd->got = LD(rd->p);
	return NULL;
}

/*
 * Lane 2 reads its own byte while lane 1, on the same node, ends a barrier: what
 * lane 2's read brings is older than that, and must not be what lane 1 loads.
 */
static int raced_once(struct rig *r, int step, bool *in_time)
{
	struct reader rd = { .p = &r->p[2][PAGE] };
	unsigned char v = value(step, 0, 5);
	__u64 start;
	int wrong;

	if (sync_world(r))
		return -1;
	/* What a scan read ahead may still be under way. */
	while (ask(r->m[2].fd, UB_TEST_COPIED_BUSY))
		sleep_ms(1);
	if (hook(r, UB_TEST_COPIED_DELAY, 2000))
		return -1;
	start = now();
	pthread_create(&rd.thread, NULL, reader_main, &rd);
	while (!ask(r->m[2].fd, UB_TEST_COPIED_BUSY) && now() - start < SEC)
		sleep_ms(1);
	ST(&r->p[0][PAGE + 1], v);
	wrong = sync_inner(r, 0) ? -1 : 0;
	*in_time = ask(r->m[2].fd, UB_TEST_COPIED_BUSY) > 0;
	if (!wrong)
		wrong = LD(&r->p[1][PAGE + 1]) != v;
	pthread_join(rd.thread, NULL);
	return hook(r, UB_TEST_COPIED_DELAY, 0) ? -1 : wrong;
}

static int raced(struct rig *r)
{
	bool in_time = false;
	int wrong = 0, tries;

	/* On a machine that is busy the read may have come too soon. */
	for (tries = 0; tries < 10 && !in_time && wrong >= 0; tries++)
		wrong = raced_once(r, tries, &in_time);
	return in_time ? wrong : -1;
}

FIXTURE(model) {
	struct rig r;
};

FIXTURE_VARIANT(model) {
	__u32 off;
};

FIXTURE_VARIANT_ADD(model, whole)		{ .off = 0 };
FIXTURE_VARIANT_ADD(model, no_write_back)	{ .off = UB_COPIED_NO_WRITE_BACK };
FIXTURE_VARIANT_ADD(model, no_invalidation)	{ .off = UB_COPIED_NO_INVALIDATE };
FIXTURE_VARIANT_ADD(model, no_recheck)		{ .off = UB_COPIED_NO_RECHECK };
FIXTURE_VARIANT_ADD(model, no_unmap)		{ .off = UB_COPIED_NO_UNMAP };

FIXTURE_SETUP(model)
{
	ASSERT_EQ(heal(), 0);
	ASSERT_EQ(rig_open(&self->r), 0);
	hooks_clear(&self->r);
}

FIXTURE_TEARDOWN(model)
{
	hooks_clear(&self->r);
	rig_close(&self->r);
}

/* Each step that is left out is missed by the program made for it. */
TEST_F_TIMEOUT(model, programs, 120)
{
	int a, b, c;

	ASSERT_EQ(hook(&self->r, UB_TEST_COPIED_OFF, variant->off), 0);
	a = interleaved(&self->r);
	b = nested(&self->r);
	c = raced(&self->r);
	ASSERT_GE(a, 0);
	ASSERT_GE(b, 0);
	/* Without invalidation lane 2 has no need to read. */
	if (variant->off != UB_COPIED_NO_INVALIDATE)
		ASSERT_GE(c, 0);
	switch (variant->off) {
	case 0:
		EXPECT_EQ(a, 0);
		EXPECT_EQ(b, 0);
		EXPECT_EQ(c, 0);
		break;
	case UB_COPIED_NO_RECHECK:
		EXPECT_GT(c, 0);
		break;
	case UB_COPIED_NO_UNMAP:
		EXPECT_GT(b, 0);
		break;
	default:
		EXPECT_GT(a, 0);
		EXPECT_GT(b, 0);
	}
}

FIXTURE(copied) {
	struct rig r;
};

FIXTURE_SETUP(copied)
{
	ASSERT_EQ(heal(), 0);
	ASSERT_EQ(rig_open(&self->r), 0);
	hooks_clear(&self->r);
}

FIXTURE_TEARDOWN(copied)
{
	hooks_clear(&self->r);
	rig_close(&self->r);
}

TEST_F(copied, says_so)
{
	struct ub_info i = info_of(self->r.m[0].fd);
	struct ub_group_create gc = self->r.m[0].gc;

	EXPECT_EQ(i.out_caps & UB_CAP_COHERENT, 0);
	EXPECT_EQ(i.out_caps & UB_CAP_USER_BARRIER, 0);
	EXPECT_NE(i.out_caps & UB_CAP_GROUP_PAGES, 0);
	gc.flags |= UB_GROUP_USER_DRIVER;
	EXPECT_EQ(call(self->r.m[0].fd, UB_IOC_GROUP_CREATE, &gc), -EOPNOTSUPP);
	EXPECT_EQ(i.out_caps & UB_CAP_QUIET, 0);
	EXPECT_EQ(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->r.m[0].fd, UB_MMAP_QUIET),
		  MAP_FAILED);
	EXPECT_EQ(errno, EOPNOTSUPP);
}

/* One lane's stores, puts, gets and atomics on the same bytes, in order. */
TEST_F(copied, program_order)
{
	struct rig *r = &self->r;
	__u64 gva = r->win.out_desc.gva + 3 * PAGE, old, got;
	__u64 *p = (__u64 *)(r->p[1] + 3 * PAGE);
	int fd = r->m[1].fd, round;

	for (round = 1; round < 20; round++) {
		__u64 v = round * 1000, put = v + 1;

		ST(p, v);
		ASSERT_EQ(xfer(fd, UB_XFER_GET, gva, &got, 8, 0, 0), 0);
		EXPECT_EQ(got, v);
		ASSERT_EQ(xfer(fd, UB_XFER_PUT, gva, &put, 8, 0, 0), 0);
		EXPECT_EQ(LD(p), put);
		ST(p, v + 5);
		ASSERT_EQ(xfer(fd, UB_XFER_FETCH_ADD, gva, &old, 8, 7, 0), 0);
		EXPECT_EQ(old, v + 5);
		EXPECT_EQ(LD(p), v + 12);
		/* What lies beside the put stays. */
		ST(p + 1, v);
		ASSERT_EQ(xfer(fd, UB_XFER_PUT, gva, &put, 8, 0, 0), 0);
		EXPECT_EQ(LD(p + 1), v);
		EXPECT_EQ(LD(p), put);
	}
}

TEST_F(copied, big_puts_and_gets)
{
	struct rig *r = &self->r;
	size_t n = 100 * PAGE, off = 123, i;
	unsigned char *a = malloc(n), *b = calloc(1, n);
	__u64 gva = r->win.out_desc.gva + off;

	for (i = 0; i < n; i++)
		a[i] = i * 7 + i / PAGE;
	ASSERT_EQ(xfer(r->m[3].fd, UB_XFER_PUT, gva, a, n, 0, 0), 0);
	ASSERT_EQ(xfer(r->m[1].fd, UB_XFER_GET, gva, b, n, 0, 0), 0);
	EXPECT_EQ(memcmp(a, b, n), 0);
	EXPECT_EQ(memcmp(a, r->p[0] + off, n), 0);
	/* Local memory that is itself a mapped copy. */
	ASSERT_EQ(xfer(r->m[1].fd, UB_XFER_GET, gva, r->p[1] + off + n + PAGE,
		       n, 0, 0), 0);
	ASSERT_EQ(sync_world(r), 0);
	EXPECT_EQ(memcmp(a, r->p[0] + off + n + PAGE, n), 0);
	EXPECT_EQ(xfer(r->m[1].fd, UB_XFER_GET, r->win.out_desc.gva, b,
		       PAGES * PAGE + 1, 0, 0), -EOVERFLOW);
	free(a);
	free(b);
}

/* SYNC and FENCE, without a barrier. */
TEST_F(copied, sync_and_fence)
{
	struct rig *r = &self->r;
	struct ub_range all = ARG(ub_range, .gva = r->win.out_desc.gva,
				  .length = PAGES * PAGE);
	struct ub_range none = ARG(ub_range);

	EXPECT_EQ(LD(&r->p[1][7]), 0);
	ST(&r->p[1][6], 6);
	ST(&r->p[0][7], 7);
	EXPECT_EQ(LD(&r->p[1][7]), 0);
	EXPECT_EQ(LD(&r->p[0][6]), 0);
	EXPECT_EQ(call(r->m[2].fd, UB_IOC_FENCE, &none), 0);
	EXPECT_EQ(LD(&r->p[0][6]), 6);
	EXPECT_EQ(LD(&r->p[1][7]), 0);
	EXPECT_EQ(call(r->m[1].fd, UB_IOC_SYNC, &all), 0);
	EXPECT_EQ(LD(&r->p[1][7]), 7);
	EXPECT_EQ(LD(&r->p[2][6]), 6);
	all.length++;
	EXPECT_EQ(call(r->m[1].fd, UB_IOC_SYNC, &all), -EOVERFLOW);
}

/* A page is read alone at random, runs of pages in a scan. */
TEST_F(copied, read_ahead)
{
	struct rig *r = &self->r;
	int fd = r->m[1].fd, i;
	__u64 before;

	before = ask(fd, UB_TEST_COPIED_PAGES);
	for (i = 0; i < 32; i++)
		EXPECT_EQ(LD(&r->p[1][(i * 37 % 128) * PAGE]), 0);
	EXPECT_EQ(ask(fd, UB_TEST_COPIED_PAGES), before + 32);
	for (i = 0; i < PAGES; i++)
		ST(&r->p[0][i * PAGE], i);
	ASSERT_EQ(sync_world(r), 0);
	for (i = 128; i < 128 + 16; i++)
		EXPECT_EQ(LD(&r->p[1][i * PAGE]), i);
	EXPECT_GT(ask(fd, UB_TEST_COPIED_PAGES), before + 32 + 24);
	/* It does not pass the end of the window. */
	for (; i < PAGES; i++)
		EXPECT_EQ(LD(&r->p[1][i * PAGE]), i);
}

/* Never more pages than the limit, and no store is lost for it. */
TEST_F_TIMEOUT(copied, bounded, 60)
{
	struct rig *r = &self->r;
	__u64 most = 0, n;
	int fd = r->m[1].fd, i, round;

	ASSERT_EQ(test_op(fd, UB_TEST_COPIED_LIMIT, UB_COPIED_LIMIT_MIN - 1, 0,
			  NULL), -EINVAL);
	ASSERT_EQ(hook(r, UB_TEST_COPIED_LIMIT, 32), 0);
	for (round = 1; round < 4; round++) {
		for (i = 0; i < PAGES; i++) {
			ST(&r->p[1][i * PAGE + round], i + round);
			n = ask(fd, UB_TEST_COPIED_PAGES);
			most = n > most ? n : most;
		}
		ASSERT_EQ(sync_world(r), 0);
		for (i = 0; i < PAGES; i++)
			EXPECT_EQ(LD(&r->p[3][i * PAGE + round]),
				  (unsigned char)(i + round));
	}
	EXPECT_LE(most, 32);
	EXPECT_GT(most, 8);
}

/* Completions late, in another order, and some of them lost. */
TEST_F_TIMEOUT(copied, bad_network, 120)
{
	struct rig *r = &self->r;

	ASSERT_EQ(hook(r, UB_TEST_COPIED_DELAY, 20), 0);
	EXPECT_EQ(interleaved(r), 0);
	EXPECT_EQ(nested(r), 0);
	ASSERT_EQ(hook(r, UB_TEST_COPIED_LOSE, 7), 0);
	EXPECT_EQ(nested(r), 0);
}

/* A world of a former one's key begins its epochs anew, and counts as another. */
TEST_F(copied, same_key_again)
{
	struct rig *r = &self->r;
	__u64 key[2];
	int i, k;

	fresh_key(key);
	for (k = 0; k < 2; k++) {
		for (i = 0; i < LANES; i++)
			r->inner[i].gc = world_arg(key, LANES, i, 20000);
		ASSERT_EQ(members_run(r->inner, LANES, step_create), 0);
		for (i = 1; i < 6 - 2 * k; i++) {
			ST(&r->p[0][0], 10 * k + i);
			ASSERT_EQ(sync_all(r->inner, LANES), 0);
			EXPECT_EQ(LD(&r->p[1][0]), 10 * k + i);
			ASSERT_EQ(sync_all(r->inner, LANES), 0);
		}
		for (i = 0; i < LANES; i++)
			EXPECT_EQ(group_destroy(r->m[i].fd, r->inner[i].group), 0);
	}
}

/* ---- windows that bytes cannot be brought to ---- */

/* All are told in the same barrier, by name, and the group goes on. */
static void expect_lost(struct __test_metadata *_metadata, struct rig *r)
{
	int i;

	for (i = 0; i < LANES; i++)
		EXPECT_EQ(arrive(&r->m[i]), 0);
	for (i = 0; i < LANES; i++) {
		EXPECT_EQ(await(&r->m[i]), -EOWNERDEAD);
		EXPECT_EQ(r->m[i].bar.out_window, r->win.out_desc.gva);
		EXPECT_EQ(r->m[i].bar.out_epoch, r->m[0].bar.out_epoch);
	}
	EXPECT_EQ(sync_world(r), 0);
	EXPECT_EQ(sync_world(r), 0);
}

static bool window_event(int fd, __u64 gva)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	struct ub_event ev;

	while (poll(&pfd, 1, 5000) == 1 && read(fd, &ev, sizeof(ev)) == sizeof(ev))
		if (ev.type == UB_EVENT_WINDOW_LOST && ev.gva == gva)
			return true;
	return false;
}

TEST_F(copied, rotated_while_dirty)
{
	struct rig *r = &self->r;
	struct ub_win_id w;
	__u64 x;

	ST(&r->p[1][0], 1);
	ST(&r->p[3][PAGE], 1);
	ASSERT_EQ(win_rotate(r->m[0].fd, r->win.out_desc.window, &w), 0);
	expect_lost(_metadata, r);
	EXPECT_EQ(LD(&r->p[0][0]), 0);
	EXPECT_EQ(touch(&r->p[1][0], false), SIGBUS);
	EXPECT_EQ(touch(&r->p[2][0], true), SIGBUS);
	EXPECT_EQ(xfer(r->m[1].fd, UB_XFER_GET, r->win.out_desc.gva, &x, 8, 0, 0),
		  -EOWNERDEAD);
	EXPECT_TRUE(window_event(r->m[1].fd, r->win.out_desc.gva));
	EXPECT_TRUE(window_event(r->m[2].fd, r->win.out_desc.gva));
	/* With its new token it is another window. */
	r->win.out_desc.generation = w.out_generation;
	r->win.out_token[0] = w.out_token[0];
	r->win.out_token[1] = w.out_token[1];
	ASSERT_EQ(win_detach(r->m[1].fd, r->win.out_desc.gva), 0);
	ASSERT_EQ(win_attach(r->m[1].fd, &r->win, RW), 0);
	ST(&r->p[0][0], 3);
	EXPECT_EQ(LD(&r->p[1][0]), 3);
	ST(&r->p[1][1], 4);
	ASSERT_EQ(sync_world(r), 0);
	EXPECT_EQ(LD(&r->p[0][1]), 4);
}

/* What was only read is lost to nobody. */
TEST_F(copied, rotated_while_clean)
{
	struct rig *r = &self->r;
	struct ub_win_id w;

	EXPECT_EQ(LD(&r->p[1][0]), 0);
	ASSERT_EQ(win_rotate(r->m[0].fd, r->win.out_desc.window, &w), 0);
	EXPECT_EQ(sync_world(r), 0);
	EXPECT_EQ(touch_gone(&r->p[1][0], false), SIGBUS);
}

/* Detaching brings home what was stored, or tells. */
TEST_F(copied, detached_while_dirty)
{
	struct rig *r = &self->r;
	struct ub_win_id w;

	ST(&r->p[1][0], 1);
	ASSERT_EQ(win_detach(r->m[1].fd, r->win.out_desc.gva), 0);
	EXPECT_EQ(LD(&r->p[0][0]), 1);
	EXPECT_EQ(touch(&r->p[1][0], false), SIGBUS);
	ST(&r->p[3][0], 2);
	ASSERT_EQ(win_rotate(r->m[0].fd, r->win.out_desc.window, &w), 0);
	ASSERT_EQ(win_detach(r->m[3].fd, r->win.out_desc.gva), 0);
	expect_lost(_metadata, r);
}

/* Its bytes go home when the process that stored them is no more. */
TEST_F(copied, unmapped_while_dirty)
{
	struct rig *r = &self->r;

	ST(&r->p[1][0], 9);
	munmap(r->p[1], PAGES * PAGE);
	r->p[1] = NULL;
	ASSERT_EQ(sync_world(r), 0);
	EXPECT_EQ(LD(&r->p[0][0]), 9);
	EXPECT_EQ(LD(&r->p[3][0]), 9);
}

TEST_HARNESS_MAIN
