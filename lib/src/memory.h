/* SPDX-License-Identifier: MIT */
#ifndef UB_MEMORY_H
#define UB_MEMORY_H

#include <stdint.h>

/** ub_memory() - bytes that this process can have: the machine's memory, or the
 * limit of its cgroup (v1 and v2) or of one above it, if that is less */
uint64_t ub_memory(void);

#endif /* UB_MEMORY_H */
