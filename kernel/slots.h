/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Group records: who has which slot, without a leader.
 *
 * A fabric has a table of slots, each with a record (kernel only) and the
 * group's pages. A group's id is computed by its members, so they meet in one
 * slot without talking: claiming is tentative, the lowest tentative slot of
 * an id wins, committing is a compare-and-swap on {state, generation, id}.
 *
 * Pure: the kernel and the host back end of libub compile this same code.
 */
#ifndef UB_SLOTS_H
#define UB_SLOTS_H

#include "ub_shared.h"
#ifndef __KERNEL__
#include <stdbool.h>
#endif

/* Slot word: {state:2, generation:16, id:46}. */
#define UB_SLOT_FREE		0ULL
#define UB_SLOT_TENTATIVE	1ULL
#define UB_SLOT_COMMITTED	2ULL
#define UB_SLOT_FREEING		3ULL
#define UB_SLOT_ID_BITS		46
#define UB_SLOT_ID_MASK		((1ULL << UB_SLOT_ID_BITS) - 1)
#define UB_SLOT_WORD(s, g, id)	((__u64)(s) << 62 | \
				 (__u64)((g) & 0xffff) << UB_SLOT_ID_BITS | \
				 ((id) & UB_SLOT_ID_MASK))
#define UB_SLOT_STATE(w)	((w) >> 62)
#define UB_SLOT_GEN(w)		((__u32)((w) >> UB_SLOT_ID_BITS) & 0xffff)
#define UB_SLOT_ID(w)		((w) & UB_SLOT_ID_MASK)

/* Form word: {generation:16, members:16, shape:32}, one compare-and-swap. */
#define UB_FORM(g, n, shape)	((__u64)((g) & 0xffff) << 48 | \
				 (__u64)((n) & 0xffff) << 32 | (__u32)(shape))
#define UB_FORM_GEN(w)		((__u32)((w) >> 48))
#define UB_FORM_N(w)		((__u32)((w) >> 32) & 0xffff)

/*
 * Member word: {generation:16, used:1, ready:1, left:1, dead:1, spare:8,
 * lane:16, node:20}. "ready" is set after the incarnations are stored. "dead":
 * it joins nothing any more, but may still store; "left": it stores no more.
 */
#define UB_WHO_USED		(1ULL << 47)
#define UB_WHO_READY		(1ULL << 46)
#define UB_WHO_LEFT		(1ULL << 45)
#define UB_WHO_DEAD		(1ULL << 44)
#define UB_WHO(g, node, lane)	((__u64)((g) & 0xffff) << 48 | UB_WHO_USED | \
				 (__u64)((lane) & 0xffff) << 20 | \
				 ((node) & 0xfffff))
#define UB_WHO_GEN(w)		((__u32)((w) >> 48))
#define UB_WHO_NODE(w)		((__u32)(w) & 0xfffff)
#define UB_WHO_LANE(w)		((__u32)((w) >> 20) & 0xffff)

/**
 * struct ub_slot_member - one entry of a group's member table
 * @who: UB_WHO_*
 * @node_inc: incarnation of the node
 * @lane_inc: incarnation of the lane
 * @there: where the group is at its node, UB_PLACE(); 0 where slots are shared
 */
struct ub_slot_member {
	__u64 who;
	__u64 node_inc;
	__u64 lane_inc;
	__u64 there;
};

/**
 * struct ub_slot_rec - record of a slot
 * @word: state, generation and id
 * @form: members and hash of the shape, set once a generation
 * @freer: whoever set FREEING, for taking over when it dies (caller's coding)
 * @clash: why another node refuses members of this one, see ub_told_clash()
 * @member: the table
 */
struct ub_slot_rec {
	__u64 word;
	__u64 form;
	__u64 freer;
	__u64 clash;
	__u64 reserved[4];
	struct ub_slot_member member[];
};

/**
 * struct ub_slots - where a fabric's slots are
 * @recs: first record
 * @pages: first group's pages
 * @nslots: number of slots
 * @rec_stride: bytes from record to record
 * @map_size: bytes of a group's pages
 * @max_members: entries of a member table
 */
