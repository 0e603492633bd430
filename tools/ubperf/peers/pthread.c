// SPDX-License-Identifier: GPL-2.0-only
/*
 * The barrier of glibc: a pthread_barrier in memory shared by processes, which it
 * starts itself.
 *
 *	ubperf-pthread 4 barrier --json
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer.h"

#define RANKS_MAX	256
#define ROOM		512	/* bytes that a rank can give to a gather */

struct shared {
	pthread_barrier_t barrier;
	char room[RANKS_MAX][ROOM];
};

static struct shared *sh;

static void wait_all(void)
{
	int rc = pthread_barrier_wait(&sh->barrier);

	if (rc && rc != PTHREAD_BARRIER_SERIAL_THREAD)
		must(-rc, "pthread_barrier_wait");
}

static void team_sync(struct perf *p)
{
	(void)p;
	wait_all();
}

static void team_gather(struct perf *p, const void *in, size_t bytes, void *out)
{
	int i;

	must(bytes > ROOM ? -EMSGSIZE : 0, "gather");
	memcpy(sh->room[p->rank], in, bytes);
	wait_all();
	for (i = 0; i < p->n; i++)
		memcpy((char *)out + i * bytes, sh->room[i], bytes);
	wait_all();
}

static double team_max(struct perf *p, double v)
{
	double all[RANKS_MAX];
	int i;

	team_gather(p, &v, sizeof(v), all);
	for (i = 0; i < p->n; i++)
		v = all[i] > v ? all[i] : v;
	return v;
}

static const struct perf_team team = {
	.sync = team_sync, .max = team_max, .gather = team_gather,
};

static int nothing(struct perf *p, struct perf_run *r)
{
	(void)p;
	(void)r;
	return 0;
}

static int idle_prepare(struct perf *p, struct perf_run *r)
{
	r->untimed = p->rank == 0;
	return 0;
}

static void loop(struct perf *p, struct perf_run *r, long count)
{
	(void)p;
	(void)r;
	while (count--)
		wait_all();
}

static const struct perf_test tests[] = {
	{
		.name = "barrier", .iters = 200000,
		.prepare = nothing, .loop = loop,
	}, {
		.name = "barrier-cpu", .iters = 200000, .by_name = true, .cpu = true,
		.prepare = nothing, .loop = loop,
	}, {
		.name = "idle", .iters = 1, .by_name = true, .cpu = true,
		.prepare = idle_prepare, .before = perf_late, .loop = loop,
	},
	{ }
};

static const struct perf_test *const families[] = { tests, NULL };

static const char usage_text[] =
"Usage: ubperf-pthread RANKS TEST[,TEST...] [OPTION]...\n"
"ubperf's barrier, barrier-cpu and idle on a process-shared pthread_barrier.\n";

static void prepare(int n)
{
	pthread_barrierattr_t attr;

	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		  -1, 0);
	if (sh == MAP_FAILED)
		must(-errno, "mmap");
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	must(-pthread_barrier_init(&sh->barrier, &attr, n), "pthread_barrier_init");
}

/* All end with the first that fails: the others would wait for ever. */
static int wait_ranks(pid_t *pid, int n)
{
	int i, left, status;

	for (left = n; left; left--) {
		wait(&status);
		if (status) {
			for (i = 0; i < n; i++)
				kill(pid[i], SIGKILL);
			return WIFEXITED(status) ? WEXITSTATUS(status) : PERF_EX_FAILED;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct perf_opts o;
	struct perf p = { .o = &o, .team = &team, .fabric = "pthread" };
	int i, n = argc > 1 ? atoi(argv[1]) : 0;
	pid_t pid[RANKS_MAX];

	if (n < 2 || n > RANKS_MAX) {
		fputs(usage_text, stderr);
		return PERF_EX_USAGE;
	}
	perf_parse(&o, usage_text, families, argc - 1, argv + 1);
	prepare(n);
	for (i = 0; i < n; i++) {
		pid[i] = fork();
		if (pid[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		peer_join(&p, i, n);
		return perf_run(&p, families);
	}
	return wait_ranks(pid, n);
}
