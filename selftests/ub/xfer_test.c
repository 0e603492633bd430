// SPDX-License-Identifier: GPL-2.0-only
/*
 * Puts, gets and atomics: results, a status for each, and exact sums when
 * threads of all nodes and the kernel add to one word.
 */
#include "util.h"

#define LEN	(4 * UNIT)

FIXTURE(xfer) {
	int home;
	int peer;
	__u64 gva;
	struct ub_win_create w;
	unsigned char *h;
};

FIXTURE_SETUP(xfer)
{
	ASSERT_EQ(heal(), 0);
	self->home = open_node(0);
	self->peer = open_node(3);
	ASSERT_GE(self->home, 0);
	ASSERT_GE(self->peer, 0);
	ASSERT_EQ(win_create(self->home, LEN, UB_WIN_RIGHTS, &self->w), 0);
	ASSERT_EQ(win_attach(self->peer, &self->w, UB_WIN_RIGHTS), 0);
	self->gva = self->w.out_desc.gva;
	self->h = win_map(self->home, self->gva, LEN, PROT_READ | PROT_WRITE);
	ASSERT_NE(self->h, MAP_FAILED);
}

FIXTURE_TEARDOWN(xfer)
{
	close(self->peer);
	close(self->home);
}

static int vector(int fd, struct ub_xfer_op_desc *d, __u32 n, __u32 *done)
{
	struct ub_xfer x = ARG(ub_xfer, .ops = PTR(d), .nops = n);
	int ret = call(fd, UB_IOC_XFER, &x);

	*done = x.out_done;
	return ret;
}

/* Every length and alignment about a word, a page and a unit. */
TEST_F(xfer, put_get)
{
	static const size_t lens[] = { 1, 2, 3, 7, 8, 9, 63, 64, 65, 4095, 4096,
				       4097, 65535, 65536, 65537, 2 * UNIT };
	static unsigned char a[LEN], b[LEN];
	size_t i, j, off;
	int bad = 0;

	for (i = 0; i < LEN; i++)
		a[i] = i * 7 + (i >> 8);
	for (i = 0; i < COUNT(lens); i++) {
		for (off = 0; off < 9; off += 3) {
			memset(self->h, 0, LEN);
			memset(b, 0, LEN);
			bad += !!xfer(self->peer, UB_XFER_PUT, self->gva + off + PAGE,
				      a + off, lens[i], 0, 0);
			bad += !!memcmp(self->h + off + PAGE, a + off, lens[i]);
			bad += self->h[off + PAGE - 1] != 0;
			bad += self->h[off + PAGE + lens[i]] != 0;
			bad += !!xfer(self->peer, UB_XFER_GET, self->gva + off + PAGE,
				      b + 5, lens[i], 0, 0);
			bad += !!memcmp(b + 5, a + off, lens[i]);
			for (j = 0; j < 5; j++)
				bad += b[j] != 0;
			bad += b[5 + lens[i]] != 0;
		}
	}
	EXPECT_EQ(bad, 0);
}

static __u64 model(__u32 op, __u64 old, __u64 v, __u64 cmp)
{
	switch (op) {
	case UB_XFER_FETCH_ADD:
		return old + v;
	case UB_XFER_SWAP:
		return v;
	case UB_XFER_COMPARE_SWAP:
		return old == cmp ? v : old;
	case UB_XFER_FETCH_AND:
		return old & v;
	case UB_XFER_FETCH_OR:
		return old | v;
	default:
		return old ^ v;
	}
}

