// SPDX-License-Identifier: GPL-2.0-only
/*
 * A connection: its queues and buffers, posting, its end. See rdma.h.
 *
 * Invariants:
 *  - What is posted is completed, at the latest when the queues are drained,
 *    so whoever waits for a completion waits for the connection's end at most.
 *  - There is a place in the send queue for all that can be under way: of
 *    messages and operations as many as there are structs and counted work
 *    requests, of registrations one at a time.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include "rdma.h"

#define SEND_WRS	(UB_RDMA_IO_WRS + UB_RDMA_SENDS + UB_RDMA_REGS + 1)
#define RECV_WRS	(UB_RDMA_RECVS + 1)
#define BUFFERS		(UB_RDMA_SENDS + UB_RDMA_RECVS)
#define BUFFER_BYTES	(BUFFERS * sizeof(struct ub_rdma_msg))

/**
 * ub_rdma_wc_bad() - did a work request fail; then its connection ends
 * @c: the connection
 * @wc: the completion
 *
 * Context: any but hard interrupts.
 * Return: true when it failed.
 */
bool ub_rdma_wc_bad(struct ub_rdma_conn *c, const struct ib_wc *wc)
{
	if (likely(wc->status == IB_WC_SUCCESS))
		return false;
	if (wc->status != IB_WC_WR_FLUSH_ERR)
		dev_info_ratelimited(&c->peer->r->f->dev,
				     "connection to node %u: %s\n",
				     c->peer->node, ib_wc_status_msg(wc->status));
	ub_rdma_conn_close(c);
	return true;
}

/* ---- memory ---- */

static void conn_free(struct kref *ref)
{
	struct ub_rdma_conn *c = container_of(ref, struct ub_rdma_conn, ref);
	struct ub_rdma *r = c->peer->r;

	if (c->buffer)
		free_pages_exact(c->buffer, BUFFER_BYTES);
	kvfree(c);
	if (atomic_dec_and_test(&r->conns))	/* not shared */
		wake_up_all(&r->conns_wq);
}

/**
 * ub_rdma_conn_put() - give a reference back
 * @c: the connection
 *
 * Context: process; the fabric is there.
 */
void ub_rdma_conn_put(struct ub_rdma_conn *c)
{
	kref_put(&c->ref, conn_free);
}

/* ---- messages never move: each is mapped once ---- */

static enum dma_data_direction message_dir(u32 i)
{
	return i < UB_RDMA_SENDS ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
}

static u64 *message_dma(struct ub_rdma_conn *c, u32 i)
{
	return i < UB_RDMA_SENDS ? &c->send[i].dma : &c->recv[i - UB_RDMA_SENDS].dma;
}

static void unmap_messages(struct ub_rdma_conn *c, u32 n)
{
	while (n--)
		ib_dma_unmap_single(c->peer->r->dev, *message_dma(c, n),
				    UB_RDMA_MSG_BYTES, message_dir(n));
}

static int map_messages(struct ub_rdma_conn *c)
{
	struct ib_device *dev = c->peer->r->dev;
	u32 i;

	for (i = 0; i < BUFFERS; i++) {
		u64 dma = ib_dma_map_single(dev, c->buffer + i, UB_RDMA_MSG_BYTES,
					    message_dir(i));

		if (ib_dma_mapping_error(dev, dma)) {
			unmap_messages(c, i);
			return -ENOMEM;
		}
		*message_dma(c, i) = dma;
	}
	return 0;
}

static void received(struct ib_cq *cq, struct ib_wc *wc);
static void op_done(struct ib_cq *cq, struct ib_wc *wc);

static void quiet_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ub_rdma_conn *c = container_of(wc->wr_cqe, struct ub_rdma_conn, quiet);

	ub_rdma_wc_bad(c, wc);
}

/* Take the queues away. Nothing is posted any more, no event comes. */
static void conn_queues_free(struct ub_rdma_conn *c)
{
	if (c->qp) {
		rdma_destroy_qp(c->id);
		c->qp = NULL;
		unmap_messages(c, BUFFERS);
	}
	if (c->cq)
		ib_free_cq(c->cq);
	c->cq = NULL;
}

/* ---- the end ---- */

static bool is_dead(struct ub_rdma_conn *c)
{
	return READ_ONCE(c->state) == UB_RDMA_DEAD;
}

static void conn_end(struct work_struct *work)
{
	struct ub_rdma_conn *c = container_of(work, struct ub_rdma_conn, end);
	struct ub_rdma_peer *p = c->peer;

	/* Events that come from now on find it dead. */
	rdma_lock_handler(c->id);
	rdma_unlock_handler(c->id);

	mutex_lock(&p->mutex);
	if (c->qp) {
		rdma_disconnect(c->id);
		ib_drain_qp(c->qp);
	}
	ub_rdma_reqs_end(c);
	conn_queues_free(c);
	spin_lock_bh(&p->lock);
	if (p->conn == c)
		p->conn = NULL;
	spin_unlock_bh(&p->lock);
	mutex_unlock(&p->mutex);

	rdma_destroy_id(c->id);
	ub_rdma_peer_call(p, !c->opened);
	ub_rdma_conn_put(c);
}

