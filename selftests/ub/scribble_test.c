// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process that spoils what it may write: the pages of its own group, the
 * windows it attached. Its group may get any answer, in time. A group beside it,
 * on the same nodes, stays correct all the while, and nothing is left behind.
 *
 * UB_HOSTILE_SECONDS (60, with UB_LONG 600), UB_HOSTILE_SEED: the seed is printed.
 */
#include <stddef.h>
#include "util.h"

#define SPOILT	3	/* members: two honest ones, the last is the scribbler */
#define LATE_MS	8000	/* of a call, where others have the CPUs */

/* What the processes of a storm share. */
struct storm {
	__u64 key[2];
	__u64 seed;
	__u32 stop;
	__u32 up;
	__u64 writes;
	__u64 most;		/* ns of an honest call */
	struct ub_win_create w[SPOILT];
};

static unsigned int env_number(const char *name, unsigned int otherwise)
{
	const char *s = getenv(name);

	return s ? strtoul(s, NULL, 0) : otherwise;
}

/* ---- the scribbler ---- */

static __u64 bad_word(__u64 *r, __u64 is)
{
	static const __u64 odd[] = { 0, 1, ~0ULL, UB_ARR_FENCED, UB_ARR_SHRINKING,
				     UB_ARR_FINAL, UB_EPOCH_MAX, UB_VERDICT_VALID,
				     UB_VERDICT(~0U, 0xffff), UB_DRIVER_KERNEL,
				     UB_DRIVER_USER, 1ULL << 32, 0xffff };

	switch (roll(r) % 5) {
	case 0:
		return odd[roll(r) % COUNT(odd)];
	case 1:
		return roll(r);
	case 2:
		return is ^ 1ULL << roll(r) % 64;
	default:
		return is + roll(r) % 5 - 2;
	}
}

static void spoil(struct storm *st, __u64 *r, unsigned char *p, size_t size)
{
	__u64 *w = (__u64 *)p + roll(r) % (size / 8), is = LD(w);
	int i;

	/* Mostly what all look at: the head and the members' lines. */
	if (size > 2 * PAGE && roll(r) % 2) {
		w = (__u64 *)p + (roll(r) % 3 ? PAGE / 8 + roll(r) % (SPOILT * 8) :
					       roll(r) % 2);
		is = LD(w);
	}
	if (roll(r) % 8 == 0) {
		for (i = 0; i < 500; i++) {
			ST(w, bad_word(r, is));
			ST(w, is);
		}
	} else {
		ST(w, bad_word(r, is));
	}
	ST(&st->writes, st->writes + 1);
}

/* Calls on its group, at the same time. */
static int step_calls(struct member *m)
{
	struct storm *st = m->ctx;
	__u64 r = st->seed + 77;
	struct ub_group_id id = ARG(ub_group_id, .group = m->group);

	while (!LD(&st->stop)) {
		barrier(m, roll(&r) % 32, roll(&r) % UB_RED_OPS, roll(&r), in_ms(5));
		call(m->fd, UB_IOC_KICK, &id);
	}
	return 0;
}

static int scribbler(void *ctx)
{
	struct storm *st = ctx;
	__u64 r = st->seed;
	struct member m = { .fd = open_node(2), .index = SPOILT - 1, .ctx = st };
	unsigned char *pages, *win[SPOILT];
	int i;

	m.gc = world_arg(st->key, SPOILT, SPOILT - 1, 10000);
	if (m.fd < 0 || win_create(m.fd, UNIT, RW, &st->w[SPOILT - 1]) ||
	    step_create(&m) || step_barrier(&m))
		return 1;
	pages = win_map(m.fd, m.gc.out_offset, m.gc.out_map_size, PROT_READ | PROT_WRITE);
	if (pages == MAP_FAILED)
		return 2;
	for (i = 0; i < SPOILT; i++) {
		if (i < SPOILT - 1 && win_attach(m.fd, &st->w[i], RW))
			return 3;
		win[i] = win_map(m.fd, st->w[i].out_desc.gva, UNIT, PROT_READ | PROT_WRITE);
		if (win[i] == MAP_FAILED)
			return 4;
	}
	set_word(&st->up);
	member_start(&m, step_calls);
	while (!LD(&st->stop)) {
		/* The honest ones make new windows meanwhile: SIGBUS is an end, too. */
		if (roll(&r) % 4)
			spoil(st, &r, pages, m.gc.out_map_size);
		else
			ST(&win[roll(&r) % SPOILT][roll(&r) % UNIT], roll(&r));
		if (roll(&r) % 64 == 0)
			usleep(roll(&r) % 3000);
	}
	return member_join(&m);
}

