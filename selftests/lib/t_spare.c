// SPDX-License-Identifier: GPL-2.0-only
/*
 * Spare ranks: they take the places of the lost, whenever these die, and what is
 * computed has the bits of an undisturbed run.
 */
#include "t.h"
#include <setjmp.h>
#include <sys/mman.h>

#define ACTIVE	4
#define STEPS	60
#define CELLS	3000

/* Four nodes on two boards, and two more for the spares. */
static const char machine[] =
	"name: spares\nlevels:\n  - {name: board, radix: 3}\n  - {name: package, radix: 2}\n";
static const int nodes[] = { 0, 1, 2, 3, 4, 5 };

/* What the members tell the test. */
struct told {
	volatile int ready;	/* members that compute */
	volatile int recoveries;
	volatile int rejoined;
	volatile int finished;
	volatile int shrunk;
	volatile int stale;	/* members that were kept, with @keep */
};

static struct told *told;

/* The window: supersteps done, and two rows of cells in turns. */
struct part {
	uint64_t step;
	uint64_t cell[2][CELLS];
};

/* A superstep of one cell, whose neighbour is the next rank's. */
static uint64_t cell_after(uint64_t own, uint64_t next, uint64_t step)
{
	return (own ^ step) * 0x9e3779b97f4a7c15ULL + (next >> 7) + 1;
}

static void serial(uint64_t (*cell)[CELLS])
{
	static uint64_t was[ACTIVE][CELLS];
	uint64_t step;
	int r, i;

	memset(cell, 0, sizeof(was));
	for (step = 0; step < STEPS; step++) {
		memcpy(was, cell, sizeof(was));
		for (r = 0; r < ACTIVE; r++)
			for (i = 0; i < CELLS; i++)
				cell[r][i] = cell_after(was[r][i],
							was[(r + 1) % ACTIVE][i], step);
	}
}

/* On the device a load of a dead peer's window is SIGBUS. */
static sigjmp_buf gone;

static void on_bus(int sig)
{
	siglongjmp(gone, sig);
}

static void cells_after(struct part *own, const struct part *next, uint64_t step)
{
	const uint64_t *was = own->cell[step & 1], *its = next->cell[step & 1];
	uint64_t *is = own->cell[!(step & 1)];
	int i;

	/* The sync that follows tells who it was. */
	if (sigsetjmp(gone, 1))
		return;
	for (i = 0; i < CELLS; i++)
		is[i] = cell_after(was[i], its[i], step);
}

static int compute(struct ub_scope *w, struct ub_win *win)
{
	struct part *own = ub_win_base(win);
	const struct part *next = ub_win_peer(win, (ub_rank(w) + 1) % ub_size(w));
	uint64_t step;
	int err = 0;

	for (step = own->step; !err && step < STEPS; step++) {
		cells_after(own, next, step);
		own->step = step + 1;
		err = ub_sync(w);
		if (!err)
			err = ub_checkpoint(w);
	}
	return err;
}

/* A whole world again, with all that it held; or the error. */
static int recover(struct ub_scope **w, struct ub_win **win)
{
	struct ub_win *old = *win;
	struct ub_scope *next;
	int err;

	do {
		__atomic_add_fetch(&told->recoveries, 1, __ATOMIC_SEQ_CST);
		err = ub_replace(*w, &next);
		if (next)
			*w = next;
		if (!err)
			err = ub_win_rebuild(*w, sizeof(struct part), "board", old,
					     0, win);
	} while (err == -EOWNERDEAD);
	if (!err && old)
		err = ub_win_free(old);
	return err;
}

static int right(struct ub_scope *w, struct ub_win *win)
{
	static uint64_t want[ACTIVE][CELLS];
	struct part *own = ub_win_base(win);

	serial(want);
	return own->step == STEPS &&
	       !memcmp(own->cell[STEPS & 1], want[ub_rank(w)], sizeof(want[0]));
}

