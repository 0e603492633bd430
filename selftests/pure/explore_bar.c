// SPDX-License-Identifier: GPL-2.0-only
/*
 * The explorer's barriers: the agent of engine.h, and programs of it, with a
 * monitor that fences or with shrinking.
 */
#include "explore.h"

/* For mutants.sh: the rule of engine.h that the agent leaves out. */
enum wrong { NOTHING, NO_RECHECK, NO_RING, NO_PRESSED };
#ifndef MUTATE
#define MUTATE	NOTHING
#endif
#define WRONG(what)	((enum wrong)MUTATE == (what))

struct ub_sched *sched[MAXN + 1][MAXN];
char *arena;
size_t pages_size;
static size_t arena_size;

void build_scheds(void)
{
	struct ub_shape shape = flat_of(prog->k);
	__u32 node[MAXN] = { 0, 1, 2, 3 };
	int n, i;

	for (n = 1; n <= prog->n; n++)
		for (i = 0; i < n; i++) {
			ub_sched_free(sched[n][i]);
			sched[n][i] = ub_sched_build(node, n, i, &shape);
			if (!sched[n][i])
				abort();
		}
	pages_size = ub_group_map_size(MAXN, 8);
}

void arena_up(size_t size)
{
	if (size > arena_size) {
		free(arena);
		arena = aligned_alloc(4096, (size + 4095) & ~4095ULL);
		if (!arena)
			abort();
		arena_size = size;
	}
	memset(arena, 0, size);
}

static __u64 operand(int who, __u64 e)
{
	return (e * 3 + 1) << (8 * who);
}

/* Of disjoint bits, so that a sum is an or. Straight: sometimes no value. */
static __u32 op_of(__u64 e)
{
	if (!prog->straight)
		return UB_RED_SUM;
	return e % 3 == 1 ? UB_RED_OR : e % 3 == 2 ? UB_RED_NONE : UB_RED_SUM;
}

/* What a member tells of its last wait: later and later, each the least once. */
static __u64 last_of(int who, __u64 e, int member)
{
	return UB_AUX_LAST(100 * e + (who + e) % MAXN, member) |
	       UB_AUX_NOTE((e & 1) << member % 4);
}

/* A crash is seen at the next tick of anybody. */
void wake_all(int who)
{
	int i;

	(void)who;
	for (i = 0; i < nco; i++) {
		rung[i] = true;
		wake(i);
	}
}

static void ring_all(const struct group *gr, int me)
{
	int i;

	for (i = 0; i < gr->n; i++)
		if (i != me && ub_ld(&gr->g.line[i].sleeping)) {
			rung[gr->who[i]] = true;
			wake(gr->who[i]);
		}
}

static void note_ok(struct group *gr, const struct ub_bar *b, __u64 e)
{
	__u64 sum = 0, least = UB_AUX_LAST_MASK, notes = 0, last;
	int i;

	for (i = 0; i < gr->n; i++) {
		sum += operand(gr->who[i], e);
		last = last_of(gr->who[i], e, i);
		notes |= last & ~UB_AUX_LAST_MASK;
		last &= UB_AUX_LAST_MASK;
		least = last < least ? last : least;
		if (UB_ARR_EPOCH(gr->g.line[i].arrival) < e)
			fail("member %u is ok for %llu, %d has not arrived",
			     b->me, (long long)e, i);
	}
	if ((b->sum.aux & UB_AUX_GIVEN_MASK) != (least | notes))
		fail("member %u epoch %llu: last %llx, not %llx", b->me,
		     (long long)e, (long long)b->sum.aux, (long long)(least | notes));
	if ((op_of(e) && b->sum.full != sum) || ub_bar_mixed(b))
		fail("member %u epoch %llu: sum %llx, not %llx", b->me,
		     (long long)e, (long long)b->sum.full, (long long)sum);
	gr->ok[e] = true;
	if (gr->lost && gr->lost_epoch <= e)
		fail("member %u is ok for %llu, another was told it is lost",
		     b->me, (long long)e);
}

