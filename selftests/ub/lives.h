/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process that is in a state when something happens, as a member of a world of
 * three, whose others are threads of the test: the states, the ends that it makes
 * itself, and how it begins.
 */
#ifndef UB_SELFTEST_LIVES_H
#define UB_SELFTEST_LIVES_H

#include <sys/syscall.h>
#include "util.h"

#define MEMBERS	3		/* 0 and 1 are threads here, 2 is the process */
#define GONE_MS	5000		/* to end, where others have the CPUs */

struct life {
	__u64 key[2];
	__u32 minor[MEMBERS];
	__u32 up;		/* the process is in the state, or about to be */
	__u32 stop;
	__u32 inherited;	/* what a child with its file could do: must stay 0 */
	int state;
	int end;
	int fd;			/* of the process, in it */
	int theirs[2];		/* of the others, which a child inherits */
	struct ub_win_create w;	/* of member 0 */
};

static int open_of(const struct life *l, int i)
{
	return open_node(l->minor[i]);
}

/* ---- states: until a call fails, or for ever ---- */

static int in_idle(struct life *l, struct member *m)
{
	set_word(&l->up);
	while (!LD(&l->stop))
		sleep_ms(1);
	return 0;
}

static void bus_ends(int sig)
{
	_exit(0);
}

/* As a library polls. */
static int in_user_space(struct life *l, struct member *m)
{
	unsigned char *p = win_map(m->fd, m->gc.out_offset, m->gc.out_map_size,
				   PROT_READ | PROT_WRITE);

	if (p == MAP_FAILED)
		return 1;
	signal(SIGBUS, bus_ends);
	for (ST(&p[ub_group_lines_off() + 2 * 64 + 8], 0); !LD(&l->stop); set_word(&l->up))
		(void)LD(p);
	return 0;
}

static int in_barrier(struct life *l, struct member *m)
{
	set_word(&l->up);
	barrier(m, AW | UB_BARRIER_SLEEP, 0, 0, UB_FOREVER);
	return 0;
}

static int in_creation(struct life *l, struct member *m)
{
	__u64 key[2] = { l->key[0], ~l->key[1] };

	m->gc = world_arg(key, 2, 0, 0);
	m->gc.timeout = UB_FOREVER;
	set_word(&l->up);
	step_create(m);
	return 0;
}

static int is_lost(struct life *l, struct member *m)
{
	int ret = step_barrier(m);

	return ret == -EOWNERDEAD ? in_idle(l, m) : 2;
}

static int in_shrinking(struct life *l, struct member *m)
{
	int ret = step_barrier(m);

	if (ret != -EOWNERDEAD)
		return 3;
	m->shrink = ARG(ub_group_shrink, .group = m->group, .timeout = UB_FOREVER);
	set_word(&l->up);
	call(m->fd, UB_IOC_GROUP_SHRINK, &m->shrink);
	return 0;
}

static int in_xfer(struct life *l, struct member *m)
{
	static struct ub_xfer_op_desc d[4096];
	struct ub_xfer x = ARG(ub_xfer, .ops = PTR(d), .nops = COUNT(d));
	static char buf[UNIT];
	size_t i;

	if (win_attach(m->fd, &l->w, RW))
		return 4;
	for (i = 0; i < COUNT(d); i++)
		d[i] = (struct ub_xfer_op_desc){ .op = i % 2, .gva = l->w.out_desc.gva,
						 .addr = PTR(buf), .length = UNIT };
	set_word(&l->up);
	while (!call(m->fd, UB_IOC_XFER, &x) && x.out_done && !LD(&l->stop))
		;
	return 0;
}

static int in_mapping(struct life *l, struct member *m)
{
	struct ub_win_create w;
	unsigned char *p;
	size_t i;

	signal(SIGBUS, bus_ends);
	if (win_create(m->fd, 4 * UNIT, RW, &w))
		return 5;
	while (!LD(&l->stop)) {
		p = win_map(m->fd, w.out_desc.gva, 4 * UNIT, PROT_READ | PROT_WRITE);
		if (p == MAP_FAILED)
			break;
		for (i = 0; i < 4 * UNIT; i += PAGE)
			ST(&p[i], 1);
		set_word(&l->up);
		munmap(p, 4 * UNIT);
	}
	return 0;
}

static int in_windows(struct life *l, struct member *m)
{
	struct ub_win_create w;
	struct ub_win_id id;

	while (!LD(&l->stop) && !win_create(m->fd, UNIT, RW, &w) &&
	       !win_rotate(m->fd, w.out_desc.window, &id) &&
	       !win_destroy(m->fd, w.out_desc.window))
		set_word(&l->up);
	return 0;
}

static int in_attaching(struct life *l, struct member *m)
{
	while (!LD(&l->stop) && !win_attach(m->fd, &l->w, RW) &&
	       !win_detach(m->fd, l->w.out_desc.gva))
		set_word(&l->up);
	return 0;
}

static int in_read(struct life *l, struct member *m)
{
	struct ub_event ev;

	set_word(&l->up);
	while (!LD(&l->stop) && read(m->fd, &ev, sizeof(ev)) > 0)
		;
	return 0;
}

