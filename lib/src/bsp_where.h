/* SPDX-License-Identifier: MIT */
/* A function, told to another process that runs the same program. */
#ifndef UB_BSP_WHERE_H
#define UB_BSP_WHERE_H

#include <stdint.h>

struct ub_bsp_where {
	uint64_t object;
	uint64_t offset;
};

/** ub_bsp_where() - say where @f is; -1 when no object of the program has it */
int ub_bsp_where(void (*f)(void), struct ub_bsp_where *where);
/** ub_bsp_there() - the function that another process said, or NULL */
void (*ub_bsp_there(const struct ub_bsp_where *where))(void);

#endif /* UB_BSP_WHERE_H */
