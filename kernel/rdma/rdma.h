/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ub_rdma.ko: a fabric over a verbs device, each node with a memory of its own.
 *
 *	main.c		module, device, a fabric comes and goes
 *	peer.c		what the replica says of peers; calling them
 *	cm.c		calls and hellos, by rdma_cm
 *	conn.c		a connection: queues, posting, its end
 *	msg.c		messages (proto.h)
 *	export.c	own windows: keys for peers, atomics
 *	far.c		windows of peers: attaching, operations on them
 *	tell.c		members of groups: telling peers of own ones, being told
 *
 *   struct ub_rdma ---> struct ub_rdma_peer [npeers] ---> struct ub_rdma_conn
 *        |                   |  windows of it that were attached here (far)
 *        |-- listener        `-- the record of it in the replica
 *        `-- own windows that were attached by others (exports)
 *
 * Invariants:
 *  - A peer has one connection at most. It is posted to only with
 *    ub_rdma_conn.lock held and while it is open; who ends it changes that
 *    first, so nothing is posted to queues that are being drained.
 *  - A connection's queues are taken away with ub_rdma_peer.mutex held, after they
 *    are empty, and its rdma_cm_id after that, by its work alone. Whoever else
 *    looks at one holds ub_rdma_peer.lock, or a reference.
 *  - The record of a peer in the replica is written by the holder of
 *    ub_rdma_peer.mutex, but for its heartbeat and the core's fence.
 *
 * Lock order: ub_rdmas_lock, ub_rdma_peer.mutex, (core: win_lock, members_lock),
 * ub_rdma.export_mutex, ub_rdma.tell_lock, ub_rdma_peer.lock, ub_rdma_conn.lock,
 * ub_rdma.export_lock (spinlocks with bottom halves off).
 */
#ifndef UB_RDMA_H
#define UB_RDMA_H

#include <linux/completion.h>
#include <linux/dma-direction.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include "proto.h"
#include "ub.h"

#define UB_RDMA_IOS	64	/* operations under way to one peer */
#define UB_RDMA_IO_WRS	512	/* their work requests */
#define UB_RDMA_SENDS	96	/* messages under way to one peer */
#define UB_RDMA_RECVS	128
#define UB_RDMA_WORKS	64	/* requests of one peer that wait for a worker */
#define UB_RDMA_REGS	8	/* memory registrations under way */

struct ub_rdma_conn;

/**
 * struct ub_rdma_send - a message that is sent
 * @cqe: its completion
 * @conn: the connection
 * @node: in ub_rdma_conn.sends
 * @dma: of @msg
 * @msg: the message
 */
struct ub_rdma_send {
	struct ib_cqe cqe;
	struct ub_rdma_conn *conn;
	struct list_head node;
	u64 dma;
	struct ub_rdma_msg *msg;
};

/**
 * struct ub_rdma_recv - room for a message
 * @cqe: its completion
 * @dma: of @msg
 * @msg: the message
 */
struct ub_rdma_recv {
	struct ib_cqe cqe;
	u64 dma;
	struct ub_rdma_msg *msg;
};

/**
 * struct ub_rdma_op - a READ or WRITE of ub_io
 * @cqe: its completion
 * @conn: the connection
 * @node: in ub_rdma_conn.ops
 * @io: the operation
 * @dma: of its page
 * @dir: how that is mapped
 * @wrs: work requests that it takes
 * @wr: they; the last one has @cqe
 * @sge: of each
 */
struct ub_rdma_op {
	struct ib_cqe cqe;
	struct ub_rdma_conn *conn;
	struct list_head node;
	struct ub_io *io;
	u64 dma;
	enum dma_data_direction dir;
	u32 wrs;
	struct ib_rdma_wr wr[UB_IO_RUNS];
	struct ib_sge sge[UB_IO_RUNS];
};

/**
 * struct ub_rdma_req - a request that awaits its answer
 * @busy: in use
 * @type: answer that is expected
 * @io: an atomic, which ends by ub_io_done()
 * @done: of any other
 * @status: of it, set before @done
 * @attach: of UB_RDMA_ATTACHED: what is being filled in
 * @window: of UB_RDMA_WINDOW: the id that was asked for
 */
struct ub_rdma_req {
	bool busy;
	u16 type;
	struct ub_io *io;
	struct completion *done;
	int *status;
	struct ub_rdma_far *attach;
	u32 window;
};

enum ub_rdma_state {
	UB_RDMA_CALLING,	/* no queues yet, or the other side's answer is out */
	UB_RDMA_OPEN,
	UB_RDMA_DEAD,
};

