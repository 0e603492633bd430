/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a transport gives the core: memory that all nodes share, and a bell.
 * Everything else - membership, windows, groups, barriers - is written once, in
 * the core, over that memory. A transport that has operations on remote memory
 * instead of windows in it gives @submit, and its windows are copied (copied.h).
 */
#ifndef UB_TRANSPORT_H
#define UB_TRANSPORT_H

#include <linux/types.h>

struct ub_fabric;
struct ub_io;

/**
 * struct ub_transport_ops - one kind of transport
 * @name: shown to users, at most UB_NAME_LEN - 1 bytes. Required.
 * @pfn: page frame of a page-aligned offset of the memory. Required.
 *	Context: page fault, state_sem held for read; must not sleep long.
 * @ring: wake the sleepers of another node; @bell is what that node stored in
 *	its record. A hint: it may be lost. Optional; without it sleepers wake
 *	by timer, on all nodes of the fabric. Context: any, spinlocks may be held.
 * @bell: what peers must give to @ring to reach this node. Required with
 *	@ring. Context: process.
 * @submit: begin an operation on a window of another node. The transport calls
 *	ub_io_done() for it once, at any time from then on. It reads the bytes
 *	and the fields of @io until then and no longer. The home must refuse
 *	another generation than @io->at.generation (-ESTALE). Optional: with it
 *	windows are copied. Context: process; ub_copied.flush may be held.
 * @cancel: have ub_io_done() called for an operation soon, whatever becomes of
 *	it. Optional, needed where it may take longer than the detection
 *	time. Context: as @submit.
 *
 * None of them is called after ub_fabric_unregister() returned. The transport
 * then stops its interrupts, frees the memory and calls ub_fabric_put().
 */
struct ub_transport_ops {
	const char *name;
	unsigned long (*pfn)(struct ub_fabric *f, u64 offset);
	void (*ring)(struct ub_fabric *f, u64 bell);
	u64 (*bell)(struct ub_fabric *f);
	void (*submit)(struct ub_fabric *f, struct ub_io *io);
	void (*cancel)(struct ub_fabric *f, struct ub_io *io);
};

#endif /* UB_TRANSPORT_H */
