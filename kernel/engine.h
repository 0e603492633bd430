/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The barrier engine: one member's side of a barrier over shared words.
 *
 * Pure: the kernel, libub and the schedule explorer compile this same code.
 * It never sleeps, allocates or rings; its callers, the agents, do. The
 * protocol and its argument are in Documentation/protocol.rst.
 *
 * An agent runs one barrier so:
 *
 *	ub_bar_arrive();			contribution, own word
 *	if (ub_bar_pressed())			somebody sleeps, or a verdict stands
 *		ub_bar_record();		read every word; when DONE, ring all
 *	while (!ub_bar_poll())			flags, by the schedule
 *		...				spin a bounded time, then:
 *	ub_bar_sleep_begin();
 *	if (ub_bar_record() == UB_BAR_WAIT)
 *		sleep until rung or a timer, look after the living, repeat
 *	ub_bar_sleep_end();
 *
 * An arriver that completes by the record rings everybody whose sleeping word
 * is set; a sleeper that does so need not: whoever arrived last has rung. When
 * bar->wake is set, a verdict was published and all are rung in any case. At
 * most one agent drives a struct ub_bar.
 *
 * ub_bar_straight() does the first lines at once, up to the sleep, as long as
 * there is nothing to tell or to wake.
 */
#ifndef UB_ENGINE_H
#define UB_ENGINE_H

#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif
#include <ub/ub.h>
#include <ub/ub_layout.h>
#include "schedule.h"
#include "ub_shared.h"

/**
 * struct ub_grp - where a group's words are
 * @head: verdict and hint
 * @line: member lines
 * @mail: mailboxes
 * @flags: flag lines, max_lines for each member
 * @n: members
 * @max_lines: stride of @flags
 */
struct ub_grp {
	struct ub_group_head *head;
	struct ub_member_line *line;
	struct ub_mailbox *mail;
	struct ub_flag_line *flags;
	__u32 n;
	__u32 max_lines;
};

/** ub_grp_init() - lay a struct ub_grp over a group's pages at @base */
static inline void ub_grp_init(struct ub_grp *g, void *base, __u32 n,
			       __u32 max_members, __u32 max_lines)
{
	char *p = base;

	g->head = (struct ub_group_head *)p;
	g->line = (struct ub_member_line *)(p + ub_group_lines_off());
	g->mail = (struct ub_mailbox *)(p + ub_group_mail_off(max_members));
	g->flags = (struct ub_flag_line *)(p + ub_group_flags_off(max_members));
	g->n = n;
	g->max_lines = max_lines;
}

/* What rides on the flags, for one window. */
struct ub_window_sum {
	__u64 full;
	__u64 part;
	__u64 aux;
};

/* From a flag of an even epoch to that of an odd one. */
#define UB_FLAG_PARITY	2

/**
 * ub_flag_of() - the flag that @from sets for @to, of an even epoch
 * @g: the group
 * @from: sender
 * @to: receiver
 * @line: the receiver's line
 * @mutual: @to sets one for @from in the same round: see struct ub_flag_line
 */
static inline struct ub_flag *ub_flag_of(const struct ub_grp *g, __u32 from,
					 __u32 to, __u32 line, bool mutual)
{
	__u32 home = mutual && from < to ? from : to;

	return &g->flags[(size_t)home * g->max_lines + line].flag[0][home != to];
}

/**
 * struct ub_hop - a round of one sender and one receiver
 * @out: flag that the member sets, of an even epoch
 * @in: flag that it waits for, of an even epoch
 */
struct ub_hop {
	struct ub_flag *out;
	struct ub_flag *in;
};

#define UB_MAX_HOPS	12

enum ub_bar_state {
	UB_BAR_WAIT,	/* somebody who lives has not arrived */
	UB_BAR_DONE,	/* all arrived; the result is in bar->sum */
	UB_BAR_LOST,	/* a member will never arrive; see bar->lost_* */
};

/**
 * struct ub_bar - one member's view of its group, private to its driver
 * @epoch: barrier that runs, or the last one that ended
 * @own: the member's line
 * @g: the words
 * @nhops: rounds, where each has one sender and one receiver; else 0, and when
 *	a verdict was seen
 * @pause: turns of an empty loop between polls: a poll takes the line away
 *	from who is about to store to it
 * @hop: the rounds
 * @sched: schedule of the member; NULL while only the record is used
 * @me: the member
 * @op: reduction of the barrier that runs
 * @round: next round
 * @fresh: @epoch is where the group begins, the own arrival word still 0
 * @once: the hops count no member twice, so sum and xor may go straight too
 * @sent: flags of @round are set
 * @wake: a verdict was published: the agent must ring all sleepers
 * @sum: grows to the result
 * @verdict: the verdict that ended the group, once seen
 * @lost_epoch: first epoch that the lost member never reached
 */
struct ub_bar {
	__u64 epoch;
	struct ub_member_line *own;
	struct ub_grp g;
	__u32 nhops;
	__u32 pause;
	struct ub_hop hop[UB_MAX_HOPS];

