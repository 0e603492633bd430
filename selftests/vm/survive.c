// SPDX-License-Identifier: GPL-2.0-only
/*
 * A rank that goes on when others die: supersteps until somebody is lost, the
 * answer printed, the windows of the lost tried, then shrink and go on.
 *
 * usage: survive [SECONDS]	how long to wait for a loss (20)
 *
 * Prints one line "answer ..." for each loss, the same on all survivors, and
 * "done ranks=N" at the end. Status 0: all went as it should.
 */
#include <errno.h>
#include <libub.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define AFTER	2000	/* supersteps of the survivors */

static sigjmp_buf out;

static void on_bus(int sig)
{
	siglongjmp(out, sig);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Supersteps with a checked sum; 0 at @until, or the error that ended them. */
static int steps(struct ub_scope *s, long most, double until)
{
	uint64_t n = ub_size(s), sum;
	long i;

	for (i = 0; i < most; i++) {
		int more = now() < until;
		int err = ub_sync_reduce(s, UB_SUM, ub_rank(s) + (more ? 0 : 1000),
					 &sum);

		if (err)
			return err;
		if (sum % 1000 != n * (n - 1) / 2 % 1000) {
			printf("wrong sum %llu\n", (unsigned long long)sum);
			return -EILSEQ;
		}
		if (sum >= 1000)	/* somebody's time is over */
			return 0;
	}
	return 0;
}

/* What is left of a window of the lost: errors and SIGBUS, never a hang. */
static int try_window(struct ub_scope *s, struct ub_win *win, int rank)
{
	volatile int *p = ub_win_peer(win, rank);
	uint64_t word = 0;
	int err;

	err = ub_put(s, win, rank, 0, &word, sizeof(word));
	if (err != -EOWNERDEAD) {
		printf("put to the lost: %d\n", err);
		return 1;
	}
	err = ub_get(s, win, rank, 0, &word, sizeof(word));
	if (err != -EOWNERDEAD) {
		printf("get from the lost: %d\n", err);
		return 1;
	}
	if (!sigsetjmp(out, 1)) {
		double end = now() + 5;

		while (now() < end)	/* a tick or two until it is revoked */
			(void)*p;
		printf("a load of the lost goes on\n");
		return 1;
	}
	return 0;
}

static int survive(struct ub_scope *world, struct ub_win *win, double until)
{
	struct ub_scope *s = world;
	struct ub_lost_info lost;
	int err = steps(s, 2000000000, until);

	while (err == -EOWNERDEAD) {
		if (ub_lost(s, &lost))
			return 1;
		printf("answer rank=%d node=%d incarnation=%llu level=%s epoch=%llu reason=%s\n",
		       lost.rank, lost.node,
		       (unsigned long long)lost.incarnation, lost.level,
		       (unsigned long long)lost.epoch, lost.reason);
		fflush(stdout);
		if (s == world && try_window(s, win, lost.rank))
			return 1;
		do {
			err = ub_shrink(s, &s);
		} while (err == -EOWNERDEAD);
		if (!err)
			err = steps(s, AFTER, now() + 30);
	}
	if (err) {
		printf("%s\n", ub_last_error());
		return err == -ESTALE ? 3 : 1;
	}
	printf("done ranks=%d\n", ub_size(s));
	return 0;
}

int main(int argc, char **argv)
{
	double until = now() + (argc > 1 ? atof(argv[1]) : 20);
	struct sigaction sa = { .sa_handler = on_bus };
	struct ub_ctx *ctx;
	struct ub_win *win;
	int ret = 1;

	sigaction(SIGBUS, &sa, NULL);
	if (ub_init(&ctx, NULL) ||
	    ub_win_create(ub_world(ctx), 4096, &win)) {
		printf("%s\n", ub_last_error());
		return 2;
	}
	if (!ub_rank(ub_world(ctx)))
		printf("up\n");
	fflush(stdout);
	ret = survive(ub_world(ctx), win, until);
	fflush(stdout);
	ub_fini(ctx);
	return ret;
}
