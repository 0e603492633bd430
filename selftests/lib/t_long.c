// SPDX-License-Identifier: GPL-2.0-only
/*
 * Long runs, of which "make check" does a slice and UB_LONG=1 all: barriers,
 * windows, groups, joins, starts that are far apart; and epochs next to 2^32 and
 * to their end. Nothing may grow, drift or get lost on the way.
 */
#include "t.h"
#include "engine.h"

static const int nodes[] = { 0, 1, 2, 3 };
static bool all;		/* not a slice */

static long count(long slice, long whole)
{
	return all ? whole : slice;
}

/* ---- barriers ---- */

static int barriers(struct ub_ctx *ctx, struct ub_scope *w)
{
	/* Where members share an emulated guest's CPUs each may sleep: 300 us. */
	uint64_t n = getenv("T_DEVICE") ? count(10000, 1000000) :
		     count(getenv("T_RANKED") ? 20000 : 200000, 10000000);
	uint64_t from = ub_epoch(w), sum, i;

	(void)ctx;
	for (i = 1; i <= n; i++) {
		if (i % 16) {
			T_CHECK(!ub_sync(w));
			continue;
		}
		T_CHECK(!ub_sync_reduce(w, UB_SUM, i + ub_rank(w), &sum));
		T_CHECK(sum == 2 * i + 1);
	}
	T_CHECK(ub_epoch(w) == from + n);
	return 0;
}

/* ---- epochs ---- */

static uint64_t base;

static void set_base(struct ub_host_arena *a)
{
	a->epoch = base;
}

/* Creating took one; below 2^32 and above it is all the same. */
static int across(struct ub_ctx *ctx, struct ub_scope *w)
{
	struct ub_win *win;
	uint64_t sum;
	int i;

	(void)ctx;
	T_CHECK(ub_epoch(w) == base + 1);
	for (i = 0; i < 6; i++)
		T_CHECK(!ub_sync_reduce(w, UB_SUM, i, &sum) && sum == 2 * (unsigned int)i);
	T_CHECK(ub_epoch(w) == base + 7);
	T_CHECK(!ub_win_create_mirrored(w, 100, "node", &win));
	T_CHECK(!ub_checkpoint(w));
	return !!ub_win_free(win);
}

static int last(struct ub_ctx *ctx, struct ub_scope *w)
{
	(void)ctx;
	T_CHECK(ub_epoch(w) == UB_EPOCH_MAX - 2);
	T_CHECK(!ub_sync(w) && !ub_sync(w) && ub_epoch(w) == UB_EPOCH_MAX);
	T_CHECK(ub_sync(w) == -EOVERFLOW && ub_checkpoint(w) == -EOVERFLOW);
	return 0;
}

static bool at_epoch(uint64_t first, t_member_fn fn)
{
	bool ok;

	/* On the device groups begin at 0 but for tests of the kernel's own. */
	t_skipped = getenv("T_DEVICE") || getenv("T_RANKED");
	if (t_skipped)
		return true;
	base = first;
	t_format = set_base;
	ok = !t_run(2, nodes, fn);
	t_format = NULL;
	return ok;
}

/* ---- windows and groups ---- */

static int windows(struct ub_ctx *ctx, struct ub_scope *w)
{
	enum { LIVE = 8 };
	struct ub_win *win[LIVE] = { NULL };
	long n = getenv("T_DEVICE") ? count(100, 10000) : count(600, 10000), i;
	int next = (ub_rank(w) + 1) % ub_size(w);

	(void)ctx;
	for (i = 0; i < n; i++) {
		struct ub_win **p = &win[i % LIVE];
		long *mine, *theirs;

		T_CHECK(!ub_win_free(*p));
		T_CHECK(i % 8 ? !ub_win_create(w, 8 + i % 100000, p) :
				!ub_win_create_mirrored(w, 8 + i % 100000, "node", p));
		mine = ub_win_base(*p);
		theirs = ub_win_peer(*p, next);
		T_CHECK(!*mine);
		*mine = i + ub_rank(w);
		T_CHECK(!ub_sync(w) && *theirs == i + next);
		T_CHECK(!ub_sync(w));
	}
	for (i = 0; i < LIVE; i++)
		T_CHECK(!ub_win_free(win[i]));
	return 0;
}

