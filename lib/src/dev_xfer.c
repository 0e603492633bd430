// SPDX-License-Identifier: MIT
/*
 * put, get and atomics on the device.
 *
 * A window is mapped for the program, but the library does not touch a peer's memory
 * through that mapping on its own account: when the peer dies that is SIGBUS, and the
 * library installs no handler. It copies through a quiet one (dev_quiet.c); where
 * there is none, or it met a blank page, the kernel copies, and answers with an error
 * when the memory is gone. Atomics are the kernel's, which has a bound for each.
 */
#include "internal.h"
#include "backend.h"
#include "dev.h"
#include <string.h>

static const uint32_t op_of[] = {
	[UB_ATOMIC_ADD]	 = UB_XFER_FETCH_ADD,
	[UB_ATOMIC_SWAP] = UB_XFER_SWAP,
	[UB_ATOMIC_CAS]	 = UB_XFER_COMPARE_SWAP,
	[UB_ATOMIC_AND]	 = UB_XFER_FETCH_AND,
	[UB_ATOMIC_OR]	 = UB_XFER_FETCH_OR,
	[UB_ATOMIC_XOR]	 = UB_XFER_FETCH_XOR,
};

/* One element; an end of the window is the peer's end. */
static int xfer(struct ub_win *w, uint32_t rank, size_t off,
		struct ub_xfer_op_desc *op)
{
	struct ub_xfer x = {
		.size = sizeof(x), .ops = (uintptr_t)op, .nops = 1,
	};
	int err;

	op->gva = w->handle[rank] + off;
	err = ub_dev_call(w->scope->ctx->priv, UB_IOC_XFER, &x);
	if (!err)
		err = op->out_status;
	if (err == -ESTALE || err == -ENOENT)
		err = -EOWNERDEAD;
	if (err == -EOWNERDEAD)
		ub_quiet_drop(w, rank);
	return err;
}

/* The number after a copy: has no page of the mapping been blank? */
static inline bool met_none(const struct ub_win *w, uint32_t rank)
{
	return likely(ub_ld(ub_dev_of(w->scope)->blanks) == w->quiet[rank].seen);
}

static inline char *quiet(const struct ub_win *w, uint32_t rank)
{
	return w->quiet ? w->quiet[rank].at : NULL;
}

/* By the kernel. What a blank page took, or gave, is of no account. */
static int __attribute__((noinline))
copy_by_kernel(struct ub_win *w, uint32_t rank, size_t off, struct ub_xfer_op_desc *op)
{
	int err = xfer(w, rank, off, op);

	if (!err && quiet(w, rank))
		ub_quiet_map(w, rank);
	return err;
}

int ub_dev_put(struct ub_win *w, uint32_t rank, size_t off, const void *src,
	       size_t len)
{
	struct ub_xfer_op_desc op;
	char *at = quiet(w, rank);

	if (likely(at)) {
		ub_copy(at + off, src, len);
		if (met_none(w, rank))
			return 0;
	}
	op = (struct ub_xfer_op_desc){
		.op = UB_XFER_PUT, .addr = (uintptr_t)src, .length = len,
	};
	return copy_by_kernel(w, rank, off, &op);
}

int ub_dev_get(struct ub_win *w, uint32_t rank, size_t off, void *dst,
	       size_t len)
{
	struct ub_xfer_op_desc op;
	char *at = quiet(w, rank);

	if (likely(at)) {
		ub_copy(dst, at + off, len);
		if (met_none(w, rank))
			return 0;
	}
	op = (struct ub_xfer_op_desc){
		.op = UB_XFER_GET, .addr = (uintptr_t)dst, .length = len,
	};
	return copy_by_kernel(w, rank, off, &op);
}

int ub_dev_atomic(struct ub_win *w, uint32_t rank, size_t off, int width,
		  enum ub_atomic_op what, uint64_t operand, uint64_t compare,
		  uint64_t *old)
{
	uint64_t was = 0;
	struct ub_xfer_op_desc op = {
		.op = op_of[what], .addr = (uintptr_t)&was, .length = width,
		.operand = operand, .compare = compare,
	};
	int err;

	/* Of a negative number, say, the kernel takes what the word has. */
	if (width == 4) {
		op.operand = (uint32_t)operand;
		op.compare = (uint32_t)compare;
	}
	err = xfer(w, rank, off, &op);
	if (!err)
		*old = width == 4 ? *(uint32_t *)&was : was;
	return err;
}