/**
 * struct ub_rdma_conn - a connection to a peer
 * @ref: count; the work that ends it has one
 * @peer: the peer
 * @id: rdma_cm's
 * @cq: of both queues
 * @qp: its queues
 * @incarnation: of the peer
 * @asked: we called
 * @opened: it was open once
 * @synced: what was attached of this life before is known to be valid, or not
 * @heard: when it opened, or brought something, jiffies
 * @leaving: the peer has said that it leaves; in softirq, one at a time
 * @lock: for the fields up to @works
 * @state: see above
 * @sends: messages that are free
 * @nsends: how many
 * @ops: operations that are free
 * @wrs: work requests that are free for them
 * @req: requests by tag
 * @works: requests of the peer that wait for a worker
 * @wq: waits for room, and for the end
 * @quiet: completion of work requests that are not the last of an operation
 * @end: ends it
 * @sync: brings @synced about
 * @send: all messages
 * @op: all operations
 * @recv: room for messages
 * @buffer: of all messages
 */
struct ub_rdma_conn {
	struct kref ref;
	struct ub_rdma_peer *peer;
	struct rdma_cm_id *id;
	struct ib_cq *cq;
	struct ib_qp *qp;
	u64 incarnation;
	bool asked;
	bool opened;
	bool synced;
	bool leaving;
	unsigned long heard;

	spinlock_t lock;		/* see above */
	enum ub_rdma_state state;
	struct list_head sends;
	u32 nsends;
	struct list_head ops;
	u32 wrs;
	struct ub_rdma_req req[UB_RDMA_TAGS];
	u32 works;
	wait_queue_head_t wq;

	struct ib_cqe quiet;
	struct work_struct end;
	struct work_struct sync;
	struct ub_rdma_send send[UB_RDMA_SENDS];
	struct ub_rdma_op op[UB_RDMA_IOS];
	struct ub_rdma_recv recv[UB_RDMA_RECVS];
	struct ub_rdma_msg *buffer;
};

/**
 * struct ub_rdma_far - a window of a peer that was attached here
 * @generation: that was attached
 * @gva: of it
 * @length: bytes
 * @chunks: how many keys it has
 * @got: of them came; only while it is filled in
 * @write: @key are good for writing
 * @key: of its chunks
 */
struct ub_rdma_far {
	u64 generation;
	u64 gva;
	u64 length;
	u32 chunks;
	u32 got;
	bool write;
	u32 key[];
};

/**
 * struct ub_rdma_peer - another node
 * @r: the fabric
 * @node: its id
 * @index: of its record in the replica
 * @addr: where it is, with the port
 * @mutex: its record, and the coming and going of @conn
 * @incarnation: last that was seen
 * @lock: for the next two
 * @conn: the connection, or NULL
 * @far: struct ub_rdma_far by window id, of @incarnation
 * @call: calls it
 * @tell: tells it of all members here
 * @fails: calls that failed, one after the other
 * @why: last refusal that was logged
 */
struct ub_rdma_peer {
	struct ub_rdma *r;
	u32 node;
	u32 index;
	struct sockaddr_storage addr;
	struct mutex mutex;		/* see above */
	u64 incarnation;
	spinlock_t lock;		/* of the next two */
	struct ub_rdma_conn *conn;
	struct xarray far;
	struct delayed_work call;
	struct delayed_work tell;
	u32 fails;
	u32 why;
};

/**
 * struct ub_rdma_keys - memory regions of a window, for one set of rights
 * @chunks: number of @chunk
 * @chunk: its memory, UB_RDMA_CHUNK each, and their pages
 */
struct ub_rdma_keys {
	u32 chunks;
	struct ub_rdma_chunk {
		struct ib_mr *mr;
		struct sg_table sgt;
	} chunk[];
};

/**
 * struct ub_rdma_export - an own window that peers attached
 * @generation: of it
 * @gva: of it
 * @length: bytes
 * @rights: of it
 * @mem: its memory
 * @keys: for reading, and for writing as well; NULL until somebody attached so
 */
struct ub_rdma_export {
	u64 generation;
	u64 gva;
	u64 length;
	u32 rights;
	void *mem;
	struct ub_rdma_keys *keys[2];
};

/**
 * struct ub_rdma - a fabric
 * @list: in ub_rdmas
 * @f: the core's
 * @dev: the device
 * @pd: protection domain
 * @listener: of calls
 * @mem: the replica, and the own windows
 * @bytes: of it
 * @port: all nodes listen on
 * @fabric: id of it
 * @key: for group ids
 * @wq: works of connections
 * @started: the node is a member: calls go out and are accepted
 * @export_mutex: registering memory, and the end of that
 * @export_lock: for @exports
 * @exports: struct ub_rdma_export by window id
 * @tell_lock: from reading a member's words until they are posted
 * @conns: connections that are not freed
 * @conns_wq: waits for them
 * @npeers: number of @peer
 * @peer: in the order of ids
 */
struct ub_rdma {
	struct list_head list;
	struct ub_fabric *f;
	struct ib_device *dev;
	struct ib_pd *pd;
	struct rdma_cm_id *listener;
	void *mem;
	u64 bytes;
	u16 port;
	u64 fabric[2];
	u64 key[2];
	struct workqueue_struct *wq;
	bool started;
	struct mutex export_mutex;	/* see above */
	spinlock_t export_lock;		/* of @exports */
	struct xarray exports;
	spinlock_t tell_lock;		/* see above */
	atomic_t conns;
	wait_queue_head_t conns_wq;
	u32 npeers;
	struct ub_rdma_peer peer[];
};

