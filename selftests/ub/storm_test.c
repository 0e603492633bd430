// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that call everything with arguments that are half right, while
 * nodes die, stand still and come back. Any answer will do; afterwards all of
 * the memory is free again, a world meets, and the kernel has not complained.
 *
 * UB_STORM_SECONDS (default 10), UB_STORM_SEED: the seed is printed.
 */
#include "util.h"

#define THREADS	6
#define WINS	8

/* What threads tell each other, without locks: old and torn values are fine. */
struct pool {
	struct ub_win_create win[WINS];
	__u64 key[2];
	__u64 end;
	int fd[NODES];
};

/* A number of the kind that finds bugs. */
static __u64 number(__u64 *r)
{
	static const __u64 odd[] = { 0, 1, 7, 8, PAGE - 1, PAGE, UNIT, UNIT + 1,
				     1ULL << 31, 1ULL << 32, 1ULL << 42,
				     1ULL << 43, 1ULL << 62, 1ULL << 63, ~0ULL };

	switch (roll(r) % 4) {
	case 0:
		return odd[roll(r) % COUNT(odd)];
	case 1:
		return roll(r);
	default:
		return roll(r) % 5;
	}
}

/* By memcpy(): else the compiler goes on with what a field was before. */
static void spoil(void *arg, unsigned int word, __u32 value)
{
	memcpy((__u32 *)arg + word, &value, sizeof(value));
}

static __u64 some_gva(struct pool *p, __u64 *r)
{
	__u64 gva = p->win[roll(r) % WINS].out_desc.gva;

	return roll(r) % 4 ? gva + roll(r) % 3 * PAGE : gva + number(r);
}

static void do_window(struct pool *p, __u64 *r, int fd)
{
	struct ub_win_create c = p->win[roll(r) % WINS];
	struct ub_win_id id;

	switch (roll(r) % 6) {
	case 0:
		if (!win_create(fd, roll(r) % 8 ? 1 + roll(r) % (4 * UNIT) : number(r),
				1 + roll(r) % 7, &c))
			p->win[roll(r) % WINS] = c;
		break;
	case 1:
		win_destroy(fd, roll(r) % 64);
		break;
	case 2:
		if (!win_rotate(fd, c.out_desc.window, &id)) {
			c.out_desc.generation = id.out_generation;
			memcpy(c.out_token, id.out_token, sizeof(c.out_token));
			p->win[roll(r) % WINS] = c;
		}
		break;
	case 3:
		win_detach(fd, some_gva(p, r));
		break;
	default:
		if (roll(r) % 8 == 0)
			spoil(&c.out_desc, roll(r) % 16, number(r));
		win_attach(fd, &c, 1 + roll(r) % 7);
	}
}

static void do_xfer(struct pool *p, __u64 *r, int fd)
{
	static __thread char buf[2 * UNIT];
	struct ub_xfer_op_desc d[8];
	struct ub_xfer x = ARG(ub_xfer, .ops = PTR(d), .nops = 1 + roll(r) % 8);
	int i;

	for (i = 0; i < 8; i++)
		d[i] = (struct ub_xfer_op_desc){
			.op = roll(r) % (UB_XFER_OPS + 1), .gva = some_gva(p, r),
			.addr = roll(r) % 8 ? PTR(buf) + roll(r) % 64 : number(r),
			.length = roll(r) % 3 ? 8 : roll(r) % 3 ? roll(r) % UNIT : number(r),
			.operand = number(r), .compare = number(r) };
	call(fd, UB_IOC_XFER, &x);
}

static void do_map(struct pool *p, __u64 *r, int fd, struct member *m)
{
	__u64 off = roll(r) % 3 ? some_gva(p, r) : m->gc.out_offset;
	size_t len = PAGE * (1 + roll(r) % 40);
	unsigned char *q = win_map(fd, off & ~(PAGE - 1), len,
				   PROT_READ | (roll(r) % 2 ? PROT_WRITE : 0));
	int fds[2];
	int i;

	if (q == MAP_FAILED)
		return;
	/* By system calls: no signal, whatever is there. */
	if (!pipe(fds)) {
		for (i = 0; i < 4; i++) {
			if (write(fds[1], q + roll(r) % len, 1) == 1 &&
			    read(fds[0], q + roll(r) % len, 1) < 0)
				break;
		}
		close(fds[0]);
		close(fds[1]);
	}
	munmap(q, len);
}

