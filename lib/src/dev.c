// SPDX-License-Identifier: MIT
/* Device back end: the kernel module. */
#include "internal.h"
#include "backend.h"

static int dev_open(struct ub_ctx *ctx, const struct ub_opts *o)
{
	(void)ctx;
	(void)o;
	return ub_fail(-ENODEV, "no device");
}

const struct ub_backend ub_backend_dev = {
	.name = "dev",
	.open = dev_open,
};