TEST_F(xfer, atomics_8)
{
	static const __u64 v[] = { 0, 1, 0x7fffffffffffffffULL, 1ULL << 63, ~0ULL,
				   0x123456789abcdef0ULL, 0xffffffffULL, 1ULL << 32 };
	__u64 *word = (void *)(self->h + 64);
	__u32 op, i, j;
	int bad = 0;

	for (op = UB_XFER_FETCH_ADD; op < UB_XFER_OPS; op++) {
		for (i = 0; i < COUNT(v); i++) {
			for (j = 0; j < 2 * COUNT(v); j++) {
				__u64 cmp = j & 1 ? v[i] : v[j / 2], old = 0x77;

				ST(word, v[i]);
				bad += !!xfer(self->peer, op, self->gva + 64, &old,
					      8, v[j / 2], cmp);
				bad += old != v[i];
				bad += LD(word) != model(op, v[i], v[j / 2], cmp);
			}
		}
	}
	EXPECT_EQ(bad, 0);
	EXPECT_EQ(word[-1], 0);
	EXPECT_EQ(word[1], 0);
}

TEST_F(xfer, atomics_4)
{
	static const __u32 v[] = { 0, 1, 0x7fffffff, 0x80000000, ~0U, 0x12345678 };
	__u32 *word = (void *)(self->h + 68);
	__u32 op, i, j;
	int bad = 0;

	for (op = UB_XFER_FETCH_ADD; op < UB_XFER_OPS; op++) {
		for (i = 0; i < COUNT(v); i++) {
			for (j = 0; j < 2 * COUNT(v); j++) {
				__u32 cmp = j & 1 ? v[i] : v[j / 2];
				__u32 old[2] = { 0x77, 0x88 };

				ST(word, v[i]);
				bad += !!xfer(self->peer, op, self->gva + 68, old,
					      4, v[j / 2], cmp);
				bad += old[0] != v[i] || old[1] != 0x88;
				bad += LD(word) != (__u32)model(op, v[i], v[j / 2], cmp);
			}
		}
	}
	EXPECT_EQ(bad, 0);
	EXPECT_EQ(word[-1], 0);
	EXPECT_EQ(word[1], 0);
}

TEST_F(xfer, old_value_not_wanted)
{
	EXPECT_EQ(xfer(self->peer, UB_XFER_FETCH_ADD, self->gva, NULL, 8, 5, 0), 0);
	EXPECT_EQ(*(__u64 *)self->h, 5);
}

TEST_F(xfer, statuses_one_by_one)
{
	__u64 a = 1, b = 2, g = self->gva;
	struct ub_xfer_op_desc d[] = {
		{ .op = UB_XFER_PUT, .gva = g, .addr = PTR(&a), .length = 8 },
		{ .op = UB_XFER_OPS, .gva = g, .addr = PTR(&a), .length = 8 },
		{ .op = UB_XFER_FETCH_ADD, .gva = g + 4, .length = 8, .operand = 1 },
		{ .op = UB_XFER_FETCH_ADD, .gva = g + 2, .length = 4, .operand = 1 },
		{ .op = UB_XFER_FETCH_ADD, .gva = g, .length = 2, .operand = 1 },
		{ .op = UB_XFER_FETCH_ADD, .gva = g, .length = 16, .operand = 1 },
		{ .op = UB_XFER_GET, .gva = g + LEN - 4, .addr = PTR(&b), .length = 8 },
		{ .op = UB_XFER_GET, .gva = g + LEN, .addr = PTR(&b), .length = 8 },
		{ .op = UB_XFER_GET, .gva = 0, .addr = PTR(&b), .length = 8 },
		{ .op = UB_XFER_PUT, .gva = g, .addr = 8, .length = 8 },
		{ .op = UB_XFER_GET, .gva = g, .addr = ~0ULL - 3, .length = 8 },
		{ .op = UB_XFER_GET, .gva = g, .addr = 1ULL << 63, .length = 8 },
		{ .op = UB_XFER_GET, .gva = g, .addr = PTR(&b), .length = ~0ULL },
		{ .op = UB_XFER_GET, .gva = 1ULL << 63, .addr = PTR(&b), .length = 8 },
		{ .op = UB_XFER_GET, .gva = ~0ULL - 7, .addr = PTR(&b), .length = 16 },
		{ .op = UB_XFER_PUT, .gva = g, .addr = 0, .length = 0 },
		{ .op = UB_XFER_FETCH_ADD, .gva = g, .length = 8, .operand = 41 },
		{ .op = UB_XFER_GET, .gva = g, .addr = PTR(&b), .length = 8 },
	};
	static const int want[COUNT(d)] = {
		[1] = -EINVAL, [2] = -EINVAL, [3] = -EINVAL, [4] = -EINVAL,
		[5] = -EINVAL, [6] = -EOVERFLOW, [7] = -ENOENT, [8] = -ENOENT,
		[9] = -EFAULT, [10] = -EFAULT, [11] = -EFAULT, [12] = 1,
		[13] = 1, [14] = 1,
	};
	__u32 i, done = 99, good = 0;

	for (i = 0; i < COUNT(d); i++)
		d[i].out_status = 77;
	ASSERT_EQ(vector(self->peer, d, COUNT(d), &done), 0);
	for (i = 0; i < COUNT(d); i++) {
		good += !d[i].out_status;
		if (want[i] == 1) {	/* any error */
			EXPECT_LT(d[i].out_status, 0);
			continue;
		}
		EXPECT_EQ(d[i].out_status, want[i])
			TH_LOG("element %u", i);
	}
	EXPECT_EQ(done, good);
	/* In order, and the bad ones did nothing. */
	EXPECT_EQ(b, 42);
	EXPECT_EQ(*(__u64 *)self->h, 42);
	EXPECT_EQ(a, 1);
}