static void do_group(struct pool *p, __u64 *r, int fd, struct member *m)
{
	static __u32 members[4] = { 0, 1, 2, 3 };
	struct ub_group_id id = ARG(ub_group_id, .group = roll(r) % 6);
	struct ub_group_create gc;
	__u64 key[2] = { p->key[0], roll(r) % 4 };

	switch (roll(r) % 8) {
	case 0:
		gc = world_arg(key, 1 + roll(r) % 3, roll(r) % 3, roll(r) % 20);
		break;
	case 1:
		gc = ARG(ub_group_create, .key = { 1, 1 }, .timeout = in_ms(roll(r) % 20),
			 .parent = roll(r) % 6, .nmembers = 1 + roll(r) % 4,
			 .index = roll(r) % 3, .members = PTR(members));
		break;
	case 2:
		m->shrink = ARG(ub_group_shrink, .group = roll(r) % 6,
				.timeout = in_ms(roll(r) % 20));
		call(fd, UB_IOC_GROUP_SHRINK, &m->shrink);
		return;
	case 3:
		call(fd, UB_IOC_GROUP_DESTROY, &id);
		return;
	case 4:
		call(fd, UB_IOC_KICK, &id);
		return;
	default:
		m->bar = ARG(ub_barrier, .group = roll(r) % 6, .op = roll(r) % 10,
			     .flags = roll(r) % 32, .timeout = in_ms(roll(r) % 10));
		call(fd, UB_IOC_BARRIER, &m->bar);
		return;
	}
	if (roll(r) % 16 == 0)
		spoil(&gc, 2 + roll(r) % 20, number(r));
	/* no wait without an end: nobody else may ever come */
	if (gc.timeout > in_ms(50))
		gc.timeout = in_ms(20);
	if (!call(fd, UB_IOC_GROUP_CREATE, &gc))
		m->gc = gc;
}

static int step_storm(struct member *m)
{
	struct pool *p = m->ctx;
	__u64 r = m->took;
	struct ub_event ev;
	int fd;

	while (now() < p->end) {
		fd = LD(&p->fd[roll(&r) % NODES]);
		switch (roll(&r) % 16) {
		case 0 ... 3:
			do_window(p, &r, fd);
			break;
		case 4 ... 6:
			do_xfer(p, &r, fd);
			break;
		case 7 ... 8:
			do_map(p, &r, fd, m);
			break;
		case 9 ... 14:
			do_group(p, &r, fd, m);
			break;
		default:
			if (read(fd, &ev, sizeof(ev)) < 0)
				sched_yield();
		}
	}
	return 0;
}

static int open_quiet(int node)
{
	int fd = open_node(node);

	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

/* One node after the other: dies, stands still, or all its files close. */
static int step_weather(struct member *m)
{
	struct pool *p = m->ctx;
	__u64 r = m->took;
	int node, admin, old;

	while (now() < p->end) {
		node = roll(&r) % NODES;
		admin = open_node(node);
		switch (roll(&r) % 4) {
		case 0:
			test_op(admin, UB_TEST_KILL, 0, 0, NULL);
			sleep_ms(roll(&r) % 2 ? roll(&r) % 50 : 2 * detect_ms());
			test_op(admin, UB_TEST_REJOIN, 0, 0, NULL);
			break;
		case 1:
			test_op(admin, UB_TEST_PAUSE, 0, 0, NULL);
			sleep_ms(roll(&r) % 2 ? roll(&r) % 50 : 2 * detect_ms());
			test_op(admin, UB_TEST_RESUME, 0, 0, NULL);
			sleep_ms(100);
			test_op(admin, UB_TEST_REJOIN, 0, 0, NULL);
			break;
		case 2:
			test_op(admin, UB_TEST_FENCE, roll(&r) % NODES, 0, NULL);
			sleep_ms(roll(&r) % 100);
			test_op(admin, UB_TEST_REJOIN, 0, 0, NULL);
			break;
		default:
			sleep_ms(roll(&r) % 100);
		}
		close(admin);
		old = p->fd[node];
		ST(&p->fd[node], open_quiet(node));
		close(old);
	}
	return 0;
}

static unsigned int number_of(const char *name, unsigned int otherwise)
{
	const char *s = getenv(name);

	return s ? strtoul(s, NULL, 0) : otherwise;
}

FIXTURE(storm) {
	struct pool pool;
};

FIXTURE_SETUP(storm)
{
	ASSERT_EQ(heal(), 0);
}

FIXTURE_TEARDOWN(storm)
{
}

TEST_F(storm, everything_at_once)
{
	unsigned int seed = number_of("UB_STORM_SEED", now() & 0xffffffff);
	struct member m[THREADS] = { 0 }, w[NODES];
	struct pool *p = &self->pool;
	int i, fd;
	__u64 end;

	TH_LOG("seed %u", seed);
	fresh_key(p->key);
	p->end = in_ms(1000 * number_of("UB_STORM_SECONDS", 10));
	for (i = 0; i < NODES; i++)
		p->fd[i] = open_quiet(i);
	for (i = 0; i < THREADS; i++) {
		m[i].ctx = p;
		m[i].took = (__u64)seed * 977 + i + 1;
		member_start(&m[i], i ? step_storm : step_weather);
	}
	for (i = 0; i < THREADS; i++)
		EXPECT_EQ(member_join(&m[i]), 0);
	for (i = 0; i < NODES; i++)
		close(p->fd[i]);

	ASSERT_EQ(heal(), 0);
	ASSERT_EQ(world_open(w, NODES, NODES), 0);
	for (i = 0; i < 100; i++)
		ASSERT_EQ(members_run(w, NODES, step_barrier), 0);
	world_close(w, NODES);
	for (i = 0; i < NODES; i++) {
		fd = open_node(i);
		end = in_ms(5000);
		while (info_of(fd).out_free != info_of(fd).out_slice && now() < end)
			sleep_ms(10);
		EXPECT_EQ(info_of(fd).out_free, info_of(fd).out_slice);
		close(fd);
	}
}

TEST_HARNESS_MAIN
