// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The barrier engine. See engine.h for its use.
 *
 * Invariants:
 *  - A contribution is stored before the arrival word, flags after it.
 *  - A flag's aux is stored last and its epoch never moves backwards: only
 *    the driver of a member stores its flags, of the epoch in its own word.
 *  - A slot of parity e is not stored again before all arrived at e + 1, so
 *    it may be read until the reader arrives at e + 1.
 *  - The hint is never lowered; the verdict is written once.
 *  - Every loop is bounded whatever other members write.
 */
#include "engine.h"

#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/kernel.h>
#else
#include <errno.h>
#endif

/* A compare-and-swap that fails this often faces a hostile writer. */
#define UB_CAS_TRIES	64

const char *ub_red_name(__u32 op)
{
	static const char * const name[UB_RED_OPS] = {
		"none", "sum", "xor", "and", "or",
		"min-u64", "max-u64", "min-s64", "max-s64",
	};

	return op < UB_RED_OPS ? name[op] : "unknown";
}

static bool flag_set(const struct ub_bar *b, const struct ub_flag *f)
{
	return (ub_ld(&f->aux) & UB_AUX_SEQ_MASK) == UB_AUX_SEQ(b->epoch);
}

/* The flag that the member gets in a round by port @p, from 0. */
static struct ub_flag *flag_in(const struct ub_bar *b, const struct ub_round *rd,
			       __u32 p)
{
	return ub_flag_of(&b->g, rd->from[p], b->me, rd->line + p, rd->mutual) +
	       UB_FLAG_PARITY * (b->epoch & 1);
}

static struct ub_flag *flag_out(const struct ub_bar *b, const struct ub_round *rd,
				__u32 p, __u32 to)
{
	return ub_flag_of(&b->g, b->me, to, rd->line + p,
			  rd->mutual && to == rd->from[p]) +
	       UB_FLAG_PARITY * (b->epoch & 1);
}

static void set_flags(const struct ub_bar *b, const struct ub_round *rd,
		      const struct ub_window_sum *w)
{
	const struct ub_sched *s = b->sched;
	__u32 p, i;

	for (p = 0; p < rd->nports; p++) {
		for (i = rd->send[p]; i < rd->send[p + 1]; i++) {
			struct ub_flag *f = flag_out(b, rd, p, s->send[i]);

			if (b->op && !rd->last_full)
				ub_st(&f[1].full, w->part);
			ub_flag_set(f, b->op, w->full,
				    (w->aux & ~UB_AUX_SEQ_MASK) |
				    UB_AUX_SEQ(b->epoch));
		}
	}
}

/*
 * Join what the round brought to the own window W_i(d). Sum and xor must
 * count each child once: the last round takes, from its last port, only the
 * missing part, which senders compose of earlier windows by its digits.
 */
static void join_flags(struct ub_bar *b, const struct ub_round *rd)
{
	struct ub_window_sum w = b->sum;
	bool twice = ub_red_twice(b->op);
	__u32 p;

	for (p = 1; p <= rd->nports; p++) {
		const struct ub_flag *f = flag_in(b, rd, p - 1);
		bool missing = rd->last && p == rd->nports && !rd->last_full;

		if (!twice && p == rd->digit)
			b->sum.part = ub_red_join(b->op, w.full, ub_ld(&f[1].full));
		w.full = ub_red_join(b->op, w.full, !twice && missing ?
				 ub_ld(&f[1].full) : ub_ld(&f->full));
		w.aux = ub_aux_join(w.aux, ub_ld(&f->aux));
	}
	b->sum.full = w.full;
	b->sum.aux = w.aux;
	if (rd->last)
		b->sum.part = 0;
}