static int member(struct ub_ctx *ctx, struct ub_scope *w)
{
	struct ub_win *win = NULL;
	int err;

	T_CHECK(ub_size(w) == ACTIVE && ub_rank(w) < ACTIVE);
	T_CHECK(!ub_outer(w) && ub_outer_rank(w, 1) == 1);
	T_CHECK(ub_rejoined(ctx) == (t_rank >= ACTIVE));
	T_CHECK(ub_replaced(w, ub_rank(w)) == ub_rejoined(ctx));
	signal(SIGBUS, on_bus);
	if (ub_rejoined(ctx))
		__atomic_add_fetch(&told->rejoined, 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&told->ready, 1, __ATOMIC_SEQ_CST);
	err = ub_win_rebuild(w, sizeof(struct part), "board", NULL, 0, &win);
	for (;;) {
		if (!err)
			err = compute(w, win);
		if (err != -EOWNERDEAD)
			break;
		err = recover(&w, &win);
	}
	T_CHECK(!err);
	T_CHECK(ub_world(ctx) == w && !strcmp(ub_level(w), "world"));
	T_CHECK(ub_scope_exit(w) == -EINVAL);
	T_CHECK(right(w, win));
	__atomic_add_fetch(&told->finished, 1, __ATOMIC_SEQ_CST);
	return !!ub_win_free(win);
}

static bool start(struct t_job *j, int spares, t_member_fn fn)
{
	memset(told, 0, sizeof(*told));
	t_spares = spares;
	return !t_start(j, ACTIVE + spares, nodes, fn);
}

static bool undisturbed(void)
{
	struct t_job j;

	return start(&j, 2, member) && !t_wait(&j, 0) &&
	       told->finished == ACTIVE && !told->rejoined;
}

static void at(int members, long us)
{
	uint64_t until = t_now() + 30000000000ULL;

	while (told->ready < members && t_now() < until)
		usleep(50);
	usleep(us);
}

static bool one_dies(int victim, long us)
{
	struct t_job j;

	if (!start(&j, 1, member))
		return false;
	at(ACTIVE, us);
	kill(j.pid[victim], SIGKILL);
	return !t_wait(&j, 1ULL << victim) && told->finished >= ACTIVE - 1;
}

/* Another one dies soon after, perhaps a spare that has just come. */
static bool two_die(int victim, int other, long us, long later)
{
	struct t_job j;

	if (!start(&j, 2, member))
		return false;
	at(ACTIVE, us);
	kill(j.pid[victim], SIGKILL);
	usleep(later);
	kill(j.pid[other], SIGKILL);
	return !t_wait(&j, 1ULL << victim | 1ULL << other) &&
	       told->finished >= ACTIVE - 2;
}

/* Spares that die before they are wanted. */
static bool spares_die(void)
{
	struct t_job j;

	if (!start(&j, 2, member))
		return false;
	/* All have joined when the world is there. */
	at(ACTIVE, 1000);
	kill(j.pid[ACTIVE], SIGKILL);
	usleep(3000);
	kill(j.pid[1], SIGKILL);
	return !t_wait(&j, 1 << 1 | 1 << ACTIVE) && told->finished >= ACTIVE - 1;
}

/* ---- fewer spares than lost ---- */

static int too_few(struct ub_ctx *ctx, struct ub_scope *w)
{
	struct ub_scope *s;
	int err, i;

	(void)ctx;
	__atomic_add_fetch(&told->ready, 1, __ATOMIC_SEQ_CST);
	T_CHECK(ub_replace(w, &s) == -EINVAL);
	do {
		err = ub_sync(w);
	} while (!err);
	/* Until both are dead. */
	while (told->ready < 100)
		usleep(1000);
	T_CHECK(err == -EOWNERDEAD && ub_replace(w, &s) == -ENOENT && !s);
	T_CHECK(strstr(ub_last_error(), "ub_shrink()"));
	T_CHECK(ub_replace(w, &s) == -ENOENT);
	T_CHECK(!ub_shrink(w, &s) && ub_size(s) == ACTIVE - 2);
	for (i = 0; i < 100; i++)
		T_CHECK(!ub_sync(s));
	__atomic_add_fetch(&told->shrunk, 1, __ATOMIC_SEQ_CST);
	return 0;
}