static void note_lost(struct group *gr, const struct ub_bar *b, __u64 e)
{
	__u64 i;

	if (gr->lost && (gr->verdict != b->verdict ||
			 gr->lost_epoch != b->lost_epoch))
		fail("member %u: verdict %llx of %llu, another's %llx of %llu",
		     b->me, (long long)b->verdict, (long long)b->lost_epoch,
		     (long long)gr->verdict, (long long)gr->lost_epoch);
	gr->lost = true;
	gr->verdict = b->verdict;
	gr->lost_epoch = b->lost_epoch;
	if (gr->lost_epoch > e)
		fail("member %u: %llu is lost, told for %llu", b->me,
		     (long long)gr->lost_epoch, (long long)e);
	for (i = gr->lost_epoch; i <= MAXE; i++)
		if (gr->ok[i])
			fail("member %u: %llu is lost, another was ok for %llu",
			     b->me, (long long)gr->lost_epoch, (long long)i);
}

/* Fence who crashed, as each node's tick does. */
static void look_after(const struct group *gr, int me)
{
	bool any = false;
	int i;

	for (i = 0; i < gr->n; i++) {
		if (state[gr->who[i]] != CRASHED)
			continue;
		any |= !(gr->g.line[i].arrival & UB_ARR_FINAL);
		ub_grp_fence(&gr->g, i, UB_REASON_HEARTBEAT);
	}
	if (any) {
		ring_all(gr, me);
		rung[gr->who[me]] = true;
	}
}

/* The agent of engine.h. @tick: it looks after the living itself. */
static enum ub_bar_state await(struct group *gr, struct ub_bar *b, bool tick)
{
	enum ub_bar_state st = UB_BAR_WAIT;
	int me = self(), polls;

	if (!WRONG(NO_PRESSED) && ub_bar_pressed(b)) {
		st = ub_bar_record(b);
		if ((st == UB_BAR_DONE && !WRONG(NO_RING)) || b->wake)
			ring_all(gr, b->me);
	}
	for (polls = 0; st == UB_BAR_WAIT && polls < prog->polls; polls++) {
		if (ub_bar_poll(b))
			st = UB_BAR_DONE;
		else
			spin();
	}
	if (st != UB_BAR_WAIT)
		return st;
	rung[me] = false;
	if (WRONG(NO_RECHECK))
		st = ub_bar_record(b);
	ub_bar_sleep_begin(b);
	for (;;) {
		if (WRONG(NO_RECHECK) && st == UB_BAR_WAIT && !rung[me])
			block();
		st = ub_bar_record(b);
		if (b->wake)
			ring_all(gr, b->me);
		if (st != UB_BAR_WAIT)
			break;
		if (tick)
			look_after(gr, b->me);
		if (!rung[me])
			block();
		rung[me] = false;
	}
	ub_bar_sleep_end(b);
	return st;
}

/* 1 complete, 0 arrived, or an error. */
static int arrive(struct ub_bar *b, __u64 e)
{
	__u64 last = last_of(self(), e, b->me);
	__u32 polls = prog->polls;
	int err = -EBUSY;

	if (b->nhops && prog->straight >> (self() + e) % 4 & 1)
		err = ub_bar_straight(b, op_of(e), operand(self(), e), last,
				      &polls, &b->sum);
	if (err >= 0)
		return err;
	return ub_bar_arrive(b, op_of(e), operand(self(), e), last);
}

/* One barrier: 0 ok, -EOWNERDEAD, or -ESTALE when the member was fenced. */
int barrier(struct group *gr, struct ub_bar *b, bool tick)
{
	__u64 e = b->epoch + 1;
	int err = arrive(b, e);
	enum ub_bar_state st;

	if (err == -ESTALE && ub_bar_verdict(b, e)) {
		note_lost(gr, b, e);
		return -EOWNERDEAD;
	}
	if (err < 0) {
		if (err != -ESTALE ||
		    !(gr->g.line[b->me].arrival & UB_ARR_FENCED))
			fail("member %u: arriving at %llu: %d", b->me,
			     (long long)e, err);
		return err;
	}
	st = err ? UB_BAR_DONE : await(gr, b, tick);
	if (st == UB_BAR_DONE) {
		note_ok(gr, b, e);
		return 0;
	}
	note_lost(gr, b, e);
	return -EOWNERDEAD;
}

/* ---- barriers with a monitor ---- */

static struct group grp[MAXN + 1];
static bool fenced_alive[MAXN];

static void grp_up(struct group *gr, char *pages, int n)
{
	memset(gr, 0, sizeof(*gr));
	gr->n = n;
	gr->pages = pages;
	ub_grp_init(&gr->g, pages, n, MAXN, 8);
}

