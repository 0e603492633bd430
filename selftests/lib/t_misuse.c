// SPDX-License-Identifier: GPL-2.0-only
/* Wrong calls: two threads in one scope, forked children, bad arguments. */
#include "t.h"
#include <pthread.h>

static int busy_seen;

static void *hammer(void *arg)
{
	struct ub_scope *s = arg;
	long done = 0, i;

	for (i = 0; i < 200000; i++) {
		int err = ub_sync(s);

		if (err && err != -EBUSY)
			return (void *)-1L;
		if (err)
			__atomic_store_n(&busy_seen, 1, __ATOMIC_RELAXED);
		else
			done++;
	}
	return (void *)done;
}

/* Nothing breaks: every call either counts as one barrier or is refused. */
static int two_threads(struct ub_ctx *ctx, struct ub_scope *w)
{
	uint64_t before = ub_epoch(w);
	pthread_t t[2];
	long n = 0;
	int i;

	(void)ctx;
	for (i = 0; i < 2; i++)
		T_CHECK(!pthread_create(&t[i], NULL, hammer, w));
	for (i = 0; i < 2; i++) {
		void *done;

		pthread_join(t[i], &done);
		T_CHECK((long)done >= 0);
		n += (long)done;
	}
	T_CHECK(ub_epoch(w) == before + n);
	T_CHECK(!ub_sync(w));
	return 0;
}

static void *blocked(void *arg)
{
	return (void *)(long)ub_sync(arg);
}

static int blocked_thread(struct ub_ctx *ctx, struct ub_scope *w)
{
	pthread_t t;
	void *err;

	(void)ctx;
	if (ub_rank(w)) {
		usleep(200000);
		return ub_sync(w);
	}
	T_CHECK(!pthread_create(&t, NULL, blocked, w));
	usleep(50000);
	T_CHECK(ub_sync(w) == -EBUSY);
	T_CHECK(strstr(ub_last_error(), "thread"));
	pthread_join(t, &err);
	T_CHECK(!err);
	return 0;
}

/* One after the other is fine. */
static int by_turns(struct ub_ctx *ctx, struct ub_scope *w)
{
	int i;

	(void)ctx;
	for (i = 0; i < 100; i++) {
		pthread_t t;
		void *err;

		T_CHECK(!ub_sync(w));
		T_CHECK(!pthread_create(&t, NULL, blocked, w));
		pthread_join(t, &err);
		T_CHECK(!err);
	}
	return 0;
}

