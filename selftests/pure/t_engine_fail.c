// SPDX-License-Identifier: GPL-2.0-only
/*
 * The barrier engine when members are lost, shrink or spoil their group.
 */
#include "world.h"

/* All members record until each has an answer. */
static void settle(enum ub_bar_state *st)
{
	uint32_t i, r;

	for (r = 0; r < 3; r++)
		for (i = 0; i < w.n; i++)
			if (st[i] == UB_BAR_WAIT)
				st[i] = ub_bar_record(&bar[i]);
}

static void same_answer(const enum ub_bar_state *st, uint64_t e)
{
	uint32_t i, first = w.n;

	for (i = 0; i < w.n; i++) {
		if (st[i] != UB_BAR_LOST)
			continue;
		if (first == w.n)
			first = i;
		expect(bar[i].verdict == bar[first].verdict &&
		       bar[i].lost_epoch == bar[first].lost_epoch,
		       "%u and %u differ", i, first);
		expect(bar[i].lost_epoch <= e, "%llu", (long long)bar[i].lost_epoch);
		expect(UB_VERDICT_REASON(bar[i].verdict) ==
		       100 + UB_VERDICT_MEMBER(bar[i].verdict), "reason");
	}
}

/* Sum of ones, or without a value and then straight, if that can be. */
static int arrive_any(uint32_t i, enum ub_bar_state *st)
{
	uint32_t polls = 0;
	int err = -EBUSY;

	if (w.plain && bar[i].nhops && below(4))
		err = straight(&bar[i], UB_AUX_LAST(7 + i, i), &polls);
	if (err > 0)
		*st = UB_BAR_DONE;
	if (err >= 0)
		return 0;
	return ub_bar_arrive(&bar[i], w.plain ? UB_RED_NONE : UB_RED_SUM, 1,
			     UB_AUX_LAST(7 + i, i));
}

static void fences(void)
{
	uint32_t round, i, x, left;

	for (round = 0; round < 3000; round++) {
		enum ub_bar_state st[MAXN] = { 0 };
		uint32_t arrived = 0, ok = 0, lost = 0, epochs = below(3);
		bool fenced = false, in[MAXN] = { false };

		if (below(2))
			flat(2 + below(9), 1 + below(4));
		else
			w.n = random_machine(&w.shape, w.node, 12, 4);
		if (w.n < 2)
			continue;
		w.plain = below(2);
		world_up(below(3) ? 0 : rnd() >> 3);
		run(epochs, 6);
		x = below(w.n);
		for (left = 400 * w.n; left--; ) {
			i = below(w.n);
			if (!fenced && !below(6 * w.n)) {
				expect(ub_grp_fence(&w.g, x, 100 + x), "%u", x);
				expect(ub_grp_fence(&w.g, x, 100 + x), "%u", x);
				fenced = true;
			}
			if (!in[i]) {
				int err = arrive_any(i, &st[i]);

				expect(!err || err == -ESTALE, "%d", err);
				expect(err || i != x || !fenced ||
				       in[i], "arrived after its fence");
				in[i] = true;
				arrived += !err;
				if (err) {
					bar[i].epoch++;	/* only to ask */
					st[i] = UB_BAR_LOST;
					if (!ub_bar_verdict(&bar[i],
							    bar[i].epoch))
						st[i] = ub_bar_record(&bar[i]);
				}
			} else if (st[i] == UB_BAR_WAIT) {
				st[i] = below(2) ? ub_bar_record(&bar[i]) :
					ub_bar_poll(&bar[i]) ? UB_BAR_DONE :
					UB_BAR_WAIT;
			}
		}
		if (!fenced)
			ub_grp_fence(&w.g, x, 100 + x);
		settle(st);
		for (i = 0; i < w.n; i++) {
			ok += st[i] == UB_BAR_DONE;
			lost += st[i] == UB_BAR_LOST;
			if (st[i] == UB_BAR_DONE && !w.plain)
				expect(bar[i].sum.full == w.n, "%u", i);
			if (st[i] == UB_BAR_DONE)
				expect(bar[i].sum.aux == UB_AUX_LAST(7, 0) +
				       ((__u64)!w.plain * UB_RED_SUM << UB_AUX_OP_SHIFT),
				       "%u: %llx", i, (long long)bar[i].sum.aux);
		}
		expect((ok == w.n && arrived == w.n) ||
		       (lost == w.n && arrived < w.n),
		       "%u ok, %u lost, %u arrived of %u", ok, lost, arrived, w.n);
		same_answer(st, w.base + epochs + 1);
		/* Everybody is told the same of the next epoch, however asked. */
		for (i = 0; i < w.n && ok; i++) {
			int err = ub_bar_arrive(&bar[i], 0, 0, LAST_NONE);

			expect(err ? err == -ESTALE : i != x, "%u: %d", i, err);
			st[i] = UB_BAR_WAIT;
			if (err)
				bar[i].epoch++;
		}
		settle(st);
		for (i = 0; i < w.n; i++)
			expect(st[i] == UB_BAR_LOST, "member %u", i);
		same_answer(st, w.base + epochs + 2);
		world_down();
	}
	w.plain = false;
	ktap_done("a fence before or after arriving has one answer for all");
}

