/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of /dev/ubfab<N> share: calls that return 0 or -errno, and
 * members of a group that run in threads or processes.
 *
 * The tests expect "insmod ub.ko loop_nodes=4 test_hooks=1", four nodes of
 * one fabric in one kernel; detect_ms=300 for those in which nodes die. A
 * thread must not ASSERT (the harness jumps); it leaves its results in its
 * struct member.
 */
#ifndef UB_SELFTEST_UTIL_H
#define UB_SELFTEST_UTIL_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <ub/ub.h>
#include <ub/ub_layout.h>
#include <ub/ub_test.h>
#ifdef UB_NO_HARNESS
#include "kselftest.h"
#else
#include "kselftest_harness.h"

/* Emulated, under KASAN, beside others: a test that hangs is seen all the same. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 900
#endif

#define NODES		4
#define PAGE		4096UL
#define UNIT		(64UL << 10)	/* windows are rounded up to this */
#define MS		1000000ULL
#define SEC		1000000000ULL
#define RW		(UB_WIN_READ | UB_WIN_WRITE)
#define AW		(UB_BARRIER_ARRIVE | UB_BARRIER_WAIT)
#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
/* One access, not more and not less, to what others change. */
#define LD(p)		__atomic_load_n(p, __ATOMIC_RELAXED)
#define ST(p, v)	__atomic_store_n(p, v, __ATOMIC_RELAXED)
#define PTR(p)		((__u64)(uintptr_t)(p))

/* A fresh argument: size is set, all else as given or zero. */
#define ARG(name, ...) \
	((struct name){ .size = sizeof(struct name), __VA_ARGS__ })

static inline __u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SEC + t.tv_nsec;
}

static inline __u64 in_ms(unsigned int ms)
{
	return now() + ms * MS;
}

/* The next of the pseudo-random numbers that @x, not 0, begins. */
static inline __u64 roll(__u64 *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x * 0x2545f4914f6cdd1dULL;
}

static inline void sleep_ms(unsigned int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static inline int call(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) < 0 ? -errno : 0;
}

/* The detection time that the module was loaded with, in ms. */
static inline unsigned int detect_ms(void)
{
	static unsigned int ms;
	FILE *f;

	if (ms)
		return ms;
	ms = 300;
	f = fopen("/sys/module/ub/parameters/detect_ms", "r");
	if (f) {
		if (fscanf(f, "%u", &ms) != 1 || !ms)
			ms = 300;
		fclose(f);
	}
	return ms;
}

static inline int open_node(int node)
{
	char name[32];

	snprintf(name, sizeof(name), "/dev/ubfab%d", node);
	return open(name, O_RDWR | O_CLOEXEC);
}

static inline struct ub_info info_of(int fd)
{
	struct ub_info i = ARG(ub_info);

	if (call(fd, UB_IOC_INFO, &i))
		memset(&i, 0, sizeof(i));
	return i;
}

static inline int test_op(int fd, __u32 op, __u64 value, __u64 gva, __u64 *out)
{
	struct ub_test t = ARG(ub_test, .op = op, .value = value, .gva = gva);
	int ret = call(fd, UB_IOC_TEST, &t);

	if (!ret && out)
		*out = t.out_value;
	return ret;
}

/* Write a text to a file of sysfs; 0 or -errno. */
static inline int put_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* ---- windows ---- */

static inline int win_create(int fd, __u64 length, __u32 rights,
			     struct ub_win_create *c)
{
	*c = ARG(ub_win_create, .length = length, .rights = rights);
	return call(fd, UB_IOC_WIN_CREATE, c);
}

static inline int win_attach(int fd, const struct ub_win_create *c, __u32 rights)
{
	struct ub_win_attach a = ARG(ub_win_attach, .desc = c->out_desc,
				     .token = { c->out_token[0], c->out_token[1] },
				     .rights = rights);

	return call(fd, UB_IOC_WIN_ATTACH, &a);
}

static inline int win_detach(int fd, __u64 gva)
{
	struct ub_win_detach d = ARG(ub_win_detach, .gva = gva);

	return call(fd, UB_IOC_WIN_DETACH, &d);
}

static inline int win_destroy(int fd, __u32 window)
{
	struct ub_win_id w = ARG(ub_win_id, .window = window);

	return call(fd, UB_IOC_WIN_DESTROY, &w);
}

static inline int win_rotate(int fd, __u32 window, struct ub_win_id *w)
{
	*w = ARG(ub_win_id, .window = window);
	return call(fd, UB_IOC_WIN_ROTATE, w);
}

static inline void *win_map(int fd, __u64 gva, size_t len, int prot)
{
	return mmap(NULL, len, prot, MAP_SHARED, fd, (off_t)gva);
}

/* 0 and unmapped again, or errno. */
static inline int try_map(int fd, __u64 gva, size_t len, int prot, int flags)
{
	void *p = mmap(NULL, len, prot, flags, fd, (off_t)gva);

	return p == MAP_FAILED ? errno : munmap(p, len);
}

