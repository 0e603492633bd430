// SPDX-License-Identifier: GPL-2.0-only
/*
 * A node whose peer's kernel is hostile: threads that meet, synchronise, attach,
 * move, map and look at everything, with time-outs, while somebody spoils all of
 * the shared memory (selftests/vm/scribble.c). Any answer will do, a wrong result
 * too; but each call ends in time, and the kernel stays silent. A node that is
 * fenced joins again, or formats.
 *
 * usage: hostile_test SECONDS		on nodes of a rig with test hooks; UB_JOB
 *	 hostile_test format|rejoin	afterwards
 * Prints KTAP.
 */
#define UB_NO_HARNESS
#include <dirent.h>
#include <sys/syscall.h>
#include "nl.h"
#include "util.h"

#define HANG_MS		60000	/* a call that takes longer hangs */
#define SLACK_MS	6000	/* where others have the CPUs */
#define POOL		8
#define STEP_MS		400	/* time-out of a barrier */

/* Kinds of calls, and how long each may take beside the slack. */
enum kind { K_CREATE, K_BARRIER, K_SHRINK, K_DESTROY, K_WINDOW, K_ATTACH, K_XFER,
	    K_MAP, K_TOUCH, K_LOOK, K_JOIN, K_FORMAT, KINDS };

static const struct {
	const char *name;
	unsigned int detects;	/* detection times that it may take */
	unsigned int ms;
} kinds[KINDS] = {
	[K_CREATE]	= { "group-create", 8, 1500 },
	[K_BARRIER]	= { "barrier", 0, STEP_MS },
	[K_SHRINK]	= { "shrink", 12, 1500 },
	[K_DESTROY]	= { "group-destroy", 0, 0 },
	[K_WINDOW]	= { "window", 2, 0 },
	[K_ATTACH]	= { "attach", 0, 0 },
	[K_XFER]	= { "xfer", 0, 0 },
	[K_MAP]		= { "mmap", 0, 0 },
	[K_TOUCH]	= { "touch", 0, 0 },
	[K_LOOK]	= { "look", 0, 0 },
	[K_JOIN]	= { "join", 24, 0 },
	[K_FORMAT]	= { "format", 26, 0 },
};

/* One for each kind: all threads add to it. */
static struct {
	__u64 calls, good, most_ns;
} seen[KINDS];

struct job {
	int (*round)(struct job *j);
	const char *name;
	pthread_t thread;
	__u64 seed;
	int fd;
	int tid;
	bool ended;
	__u64 since;		/* the call that runs began; 0: none runs */
	enum kind in;
	struct ub_win_create own;
	struct member m;
};

static __u64 end_of_all;
static struct ub_win_create pool[POOL];	/* torn values are fine */

static __u64 rnd(struct job *j)
{
	return roll(&j->seed);
}

static void call_begins(struct job *j, enum kind k)
{
	ST(&j->in, k);
	ST(&j->since, now());
}

