/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of libub share: KTAP, and members as forked processes; as threads
 * under ThreadSanitizer, which sees nothing between processes; or, with T_RANKED
 * set, as whatever a launcher started, which is one member each.
 */
#ifndef T_H
#define T_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "libub.h"
#include "host_arena.h"

#define T_MAX	64

static int t_count, t_failed;
static bool t_skipped;	/* the last t_run() had nothing to run */

static inline uint64_t t_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static inline void t_plan(int n)
{
	printf("KTAP version 1\n1..%d\n", n);
	fflush(stdout);
}

static inline void t_result(bool ok, const char *name)
{
	t_count++;
	t_failed += !ok;
	printf("%sok %d %s%s\n", ok ? "" : "not ", t_count, name,
	       t_skipped ? " # SKIP not with these nodes" : "");
	t_skipped = false;
	fflush(stdout);
}

static inline int t_end(void)
{
	return t_failed ? 1 : 0;
}

/* In a member: complain and fail. */
#define T_CHECK(cond) do {						\
	if (!(cond)) {							\
		printf("# %s:%d: rank %d: %s (%s)\n", __FILE__, __LINE__,\
		       t_rank, #cond, ub_last_error());			\
		fflush(stdout);						\
		return 1;						\
	}								\
} while (0)

static _Thread_local int t_rank = -1;
static uint64_t t_bytes = 1ULL << 30;	/* of the next arena */
static int t_spares;	/* how many of the next job's members */

typedef int (*t_member_fn)(struct ub_ctx *ctx, struct ub_scope *world);

/**
 * struct t_job - members that run
 * @fd: arena
 * @arena: mapped by the test itself, to tell of exits like a launcher
 */
struct t_job {
	int n;
	int fd;
	struct ub_host_arena *arena;
	pid_t pid[T_MAX];
};

static inline void t_env(const char *name, long value)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", value);
	setenv(name, text, 1);
}

/* Called in each member before it joins; and with the arena before any is made. */
static void (*t_before)(void);
static void (*t_format)(struct ub_host_arena *a);

/*
 * With T_DEVICE=/dev/ubfab%d the members use the device of their node, as those
 * of ub.ko's loop fabric, rather than the host's memory.
 */
static inline void t_device(int node)
{
	char *form = getenv("T_DEVICE"), *at = form ? strstr(form, "%d") : NULL;
	char path[64];

	if (!at)
		return;
	snprintf(path, sizeof(path), "%.*s%d%s", (int)(at - form), form, node, at + 2);
	setenv("UB_FABRIC", path, 1);
}

/* @node gives each rank's node id; NULL: all on node 0. */
static inline int t_start(struct t_job *j, int n, const int *node,
			  t_member_fn fn)
{
	static int job;
	int r;

	job++;
	j->n = n;
	j->fd = ub_host_arena_create(n, t_bytes);
	if (j->fd < 0) {
		printf("# %s\n", ub_last_error());
		return -1;
	}
	j->arena = ub_host_arena_map(j->fd);
	if (t_format)
		t_format(j->arena);
	fflush(stdout);
	for (r = 0; r < n; r++) {
		struct ub_ctx *ctx;
		int err;

		j->pid[r] = fork();
		if (j->pid[r])
			continue;
		t_rank = r;
		if (t_before)
			t_before();
		t_env("UB_RANK", r);
		t_env("UB_SIZE", n - t_spares);
		t_env("UB_SPARES", t_spares);
		t_env("UB_NODE", node ? node[r] : 0);
		t_env("UB_HOST_FD", j->fd);
		t_env("UB_JOB", 0x7e57 + job);
		t_device(node ? node[r] : 0);
		err = ub_init(&ctx, NULL);
		if (err == -ECANCELED && r >= n - t_spares)
			_exit(0);
		if (err) {
			printf("# rank %d: ub_init: %d %s\n", r, err,
			       ub_last_error());
			fflush(stdout);
			_exit(1);
		}
		err = fn(ctx, ub_world(ctx));
		fflush(stdout);
		ub_fini(ctx);
		exit(err);
	}
	return 0;
}