bool ub_bar_poll(struct ub_bar *b)
{
	const struct ub_sched *s = b->sched;

	if (!s)
		return false;
	while (b->round < s->nrounds) {
		const struct ub_round *rd = &s->round[b->round];
		__u32 p;

		if (!b->sent) {
			set_flags(b, rd, &b->sum);
			b->sent = true;
		}
		for (p = 0; p < rd->nports; p++)
			if (!flag_set(b, flag_in(b, rd, p)))
				return false;
		join_flags(b, rd);
		b->round++;
		b->sent = false;
	}
	return true;
}

/* Contributions of a run of positions. */
static struct ub_window_sum sum_of(const struct ub_bar *b, __u32 start,
				   __u32 size)
{
	struct ub_window_sum w = { 0 };
	__u32 i;

	for (i = start; i < start + size; i++) {
		__u32 m = b->sched ? b->sched->order[i] : i;
		const struct ub_contrib *c = &b->g.line[m].contrib[b->epoch & 1];
		__u64 value = ub_ld(&c->value), aux = ub_ld(&c->aux);

		w.full = i == start ? value : ub_red_join(b->op, w.full, value);
		w.aux = i == start ? aux : ub_aux_join(w.aux, aux);
	}
	return w;
}

/* W_i(d): the own child and the d - 1 before it, from the contributions. */
static struct ub_window_sum window_of(const struct ub_bar *b,
				      const struct ub_vertex *v, __u32 d)
{
	const struct ub_child *child = b->sched->child + v->child;
	struct ub_window_sum w = { 0 };
	__u32 t;

	for (t = 0; t < d; t++) {
		const struct ub_child *c = &child[(v->mine + v->r - t) % v->r];
		struct ub_window_sum one = sum_of(b, c->start, c->size);

		w.full = t ? ub_red_join(b->op, w.full, one.full) : one.full;
		w.aux = t ? ub_aux_join(w.aux, one.aux) : one.aux;
	}
	return w;
}

/* All have arrived: the result, and the flags that others may wait for. */
static void finish_by_record(struct ub_bar *b)
{
	const struct ub_sched *s = b->sched;

	for (; s && b->round < s->nrounds; b->round++, b->sent = false) {
		const struct ub_round *rd = &s->round[b->round];
		const struct ub_vertex *v = &s->vertex[rd->vertex];
		struct ub_window_sum w;

		if (b->sent)
			continue;
		w = window_of(b, v, rd->d);
		w.part = rd->rest ? window_of(b, v, rd->rest).full : 0;
		set_flags(b, rd, &w);
	}
	b->sum = sum_of(b, 0, b->g.n);
}

void ub_bar_schedule(struct ub_bar *b, const struct ub_sched *s)
{
	__u32 i;

	b->sched = s;
	b->nhops = 0;
	b->once = true;
	/* With this much room ub_bar_straight() need not look for the end. */
	if (!s || s->nrounds > UB_MAX_HOPS || b->epoch > UB_EPOCH_MAX / 2)
		return;
	for (i = 0; i < s->nrounds; i++) {
		const struct ub_round *rd = &s->round[i];

		if (rd->nports != 1 || rd->send[1] - rd->send[0] != 1)
			return;
		b->once &= rd->last_full;
		b->hop[i].out = ub_flag_of(&b->g, b->me, s->send[rd->send[0]],
					   rd->line, rd->mutual);
		b->hop[i].in = ub_flag_of(&b->g, rd->from[0], b->me, rd->line,
					  rd->mutual);
	}
	/* After a verdict ub_bar_arrive() tells. */
	if (!ub_ld(&b->g.head->verdict))
		b->nhops = s->nrounds;
}

void ub_bar_init(struct ub_bar *b, const struct ub_grp *g,
		 const struct ub_sched *sched, __u32 me, __u64 base)
{
	__u64 word = ub_ld(&g->line[me].arrival);

	*b = (struct ub_bar){ .g = *g, .me = me, .own = &g->line[me] };
	b->fresh = !word && base;
	b->epoch = UB_ARR_EPOCH(word) ? UB_ARR_EPOCH(word) : base;
	ub_bar_schedule(b, sched);
}

