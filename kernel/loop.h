/* SPDX-License-Identifier: GPL-2.0-only */
/* The loop transport: nodes of one fabric in one kernel. */
#ifndef UB_LOOP_H
#define UB_LOOP_H

#include <linux/types.h>

struct ub_fabric;

int ub_loop_init(void);
void ub_loop_exit(void);
int ub_loop_add(const u32 *ids, u32 n, u64 bytes, bool copied, int *id);
int ub_loop_del(int id);
int ub_loop_of(struct ub_fabric *f);

#endif /* UB_LOOP_H */