/* Two mappings of one window: does each see what is stored through the other? */
static inline bool one_memory(void *a, void *b, size_t len)
{
	__u64 *p = a, *q = b, i;
	bool same = true;

	for (i = 0; i < len / sizeof(*p); i++) {
		ST(&p[i], i * 3);
		same &= LD(&q[i]) == i * 3;
		ST(&q[i], ~i);
		same &= LD(&p[i]) == ~i;
	}
	return same;
}

/* One element; its status, or the call's error. */
static inline int xfer(int fd, __u32 op, __u64 gva, void *addr, __u64 length,
		       __u64 operand, __u64 compare)
{
	struct ub_xfer_op_desc d = {
		.op = op, .gva = gva, .addr = PTR(addr), .length = length,
		.operand = operand, .compare = compare, .out_status = 1,
	};
	struct ub_xfer x = ARG(ub_xfer, .ops = PTR(&d), .nops = 1);
	int ret = call(fd, UB_IOC_XFER, &x);

	return ret ? ret : d.out_status;
}

/* ---- members ---- */

/**
 * struct member - one member of a group, driven by a thread of its own
 * @fd: its lane
 * @index: place in the group; @n of them
 * @group: handle
 * @ret: result of its last step
 * @took: ns that it took
 * @gc: last creation
 * @bar: last barrier
 * @ctx: of the test
 */
struct member {
	pthread_t thread;
	pid_t tid;
	int (*step)(struct member *m);
	int fd;
	int index;
	int n;
	__u32 group;
	int ret;
	bool over;		/* the step has ended */
	__u64 took;
	struct ub_group_create gc;
	struct ub_barrier bar;
	struct ub_group_shrink shrink;
	void *ctx;
};

static inline void *member_main(void *arg)
{
	struct member *m = arg;
	__u64 start = now();

	ST(&m->tid, syscall(SYS_gettid));
	m->ret = m->step(m);
	m->took = now() - start;
	ST(&m->over, true);
	return NULL;
}

static inline void member_start(struct member *m, int (*step)(struct member *m))
{
	m->step = step;
	m->ret = 1;
	m->over = false;
	m->tid = 0;
	if (pthread_create(&m->thread, NULL, member_main, m))
		abort();
}

/* Until it sleeps in an ioctl, however late it gets a CPU. */
static inline void member_asleep(struct member *m)
{
	__u64 end = in_ms(20000);
	char path[48], nr[24];
	int fd, n;

	do {
		sleep_ms(2);
		snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", LD(&m->tid));
		fd = open(path, O_RDONLY);
		n = read(fd, nr, sizeof(nr) - 1);
		close(fd);
		nr[n < 0 ? 0 : n] = '\0';
	} while ((*nr == 'r' || atoi(nr) != SYS_ioctl || !LD(&m->tid)) && now() < end);
}

static inline int member_join(struct member *m)
{
	pthread_join(m->thread, NULL);
	return m->ret;
}

/* All take the step at once; the first result that is not 0. */
static inline int members_run(struct member *m, int n,
			      int (*step)(struct member *m))
{
	int i, ret = 0;

	for (i = 0; i < n; i++)
		member_start(&m[i], step);
	for (i = 0; i < n; i++) {
		member_join(&m[i]);
		if (!ret)
			ret = m[i].ret;
	}
	return ret;
}

/* A key that no other group of this machine has had. */
static inline void fresh_key(__u64 key[2])
{
	static __u64 count;

	key[0] = now() ^ (__u64)getpid() << 48;
	key[1] = ++count;
}

static inline struct ub_group_create world_arg(const __u64 key[2], __u32 n,
					       __u32 index, unsigned int ms)
{
	struct ub_group_create gc = ARG(ub_group_create,
		.flags = UB_GROUP_WORLD,
		.key = { key[0], key[1] },
		.timeout = in_ms(ms),
		.nmembers = n,
		.index = index,
		.level = "world",
		.shape = { .nlevels = 1, .bits = { 20 }, .ports = { 1, 1 } });

	return gc;
}

/* The creation that m->gc describes. */
static inline int step_create(struct member *m)
{
	int ret = call(m->fd, UB_IOC_GROUP_CREATE, &m->gc);

	if (!ret || ret == -EOWNERDEAD)
		m->group = m->gc.out_group;
	return ret;
}

/* A world of n members, member i on node i mod nodes; opens the lanes. */
static inline int world_open(struct member *m, int n, int nodes)
{
	__u64 key[2];
	int i;

	fresh_key(key);
	for (i = 0; i < n; i++) {
		memset(&m[i], 0, sizeof(m[i]));
		m[i].index = i;
		m[i].n = n;
		m[i].fd = open_node(i % nodes);
		if (m[i].fd < 0)
			return -errno;
		m[i].gc = world_arg(key, n, i, 10000);
	}
	return members_run(m, n, step_create);
}

static inline void world_close(struct member *m, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (m[i].fd >= 0)
			close(m[i].fd);
}

static inline int barrier(struct member *m, __u32 flags, __u32 op, __u64 value,
			  __u64 timeout)
{
	m->bar = ARG(ub_barrier, .flags = flags, .group = m->group, .op = op,
		     .value = value, .timeout = timeout);
	return call(m->fd, UB_IOC_BARRIER, &m->bar);
}

