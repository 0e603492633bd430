// SPDX-License-Identifier: GPL-2.0-only
/*
 * Schedule explorer for engine.c and slots.c.
 *
 * Each member is a coroutine. Before each shared access another member may go
 * on instead, or this one may end for good. What happens is a list of choices
 * that differ from "go on": <point>s<who> and <point>x. Walks are random, or
 * all lists up to a number of switches and crashes are tried in order.
 *
 *	explore				all programs, bounded and random
 *	explore -p bar2 -s 2 -x 1	one, with these bounds
 *	explore -p bar2 -r 1000000 -S 7	random walks from a seed
 *	explore --replay bar2:12s1,40x	one list of choices, with a trace
 *
 * Interleavings are sequentially consistent: weak memory order is not
 * explored here.
 */
#include <errno.h>
#include <stdarg.h>
#include <time.h>
#include "test.h"
#include "co.h"
#include "explore_memset.h"
#undef memset
#include "engine.h"
#include "slots.h"

/* For mutants.sh: the rule of engine.h that the agent leaves out. */
enum wrong { NOTHING, NO_RECHECK, NO_RING, NO_PRESSED };
#ifndef MUTATE
#define MUTATE	NOTHING
#endif
#define WRONG(what)	((enum wrong)MUTATE == (what))

#define MAXN		4
#define MAXE		4
#define MAX_POINTS	6000
#define MAX_DEVS	512
#define MAX_SLOTS	3

/* ---- scheduler ---- */

enum co_state { READY, BLOCKED, ENDED, CRASHED };

struct dev {
	int point;
	int who;		/* -1: crash */
};

static enum co_state state[CO_MAX];
static bool may_crash[CO_MAX], daemon_co[CO_MAX];
static int nco, next_co, points, crashes, crash_budget;
static bool failed, trace;
static char why[400];

static struct dev dev[MAX_DEVS];
static int ndev, dev_at;
static bool zeroing;		/* the moment to die or to be overtaken */
static int random_odds;		/* 0: follow dev[]; else a switch one in so many */

/* What else could have been done at each point of the last run. */
static unsigned char alt[MAX_POINTS + 1];
static bool alt_crash[MAX_POINTS + 1];

static void on_crash(int who);

__attribute__((format(printf, 1, 2)))
static void fail(const char *fmt, ...)
{
	va_list ap;

	if (!failed) {
		va_start(ap, fmt);
		vsnprintf(why, sizeof(why), fmt, ap);
		va_end(ap);
	}
	failed = true;
	if (co_cur >= 0)
		co_back();	/* never to return */
}

static int round_robin(int from)
{
	int i;

	for (i = 1; i <= nco; i++)
		if (state[(from + i) % nco] == READY)
			return (from + i) % nco;
	return -1;
}

static void note(int who)
{
	if (ndev == MAX_DEVS) {
		random_odds = 1 << 30;
		return;
	}
	dev[ndev++] = (struct dev){ points, who };
}

/* @standing: who goes on if nothing is chosen. Returns who shall, -1 crash. */
static int choose(int standing)
{
	unsigned char others = 0;
	bool crash = may_crash[co_cur] && state[co_cur] == READY;
	int i, n = 0;

	if (++points >= MAX_POINTS)
		fail("does not end within %d accesses", MAX_POINTS);
	for (i = 0; i < nco; i++)
		if (state[i] == READY && i != standing) {
			others |= 1 << i;
			n++;
		}
	alt[points] = others;
	alt_crash[points] = crash;
	if (random_odds) {
		bool any = standing != co_cur;	/* it gives way anyhow */

		if (crash && crashes < crash_budget && !below(zeroing ? 8 : random_odds * 8)) {
			note(-1);
			return -1;
		}
		if (!n || (any || zeroing ? below(2) :
					       below(random_odds)))
			return standing;
		for (n = below(n), i = 0; ; i++)
			if (others >> i & 1 && !n--)
				break;
		note(i);
		return i;
	}
	if (dev_at < ndev && dev[dev_at].point == points) {
		struct dev d = dev[dev_at++];

		if (trace)
			printf("# %5d: member %d %s %d\n", points, co_cur,
			       d.who < 0 ? "crashes" : "is left for", d.who);
		if (d.who < 0 ? crash : others >> d.who & 1)
			return d.who;
	}
	return standing;
}

static void give_way(int standing)
{
	int me = co_cur, who = choose(standing);

	if (who < 0) {
		state[me] = CRASHED;
		crashes++;
		on_crash(me);
		who = round_robin(me);
	}
	zeroing = false;
	if (who == me)
		return;
	next_co = who;
	co_back();
}

