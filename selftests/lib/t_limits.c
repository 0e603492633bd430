// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits: 64 members, members with nothing, 10,000 windows, windows larger than
 * memory, epochs around 2^32 and at their end.
 */
#include "t.h"
#include <sys/stat.h>
#include "engine.h"
#include "memory.h"

/* ---- 64 members ---- */

#define MANY	64

/* Only one of them has data. */
static int lonely(struct ub_scope *w, int owner)
{
	int me = ub_rank(w), n = ub_size(w), r;
	size_t sizes[MANY] = { 0 }, offs[MANY] = { 0 }, none[MANY] = { 0 };
	char *in = calloc(1, 5000), *out = calloc(1, 5000);

	T_CHECK(in && out);
	sizes[owner] = 5000;
	if (me == owner)
		memset(in, 7, 5000);
	T_CHECK(!ub_allgatherv(w, me == owner ? in : NULL, out, sizes, offs));
	T_CHECK(out[0] == 7 && out[4999] == 7);
	memset(out, 0, 5000);
	T_CHECK(!ub_gatherv(w, in, sizes[me], out, sizes, offs, n - 1));
	T_CHECK(me != n - 1 || out[4999] == 7);
	memset(out, 0, 5000);
	/* It sends all it has to itself and its neighbour; the others nothing. */
	for (r = 0; r < n; r++)
		none[r] = r == owner && (me == owner || me == (owner + 1) % n) ?
			  5000 : 0;
	for (r = 0; r < n; r++)
		sizes[r] = me == owner && (r == owner || r == (owner + 1) % n) ?
			   5000 : 0;
	T_CHECK(!ub_alltoallv(w, in, sizes, offs, out, none, offs));
	T_CHECK(!none[owner] || out[4999] == 7);
	for (r = 0; r < n; r++)
		sizes[r] = r == owner ? 10 : 0;
	memset(out, 0, 5000);
	T_CHECK(!ub_reduce_scatterv(w, in, out, sizes, UB_INT32, UB_OP_SUM));
	T_CHECK(me != owner || out[0] == 7);
	free(in);
	free(out);
	return 0;
}

static int many(struct ub_ctx *ctx, struct ub_scope *w)
{
	int me = ub_rank(w), n = ub_size(w), i;
	uint64_t *in = calloc(20000, 8), *out = calloc(20000, 8), v = me;
	uint64_t each[MANY], got[MANY];
	struct ub_win *win;

	(void)ctx;
	T_CHECK(in && out);
	T_CHECK(!ub_allreduce(w, &v, &v, 1, UB_UINT64, UB_OP_SUM));
	T_CHECK(v == (uint64_t)n * (n - 1) / 2);
	for (i = 0; i < 20000; i++)
		in[i] = me + i;
	T_CHECK(!ub_allreduce(w, in, out, 20000, UB_UINT64, UB_OP_SUM));
	for (i = 0; i < 20000; i++)
		T_CHECK(out[i] == v + (uint64_t)n * i);
	T_CHECK(!ub_scan(w, in, out, 20000, UB_UINT64, UB_OP_SUM));
	T_CHECK(out[19999] == (uint64_t)me * (me + 1) / 2 + (me + 1) * 19999ULL);
	T_CHECK(!ub_reduce_scatter(w, in, out, 100, UB_UINT64, UB_OP_MAX));
	T_CHECK(out[99] == (uint64_t)n - 1 + me * 100 + 99);
	for (i = 0; i < n; i++)
		each[i] = me * 1000 + i;
	T_CHECK(!ub_alltoall(w, each, 8, got));
	for (i = 0; i < n; i++)
		T_CHECK(got[i] == (uint64_t)i * 1000 + me);
	T_CHECK(!ub_allgather(w, &each[me], 8, got));
	for (i = 0; i < n; i++)
		T_CHECK(got[i] == (uint64_t)i * 1001);
	T_CHECK(!lonely(w, 0) && !lonely(w, n - 1));
	T_CHECK(!ub_win_create(w, me % 3 * 1000, &win));
	T_CHECK(ub_win_size(win, n - 1) == (n - 1) % 3 * 1000u);
	free(in);
	free(out);
	return ub_win_free(win);
}

/* ---- 10,000 windows ---- */

#define WINDOWS	10000

static int windows(struct ub_ctx *ctx, struct ub_scope *w)
{
	struct ub_win **win = calloc(WINDOWS, sizeof(*win)), *all;
	int me = ub_rank(w), peer = (me + 1) % ub_size(w), i;
	size_t most = 900UL << 20;

	(void)ctx;
	T_CHECK(win);
	/* Nearly all there is, so that what is lost in between is missed. */
	if (!t_threads()) {
		T_CHECK(!ub_win_create(w, me ? 0 : most, &all));
		T_CHECK(!ub_win_free(all));
	}
	for (i = 0; i < WINDOWS / 2; i++) {
		T_CHECK(!ub_win_create(w, 100, &win[i]));
		*(int *)ub_win_peer(win[i], peer) = i;
	}
	T_CHECK(!ub_sync(w));
	for (i = 0; i < WINDOWS / 2; i++)
		T_CHECK(*(int *)ub_win_base(win[i]) == i);
	/* In another order than they were made. */
	for (i = 0; i < WINDOWS / 2; i++)
		T_CHECK(!ub_win_free(win[i * 7919L % (WINDOWS / 2)]));
	for (i = 0; i < WINDOWS / 2; i++) {
		T_CHECK(!ub_win_create(w, 100, &win[0]));
		T_CHECK(!*(int *)ub_win_base(win[0]));
		*(int *)ub_win_base(win[0]) = 1;
		T_CHECK(!ub_win_free(win[0]));
	}
	if (!t_threads()) {
		T_CHECK(!ub_win_create(w, me ? 0 : most, &all));
		T_CHECK(!ub_win_free(all));
	}
	free(win);
	return 0;
}