void bar_start(void)
{
	int i;

	arena_up(pages_size);
	grp_up(&grp[0], arena, prog->n);
	for (i = 0; i < prog->n; i++) {
		grp[0].who[i] = i;
		may_crash[i] = true;
		fenced_alive[i] = false;
	}
	nco = prog->n + 1;
	may_crash[prog->n] = false;
	daemon_co[prog->n] = true;
}

static void bar_monitor(void)
{
	struct group *gr = &grp[0];
	bool done[MAXN] = { false };
	int i, s = prog->suspect - 1;

	if (s >= 0) {
		fenced_alive[s] = true;
		ub_grp_fence(&gr->g, s, UB_REASON_FENCED);
		ring_all(gr, -1);
	}
	for (;;) {
		for (i = 0; i < gr->n; i++) {
			if (state[i] != CRASHED || done[i])
				continue;
			done[i] = true;
			ub_grp_fence(&gr->g, i, UB_REASON_HEARTBEAT);
			ring_all(gr, -1);
			i = -1;
		}
		block();
	}
}

void bar_body(int i)
{
	struct group *gr = &grp[0];
	__u32 polls = 0;
	struct ub_bar b;
	int err = 0, e;

	if (i == prog->n) {
		bar_monitor();
		return;
	}
	ub_bar_init(&b, &gr->g, sched[prog->n][i], i, 0);
	for (e = 1; e <= prog->epochs && !err; e++) {
		err = barrier(gr, &b, false);
		if (err == -ESTALE && !fenced_alive[i])
			fail("member %d is refused for nothing", i);
		if (err && !crashes && !prog->suspect)
			fail("member %d: error %d, but nobody died", i, err);
	}
	/* A user that does not believe it. */
	if (err && b.nhops &&
	    ub_bar_straight(&b, 0, 0, 0, &polls, &b.sum) != -EBUSY)
		fail("member %d goes straight after the end", i);
	if (err && ub_bar_arrive(&b, UB_RED_SUM, 0xbad, 0) != -ESTALE)
		fail("member %d arrives after the end", i);
}

/* The monitor sees a crash. */
void bar_crash(int who)
{
	(void)who;
	wake(prog->n);
}

void bar_check(void)
{
	int e;

	for (e = 1; e <= prog->epochs && !crashes && !prog->suspect; e++)
		if (!grp[0].ok[e])
			fail("epoch %d was not completed", e);
}

/* ---- shrinking ---- */

static __u32 survivors[MAXN + 1][MAXN];
static int nsurvivors[MAXN + 1];

void shrink_start(void)
{
	int i;

	arena_up(pages_size * (MAXN + 1));
	for (i = 0; i <= MAXN; i++) {
		grp_up(&grp[i], arena + i * pages_size, prog->n);
		nsurvivors[i] = 0;
	}
	for (i = 0; i < prog->n; i++) {
		grp[0].who[i] = i;
		may_crash[i] = true;
	}
	nco = prog->n;
}

void shrink_body(int i)
{
	int depth = 0, me = i, err, e, j, n;
	__u32 list[MAXN];
	struct ub_bar b;

	for (;;) {
		struct group *gr = &grp[depth];

		ub_bar_init(&b, &gr->g, depth & 1 ? NULL : sched[gr->n][me], me, 0);
		for (err = 0, e = 1; e <= prog->epochs && !err; e++)
			err = barrier(gr, &b, true);
		if (!err)
			return;
		if (!crashes)
			fail("member %d: error %d, but nobody died", i, err);
		err = ub_grp_shrink(&gr->g, me);
		if (err)
			fail("member %d cannot shrink: %d", i, err);
		while (!(n = ub_grp_shrunk(&gr->g, list))) {
			look_after(gr, me);
			spin();
		}
		if (nsurvivors[depth] &&
		    (n != nsurvivors[depth] ||
		     memcmp(list, survivors[depth], n * sizeof(list[0]))))
			fail("member %d sees %d survivors, another %d", i, n,
			     nsurvivors[depth]);
		nsurvivors[depth] = n;
		memcpy(survivors[depth], list, n * sizeof(list[0]));
		for (j = 0; j < n; j++) {
			grp[depth + 1].who[j] = gr->who[list[j]];
			if (gr->who[list[j]] == i)
				me = j;
		}
		grp[depth + 1].n = n;
		grp[depth + 1].g.n = n;
		if (grp[depth + 1].who[me] != i)
			fail("member %d is not among the survivors", i);
		depth++;
	}
}

void no_check(void)
{
}