void ub_explore_point(void)
{
	if (co_cur < 0)
		return;
	if (trace)
		printf("# %5d: member %d at %p\n", points + 1, co_cur,
		       __builtin_return_address(0));
	give_way(co_cur);
}

void *explore_memset(void *p, int c, size_t n)
{
	size_t part = n / MAXN & ~7ULL;

	zeroing = true;
	ub_explore_point();
	memset(p, c, part);
	zeroing = true;
	ub_explore_point();
	memset((char *)p + part, c, n - part);
	zeroing = true;
	ub_explore_point();
	zeroing = false;
	return p;
}

/* Nothing to do at the moment: others first. */
static void spin(void)
{
	give_way(round_robin(co_cur));
}

static void block(void)
{
	state[co_cur] = BLOCKED;
	give_way(round_robin(co_cur));
}

static void wake(int i)
{
	if (state[i] == BLOCKED)
		state[i] = READY;
}

/* ---- what programs share ---- */

struct program {
	const char *name;
	void (*start)(void);	/* world and coroutines */
	void (*body)(int i);
	void (*check)(void);	/* after all ended */
	int n, k, epochs, polls;
	int suspect;		/* member + 1 that is taken for dead though it lives */
	int nslots, lives;
	__u32 id[MAXN][2];	/* of the group of each member's each life */
	int switches, crashes;	/* bounds of the exhaustive search */
	int random;		/* share of the random walks */
};

static const struct program *prog;
static bool rung[CO_MAX];
static struct ub_sched *sched[MAXN + 1][MAXN];	/* of groups of 1 to n */

/* One group: its words and what was answered in it. */
struct group {
	struct ub_grp g;
	int n, who[MAXN];	/* coroutine of each member */
	char *pages;
	bool ok[MAXE + 2], lost;
	__u64 verdict, lost_epoch;
};

static char *arena;
static size_t arena_size, pages_size;

static void build_scheds(void)
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

static void arena_up(size_t size)
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
	__u64 sum = 0;
	int i;

	for (i = 0; i < gr->n; i++) {
		sum += operand(gr->who[i], e);
		if (UB_ARR_EPOCH(gr->g.line[i].arrival) < e)
			fail("member %u is ok for %llu, %d has not arrived",
			     b->me, (long long)e, i);
	}
	if (b->sum.full != sum || ub_bar_mixed(b))
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
	int me = co_cur, polls;

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

