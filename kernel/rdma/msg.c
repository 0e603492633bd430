// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages: sending, requests and their answers, what is received. See proto.h.
 *
 * Invariants:
 *  - A message that came is taken apart field by field, each once, and nothing of
 *    it is believed.
 *  - Of the room for messages UB_RDMA_TAGS are for answers: a peer has no more
 *    requests under way, so an honest one always gets its answer.
 *  - A request ends once: by its answer, by who gave up waiting, or with the
 *    connection.
 */
#include <linux/slab.h>
#include "rdma.h"

/* ---- sending ---- */

/**
 * ub_rdma_sent() - a message has gone, or its connection has
 * @cq: of the connection
 * @wc: the completion
 *
 * Context: softirq.
 */
void ub_rdma_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ub_rdma_send *s = container_of(wc->wr_cqe, struct ub_rdma_send, cqe);
	struct ub_rdma_conn *c = s->conn;

	spin_lock_bh(&c->lock);
	list_add_tail(&s->node, &c->sends);
	c->nsends++;
	spin_unlock_bh(&c->lock);
	ub_rdma_wc_bad(c, wc);
	wake_up_all(&c->wq);
}

static int post_message(struct ub_rdma_conn *c, struct ub_rdma_send *s)
{
	struct ib_sge sge = {
		.addr = s->dma,
		.length = UB_RDMA_MSG_BYTES,
		.lkey = c->peer->r->pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.wr_cqe = &s->cqe,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};

	lockdep_assert_held(&c->lock);
	ib_dma_sync_single_for_device(c->peer->r->dev, s->dma, UB_RDMA_MSG_BYTES,
				      DMA_TO_DEVICE);
	return ib_post_send(c->qp, &wr, NULL);
}

/**
 * ub_rdma_send() - send a message
 * @c: the connection
 * @msg: the message
 * @answer: to a request
 *
 * Context: any but hard interrupts.
 * Return: 0; -EAGAIN no room now; -ENOTCONN.
 */
int ub_rdma_send(struct ub_rdma_conn *c, const struct ub_rdma_msg *msg, bool answer)
{
	struct ub_rdma_send *s;
	int err = -ENOTCONN;

	spin_lock_bh(&c->lock);
	if (c->state != UB_RDMA_OPEN)
		goto unlock;
	err = -EAGAIN;
	if (c->nsends <= (answer ? 0 : UB_RDMA_TAGS))
		goto unlock;
	s = list_first_entry(&c->sends, struct ub_rdma_send, node);
	*s->msg = *msg;
	err = post_message(c, s);
	if (!err) {
		list_del_init(&s->node);
		c->nsends--;
	}
unlock:
	spin_unlock_bh(&c->lock);
	if (err && err != -EAGAIN && err != -ENOTCONN) {
		ub_rdma_conn_close(c);
		err = -ENOTCONN;
	}
	return err;
}

/* Until there may be room for what could not be sent, or it is too late. */
static bool wait_room(struct ub_rdma_conn *c, unsigned long end)
{
	long left = end - jiffies;

	if (left <= 0)
		return false;
	/* Somebody else may have taken it: look again soon in any case. */
	wait_event_timeout(c->wq, READ_ONCE(c->nsends) > UB_RDMA_TAGS ||
			   READ_ONCE(c->state) != UB_RDMA_OPEN, min(left, 2L));
	return true;
}

static unsigned long give_up_at(const struct ub_rdma_conn *c)
{
	return jiffies + msecs_to_jiffies(READ_ONCE(c->peer->r->f->detect_ms)) + 1;
}

/**
 * ub_rdma_send_wait() - send an answer, when there is room
 * @c: the connection
 * @msg: the message
 *
 * Context: process, for the detection time at most.
 * Return: 0; -ETIMEDOUT; -ENOTCONN.
 */
int ub_rdma_send_wait(struct ub_rdma_conn *c, const struct ub_rdma_msg *msg)
{
	unsigned long end = give_up_at(c);
	int err;

	while ((err = ub_rdma_send(c, msg, true)) == -EAGAIN)
		if (!wait_room(c, end))
			return -ETIMEDOUT;
	return err;
}

/* ---- requests ---- */

