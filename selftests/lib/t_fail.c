// SPDX-License-Identifier: GPL-2.0-only
/*
 * Members that die: at random moments inside syncs, during a shrink, before
 * they joined. All survivors must give the same answer and go on.
 */
#include "t.h"
#include <sys/mman.h>

#define MEMBERS	5

/* What survivors found, in memory of the test. */
struct found {
	struct ub_lost_info info[MEMBERS];
	char reason[MEMBERS][40];
	volatile int ready;
	volatile int shrinking;
};

static struct found *found;
static int second = -1;		/* who dies while the others shrink */

static int survive(struct ub_ctx *ctx, struct ub_scope *w)
{
	int me = ub_rank(w), n, err, i;
	struct ub_scope *s, *t;
	uint64_t sum;

	(void)ctx;
	__atomic_add_fetch(&found->ready, 1, __ATOMIC_SEQ_CST);
	do {
		err = ub_sync(w);
	} while (!err);
	T_CHECK(err == -EOWNERDEAD);
	T_CHECK(!ub_lost(w, &found->info[me]));
	strncpy(found->reason[me], found->info[me].reason, 39);
	T_CHECK(ub_sync(w) == -EOWNERDEAD && ub_arrive(w, UB_NONE, 0) == err);
	if (me == second) {
		/* At a random moment of the others' shrink. */
		if (me & 1)
			ub_shrink(w, &s);
		usleep(getpid() % 1500);
		raise(SIGKILL);
	}
	n = ub_size(w);
	err = ub_shrink(w, &s);
	for (;;) {
		T_CHECK(!err || err == -EOWNERDEAD);
		T_CHECK(s && ub_size(s) < n);
		if (!err)
			for (i = 0; i < 200 && !err; i++) {
				err = ub_sync_reduce(s, UB_SUM, 1, &sum);
				T_CHECK(err || sum == (uint64_t)ub_size(s));
				if (second >= 0 && !err)
					usleep(50);
			}
		if (!err)
			break;
		T_CHECK(err == -EOWNERDEAD);
		err = ub_shrink(s, &t);
		ub_scope_exit(s);
		s = t;
	}
	T_CHECK(ub_size(s) >= n - 1 - (second >= 0));
	T_CHECK(!ub_scope_exit(s));
	return 0;
}

static bool same(int victim)
{
	int first = victim ? 0 : 1, r;

	for (r = 0; r < MEMBERS; r++) {
		const struct ub_lost_info *a = &found->info[first];
		const struct ub_lost_info *b = &found->info[r];

		if (r == victim)
			continue;
		if (a->epoch != b->epoch || a->rank != b->rank ||
		    a->node != b->node || a->lane != b->lane ||
		    strcmp(found->reason[first], found->reason[r]) ||
		    a->rank != victim) {
			printf("# rank %d: lost %d at %llu (%s), rank %d: %d at %llu "
			       "(%s)\n", first, a->rank,
			       (unsigned long long)a->epoch, found->reason[first],
			       r, b->rank, (unsigned long long)b->epoch,
			       found->reason[r]);
			return false;
		}
	}
	return true;
}

static bool kill_one(int victim, long us, int also, bool poke)
{
	uint64_t mask = 1ULL << victim, t;
	struct t_job j;
	int bad;

	memset(found, 0, sizeof(*found));
	second = also;
	if (also >= 0)
		mask |= 1ULL << also;
	if (t_start(&j, MEMBERS, NULL, survive))
		return false;
	while (found->ready < MEMBERS)
		usleep(100);
	usleep(us);
	t = t_now();
	kill(j.pid[victim], SIGKILL);
	if (poke) {
		int status;

		waitpid(j.pid[victim], &status, 0);
		ub_host_arena_exited(j.arena, victim);
	}
	bad = t_wait(&j, mask);
	if (t_now() - t > 5000000000ULL) {
		printf("# took %.1f s\n", (t_now() - t) / 1e9);
		bad = 1;
	}
	return !bad && same(victim);
}

static int leave(struct ub_ctx *ctx, struct ub_scope *w)
{
	struct ub_lost_info info;

	(void)ctx;
	T_CHECK(!ub_sync(w));
	if (ub_rank(w) == 1)
		return 0;
	T_CHECK(ub_sync(w) == -EOWNERDEAD);
	T_CHECK(!ub_lost(w, &info) && info.rank == 1);
	T_CHECK(!strcmp(info.reason, "it left"));
	return 0;
}

/* An inner scope tells of it first, the outer one at its next sync. */
static int nested(struct ub_ctx *ctx, struct ub_scope *w)
{
	struct ub_scope *s;
	struct ub_win *win;
	int err;

	(void)ctx;
	T_CHECK(!ub_win_create(w, 64, &win));
	T_CHECK(!ub_scope_split(w, ub_rank(w) / 2, 0, &s));
	if (ub_rank(w) == 3)
		raise(SIGKILL);
	err = ub_sync(s);
	T_CHECK(err == (ub_rank(w) == 2 ? -EOWNERDEAD : 0));
	T_CHECK(ub_sync(w) == -EOWNERDEAD);
	T_CHECK(ub_put(w, win, 3, 0, &err, 4) == -EOWNERDEAD);
	T_CHECK(!ub_put(w, win, 2, 0, &err, 4));
	return 0;
}

/* A rank that never comes fails ub_init() of all others, by name. */
static bool never_came(void)
{
	int fd = ub_host_arena_create(3, 1 << 20), r, status, bad = 0;
	uint64_t t = t_now();
	pid_t pid[2];

	for (r = 0; r < 2; r++) {
		pid[r] = fork();
		if (!pid[r]) {
			struct ub_ctx *ctx;
			int err;

			t_env("UB_RANK", r);
			t_env("UB_SIZE", 3);
			t_env("UB_HOST_FD", fd);
			t_env("UB_START_MS", 300);
			err = ub_init(&ctx, NULL);
			_exit(!(err == -EOWNERDEAD &&
				strstr(ub_last_error(), "rank 2") &&
				strstr(ub_last_error(), "in time")));
		}
	}
	for (r = 0; r < 2; r++) {
		waitpid(pid[r], &status, 0);
		bad |= status;
	}
	close(fd);
	return !bad && t_now() - t < 3000000000ULL;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 20, i;
	bool ok = true;
	struct t_job j;

	setvbuf(stdout, NULL, _IOLBF, 0);
	srand(argc > 2 ? atoi(argv[2]) : 1);
	found = mmap(NULL, sizeof(*found), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	t_plan(6);
	for (i = 0; i < rounds; i++)
		ok &= kill_one(rand() % MEMBERS, rand() % 20000, -1, false);
	t_result(ok, "killed inside a sync");
	for (ok = true, i = 0; i < rounds; i++)
		ok &= kill_one(rand() % MEMBERS, rand() % 20000, -1, true);
	t_result(ok, "killed, and the launcher tells");
	for (ok = true, i = 0; i < rounds; i++) {
		int victim = rand() % MEMBERS;

		ok &= kill_one(victim, rand() % 5000,
			       (victim + 1 + rand() % (MEMBERS - 1)) % MEMBERS, true);
	}
	t_result(ok, "another one dies during the shrink");
	t_result(!t_run(4, NULL, leave), "a member that leaves");
	t_result(!t_start(&j, 4, NULL, nested) && !t_wait(&j, 1 << 3),
		 "dead in an inner scope");
	t_result(never_came(), "a rank that never comes");
	return t_end();
}
