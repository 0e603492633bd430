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
 * For a barrier without a value ub_bar_straight() does the first lines at once,
 * up to the sleep, as long as there is nothing to tell or to wake.
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

/**
 * struct ub_hop - a round of one sender and one receiver
 * @out: line that the member sets
 * @in: line that it waits for
 */
struct ub_hop {
	struct ub_flag_line *out;
	struct ub_flag_line *in;
};

#define UB_MAX_HOPS	12

enum ub_bar_state {
	UB_BAR_WAIT,	/* somebody who lives has not arrived */
	UB_BAR_DONE,	/* all arrived; the result is in bar->sum */
	UB_BAR_LOST,	/* a member will never arrive; see bar->lost_* */
};

/**
 * struct ub_bar - one member's view of its group, private to its driver
 * @g: the words
 * @sched: schedule of the member; NULL while only the record is used
 * @me: the member
 * @op: reduction of the barrier that runs
 * @round: next round
 * @sent: flags of @round are set
 * @wake: a verdict was published: the agent must ring all sleepers
 * @epoch: barrier that runs, or the last one that ended
 * @word: what the own arrival word holds
 * @sum: grows to the result
 * @verdict: the verdict that ended the group, once seen
 * @lost_epoch: first epoch that the lost member never reached
 * @nhops: rounds, where each has one sender and one receiver; else 0. A driver
 *	sets it to 0 to keep ub_bar_straight() away
 * @hop: the rounds
 */
struct ub_bar {
	struct ub_grp g;
	const struct ub_sched *sched;
	__u32 me;
	__u32 op;
	__u32 round;
	bool sent;
	bool wake;
	__u64 epoch;
	__u64 word;
	struct ub_window_sum sum;
	__u64 verdict;
	__u64 lost_epoch;
	__u32 nhops;
	struct ub_hop hop[UB_MAX_HOPS];
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
 *	UB_AUX_NOTE() may be or-ed in
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

	if (UB_AUX_OP(a) != UB_AUX_OP(b))
		high |= UB_AUX_MIXED;
	return high | (la < lb ? la : lb);
}

/**
 * ub_bar_straight() - a whole barrier without a value, when nothing is odd
 * @b: the view; its last barrier has ended; @b->nhops is not 0
 * @last: as ub_bar_arrive()
 * @polls: most polls in all; gets those that found their flag missing
 *
 * The same steps and stores as ub_bar_arrive() and ub_bar_poll(), in registers.
 *
 * Return: 1 complete: @b->op and @b->sum.aux are set; 0 arrived: go on as after
 *	ub_bar_arrive(); -EBUSY not arrived: let ub_bar_arrive() say why.
 *	Nothing is stored on an error that stood before the call.
 */
static inline int ub_bar_straight(struct ub_bar *b, __u64 last, __u32 *polls)
{
	struct ub_member_line *own = &b->g.line[b->me];
	__u64 e = b->epoch + 1, aux = last & UB_AUX_GIVEN_MASK;
	__u32 par = e & 1, left = *polls, i = 0;

	/* As in ub_bar_arrive(): after a verdict somebody may still read it. */
	if (ub_ld(&own->arrival) != b->epoch || e > UB_EPOCH_MAX ||
	    ub_ld(&b->g.head->verdict))
		return -EBUSY;
	ub_st(&own->contrib[par].aux, aux);
	if (ub_cas(&own->arrival, b->epoch, e) != b->epoch)
		return -EBUSY;
	for (; i < b->nhops; i++) {
		struct ub_flag *out = &b->hop[i].out->slot[par];
		const struct ub_flag *in = &b->hop[i].in->slot[par];

		ub_st(&out->aux, aux);
		ub_st(&out->epoch, e);
		if (!i) {
			/* While the first flag travels. */
			b->epoch = e;
			b->word = e;
			b->op = UB_RED_NONE;
			if (ub_ld(&b->g.head->hint) >= e ||
			    ub_ld(&b->g.head->verdict))
				goto odd;
		}
		while (ub_ld(&in->epoch) < e) {
			if (!left)
				goto odd;
			left--;
		}
		aux = ub_aux_join(aux, ub_ld(&in->aux));
	}
	b->sum.aux = aux;
	*polls -= left;
	return 1;
odd:
	*polls -= left;
	b->round = i;
	b->sent = true;
	b->wake = false;
	b->sum.full = 0;
	b->sum.part = 0;
	b->sum.aux = aux;
	return 0;
}

/** ub_red_name() - name of an operation, for messages */
const char *ub_red_name(__u32 op);

#endif /* UB_ENGINE_H */
