// SPDX-License-Identifier: GPL-2.0-only
/*
 * Surroundings that are not kind: PID, user and mount namespaces of their own, a
 * tiny /dev/shm, kills and restarts, forks, system(), signals each ms, stops.
 */
#include "t.h"
#include <dirent.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/time.h>

/* ---- namespaces ---- */

static bool isolated_failed;

/*
 * The member is process 1 of its own PID namespace, like all the others. What
 * waits for it outside gives its end on.
 */
static void isolate(void)
{
	int status;
	pid_t pid;

	if (unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS)) {
		isolated_failed = true;
		return;
	}
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		return;
	}
	waitpid(pid, &status, 0);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
}

static int apart(struct ub_ctx *ctx, struct ub_scope *w)
{
	int me = ub_rank(w), n = ub_size(w), i, from;
	struct ub_lost_info info;
	struct ub_scope *s;
	struct ub_win *win;
	double v;

	(void)ctx;
	if (isolated_failed)
		return 0;
	T_CHECK(getpid() == 1);
	T_CHECK(!ub_win_create(w, 1 << 20, &win));
	for (i = 0; i < 200; i++) {
		from = (me + n - 1) % n;
		*((int *)ub_win_peer(win, (me + 1) % n) + (i & 1)) = i * n + me;
		v = me;
		T_CHECK(!ub_allreduce(w, &v, &v, 1, UB_DOUBLE, UB_OP_SUM));
		T_CHECK(v == n * (n - 1) / 2);
		T_CHECK(*((int *)ub_win_base(win) + (i & 1)) == i * n + from);
		if (i % 40 == me)
			usleep(150000);	/* longer than a look after the living */
	}
	if (me == 1)
		_exit(0);	/* without a word */
	T_CHECK(ub_sync(w) == -EOWNERDEAD);
	T_CHECK(!ub_lost(w, &info) && info.rank == 1);
	T_CHECK(!ub_shrink(w, &s) && ub_size(s) == n - 1);
	for (i = 0; i < 100; i++)
		T_CHECK(!ub_sync(s));
	return 0;
}

static bool can_isolate(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS) != 0);
	waitpid(pid, &status, 0);
	return !status;
}

/* ---- /dev/shm ---- */

static int much(struct ub_ctx *ctx, struct ub_scope *w)
{
	size_t bytes = 64 << 20, i;
	struct ub_win *win;
	char *p;

	(void)ctx;
	T_CHECK(!ub_win_create(w, bytes, &win));
	p = ub_win_base(win);
	for (i = 0; i < bytes; i += 4096)
		p[i] = 1;
	T_CHECK(!ub_sync(w));
	p = ub_win_peer(win, !ub_rank(w));
	for (i = 0; i < bytes; i += 4096)
		T_CHECK(p[i] == 1);
	return ub_win_free(win);
}

/* 0: fine, 1: not, 2: no mount to be had */
static int tiny_shm(void)
{
	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=16m"))
		return 2;
	return t_run(2, NULL, much);
}

/* In a process of its own, whose name spaces end with it. */
static void inside(int (*fn)(void), const char *name)
{
	char text[80];
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		status = fn();
		fflush(stdout);
		_exit(status);
	}
	waitpid(pid, &status, 0);
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	snprintf(text, sizeof(text), "%s%s", name,
		 status == 2 ? " # SKIP no name space to be had" : "");
	t_result(!status || status == 2, text);
}

/* ---- kill and restart ---- */