	const struct ub_sched *sched;
	__u32 me;
	__u32 op;
	__u32 round;
	bool fresh;
	bool once;
	bool sent;
	bool wake;
	struct ub_window_sum sum;
	__u64 verdict;
	__u64 lost_epoch;
};

/**
 * ub_bar_init() - begin to drive a member
 * @b: the view
 * @g: the group's words
 * @sched: its schedule, or NULL
 * @me: the member
 * @base: epoch before the group's first; 0 but in tests of large epochs
 *
 * Takes up where the arrival word stands.
 */
void ub_bar_init(struct ub_bar *b, const struct ub_grp *g,
		 const struct ub_sched *sched, __u32 me, __u64 base);

/** ub_bar_schedule() - give a view its schedule, after the group was made */
void ub_bar_schedule(struct ub_bar *b, const struct ub_sched *sched);

/**
 * ub_bar_arrive() - arrive at the next epoch
 * @b: the view; its last barrier has ended
 * @op: enum ub_red, the same for all members
 * @value: operand
 * @last: UB_AUX_LAST(wait, me) of the barrier before, or UB_AUX_LAST_MASK;
 *	UB_AUX_NOTE() and UB_AUX_WINLOST may be or-ed in
 *
 * Return: 0; -EOVERFLOW at the last epoch; -EINVAL for an unknown @op;
 *	-EBUSY when another agent arrived for this member; -ESTALE when the
 *	member was fenced or is shrinking, or a verdict ended the group
 *	(ub_bar_verdict() tells more). Nothing is stored on an error that
 *	stood before the call.
 */
int ub_bar_arrive(struct ub_bar *b, __u32 op, __u64 value, __u64 last);

/**
 * ub_bar_resume() - take over a barrier that another agent arrived at
 *
 * Replays the rounds of the record's epoch; storing a flag of the current
 * epoch again is harmless.
 * Return: 0, or -EINVAL when the member never arrived. Whether the barrier it
 *	stands at has been awaited, only its agents know.
 */
int ub_bar_resume(struct ub_bar *b);

/** ub_bar_poll() - run the rounds as far as flags are there; true: all ran */
bool ub_bar_poll(struct ub_bar *b);

/** ub_bar_record() - the slow path: read every word, decide */
enum ub_bar_state ub_bar_record(struct ub_bar *b);

/** ub_bar_verdict() - has the group ended for epoch @e; fills @b->lost_* */
bool ub_bar_verdict(struct ub_bar *b, __u64 e);

/** ub_bar_sleep_begin() - announce sleep; ub_bar_record() must follow */
void ub_bar_sleep_begin(struct ub_bar *b);

/** ub_bar_sleep_end() - awake again */
void ub_bar_sleep_end(struct ub_bar *b);

/** ub_bar_missing() - first member that has not arrived at @e, or g->n */
__u32 ub_bar_missing(const struct ub_bar *b, __u64 e);

/** ub_bar_pressed() - after arriving: must ub_bar_record() run at once */
static inline bool ub_bar_pressed(const struct ub_bar *b)
{
	return ub_ld(&b->g.head->hint) >= b->epoch ||
	       ub_ld(&b->g.head->verdict);
}

/** ub_bar_mixed() - did members differ in the operation (-EINVAL for all) */
static inline bool ub_bar_mixed(const struct ub_bar *b)
{
	return b->sum.aux & UB_AUX_MIXED;
}

/**
 * ub_grp_fence() - bar member @i from every later epoch
 * @g: the group
 * @i: the member
 * @reason: enum ub_reason, for the verdict. Of several fencers one is heard.
 *
 * The caller rings all sleepers afterwards.
 * Return: true when it is fenced now, false when it is shrinking.
 */
bool ub_grp_fence(const struct ub_grp *g, __u32 i, __u32 reason);

/**
 * ub_grp_shrink() - member @me agrees to shrink; its word is final
 * Return: 0, or -ESTALE when it was fenced before.
 */
int ub_grp_shrink(const struct ub_grp *g, __u32 me);

/**
 * ub_grp_shrunk() - have all members' words become final
 * @survivor: gets the members that shrink, in group order; room for g->n
 * Return: number of survivors, 0 when some word is not final yet.
 */
__u32 ub_grp_shrunk(const struct ub_grp *g, __u32 *survivor);

/* What one window tells of wait and operation, joined with another's. */
static inline __u64 ub_aux_join(__u64 a, __u64 b)
{
	__u64 la = a & UB_AUX_LAST_MASK, lb = b & UB_AUX_LAST_MASK;
	__u64 high = (a & ~UB_AUX_LAST_MASK) |
		     (b & (UB_AUX_MIXED | UB_AUX_WINLOST | UB_AUX_NOTE(15)));

	high |= (__u64)(UB_AUX_OP(a) != UB_AUX_OP(b)) * UB_AUX_MIXED;
	return high | (la < lb ? la : lb);
}

/* May a member count twice? Then overlapping windows do no harm. */
static inline bool ub_red_twice(__u32 op)
{
	return op != UB_RED_SUM && op != UB_RED_XOR;
}

