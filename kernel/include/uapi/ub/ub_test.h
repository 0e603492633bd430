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
	UB_TEST_SPRUNG,		/* out_value: when one of these did, ns; or 0 */
	/* Of copied windows, on this node: */
	UB_TEST_COPIED_OFF,	/* leave out steps @value, UB_COPIED_NO_* */
	UB_TEST_COPIED_DELAY,	/* completions come up to @value ms late, mixed */
	UB_TEST_COPIED_LOSE,	/* of @value completions one never comes; 0: all do */
	UB_TEST_COPIED_LIMIT,	/* keep at most @value pages */
	UB_TEST_COPIED_PAGES,	/* out_value: pages that are kept */
	UB_TEST_COPIED_BUSY	/* out_value: operations under way */
};

/* Without any of these steps the memory model does not hold. */
#define UB_COPIED_NO_WRITE_BACK	(1U << 0)
#define UB_COPIED_NO_INVALIDATE	(1U << 1)
#define UB_COPIED_NO_RECHECK	(1U << 2)	/* of the number, after a READ */
#define UB_COPIED_NO_UNMAP	(1U << 3)	/* before the diff */
#define UB_COPIED_NO_ALL	((1U << 4) - 1)

#define UB_COPIED_LIMIT_MIN	16

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
 * UB_IOC_XFER does; EOPNOTSUPP COPIED_* where windows are not copied.
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
