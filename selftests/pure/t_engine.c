// SPDX-License-Identifier: GPL-2.0-only
/*
 * The barrier engine when nobody is lost: results, shapes, epochs, and the
 * straight path among ordinary arrivals. See t_engine_fail.c for the rest.
 */
#include "world.h"

static void flat_groups(void)
{
	uint32_t n, k, slow;

	for (n = 1; n <= 20; n++)
		for (k = 1; k <= 4; k++)
			for (slow = 0; slow <= 12; slow += 4) {
				flat(n, k);
				world_up(0);
				run(8, slow);
				world_down();
			}
	ktap_done("flat groups to 20, 1 to 4 ports, all reductions");
	for (n = 21; n <= MAXN; n++) {
		flat(n, 1 + n % UB_MAX_PORTS);
		world_up(0);
		run(3, n % 3 * 6);
		world_down();
	}
	ktap_done("flat groups to 96, 1 to 8 ports");
}

static void ragged_groups(void)
{
	uint32_t i;

	for (i = 0; i < 600; i++) {
		w.n = random_machine(&w.shape, w.node, i % 4 ? 24 : MAXN,
				     UB_MAX_PORTS);
		world_up(0);
		run(4, i % 3 * 5);
		world_down();
	}
	ktap_done("600 ragged trees");
}

static void large_epochs(void)
{
	static const uint64_t base[] = { (1ULL << 32) - 4, (1ULL << 31) - 3,
		(1ULL << 61) - 3, UB_EPOCH_MAX - 5 };
	uint32_t i, j, r;

	for (r = 0; r < 20; r++) {
		for (i = 0; i < 4; i++) {
			flat(1 + below(7), 1 + below(3));
			world_up(base[i]);
			run(5, 5);
			for (j = 0; j < w.n && base[i] == UB_EPOCH_MAX - 5; j++) {
				uint64_t word = w.g.line[j].arrival;

				expect(word == UB_EPOCH_MAX, "%llx",
				       (long long)word);
				expect(ub_bar_arrive(&bar[j], 0, 0, 0) ==
				       -EOVERFLOW, "member %u", j);
				expect(w.g.line[j].arrival == word, "%u", j);
				/* A full word can still be fenced, apart. */
				expect(ub_grp_fence(&w.g, j, 100 + j), "member %u", j);
				expect(UB_ARR_EPOCH(w.g.line[j].arrival) ==
				       UB_EPOCH_MAX, "member %u", j);
			}
			world_down();
		}
	}
	ktap_done("epochs near 2^31, 2^32, 2^61, 2^62; then -EOVERFLOW");
}

static void arguments(void)
{
	flat(2, 1);
	world_up(0);
	expect(ub_bar_arrive(&bar[0], UB_RED_OPS, 0, 0) == -EINVAL, "op");
	expect(ub_bar_arrive(&bar[0], ~0U, 0, 0) == -EINVAL, "op");
	expect(!w.g.line[0].arrival, "arrived all the same");
	expect(!strcmp(ub_red_name(UB_RED_SUM), "sum"), "name");
	expect(!strcmp(ub_red_name(UB_RED_OPS), "unknown"), "name");
	world_down();
	/* Without a schedule, as while a group is made. */
	flat(5, 2);
	world_up(0);
	bar[2].sched = NULL;
	for (uint32_t i = 0; i < 5; i++)
		ub_bar_arrive(&bar[i], UB_RED_SUM, i, LAST_NONE);
	expect(!ub_bar_poll(&bar[2]), "nothing to poll");
	expect(ub_bar_record(&bar[2]) == UB_BAR_DONE, "record");
	expect(bar[2].sum.full == 10, "%llu", (long long)bar[2].sum.full);
	world_down();
	ktap_done("arguments; no schedule");
}

/* ---- the straight path ---- */