/* ---- main.c ---- */
extern unsigned int ub_rdma_layout_skew;

/* ---- peer.c ---- */
void ub_rdma_peer_init(struct ub_rdma *r, u32 i, const struct ub_conf_peer *conf);
struct ub_rdma_peer *ub_rdma_find(struct ub_rdma *r, u32 node);
struct ub_rdma_peer *ub_rdma_at(struct ub_rdma *r, u32 index);
struct ub_rdma_conn *ub_rdma_conn_of(struct ub_rdma_peer *p);
u32 ub_rdma_peer_refuses(struct ub_rdma_peer *p, u64 incarnation, u64 *value);
void ub_rdma_peer_up(struct ub_rdma_peer *p, u64 incarnation);
void ub_rdma_peer_left(struct ub_rdma_peer *p, u64 incarnation);
void ub_rdma_peer_seen(struct ub_rdma_peer *p);
void ub_rdma_peer_call(struct ub_rdma_peer *p, bool failed);
void ub_rdma_tell_node(struct ub_fabric *f);
void ub_rdma_cut(struct ub_fabric *f, u32 index);
void ub_rdma_ring(struct ub_fabric *f, u64 bell);
u64 ub_rdma_bell(struct ub_fabric *f);
void ub_rdma_stop(struct ub_rdma *r);

/* ---- cm.c ---- */
int ub_rdma_listen(struct ub_rdma *r, struct netlink_ext_ack *extack);
void ub_rdma_dial(struct ub_rdma_peer *p);

/* ---- conn.c ---- */
struct ub_rdma_conn *ub_rdma_conn_alloc(struct ub_rdma_peer *p);
int ub_rdma_conn_queues(struct ub_rdma_conn *c);
void ub_rdma_conn_open(struct ub_rdma_conn *c);
void ub_rdma_conn_close(struct ub_rdma_conn *c);
void ub_rdma_conn_put(struct ub_rdma_conn *c);
int ub_rdma_post(struct ub_rdma_conn *c, const struct ib_send_wr *wr);
bool ub_rdma_wc_bad(struct ub_rdma_conn *c, const struct ib_wc *wc);
struct ub_rdma_op *ub_rdma_op_get(struct ub_rdma_conn *c, u32 wrs);
void ub_rdma_op_put(struct ub_rdma_op *op);

/* ---- msg.c ---- */
int ub_rdma_send(struct ub_rdma_conn *c, const struct ub_rdma_msg *msg, bool answer);
int ub_rdma_send_wait(struct ub_rdma_conn *c, const struct ub_rdma_msg *msg);
int ub_rdma_request(struct ub_rdma_conn *c, struct ub_rdma_msg *msg,
		    const struct ub_rdma_req *req);
int ub_rdma_ask(struct ub_rdma_conn *c, struct ub_rdma_msg *msg,
		struct ub_rdma_req *req);
void ub_rdma_req_end(struct ub_rdma_conn *c, u32 tag, int status, u64 result);
void ub_rdma_reqs_end(struct ub_rdma_conn *c);
void ub_rdma_received(struct ub_rdma_conn *c, const struct ub_rdma_msg *msg);
void ub_rdma_sent(struct ib_cq *cq, struct ib_wc *wc);

/* ---- export.c ---- */
void ub_rdma_tell_window(struct ub_fabric *f, u32 id, u64 generation);
void ub_rdma_exports_end(struct ub_rdma *r);
void ub_rdma_attach_asked(struct ub_rdma_conn *c, const struct ub_rdma_msg *msg);
void ub_rdma_atomic_asked(struct ub_rdma_conn *c, const struct ub_rdma_msg *msg);
void ub_rdma_check_asked(struct ub_rdma_conn *c, const struct ub_rdma_msg *msg);

/* ---- far.c ---- */
int ub_rdma_attach(struct ub_fabric *f, u32 home, const struct ub_win_attach *arg);
void ub_rdma_attached(struct ub_rdma_conn *c, const struct ub_rdma_msg *msg);
void ub_rdma_window(struct ub_rdma_conn *c, const struct ub_rdma_msg *msg);
void ub_rdma_sync(struct work_struct *work);
void ub_rdma_far_forget(struct ub_rdma_peer *p);
void ub_rdma_submit(struct ub_fabric *f, struct ub_io *io);
void ub_rdma_cancel(struct ub_fabric *f, struct ub_io *io);

/* ---- tell.c ---- */
void ub_rdma_tell_group(struct ub_fabric *f, u32 slot, u64 word, u32 index);
void ub_rdma_tell_work(struct work_struct *work);
void ub_rdma_member(struct ub_rdma_conn *c, const struct ub_rdma_msg *msg);
void ub_rdma_refused(struct ub_rdma_conn *c, const struct ub_rdma_msg *msg);

#endif /* UB_RDMA_H */