/* Ten seconds are for ever in a test: it fails rather than hangs. */
static inline int step_barrier(struct member *m)
{
	return barrier(m, AW, UB_RED_NONE, 0, in_ms(10000));
}

static inline int group_destroy(int fd, __u32 group)
{
	struct ub_group_id g = ARG(ub_group_id, .group = group);

	return call(fd, UB_IOC_GROUP_DESTROY, &g);
}

static inline int step_shrink(struct member *m)
{
	int ret;

	m->shrink = ARG(ub_group_shrink, .group = m->group,
			.timeout = in_ms(5000));
	ret = call(m->fd, UB_IOC_GROUP_SHRINK, &m->shrink);
	if (!ret || ret == -EOWNERDEAD) {
		m->group = m->shrink.out_group;
		m->index = m->shrink.out_index;
		m->n = m->shrink.out_nmembers;
	}
	return ret;
}

/* Did all get the same answer? */
static inline bool same_lost(const struct ub_lost *a, const struct ub_lost *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* ---- processes ---- */

/* Run fn in a child of its own; the child's exit status is fn's result. */
static inline pid_t spawn(int (*fn)(void *ctx), void *ctx)
{
	pid_t pid = fork();

	if (!pid)
		_exit(fn(ctx) & 0xff);
	return pid;
}

/* Exit code, or 128 + signal. */
static inline int reap(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static inline void *shared_page(void)
{
	return mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* Wait until a word that another process sets is not 0. */
static inline bool wait_word(__u32 *word, unsigned int ms)
{
	__u64 end = in_ms(ms);

	while (!__atomic_load_n(word, __ATOMIC_ACQUIRE)) {
		if (now() > end)
			return false;
		sleep_ms(1);
	}
	return true;
}

static inline void set_word(__u32 *word)
{
	__atomic_store_n(word, 1, __ATOMIC_RELEASE);
}

/* Member 2 of 3, on node 1, as a process of its own, until it may go. */
struct lane {
	__u64 key[2];
	__u32 up;
	__u32 go;
};

static inline int lane_process(void *ctx)
{
	struct lane *l = ctx;
	struct member m = { .fd = open_node(1) };

	m.gc = world_arg(l->key, 3, 2, 10000);
	if (m.fd < 0 || step_create(&m))
		return 1;
	set_word(&l->up);
	wait_word(&l->go, 10000);
	return 0;
}

/* ---- touching memory that may be gone ---- */

static sigjmp_buf touch_env;

static void touch_caught(int sig)
{
	siglongjmp(touch_env, sig);
}

/* Load (or store) a byte: 0, or the signal that it brought. */
static __attribute__((noinline)) int touch(unsigned char *p, bool write)
{
	struct sigaction sa = { .sa_handler = touch_caught }, bus, segv;
	int sig;

	sigaction(SIGBUS, &sa, &bus);
	sigaction(SIGSEGV, &sa, &segv);
	sig = sigsetjmp(touch_env, 1);
	if (!sig) {
		if (write)
			ST(p, 1);
		else
			(void)LD(p);
	}
	sigaction(SIGBUS, &bus, NULL);
	sigaction(SIGSEGV, &segv, NULL);
	return sig;
}

/*
 * Until a byte that a peer revoked is out of reach; the signal, or 0. Another
 * node is told at once, but it has to act.
 */
static inline int touch_gone(unsigned char *p, bool write)
{
	__u64 end = in_ms(500);
	int sig;

	while (!(sig = touch(p, write)) && now() < end)
		sleep_ms(1);
	return sig;
}

/* ---- nodes that tests have killed ---- */

/* Bring every node back to life; 0 when all of them work. */
static inline int heal(void)
{
	struct ub_win_create c;
	int node, fd, ret;

	for (node = 0; node < NODES; node++) {
		fd = open_node(node);
		if (fd < 0)
			return -errno;
		/* It may have to find that it was fenced. */
		if (!test_op(fd, UB_TEST_RESUME, 0, 0, NULL))
			sleep_ms(200);
		ret = win_create(fd, 1, RW, &c);
		if (ret == -ESHUTDOWN || ret == -ESTALE) {
			ret = test_op(fd, UB_TEST_REJOIN, 0, 0, NULL);
			close(fd);
			fd = open_node(node);
			if (!ret)
				ret = fd < 0 ? -errno : win_create(fd, 1, RW, &c);
		}
		close(fd);
		if (ret)
			return ret;
	}
	return 0;
}

/* A world of all nodes, and another file of each. */
static inline int all_open(struct member *m, int *extra)
{
	int err = world_open(m, NODES, NODES), i;

	for (i = 0; i < NODES && !err; i++) {
		extra[i] = open_node(i);
		if (extra[i] < 0)
			err = -errno;
	}
	return err;
}

static inline void all_close(struct member *m, const int *extra)
{
	int i;

	for (i = 0; i < NODES; i++)
		close(extra[i]);
	world_close(m, NODES);
	heal();
}

#endif /* UB_SELFTEST_UTIL_H */