static bool fewer(int spares)
{
	struct t_job j;
	int status;

	if (!start(&j, spares, too_few))
		return false;
	at(ACTIVE, 1000);
	kill(j.pid[0], SIGKILL);
	kill(j.pid[3], SIGKILL);
	/* Not reaped: t_wait() does that. */
	for (status = 0; status < 2; status++) {
		siginfo_t si;

		waitid(P_PID, j.pid[status ? 3 : 0], &si, WEXITED | WNOWAIT);
	}
	told->ready = 100;
	return !t_wait(&j, 1 | 1 << 3) && told->shrunk == ACTIVE - 2;
}

/* ---- what is kept ---- */

/* With @keep a survivor goes on with what it holds, a spare with the checkpoint. */
static int keeper(struct ub_ctx *ctx, struct ub_scope *w)
{
	struct ub_win *win, *old = NULL;
	uint64_t *own, kept;
	int err = 0;

	if (!ub_rejoined(ctx)) {
		T_CHECK(!ub_win_create_mirrored(w, 8, "board", &win));
		own = ub_win_base(win);
		*own = 100 + ub_rank(w);
		T_CHECK(!ub_sync(w) && !ub_checkpoint(w));
		*own = 200 + ub_rank(w);
		if (t_rank == 2)
			raise(SIGKILL);
		T_CHECK(ub_sync(w) == -EOWNERDEAD);
		T_CHECK(!ub_replace(w, &w) && ub_replaced(w, 2) && !ub_replaced(w, 1));
		old = win;
	}
	T_CHECK(!ub_win_rebuild(w, 8, "board", old, ub_rank(w) == 1, &win));
	own = ub_win_base(win);
	T_CHECK(*own == (ub_rank(w) == 1 ? 201 : 100u + ub_rank(w)));
	/* The new mirror has the checkpoint, whatever was kept. */
	for (err = 0; err < ACTIVE; err++)
		T_CHECK(!ub_win_mirror_get(win, err, 0, &kept, 8) && kept == 100u + err);
	T_CHECK(!ub_sync(w));
	T_CHECK(!ub_win_free(old) && !ub_win_free(win));
	/* Sizes that do not fit. */
	T_CHECK(!ub_win_create_mirrored(w, 8, "board", &win));
	T_CHECK(ub_win_rebuild(w, 16, "board", win, 0, &old) == -EINVAL && !old);
	return !!ub_win_free(win);
}

static bool kept(void)
{
	struct t_job j;

	return start(&j, 1, keeper) && !t_wait(&j, 1 << 2);
}

int main(int argc, char **argv)
{
	/* A round takes a second in an emulated guest. */
	int few = getenv("T_DEVICE") ? 6 : 20, i;
	int rounds = argc > 1 ? atoi(argv[1]) : getenv("UB_LONG") ? 15 * few : few;
	int rejoined = 0;
	bool ok = true;

	setvbuf(stdout, NULL, _IOLBF, 0);
	srand(argc > 2 ? atoi(argv[2]) : 1);
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	t_machine(machine);
	t_plan(7);
	t_result(undisturbed(), "spares that are not needed");
	for (i = 0; i < rounds; i++) {
		ok &= one_dies(rand() % ACTIVE, rand() % 8000);
		rejoined += told->rejoined;
	}
	/* Not all died when it was over. */
	ok &= rejoined >= rounds / 8;
	t_result(ok, "one dies at a random moment: same bits");
	for (ok = true, i = 0; i < rounds; i++) {
		int victim = rand() % ACTIVE;
		int other = (victim + 1 + rand() % ACTIVE) % (ACTIVE + 1);

		/* Not its buddy, on the other board: nobody else has what they held. */
		if (other == (victim ^ 2))
			other = ACTIVE;
		ok &= two_die(victim, other, rand() % 6000, rand() % 4000);
	}
	t_result(ok, "another one dies soon after: same bits");
	t_result(spares_die(), "a spare dies before it is wanted");
	t_result(fewer(1), "fewer spares than lost: shrink");
	t_result(fewer(0), "no spares: shrink");
	t_result(kept(), "what is kept, what is from the checkpoint");
	t_machine(NULL);
	return t_end();
}