static int in_poll(struct life *l, struct member *m)
{
	struct pollfd p = { .fd = m->fd, .events = POLLPRI };

	set_word(&l->up);
	while (!LD(&l->stop) && poll(&p, 1, 100) >= 0 && !(p.revents & (POLLERR | POLLHUP)))
		;
	return 0;
}

static const struct {
	const char *name;
	int (*run)(struct life *l, struct member *m);
	bool lost;		/* member 1 has left before */
} states[] = {
	{ "idle", in_idle }, { "user space", in_user_space }, { "barrier", in_barrier },
	{ "creation", in_creation }, { "lost", is_lost, true },
	{ "shrinking", in_shrinking, true }, { "xfer", in_xfer }, { "mapping", in_mapping },
	{ "windows", in_windows }, { "attaching", in_attaching }, { "read", in_read },
	{ "poll", in_poll },
};

/* ---- ends, by a second thread of the process ---- */

static void end_exit(struct life *l)
{
	_exit(0);
}

static void end_close(struct life *l)
{
	close(l->fd);
}

static void end_exec(struct life *l)
{
	fcntl(l->fd, F_SETFD, 0);
	execl("/bin/sleep", "sleep", "60", NULL);
	_exit(99);
}

/* The child outlives it, with its file and its windows. */
static void end_fork(struct life *l)
{
	struct ub_win_create w;
	__u64 end = in_ms(60000);

	if (!syscall(SYS_fork)) {
		if (win_create(l->fd, UNIT, RW, &w) != -EPERM)
			ST(&l->inherited, 1);
		while (!LD(&l->stop) && now() < end)
			sleep_ms(1);
		_exit(0);
	}
	kill(getpid(), SIGKILL);
}

static const struct end {
	const char *name;
	void (*run)(struct life *l);
} ends[] = {
	{ "killed" }, { "exits", end_exit }, { "file closed", end_close },
	{ "executes", end_exec }, { "child outlives it", end_fork },
};

static int step_end(struct member *m)
{
	struct life *l = m->ctx;

	wait_word(&l->up, 20000);
	sleep_ms(10);
	ends[l->end].run(l);
	return 0;
}

static int process(void *ctx)
{
	struct life *l = ctx;
	struct member m = { .fd = open_of(l, 2) }, second = { .ctx = l };

	close(l->theirs[0]);
	close(l->theirs[1]);
	m.gc = world_arg(l->key, MEMBERS, 2, 10000);
	if (m.fd < 0 || step_create(&m))
		return 100;
	l->fd = m.fd;
	if (l->end >= 0 && ends[l->end].run)
		member_start(&second, step_end);
	return states[l->state].run(l, &m);
}

/* ---- the others ---- */

/* A world of which the process is in @state; its pid, or -1. */
static pid_t begin(struct life *l, struct member *m, int state, int end)
{
	pid_t pid;
	int i;

	l->up = l->stop = l->inherited = 0;
	l->state = state;
	l->end = end;
	fresh_key(l->key);
	for (i = 0; i < 2; i++) {
		m[i] = (struct member){ .index = i, .fd = open_of(l, i) };
		if (m[i].fd < 0)
			return -1;
		l->theirs[i] = m[i].fd;
		m[i].gc = world_arg(l->key, MEMBERS, i, 10000);
	}
	if (win_create(m[0].fd, UNIT, RW, &l->w))
		return -1;
	pid = spawn(process, l);
	if (members_run(m, 2, step_create))
		return -1;
	if (states[state].lost) {
		close(m[1].fd);
		m[1].fd = -1;
	}
	return wait_word(&l->up, 10000) ? pid : -1;
}

/* Reaped in time? */
static bool gone(pid_t pid, unsigned int ms)
{
	__u64 end = in_ms(ms);

	while (!waitpid(pid, NULL, WNOHANG)) {
		if (now() > end)
			return false;
		sleep_ms(1);
	}
	return true;
}

/*
 * The process is in a state while @go takes its fabric away, which waits for
 * nobody; every call ends then, every file can be closed. NULL, or what is wrong.
 */
static const char *while_in(struct life *l, struct member *m, int state,
			    int (*go)(void *ctx), void *ctx)
{
	const char *wrong = NULL;
	struct ub_win_create w;
	pid_t pid = begin(l, m, state, -1);
	__u64 start;

	if (pid <= 0)
		return "the process does not begin";
	sleep_ms(15);
	start = now();
	if (go(ctx))
		wrong = "the fabric does not go";
	else if (now() - start >= GONE_MS * MS)
		wrong = "the fabric is slow to go";
	else if (win_create(m[0].fd, UNIT, RW, &w) != -ESHUTDOWN)
		wrong = "calls are not refused";
	/* What only waits for a word is told by it; calls end by themselves. */
	if (states[state].run == in_idle || states[state].run == is_lost)
		set_word(&l->stop);
	if (!gone(pid, GONE_MS))
		wrong = "the process hangs";
	kill(pid, SIGKILL);
	world_close(m, 2);
	return wrong;
}

#endif /* UB_SELFTEST_LIVES_H */