static int call_ends(struct job *j, int ret)
{
	__u64 took = now() - j->since, was;
	enum kind k = j->in;

	ST(&j->since, 0);
	__atomic_add_fetch(&seen[k].calls, 1, __ATOMIC_RELAXED);
	if (!ret)
		__atomic_add_fetch(&seen[k].good, 1, __ATOMIC_RELAXED);
	for (was = LD(&seen[k].most_ns); took > was; )
		if (__atomic_compare_exchange_n(&seen[k].most_ns, &was, took, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			break;
	return ret;
}

/* The call in parentheses, with its time taken. */
#define DO(j, kind, expr)	(call_begins(j, kind), call_ends(j, expr))

/* ---- memory that may go at any time ---- */

static __thread sigjmp_buf gone;

static void on_bus(int sig)
{
	siglongjmp(gone, 1);
}

static int try_touch(unsigned char *p, bool write)
{
	if (sigsetjmp(gone, 1))
		return -EFAULT;
	if (write)
		ST(p, 1);
	else
		(void)LD(p);
	return 0;
}

static int try_copy(void *to, const void *from, size_t n)
{
	if (sigsetjmp(gone, 1))
		return -EFAULT;
	memcpy(to, from, n);
	return 0;
}

/* ---- meeting and synchronising ---- */

/* Tell the other members of a window, and learn of theirs. */
static void tell_windows(struct job *j)
{
	struct ub_info info = info_of(j->fd);
	__u64 size = j->m.gc.out_map_size;
	struct ub_mailbox *mail;
	unsigned char *p;
	int i;

	p = win_map(j->fd, j->m.gc.out_offset, size, PROT_READ | PROT_WRITE);
	if (p == MAP_FAILED || !info.out_max_members)
		return;
	mail = (void *)(p + ub_group_mail_off(info.out_max_members));
	try_copy(mail[j->m.index].slot[0], &j->own, sizeof(j->own));
	DO(j, K_BARRIER, barrier(&j->m, AW, UB_RED_SUM, 1, in_ms(STEP_MS)));
	for (i = 0; i < j->m.n; i++)
		try_copy(&pool[rnd(j) % POOL], mail[i].slot[0], sizeof(pool[0]));
	munmap(p, size);
}

static void some_barriers(struct job *j)
{
	int i, ret = 0;

	for (i = 0; i < 50 && !ret && now() < end_of_all; i++)
		ret = DO(j, K_BARRIER, barrier(&j->m, i % 4 ? AW : AW | UB_BARRIER_SLEEP,
					       1 + i % (UB_RED_OPS - 1), i,
					       in_ms(STEP_MS)));
}

static void some_of_them(struct job *j)
{
	struct member c = { .fd = j->fd };
	__u32 both[2] = { 0, 1 };

	c.gc = ARG(ub_group_create, .key = { rnd(j) % 2, 1 }, .timeout = in_ms(1000),
		   .parent = j->m.group, .nmembers = j->m.n, .members = PTR(both),
		   .index = j->m.index, .level = "child");
	DO(j, K_CREATE, step_create(&c));
	if (!c.group)
		return;
	DO(j, K_BARRIER, barrier(&c, AW, 0, 0, in_ms(STEP_MS)));
	DO(j, K_DESTROY, group_destroy(j->fd, c.group));
}

static int round_meet(struct job *j)
{
	const char *job = getenv("UB_JOB"), *rank = getenv("UB_RANK");
	struct timespec t;
	__u64 key[2] = { 0 };
	int ret;

	/* The nodes' clocks agree well enough to find a key that is new. */
	clock_gettime(CLOCK_REALTIME, &t);
	for (; job && *job; job++)
		key[0] = (key[0] ^ (unsigned char)*job) * 0x100000001b3ULL;
	key[1] = t.tv_sec / 2;
	if (j->own.out_desc.length == 0)
		DO(j, K_WINDOW, win_create(j->fd, 2 * UNIT, UB_WIN_RIGHTS, &j->own));
	j->m = (struct member){ .fd = j->fd, .n = 2, .index = rank ? atoi(rank) & 1 : 0 };
	j->m.gc = world_arg(key, 2, j->m.index, 1500);
	ret = DO(j, K_CREATE, step_create(&j->m));
	if (!ret) {
		tell_windows(j);
		some_barriers(j);
		some_of_them(j);
		some_barriers(j);
	}
	if (j->m.group && (ret || rnd(j) % 2)) {
		__u32 was = j->m.group;

		j->m.shrink = ARG(ub_group_shrink, .group = was, .timeout = in_ms(1500));
		DO(j, K_SHRINK, call(j->fd, UB_IOC_GROUP_SHRINK, &j->m.shrink));
		if (j->m.shrink.out_group)
			DO(j, K_DESTROY, group_destroy(j->fd, j->m.shrink.out_group));
	}
	if (j->m.group)
		DO(j, K_DESTROY, group_destroy(j->fd, j->m.group));
	return ret;
}

/* ---- windows ---- */

static int round_move(struct job *j)
{
	static __thread char buf[2 * UNIT];
	struct ub_win_create w = pool[rnd(j) % POOL];
	__u64 gva, len = 1 + rnd(j) % UNIT;
	struct ub_win_id id;
	int ret, i;

	if (rnd(j) % 4 == 0 || !w.out_desc.length) {
		ret = DO(j, K_WINDOW, win_create(j->fd, 1 + rnd(j) % (2 * UNIT),
						 UB_WIN_RIGHTS, &w));
		if (ret)
			return ret;
		pool[rnd(j) % POOL] = w;
		if (rnd(j) % 2)
			DO(j, K_WINDOW, win_rotate(j->fd, w.out_desc.window, &id));
		if (rnd(j) % 2)
			DO(j, K_WINDOW, win_destroy(j->fd, w.out_desc.window));
	}
	gva = w.out_desc.gva;
	ret = DO(j, K_ATTACH, win_attach(j->fd, &w, UB_WIN_RIGHTS));
	for (i = 0; i < 8; i++) {
		DO(j, K_XFER, xfer(j->fd, UB_XFER_PUT, gva, buf, len, 0, 0));
		DO(j, K_XFER, xfer(j->fd, UB_XFER_GET, gva, buf, len, 0, 0));
		DO(j, K_XFER, xfer(j->fd, UB_XFER_FETCH_ADD + rnd(j) % 6, gva + 8, buf,
				   8, rnd(j), rnd(j)));
	}
	return ret;
}

static int round_map(struct job *j)
{
	struct ub_win_create w = pool[rnd(j) % POOL];
	size_t len = PAGE * (1 + rnd(j) % 40), at;
	unsigned char *p;
	int ret;

	ret = DO(j, K_ATTACH, win_attach(j->fd, &w, UB_WIN_RIGHTS));
	call_begins(j, K_MAP);
	p = win_map(j->fd, w.out_desc.gva & ~(PAGE - 1), len, PROT_READ | PROT_WRITE);
	call_ends(j, p == MAP_FAILED ? -errno : 0);
	if (p == MAP_FAILED) {
		sleep_ms(1);
		return ret;
	}
	for (at = 0; at < len; at += PAGE / 2)
		DO(j, K_TOUCH, try_touch(p + at, rnd(j) % 2));
	munmap(p, len);
	DO(j, K_ATTACH, win_detach(j->fd, w.out_desc.gva));
	return ret;
}

/* ---- looking ---- */

static void read_all(int dir, const char *name)
{
	char buf[4096];
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && read(fd, buf, sizeof(buf)) > 0)
		;
	if (fd >= 0)
		close(fd);
}

static int round_look(struct job *j)
{
	static const int dumps[] = { UB_NL_CMD_NODE_GET, UB_NL_CMD_WINDOW_GET,
				     UB_NL_CMD_GROUP_GET, UB_NL_CMD_LEVEL_GET,
				     UB_NL_CMD_STATS_GET };
	int dir = open("/sys/kernel/debug/ub/ubfab0/group", O_RDONLY | O_DIRECTORY);
	struct ub_event ev;
	struct dirent *e;
	struct nl_obj o;
	struct nl_req q;
	struct nl nl;
	DIR *d = dir < 0 ? NULL : fdopendir(dir);
	size_t i;

	call_begins(j, K_LOOK);
	while (d && (e = readdir(d)))
		read_all(dir, e->d_name);
	if (d)
		closedir(d);
	if (!nl_open(&nl)) {
		for (i = 0; i < COUNT(dumps); i++) {
			nl_begin(&q, dumps[i]);
			if (!nl_dump(&nl, &q))
				while (nl_next(&nl, &o) > 0)
					;
		}
		nl_close(&nl);
	}
	while (read(j->fd, &ev, sizeof(ev)) > 0)
		;
	call_ends(j, 0);
	sleep_ms(20);
	return info_of(j->fd).out_abi ? 0 : -EIO;
}

/* ---- coming back ---- */

static int format(void)
{
	struct nl_req q;
	struct nl nl;
	int ret = nl_open(&nl);

	if (ret)
		return ret;
	nl_begin(&q, UB_NL_CMD_FABRIC_FORMAT);
	nl_put_u32(&q, UB_NL_A_FABRIC, 0);
	nl_put(&q, UB_NL_A_FORCE, NULL, 0);
	ret = nl_do(&nl, &q, NULL);
	nl_close(&nl);
	return ret;
}

static int open_quiet(void)
{
	return open("/dev/ubfab0", O_RDWR | O_CLOEXEC | O_NONBLOCK);
}

/* Both nodes see it; one of them formats more eagerly. */
static int round_back(struct job *j)
{
	struct ub_win_create c;
	int fd = open_quiet(), ret;

	ret = fd < 0 ? -errno : win_create(fd, 1, RW, &c);
	if (fd < 0 || ret == -ESHUTDOWN) {
		ret = fd < 0 ? -EMEDIUMTYPE :
		      DO(j, K_JOIN, test_op(fd, UB_TEST_REJOIN, 0, 0, NULL));
		if (ret && ret != -EBUSY && ret != -EAGAIN)
			DO(j, K_FORMAT, format());
	}
	if (fd >= 0)
		close(fd);
	sleep_ms(100);
	return 0;
}

/* ---- the threads ---- */

static void *job_main(void *arg)
{
	struct job *j = arg;
	int ret = 0;

	j->tid = syscall(SYS_gettid);
	while (now() < end_of_all) {
		if (j->fd >= 0 && ret == -ESHUTDOWN) {
			close(j->fd);
			j->fd = -1;
			sleep_ms(50);
		}
		if (j->fd < 0) {
			j->fd = open_quiet();
			memset(&j->own, 0, sizeof(j->own));
		}
		ret = j->fd < 0 ? -ESHUTDOWN : j->round(j);
		if (ret == -ENODEV)
			ret = -ESHUTDOWN;
		if (j->fd < 0)
			sleep_ms(50);
	}
	return NULL;
}

static struct job jobs[] = {
	{ round_meet, "meet" }, { round_move, "move" }, { round_map, "map" },
	{ round_look, "look" }, { round_back, "back" },
};

static void show_stack(int tid)
{
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stack", tid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		ksft_print_msg("%s", line);
	if (f)
		fclose(f);
}

/* Until all have ended: the one that does not, or NULL. */
static struct job *watch(void)
{
	size_t i;
	__u64 t;

	for (;;) {
		bool all = true;

		for (i = 0; i < COUNT(jobs); i++) {
			t = LD(&jobs[i].since);
			if (t && now() > t + HANG_MS * MS)
				return &jobs[i];
			if (!jobs[i].ended)
				jobs[i].ended = !pthread_tryjoin_np(jobs[i].thread, NULL);
			all = all && jobs[i].ended;
		}
		if (all)
			return NULL;
		sleep_ms(100);
	}
}

static int hostile(unsigned int seconds)
{
	struct sigaction sa = { .sa_handler = on_bus };
	__u64 most, may;
	struct job *late;
	size_t i;

	end_of_all = in_ms(1000 * seconds);
	sigaction(SIGBUS, &sa, NULL);
	ksft_print_header();
	ksft_set_plan(KINDS + 1);
	for (i = 0; i < COUNT(jobs); i++) {
		jobs[i].fd = -1;
		jobs[i].seed = now() + i;
		if (pthread_create(&jobs[i].thread, NULL, job_main, &jobs[i]))
			abort();
	}
	late = watch();
	if (late) {
		ksft_print_msg("%s hangs in %s:\n", late->name, kinds[late->in].name);
		show_stack(late->tid);
	}
	ksft_test_result(!late, "every call ended\n");
	for (i = 0; i < KINDS; i++) {
		most = seen[i].most_ns / MS;
		may = kinds[i].detects * detect_ms() + kinds[i].ms + SLACK_MS;
		ksft_test_result(most <= may, "%s: %llu calls, %llu good, %llu ms at most, %llu allowed\n",
				 kinds[i].name, seen[i].calls, seen[i].good, most, may);
	}
	return ksft_get_fail_cnt() ? 1 : 0;
}

/* After the storm; 0 when the node is there. */
static int afterwards(bool erase)
{
	struct ub_win_create c;
	__u64 end = in_ms(40 * detect_ms());
	int fd, ret = erase ? format() : 0;

	while (!ret) {
		fd = open_quiet();
		ret = fd < 0 ? 0 : win_create(fd, 1, RW, &c);
		if (fd >= 0 && !ret)
			return 0;
		if (fd < 0)
			ret = format();
		else if (ret == -ESHUTDOWN)
			ret = test_op(fd, UB_TEST_REJOIN, 0, 0, NULL);
		if (fd >= 0)
			close(fd);
		if ((ret == -EAGAIN || ret == -EBUSY) && now() < end)
			ret = 0;
		sleep_ms(50);
	}
	printf("the node does not come back: %d\n", ret);
	return 1;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "10";

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(how, "format") || !strcmp(how, "rejoin"))
		return afterwards(*how == 'f');
	return hostile(strtoul(how, NULL, 0));
}