/* Begin the rounds of b->epoch with the own contribution. */
static void start_rounds(struct ub_bar *b, __u32 op, __u64 value, __u64 aux)
{
	b->op = op;
	b->round = 0;
	b->sent = false;
	b->wake = false;
	b->sum = (struct ub_window_sum){ .full = value, .aux = aux };
}

/* What the own arrival word holds, unless somebody else changed it. */
static __u64 left_there(const struct ub_bar *b)
{
	return b->fresh ? 0 : b->epoch;
}

static int refused(const struct ub_bar *b, __u64 word)
{
	if (word & UB_ARR_FINAL)
		return -ESTALE;
	return word == left_there(b) ? 0 : -EBUSY;
}

int ub_bar_arrive(struct ub_bar *b, __u32 op, __u64 value, __u64 last)
{
	__u64 e = b->epoch + 1;
	__u64 aux = (__u64)op << UB_AUX_OP_SHIFT |
		    (last & (UB_AUX_GIVEN_MASK | UB_AUX_WINLOST));
	struct ub_contrib *c = &b->own->contrib[e & 1];
	__u64 old;
	int err;

	if (op >= UB_RED_OPS)
		return -EINVAL;
	if (e > UB_EPOCH_MAX)
		return -EOVERFLOW;
	/*
	 * An arrival that is refused leaves the contribution alone: without
	 * an end of e - 1 for this member, somebody may still read it for e - 2.
	 */
	err = refused(b, ub_ld(&b->own->arrival));
	if (err)
		return err;
	if (ub_bar_verdict(b, e))
		return -ESTALE;
	ub_st(&c->value, value);
	ub_st(&c->aux, aux);
	old = ub_cas(&b->own->arrival, left_there(b), e);
	if (old != left_there(b))
		return refused(b, old);
	b->fresh = false;
	b->epoch = e;
	start_rounds(b, op, value, aux);
	return 0;
}

void ub_bar_leave_off(struct ub_bar *b, __u32 i, __u32 op)
{
	b->op = op;
	b->round = i;
	b->sent = true;
	b->wake = false;
	b->sum.part = 0;
}

int ub_bar_hops(struct ub_bar *b, __u32 i, __u32 op, __u32 left)
{
	const __u64 seq = UB_AUX_SEQ(b->epoch);
	const __u32 flag = UB_FLAG_PARITY * (b->epoch & 1);
	__u64 full = b->sum.full, aux = b->sum.aux, got = 1;

	for (; i < b->nhops; i++) {
		const struct ub_flag *in = b->hop[i].in + flag;

		ub_flag_set(b->hop[i].out + flag, op, full, aux | seq);
		got = ub_flag_await(b, in, seq, &left);
		if (!got)
			break;
		aux = ub_aux_join(aux, got);
		if (op)
			full = ub_red_join(op, full, ub_ld(&in->full));
	}
	b->sum.full = full;
	b->sum.aux = aux;
	if (got)
		return left;
	ub_bar_leave_off(b, i, op);
	return -1;
}

int ub_bar_resume(struct ub_bar *b)
{
	__u64 e = UB_ARR_EPOCH(ub_ld(&b->own->arrival));
	const struct ub_contrib *c = &b->own->contrib[e & 1];
	__u64 aux = ub_ld(&c->aux);

	if (!e || UB_AUX_OP(aux) >= UB_RED_OPS)
		return -EINVAL;
	b->fresh = false;
	b->epoch = e;
	start_rounds(b, UB_AUX_OP(aux), ub_ld(&c->value), aux);
	return 0;
}

bool ub_bar_verdict(struct ub_bar *b, __u64 e)
{
	__u64 v = ub_ld(&b->g.head->verdict), lost;
	__u32 m = UB_VERDICT_MEMBER(v);

	if (!(v & UB_VERDICT_VALID))
		return false;
	if (m >= b->g.n) {	/* only a member that spoils its group does this */
		m = 0;
		v = UB_VERDICT(m, 0);
	}
	lost = UB_ARR_EPOCH(ub_ld(&b->g.line[m].arrival)) + 1;
	if (lost > e)
		return false;
	b->verdict = v;
	b->lost_epoch = lost;
	b->nhops = 0;
	return true;
}

