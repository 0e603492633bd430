// SPDX-License-Identifier: GPL-2.0-only
/*
 * One process per node, on as many nodes as there are: a world, a window of
 * member 0 that all map, stores, barriers and exact sums of all kernels.
 *
 * UB_RANK, UB_SIZE, UB_JOB: who this is, of how many, in which job, as the
 * rig sets them. UB_DEVICE: the device (default /dev/ubfab0); with %d the
 * rank takes its place, for several nodes in one kernel. UB_MEMTYPE=uc: the
 * memory is mapped uncached, for all alike. Without UB_RANK the
 * program runs as two processes on /dev/ubfab0 and /dev/ubfab1.
 *
 * Member 0 prints KTAP, the others that they leave it to it; the exit code of
 * each tells whether it was content.
 * Not on the harness: a test is one collective of all processes.
 */
#define UB_NO_HARNESS
#include "util.h"

#define ROUNDS	2000
#define ADDS	100000ULL
#define WINDOW	(4 * UNIT)

struct self {
	struct member m;
	struct ub_info info;
	struct ub_win_create w;		/* member 0's, at all */
	struct ub_mailbox *mail;
	__u64 *mem;
	int step;
};

/* The least of all members' results: nobody passes what another failed. */
static int agree(struct self *s, int ret)
{
	int err = barrier(&s->m, AW, UB_RED_MIN_S64, ret > 0 ? -ret : ret,
			  in_ms(120000));

	return err ? err : (int)s->m.bar.value;
}

static int make_world(struct self *s)
{
	const char *job = getenv("UB_JOB");
	__u64 key[2] = { 0x756274776f6e6f64ULL, 0xcbf29ce484222325ULL };
	unsigned char *pages;

	for (; job && *job; job++)
		key[1] = (key[1] ^ (unsigned char)*job) * 0x100000001b3ULL;
	s->m.gc = world_arg(key, s->m.n, s->m.index, 60000);
	if (step_create(&s->m))
		return -1;
	pages = win_map(s->m.fd, s->m.gc.out_offset, s->m.gc.out_map_size,
			PROT_READ | PROT_WRITE);
	if (pages == MAP_FAILED)
		return -errno;
	s->mail = (void *)(pages + ub_group_mail_off(s->info.out_max_members));
	return 0;
}

/* The descriptor and its token go to the others by member 0's mailbox. */
static int share_window(struct self *s)
{
	unsigned char *box = s->mail[0].slot[0];
	const size_t desc = sizeof(s->w.out_desc), token = sizeof(s->w.out_token);
	int ret = 0;

	_Static_assert(sizeof(struct ub_win_desc) + 16 <= UB_MAILBOX_BYTES,
		       "a mailbox holds a descriptor and a token");
	if (!s->m.index) {
		ret = win_create(s->m.fd, WINDOW, UB_WIN_RIGHTS, &s->w);
		memcpy(box, &s->w.out_desc, desc);
		memcpy(box + desc, s->w.out_token, token);
	}
	ret = agree(s, ret);
	if (ret)
		return ret;
	if (s->m.index) {
		memcpy(&s->w.out_desc, box, desc);
		memcpy(s->w.out_token, box + desc, token);
		ret = win_attach(s->m.fd, &s->w, UB_WIN_RIGHTS);
	}
	s->mem = win_map(s->m.fd, s->w.out_desc.gva, WINDOW, PROT_READ | PROT_WRITE);
	return ret ? ret : s->mem == MAP_FAILED ? -errno : 0;
}

/* Write-back, or what the caller knows better; the kernel says the same. */
static int memory_type(struct self *s)
{
	const char *word = getenv("UB_MEMTYPE");
	__u64 type, want = word && !strcmp(word, "uc") ? UB_MEMTYPE_UC : UB_MEMTYPE_WB;
	int ret;

	s->mem[WINDOW / 8 - 1 - s->m.index] = 1;
	ret = test_op(s->m.fd, UB_TEST_PTE_MEMTYPE, PTR(s->mem + WINDOW / 8 - 1 -
						       s->m.index), 0, &type);
	if (ret)
		return ret;
	return type == want && s->info.out_memtype == want ? 0 : -EIO;
}

/* Each stores its words, all read all words; slots by parity. */
static int store_load(struct self *s)
{
	int i, r, bad = 0;

	for (i = 0; i < 200; i++) {
		__u64 *slot = s->mem + (i & 1) * 4096;

		for (r = 0; r < 16; r++)
			ST(&slot[s->m.index * 16 + r],
			   i * 1000 + s->m.index * 16 + r);
		if (step_barrier(&s->m))
			return -1;
		for (r = 0; r < 16 * s->m.n; r++)
			bad += LD(&slot[r]) != i * 1000 + r;
	}
	return bad ? -EIO : 0;
}

static int put_get(struct self *s)
{
	__u64 gva = s->w.out_desc.gva + 2 * UNIT, v = s->m.index + 100, got = 0;
	int next = (s->m.index + 1) % s->m.n;
	int ret = xfer(s->m.fd, UB_XFER_PUT, gva + 8 * s->m.index, &v, 8, 0, 0);

	ret = agree(s, ret);
	if (!ret)
		ret = xfer(s->m.fd, UB_XFER_GET, gva + 8 * next, &got, 8, 0, 0);
	return ret ? ret : got == next + 100 ? 0 : -EIO;
}