/* A fence may precede the first agent, or stand when another takes over. */
static void fenced_first(void)
{
	struct ub_bar b;
	uint32_t e;

	for (e = 0; e < 3; e++) {
		flat(3, 1);
		world_up(0);
		run(e, 4);
		expect(ub_grp_fence(&w.g, 1, 101), "epoch %u", e);
		ub_bar_init(&b, &w.g, w.sched[1], 1, 0);
		expect(ub_bar_arrive(&b, 0, 0, LAST_NONE) == -ESTALE, "%u", e);
		expect(w.g.line[1].arrival == (UB_ARR_FENCED | e), "%u", e);
		if (e) {
			ub_bar_init(&b, &w.g, w.sched[1], 1, 0);
			expect(!ub_bar_resume(&b), "%u", e);
			expect(ub_bar_arrive(&b, 0, 0, LAST_NONE) == -ESTALE,
			       "%u", e);
			expect(w.g.line[1].arrival == (UB_ARR_FENCED | e), "%u", e);
		} else {
			expect(ub_bar_resume(&b) == -EINVAL, "not arrived");
		}
		ub_bar_init(&b, &w.g, w.sched[0], 0, 0);
		expect(!ub_grp_shrink(&w.g, 0), "%u", e);
		ub_bar_init(&b, &w.g, w.sched[0], 0, 0);
		expect(ub_bar_arrive(&b, 0, 0, LAST_NONE) == -ESTALE, "%u", e);
		expect(w.g.line[0].arrival == (UB_ARR_SHRINKING | e), "%u", e);
		world_down();
	}
	ktap_done("nobody arrives over a fence that stood before its agent");
}

/*
 * A member that is told "lost" and tries again must not spoil what a slow one
 * still reads: the slot of the epoch before last.
 */
static void late_reader(void)
{
	uint32_t r;

	for (r = 0; r < 2; r++) {
		flat(3, 1);
		world_up(0);
		ub_bar_arrive(&bar[0], UB_RED_SUM, 1, LAST_NONE);
		ub_bar_arrive(&bar[1], UB_RED_SUM, 10, LAST_NONE);
		ub_bar_arrive(&bar[2], UB_RED_SUM, 100, LAST_NONE);
		expect(ub_bar_record(&bar[0]) == UB_BAR_DONE, "epoch 1");
		expect(!ub_bar_arrive(&bar[0], UB_RED_SUM, 2, LAST_NONE), "2");
		ub_grp_fence(&w.g, 2, 102);
		expect(ub_bar_record(&bar[0]) == UB_BAR_LOST, "epoch 2");
		if (r)
			ub_grp_shrink(&w.g, 0);
		expect(ub_bar_arrive(&bar[0], UB_RED_SUM, 3, LAST_NONE) ==
		       -ESTALE, "after the verdict");
		expect(ub_bar_record(&bar[1]) == UB_BAR_DONE, "epoch 1");
		expect(bar[1].sum.full == 111, "%llu", (long long)bar[1].sum.full);
		world_down();
	}
	/* Nor may an agent whose view is old, when another has arrived. */
	flat(2, 1);
	world_up(0);
	bar[2] = bar[0];
	ub_bar_arrive(&bar[0], UB_RED_SUM, 1, LAST_NONE);
	expect(ub_bar_arrive(&bar[2], UB_RED_SUM, 7, LAST_NONE) == -EBUSY, "busy");
	ub_bar_arrive(&bar[1], UB_RED_SUM, 10, LAST_NONE);
	expect(ub_bar_record(&bar[1]) == UB_BAR_DONE && bar[1].sum.full == 11,
	       "%llu", (long long)bar[1].sum.full);
	world_down();
	ktap_done("a refused arrival leaves contributions alone");
}

/* The same of the straight path, which is closed when a verdict stands. */
static void late_straight(void)
{
	struct ub_bar other;
	uint32_t r;

	for (r = 0; r < 3; r++) {
		uint32_t polls = 0, i;

		flat(3, 1);
		world_up(0);
		for (i = 0; i < 3; i++)
			expect(!straight(&bar[i], UB_AUX_LAST(1, i), &polls),
			       "epoch 1");
		expect(ub_bar_record(&bar[0]) == UB_BAR_DONE, "epoch 1");
		expect(!straight(&bar[0], UB_AUX_LAST(2, 0), &polls), "2");
		ub_grp_fence(&w.g, 2, 102);
		expect(ub_bar_record(&bar[0]) == UB_BAR_LOST, "epoch 2");
		other = bar[0];
		if (r)
			ub_bar_init(&other, &w.g, w.sched[0], 0, 0);
		if (r == 2)
			ub_grp_fence(&w.g, 0, 100);
		expect(!other.nhops, "lost");
		expect(ub_bar_arrive(&other, 0, 0, 0) == -ESTALE, "lost");
		expect(ub_bar_record(&bar[1]) == UB_BAR_DONE, "epoch 1");
		expect(bar[1].sum.aux == UB_AUX_LAST(1, 0), "%llx",
		       (long long)bar[1].sum.aux);
		world_down();
	}
	ktap_done("a straight arrival after the verdict leaves them alone, too");
}