/* Member @m is fenced below b->epoch: whichever verdict stands then. */
static enum ub_bar_state publish(struct ub_bar *b, __u32 m)
{
	__u16 reason = ub_ld(&b->g.line[m].reason);

	ub_cas(&b->g.head->verdict, 0, UB_VERDICT(m, reason));
	b->wake = true;
	return ub_bar_verdict(b, b->epoch) ? UB_BAR_LOST : UB_BAR_WAIT;
}

enum ub_bar_state ub_bar_record(struct ub_bar *b)
{
	__u32 fenced = b->g.n, i;
	bool all = true;

	if (ub_bar_verdict(b, b->epoch))
		return UB_BAR_LOST;
	for (i = 0; i < b->g.n; i++) {
		__u64 w = ub_ld(&b->g.line[i].arrival);

		if (UB_ARR_EPOCH(w) >= b->epoch)
			continue;
		all = false;
		if ((w & UB_ARR_FENCED) && fenced == b->g.n)
			fenced = i;
	}
	if (all) {
		finish_by_record(b);
		return UB_BAR_DONE;
	}
	return fenced < b->g.n ? publish(b, fenced) : UB_BAR_WAIT;
}

void ub_bar_sleep_begin(struct ub_bar *b)
{
	__u64 *hint = &b->g.head->hint;
	__u64 h = ub_ld(hint);
	int tries;

	for (tries = 0; h < b->epoch && tries < UB_CAS_TRIES; tries++) {
		__u64 old = ub_cas(hint, h, b->epoch);

		if (old == h)
			break;
		h = old;
	}
	ub_swap(&b->own->sleeping, 1ULL);
}

void ub_bar_sleep_end(struct ub_bar *b)
{
	ub_st(&b->own->sleeping, 0ULL);
}

__u32 ub_bar_missing(const struct ub_bar *b, __u64 e)
{
	__u32 i;

	for (i = 0; i < b->g.n; i++)
		if (UB_ARR_EPOCH(ub_ld(&b->g.line[i].arrival)) < e)
			break;
	return i;
}

/* Set @bit unless the word is final. Returns what the word holds then. */
static __u64 make_final(__u64 *word, __u64 bit)
{
	__u64 w = ub_ld(word);
	int tries;

	for (tries = 0; !(w & UB_ARR_FINAL); tries++) {
		__u64 old;

		if (tries == UB_CAS_TRIES) {
			/* Its owner plays with the word: end that. */
			ub_swap(word, w | bit);
			return w | bit;
		}
		old = ub_cas(word, w, w | bit);
		if (old == w)
			return w | bit;
		w = old;
	}
	return w;
}

bool ub_grp_fence(const struct ub_grp *g, __u32 i, __u32 reason)
{
	struct ub_member_line *line = &g->line[i];

	if (!(ub_ld(&line->arrival) & UB_ARR_FINAL))
		ub_st(&line->reason, (__u64)reason);
	return make_final(&line->arrival, UB_ARR_FENCED) & UB_ARR_FENCED;
}

int ub_grp_shrink(const struct ub_grp *g, __u32 me)
{
	__u64 w = make_final(&g->line[me].arrival, UB_ARR_SHRINKING);

	return w & UB_ARR_SHRINKING ? 0 : -ESTALE;
}

__u32 ub_grp_shrunk(const struct ub_grp *g, __u32 *survivor)
{
	__u32 n = 0, i;

	for (i = 0; i < g->n; i++) {
		__u64 w = ub_ld(&g->line[i].arrival);

		if (!(w & UB_ARR_FINAL))
			return 0;
		if (!(w & UB_ARR_FENCED))
			survivor[n++] = i;
	}
	return n;
}