static void straight_mixes(void)
{
	uint32_t n, i, r;

	w.plain = true;
	for (n = 1; n <= 20; n++)
		for (r = 0; r < 6; r++) {
			flat(n, 1);
			world_up(r & 1 ? 0 : UB_EPOCH_MAX / 2 - 40 - r);
			for (i = 0; i < n; i++)
				expect(bar[i].nhops == ub_rounds(n, 1),
				       "%u members, %u hops", n, bar[i].nhops);
			run(30, r / 2 * 6);
			world_down();
		}
	expect(w.completed > 100 && w.fell_back > 1000, "%u, %u", w.completed,
	       w.fell_back);
	ktap_done("straight and ordinary arrivals, flat groups to 20");
	for (i = 0; i < 300; i++) {
		w.n = random_machine(&w.shape, w.node, i % 4 ? 24 : MAXN, 2);
		world_up(0);
		run(5, i % 3 * 5);
		world_down();
	}
	w.plain = false;
	ktap_done("straight and ordinary arrivals, 300 ragged trees");
}

/* Who has a straight path: one sender, one receiver, at most UB_MAX_HOPS. */
static void straight_shapes(void)
{
	static const uint32_t lanes[] = { 4, 4, 9 };
	static uint32_t node[(1 << UB_MAX_HOPS) + 1];
	uint32_t i, n = 1 << UB_MAX_HOPS;
	struct ub_shape shape = flat_of(1);
	struct ub_sched *s;

	flat(3, 1);
	memcpy(w.node, lanes, sizeof(lanes));
	world_up(0);
	expect(!bar[2].nhops, "two lanes hear of the third member: %u",
	       bar[2].nhops);
	ub_bar_schedule(&bar[0], NULL);
	expect(!bar[0].nhops && !bar[0].sched, "no schedule");
	world_down();
	flat(3, 2);
	world_up(0);
	for (i = 0; i < 3; i++)
		expect(!bar[i].nhops, "two ports: %u", bar[i].nhops);
	for (i = 0; i <= n; i++)
		node[i] = i;
	for (i = 0; i < 2; i++) {
		s = ub_sched_build(node, n + i, 5, &shape);
		if (!s)
			abort();
		ub_bar_schedule(&bar[0], s);
		expect(bar[0].nhops == (i ? 0 : UB_MAX_HOPS), "%u: %u", n + i,
		       bar[0].nhops);
		ub_sched_free(s);
	}
	world_down();
	ktap_done("who has a straight path");
}

/* What comes to member @i in its first round, of the epoch @e or not yet. */
static const struct ub_flag *sent_to(uint32_t i, uint64_t e)
{
	const struct ub_round *rd = &w.sched[i]->round[0];

	return ub_flag_of(&w.g, rd->from[0], i, rd->line, rd->mutual) +
	       UB_FLAG_PARITY * (e & 1);
}

static bool of_epoch(const struct ub_flag *f, uint64_t e)
{
	return (f->aux & UB_AUX_SEQ_MASK) == UB_AUX_SEQ(e);
}

