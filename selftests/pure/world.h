/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A group for the engine's tests, in one thread: members take steps in random
 * order, each step one poll, one read of the record, one take-over or one sleep.
 * Values, shapes, operations and who goes straight are random, from a seed.
 */
#ifndef UB_WORLD_H
#define UB_WORLD_H

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
	bool plain;			/* half of the barriers have no value */
	uint32_t completed, fell_back;	/* ends of ub_bar_straight() */
};

static struct world w;
static struct ub_bar bar[MAXN];

/* The flag lines come last, so ASan sees what is written behind them. */
static inline void world_up(uint64_t base)
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

static inline void world_down(void)
{
	uint32_t i;

	for (i = 0; i < w.n; i++)
		ub_sched_free(w.sched[i]);
	free(w.mem);
}

static inline void flat(uint32_t n, uint32_t k)
{
	uint32_t i;

	w.n = n;
	w.shape = flat_of(k);
	for (i = 0; i < n; i++)
		w.node[i] = i;
}

static inline uint64_t random_value(void)
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

static inline uint64_t direct(uint32_t op, const uint64_t *v, uint32_t n)
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
	uint64_t value[MAXN], last[MAXN], result, least, notes;
	bool mixed;
};

static inline struct plan make_plan(bool may_mix)
{
	struct plan p = { .least = LAST_NONE };
	uint32_t op = w.plain && below(2) ? UB_RED_NONE : below(UB_RED_OPS), i;
	uint64_t wait;

	for (i = 0; i < w.n; i++) {
		p.op[i] = op;
		p.value[i] = random_value();
		wait = rnd() >> below(64);
		p.last[i] = below(5) ? UB_AUX_LAST(wait, i) : LAST_NONE;
		if (p.last[i] < p.least)
			p.least = p.last[i];
		p.last[i] |= below(3) ? 0 : UB_AUX_NOTE(rnd());
		p.notes |= p.last[i] & ~UB_AUX_LAST_MASK;
	}
	if (may_mix && !below(3)) {
		p.op[below(w.n)] = below(UB_RED_OPS);
		for (i = 1; i < w.n; i++)
			p.mixed |= p.op[i] != p.op[0];
	}
	p.result = direct(op, p.value, w.n);
	return p;
}

static inline void check_result(uint32_t i, const struct plan *p)
{
	expect(ub_bar_mixed(&bar[i]) == p->mixed, "member %u of %u", i, w.n);
	expect((bar[i].sum.aux & UB_AUX_LAST_MASK) == p->least,
	       "member %u of %u: who came last", i, w.n);
	expect((bar[i].sum.aux & UB_AUX_NOTE(~0U)) == p->notes,
	       "member %u of %u: notes", i, w.n);
	/* Who goes straight brings no value where there is no operation. */
	if (!p->mixed && (p->op[i] || !bar[i].nhops))
		expect(bar[i].sum.full == p->result, "member %u of %u %s: %llx",
		       i, w.n, ub_red_name(p->op[0]),
		       (long long)bar[i].sum.full);
}

/* Of @polls as many as it took. */
static inline int straight(struct ub_bar *b, uint64_t last, uint32_t *polls)
{
	uint32_t left = *polls;
	int ret = ub_bar_straight(b, UB_RED_NONE, 0, last, &left, &b->sum);

	*polls -= left;
	return ret;
}

/* Member @i arrives, straight or not; true when that ended the barrier. */
static inline bool arrive(uint32_t i, const struct plan *p)
{
	const uint32_t most = below(4);
	uint32_t polls = most;
	int ret = -EBUSY;

	if (bar[i].nhops && below(4))
		ret = ub_bar_straight(&bar[i], p->op[i], p->value[i],
				      p->last[i], &polls, &bar[i].sum);
	expect(polls <= most, "member %u: %u polls", i, polls);
	w.completed += ret > 0;
	w.fell_back += !ret;
	if (ret < 0)
		expect(!ub_bar_arrive(&bar[i], p->op[i], p->value[i],
				      p->last[i]), "member %u", i);
	return ret > 0;
}

/* One step of member @i in its barrier; true when that ended. */
static inline enum ub_bar_state step(uint32_t i, uint32_t slow)
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
static inline void run(uint32_t epochs, uint32_t slow)
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
			bool ended = arrive(i, p);

			expect(bar[i].epoch == w.base + done[i] + 1, "%u", i);
			arrived[i]++;
			if (!ended)
				continue;
		} else if (step(i, slow) != UB_BAR_DONE) {
			continue;
		}
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

#endif /* UB_WORLD_H */