static void shrinks(void)
{
	uint32_t round, i, j;

	for (round = 0; round < 2000; round++) {
		uint32_t list[MAXN][MAXN], num[MAXN] = { 0 }, alive = 0;
		bool dead[MAXN] = { false }, shrunk[MAXN] = { false };

		flat(2 + below(10), 1 + below(3));
		world_up(0);
		run(below(3), 5);
		ub_grp_fence(&w.g, below(w.n), 0);
		for (i = 0; i < w.n; i++)
			if (w.g.line[i].arrival & UB_ARR_FENCED || !below(8))
				dead[i] = true;
		for (j = 0; j < 400; j++) {
			i = below(w.n);
			if (dead[i]) {
				bool f = ub_grp_fence(&w.g, i, 100 + i);

				expect(f == !shrunk[i], "member %u", i);
				continue;
			}
			if (!shrunk[i]) {
				expect(!ub_grp_shrink(&w.g, i), "%u", i);
				shrunk[i] = true;
				if (!below(6))	/* dies with its word set */
					dead[i] = true;
			} else if (!num[i]) {
				num[i] = ub_grp_shrunk(&w.g, list[i]);
			}
		}
		for (i = 0; i < w.n; i++) {
			if (dead[i])
				expect(shrunk[i] ? !ub_grp_fence(&w.g, i, 100 + i) :
				       ub_grp_shrink(&w.g, i) == -ESTALE, "%u", i);
			alive += shrunk[i];
		}
		for (i = 0; i < w.n; i++) {
			if (!shrunk[i] || dead[i])
				continue;
			num[i] = num[i] ?: ub_grp_shrunk(&w.g, list[i]);
			expect(num[i] == alive, "%u of %u", num[i], alive);
			for (j = 0; j < num[i]; j++)
				expect(shrunk[list[i][j]] &&
				       (!j || list[i][j] > list[i][j - 1]),
				       "entry %u", j);
		}
		world_down();
	}
	ktap_done("survivors agree on who survives");
}

/* Random words under a member that goes on: it must stay finite and inside. */
static void hostile(void)
{
	uint32_t round, i, s, polls, got[MAXN];

	for (round = 0; round < 1500; round++) {
		uint64_t *word;
		size_t words;

		w.n = random_machine(&w.shape, w.node, 20, UB_MAX_PORTS);
		world_up(below(2) ? 0 : rnd() >> 2);
		word = w.mem;
		words = w.size / 8;
		for (s = 0; s < 300; s++) {
			for (i = 0; i < 1 + words / 64; i++)
				word[below(words)] = below(3) ? rnd() :
					below(2) ? ~0ULL : w.base + below(4);
			if (below(2))
				w.g.head->verdict = rnd() | UB_VERDICT_VALID;
			i = below(w.n);
			switch (below(10)) {
			case 0:
				ub_bar_init(&bar[i], &w.g, w.sched[i], i, w.base);
				break;
			case 1:
				ub_bar_resume(&bar[i]);
				break;
			case 2:
				ub_bar_sleep_begin(&bar[i]);
				break;
			case 3:
				ub_grp_fence(&w.g, i, 100 + i);
				break;
			case 4:
				ub_grp_shrink(&w.g, i);
				ub_grp_shrunk(&w.g, got);
				break;
			case 5:
				polls = below(5);
				if (bar[i].nhops && below(2))
					straight(&bar[i], rnd(), &polls);
				if (bar[i].nhops && below(2))
					ub_bar_straight(&bar[i], below(12), rnd(),
							rnd(), &polls,
							&bar[i].sum);
				ub_bar_arrive(&bar[i], below(UB_RED_OPS), rnd(), rnd());
				break;
			case 6:
				ub_bar_verdict(&bar[i], rnd());
				ub_bar_missing(&bar[i], rnd());
				break;
			case 7:
				bar[i].epoch = below(4) ? bar[i].epoch : 1;
				for (uint32_t j = 0; j < w.n; j++)
					w.g.line[j].arrival |= bar[i].epoch;
				ub_bar_record(&bar[i]);
				break;
			case 8:
				ub_bar_record(&bar[i]);
				break;
			default:
				ub_bar_poll(&bar[i]);
			}
			if (bar[i].verdict)
				expect(UB_VERDICT_MEMBER(bar[i].verdict) < w.n,
				       "member out of range");
			expect(bar[i].op < UB_RED_OPS, "op");
		}
		world_down();
	}
	ktap_done("garbage in the shared words");
}

int main(int argc, char **argv)
{
	rng_state = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	ktap_start(6);
	fences();
	fenced_first();
	late_reader();
	late_straight();
	shrinks();
	hostile();
	return ktap_end();
}
