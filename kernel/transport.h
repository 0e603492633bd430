/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a transport gives the core: memory that all nodes share, and a bell.
 * Everything else - membership, windows, groups, barriers - is written once, in
 * the core, over that memory. A transport that has operations on remote memory
 * instead of windows in it gives @submit, and its windows are copied (copied.h).
 *
 * Where nothing is shared, each node has a @replica: a memory of that same layout
 * for itself. A record in it has one owner; what the owner stores is brought to
 * the replicas of the others by the transport, as the core tells it to, and the
 * core reads its own replica as it reads shared memory (Documentation/rdma.rst).
 */
#ifndef UB_TRANSPORT_H
#define UB_TRANSPORT_H

#include <linux/list.h>
#include <linux/socket.h>
#include <linux/types.h>
#include <ub/ub.h>

struct module;
struct netlink_ext_ack;
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
 * @replica: the memory is this node's alone, see above. Then @submit and the
 *	next five are required.
 * @tell_node: the own record has changed: a heartbeat, or a life that begins or
 *	ends. After one that ended nothing of peers may reach this memory any
 *	more, and their records are empty. Context: process.
 * @tell_window: an own window's record has got this generation: the former one
 *	must not be reached any more when it returns. Context: process; win_lock
 *	is held.
 * @attach: have the home check a token and rights, as ub_win_admit() does, and
 *	have the window's generation in the replica. Bounded by the detection
 *	time. Context: process; no locks.
 * @tell_group: own words of a group's member that lives here have changed: it
 *	joined, arrived, found a verdict or left. All there is of it (told.h) goes to
 *	the nodes of the others, in the order of calls, and what is lost on the way is
 *	told again. Context: process, between enter and exit; members_lock may be held.
 * @cut: a peer is about to be taken for dead: nothing of it may reach this memory
 *	any more when it returns. Context: process; nothing is held but locks of
 *	the tick.
 * @del: the user wants the fabric to go: unregister and put it. Returns -ENOENT
 *	when it is just going. Optional. Context: process; the caller counts it.
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
	bool replica;
	void (*tell_node)(struct ub_fabric *f);
	void (*tell_window)(struct ub_fabric *f, u32 id, u64 generation);
	int (*attach)(struct ub_fabric *f, u32 home, const struct ub_win_attach *arg);
	void (*tell_group)(struct ub_fabric *f, u32 slot, u64 word, u32 index);
	void (*cut)(struct ub_fabric *f, u32 index);
	int (*del)(struct ub_fabric *f);
};

#define UB_CONF_PEERS	63		/* beside the node itself */

/**
 * struct ub_fabric_conf - a fabric that the user asks for, of a transport that
 *	is not in ub.ko
 * @dev: device that it shall go over
 * @name: that all nodes of the fabric give
 * @node: own id
 * @bytes: of memory; 0: the transport's choice
 * @port: for all nodes; 0: the transport's choice
 * @npeers: others
 * @peer: they, in the order of ids
 */
struct ub_fabric_conf {
	char dev[64];
	char name[64];
	u32 node;
	u64 bytes;
	u16 port;
	u32 npeers;
	struct ub_conf_peer {
		u32 node;
		struct sockaddr_storage addr;	/* without a port */
	} peer[UB_CONF_PEERS];
};

/**
 * struct ub_transport - a transport whose fabrics the user adds
 * @list: of all
 * @name: that users give
 * @owner: module
 * @add: make and register a fabric. @conf is checked as far as the core can: ids
 *	differ and peers have addresses. Gives the number of its device.
 *	Context: process.
 */
struct ub_transport {
	struct list_head list;
	const char *name;
	struct module *owner;
	int (*add)(const struct ub_fabric_conf *conf,
		   struct netlink_ext_ack *extack);
};

void ub_transport_register(struct ub_transport *t);
void ub_transport_unregister(struct ub_transport *t);
struct ub_transport *ub_transport_get(const char *name);
void ub_transport_put(struct ub_transport *t);

#endif /* UB_TRANSPORT_H */
