/* SPDX-License-Identifier: GPL-2.0-only */
/* Included ahead of slots.c: zeroing is many stores, not one. */
#ifndef UB_EXPLORE_MEMSET_H
#define UB_EXPLORE_MEMSET_H

#include <string.h>

void *explore_memset(void *p, int c, size_t n);
#define memset(p, c, n)	explore_memset(p, c, n)

#endif
