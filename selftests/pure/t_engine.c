// SPDX-License-Identifier: GPL-2.0-only
/*
 * The barrier engine in one thread: members take steps in random order, each
 * step one poll, one read of the record, one take-over or one sleep. Values,
 * shapes, operations and the moments of faults are random, from a seed.
 */
#include <errno.h>
#include <stddef.h>
#include "test.h"
#include "engine.h"

#define MAXN	96
#define LAST_NONE UB_AUX_LAST_MASK

struct world {
	uint32_t n, lines;
	uint32_t node[MAXN];
	struct ub_shape shape;
	struct ub_sched *sched[MAXN];
	struct ub_grp g;
	void *mem;
	size_t size;
	uint64_t base;
};

static struct world w;
static struct ub_bar bar[MAXN];

/* The flag lines come last, so ASan sees what is written behind them. */
static void world_up(uint64_t base)
{
	uint32_t i;

	for (i = 0; i < w.n; i++) {
		w.sched[i] = ub_sched_build(w.node, w.n, i, &w.shape);
		if (!w.sched[i])
			abort();
	}
	w.lines = w.sched[0]->nlines;
	w.size = ub_group_flags_off(w.n) +
		 (size_t)w.n * w.lines * sizeof(struct ub_flag_line);
	if (posix_memalign(&w.mem, 64, w.size))
		abort();
	memset(w.mem, 0, w.size);
	w.base = base;
	ub_grp_init(&w.g, w.mem, w.n, w.n, w.lines);
	for (i = 0; i < w.n; i++)
		ub_bar_init(&bar[i], &w.g, w.sched[i], i, base);
}

static void world_down(void)
{
	uint32_t i;

	for (i = 0; i < w.n; i++)
		ub_sched_free(w.sched[i]);
	free(w.mem);
}

static void flat(uint32_t n, uint32_t k)
{
	uint32_t i;

	w.n = n;
	w.shape = flat_of(k);
	for (i = 0; i < n; i++)
		w.node[i] = i;
}

static uint64_t random_value(void)
{
	switch (below(4)) {
	case 0:
		return rnd();
	case 1:
		return -(uint64_t)below(100);
	case 2:
		return 1ULL << below(64);
	default:
		return below(100);
	}
}

static uint64_t direct(uint32_t op, const uint64_t *v, uint32_t n)
{
	uint64_t r = v[0];
	uint32_t i;

	for (i = 1; i < n; i++) {
		switch (op) {
		case UB_RED_SUM:
			r += v[i];
			break;
		case UB_RED_XOR:
			r ^= v[i];
			break;
		case UB_RED_AND:
			r &= v[i];
			break;
		case UB_RED_OR:
			r |= v[i];
			break;
		case UB_RED_MIN_U64:
			r = r < v[i] ? r : v[i];
			break;
		case UB_RED_MAX_U64:
			r = r > v[i] ? r : v[i];
			break;
		case UB_RED_MIN_S64:
			r = (int64_t)r < (int64_t)v[i] ? r : v[i];
			break;
		case UB_RED_MAX_S64:
			r = (int64_t)r > (int64_t)v[i] ? r : v[i];
			break;
		default:
			return n > 1 ? 0 : r;
		}
	}
	return r;
}

/* What the members bring to each epoch, and what they must get. */
struct plan {
	uint32_t op[MAXN];
	uint64_t value[MAXN], last[MAXN], result, least;
	bool mixed;
};

static struct plan make_plan(bool may_mix)
{
	struct plan p = { .least = LAST_NONE };
	uint32_t op = below(UB_RED_OPS), i;
	uint64_t wait;

	for (i = 0; i < w.n; i++) {
		p.op[i] = op;
		p.value[i] = random_value();
		wait = rnd() >> below(64);
		p.last[i] = below(5) ? UB_AUX_LAST(wait, i) : LAST_NONE;
		if (p.last[i] < p.least)
			p.least = p.last[i];
	}
	if (may_mix && !below(3)) {
		p.op[below(w.n)] = below(UB_RED_OPS);
		for (i = 1; i < w.n; i++)
			p.mixed |= p.op[i] != p.op[0];
	}
	p.result = direct(op, p.value, w.n);
	return p;
}

