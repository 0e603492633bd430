// SPDX-License-Identifier: MIT
/*
 * put, get and atomics on the device: by the kernel.
 *
 * A window is mapped, but the library does not touch a peer's memory through
 * the mapping on its own account: when the peer dies that is SIGBUS, and the
 * library installs no handler. The kernel answers with an error instead.
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
	return err;
}

int ub_dev_put(struct ub_win *w, uint32_t rank, size_t off, const void *src,
	       size_t len)
{
	struct ub_xfer_op_desc op = {
		.op = UB_XFER_PUT, .addr = (uintptr_t)src, .length = len,
	};

	return xfer(w, rank, off, &op);
}

int ub_dev_get(struct ub_win *w, uint32_t rank, size_t off, void *dst,
	       size_t len)
{
	struct ub_xfer_op_desc op = {
		.op = UB_XFER_GET, .addr = (uintptr_t)dst, .length = len,
	};

	return xfer(w, rank, off, &op);
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
