// SPDX-License-Identifier: GPL-2.0-only
/* Module init and exit, in mirror order. */
#include <linux/init.h>
#include <linux/module.h>
#include "debug.h"
#include "loop.h"
#include "netlink.h"
#include "ub.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

unsigned int ub_detect_ms = 1000;
module_param_named(detect_ms, ub_detect_ms, uint, 0644);
MODULE_PARM_DESC(detect_ms, "silence after which a node is taken for dead, for fabrics made later");

bool ub_test_hooks;
module_param_named(test_hooks, ub_test_hooks, bool, 0444);
MODULE_PARM_DESC(test_hooks, "offer UB_IOC_TEST to CAP_SYS_ADMIN");

static int __init ub_init(void)
{
	int err;

	if (ub_test_hooks)
		ub_instant_init();
	err = ub_fabric_init();
	if (err)
		return err;
	err = ub_chardev_init();
	if (err)
		goto fabric;
	ub_debug_init();
	err = ub_netlink_init();
	if (err)
		goto chardev;
	err = ub_loop_init();
	if (err)
		goto netlink;
	return 0;

netlink:
	ub_netlink_exit();
chardev:
	ub_debug_exit();
	ub_chardev_exit();
fabric:
	ub_fabric_fini();
	return err;
}

static void __exit ub_exit(void)
{
	ub_loop_exit();
	ub_netlink_exit();
	ub_debug_exit();
	ub_chardev_exit();
	ub_fabric_fini();
}

module_init(ub_init);
module_exit(ub_exit);
MODULE_DESCRIPTION("Fabric of peer nodes with one global address space");
MODULE_LICENSE("GPL");
