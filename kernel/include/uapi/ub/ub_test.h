/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Test hooks of /dev/ubfab<N>: with module parameter test_hooks=1 and
 * CAP_SYS_ADMIN. The format is that of ub.h.
 */
#ifndef _UAPI_UB_TEST_H
#define _UAPI_UB_TEST_H

#include <ub/ub.h>

enum ub_test_op {
	UB_TEST_KILL,		/* node stops at once: no heartbeat, no word */
	UB_TEST_PAUSE,		/* heartbeat and calls stand still */
	UB_TEST_RESUME,		/* end of PAUSE */
	UB_TEST_REJOIN,		/* attach again, with a new incarnation */
	UB_TEST_PTE_MEMTYPE,	/* out_value: enum ub_memtype of mapped @value */
	UB_TEST_FENCE,		/* fence node @value */
	UB_TEST_ATOMIC_ADD,	/* @value times, the kernel adds 1 to word @gva */
	/* @value: before which of its stores from now; 0 before none */
	UB_TEST_HOLD_AT,	/* the calling thread has its node stand still */
	UB_TEST_DIE_AT,		/* the calling process is killed */
	UB_TEST_HOLD_TICK_AT,	/* the next tick has the node stand still */
	UB_TEST_SPRUNG		/* out_value: when one of these did, ns; or 0 */
};

/**
 * struct ub_test - UB_IOC_TEST
 * @op: enum ub_test_op
 * @reserved: zero
 * @value: operand
 * @gva: operand
 * @out_value: result
 *
 * Errors: ENOTTY the module has no test hooks, EPERM no CAP_SYS_ADMIN, EINVAL
 * no such @op, or RESUME of a node that is not paused; ENOENT FENCE of a node
 * that is not up; EBUSY REJOIN of one that is; EFAULT nothing is mapped there;
 * REJOIN also what attaching a node returns, ATOMIC_ADD what an element of
 * UB_IOC_XFER does.
 */
struct ub_test {
	__u32 size;
	__u32 flags;
	__u32 op;
	__u32 reserved;
	__aligned_u64 value;
	__aligned_u64 gva;
	__aligned_u64 out_value;
};
#define UB_IOC_TEST	_IO(UB_IOC_TYPE, UB_CMD_TEST)

#endif /* _UAPI_UB_TEST_H */