static int barriers(struct self *s)
{
	__u64 start = now(), n = s->m.n;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		if (barrier(&s->m, AW, UB_RED_SUM, i + s->m.index, in_ms(60000)))
			return -1;
		if (s->m.bar.value != n * i + n * (n - 1) / 2)
			return -EIO;
	}
	if (!s->m.index)
		ksft_print_msg("%llu us a barrier\n", (now() - start) / 1000 / ROUNDS);
	return 0;
}

static int sums(struct self *s)
{
	__u64 off = 3 * UNIT, one, i;
	__u64 *word = s->mem + off / 8;
	int ret;

	/* By the kernels at once, by calls at once, by all kinds at once. */
	ret = test_op(s->m.fd, UB_TEST_ATOMIC_ADD, ADDS, s->w.out_desc.gva + off, NULL);
	ret = agree(s, ret);
	if (ret || LD(word) != ADDS * s->m.n)
		return ret ? ret : -EIO;
	ret = agree(s, 0);
	for (i = 0; i < ADDS / 10 && !ret; i++) {
		one = s->m.index + i;
		if (one % 3 == 0)
			ret = xfer(s->m.fd, UB_XFER_FETCH_ADD,
				   s->w.out_desc.gva + off, NULL, 8, 1, 0);
		else if (one % 3 == 1)
			__atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
		else
			ret = test_op(s->m.fd, UB_TEST_ATOMIC_ADD, 1,
				      s->w.out_desc.gva + off, NULL);
	}
	ret = agree(s, ret);
	return ret ? ret : LD(word) == (ADDS + ADDS / 10) * s->m.n ? 0 : -EIO;
}

/* Home rotates: all others lose it, at once and in the same way. */
static int rotated(struct self *s)
{
	struct ub_win_id id;
	__u64 v;
	int ret = agree(s, 0);

	if (!ret && !s->m.index)
		ret = win_rotate(s->m.fd, s->w.out_desc.window, &id);
	ret = agree(s, ret);
	if (ret)
		return ret;
	ret = xfer(s->m.fd, UB_XFER_GET, s->w.out_desc.gva, &v, 8, 0, 0);
	if (!s->m.index)
		return ret ? ret : touch((void *)s->mem, true);
	if (ret != -ESTALE)
		return -EIO;
	/* Peers notice by their tick at the latest. */
	for (v = 0; v < 200; v++) {
		if (touch((void *)s->mem, false) == SIGBUS)
			return 0;
		sleep_ms(10);
	}
	return -ETIME;
}

static const struct {
	const char *name;
	int (*run)(struct self *s);
} tests[] = {
	{ "share_window", share_window },
	{ "memory_type", memory_type },
	{ "store_load", store_load },
	{ "put_get", put_get },
	{ "barriers", barriers },
	{ "exact_sums", sums },
	{ "rotated", rotated },
};

static int run(int rank, int size, const char *device)
{
	struct self s = { .m = { .index = rank, .n = size } };
	char name[64];
	unsigned int i;
	int ret;

	snprintf(name, sizeof(name), device, rank);
	s.m.fd = open(name, O_RDWR | O_CLOEXEC);
	if (!rank) {
		ksft_print_header();
		ksft_set_plan(COUNT(tests));
	} else if (getenv("UB_RANK")) {
		printf("TAP version 13\n1..0 # SKIP member 0 tells\n");
	}
	if (s.m.fd < 0) {
		fprintf(stderr, "# rank %d: %s: %s\n", rank, name, strerror(errno));
		return 1;
	}
	s.info = info_of(s.m.fd);
	ret = make_world(&s);
	if (ret) {
		fprintf(stderr, "# rank %d: no world of %d, lost: member %u, reason %u\n",
			rank, size, s.m.gc.out_lost.member, s.m.gc.out_lost.reason);
		return 1;
	}
	for (i = 0; i < COUNT(tests); i++) {
		int mine = tests[i].run(&s);

		if (mine)
			fprintf(stderr, "# rank %d: %s: %d\n", rank, tests[i].name, mine);
		ret = agree(&s, mine);
		if (!rank)
			ksft_test_result(!ret, "%s\n", tests[i].name);
		if (ret)
			return 1;	/* what follows builds on it */
	}
	return 0;
}

int main(void)
{
	const char *rank = getenv("UB_RANK"), *size = getenv("UB_SIZE");
	const char *device = getenv("UB_DEVICE");
	char job[32];
	pid_t pid;
	int ret;

	if (rank && size)
		return run(atoi(rank), atoi(size), device ? device : "/dev/ubfab0");
	snprintf(job, sizeof(job), "two-nodes-%d", getpid());
	setenv("UB_JOB", job, 1);
	pid = fork();
	if (!pid)
		return run(1, 2, "/dev/ubfab%d");
	ret = run(0, 2, "/dev/ubfab%d");
	return reap(pid) || ret;
}