/* 0 when all returned 0; -1 - status of one that did not. Killed ones in
 * @killed (a mask) are expected. */
static inline int t_wait(struct t_job *j, uint64_t killed)
{
	int r, status, bad = 0;

	for (r = 0; r < j->n; r++) {
		waitpid(j->pid[r], &status, 0);
		if (killed >> r & 1)
			continue;
		if (status) {
			printf("# rank %d: status 0x%x\n", r, status);
			bad = 1;
		}
	}
	ub_host_arena_unmap(j->arena);
	close(j->fd);
	return bad;
}

/* ---- members as threads ---- */

struct t_thread {
	pthread_t thread;
	struct ub_opts opts;
	t_member_fn fn;
};

static inline bool t_threads(void)
{
#ifdef __SANITIZE_THREAD__
	return true;
#else
	return getenv("T_THREADS");
#endif
}

static inline void *t_thread_main(void *arg)
{
	struct t_thread *t = arg;
	struct ub_ctx *ctx;
	long err;

	t_rank = t->opts.rank;
	err = ub_init(&ctx, &t->opts);
	if (err) {
		printf("# rank %d: ub_init: %ld %s\n", t_rank, err,
		       ub_last_error());
		return (void *)err;
	}
	err = t->fn(ctx, ub_world(ctx));
	ub_fini(ctx);
	return (void *)err;
}

static inline int t_run_threads(int n, const int *node, t_member_fn fn)
{
	struct t_thread t[T_MAX];
	bool sized = getenv("UB_HOST_MEM");
	int r, bad = 0;
	void *arena;

	setenv("UB_HOST_MEM", "1G", 0);
	arena = ub_host_arena(n);
	if (!sized)
		unsetenv("UB_HOST_MEM");
	if (!arena) {
		printf("# %s\n", ub_last_error());
		return 1;
	}
	if (t_format)
		t_format(arena);
	for (r = 0; r < n; r++) {
		t[r] = (struct t_thread){
			.fn = fn,
			.opts = {
				.size = sizeof(t->opts), .rank = r, .nranks = n,
				.host_arena = arena, .node = node ? node[r] : 0,
			},
		};
		pthread_create(&t[r].thread, NULL, t_thread_main, &t[r]);
	}
	for (r = 0; r < n; r++) {
		void *ret;

		pthread_join(t[r].thread, &ret);
		bad |= !!ret;
	}
	ub_host_arena_free(arena);
	return bad;
}

/* ---- this process is a member ---- */

static inline int t_run_ranked(int n, const int *node, t_member_fn fn)
{
	int size = atoi(getenv("UB_SIZE")), r, err;
	struct ub_ctx *ctx;

	t_skipped = n != size;
	for (r = 1; node && !t_skipped && r < n; r++)
		t_skipped = node[r] && node[r] != r;
	if (t_skipped)
		return 0;
	t_rank = atoi(getenv("UB_RANK"));
	err = ub_init(&ctx, NULL);
	if (err) {
		printf("# ub_init: %d %s\n", err, ub_last_error());
		return err;
	}
	err = fn(ctx, ub_world(ctx));
	if (!err)
		err = ub_sync(ub_world(ctx));
	ub_fini(ctx);
	return err;
}

static inline int t_run(int n, const int *node, t_member_fn fn)
{
	struct t_job j;

	if (getenv("T_RANKED"))
		return t_run_ranked(n, node, fn);
	if (t_threads())
		return t_run_threads(n, node, fn);
	if (t_start(&j, n, node, fn))
		return 1;
	return t_wait(&j, 0);
}

/* A machine file of this text for the members to come; "" or NULL: none. */
static inline void t_machine(const char *text)
{
	char path[] = "/tmp/ub-test-machine-XXXXXX";
	static char was[sizeof(path)];
	int fd;

	if (*was)
		unlink(was);
	*was = '\0';
	unsetenv("UB_MACHINE");
	if (!text || !*text)
		return;
	fd = mkstemp(path);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) {
		perror(path);
		exit(1);
	}
	close(fd);
	strcpy(was, path);
	setenv("UB_MACHINE", path, 1);
}

static inline void t_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

#endif /* T_H */
