// SPDX-License-Identifier: GPL-2.0-only
/* A rig: all nodes together; see rig.h. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "progress.h"
#include "rig.h"

#define BOOT_FAILURE_LINES 15

static void reap(struct rig *r)
{
	int status, i;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (i = 0; i < r->n; i++)
			if (r->node[i].pid == pid)
				node_reaped(&r->node[i], status);
}

static void got_signal(void *arg, uint32_t events)
{
	static int fd = -1;
	struct signalfd_siginfo si;
	struct rig *r = arg;
	sigset_t set;

	if (!events) {		/* set up */
		sigemptyset(&set);
		sigaddset(&set, SIGCHLD);
		sigaddset(&set, SIGINT);
		sigaddset(&set, SIGTERM);
		sigaddset(&set, SIGHUP);
		sigprocmask(SIG_BLOCK, &set, NULL);
		fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
		if (fd < 0)
			die("signalfd: %s", strerror(errno));
		loop_add(fd, EPOLLIN, got_signal, r);
		return;
	}
	while (read(fd, &si, sizeof(si)) == sizeof(si))
		if (si.ssi_signo == SIGCHLD)
			reap(r);
		else
			r->ops->signalled(r->arg, si.ssi_signo);
}

static void raise_fd_limit(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) || lim.rlim_cur >= 4096)
		return;
	lim.rlim_cur = lim.rlim_max < 4096 ? lim.rlim_max : 4096;
	setrlimit(RLIMIT_NOFILE, &lim);
}

void rig_init(struct rig *r, struct opts *o, const struct rig_ops *ops,
	      void *arg)
{
	int i;

	memset(r, 0, sizeof(*r));
	r->opts = o;
	r->ops = ops;
	r->arg = arg;
	r->n = o->nodes;
	r->start = now_ns();
	raise_fd_limit();
	kernel_find(&r->kernel, o->kernel_dir);
	r->accel = xstrdup(accel_probe(&r->kernel, o->accel));
	r->tsc_khz = tsc_measure_khz();
	r->initrd_fd = initramfs_make(&r->kernel, false);
	for (i = 0; i < o->devices; i++)
		ivshmem_init(&r->mem[i], o->bar[i]);
	switch_init(&r->net);
	r->node = xcalloc(r->n, sizeof(*r->node));
	for (i = 0; i < r->n; i++) {
		r->node[i].rig = r;
		r->node[i].index = i;
		r->node[i].id = o->ids[i];
		r->node[i].agent.fd = -1;
		r->node[i].qmp.fd = -1;
		r->node[i].con.fd = -1;
		r->node[i].con.log = -1;
		r->node[i].err.fd = -1;
		r->node[i].err.log = -1;
	}
	got_signal(r, 0);
}

static int count(const struct rig *r, enum node_state state)
{
	int i, n = 0;

	for (i = 0; i < r->n; i++)
		n += r->node[i].state == state;
	return n;
}

static void boot_over(struct rig *r)
{
	r->booting = false;
	loop_timer_cancel(&r->boot_limit);
	loop_timer_cancel(&r->progress);
	progress_hide();
}

static void show_console(const struct node *n)
{
	const char *text = n->con.tail.data;
	size_t len = n->con.tail.len, at = len;
	int lines = 0;

	while (at && lines <= BOOT_FAILURE_LINES)
		if (text[--at] == '\n')
			lines++;
	if (!len)
		return;
	at += at != 0;
	say("n%d: the end of its console:", n->index);
	fwrite(text + at, 1, len - at, stderr);
}

void rig_changed(struct node *n)
{
	struct rig *r = n->rig;

	if (r->booting && n->state == NODE_DEAD) {
		boot_over(r);
		say("n%d: did not come up: %s", n->index, n->why);
		show_console(n);
		r->ops->boot_failed(r->arg);
	} else if (r->booting && count(r, NODE_READY) == r->n) {
		boot_over(r);
		if (r->opts->verbose)
			say("%d nodes up in %.1f s by %s", r->n,
			    (double)(now_ns() - r->start) / NSEC_PER_SEC,
			    r->accel);
		r->ops->up(r->arg);
	}
	r->ops->changed(r->arg, n);
}

static void boot_too_long(void *arg)
{
	struct rig *r = arg;
	int i;

	boot_over(r);
	for (i = 0; i < r->n; i++)
		if (r->node[i].state == NODE_BOOTING) {
			say("n%d: not up after %g s (--boot-timeout)", i,
			    r->opts->boot_timeout);
			show_console(&r->node[i]);
		}
	r->ops->boot_failed(r->arg);
}

static void tick(void *arg)
{
	struct rig *r = arg;

	progress_show("ubrig: booting %d nodes by %s: %d ready, %.1f s", r->n,
		      r->accel, count(r, NODE_READY),
		      (double)(now_ns() - r->start) / NSEC_PER_SEC);
	loop_timer_set(&r->progress, NSEC_PER_SEC / 4, tick, r);
}

void rig_boot_all(struct rig *r)
{
	int i;

	r->booting = true;
	for (i = 0; i < r->n; i++)
		node_boot(&r->node[i]);
	loop_timer_set(&r->boot_limit, r->opts->boot_timeout * NSEC_PER_SEC,
		       boot_too_long, r);
	tick(r);
}

void rig_kill_all(struct rig *r)
{
	int i, status;

	boot_over(r);
	for (i = 0; i < r->n; i++)
		node_kill(&r->node[i]);
	for (i = 0; i < r->n; i++)
		if (r->node[i].pid &&
		    waitpid(r->node[i].pid, &status, 0) == r->node[i].pid)
			node_reaped(&r->node[i], status);
}

/* "2" or "n2"; NULL where there is none. */
struct node *rig_find(struct rig *r, const char *name)
{
	const char *digits = name + (*name == 'n');
	char *end;
	long v;

	v = strtol(digits, &end, 10);
	if (end == digits || *end || v < 0 || v >= r->n)
		return NULL;
	return &r->node[v];
}