/* Out of polls in the first or second round: the rounds go on from there. */
static void straight_late(void)
{
	struct ub_flag *flag;
	uint32_t r, polls;

	for (r = 0; r < 2; r++) {
		flat(3, 1);	/* each sends to the next, then to the one after */
		world_up(0);
		if (r) {
			polls = 0;
			expect(!straight(&bar[2], UB_AUX_LAST(3, 2), &polls),
			       "first");
		}
		polls = 5;
		expect(!straight(&bar[0], UB_AUX_LAST(4, 0), &polls), "%u", r);
		expect(polls == 5, "%u", polls);
		expect(bar[0].round == r && bar[0].sent, "round %u", bar[0].round);
		expect(bar[0].epoch == 1 && w.g.line[0].arrival == 1, "arrival");
		expect(w.g.line[0].contrib[1].aux == UB_AUX_LAST(4, 0), "aux");
		expect(sent_to(1, 1)->aux == (UB_AUX_LAST(4, 0) | UB_AUX_SEQ(1)),
		       "flag");
		/* What was sent is not sent again. */
		flag = bar[0].hop[r].out + UB_FLAG_PARITY;
		expect(of_epoch(flag, 1), "round %u", r);
		flag->aux ^= 1;
		expect(!ub_bar_poll(&bar[0]), "round %u", r);
		expect(!of_epoch(flag, 1), "round %u: sent again", r);
		flag->aux ^= 1;
		polls = 9;
		if (!r)
			expect(!straight(&bar[2], UB_AUX_LAST(3, 2), &polls),
			       "third");
		expect(!ub_bar_poll(&bar[0]), "the second is missing");
		polls = 9;
		expect(!straight(&bar[1], UB_AUX_LAST(5, 1), &polls), "second");
		expect(ub_bar_poll(&bar[2]) && ub_bar_poll(&bar[0]) &&
		       ub_bar_poll(&bar[1]), "polls");
		for (uint32_t i = 0; i < 3; i++)
			expect(bar[i].sum.aux == UB_AUX_LAST(3, 2), "%u: %llx",
			       i, (long long)bar[i].sum.aux);
		world_down();
	}
	/* The flag is there at once, and counts no poll. */
	flat(2, 1);
	world_up(0);
	polls = 0;
	expect(!straight(&bar[0], LAST_NONE, &polls), "first");
	expect(bar[0].op == UB_RED_NONE, "operation");
	polls = 7;
	expect(straight(&bar[1], UB_AUX_LAST(2, 1), &polls) == 1, "second");
	expect(!polls, "%u polls", polls);
	expect(ub_bar_poll(&bar[0]) && bar[0].sum.aux == UB_AUX_LAST(2, 1),
	       "%llx", (long long)bar[0].sum.aux);
	world_down();
	ktap_done("a straight path that runs out of polls");
}

/* A sleeper of this epoch is seen after arriving, before a flag is awaited. */
static void straight_hint(void)
{
	uint32_t polls = 3;

	flat(2, 1);
	world_up(0);
	run(1, 0);
	expect(!ub_bar_arrive(&bar[1], UB_RED_NONE, 0, LAST_NONE), "arrive");
	ub_bar_sleep_begin(&bar[1]);
	expect(ub_bar_record(&bar[1]) == UB_BAR_WAIT, "asleep");
	bar[0].wake = true;
	expect(!straight(&bar[0], UB_AUX_LAST(1, 0), &polls), "hint");
	expect(!polls, "%u polls", polls);
	expect(bar[0].epoch == 2 && bar[0].sent && !bar[0].round &&
	       !bar[0].wake, "as after arriving");
	expect(of_epoch(sent_to(1, 2), 2), "the first flag is on its way");
	expect(ub_bar_pressed(&bar[0]), "pressed");
	expect(ub_bar_record(&bar[0]) == UB_BAR_DONE, "all are there");
	expect(of_epoch(sent_to(1, 2), 2), "flag by the record");
	expect(bar[0].sum.aux == UB_AUX_LAST(1, 0), "aux");
	expect(ub_bar_record(&bar[1]) == UB_BAR_DONE, "rung");
	ub_bar_sleep_end(&bar[1]);
	/* The hint stays, and stands for the epoch that is over. */
	polls = 0;
	expect(!straight(&bar[0], LAST_NONE, &polls) && bar[0].sent &&
	       !ub_bar_pressed(&bar[0]), "old hint");
	polls = 0;
	expect(straight(&bar[1], LAST_NONE, &polls) == 1, "old hint");
	world_down();
	ktap_done("a straight path meets a sleeper");
}

