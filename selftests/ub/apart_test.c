// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups of nodes that share no memory: one process on each of several nodes, a
 * world of them all, children of it, barriers with all reductions, in two phases,
 * that time out, mailboxes. On ivshmem it passes, too.
 *
 *	apart_test		all of it; member 0 prints KTAP
 *	apart_test until-lost	barriers until somebody is lost; prints who
 *	apart_test taken	all come as member 0: nobody gets a world
 *
 * UB_RANK, UB_SIZE, UB_JOB: who this is, of how many, in which job, as the rig sets
 * them. UB_DEVICE: the device (default /dev/ubfab0).
 */
#define UB_NO_HARNESS
#include "util.h"

#define ROUNDS	2000

static struct ub_info info;
static struct ub_mailbox *mail;

static void job_key(__u64 key[2], __u64 what)
{
	const char *job = getenv("UB_JOB");

	key[0] = 0x6170617274ULL + what;
	key[1] = 0xcbf29ce484222325ULL;
	for (; job && *job; job++)
		key[1] = (key[1] ^ (unsigned char)*job) * 0x100000001b3ULL;
}

static int world(struct member *m, __u64 what, unsigned int ms)
{
	__u64 key[2];

	job_key(key, what);
	m->gc = world_arg(key, m->n, m->index, ms);
	return step_create(m);
}

/* The worst of all members' results: nobody passes what another failed. */
static int agree(struct member *m, int ret)
{
	int err = barrier(m, AW, UB_RED_MIN_S64, ret > 0 ? -ret : ret, in_ms(120000));

	return err ? err : (int)m->bar.value;
}

static __u64 operand(int member, int round)
{
	return ((__u64)member + 3) * 0x9e3779b97f4a7c15ULL ^ (__u64)round << 40 ^ round;
}

static __u64 expected(__u32 op, int n, int round)
{
	__u64 v = operand(0, round), x;
	int i;

	for (i = 1; i < n; i++) {
		x = operand(i, round);
		switch (op) {
		case UB_RED_SUM:
			v += x;
			break;
		case UB_RED_XOR:
			v ^= x;
			break;
		case UB_RED_AND:
			v &= x;
			break;
		case UB_RED_OR:
			v |= x;
			break;
		case UB_RED_MIN_U64:
			v = x < v ? x : v;
			break;
		case UB_RED_MAX_U64:
			v = x > v ? x : v;
			break;
		case UB_RED_MIN_S64:
			v = (__s64)x < (__s64)v ? x : v;
			break;
		case UB_RED_MAX_S64:
			v = (__s64)x > (__s64)v ? x : v;
			break;
		}
	}
	return v;
}

/* In one call, in two, and looking in between. */
static int one(struct member *m, __u32 op, __u64 value, int round)
{
	int ret;

	if (round % 3 == 0)
		return barrier(m, AW, op, value, in_ms(60000));
	ret = barrier(m, UB_BARRIER_ARRIVE, op, value, 0);
	if (!ret && round % 3 == 1)
		return barrier(m, UB_BARRIER_WAIT, 0, 0, in_ms(60000));
	do {
		if (!ret)
			ret = barrier(m, UB_BARRIER_TEST, 0, 0, 0);
	} while (ret == -EAGAIN && (ret = 0, sched_yield(), 1));
	return ret;
}

static int rounds(struct member *m, int count)
{
	__u64 epoch = m->gc.out_epoch;
	int i, ret;

	for (i = 0; i < count; i++) {
		__u32 op = 1 + i % (UB_RED_OPS - 1);

		ret = one(m, op, operand(m->index, i), i);
		if (ret)
			return ret;
		if (m->bar.value != expected(op, m->n, i) || m->bar.out_epoch != ++epoch) {
			fprintf(stderr, "# round %d, operation %u: %#llx, not %#llx; epoch %llu, not %llu\n",
				i, op, (unsigned long long)m->bar.value,
				(unsigned long long)expected(op, m->n, i),
				(unsigned long long)m->bar.out_epoch,
				(unsigned long long)epoch);
			return -EIO;
		}
	}
	return 0;
}

static int barriers(struct member *m)
{
	__u64 start = now();
	int ret = rounds(m, ROUNDS);

	if (!ret && !m->index)
		ksft_print_msg("%llu us a barrier\n", (now() - start) / 1000 / ROUNDS);
	m->gc.out_epoch = m->bar.out_epoch;
	return ret;
}