/* ---- the honest members of its group ---- */

static int timed(struct storm *st, int ret, __u64 start)
{
	__u64 took = now() - start;

	if (took > LD(&st->most))
		ST(&st->most, took);
	return ret;
}

#define TIMED(st, expr) ({ __u64 __t = now(); timed(st, expr, __t); })

/* Whatever these return; they shall return. */
static void honest_calls(struct storm *st, struct member *m, int i)
{
	__u32 members[2] = { 0, 1 };
	struct member c = { .fd = m->fd };
	__u64 v = i;

	TIMED(st, barrier(m, AW, UB_RED_SUM, i, in_ms(50)));
	TIMED(st, barrier(m, AW | UB_BARRIER_SLEEP, UB_RED_NONE, i, in_ms(50)));
	TIMED(st, barrier(m, UB_BARRIER_WAIT | UB_BARRIER_HANDOVER, 0, 0, in_ms(20)));
	TIMED(st, xfer(m->fd, UB_XFER_PUT, st->w[i].out_desc.gva, &v, 8, 0, 0));
	c.gc = ARG(ub_group_create, .key = { 1, 1 }, .timeout = in_ms(50),
		   .parent = m->group, .nmembers = 2, .members = PTR(members), .index = i,
		   .level = "child");
	TIMED(st, step_create(&c));
	if (c.group)
		TIMED(st, group_destroy(c.fd, c.group));
	m->shrink = ARG(ub_group_shrink, .group = m->group, .timeout = in_ms(50));
	TIMED(st, call(m->fd, UB_IOC_GROUP_SHRINK, &m->shrink));
	if (m->shrink.out_group)
		TIMED(st, group_destroy(m->fd, m->shrink.out_group));
}

static int step_honest(struct member *m)
{
	struct storm *st = m->ctx;
	int ret = win_create(m->fd, UNIT, RW, &st->w[m->index]);

	ret = ret ? : step_create(m);
	ret = ret ? : step_barrier(m);
	if (ret)
		return ret;
	while (!LD(&st->stop))
		honest_calls(st, m, m->index);
	return 0;
}

/* ---- the group beside it ---- */

struct beside {
	struct storm *st;
	struct ub_win_create *w;
	__u64 rounds;
};

static int step_beside(struct member *m)
{
	struct beside *b = m->ctx;
	int next = (m->index + 1) % m->n, prev = (m->index + m->n - 1) % m->n, ret;
	__u64 n = m->n, v, got, i, stop;

	ret = win_attach(m->fd, &b->w[next], RW);
	for (i = 0; !ret; i++) {
		stop = LD(&b->st->stop) ? 1000 : 0;
		ret = barrier(m, AW, UB_RED_SUM, m->index + stop, in_ms(20000));
		if (!ret && m->bar.value % 1000 != n * (n - 1) / 2)
			return -EILSEQ;
		if (ret || m->bar.value >= 1000)
			break;
		v = i << 8 | m->index;
		ret = xfer(m->fd, UB_XFER_PUT, b->w[next].out_desc.gva + 8 * m->index, &v,
			   8, 0, 0);
		ret = ret ? : step_barrier(m);
		ret = ret ? : xfer(m->fd, UB_XFER_GET, b->w[m->index].out_desc.gva +
				   8 * prev, &got, 8, 0, 0);
		if (!ret && got != (i << 8 | prev))
			return -EBADMSG;
	}
	b->rounds = i;
	return ret;
}

