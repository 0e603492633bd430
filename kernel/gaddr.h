/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Global addresses: {0:1, node:20, offset:43}. Pure arithmetic.
 *
 * The first 64 KiB of each node are never given out, so a small number is
 * never a valid address. Offsets with bit 42 set name group pages, not
 * window memory; with bit 41, too, the window memory below that, for mmap()
 * only: quiet.
 */
#ifndef UB_GADDR_H
#define UB_GADDR_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <linux/types.h>
#endif

#define UB_GVA_OFF_BITS		43
#define UB_GVA_OFF_MASK		((1ULL << UB_GVA_OFF_BITS) - 1)
#define UB_GVA_NODE_MAX		((1U << 20) - 1)
#define UB_GVA_GROUPS		(1ULL << 42)	/* offsets from here: groups */
#define UB_GVA_QUIET		(UB_GVA_GROUPS | 1ULL << 41)
#define UB_GVA_GROUP_SHIFT	24		/* room for one group's pages */
#define UB_GVA_ALIGN		(64ULL << 10)	/* of windows */
#define UB_GVA_FIRST		(64ULL << 10)

static inline __u64 ub_gva(__u32 node, __u64 off)
{
	return (__u64)(node & UB_GVA_NODE_MAX) << UB_GVA_OFF_BITS |
	       (off & UB_GVA_OFF_MASK);
}

static inline __u32 ub_gva_node(__u64 gva)
{
	return (__u32)(gva >> UB_GVA_OFF_BITS) & UB_GVA_NODE_MAX;
}

static inline __u64 ub_gva_off(__u64 gva)
{
	return gva & UB_GVA_OFF_MASK;
}

/* Offset to mmap() for the pages of the group in @slot, on @node's own device. */
static inline __u64 ub_gva_group(__u32 node, __u32 slot)
{
	return ub_gva(node, UB_GVA_GROUPS | (__u64)slot << UB_GVA_GROUP_SHIFT);
}

static inline bool ub_gva_is_group(__u64 gva)
{
	return ub_gva_off(gva) & UB_GVA_GROUPS;
}

/* Offset to mmap() for a quiet mapping; of offset 0: the number of blank pages. */
static inline __u64 ub_gva_quiet(__u64 gva)
{
	return gva | UB_GVA_QUIET;
}

static inline bool ub_gva_is_quiet(__u64 gva)
{
	return (ub_gva_off(gva) & UB_GVA_QUIET) == UB_GVA_QUIET;
}

static inline __u64 ub_gva_loud(__u64 gva)
{
	return gva & ~UB_GVA_QUIET;
}

/*
 * Does [gva, gva + len) lie below 2^63, inside one node's window range?
 * False for len 0 and for anything that overflows.
 */
static inline bool ub_gva_range_ok(__u64 gva, __u64 len)
{
	__u64 off = ub_gva_off(gva);

	return !(gva >> 63) && len && len <= UB_GVA_GROUPS &&
	       off >= UB_GVA_FIRST && off < UB_GVA_GROUPS &&
	       len <= UB_GVA_GROUPS - off;
}

/* Does [gva, gva + len) lie in [start, start + size)? No overflow. */
static inline bool ub_gva_inside(__u64 gva, __u64 len, __u64 start, __u64 size)
{
	return gva >= start && gva - start <= size && len <= size - (gva - start);
}

#endif /* UB_GADDR_H */
