// SPDX-License-Identifier: GPL-2.0-only
#include "ub.h"

int ub_netlink_init(void)
{
	return 0;
}

void ub_netlink_exit(void)
{
}

void ub_netlink_event(struct ub_fabric *f, const struct ub_event *ev)
{
}