/**
 * ub_rdma_conn_close() - begin to end a connection
 * @c: the connection, which has an id
 *
 * Context: any but hard interrupts.
 */
void ub_rdma_conn_close(struct ub_rdma_conn *c)
{
	bool first;

	spin_lock_bh(&c->lock);
	first = c->state != UB_RDMA_DEAD;
	WRITE_ONCE(c->state, UB_RDMA_DEAD);
	spin_unlock_bh(&c->lock);
	if (!first)
		return;
	wake_up_all(&c->wq);
	queue_work(c->peer->r->wq, &c->end);
}

/* ---- the beginning ---- */

/**
 * ub_rdma_conn_alloc() - a connection that has no id and no queues
 * @p: the peer
 *
 * Context: process.
 * Return: the connection, or NULL.
 */
struct ub_rdma_conn *ub_rdma_conn_alloc(struct ub_rdma_peer *p)
{
	struct ub_rdma_conn *c = kvzalloc(sizeof(*c), GFP_KERNEL);
	u32 i;

	if (!c)
		return NULL;
	kref_init(&c->ref);
	c->peer = p;
	atomic_inc(&p->r->conns);	/* not shared */
	spin_lock_init(&c->lock);
	init_waitqueue_head(&c->wq);
	INIT_LIST_HEAD(&c->sends);
	INIT_LIST_HEAD(&c->ops);
	INIT_WORK(&c->end, conn_end);
	INIT_WORK(&c->sync, ub_rdma_sync);
	c->quiet.done = quiet_done;
	c->wrs = UB_RDMA_IO_WRS;
	for (i = 0; i < UB_RDMA_IOS; i++) {
		c->op[i].conn = c;
		c->op[i].cqe.done = op_done;
		list_add_tail(&c->op[i].node, &c->ops);
	}
	c->buffer = alloc_pages_exact(BUFFER_BYTES, GFP_KERNEL | __GFP_ZERO);
	for (i = 0; c->buffer && i < UB_RDMA_SENDS; i++) {
		c->send[i].conn = c;
		c->send[i].msg = c->buffer + i;
		c->send[i].cqe.done = ub_rdma_sent;
		list_add_tail(&c->send[i].node, &c->sends);
	}
	c->nsends = UB_RDMA_SENDS;
	for (i = 0; c->buffer && i < UB_RDMA_RECVS; i++) {
		c->recv[i].msg = c->buffer + UB_RDMA_SENDS + i;
		c->recv[i].cqe.done = received;
	}
	if (c->buffer)
		return c;
	ub_rdma_conn_put(c);
	return NULL;
}

static int post_recv(struct ub_rdma_conn *c, struct ub_rdma_recv *recv)
{
	struct ib_sge sge = {
		.addr = recv->dma,
		.length = UB_RDMA_MSG_BYTES,
		.lkey = c->peer->r->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &recv->cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ib_post_recv(c->qp, &wr, NULL);
}

static void received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ub_rdma_recv *recv = container_of(wc->wr_cqe, struct ub_rdma_recv, cqe);
	struct ub_rdma_conn *c = cq->cq_context;
	struct ib_device *dev = c->peer->r->dev;

	if (ub_rdma_wc_bad(c, wc))
		return;
	ib_dma_sync_single_for_cpu(dev, recv->dma, UB_RDMA_MSG_BYTES,
				   DMA_FROM_DEVICE);
	if (wc->byte_len != UB_RDMA_MSG_BYTES) {
		dev_warn_ratelimited(&c->peer->r->f->dev,
				     "node %u sent a message of %u bytes\n",
				     c->peer->node, wc->byte_len);
		ub_rdma_conn_close(c);
		return;
	}
	WRITE_ONCE(c->heard, jiffies);
	/* Whoever hangs up may have said that it leaves. */
	if (!is_dead(c) || recv->msg->type == cpu_to_le16(UB_RDMA_LEAVE))
		ub_rdma_received(c, recv->msg);
	if (is_dead(c))
		return;
	ib_dma_sync_single_for_device(dev, recv->dma, UB_RDMA_MSG_BYTES,
				      DMA_FROM_DEVICE);
	if (post_recv(c, recv))
		ub_rdma_conn_close(c);
}

/**
 * ub_rdma_conn_queues() - give a connection its queues, ready to receive
 * @c: the connection; its id has a device
 *
 * Context: process.
 * Return: 0 or -errno, and there are none.
 */