TEST_F(xfer, vector_refuses)
{
	struct ub_xfer_op_desc d = { 0 };
	__u32 done;

	EXPECT_EQ(vector(self->peer, &d, 0, &done), -EINVAL);
	EXPECT_EQ(vector(self->peer, &d, UB_XFER_MAX + 1, &done), -EINVAL);
	EXPECT_EQ(vector(self->peer, &d, ~0U, &done), -EINVAL);
	EXPECT_EQ(vector(self->peer, NULL, 1, &done), -EFAULT);
	EXPECT_EQ(vector(self->peer, (void *)(1UL << 63), 1, &done), -EFAULT);
}

/* The vector's end is the end of memory. */
TEST_F(xfer, vector_at_the_end_of_memory)
{
	unsigned char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ub_xfer_op_desc *d = (void *)(p + PAGE);
	__u32 done = 0;

	ASSERT_EQ(mprotect(p + PAGE, PAGE, PROT_NONE), 0);
	d[-1] = (struct ub_xfer_op_desc){
		.op = UB_XFER_FETCH_ADD, .gva = self->gva, .length = 8, .operand = 1 };
	EXPECT_EQ(vector(self->peer, d - 1, 1, &done), 0);
	EXPECT_EQ(done, 1);
	EXPECT_EQ(vector(self->peer, d - 1, 2, &done), -EFAULT);
}

TEST_F(xfer, ten_thousand)
{
	enum { N = 10000 };
	static struct ub_xfer_op_desc d[UB_XFER_MAX];
	static __u64 v[N];
	__u32 i, done = 0, bad = 0;

	for (i = 0; i < N; i++) {
		v[i] = i * 0x9e3779b97f4a7c15ULL;
		d[i] = (struct ub_xfer_op_desc){
			.op = UB_XFER_PUT, .gva = self->gva + 8 * i,
			.addr = PTR(&v[i]), .length = 8, .out_status = 5 };
	}
	ASSERT_EQ(vector(self->peer, d, N, &done), 0);
	EXPECT_EQ(done, N);
	for (i = 0; i < N; i++)
		bad += d[i].out_status || ((__u64 *)self->h)[i] != v[i];
	EXPECT_EQ(bad, 0);
	for (i = 0; i < UB_XFER_MAX; i++)
		d[i] = (struct ub_xfer_op_desc){
			.op = UB_XFER_FETCH_ADD, .gva = self->gva + LEN - 8,
			.length = 8, .operand = 1 };
	ASSERT_EQ(vector(self->peer, d, UB_XFER_MAX, &done), 0);
	EXPECT_EQ(done, UB_XFER_MAX);
	EXPECT_EQ(*(__u64 *)(self->h + LEN - 8), UB_XFER_MAX);
}

