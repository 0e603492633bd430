// SPDX-License-Identifier: GPL-2.0-only
/*
 * A failure inside a board is the board's: another board's inner syncs go on, no
 * slower than before, until its next outer sync tells it.
 */
#include "t.h"
#include <sys/mman.h>

#define MEMBERS	4
#define BEFORE	4000		/* inner syncs that are measured first */
#define MOST	2000000
#define HELD_MS	400		/* how long it goes on at least after the death */
#define TIMES	3		/* slower than that is delayed */

/* In memory of the test. */
struct told {
	volatile int measured;		/* the other board has its first times */
	volatile uint64_t died;		/* when, or 0 */
	volatile uint64_t heard;	/* when the board of the dead knew */
	uint64_t before[BEFORE];
	uint64_t after[MOST];
	volatile uint64_t syncs;	/* of the other board after the death */
};

static struct told *told;

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static uint64_t median(uint64_t *t, uint64_t n)
{
	qsort(t, n, sizeof(*t), compare);
	return t[n / 2];
}

/* The board that nothing happens to. */
static int other_board(struct ub_scope *world, struct ub_scope *board)
{
	bool clock = ub_rank(board) == 0;	/* the other one only takes part */
	uint64_t from, on = 1;
	int i, n = 0;

	for (i = 0; i < BEFORE; i++) {
		from = t_now();
		T_CHECK(!ub_sync(board));
		if (clock)
			told->before[i] = t_now() - from;
	}
	if (clock)
		told->measured = 1;
	while (on) {
		bool more = n < MOST && (!told->heard ||
			    t_now() - told->died < HELD_MS * 1000000ULL);

		from = t_now();
		T_CHECK(!ub_sync_reduce(board, UB_OR, clock && more, &on));
		if (clock && told->died && more)
			told->after[n++] = t_now() - from;
	}
	if (clock)
		told->syncs = n;
	/* Only now does it hear. */
	T_CHECK(ub_sync(world) == -EOWNERDEAD);
	return 0;
}

static int lost_board(struct ub_scope *world, struct ub_scope *board)
{
	int err;

	while (!told->measured)
		usleep(1000);
	if (ub_rank(board)) {
		told->died = t_now();
		raise(SIGKILL);
	}
	do {
		err = ub_sync(board);
	} while (!err);
	T_CHECK(err == -EOWNERDEAD);
	told->heard = t_now();
	T_CHECK(ub_sync(world) == -EOWNERDEAD);
	return 0;
}

static int member(struct ub_ctx *ctx, struct ub_scope *world)
{
	struct ub_scope *board;

	(void)ctx;
	T_CHECK(!ub_scope_split(world, t_rank / 2, 0, &board));
	return t_rank < 2 ? lost_board(world, board) : other_board(world, board);
}

static bool confined(void)
{
	uint64_t was, is;
	struct t_job j;

	memset(told, 0, sizeof(*told));
	if (t_start(&j, MEMBERS, NULL, member) || t_wait(&j, 1 << 1))
		return false;
	if (!told->heard || told->syncs < 100)
		return false;
	was = median(told->before, BEFORE);
	is = median(told->after, told->syncs);
	printf("# an inner sync took %llu ns before; %llu ns in %llu syncs after, when the other board heard in %.1f ms\n",
	       (unsigned long long)was, (unsigned long long)is,
	       (unsigned long long)told->syncs, (told->heard - told->died) / 1e6);
	return is <= TIMES * was;
}

int main(void)
{
	bool ok = false;
	int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	t_plan(1);
	/* Others of the machine may slow down one run, not all. */
	for (i = 0; i < 5 && !ok; i++)
		ok = confined();
	t_result(ok, "another board's inner syncs are not delayed");
	return t_end();
}
