/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event loop: descriptors and timers, one thread.
 *
 * Invariants: one event is delivered at a time, so a handler may remove any
 * descriptor, its own included. There is one loop per process.
 */
#ifndef UBRIG_LOOP_H
#define UBRIG_LOOP_H

#include <stdint.h>
#include <sys/epoll.h>

typedef void loop_fd_fn(void *arg, uint32_t events);
typedef void loop_timer_fn(void *arg);

struct loop_timer {
	int64_t deadline;	/* CLOCK_MONOTONIC ns; 0: not set */
	loop_timer_fn *fn;
	void *arg;
	struct loop_timer *next;
};

void loop_add(int fd, uint32_t events, loop_fd_fn *fn, void *arg);
void loop_events(int fd, uint32_t events);
void loop_del(int fd);
void loop_timer_set(struct loop_timer *t, int64_t ns, loop_timer_fn *fn,
		    void *arg);
void loop_timer_cancel(struct loop_timer *t);
void loop_run(void);		/* until loop_stop() */
void loop_stop(void);

#endif