/* Nobody's mail is missing or old, whoever is fast. */
static int mailboxes(struct member *m)
{
	int i, j, ret, bad = 0;

	for (i = 0; i < 300; i++) {
		__u64 *own = (__u64 *)mail[m->index].slot[i & 1];

		for (j = 0; j < UB_MAILBOX_BYTES / 8; j++)
			ST(&own[j], operand(m->index, i * 16 + j));
		ret = barrier(m, AW, UB_RED_NONE, 0, in_ms(60000));
		if (ret)
			return ret;
		for (j = 0; j < m->n * UB_MAILBOX_BYTES / 8; j++) {
			int from = j / (UB_MAILBOX_BYTES / 8), w = j % (UB_MAILBOX_BYTES / 8);

			bad += LD((__u64 *)mail[from].slot[i & 1] + w) !=
			       operand(from, i * 16 + w);
		}
	}
	return bad ? -EIO : 0;
}

/* The last comes late: the time-out names it, and nothing is lost. */
static int timeout_names(struct member *m)
{
	int last = m->n - 1, ret;

	if (m->index == last) {
		sleep_ms(1500);
		return barrier(m, AW, UB_RED_SUM, 1, in_ms(60000));
	}
	ret = barrier(m, AW, UB_RED_SUM, 1, in_ms(200));
	if (ret != -ETIMEDOUT)
		return ret ? ret : -EIO;
	if (m->bar.out_lost.member != (__u32)last || m->bar.out_lost.reason)
		return -EBADMSG;
	ret = barrier(m, UB_BARRIER_WAIT, 0, 0, in_ms(60000));
	return ret ? ret : m->bar.value == (__u64)m->n ? 0 : -EIO;
}

static int mixed(struct member *m)
{
	int ret = barrier(m, AW, m->index ? UB_RED_SUM : UB_RED_XOR, 1, in_ms(60000));

	return ret == -EINVAL ? 0 : ret ? ret : -EIO;
}

/* A child of some members; who is not in it goes on. */
static int child(struct member *m, int first, int n, __u64 key, int count)
{
	struct member c = { .fd = m->fd, .n = n, .index = m->index - first };
	__u32 who[64];
	int i, ret;

	if (m->index < first || m->index >= first + n)
		return 0;
	for (i = 0; i < n; i++)
		who[i] = first + i;
	c.gc = ARG(ub_group_create, .parent = m->group, .nmembers = n,
		   .members = PTR(who), .index = c.index, .key = { key, 1 },
		   .timeout = in_ms(60000), .level = "board");
	ret = step_create(&c);
	if (!ret)
		ret = rounds(&c, count);
	if (!ret)
		ret = barrier(&c, AW, UB_RED_NONE, 0, in_ms(60000));
	if (c.group)
		group_destroy(m->fd, c.group);
	return ret;
}

static int children(struct member *m)
{
	int ret = child(m, 0, 2, 1, 200);

	return ret ? ret : child(m, 1, m->n - 1, 2, 200);
}

/* The same id again and again: each life is another. */
static int again(struct member *m)
{
	int i, ret = 0;

	for (i = 0; i < 40 && !ret; i++)
		ret = child(m, 0, m->n, 3, i % 3);
	return ret;
}

/* More worlds at once than one, and they end in another order. */
static int worlds(struct member *m)
{
	struct member w[5];
	int i, ret = 0;

	for (i = 0; i < 5 && !ret; i++) {
		w[i] = (struct member){ .fd = m->fd, .n = m->n,
					.index = (m->index + i) % m->n };
		ret = world(&w[i], 10 + i, 60000);
	}
	for (i = 4; i >= 0 && !ret; i--)
		ret = rounds(&w[i], 20);
	for (i = 0; i < 5 && !ret; i++)
		ret = group_destroy(m->fd, w[i].group);
	return ret;
}

/*
 * One comes with another number of members. Who hears it first is told so, and leaves;
 * the others wait for the right one, until they hear of that or have no time left.
 */
static int contradictions(struct member *m)
{
	struct member w = { .fd = m->fd, .n = m->n + (m->index == 1), .index = m->index };
	int ret = world(&w, 30, 3000), told = ret == -EINVAL, err;

	if (ret == -EOWNERDEAD)
		group_destroy(m->fd, w.group);
	else if (!told)
		return ret ? ret : -EIO;
	if (told && w.gc.out_clash.lane != (__u32)(m->index == 1 ? m->n : m->n + 1))
		return -EBADMSG;
	err = barrier(m, AW, UB_RED_SUM, told, in_ms(60000));
	return err ? err : m->bar.value ? 0 : -EIO;
}

