// SPDX-License-Identifier: MIT
/* bsp.h with int. */
#include "bsp_calls.h"