struct ub_slots {
	char *recs;
	char *pages;
	__u32 nslots;
	__u32 rec_stride;
	__u64 map_size;
	__u32 max_members;
};

static inline struct ub_slot_rec *ub_slot_rec(const struct ub_slots *t, __u32 i)
{
	return (struct ub_slot_rec *)(t->recs + (__u64)i * t->rec_stride);
}

static inline void *ub_slot_pages(const struct ub_slots *t, __u32 i)
{
	return t->pages + (__u64)i * t->map_size;
}

/* Bytes from record to record that @max_members need. */
static inline __u32 ub_slot_stride(__u32 max_members)
{
	return sizeof(struct ub_slot_rec) +
	       max_members * sizeof(struct ub_slot_member);
}

/**
 * ub_slots_claim() - meet the other members of group @id in one slot
 * @t: the table
 * @id: group id, UB_SLOT_ID_BITS
 * @word: gets the slot word under which it was committed
 *
 * Return: index of the committed slot; -ENOSPC when all are taken; -EAGAIN
 *	when others kept changing the table, or a slot of the id is being freed
 *	(bounded; try later, and let ub_slots_collect() run meanwhile).
 */
int ub_slots_claim(const struct ub_slots *t, __u64 id, __u64 *word);

/**
 * ub_slots_join() - take entry @index of a committed slot
 * @t: the table
 * @slot: what ub_slots_claim() returned
 * @word: its word then
 * @n: members
 * @shape: hash of the shape
 * @index: own index
 * @m: who joins: node and lane in @who, incarnations; gen is filled in
 * @clash: gets what stood there, for -EEXIST and -EINVAL
 *
 * Return: 0; -EINVAL when the others came with another @n or @shape (@clash
 *	is their form word); -EEXIST when another member has that index
 *	(@clash is its member word); -ESTALE when the slot was freed meanwhile.
 */
int ub_slots_join(const struct ub_slots *t, __u32 slot, __u64 word, __u32 n,
		  __u64 shape, __u32 index, const struct ub_slot_member *m,
		  __u64 *clash);

/**
 * ub_slots_member() - read entry @index, once
 * Return: true when it is ready and of generation UB_SLOT_GEN(@word).
 */
bool ub_slots_member(const struct ub_slots *t, __u32 slot, __u64 word,
		     __u32 index, struct ub_slot_member *m);

/**
 * ub_slots_ending() - has a member left the group already, or is it gone
 *
 * Then whoever comes with the same id means another, and tries again.
 */
bool ub_slots_ending(const struct ub_slots *t, __u32 slot, __u64 word);

/** ub_slots_leave() - the own entry @index is not used any more */
void ub_slots_leave(const struct ub_slots *t, __u32 slot, __u64 word,
		    __u32 index);

/**
 * ub_slots_dead() - whoever has the own entry @index joins no group any more
 *
 * Its arrival word may be final, shrinking, and not tell it.
 */
void ub_slots_dead(const struct ub_slots *t, __u32 slot, __u64 word,
		   __u32 index);

/**
 * typedef ub_gone_fn - will this member never touch the group again
 * @ctx: of the caller
 * @m: the entry; @m->who is 0 when nobody ever took it. NULL: has the slot
 *	stood without a form for so long that its claimer must be gone
 * @arrival: its arrival word
 *
 * Gone means that it cannot store any more: a fenced node that may resume is
 * not gone before its record shows a newer incarnation.
 */
typedef bool (*ub_gone_fn)(void *ctx, const struct ub_slot_member *m,
			   __u64 arrival);

/**
 * ub_slots_collect() - free a slot when every member left or is gone
 * @t: the table
 * @slot: the slot
 * @self: who frees, not 0, for takeover
 * @gone: tells whether a member that did not leave is gone
 * @freer_gone: tells whether a freer died on the way
 * @ctx: for both
 *
 * Return: true when the slot is free now by this call.
 */
bool ub_slots_collect(const struct ub_slots *t, __u32 slot, __u64 self,
		      ub_gone_fn gone, bool (*freer_gone)(void *ctx, __u64 freer),
		      void *ctx);

#endif /* UB_SLOTS_H */