static int child(struct ub_ctx *ctx, struct ub_scope *w)
{
	struct ub_win *win;
	int status;
	pid_t pid;

	T_CHECK(!ub_win_create(w, 100, &win));
	T_CHECK(!ub_sync(w));
	pid = fork();
	if (!pid) {
		struct ub_lost_info info;
		char c = 0;

		if (ub_sync(w) != -EPERM || ub_arrive(w, UB_NONE, 0) != -EPERM ||
		    ub_put(w, win, 0, 0, &c, 1) != -EPERM ||
		    ub_lost(w, &info) != -EPERM)
			_exit(1);
		ub_fini(ctx);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	T_CHECK(!status);
	/* The child's end is not the member's. */
	T_CHECK(!ub_sync(w));
	usleep(150000);
	T_CHECK(!ub_sync(w));
	return 0;
}

static int arguments(struct ub_ctx *ctx, struct ub_scope *w)
{
	struct ub_scope *s;
	struct ub_win *win;
	uint64_t v;

	T_CHECK(ub_sync_reduce(w, 99, 0, &v) == -EINVAL);
	T_CHECK(ub_wait(w, &v) == -EINVAL);
	T_CHECK(!ub_arrive(w, UB_SUM, 1));
	T_CHECK(ub_arrive(w, UB_SUM, 1) == -EALREADY);
	T_CHECK(ub_sync(w) == -EALREADY);
	T_CHECK(ub_scope_enter(w, "node", &s) == -EALREADY);
	T_CHECK(!ub_wait(w, &v) && v == (uint64_t)ub_size(w));
	T_CHECK(ub_sync_max_double(w, -1, NULL) == -EINVAL);
	T_CHECK(ub_scope_exit(w) == -EINVAL);
	T_CHECK(ub_node(w, 77) == -EINVAL);
	T_CHECK(ub_shrink(w, &s) == -EINVAL && !s);
	T_CHECK(ub_allreduce(w, &v, &v, 1, 77, UB_OP_SUM) == -EINVAL);
	T_CHECK(!ub_scope_split(w, 0, 0, &s));
	T_CHECK(!ub_win_create(s, 10, &win));
	T_CHECK(ub_scope_exit(s) == -EBUSY);
	T_CHECK(!ub_win_free(win));
	T_CHECK(!ub_scope_exit(s));
	T_CHECK(!strcmp(ub_backend(ctx), "host"));
	return 0;
}

static bool init_errors(void)
{
	struct ub_ctx *ctx = (void *)1;
	struct ub_opts o = { .size = 3 };
	bool ok = ub_init(&ctx, &o) == -EINVAL && !ctx;

	o = (struct ub_opts){ .size = sizeof(o), .rank = 4, .nranks = 3 };
	ok &= ub_init(&ctx, &o) == -EINVAL;
	o = (struct ub_opts){ .size = sizeof(o), .rank = 0, .nranks = 3 };
	ok &= ub_init(&ctx, &o) == -EINVAL && strstr(ub_last_error(), "ubrun");
	setenv("UB_SIZE", "two", 1);
	ok &= ub_init(&ctx, NULL) == -EINVAL && strstr(ub_last_error(), "UB_SIZE");
	unsetenv("UB_SIZE");
	o = (struct ub_opts){ .size = sizeof(o), .fabric = "/dev/null" };
	ok &= ub_init(&ctx, &o) < 0 && strstr(ub_last_error(), "/dev/null");
	ub_fini(NULL);
	/* Alone, with nothing at all, twice. */
	ok &= !ub_init(&ctx, NULL) && !ub_sync(ub_world(ctx));
	ub_fini(ctx);
	ok &= !ub_init(&ctx, NULL) && !ub_sync(ub_world(ctx));
	ub_fini(ctx);
	return ok;
}

/* Two processes as one rank; and a job whose size is not agreed. */
static bool clashes(void)
{
	int fd = ub_host_arena_create(2, 1 << 20), r, status, bad = 0;
	pid_t pid[2];

	for (r = 0; r < 2; r++) {
		pid[r] = fork();
		if (!pid[r]) {
			struct ub_ctx *ctx;
			int err;

			t_env("UB_RANK", 0);
			t_env("UB_SIZE", 2);
			t_env("UB_HOST_FD", fd);
			t_env("UB_START_MS", 500);
			if (r)
				usleep(100000);
			err = ub_init(&ctx, NULL);
			_exit(err != (r ? -EEXIST : -EOWNERDEAD));
		}
	}
	for (r = 0; r < 2; r++) {
		waitpid(pid[r], &status, 0);
		bad |= status;
	}
	close(fd);
	return !bad;
}

/* Another machine file on one rank fails all, soon and by name. */
static bool machines_differ(void)
{
	int fd = ub_host_arena_create(3, 1 << 20), r, status, bad = 0;
	uint64_t t = t_now();

	for (r = 0; r < 3; r++) {
		struct ub_ctx *ctx;

		if (fork())
			continue;
		t_env("UB_RANK", r);
		t_env("UB_SIZE", 3);
		t_env("UB_HOST_FD", fd);
		if (r == 1) {
			usleep(50000);
			setenv("UB_MACHINE", "lib/machines/2x2.yaml", 1);
			_exit(!(ub_init(&ctx, NULL) == -EINVAL &&
				strstr(ub_last_error(), "machine")));
		}
		_exit(!(ub_init(&ctx, NULL) == -EOWNERDEAD &&
			strstr(ub_last_error(), "rank 1")));
	}
	for (r = 0; r < 3; r++) {
		wait(&status);
		bad |= status;
	}
	close(fd);
	return !bad && t_now() - t < 5000000000ULL;
}

/* Joining, leaving and joining again: a program may have several sections. */
static bool sections(void)
{
	int fd = ub_host_arena_create(3, 1 << 20), r, i, status, bad = 0;

	for (r = 0; r < 3; r++) {
		if (fork())
			continue;
		t_env("UB_RANK", r);
		t_env("UB_SIZE", 3);
		t_env("UB_HOST_FD", fd);
		for (i = 0; i < 200; i++) {
			struct ub_ctx *ctx;

			if (ub_init(&ctx, NULL) || ub_sync(ub_world(ctx))) {
				printf("# rank %d, %d: %s\n", r, i,
				       ub_last_error());
				fflush(stdout);
				_exit(1);
			}
			ub_fini(ctx);
		}
		_exit(0);
	}
	for (r = 0; r < 3; r++) {
		wait(&status);
		bad |= status;
	}
	close(fd);
	return !bad;
}

int main(void)
{
	t_plan(9);
	t_result(!t_run(1, NULL, two_threads), "two threads in one scope");
	printf("# -EBUSY was%s seen\n", busy_seen ? "" : " not");
	t_result(!t_run(2, NULL, blocked_thread), "a second thread gets -EBUSY");
	t_result(!t_run(2, NULL, by_turns), "two threads by turns");
	t_result(!t_run(2, NULL, child), "a forked child gets -EPERM");
	t_result(!t_run(3, NULL, arguments), "bad arguments");
	t_result(init_errors(), "bad environments");
	t_result(clashes(), "two processes of one rank");
	t_result(machines_differ(), "machine files that differ");
	t_result(sections(), "ub_init() again and again");
	return t_end();
}