/* Reduce two values; no jump table, and 0 for no operation or an unknown one. */
static inline __u64 ub_red_join(__u32 op, __u64 a, __u64 b)
{
	/* Turned by this, each minimum and maximum is the maximum of words. */
	__u64 turn = -(__u64)(op & 1) ^ (__u64)(op >= UB_RED_MIN_S64) << 63;

	if (op >= UB_RED_MIN_U64 && op <= UB_RED_MAX_S64)
		return ((a ^ turn) > (b ^ turn)) ? a : b;
	if (op == UB_RED_SUM)
		return a + b;
	if (op == UB_RED_XOR)
		return a ^ b;
	if (op == UB_RED_OR)
		return a | b;
	return op == UB_RED_AND ? a & b : 0;
}

static inline void ub_flag_set(struct ub_flag *f, __u32 op, __u64 full, __u64 aux)
{
	/* Without an operation nobody reads the value. */
	if (op)
		ub_st(&f->full, full);
	ub_st(&f->aux, aux);
}

/** ub_bar_pause() - between two polls, see @pause of struct ub_bar */
static inline void ub_bar_pause(const struct ub_bar *b)
{
	__u32 turn;

	for (turn = b->pause; turn; turn--)
		ub_turn();
}

/* Poll for a flag; 0 when @left polls found it missing. */
static __always_inline __u64 ub_flag_await(const struct ub_bar *b,
					   const struct ub_flag *in, __u64 seq,
					   __u32 *left)
{
	__u64 got;

	while (((got = ub_ld(&in->aux)) & UB_AUX_SEQ_MASK) != seq) {
		if (!*left)
			return 0;
		--*left;
		ub_bar_pause(b);
	}
	return got;
}

/*
 * For ub_bar_straight(), with what came so far in b->sum: leave off in the
 * round @i, whose flag is set; or run the hops from @i on. That returns how many
 * of @left polls are left, or -1 when it left off for want of one.
 */
void ub_bar_leave_off(struct ub_bar *b, __u32 i, __u32 op);
int ub_bar_hops(struct ub_bar *b, __u32 i, __u32 op, __u32 left);

/**
 * ub_bar_straight() - a whole barrier, when nothing is odd
 * @b: the view; nobody else drives the member. Its last barrier ended well;
 *	@b->nhops is not 0
 * @op: as ub_bar_arrive()
 * @value: as ub_bar_arrive()
 * @last: as ub_bar_arrive()
 * @left: most polls that may find their flag missing; gets how many are left
 * @sum: gets the result
 *
 * The same steps and stores as ub_bar_arrive() and ub_bar_poll(), in registers
 * where there is one hop. With its last barrier over nobody reads what is in
 * the slots of this parity any more, not even if the member was fenced since:
 * no need to look first.
 *
 * Return: 1 complete: @sum is set, and @b->epoch; 0 arrived: go on as after
 *	ub_bar_arrive(); -EBUSY not arrived: let ub_bar_arrive() do it or say why.
 */
static __always_inline int ub_bar_straight(struct ub_bar *b, __u32 op,
					   __u64 value, __u64 last, __u32 *left,
					   struct ub_window_sum *sum)
{
	struct ub_member_line *own = b->own;
	const __u64 was = b->epoch, e = was + 1, seq = UB_AUX_SEQ(e);
	const __u32 flag = UB_FLAG_PARITY * (e & 1);
	__u64 aux = (__u64)op << UB_AUX_OP_SHIFT | (last & UB_AUX_GIVEN_MASK);
	const struct ub_flag *in;
	__u32 polls = *left;
	__u64 full = op ? value : 0, got = 0;
	int ret;

	if (op >= UB_RED_OPS || (!ub_red_twice(op) && !b->once))
		return -EBUSY;
	if (op)
		ub_st(&own->contrib[e & 1].value, value);
	ub_st(&own->contrib[e & 1].aux, aux);
	if (ub_cas(&own->arrival, was, e) != was)
		return -EBUSY;
	ub_flag_set(b->hop[0].out + flag, op, value, aux | seq);
	/* While the first flag travels. */
	b->epoch = e;
	in = b->hop[0].in + flag;
	if (ub_ld(&b->g.head->hint) < e)
		got = ub_flag_await(b, in, seq, &polls);
	*left = polls;
	if (got) {
		aux = ub_aux_join(aux, got);
		if (op)
			full = ub_red_join(op, full, ub_ld(&in->full));
		if (b->nhops == 1) {
			sum->full = full;
			sum->aux = aux;
			return 1;
		}
	}
	b->sum.full = full;
	b->sum.aux = aux;
	if (!got) {
		ub_bar_leave_off(b, 0, op);
		return 0;
	}
	ret = ub_bar_hops(b, 1, op, polls);
	*sum = b->sum;
	*left = ret < 0 ? 0 : ret;
	return ret >= 0;
}

/** ub_red_name() - name of an operation, for messages */
const char *ub_red_name(__u32 op);

#endif /* UB_ENGINE_H */