static int take_tag(struct ub_rdma_conn *c, const struct ub_rdma_req *req)
{
	int tag;

	spin_lock_bh(&c->lock);
	for (tag = 0; tag < UB_RDMA_TAGS && c->req[tag].busy; tag++)
		;
	if (c->state != UB_RDMA_OPEN) {
		tag = -ENOTCONN;
	} else if (tag == UB_RDMA_TAGS) {
		tag = -EAGAIN;
	} else {
		c->req[tag] = *req;
		c->req[tag].busy = true;
	}
	spin_unlock_bh(&c->lock);
	return tag;
}

/* Give a tag back, unless the request has ended. */
static bool drop_tag(struct ub_rdma_conn *c, u32 tag, const struct ub_rdma_req *req)
{
	bool ours;

	spin_lock_bh(&c->lock);
	ours = c->req[tag].busy && c->req[tag].io == req->io &&
	       c->req[tag].done == req->done;
	if (ours)
		c->req[tag].busy = false;
	spin_unlock_bh(&c->lock);
	wake_up_all(&c->wq);
	return ours;
}

/**
 * ub_rdma_request() - send a request
 * @c: the connection
 * @msg: the message; gets the tag
 * @req: who waits
 *
 * Context: process, for the detection time at most.
 * Return: the tag, or -errno and the request did not begin; -EALREADY when it
 *	was ended, with the connection, by ub_rdma_req_end().
 */
int ub_rdma_request(struct ub_rdma_conn *c, struct ub_rdma_msg *msg,
		    const struct ub_rdma_req *req)
{
	unsigned long end = give_up_at(c);
	int tag, err;

	for (;;) {
		tag = take_tag(c, req);
		err = tag;
		if (tag >= 0) {
			msg->tag = cpu_to_le16(tag);
			err = ub_rdma_send(c, msg, false);
			if (!err)
				return tag;
			if (!drop_tag(c, tag, req))
				return -EALREADY;
		}
		if (err != -EAGAIN)
			return err;
		if (!wait_room(c, end))
			return -ETIMEDOUT;
	}
}

/**
 * ub_rdma_ask() - send a request and wait for its answer
 * @c: the connection
 * @msg: the message; gets the tag
 * @req: what kind of answer
 *
 * Context: process, for twice the detection time at most.
 * Return: 0 or what was answered; -ENOTCONN, -ETIMEDOUT.
 */
int ub_rdma_ask(struct ub_rdma_conn *c, struct ub_rdma_msg *msg,
		struct ub_rdma_req *req)
{
	DECLARE_COMPLETION_ONSTACK(done);
	int status = -ENOTCONN, tag;

	req->done = &done;
	req->status = &status;
	tag = ub_rdma_request(c, msg, req);
	if (tag == -EALREADY)
		return status;
	if (tag < 0)
		return tag;
	if (!wait_for_completion_timeout(&done, give_up_at(c) - jiffies) &&
	    drop_tag(c, tag, req))
		return -ETIMEDOUT;
	return status;
}

/**
 * ub_rdma_req_end() - a request has its answer
 * @c: the connection
 * @tag: of the request
 * @status: 0 or -errno
 * @result: of an atomic
 *
 * Context: any but hard interrupts.
 */
void ub_rdma_req_end(struct ub_rdma_conn *c, u32 tag, int status, u64 result)
{
	struct ub_io *io = NULL;

	spin_lock_bh(&c->lock);
	if (c->req[tag].busy) {
		struct ub_rdma_req *req = &c->req[tag];

		req->busy = false;
		io = req->io;
		if (!io) {
			/* Under the lock: who waits may give up at any time. */
			*req->status = status;
			complete(req->done);
		}
	}
	spin_unlock_bh(&c->lock);
	if (io) {
		io->result = result;
		ub_io_done(io, status);
	}
	wake_up_all(&c->wq);
}

/**
 * ub_rdma_reqs_end() - no answer comes any more
 * @c: the connection, dead and drained
 *
 * What became of an atomic nobody knows: it must not be tried again.
 *
 * Context: process.
 */
void ub_rdma_reqs_end(struct ub_rdma_conn *c)
{
	u32 tag;

	for (tag = 0; tag < UB_RDMA_TAGS; tag++)
		ub_rdma_req_end(c, tag, c->req[tag].io ? -ETIMEDOUT : -ENOTCONN, 0);
}

