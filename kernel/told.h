/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What a node tells others of its members of a group, where each node has a
 * record and pages of that group for itself (ub_transport_ops.replica).
 *
 * A telling holds all that others need of one member, so one that comes twice does
 * no harm and the last one makes up for those that were lost:
 *
 *	entry		who it is, that it left	  its node's to say
 *	arrival word	and contributions, mailbox	likewise
 *	verdict		that ended the group for it	an opinion, see below
 *
 * Each life of a group has a place at each node: its slot there and that one's
 * generation. A telling carries its sender's and, once known, its receiver's, so what
 * is said of a former life is not taken for news of this one.
 *
 * A node that found a verdict says so: its member never arrives again. Who knows the
 * same of the lost member fences that one, so it comes to the same verdict; who does
 * not fences the teller. So nobody waits for somebody who has given up, though two
 * sides of a broken link may be told different things.
 *
 * Pure: the kernel and the tests compile this same code.
 */
#ifndef UB_TOLD_H
#define UB_TOLD_H

#include "engine.h"
#include "slots.h"

#define UB_TOLD_LEFT	(1U << 0)	/* UB_WHO_LEFT */
#define UB_TOLD_DEAD	(1U << 1)	/* UB_WHO_DEAD */
#define UB_TOLD_ASK	(1U << 2)	/* tell me of yours, too */
#define UB_TOLD_FLAGS	(UB_TOLD_LEFT | UB_TOLD_DEAD | UB_TOLD_ASK)

/* Where a life of a group is at a node: {known:1, slot:32, generation:16}. */
#define UB_PLACE(slot, word)	(1ULL << 63 | (__u64)(slot) << 16 | UB_SLOT_GEN(word))
#define UB_PLACE_KNOWN(p)	((p) >> 63)
#define UB_PLACE_SLOT(p)	((__u32)((p) >> 16))
#define UB_PLACE_GEN(p)		((__u32)(p) & 0xffff)

/**
 * struct ub_told - all of one member
 * @id: group id
 * @theirs: place at the sender, UB_PLACE()
 * @yours: place at the receiver; 0 when the sender does not know it
 * @shape: hash of the shape
 * @n: members
 * @index: the member
 * @node: it lives on; the receiver knows it by itself, as @node_inc
 * @node_inc: incarnation of @node
 * @lane: of the member
 * @lane_inc: incarnation of the lane
 * @flags: UB_TOLD_*
 * @reason: why its arrival word is fenced
 * @arrival: UB_ARR_*
 * @contrib: of the epoch of @arrival and of the one before, by parity
 * @window: with UB_AUX_WINLOST in the epoch of @arrival: which one
 * @verdict: UB_VERDICT(), or 0
 * @lost_epoch: of the verdict: first epoch that its member never reached
 * @mail: mailbox
 */
struct ub_told {
	__u64 id;
	__u64 theirs;
	__u64 yours;
	__u64 shape;
	__u32 n;
	__u32 index;
	__u32 node;
	__u32 lane;
	__u64 node_inc;
	__u64 lane_inc;
	__u32 flags;
	__u32 reason;
	__u64 arrival;
	struct ub_contrib contrib[2];
	__u64 window;
	__u64 verdict;
	__u64 lost_epoch;
	struct ub_mailbox mail;
};

/**
 * ub_told_read() - all there is to tell of a member
 * @t: the table
 * @slot: of the group
 * @word: of the slot
 * @index: the member, which lives here
 * @told: gets it; @told->yours is 0
 *
 * Calls for one member come one after the other, until what one read is sent.
 * Return: false when the slot is of another life, or the entry not taken.
 */
bool ub_told_read(const struct ub_slots *t, __u32 slot, __u64 word, __u32 index,
		  struct ub_told *told);

/**
 * ub_told_there() - does a node have members of a group
 * @t: the table
 * @slot: of the group
 * @word: of the slot
 * @node: the node
 * @inc: its incarnation
 * @there: gets the place there, 0 when it is not known
 *
 * Return: true when it has, or may have because not all have joined yet.
 */
bool ub_told_there(const struct ub_slots *t, __u32 slot, __u64 word, __u32 node,
		   __u64 inc, __u64 *there);

/**
 * ub_told_store() - take over what another node tells of a member of its
 * @t: the table
 * @told: not checked yet, but @node and @node_inc, which are the sender's
 * @slot: gets the group's slot here, when the result is not negative
 * @clash: gets what stood in the way: a member word, for -EEXIST, or a form
 *	word, for -EINVAL
 *
 * Tellings of one node come one after the other; of different ones, and local
 * members' own steps, at any time.
 * Return: 1 when it may have ended a wait, else 0; -ENOENT: not of a group, or of
 *	a life of it, that members here are in; -EEXIST: another member has that
 *	index; -EINVAL: members here came with another number or shape; -EPROTO:
 *	nonsense.
 */
int ub_told_store(const struct ub_slots *t, const struct ub_told *told,
		  __u32 *slot, __u64 *clash);

/**
 * ub_told_refused() - another node says that an own member cannot join
 * @t: the table
 * @id: group id
 * @place: here
 * @err: -EEXIST or -EINVAL
 * @clash: what stands in the way there
 *
 * Only a group that is being made is hurt: who has not arrived is lost to it, and
 * ub_told_clash() says why.
 * Return: true when waits may have ended.
 */
bool ub_told_refused(const struct ub_slots *t, __u64 id, __u64 place, int err,
		     __u64 clash);

/**
 * ub_told_clash() - was a group refused elsewhere
 * @t: the table
 * @slot: of the group
 * @word: of the slot
 * @clash: gets what stands in the way
 *
 * Return: 0, -EEXIST or -EINVAL.
 */
int ub_told_clash(const struct ub_slots *t, __u32 slot, __u64 word, __u64 *clash);

#endif /* UB_TOLD_H */