/* Who leaves has not made the others lose the barrier before. */
static int leaving(struct member *m)
{
	int i, ret = 0;

	for (i = 0; i < 20 && !ret; i++) {
		struct member w = { .fd = m->fd, .n = m->n, .index = m->index };

		ret = world(&w, 40 + i, 60000);
		if (!ret)
			ret = barrier(&w, AW, UB_RED_NONE, 0, in_ms(60000));
		if (!ret && m->index == i % m->n)
			ret = group_destroy(m->fd, w.group);
		else if (!ret)
			ret = barrier(&w, AW, UB_RED_NONE, 0, in_ms(60000)) ==
			      -EOWNERDEAD ? 0 : -EIO;
		if (!ret && m->index != i % m->n) {
			if (w.bar.out_lost.member != (__u32)(i % m->n) ||
			    w.bar.out_lost.reason != UB_REASON_LEFT)
				ret = -EBADMSG;
			group_destroy(m->fd, w.group);
		}
	}
	return ret;
}

static const struct {
	const char *name;
	int (*run)(struct member *m);
} tests[] = {
	{ "barriers", barriers },
	{ "mailboxes", mailboxes },
	{ "timeout_names", timeout_names },
	{ "mixed", mixed },
	{ "children", children },
	{ "again", again },
	{ "worlds", worlds },
	{ "contradictions", contradictions },
	{ "leaving", leaving },
};

static int run_all(struct member *m)
{
	unsigned char *pages;
	unsigned int i;
	int ret;

	pages = win_map(m->fd, m->gc.out_offset, m->gc.out_map_size, PROT_READ | PROT_WRITE);
	if (pages == MAP_FAILED)
		return 1;
	mail = (void *)(pages + ub_group_mail_off(info.out_max_members));
	for (i = 0; i < COUNT(tests); i++) {
		int mine = tests[i].run(m);

		if (mine)
			fprintf(stderr, "# member %d: %s: %d, lost: member %u, reason %u\n",
				m->index, tests[i].name, mine, m->bar.out_lost.member,
				m->bar.out_lost.reason);
		ret = agree(m, mine);
		if (!m->index)
			ksft_test_result(!ret, "%s\n", tests[i].name);
		if (ret)
			return 1;
	}
	return 0;
}

/* Barriers until there is an end to them: the answer is one line. */
static int until_lost(struct member *m)
{
	int i, ret;

	printf("begun\n");
	for (i = 0; ; i++) {
		ret = barrier(m, AW, UB_RED_SUM, 1, in_ms(60000));
		if (ret)
			break;
		if (m->bar.value != (__u64)m->n)
			return 1;
	}
	printf("%s: member %u of node %u, reason %u\n",
	       ret == -EOWNERDEAD ? "lost" : strerror(-ret), m->bar.out_lost.member,
	       m->bar.out_lost.node, m->bar.out_lost.reason);
	return ret != -EOWNERDEAD;
}

static int taken(struct member *m)
{
	int ret;

	m->index = 0;
	ret = world(m, 50, 20000);
	printf("taken: %d by node %u\n", ret, m->gc.out_clash.node);
	return ret != -EEXIST;
}

int main(int argc, char **argv)
{
	const char *rank = getenv("UB_RANK"), *size = getenv("UB_SIZE");
	const char *device = getenv("UB_DEVICE"), *mode = argc > 1 ? argv[1] : "";
	struct member m = { .index = rank ? atoi(rank) : 0, .n = size ? atoi(size) : 1 };
	int ret;

	setvbuf(stdout, NULL, _IOLBF, 0);
	m.fd = open(device ? device : "/dev/ubfab0", O_RDWR | O_CLOEXEC);
	if (m.fd < 0) {
		perror("the device");
		return 1;
	}
	info = info_of(m.fd);
	if (!strcmp(mode, "taken"))
		return taken(&m);
	if (!*mode && !m.index) {
		ksft_print_header();
		ksft_set_plan(COUNT(tests));
	} else if (!*mode) {
		printf("TAP version 13\n1..0 # SKIP member 0 tells\n");
	}
	ret = world(&m, 1, 60000);
	if (ret) {
		fprintf(stderr, "# member %d: no world: %d, lost: member %u, reason %u\n",
			m.index, ret, m.gc.out_lost.member, m.gc.out_lost.reason);
		return 1;
	}
	return *mode ? until_lost(&m) : run_all(&m);
}
