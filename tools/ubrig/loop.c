// SPDX-License-Identifier: GPL-2.0-only
/* The event loop; see loop.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loop.h"
#include "util.h"

struct slot {
	loop_fd_fn *fn;
	void *arg;
};

static int epfd = -1;
static struct slot *slots;
static int nslots;
static struct loop_timer *timers;	/* sorted by deadline */
static int stopped;

void loop_add(int fd, uint32_t events, loop_fd_fn *fn, void *arg)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };

	if (epfd < 0)
		epfd = epoll_create1(EPOLL_CLOEXEC);
	if (fd >= nslots) {
		int want = fd + 64;

		slots = realloc(slots, want * sizeof(*slots));
		if (!slots)
			die("out of memory");
		memset(slots + nslots, 0, (want - nslots) * sizeof(*slots));
		nslots = want;
	}
	slots[fd] = (struct slot){ .fn = fn, .arg = arg };
	if (epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &ev))
		die("epoll: %s", strerror(errno));
}

void loop_events(int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };

	if (epoll_ctl(epfd, EPOLL_CTL_MOD, fd, &ev))
		die("epoll: %s", strerror(errno));
}

void loop_del(int fd)
{
	epoll_ctl(epfd, EPOLL_CTL_DEL, fd, NULL);
	slots[fd].fn = NULL;
}

void loop_timer_cancel(struct loop_timer *t)
{
	struct loop_timer **p;

	for (p = &timers; *p; p = &(*p)->next)
		if (*p == t) {
			*p = t->next;
			break;
		}
	t->deadline = 0;
}

void loop_timer_set(struct loop_timer *t, int64_t ns, loop_timer_fn *fn,
		    void *arg)
{
	struct loop_timer **p;

	loop_timer_cancel(t);
	t->deadline = now_ns() + ns;
	t->fn = fn;
	t->arg = arg;
	for (p = &timers; *p && (*p)->deadline <= t->deadline; p = &(*p)->next)
		;
	t->next = *p;
	*p = t;
}

static int run_timers(void)
{
	struct loop_timer *t;
	int64_t left;

	while ((t = timers) && !stopped) {
		left = t->deadline - now_ns();
		if (left > 0)
			return left / 1000000 + 1;
		loop_timer_cancel(t);
		t->fn(t->arg);
	}
	return stopped ? 0 : -1;
}

void loop_run(void)
{
	struct epoll_event ev;
	int wait, n;

	stopped = 0;
	for (;;) {
		wait = run_timers();
		if (stopped)
			return;
		n = epoll_wait(epfd, &ev, 1, wait);
		if (n < 0 && errno != EINTR)
			die("epoll_wait: %s", strerror(errno));
		if (n == 1 && slots[ev.data.fd].fn)
			slots[ev.data.fd].fn(slots[ev.data.fd].arg, ev.events);
		if (stopped)
			return;
	}
}

void loop_stop(void)
{
	stopped = 1;
}
