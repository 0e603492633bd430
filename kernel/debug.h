/* SPDX-License-Identifier: GPL-2.0-only */
/* debugfs: groups, for a person who looks into a hang. */
#ifndef UB_DEBUG_H
#define UB_DEBUG_H

struct ub_fabric;
struct ub_gmember;

void ub_debug_init(void);
void ub_debug_exit(void);
void ub_debug_fabric_add(struct ub_fabric *f);
void ub_debug_fabric_del(struct ub_fabric *f);
void ub_debug_group_add(struct ub_gmember *gm);
void ub_debug_group_del(struct ub_gmember *gm);

#endif /* UB_DEBUG_H */