static int groups(struct ub_ctx *ctx, struct ub_scope *w)
{
	long n = count(getenv("T_DEVICE") ? 20 : 100, 1000), i;
	struct ub_scope *s, *t;
	uint64_t sum;

	(void)ctx;
	for (i = 0; i < n; i++) {
		T_CHECK(!ub_scope_split(w, (ub_rank(w) + i) % 2, -ub_rank(w), &s));
		T_CHECK(!ub_scope_split(s, 0, 0, &t));
		T_CHECK(!ub_sync_reduce(t, UB_SUM, 1, &sum));
		T_CHECK(sum == (uint64_t)ub_size(s));
		T_CHECK(!ub_scope_exit(t) && !ub_scope_exit(s));
	}
	return 0;
}

/* ---- joining ---- */

static int join_and_leave(int rank)
{
	long n = count(getenv("T_DEVICE") ? 15 : 60, 1000), i;
	struct ub_ctx *ctx;
	struct ub_win *win;
	uint64_t sum;

	t_rank = rank;
	t_env("UB_RANK", rank);
	t_env("UB_NODE", nodes[rank]);
	t_device(nodes[rank]);
	for (i = 0; i < n; i++) {
		T_CHECK(!ub_init(&ctx, NULL));
		T_CHECK(!ub_win_create(ub_world(ctx), 4096, &win));
		T_CHECK(!ub_sync_reduce(ub_world(ctx), UB_SUM, i, &sum));
		T_CHECK(sum == 4 * (uint64_t)i);
		T_CHECK(!ub_win_free(win));
		T_CHECK(!ub_sync(ub_world(ctx)));
		ub_fini(ctx);
	}
	return 0;
}

static bool cycles(void)
{
	int fd = ub_host_arena_create(4, 64 << 20), r, status, bad = 0;
	pid_t pid[4];

	t_skipped = getenv("T_RANKED");
	if (t_skipped)
		return true;
	t_env("UB_SIZE", 4);
	t_env("UB_SPARES", 0);
	t_env("UB_HOST_FD", fd);
	t_env("UB_JOB", 0x10109);
	fflush(stdout);
	for (r = 0; r < 4; r++) {
		pid[r] = fork();
		if (pid[r])
			continue;
		status = join_and_leave(r);
		fflush(stdout);
		_exit(status);
	}
	for (r = 0; r < 4; r++) {
		waitpid(pid[r], &status, 0);
		bad |= status;
	}
	close(fd);
	return !bad;
}

/* ---- starts that are far apart ---- */

static int skew_round;

static void come_late(void)
{
	long most = count(300, 10000);

	srand(skew_round * 64 + t_rank);
	usleep(rand() % most * 1000);
}

static int came(struct ub_ctx *ctx, struct ub_scope *w)
{
	uint64_t sum;
	int i;

	(void)ctx;
	for (i = 0; i < 20; i++)
		T_CHECK(!ub_sync_reduce(w, UB_SUM, 1, &sum) && sum == 4);
	return 0;
}

static bool skewed(void)
{
	bool ok = true;
	int n = count(8, 50);

	t_before = come_late;
	for (skew_round = 0; skew_round < n; skew_round++)
		ok &= !t_run(4, nodes, came);
	t_before = NULL;
	return ok;
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	all = getenv("UB_LONG");
	t_plan(7);
	t_result(!t_run(2, nodes, barriers), "barriers");
	t_result(at_epoch((1ULL << 32) - 4, across), "from epoch 2^32 - 3");
	t_result(at_epoch(UB_EPOCH_MAX - 3, last), "from epoch 2^62 - 3");
	t_result(!t_run(4, nodes, windows), "windows");
	t_result(!t_run(4, nodes, groups), "groups");
	t_result(cycles(), "join and leave");
	t_result(skewed(), "starts far apart");
	return t_end();
}
