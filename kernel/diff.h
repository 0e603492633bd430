/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Where two pages differ, in exact byte runs. Pure.
 *
 * Invariant: a byte that is the same in both is in no run, so what others
 * wrote beside it is never overwritten.
 */
#ifndef UB_DIFF_H
#define UB_DIFF_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <linux/types.h>
#endif

/**
 * struct ub_run - bytes of a page
 * @off: of the first
 * @len: how many
 */
struct ub_run {
	__u32 off;
	__u32 len;
};

/* Has a word a byte that is 0? */
static inline bool ub_zero_byte(__u64 x)
{
	return (x - 0x0101010101010101ULL) & ~x & 0x8080808080808080ULL;
}

/**
 * ub_diff() - the next runs in which @now and @was differ
 * @now: 8-byte aligned
 * @was: 8-byte aligned
 * @size: bytes of both, a multiple of 8
 * @at: where to begin, at first 0; gets where to go on
 * @run: gets them, in rising order
 * @max: room in @run
 *
 * Return: number of runs; 0 when there are no more.
 */
static inline __u32 ub_diff(const void *now, const void *was, __u32 size,
			    __u32 *at, struct ub_run *run, __u32 max)
{
	const __u64 *nw = now, *ww = was;
	const __u8 *nb = now, *wb = was;
	__u32 i = *at, n = 0, start;

	while (n < max) {
		while (i < size && nb[i] == wb[i])
			i += !(i & 7) && nw[i / 8] == ww[i / 8] ? 8 : 1;
		if (i >= size)
			break;
		start = i;
		while (i < size && nb[i] != wb[i])
			i += !(i & 7) && !ub_zero_byte(nw[i / 8] ^ ww[i / 8]) ?
			     8 : 1;
		run[n].off = start;
		run[n++].len = i - start;
	}
	*at = i;
	return n;
}

#endif /* UB_DIFF_H */