TEST_F(xfer, rights)
{
	struct ub_win_create w;
	__u64 v = 0;
	int fd = open_node(2);

	ASSERT_EQ(win_attach(fd, &self->w, UB_WIN_WRITE), 0);
	EXPECT_EQ(xfer(fd, UB_XFER_PUT, self->gva, &v, 8, 0, 0), 0);
	EXPECT_EQ(xfer(fd, UB_XFER_GET, self->gva, &v, 8, 0, 0), -EACCES);
	EXPECT_EQ(xfer(fd, UB_XFER_SWAP, self->gva, &v, 8, 0, 0), -EACCES);
	close(fd);
	fd = open_node(2);
	ASSERT_EQ(win_attach(fd, &self->w, UB_WIN_ATOMIC), 0);
	EXPECT_EQ(xfer(fd, UB_XFER_PUT, self->gva, &v, 8, 0, 0), -EACCES);
	EXPECT_EQ(xfer(fd, UB_XFER_GET, self->gva, &v, 8, 0, 0), -EACCES);
	EXPECT_EQ(xfer(fd, UB_XFER_FETCH_ADD, self->gva, &v, 8, 1, 0), 0);
	close(fd);
	/* The last byte of an odd length is the last. */
	ASSERT_EQ(win_create(self->home, 13, RW, &w), 0);
	EXPECT_EQ(xfer(self->home, UB_XFER_PUT, w.out_desc.gva + 12, &v, 1, 0, 0), 0);
	EXPECT_EQ(xfer(self->home, UB_XFER_PUT, w.out_desc.gva + 12, &v, 2, 0, 0),
		  -EOVERFLOW);
	EXPECT_EQ(xfer(self->home, UB_XFER_PUT, w.out_desc.gva + 13, &v, 1, 0, 0),
		  -ENOENT);
}

/* Local memory may be a window itself, even the same one: faults are taken. */
TEST_F(xfer, local_side_is_a_window)
{
	unsigned char *p = win_map(self->peer, self->gva, LEN, PROT_READ | PROT_WRITE);

	ASSERT_NE(p, MAP_FAILED);
	memset(self->h, 0x3c, UNIT);
	/* Fresh pages of the own mapping as destination, then as source. */
	EXPECT_EQ(xfer(self->peer, UB_XFER_GET, self->gva, p + 2 * UNIT, UNIT, 0, 0), 0);
	EXPECT_EQ(self->h[3 * UNIT - 1], 0x3c);
	EXPECT_EQ(xfer(self->peer, UB_XFER_PUT, self->gva + 3 * UNIT,
		       p + UNIT / 2, UNIT, 0, 0), 0);
	EXPECT_EQ(self->h[3 * UNIT], 0x3c);
	/* Source and target overlap, as with memmove. */
	EXPECT_EQ(xfer(self->peer, UB_XFER_PUT, self->gva + 8, p, 4096, 0, 0), 0);
	/* A mapping that is revoked is no memory any more. */
	ASSERT_EQ(win_detach(self->peer, self->gva), 0);
	ASSERT_EQ(win_attach(self->peer, &self->w, UB_WIN_RIGHTS), 0);
	munmap(p, LEN);
	EXPECT_EQ(xfer(self->peer, UB_XFER_PUT, self->gva, p, 64, 0, 0), -EFAULT);
}

TEST_F(xfer, fence_and_sync)
{
	struct ub_range r = ARG(ub_range);

	EXPECT_EQ(call(self->peer, UB_IOC_FENCE, &r), 0);
	r = ARG(ub_range, .gva = self->gva, .length = LEN);
	EXPECT_EQ(call(self->peer, UB_IOC_SYNC, &r), 0);
	r.length = LEN + 1;
	EXPECT_NE(call(self->peer, UB_IOC_SYNC, &r), 0);
	r.length = ~0ULL;
	EXPECT_NE(call(self->peer, UB_IOC_SYNC, &r), 0);
	r = ARG(ub_range, .gva = 1, .length = 1);
	EXPECT_NE(call(self->peer, UB_IOC_SYNC, &r), 0);
}