FIXTURE(scribble) {
	struct member m[NODES];
	struct ub_win_create w[NODES];
	struct storm *st;
};

FIXTURE_SETUP(scribble)
{
	self->st = shared_page();
	ASSERT_EQ(heal(), 0);
	fresh_key(self->st->key);
}

FIXTURE_TEARDOWN(scribble)
{
}

TEST_F_TIMEOUT(scribble, a_group_beside_stays_correct, 1200)
{
	unsigned int seconds = env_number("UB_HOSTILE_SECONDS", getenv("UB_LONG") ? 600 : 60), i;
	struct member *m = self->m, h[SPOILT - 1] = { 0 };
	struct storm *st = self->st;
	struct beside b[NODES];
	__u64 end;
	pid_t pid;
	int fd;

	st->seed = env_number("UB_HOSTILE_SEED", now() & 0xffffff);
	TH_LOG("seed %llu", st->seed);
	ASSERT_EQ(world_open(m, NODES, NODES), 0);
	for (i = 0; i < NODES; i++) {
		ASSERT_EQ(win_create(m[i].fd, UNIT, RW, &self->w[i]), 0);
		b[i] = (struct beside){ .st = st, .w = self->w };
		m[i].ctx = &b[i];
	}
	pid = spawn(scribbler, st);
	for (i = 0; i < SPOILT - 1; i++) {
		h[i].fd = open_node(i);
		h[i].index = i;
		h[i].ctx = st;
		h[i].gc = world_arg(st->key, SPOILT, i, 10000);
		member_start(&h[i], step_honest);
	}
	for (i = 0; i < NODES; i++)
		member_start(&m[i], step_beside);
	EXPECT_TRUE(wait_word(&st->up, 20000));
	for (end = in_ms(1000 * seconds); now() < end; )
		sleep_ms(50);
	set_word(&st->stop);
	for (i = 0; i < NODES; i++)
		EXPECT_EQ(member_join(&m[i]), 0) TH_LOG("bystander %d", i);
	for (i = 0; i < SPOILT - 1; i++)
		EXPECT_EQ(member_join(&h[i]), 0);
	EXPECT_EQ(reap(pid), 0);
	TH_LOG("%llu words spoilt, %llu rounds beside, longest call %llu ms", st->writes,
	       b[0].rounds, st->most / MS);
	EXPECT_GT(b[0].rounds, 3);
	EXPECT_GT(st->writes, 1000);
	EXPECT_LT(st->most, (LATE_MS + 12 * detect_ms()) * MS);
	for (i = 0; i < SPOILT - 1; i++)
		close(h[i].fd);
	world_close(m, NODES);
	/* Nothing is kept. */
	for (i = 0; i < NODES; i++) {
		fd = open_node(i);
		end = in_ms(5000);
		while (info_of(fd).out_free != info_of(fd).out_slice && now() < end)
			sleep_ms(10);
		EXPECT_EQ(info_of(fd).out_free, info_of(fd).out_slice);
		close(fd);
	}
}

/* ---- words that never stay what they were made ---- */

struct keeper {
	__u64 *word;
	__u64 value;
	__u32 stop;
};

static void *keep(void *arg)
{
	struct keeper *k = arg;

	while (!LD(&k->stop))
		ST(k->word, k->value);
	return NULL;
}

/*
 * Who shrinks waits until every word is final, and fences those that are not: a
 * member that takes its fence back again and again is waited for a bounded time.
 */
static int step_shrink_soon(struct member *m)
{
	m->shrink = ARG(ub_group_shrink, .group = m->group, .timeout = in_ms(100));
	return call(m->fd, UB_IOC_GROUP_SHRINK, &m->shrink);
}