int ub_rdma_conn_queues(struct ub_rdma_conn *c)
{
	struct ub_rdma *r = c->peer->r;
	struct ib_qp_init_attr attr = {
		.cap = {
			.max_send_wr = SEND_WRS,
			.max_recv_wr = RECV_WRS,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
	};
	u32 i;
	int err;

	c->cq = ib_alloc_cq_any(r->dev, c, SEND_WRS + RECV_WRS, IB_POLL_SOFTIRQ);
	if (IS_ERR(c->cq)) {
		err = PTR_ERR(c->cq);
		c->cq = NULL;
		return err;
	}
	attr.send_cq = c->cq;
	attr.recv_cq = c->cq;
	err = map_messages(c);
	if (err)
		goto cq;
	err = rdma_create_qp(c->id, r->pd, &attr);
	c->qp = c->id->qp;
	if (err) {
		c->qp = NULL;
		goto unmap;
	}
	for (i = 0; i < UB_RDMA_RECVS && !err; i++)
		err = post_recv(c, &c->recv[i]);
	if (!err)
		return 0;
	ib_drain_qp(c->qp);
	conn_queues_free(c);
	return err;
unmap:
	unmap_messages(c, BUFFERS);
cq:
	ib_free_cq(c->cq);
	c->cq = NULL;
	return err;
}

/**
 * ub_rdma_conn_open() - both sides have agreed: use it
 * @c: the connection
 *
 * Context: process.
 */
void ub_rdma_conn_open(struct ub_rdma_conn *c)
{
	spin_lock_bh(&c->lock);
	if (c->state == UB_RDMA_CALLING) {
		WRITE_ONCE(c->state, UB_RDMA_OPEN);
		c->opened = true;
		WRITE_ONCE(c->heard, jiffies);
		kref_get(&c->ref);	/* of the work */
		if (!queue_work(c->peer->r->wq, &c->sync))
			WARN_ON_ONCE(1);
		mod_delayed_work(c->peer->r->wq, &c->peer->tell, 0);
	}
	spin_unlock_bh(&c->lock);
}

/* ---- posting ---- */

/**
 * ub_rdma_post() - post work requests
 * @c: the connection
 * @wr: they; there is room for them
 *
 * Context: any but hard interrupts.
 * Return: 0, -ENOTCONN: nothing was posted, or -errno: the connection ends, and
 *	what was posted of them will be completed.
 */
int ub_rdma_post(struct ub_rdma_conn *c, const struct ib_send_wr *wr)
{
	int err = -ENOTCONN;

	spin_lock_bh(&c->lock);
	if (c->state == UB_RDMA_OPEN)
		err = ib_post_send(c->qp, wr, NULL);
	spin_unlock_bh(&c->lock);
	if (err && err != -ENOTCONN)
		ub_rdma_conn_close(c);
	return err;
}

static struct ub_rdma_op *op_try(struct ub_rdma_conn *c, u32 wrs)
{
	struct ub_rdma_op *op = NULL;

	spin_lock_bh(&c->lock);
	if (c->state == UB_RDMA_OPEN && c->wrs >= wrs) {
		op = list_first_entry_or_null(&c->ops, struct ub_rdma_op, node);
		if (op) {
			list_del_init(&op->node);
			op->wrs = wrs;
			op->dir = DMA_NONE;
			c->wrs -= wrs;
		}
	}
	spin_unlock_bh(&c->lock);
	return op;
}

/**
 * ub_rdma_op_get() - room for an operation
 * @c: the connection
 * @wrs: work requests that it takes
 *
 * Context: process; sleeps until others are over, or the connection is.
 * Return: the operation, or NULL.
 */
struct ub_rdma_op *ub_rdma_op_get(struct ub_rdma_conn *c, u32 wrs)
{
	struct ub_rdma_op *op = NULL;

	wait_event(c->wq, READ_ONCE(c->state) != UB_RDMA_OPEN ||
		   (op = op_try(c, wrs)));
	return op;
}

/**
 * ub_rdma_op_put() - an operation is over, or was not begun
 * @op: the operation
 *
 * Context: any but hard interrupts.
 */
void ub_rdma_op_put(struct ub_rdma_op *op)
{
	struct ub_rdma_conn *c = op->conn;

	if (op->dir != DMA_NONE)
		ib_dma_unmap_single(c->peer->r->dev, op->dma, PAGE_SIZE, op->dir);
	spin_lock_bh(&c->lock);
	op->io = NULL;
	c->wrs += op->wrs;
	list_add_tail(&op->node, &c->ops);
	spin_unlock_bh(&c->lock);
	wake_up_all(&c->wq);
}

static void op_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ub_rdma_op *op = container_of(wc->wr_cqe, struct ub_rdma_op, cqe);
	struct ub_io *io = op->io;
	bool bad = ub_rdma_wc_bad(op->conn, wc);

	ub_rdma_op_put(op);
	ub_io_done(io, bad ? -EHOSTUNREACH : 0);
}