TEST_F(xfer, dead_home)
{
	__u64 start, v;
	int ret;

	ASSERT_EQ(test_op(self->home, UB_TEST_KILL, 0, 0, NULL), 0);
	EXPECT_EQ(xfer(self->home, UB_XFER_GET, self->gva, &v, 8, 0, 0), -ESHUTDOWN);
	start = now();
	do {
		ret = xfer(self->peer, UB_XFER_FETCH_ADD, self->gva, &v, 8, 1, 0);
	} while (!ret && now() - start < 9 * detect_ms() * MS);
	EXPECT_EQ(ret, -EOWNERDEAD);
	EXPECT_LT(now() - start, 3 * detect_ms() * MS);
	EXPECT_EQ(xfer(self->peer, UB_XFER_GET, self->gva, &v, 8, 0, 0), -EOWNERDEAD);
	EXPECT_EQ(xfer(self->peer, UB_XFER_PUT, self->gva, &v, 8, 0, 0), -EOWNERDEAD);
	EXPECT_EQ(win_detach(self->peer, self->gva), 0);
	EXPECT_EQ(xfer(self->peer, UB_XFER_GET, self->gva, &v, 8, 0, 0), -ENOENT);
	EXPECT_EQ(heal(), 0);
}

/* ---- exact sums ---- */

#define TIMES	20000

struct adder {
	__u64 gva;
	__u64 *word;
};

static int step_add_call(struct member *m)
{
	static __thread struct ub_xfer_op_desc d[100];
	struct adder *a = m->ctx;
	__u32 i, done;
	int ret = 0;

	for (i = 0; i < 100; i++)
		d[i] = (struct ub_xfer_op_desc){
			.op = UB_XFER_FETCH_ADD, .gva = a->gva, .length = 8,
			.operand = 1 };
	for (i = 0; i < TIMES / 100 && !ret; i++)
		ret = vector(m->fd, d, 100, &done) ?: done == 100 ? 0 : -EIO;
	return ret;
}

static int step_add_cas(struct member *m)
{
	struct adder *a = m->ctx;
	__u64 old = 0, seen;
	__u32 i;
	int ret;

	for (i = 0; i < TIMES / 10; i++) {
		for (;;) {
			ret = xfer(m->fd, UB_XFER_COMPARE_SWAP, a->gva, &seen, 8,
				   old + 10, old);
			if (ret)
				return ret;
			if (seen == old)
				break;
			old = seen;
		}
	}
	return 0;
}

static int step_add_kernel(struct member *m)
{
	struct adder *a = m->ctx;

	return test_op(m->fd, UB_TEST_ATOMIC_ADD, TIMES, a->gva, NULL);
}

static int step_add_user(struct member *m)
{
	struct adder *a = m->ctx;
	int i;

	for (i = 0; i < TIMES; i++)
		__atomic_fetch_add(a->word, 1, __ATOMIC_SEQ_CST);
	return 0;
}

TEST_F(xfer, exact_sums)
{
	static int (* const step[])(struct member *) = {
		step_add_call, step_add_cas, step_add_kernel, step_add_user,
	};
	enum { N = NODES * COUNT(step) };
	struct adder a = { .gva = self->gva + 128, .word = (void *)(self->h + 128) };
	struct member m[N] = { 0 };
	int i;

	for (i = 0; i < N; i++) {
		m[i].fd = open_node(i % NODES);
		ASSERT_GE(m[i].fd, 0);
		ASSERT_EQ(win_attach(m[i].fd, &self->w, UB_WIN_RIGHTS), 0);
		m[i].ctx = &a;
	}
	for (i = 0; i < N; i++)
		member_start(&m[i], step[i / NODES]);
	for (i = 0; i < N; i++)
		EXPECT_EQ(member_join(&m[i]), 0);
	EXPECT_EQ(LD(a.word), (__u64)N * TIMES);
	world_close(m, N);
}

TEST_HARNESS_MAIN