static void check_result(uint32_t i, const struct plan *p)
{
	expect(ub_bar_mixed(&bar[i]) == p->mixed, "member %u of %u", i, w.n);
	expect((bar[i].sum.aux & UB_AUX_LAST_MASK) == p->least,
	       "member %u of %u: who came last", i, w.n);
	if (!p->mixed)
		expect(bar[i].sum.full == p->result, "member %u of %u %s: %llx",
		       i, w.n, ub_red_name(p->op[0]),
		       (long long)bar[i].sum.full);
}

/* One step of member @i in its barrier; true when that ended. */
static enum ub_bar_state step(uint32_t i, uint32_t slow)
{
	struct ub_bar fresh;

	if (slow && !below(slow)) {
		enum ub_bar_state st;

		if (below(2))
			ub_bar_sleep_begin(&bar[i]);
		st = ub_bar_record(&bar[i]);
		ub_bar_sleep_end(&bar[i]);
		return st;
	}
	if (slow && !below(slow * 3)) {		/* another agent takes over */
		ub_bar_init(&fresh, &w.g, w.sched[i], i, w.base);
		expect(!ub_bar_resume(&fresh), "member %u", i);
		expect(fresh.epoch == bar[i].epoch, "member %u", i);
		bar[i] = fresh;
	}
	return ub_bar_poll(&bar[i]) ? UB_BAR_DONE : UB_BAR_WAIT;
}

/*
 * @epochs barriers in random order of steps. Members run ahead of each other
 * as far as the barrier lets them. @slow: one step in so many is the record's.
 */
static void run(uint32_t epochs, uint32_t slow)
{
	struct plan *plan = calloc(epochs + 1, sizeof(*plan));
	uint32_t done[MAXN] = { 0 }, arrived[MAXN] = { 0 }, i, j;
	uint32_t left = epochs ? w.n : 0;
	uint64_t steps = 0;

	if (!plan)
		abort();
	for (i = 0; i < epochs; i++)
		plan[i] = make_plan(true);
	while (left && steps++ < 200000ULL + 4000ULL * w.n * epochs) {
		const struct plan *p;

		i = below(w.n);
		if (done[i] == epochs)
			continue;
		p = &plan[done[i]];
		if (arrived[i] == done[i]) {
			expect(!ub_bar_arrive(&bar[i], p->op[i], p->value[i],
					      p->last[i]), "member %u", i);
			expect(bar[i].epoch == w.base + done[i] + 1, "%u", i);
			arrived[i]++;
			continue;
		}
		if (step(i, slow) != UB_BAR_DONE)
			continue;
		for (j = 0; j < w.n; j++)
			expect(arrived[j] >= arrived[i], "%u before %u", i, j);
		check_result(i, p);
		done[i]++;
		left -= done[i] == epochs;
	}
	expect(!left, "%u of %u members hang", left, w.n);
	for (i = 0; i < w.n && epochs; i++)
		expect(ub_bar_missing(&bar[i], w.base + epochs) == w.n &&
		       ub_bar_missing(&bar[i], w.base + epochs + 1) == 0,
		       "member %u", i);
	free(plan);
}

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
				int err = ub_bar_arrive(&bar[i], UB_RED_SUM, 1,
							LAST_NONE);

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
			if (st[i] == UB_BAR_DONE)
				expect(bar[i].sum.full == w.n, "%u", i);
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
	uint32_t round, i, s, got[MAXN];

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
	ktap_start(10);
	arguments();
	flat_groups();
	ragged_groups();
	large_epochs();
	fences();
	fenced_first();
	late_reader();
	shrinks();
	hostile();
	return ktap_end();
}
