// SPDX-License-Identifier: GPL-2.0-only
/*
 * Users of a node whose device goes away under them: one stores to mapped
 * pages, others wait in a barrier, in the making of a group and for events, two
 * run barriers, one copies. All must end, each with its error; nothing hangs.
 *
 * usage: unplug_test DEVICE [COMMAND...]
 *	When all are at it, runs COMMAND, or prints "# up" and waits for
 *	somebody else to take the device away.
 *
 * Touches no new file meanwhile: see tools/ubrig/plug.c.
 */
#define UB_NO_HARNESS
#include "util.h"

#define PAGES	16
#define COPY	UNIT

static const char *device;
static __u32 at_it;		/* users that have begun */

/* One user, and what it should end with. */
struct user {
	struct member m;	/* its thread and lane */
	const char *name;
	int (*run)(struct member *m);
	int want;
};

static void begun(void)
{
	__atomic_add_fetch(&at_it, 1, __ATOMIC_RELEASE);
}

static int lane(void)
{
	int fd = open(device, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int store(struct member *m)
{
	struct ub_win_create w;
	unsigned char *p;
	int i, sig = 0;

	if (win_create(m->fd, PAGES * PAGE, RW, &w))
		return -1;
	p = win_map(m->fd, w.out_desc.gva, PAGES * PAGE, PROT_READ | PROT_WRITE);
	if (p == MAP_FAILED)
		return -1;
	for (i = 0; !sig; i++) {
		sig = touch(p + i % PAGES * PAGE, true);
		if (i == PAGES)
			begun();
	}
	/* None of the pages is left. */
	for (i = 0; i < PAGES; i++)
		if (touch(p + i * PAGE, false) != SIGBUS)
			return -2;
	munmap(p, PAGES * PAGE);
	return sig;
}

static int copy(struct member *m)
{
	struct ub_win_create w;
	char *buf = calloc(1, COPY);
	int i, ret = buf ? win_create(m->fd, COPY, RW, &w) : -1;

	for (i = 0; !ret; i++) {
		ret = xfer(m->fd, i & 1 ? UB_XFER_GET : UB_XFER_PUT,
			   w.out_desc.gva, buf, COPY, 0, 0);
		if (!i)
			begun();
	}
	free(buf);
	return ret;
}

static int events(struct member *m)
{
	struct ub_event ev;

	begun();
	while (read(m->fd, &ev, sizeof(ev)) == sizeof(ev))
		;
	return -errno;
}

/* Of two, the other of which never comes. */
static int make(struct member *m)
{
	__u64 key[2];

	fresh_key(key);
	m->gc = world_arg(key, 2, 0, 600000);
	begun();
	return step_create(m);
}

/* Both lanes have made the group; this one waits for the other. */
static int wait_forever(struct member *m)
{
	begun();
	return barrier(m, AW | UB_BARRIER_SLEEP, UB_RED_NONE, 0, UB_FOREVER);
}

static int run_barriers(struct member *m)
{
	int ret;

	begun();
	do {
		ret = barrier(m, AW | UB_BARRIER_SLEEP, UB_RED_SUM, 1, UB_FOREVER);
	} while (!ret);
	return ret;
}

static struct user users[] = {
	{ .name = "mapped_pages", .run = store, .want = SIGBUS },
	{ .name = "copying", .run = copy, .want = -ESHUTDOWN },
	{ .name = "waiting_for_events", .run = events, .want = -ESHUTDOWN },
	{ .name = "making_a_group", .run = make, .want = -ESHUTDOWN },
	{ .name = "waiting_in_a_barrier", .run = wait_forever, .want = -ESHUTDOWN },
	{ .name = "running_barriers_0", .run = run_barriers, .want = -ESHUTDOWN },
	{ .name = "running_barriers_1", .run = run_barriers, .want = -ESHUTDOWN },
};

/* A group of two lanes; each is a user's, or nobody's. */
static int pair(struct member *a, struct member *b)
{
	__u64 key[2];

	fresh_key(key);
	a->gc = world_arg(key, 2, 0, 20000);
	b->gc = world_arg(key, 2, 1, 20000);
	member_start(a, step_create);
	member_start(b, step_create);
	return member_join(a) ?: member_join(b);
}

/* What is left of a device that has gone. */
static int nothing_works(int fd)
{
	struct ub_win_create w;
	int ret = win_create(fd, UNIT, RW, &w);

	if (ret != -ESHUTDOWN)
		return ret ? ret : -1;
	return win_map(fd, UNIT, PAGE, PROT_READ) == MAP_FAILED ? 0 : -2;
}

static int prepare(struct member *nobody)
{
	unsigned int i;

	for (i = 0; i < COUNT(users); i++) {
		users[i].m.fd = lane();
		if (users[i].m.fd < 0)
			return users[i].m.fd;
	}
	nobody->fd = lane();
	if (nobody->fd < 0)
		return nobody->fd;
	return pair(&users[4].m, nobody) ?: pair(&users[5].m, &users[6].m);
}

static bool all_at_it(void)
{
	__u64 end = in_ms(60000);

	while (__atomic_load_n(&at_it, __ATOMIC_ACQUIRE) < COUNT(users)) {
		if (now() > end)
			return false;
		sleep_ms(1);
	}
	sleep_ms(200);	/* those who wait are asleep */
	return true;
}

static int joined(struct user *u)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += 60;
	return pthread_timedjoin_np(u->m.thread, NULL, &t) ? -ETIME : u->m.ret;
}

int main(int argc, char **argv)
{
	struct member nobody = { .n = 2 };
	unsigned int i;
	int ret;

	if (argc < 2)
		return 2;
	device = argv[1];
	ksft_print_header();
	ksft_set_plan(COUNT(users) + 2);
	mlockall(MCL_CURRENT);
	ret = prepare(&nobody);
	if (ret)
		ksft_exit_fail_msg("%s: %s\n", device, strerror(-ret));
	for (i = 0; i < COUNT(users); i++)
		member_start(&users[i].m, users[i].run);
	ksft_test_result(all_at_it(), "all_are_at_it\n");
	if (argc > 2) {
		pid_t pid = fork();

		if (!pid) {
			execvp(argv[2], argv + 2);
			_exit(127);
		}
		if (reap(pid))
			ksft_exit_fail_msg("%s failed\n", argv[2]);
	} else {
		ksft_print_msg("up\n");
		fflush(stdout);
	}
	for (i = 0; i < COUNT(users); i++) {
		ret = joined(&users[i]);
		if (ret != users[i].want)
			ksft_print_msg("%d, not %d\n", ret, users[i].want);
		ksft_test_result(ret == users[i].want, "%s\n", users[i].name);
		if (ret == -ETIME)
			ksft_exit_fail_msg("it hangs\n");
	}
	ret = nothing_works(nobody.fd);
	if (ret)
		ksft_print_msg("%d\n", ret);
	ksft_test_result(!ret, "nothing_works\n");
	ksft_finished();
}