/* ---- receiving ---- */

/* A message that needs a process. */
struct later {
	struct work_struct work;
	struct ub_rdma_conn *conn;
	struct ub_rdma_msg msg;
};

static void later_work(struct work_struct *work)
{
	struct later *l = container_of(work, struct later, work);
	struct ub_rdma_conn *c = l->conn;
	struct ub_rdma_peer *p = c->peer;

	switch (le16_to_cpu(l->msg.type)) {
	case UB_RDMA_ATTACH:
		ub_rdma_attach_asked(c, &l->msg);
		break;
	case UB_RDMA_LEAVE:
		mutex_lock(&p->mutex);
		ub_rdma_peer_left(p, c->incarnation);
		mutex_unlock(&p->mutex);
		ub_rdma_conn_close(c);
		break;
	}
	spin_lock_bh(&c->lock);
	c->works--;
	spin_unlock_bh(&c->lock);
	kfree_sensitive(l);	/* a token */
	ub_rdma_conn_put(c);
}

/* A peer that asks for more than its tags allow is not answered. */
static void later(struct ub_rdma_conn *c, const struct ub_rdma_msg *msg)
{
	struct later *l;
	bool room;

	spin_lock_bh(&c->lock);
	room = c->works < UB_RDMA_WORKS;
	c->works += room;
	spin_unlock_bh(&c->lock);
	l = room ? kmalloc(sizeof(*l), GFP_ATOMIC) : NULL;
	if (!l) {
		spin_lock_bh(&c->lock);
		c->works -= room;
		spin_unlock_bh(&c->lock);
		return;
	}
	INIT_WORK(&l->work, later_work);
	l->conn = c;
	l->msg = *msg;
	kref_get(&c->ref);
	queue_work(c->peer->r->wq, &l->work);
}

static void done(struct ub_rdma_conn *c, const struct ub_rdma_msg *msg)
{
	u32 tag = le16_to_cpu(msg->tag);
	int status = (int)le32_to_cpu(msg->done.status);
	bool expected;

	if (tag >= UB_RDMA_TAGS)
		return;
	spin_lock_bh(&c->lock);
	expected = c->req[tag].busy && c->req[tag].type == UB_RDMA_DONE;
	spin_unlock_bh(&c->lock);
	if (status > 0 || status < -MAX_ERRNO)
		status = -EPROTO;
	if (expected)
		ub_rdma_req_end(c, tag, status, le64_to_cpu(msg->done.result));
}

static void poked(struct ub_rdma *r)
{
	ub_swap(&ub_shm_node_rec(r->f, r->f->self)->poke, 1ULL);
	ub_fabric_bell(r->f);
}

/**
 * ub_rdma_received() - a message came
 * @c: the connection
 * @msg: the message, the device's own copy
 *
 * Context: softirq.
 */
void ub_rdma_received(struct ub_rdma_conn *c, const struct ub_rdma_msg *msg)
{
	u32 type = le16_to_cpu(msg->type);

	ub_rdma_peer_seen(c->peer);
	switch (type) {
	case UB_RDMA_BEAT:
		break;
	case UB_RDMA_POKE:
		poked(c->peer->r);
		break;
	case UB_RDMA_LEAVE:
		c->leaving = true;
		later(c, msg);
		break;
	case UB_RDMA_ATTACH:
		later(c, msg);
		break;
	case UB_RDMA_ATTACHED:
		ub_rdma_attached(c, msg);
		break;
	case UB_RDMA_CHECK:
		ub_rdma_check_asked(c, msg);
		break;
	case UB_RDMA_WINDOW:
		ub_rdma_window(c, msg);
		break;
	case UB_RDMA_ATOMIC:
		ub_rdma_atomic_asked(c, msg);
		break;
	case UB_RDMA_DONE:
		done(c, msg);
		break;
	case UB_RDMA_MEMBER:
		ub_rdma_member(c, msg);
		break;
	case UB_RDMA_REFUSED:
		ub_rdma_refused(c, msg);
		break;
	default:
		dev_warn_ratelimited(&c->peer->r->f->dev,
				     "node %u sent a message of unknown type %u\n",
				     c->peer->node, type);
		ub_rdma_conn_close(c);
	}
}