/* One barrier: 0 ok, -EOWNERDEAD, or -ESTALE when the member was fenced. */
static int barrier(struct group *gr, struct ub_bar *b, bool tick)
{
	__u64 e = b->epoch + 1;
	int err = ub_bar_arrive(b, UB_RED_SUM, operand(co_cur, e),
				UB_AUX_LAST_MASK);
	enum ub_bar_state st;

	if (err == -ESTALE && ub_bar_verdict(b, e)) {
		note_lost(gr, b, e);
		return -EOWNERDEAD;
	}
	if (err) {
		if (err != -ESTALE ||
		    !(gr->g.line[b->me].arrival & UB_ARR_FENCED))
			fail("member %u: arriving at %llu: %d", b->me,
			     (long long)e, err);
		return err;
	}
	st = await(gr, b, tick);
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

static void bar_start(void)
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

static void bar_body(int i)
{
	struct group *gr = &grp[0];
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
	if (err && ub_bar_arrive(&b, UB_RED_SUM, 0xbad, 0) != -ESTALE)
		fail("member %d arrives after the end", i);
}

static void bar_check(void)
{
	int e;

	for (e = 1; e <= prog->epochs && !crashes && !prog->suspect; e++)
		if (!grp[0].ok[e])
			fail("epoch %d was not completed", e);
}

/* ---- shrinking ---- */

static __u32 survivors[MAXN + 1][MAXN];
static int nsurvivors[MAXN + 1];

static void shrink_start(void)
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

static void shrink_body(int i)
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
		if (nsurvivors[depth] && (n != nsurvivors[depth] ||
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

static void no_check(void)
{
}

/* ---- slots: making, leaving and collecting groups ---- */

static struct ub_slots table;
static __u32 claiming[MAXN];	/* id that a member looks for */
static __u32 used_gen[MAX_SLOTS];
static bool any_left_over;

struct life {
	int slot;		/* where it was completed, -1 */
	__u64 word;
};
static struct life life_at[MAXN][2];

static void slots_start(void)
{
	int i, j;

	table.nslots = prog->nslots;
	table.max_members = MAXN;
	table.rec_stride = ub_slot_stride(MAXN);
	table.map_size = pages_size;
	arena_up(pages_size * MAX_SLOTS + table.rec_stride * MAX_SLOTS);
	table.pages = arena;
	table.recs = arena + pages_size * MAX_SLOTS;
	for (i = 0; i < prog->n; i++) {
		may_crash[i] = true;
		claiming[i] = 0;
		for (j = 0; j < 2; j++)
			life_at[i][j].slot = -1;
	}
	for (i = 0; i < MAX_SLOTS; i++)
		used_gen[i] = 0;
	any_left_over = false;
	nco = prog->n;
}

static bool zero(const void *p, size_t n)
{
	const char *c = p;

	return !n || (!*c && !memcmp(c, c + 1, n - 1));
}

static bool gone(void *ctx, const struct ub_slot_member *m, __u64 arrival)
{
	__u32 id = *(__u32 *)ctx;
	int i;

	if (m && m->who)
		return state[UB_WHO_NODE(m->who)] == CRASHED;
	if (arrival & UB_ARR_FENCED)
		return true;
	for (i = 0; i < prog->n; i++)
		if (claiming[i] == id && state[i] != CRASHED &&
		    i != co_cur && i != prog->suspect - 1)
			return false;
	return true;
}

static bool freer_gone(void *ctx, __u64 freer)
{
	(void)ctx;
	return state[freer - 1] == CRASHED;
}

static bool collect(int slot, int self)
{
	__u32 id = UB_SLOT_ID(ub_ld(&ub_slot_rec(&table, slot)->word));

	return ub_slots_collect(&table, slot, self + 1, gone, freer_gone, &id);
}

static void one_committed(__u32 id)
{
	int i, n = 0;

	for (i = 0; i < prog->nslots; i++) {
		__u64 w = ub_slot_rec(&table, i)->word;

		n += UB_SLOT_STATE(w) == UB_SLOT_COMMITTED && UB_SLOT_ID(w) == id;
	}
	if (n > 1)
		fail("%d committed slots of one id", n);
}

/* Claim and join; the index of the slot. */
static int enter(int i, __u32 id, int n, int index, __u64 *word)
{
	struct ub_slot_member m = { .who = UB_WHO(0, i, i), .node_inc = i + 10,
				    .lane_inc = i + 20 };
	int tries, slot, err, s;
	__u64 clash;

	claiming[i] = id;
	for (tries = 0; tries < 100; tries++) {
		slot = ub_slots_claim(&table, id, word);
		if (slot >= 0) {
			one_committed(id);
			err = ub_slots_join(&table, slot, *word, n, 0x1234, index,
					    &m, &clash);
			if (!err)
				break;
			if (err == -EINVAL)
				fail("member %d: form %llx stands", i,
				     (long long)clash);
			/* The entry of the own former life is not collected yet. */
			if (err == -EEXIST && (UB_WHO_GEN(clash) != UB_SLOT_GEN(*word) ||
					       !(clash & UB_WHO_LEFT)))
				fail("member %d: its entry holds %llx", i,
				     (long long)clash);
		} else if (slot != -ENOSPC && slot != -EAGAIN) {
			fail("claim: %d", slot);
		}
		for (s = 0; s < prog->nslots; s++)
			collect(s, i);
		spin();
	}
	if (tries == 100)
		fail("member %d gets no slot", i);
	claiming[i] = 0;
	one_committed(id);
	if (used_gen[slot] != UB_SLOT_GEN(*word)) {
		used_gen[slot] = UB_SLOT_GEN(*word);
		if (!zero(ub_slot_pages(&table, slot), pages_size))
			fail("member %d: pages of slot %d are not zero", i, slot);
	}
	if (!ub_slots_member(&table, slot, *word, index, &m) ||
	    m.node_inc != (__u64)i + 10 || m.lane_inc != (__u64)i + 20)
		fail("member %d: own entry reads %llx", i, (long long)m.who);
	return slot;
}

static void slots_life(int i, int life)
{
	__u32 id = prog->id[i][life];
	struct group gr;
	struct ub_bar b;
	int n = 0, index = 0, slot, j, err, e;
	__u64 word;

	if (!id)
		return;
	memset(&gr, 0, sizeof(gr));
	for (j = 0; j < prog->n; j++) {
		if (prog->id[j][life] != id)
			continue;
		if (j == i)
			index = n;
		gr.who[n++] = j;
	}
	slot = enter(i, id, n, index, &word);
	gr.n = n;
	ub_grp_init(&gr.g, ub_slot_pages(&table, slot), n, MAXN, 8);
	ub_bar_init(&b, &gr.g, NULL, index, 0);
	for (e = 1, err = 0; e <= prog->epochs && !err; e++) {
		err = barrier(&gr, &b, true);
		if (err && !crashes)
			fail("member %d: error %d, but nobody died", i, err);
		if (!err && e == 1) {
			life_at[i][life] = (struct life){ slot, word };
			for (j = 0; j < prog->n; j++)
				if (prog->id[j][life] == id &&
				    life_at[j][life].slot >= 0 &&
				    (life_at[j][life].slot != slot ||
				     life_at[j][life].word != word))
					fail("members %d and %d met in two slots", i, j);
			b.sched = sched[n][index];
		}
	}
	ub_slots_leave(&table, slot, word, index);
	collect(slot, i);
}

static void slots_body(int i)
{
	int life;

	for (life = 0; life < prog->lives; life++)
		slots_life(i, life);
}

static void slots_check(void)
{
	int i, r;

	for (r = 0; r < 3; r++)
		for (i = 0; i < prog->nslots; i++)
			collect(i, MAXN);
	for (i = 0; i < prog->nslots; i++) {
		const struct ub_slot_rec *rec = ub_slot_rec(&table, i);

		if (UB_SLOT_STATE(rec->word) != UB_SLOT_FREE)
			fail("slot %d stays %llx, freer %llx", i,
			     (long long)rec->word, (long long)rec->freer);
		if (!zero(ub_slot_pages(&table, i), pages_size))
			fail("slot %d is free, its pages are not zero", i);
		if (!crashes && !zero(rec->member, MAXN * sizeof(rec->member[0])))
			fail("slot %d is free, its table is not zero", i);
	}
}

/* ---- the programs ---- */

#define BAR	.start = bar_start, .body = bar_body, .check = bar_check
#define SHRINK	.start = shrink_start, .body = shrink_body, .check = no_check
#define SLOTS	.start = slots_start, .body = slots_body, .check = slots_check

static const struct program programs[] = {
	{ "bar2", BAR, .n = 2, .k = 1, .epochs = 3, .polls = 2,
	  .switches = 2, .crashes = 1, .random = 4 },
	{ "bar2-sleep", BAR, .n = 2, .k = 1, .epochs = 3, .polls = 0,
	  .switches = 2, .crashes = 1, .random = 4 },
	{ "bar2-suspect", BAR, .n = 2, .k = 1, .epochs = 2, .polls = 1,
	  .suspect = 1, .switches = 3, .crashes = 0, .random = 4 },
	{ "bar3", BAR, .n = 3, .k = 1, .epochs = 2, .polls = 2,
	  .switches = 1, .crashes = 1, .random = 8 },
	{ "bar3-k2", BAR, .n = 3, .k = 2, .epochs = 3, .polls = 1,
	  .switches = 1, .crashes = 1, .random = 8 },
	{ "bar3-sleep", BAR, .n = 3, .k = 1, .epochs = 2, .polls = 0,
	  .switches = 1, .crashes = 1, .random = 8 },
	{ "bar3-suspect", BAR, .n = 3, .k = 1, .epochs = 2, .polls = 1,
	  .suspect = 2, .switches = 2, .crashes = 0, .random = 8 },
	{ "bar3-two", BAR, .n = 3, .k = 1, .epochs = 3, .polls = 1,
	  .suspect = 3, .switches = 0, .crashes = 2, .random = 8 },
	{ "bar4", BAR, .n = 4, .k = 1, .epochs = 1, .polls = 0,
	  .switches = 0, .crashes = 2, .random = 16 },
	{ "shrink2", SHRINK, .n = 2, .k = 1, .epochs = 2, .polls = 1,
	  .switches = 1, .crashes = 1, .random = 4 },
	{ "shrink3", SHRINK, .n = 3, .k = 1, .epochs = 2, .polls = 1,
	  .switches = 1, .crashes = 1, .random = 8 },
	{ "shrink3-two", SHRINK, .n = 3, .k = 1, .epochs = 1, .polls = 0,
	  .switches = 0, .crashes = 2, .random = 8 },
	{ "shrink4", SHRINK, .n = 4, .k = 3, .epochs = 1, .polls = 0,
	  .switches = 0, .crashes = 2, .random = 16 },
	{ "slots2", SLOTS, .n = 2, .k = 1, .epochs = 2, .polls = 1,
	  .nslots = 2, .lives = 1, .id = { { 7 }, { 7 } },
	  .switches = 2, .crashes = 1, .random = 8 },
	{ "slots2-again", SLOTS, .n = 2, .k = 1, .epochs = 1, .polls = 1,
	  .nslots = 2, .lives = 2, .id = { { 7, 7 }, { 7, 7 } },
	  .switches = 2, .crashes = 0, .random = 16 },
	{ "slots2-crash", SLOTS, .n = 2, .k = 1, .epochs = 1, .polls = 0,
	  .nslots = 2, .lives = 2, .id = { { 7, 8 }, { 7, 8 } },
	  .switches = 1, .crashes = 1, .random = 16 },
	{ "slots3", SLOTS, .n = 3, .k = 1, .epochs = 1, .polls = 1,
	  .nslots = 3, .lives = 1, .id = { { 7 }, { 7 }, { 7 } },
	  .switches = 1, .crashes = 1, .random = 8 },
	{ "slots3-again", SLOTS, .n = 3, .k = 1, .epochs = 1, .polls = 1,
	  .nslots = 2, .lives = 2, .id = { { 7, 7 }, { 7, 7 }, { 7, 7 } },
	  .switches = 0, .crashes = 1, .random = 24 },
	{ "slots-slow", SLOTS, .n = 2, .k = 1, .epochs = 1, .polls = 1,
	  .suspect = 1, .nslots = 1, .lives = 1, .id = { { 5 }, { 6 } },
	  .switches = 3, .crashes = 0, .random = 16 },
	{ "slots-outsider", SLOTS, .n = 3, .k = 1, .epochs = 1, .polls = 1,
	  .nslots = 1, .lives = 2, .id = { { 7, 7 }, { 7, 7 }, { 9, 0 } },
	  .switches = 1, .crashes = 1, .random = 16 },
	{ "slots-one", SLOTS, .n = 3, .k = 1, .epochs = 1, .polls = 1,
	  .nslots = 1, .lives = 2, .id = { { 5, 0 }, { 6, 9 }, { 6, 0 } },
	  .switches = 1, .crashes = 1, .random = 16 },
	{ "slots-mixed", SLOTS, .n = 4, .k = 1, .epochs = 1, .polls = 1,
	  .nslots = 2, .lives = 2,
	  .id = { { 5, 7 }, { 5, 7 }, { 6, 7 }, { 6, 7 } },
	  .switches = 1, .crashes = 0, .random = 16 },
};

static const struct program *find(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (strlen(programs[i].name) == len &&
		    !strncmp(programs[i].name, name, len))
			return &programs[i];
	fprintf(stderr, "no program %s\n", name);
	exit(2);
}

/* A crash is seen at the next tick of anybody. */
static void on_crash(int who)
{
	int i;

	(void)who;
	if (prog->body == bar_body) {
		wake(prog->n);
		return;
	}
	for (i = 0; i < nco; i++) {
		rung[i] = true;
		wake(i);
	}
}

static void body(int i)
{
	prog->body(i);
	state[i] = ENDED;
	next_co = round_robin(i);
}

/* ---- one run ---- */

static unsigned long long runs, accesses;

static bool run(void)
{
	int i;

	points = 0;
	crashes = 0;
	zeroing = false;
	failed = false;
	dev_at = 0;
	memset(rung, 0, sizeof(rung));
	memset(daemon_co, 0, sizeof(daemon_co));
	prog->start();
	co_fn = body;
	for (i = 0; i < nco; i++) {
		state[i] = READY;
		co_make(i);
	}
	next_co = 0;
	while (!failed && next_co >= 0)
		co_to(next_co);
	for (i = 0; i < nco && !failed; i++)
		if (state[i] == BLOCKED && !daemon_co[i])
			fail("member %d sleeps for ever", i);
	if (!failed)
		prog->check();
	runs++;
	accesses += points;
	return !failed;
}

static void report(void)
{
	int i;

	printf("# %s: %s\n# replay with: --replay %s:", prog->name, why, prog->name);
	for (i = 0; i < ndev; i++) {
		printf("%s%d", i ? "," : "", dev[i].point);
		if (dev[i].who < 0)
			printf("x");
		else
			printf("s%d", dev[i].who);
	}
	printf("\n");
}

/* All lists that go on from dev[0..ndev). Each list is run once. */
static bool search(int switches, int left)
{
	int from = ndev ? dev[ndev - 1].point + 1 : 1, at = ndev, last, p, j;
	unsigned char *others;

	random_odds = 0;
	if (!run()) {
		report();
		return false;
	}
	if ((!switches && !left) || from > points)
		return true;
	last = points;
	others = malloc(2 * (last - from + 1));
	if (!others)
		abort();
	memcpy(others, alt + from, last - from + 1);
	memcpy(others + last - from + 1, alt_crash + from, last - from + 1);
	ndev = at + 1;
	for (p = from; p <= last; p++) {
		for (j = -1; j < nco; j++) {
			if (j < 0 ? !left || !others[p - from + last - from + 1] :
			    !switches || !(others[p - from] >> j & 1))
				continue;
			dev[at] = (struct dev){ p, j };
			ndev = at + 1;
			if (!search(switches - (j >= 0), left - (j < 0))) {
				free(others);
				return false;
			}
		}
	}
	ndev = at;
	free(others);
	return true;
}

static bool walk(unsigned long long walks, uint64_t seed, int budget)
{
	unsigned long long i;
	bool good = true;

	for (i = 0; i < walks && good; i++) {
		rng_state = seed + i * 0x1000003ULL;
		random_odds = 2 + below(24);
		crash_budget = below(4) ? budget : 0;
		ndev = 0;
		good = run();
		if (!good) {
			printf("# seed %llu\n", (long long)(seed + i * 0x1000003ULL));
			report();
		}
	}
	random_odds = 0;
	return good;
}

static int replay(const char *arg)
{
	const char *p = strchr(arg, ':');
	char *end;

	if (!p)
		return 2;
	prog = find(arg, p - arg);
	build_scheds();
	for (p++; *p; p = *end == ',' ? end + 1 : end) {
		struct dev *d = &dev[ndev++];

		d->point = strtol(p, &end, 10);
		if (*end == 'x') {
			d->who = -1;
			end++;
		} else if (*end == 's') {
			d->who = strtol(end + 1, &end, 10);
		} else {
			return 2;
		}
	}
	trace = true;
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("%s\n", run() ? "passes" : why);
	return failed;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static bool run_program(const struct program *p, int sw, int cr,
			unsigned long long walks, uint64_t seed)
{
	double t = now();
	bool good;

	prog = p;
	build_scheds();
	runs = accesses = 0;
	ndev = 0;
	good = search(sw, cr);
	printf("# %s: %llu schedules, %llu accesses, %d switches, %d crashes, %.1f s\n",
	       p->name, runs, accesses, sw, cr, now() - t);
	if (!good || !walks)
		return good;
	t = now();
	runs = accesses = 0;
	good = walk(walks, seed, p->n > 2 ? 2 : 1);
	printf("# %s: %llu random walks, %llu accesses, %.1f s\n",
	       p->name, runs, accesses, now() - t);
	return good;
}

int main(int argc, char **argv)
{
	const size_t n = sizeof(programs) / sizeof(programs[0]);
	int sw = -1, cr = -1, less = 0, i;
	long long walks = -1;
	const struct program *only = NULL;
	uint64_t seed = 1;
	size_t j;

	for (i = 1; i < argc; i++) {
		const char *arg = i + 1 < argc ? argv[i + 1] : "";

		if (!strcmp(argv[i], "--replay"))
			return replay(arg);
		else if (!strcmp(argv[i], "-p"))
			only = find(arg, strlen(arg));
		else if (!strcmp(argv[i], "-s"))
			sw = atoi(arg);
		else if (!strcmp(argv[i], "-x"))
			cr = atoi(arg);
		else if (!strcmp(argv[i], "-r"))
			walks = atoll(arg);
		else if (!strcmp(argv[i], "-S"))
			seed = strtoull(arg, NULL, 0);
		else if (!strcmp(argv[i], "-l"))	/* so many switches less */
			less = atoi(arg);
		else
			return 2;
		i++;
	}
	ktap_start(only ? 1 : n);
	for (j = 0; j < n; j++) {
		const struct program *p = &programs[j];
		int s = sw >= 0 ? sw : p->switches - less;

		if (only && p != only)
			continue;
		ktap_ok(run_program(p, s > 0 ? s : 0, cr >= 0 ? cr : p->crashes,
				    walks >= 0 ? walks : p->random * 2500, seed),
			"%s", p->name);
	}
	return ktap_end();
}
