// SPDX-License-Identifier: GPL-2.0-only
/*
 * UB_IOC_TEST: make a node die, stand still, come back; at which instant:
 * instant.c. With the module parameter test_hooks and CAP_SYS_ADMIN only.
 *
 * Invariant: a killed node is as if its machine had lost power: it stores
 * nothing more, and leaves all its words in shared memory as they are.
 */
#include <linux/capability.h>
#include "ub.h"

static int test_kill(struct ub_fabric *f)
{
	down_write(&f->state_sem);
	if (f->state != UB_FABRIC_UP) {
		up_write(&f->state_sem);
		return -ESHUTDOWN;
	}
	f->killed = true;
	up_write(&f->state_sem);
	ub_fabric_fenced(f, UB_REASON_FENCED);
	cancel_delayed_work_sync(&f->tick);
	return 0;
}

static int test_pause(struct ub_fabric *f)
{
	if (READ_ONCE(f->state) != UB_FABRIC_UP)
		return -ESHUTDOWN;
	/* Not sync: a tick that waits for a caller would never end. */
	WRITE_ONCE(f->paused, true);
	cancel_delayed_work(&f->tick);
	return 0;
}

static int test_resume(struct ub_fabric *f)
{
	if (!READ_ONCE(f->paused))
		return -EINVAL;
	WRITE_ONCE(f->paused, false);
	wake_up_all(&f->pause_wq);
	ub_fabric_requeue(f, 0);
	return 0;
}

static int test_fence(struct ub_fabric *f, u64 node)
{
	int err = ub_fabric_enter(f);
	u32 i;

	if (err)
		return err;
	err = -ENOENT;
	for (i = 0; i < f->geo.max_nodes; i++) {
		struct ub_node_view v;

		if (!ub_member_view(f, i, &v) || UB_NODE_ID(v.word) != node ||
		    !ub_member_alive(f, i, v.incarnation))
			continue;
		ub_member_fence(f, i, UB_REASON_FENCED);
		err = 0;
	}
	ub_fabric_exit(f);
	return err;
}

/**
 * ub_test() - UB_IOC_TEST
 * @file: the file, which may be dead
 * @arg: its struct
 *
 * Context: may sleep; the fabric is not entered.
 * Return: 0; -EPERM without CAP_SYS_ADMIN; -EINVAL unknown operation; what the
 *	operation returns.
 */
long ub_test(struct ub_file *file, struct ub_test *arg)
{
	struct ub_fabric *f = file->fabric;
	int ret;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	arg->out_value = 0;
	switch (arg->op) {
	case UB_TEST_KILL:
		return test_kill(f);
	case UB_TEST_PAUSE:
		return test_pause(f);
	case UB_TEST_RESUME:
		return test_resume(f);
	case UB_TEST_REJOIN:
		return ub_fabric_rejoin(f);
	case UB_TEST_PTE_MEMTYPE:
		ret = ub_mmap_memtype(arg->value);
		if (ret < 0)
			return ret;
		arg->out_value = ret;
		return 0;
	case UB_TEST_FENCE:
		return test_fence(f, arg->value);
	case UB_TEST_ATOMIC_ADD:
		return ub_xfer_add(file, arg->gva, arg->value);
	case UB_TEST_HOLD_AT:
	case UB_TEST_DIE_AT:
	case UB_TEST_HOLD_TICK_AT:
		ub_instant_arm(f, arg->op, arg->value);
		return 0;
	case UB_TEST_SPRUNG:
		arg->out_value = READ_ONCE(f->trap.sprung);
		return 0;
	case UB_TEST_COPIED_OFF ... UB_TEST_COPIED_BUSY:
		return ub_copied_test(f, arg);
	default:
		return -EINVAL;
	}
}
