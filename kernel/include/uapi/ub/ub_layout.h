/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * Shared words of a group, as the kernel and libub both map them.
 *
 * A group has pages of its own; nothing of another group shares them. They
 * are mapped by every member, so a member can spoil its own group and no
 * other. Whoever reads a word here takes it once and checks the copy.
 *
 *   page 0      struct ub_group_head
 *   then        struct ub_member_line [max_members]
 *   then        struct ub_mailbox     [max_members]
 *   then        struct ub_flag_line   [max_members][max_lines]
 *
 * each part beginning on a page. max_members and max_lines come with
 * UB_IOC_INFO; ub_group_*_off() give the offsets.
 *
 * Fresh pages are zero: epoch 0 is "not arrived yet".
 */
#ifndef _UAPI_UB_LAYOUT_H
#define _UAPI_UB_LAYOUT_H

#include <linux/types.h>

#define UB_LAYOUT_VERSION	2
#define UB_LAYOUT_PAGE		4096ULL

/* Arrival word: {fenced:1, shrinking:1, epoch:62}; the bit set first is final. */
#define UB_ARR_FENCED		(1ULL << 63)
#define UB_ARR_SHRINKING	(1ULL << 62)
#define UB_ARR_FINAL		(UB_ARR_FENCED | UB_ARR_SHRINKING)
#define UB_EPOCH_MAX		((1ULL << 62) - 1)
#define UB_ARR_EPOCH(w)		((w) & UB_EPOCH_MAX)

/* Verdict word: {valid:1, spare:15, reason:16, member:32}. */
#define UB_VERDICT_VALID	(1ULL << 63)
#define UB_VERDICT(m, r)	(UB_VERDICT_VALID | ((__u64)(r) << 32) | (__u32)(m))
#define UB_VERDICT_MEMBER(v)	((__u32)(v))
#define UB_VERDICT_REASON(v)	((__u16)((v) >> 32))

/*
 * What rides on a flag and in a contribution beside the value:
 * {op:6, mixed:1, lost:1, note:4, wait:20, member:16, seq:16}. "note" is or-ed
 * over all members; what its bits mean is for the program, or its library, to
 * say. "wait" is how long "member" waited in the barrier before this one, coded
 * by ub_wait_code(); the least wins, so everybody learns who came last. All
 * ones: nobody measured. "seq" says, on a flag, which epoch it is of.
 */
#define UB_AUX_OP_SHIFT		58
#define UB_AUX_MIXED		(1ULL << 57)
#define UB_AUX_WINLOST		(1ULL << 56)
#define UB_AUX_NOTE_SHIFT	52
#define UB_AUX_NOTE(bits)	(((__u64)(bits) & 15) << UB_AUX_NOTE_SHIFT)
#define UB_AUX_WAIT_SHIFT	32
#define UB_AUX_LAST_MASK	0x000fffffffff0000ULL
/* What a member gives and gets beside the value: note and wait. */
#define UB_AUX_GIVEN_MASK	(UB_AUX_NOTE(15) | UB_AUX_LAST_MASK)
#define UB_AUX_LAST(wait, m)	(ub_wait_code(wait) << UB_AUX_WAIT_SHIFT | \
				 ((__u64)(m) & 0xffff) << 16)
#define UB_AUX_OP(a)		((__u32)((a) >> UB_AUX_OP_SHIFT))
#define UB_AUX_WAIT(a)		ub_wait_of((a) >> UB_AUX_WAIT_SHIFT & 0xfffff)
#define UB_AUX_MEMBER(a)	((__u32)((a) >> 16 & 0xffff))
/*
 * A flag holds 0, or is of the epoch that runs, or of the one two before: what
 * a member sets in an epoch it has set, all of it, when that is over for it.
 */
#define UB_AUX_SEQ_MASK		0xffffULL
#define UB_AUX_SEQ(epoch)	(0x8000ULL | ((epoch) & 0x7fff))

/*
 * A wait in ns as {shift:5, bits:15}: exact below 2^15, then to one part in
 * 2^14; the longer wait never has the lower code.
 */
#define UB_WAIT_BITS		15
#define UB_WAIT_MAX		((1ULL << 46) - 1)

static inline __u64 ub_wait_code(__u64 ns)
{
	__u64 shift;

	if (ns >> UB_WAIT_BITS == 0)
		return ns;
	if (ns > UB_WAIT_MAX)
		ns = UB_WAIT_MAX;
	shift = 64 - UB_WAIT_BITS - __builtin_clzll(ns);
	return shift << UB_WAIT_BITS | ns >> shift;
}