/* ---- windows larger than memory ---- */

static uint64_t resident(void)
{
	unsigned long long size = 0, pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f || fscanf(f, "%llu %llu", &size, &pages) != 2)
		pages = ~0ULL;
	if (f)
		fclose(f);
	return pages * sysconf(_SC_PAGESIZE);
}

static bool refuses(size_t bytes)
{
	uint64_t before = resident(), t = t_now();
	struct ub_win *win;
	struct ub_ctx *ctx;
	char text[32];
	bool ok;
	int err;

	if (ub_init(&ctx, NULL)) {
		printf("# %s\n", ub_last_error());
		return false;
	}
	err = ub_win_create(ub_world(ctx), bytes, &win);
	printf("# %s\n", ub_last_error());
	snprintf(text, sizeof(text), "%zu bytes", bytes);
	ok = err == -ENOSPC && strstr(ub_last_error(), text) &&
	     strstr(ub_last_error(), "UB_HOST_MEM") &&
	     resident() - before < 64 << 20 && t_now() - t < 5000000000ULL;
	/* A window that fits is fine. */
	ok &= !ub_win_create(ub_world(ctx), 1 << 20, &win);
	ub_fini(ctx);
	return ok;
}

static bool put_text(const char *dir, const char *file, const char *text)
{
	char path[256];
	bool ok;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (fd >= 0)
		close(fd);
	return ok;
}

/* In a cgroup of 64 MiB: v1, or v2. 0: fine, 1: not, 2: no cgroup to be had. */
static int in_cgroup(void)
{
	static const char * const root[] = {
		"/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified", "/sys/fs/cgroup",
	};
	static const char * const file[] = {
		"memory.limit_in_bytes", "memory.max", "memory.max",
	};
	char dir[128], pid[24];
	int i, status = 2;
	pid_t child;

	for (i = 0; i < 3; i++) {
		snprintf(dir, sizeof(dir), "%s/ub-test-%d", root[i], getpid());
		if (mkdir(dir, 0755))
			continue;
		if (put_text(dir, file[i], "67108864"))
			break;
		rmdir(dir);
	}
	if (i == 3)
		return 2;
	fflush(stdout);
	child = fork();
	if (!child) {
		snprintf(pid, sizeof(pid), "%d", getpid());
		if (!put_text(dir, "cgroup.procs", pid))
			_exit(2);
		i = ub_memory() == 64 << 20 && refuses(100 << 20) ? 0 : 1;
		fflush(stdout);
		_exit(i);
	}
	waitpid(child, &status, 0);
	for (i = 0; i < 100 && rmdir(dir); i++)
		usleep(10000);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* ---- epochs ---- */

static uint64_t base;

static void set_base(struct ub_host_arena *a)
{
	a->epoch = base;
}

static int around(struct ub_ctx *ctx, struct ub_scope *w)
{
	double *in = calloc(40000, 8), *out = calloc(40000, 8);
	struct ub_scope *s;
	uint64_t sum;
	int i, k;

	(void)ctx;
	T_CHECK(in && out);
	T_CHECK(ub_epoch(w) == base + 1);
	T_CHECK(!ub_scope_split(w, ub_rank(w) & 1, 0, &s));
	T_CHECK(ub_epoch(s) == (ub_size(s) > 1 ? base + 1 : 1));
	for (i = 0; i < 300; i++) {
		T_CHECK(!ub_sync_reduce(w, UB_SUM, i, &sum));
		T_CHECK(sum == (uint64_t)i * ub_size(w));
		T_CHECK(!ub_sync(s) && !ub_sync(w));
		if (i % 16 == ub_rank(w))
			usleep(3000);	/* the others sleep */
		if (i % 50)
			continue;
		for (k = 0; k < 40000; k++)
			in[k] = i + k;
		T_CHECK(!ub_allreduce(w, in, out, 40000, UB_DOUBLE, UB_OP_SUM));
		T_CHECK(out[39999] == (i + 39999.0) * ub_size(w));
	}
	T_CHECK(ub_epoch(w) > 1ULL << 32);
	free(in);
	free(out);
	return ub_scope_exit(s);
}

static int at_end(struct ub_ctx *ctx, struct ub_scope *w)
{
	int i;

	(void)ctx;
	for (i = 0; i < 9; i++)
		T_CHECK(!ub_sync(w));
	T_CHECK(ub_epoch(w) == UB_EPOCH_MAX);
	for (i = 0; i < 3; i++)
		T_CHECK(ub_sync(w) == -EOVERFLOW);
	T_CHECK(strstr(ub_last_error(), "epoch"));
	return 0;
}

int main(void)
{
	char name[48];
	int i;

	t_plan(8);
	t_result(!t_run(MANY, NULL, many), "64 members");
	t_result(!t_run(2, NULL, windows), "10,000 windows");
	t_result(refuses(1UL << 46), "a window larger than address space");
	t_result(refuses(sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) +
			 UB_HOST_UNIT),
		 "a window larger than the machine's memory");
	i = in_cgroup();
	t_result(i != 1, i == 2 ?
		 "a window larger than the cgroup's # SKIP no cgroup to be had" :
		 "a window larger than the cgroup's memory");
	t_format = set_base;
	for (i = 2; i < 4; i++) {
		base = (1ULL << 32) - 200;
		snprintf(name, sizeof(name), "epochs around 2^32, %d members", i);
		t_result(!t_run(i, NULL, around), name);
	}
	base = UB_EPOCH_MAX - 10;
	t_result(!t_run(2, NULL, at_end), "the last epoch");
	return t_end();
}