static int entries(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static int lines(const char *path)
{
	FILE *f = fopen(path, "re");
	int n = 0, c;

	while (f && (c = getc(f)) != EOF)
		n += c == '\n';
	if (f)
		fclose(f);
	return n;
}

/* What could be left behind, in name spaces where nobody else leaves anything. */
struct left {
	int shm;
	int tmp;
	int fds;
	int sysv;
	int children;
};

static struct left what_is_there(void)
{
	return (struct left){
		.shm = entries("/dev/shm"),
		.tmp = entries("/tmp"),
		.fds = entries("/proc/self/fd"),
		.sysv = lines("/proc/sysvipc/shm") + lines("/proc/sysvipc/sem"),
		.children = waitpid(-1, NULL, WNOHANG) >= 0,
	};
}

static int *running;

static int busy(struct ub_ctx *ctx, struct ub_scope *w)
{
	size_t bytes = 1 << 20;
	struct ub_scope *s;
	struct ub_win *win;
	char *buf;
	long i;

	(void)ctx;
	T_CHECK(!ub_win_create(w, bytes, &win));
	buf = ub_win_base(win);
	memset(buf, 1, bytes);
	for (i = 0;; i++) {
		if (ub_allreduce(w, buf, buf, bytes / 8, UB_INT64, UB_OP_MAX) ||
		    ub_scope_split(w, ub_rank(w) & 1, 0, &s) ||
		    ub_scope_exit(s))
			pause();	/* the others are dead: so be it */
		if (i == 1)
			__atomic_fetch_add(running, 1, __ATOMIC_SEQ_CST);
	}
}

static bool kill_all(void)
{
	struct t_job j;
	int r;

	*running = 0;
	if (t_start(&j, 3, NULL, busy))
		return false;
	while (__atomic_load_n(running, __ATOMIC_SEQ_CST) < 3)
		usleep(200);
	usleep(rand() % 2000);
	for (r = 0; r < 3; r++)
		kill(j.pid[r], SIGKILL);
	return !t_wait(&j, 7);
}

static int kills(void)
{
	struct left before, after;
	int i;

	if (unshare(CLONE_NEWNS | CLONE_NEWIPC) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", "/dev/shm", "tmpfs", 0, NULL) ||
	    mount("tmpfs", "/tmp", "tmpfs", 0, NULL))
		return 2;
	before = what_is_there();
	for (i = 0; i < 50; i++)
		if (!kill_all())
			return 1;
	after = what_is_there();
	if (!memcmp(&before, &after, sizeof(before)))
		return 0;
	printf("# shm %d %d tmp %d %d fds %d %d sysv %d %d children %d %d\n",
	       before.shm, after.shm, before.tmp, after.tmp, before.fds, after.fds,
	       before.sysv, after.sysv, before.children, after.children);
	return 1;
}

/* ---- forks, system(), signals ---- */

static volatile long ticks;

static void on_tick(int sig)
{
	(void)sig;
	ticks++;
}

static int disturbed(struct ub_ctx *ctx, struct ub_scope *w)
{
	const struct itimerval each = { { 0, 1000 }, { 0, 1000 } };
	/* Every second member's system calls end with EINTR. */
	struct sigaction sa = {
		.sa_handler = on_tick, .sa_flags = ub_rank(w) & 1 ? SA_RESTART : 0,
	};
	double *in = calloc(50000, 8), *out = calloc(50000, 8);
	int i, k, n = ub_size(w), status;

	(void)ctx;
	T_CHECK(in && out);
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &each, NULL);
	for (i = 0; i < 300; i++) {
		for (k = 0; k < 50000; k += 1000)
			in[k] = i + k;
		T_CHECK(!ub_allreduce(w, in, out, 50000, UB_DOUBLE, UB_OP_SUM));
		T_CHECK(out[49000] == (i + 49000.0) * n);
		if (i % 50 == ub_rank(w)) {
			/* A handler that is not restarted may cut this short. */
			status = system("exit 3");
			T_CHECK(status == -1 || WEXITSTATUS(status) == 3);
		}
		if (i % 30 == ub_rank(w)) {
			pid_t pid = fork();

			if (!pid)
				_exit(ub_sync(w) != -EPERM);
			while (waitpid(pid, &status, 0) < 0)
				T_CHECK(errno == EINTR);
			T_CHECK(!status);
		}
		if (i % 20 == ub_rank(w))
			usleep(20000);
	}
	/* Long enough asleep to be hit often. */
	if (!ub_rank(w))
		for (i = 0; i < 300; i++)
			usleep(1000);
	T_CHECK(!ub_sync(w));
	T_CHECK(ticks > 50);
	setitimer(ITIMER_REAL, &(const struct itimerval){ 0 }, NULL);
	free(in);
	free(out);
	return ub_sync(w);
}

/* ---- stopped ---- */

static int *stopped;	/* pid of the member that is to be stopped */

static int halted(struct ub_ctx *ctx, struct ub_scope *w)
{
	int tries = 0, err;
	double v = 1, sum;

	(void)ctx;
	T_CHECK(!ub_sync(w));
	if (ub_rank(w) == 1) {
		__atomic_store_n(stopped, getpid(), __ATOMIC_SEQ_CST);
		raise(SIGSTOP);
		return ub_allreduce(w, &v, &sum, 1, UB_DOUBLE, UB_OP_SUM);
	}
	ub_set_timeout(w, 50);
	while ((err = ub_allreduce(w, &v, &sum, 1, UB_DOUBLE, UB_OP_SUM)) ==
	       -ETIMEDOUT) {
		T_CHECK(strstr(ub_last_error(), "rank 1"));
		/* After a while somebody wakes it. */
		if (++tries == 5 && !ub_rank(w))
			kill(*stopped, SIGCONT);
	}
	T_CHECK(!err && sum == ub_size(w) && tries >= 5 * !ub_rank(w));
	return 0;
}

int main(void)
{
	running = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	stopped = running + 1;
	t_plan(5);
	if (can_isolate()) {
		t_before = isolate;
		t_result(!t_run(4, NULL, apart), "namespaces of their own");
		t_before = NULL;
	} else {
		t_result(true, "namespaces of their own # SKIP none to be had");
	}
	inside(tiny_shm, "a /dev/shm of 16 MiB");
	inside(kills, "50 times killed and started again");
	t_result(!t_run(4, NULL, disturbed), "forks, system(), signals each ms");
	t_result(!t_run(3, NULL, halted), "a member is stopped and goes on");
	return t_end();
}