TEST_F_TIMEOUT(scribble, shrink_among_words_that_change_back, 120)
{
	struct member *m = self->m;
	struct ub_member_line *line;
	struct keeper k;
	unsigned char *p;
	int try, ret, held = 0;
	pthread_t t;
	__u64 start;

	/* The fence may be seen before it is taken back: some tries. */
	for (try = 0; try < 5; try++) {
		ASSERT_EQ(world_open(m, 3, NODES), 0);
		p = win_map(m[1].fd, m[1].gc.out_offset, m[1].gc.out_map_size,
			    PROT_READ | PROT_WRITE);
		ASSERT_NE(p, MAP_FAILED);
		line = (void *)(p + ub_group_lines_off());
		close(m[2].fd);
		m[2].fd = -1;
		EXPECT_EQ(step_barrier(&m[0]), -EOWNERDEAD);
		k = (struct keeper){ .word = &line[1].arrival,
				     .value = line[1].arrival & UB_EPOCH_MAX };
		ASSERT_EQ(pthread_create(&t, NULL, keep, &k), 0);
		start = now();
		alarm(60);
		ret = step_shrink_soon(&m[0]);
		alarm(0);
		held += ret == -ETIMEDOUT;
		EXPECT_LT(now() - start, (LATE_MS + 12 * detect_ms()) * MS);
		ST(&k.stop, 1);
		pthread_join(t, NULL);
		world_close(m, 3);
	}
	TH_LOG("%d of %d found no end", held, try);
}

/* One word, one value: every call on the group ends. */
TEST_F_TIMEOUT(scribble, each_word, 120)
{
	static const __u64 values[] = { ~0ULL, UB_ARR_FENCED, UB_ARR_SHRINKING | 5,
		UB_EPOCH_MAX, UB_VERDICT(~0U, 0xffff), UB_VERDICT(2, 0), 2, 0 };
	const size_t line = ub_group_lines_off();
	const size_t words[] = {
		offsetof(struct ub_group_head, verdict), offsetof(struct ub_group_head, hint),
		line + offsetof(struct ub_member_line, arrival),
		line + offsetof(struct ub_member_line, sleeping),
		line + offsetof(struct ub_member_line, driver),
		line + offsetof(struct ub_member_line, contrib[0].aux),
		line + 64 + offsetof(struct ub_member_line, arrival),
		line + 64 + offsetof(struct ub_member_line, reason),
		ub_group_flags_off(64), ub_group_flags_off(64) + 32,
	};
	struct member *m = self->m;
	struct ub_group_id id;
	unsigned char *p;
	size_t i, k;
	__u64 start;

	for (i = 0; i < COUNT(words); i++)
		for (k = 0; k < COUNT(values); k++) {
			ASSERT_EQ(world_open(m, 2, NODES), 0);
			p = win_map(m[1].fd, m[1].gc.out_offset, m[1].gc.out_map_size,
				    PROT_READ | PROT_WRITE);
			ASSERT_NE(p, MAP_FAILED);
			ST((__u64 *)(p + words[i]), values[k]);
			start = now();
			barrier(&m[0], AW, UB_RED_SUM, 1, in_ms(10));
			barrier(&m[1], AW | UB_BARRIER_SLEEP, UB_RED_SUM, 1, in_ms(10));
			barrier(&m[0], UB_BARRIER_TEST, 0, 0, 0);
			id = ARG(ub_group_id, .group = m[0].group);
			call(m[0].fd, UB_IOC_KICK, &id);
			m[0].shrink = ARG(ub_group_shrink, .group = m[0].group,
					  .timeout = in_ms(10));
			call(m[0].fd, UB_IOC_GROUP_SHRINK, &m[0].shrink);
			EXPECT_EQ(group_destroy(m[0].fd, m[0].group), 0);
			EXPECT_LT(now() - start, (LATE_MS + 12 * detect_ms()) * MS)
				TH_LOG("word at %zu, value %llx", words[i], values[k]);
			munmap(p, m[1].gc.out_map_size);
			world_close(m, 2);
		}
}

TEST_HARNESS_MAIN