static inline __u64 ub_wait_of(__u64 code)
{
	return (code & ((1ULL << UB_WAIT_BITS) - 1)) << (code >> UB_WAIT_BITS);
}

/**
 * struct ub_lost_window - a window that a member could not bring bytes to
 * @epoch: in which the members are told, with UB_AUX_WINLOST; the first to set
 *	it, by compare-and-swap, says which one
 * @gva: of the window; stored before arriving at @epoch
 */
struct ub_lost_window {
	__u64 epoch;
	__u64 gva;
};

/**
 * struct ub_group_head - words that belong to no member
 * @verdict: UB_VERDICT(), written once by compare-and-swap
 * @hint: highest epoch in which somebody was about to sleep; never lowered
 * @lost: by parity of the epoch
 *
 * The first two are read after each arrival, so they share one line. The rest of
 * the page is for members to tell each other something; the kernel neither reads
 * nor writes it.
 */
struct ub_group_head {
	__u64 verdict;
	__u64 hint;
	struct ub_lost_window lost[2];
	__u64 reserved[2];
};

/**
 * struct ub_contrib - what a member brings to the barrier of one parity
 * @value: operand of the fused reduction
 * @aux: operation and the wait of the barrier before, see UB_AUX_*; no seq
 */
struct ub_contrib {
	__u64 value;
	__u64 aux;
};

/* Who drives a member's rounds; changed by compare-and-swap. */
#define UB_DRIVER_NONE		0ULL	/* the ioctl may take it */
#define UB_DRIVER_KERNEL	1ULL	/* inside an ioctl */
#define UB_DRIVER_USER		2ULL	/* a library drives; ioctls need HANDOVER */

/**
 * struct ub_member_line - the words of one member, 64 bytes
 * @arrival: UB_ARR_* and the epoch; the member's own, others only fence it
 * @sleeping: not 0 while the member's agent sleeps; a sender rings then
 * @driver: UB_DRIVER_*
 * @reason: enum ub_reason, stored by whoever fences before it does
 * @contrib: contributions by parity of the epoch, stored before arriving
 */
struct ub_member_line {
	__u64 arrival;
	__u64 sleeping;
	__u64 driver;
	__u64 reason;
	struct ub_contrib contrib[2];
};

/**
 * struct ub_flag - one round's message from one member to another
 * @aux: see UB_AUX_*; stored last. Complete by itself where there is no value
 * @full: reduction over the sender's window of the round
 */
struct ub_flag {
	__u64 aux;
	__u64 full;
};

/**
 * struct ub_flag_line - one (level, round, port) of a receiver, 64 bytes
 * @flag: by parity of the epoch, then by half. One writer each, for the life of
 *	the group
 *
 * Where two members set a flag for each other in a round, both flags are in the
 * line of the lower one, half 0 is its own: whoever stores has the other's flag
 * on its hands, if that is set. The higher one's line is not used then.
 * Elsewhere the flag is half 0 of the receiver's line; flag[..][1].full is the
 * reduction over that part of the window which the last round lacks (sum, xor).
 */
struct ub_flag_line {
	struct ub_flag flag[2][2];
};

#define UB_MAILBOX_BYTES	128

/**
 * struct ub_mailbox - small data of one member for the whole group
 * @slot: by parity of the exchange; written by the owner before a barrier,
 *        read by all after it, written again two exchanges later
 */
struct ub_mailbox {
	__u8 slot[2][UB_MAILBOX_BYTES];
};

static inline __u64 ub_page_up(__u64 bytes)
{
	return (bytes + UB_LAYOUT_PAGE - 1) & ~(UB_LAYOUT_PAGE - 1);
}

static inline __u64 ub_group_lines_off(void)
{
	return UB_LAYOUT_PAGE;
}

static inline __u64 ub_group_mail_off(__u32 max_members)
{
	return ub_group_lines_off() +
	       ub_page_up((__u64)max_members * sizeof(struct ub_member_line));
}

static inline __u64 ub_group_flags_off(__u32 max_members)
{
	return ub_group_mail_off(max_members) +
	       ub_page_up((__u64)max_members * sizeof(struct ub_mailbox));
}

/* Bytes of a group's pages. */
static inline __u64 ub_group_map_size(__u32 max_members, __u32 max_lines)
{
	return ub_group_flags_off(max_members) +
	       ub_page_up((__u64)max_members * max_lines *
			  sizeof(struct ub_flag_line));
}

#endif /* _UAPI_UB_LAYOUT_H */