/* Not arrived: ub_bar_arrive() does it, or says why. */
static void straight_refused(void)
{
	uint32_t polls = 3, r;

	for (r = 0; r < 5; r++) {
		struct ub_bar *b = &bar[0];
		uint64_t word;
		int err = -ESTALE;

		flat(2, 1);
		world_up(r == 2 ? UB_EPOCH_MAX - 3 : r == 3 ? 1000 : 0);
		run(r == 3 ? 0 : 3, 0);
		switch (r) {
		case 0:
			ub_grp_fence(&w.g, 0, 100);
			break;
		case 1:
			expect(!ub_grp_shrink(&w.g, 0), "shrink");
			break;
		case 2:
			expect(b->epoch == UB_EPOCH_MAX && !b->nhops, "epochs");
			err = -EOVERFLOW;
			break;
		case 3:
			err = 0;	/* never arrived, and a base */
			break;
		default:
			ub_grp_fence(&w.g, 1, 101);
			ub_bar_arrive(b, UB_RED_NONE, 5, 5);
			expect(ub_bar_record(b) == UB_BAR_LOST, "verdict");
			expect(!b->nhops, "a verdict was seen");
			ub_bar_init(b, &w.g, w.sched[0], 0, 0);
			expect(!b->nhops, "a verdict stands");
		}
		word = w.g.line[0].arrival;
		if (b->nhops)
			expect(straight(b, 1, &polls) == -EBUSY, "case %u", r);
		expect(w.g.line[0].arrival == word, "case %u", r);
		expect(!of_epoch(sent_to(1, b->epoch + 1), b->epoch + 1), "%u", r);
		expect(ub_bar_arrive(b, UB_RED_NONE, 0, 1) == err, "case %u", r);
		world_down();
	}
	ktap_done("a straight arrival that is refused");
}

/* Who goes straight hears that another gave an operation, and what goes. */
static void straight_mixed(void)
{
	struct ub_window_sum sum;
	uint32_t polls = 0;

	flat(2, 1);
	world_up(0);
	expect(!ub_bar_arrive(&bar[0], UB_RED_SUM, 7, LAST_NONE), "sum");
	expect(!ub_bar_poll(&bar[0]), "alone");
	expect(straight(&bar[1], LAST_NONE, &polls) == 1, "none");
	expect(ub_bar_mixed(&bar[1]), "%llx", (long long)bar[1].sum.aux);
	expect(ub_bar_poll(&bar[0]) && ub_bar_mixed(&bar[0]), "%llx",
	       (long long)bar[0].sum.aux);
	expect(ub_bar_straight(&bar[0], UB_RED_OPS, 7, LAST_NONE, &polls, &sum) ==
	       -EBUSY, "unknown operation");
	expect(w.g.line[0].arrival == 1, "arrived all the same");
	world_down();
	/* Of three, two windows overlap: a sum takes the other way. */
	flat(3, 1);
	world_up(0);
	expect(!bar[0].once && bar[0].nhops == 2, "%u", bar[0].nhops);
	expect(ub_bar_straight(&bar[0], UB_RED_SUM, 7, LAST_NONE, &polls, &sum) ==
	       -EBUSY, "sum");
	expect(!w.g.line[0].arrival && !w.g.line[0].contrib[1].value, "stored");
	world_down();
	ktap_done("a straight path meets an operation");
}

/*
 * Two that set a flag for each other share a line, and no two flags a word;
 * others have the receiver's.
 */
static void lines(void)
{
	uint32_t n, i, j, k;

	for (n = 2; n <= 17; n++) {
		flat(n, 1);
		world_up(0);
		for (i = 0; i < n; i++) {
			for (k = 0; k < bar[i].nhops; k++) {
				const struct ub_hop *h = &bar[i].hop[k];
				bool mutual = n == 2U << k;
				uint32_t d = 1U << k;

				expect(w.sched[i]->round[k].mutual == mutual,
				       "%u of %u, round %u", i, n, k);
				expect(h->out == bar[(i + d) % n].hop[k].in &&
				       h->in == bar[(i + n - d) % n].hop[k].out,
				       "%u of %u, round %u", i, n, k);
				expect(mutual == ((uintptr_t)h->out / 64 ==
						  (uintptr_t)h->in / 64),
				       "%u of %u, round %u", i, n, k);
				for (j = 0; j < i; j++)
					expect(bar[j].hop[k].out != h->out,
					       "%u and %u, round %u", i, j, k);
			}
		}
		world_down();
	}
	ktap_done("two that flag each other share a line");
}

int main(int argc, char **argv)
{
	rng_state = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	ktap_start(13);
	arguments();
	flat_groups();
	ragged_groups();
	large_epochs();
	straight_mixes();
	straight_shapes();
	straight_late();
	straight_hint();
	straight_refused();
	straight_mixed();
	lines();
	return ktap_end();
}
