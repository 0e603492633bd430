// SPDX-License-Identifier: MIT
/* bsp.h with unsigned int and size_t. */
#define UB_BSP_SIZE_T
#include "bsp_calls.h"
