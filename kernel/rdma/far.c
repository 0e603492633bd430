// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows of peers: attaching them, operations on their memory.
 *
 * Invariants:
 *  - A window is operated on only with a connection to the life of its home that
 *    was attached, and only after that connection is synced: what changed while
 *    there was none has been asked for.
 *  - An operation on a generation that this node knows to be over is refused
 *    here; the home's keys refuse those that it does not know of yet.
 *  - An operation's last work request ends it, when the device has let go of
 *    the page.
 */
#include <linux/delay.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "rdma.h"

/* ---- the table of windows ---- */

/**
 * ub_rdma_far_forget() - nothing of a peer is attached any more
 * @p: the peer; its mutex is held
 *
 * Context: process.
 */
void ub_rdma_far_forget(struct ub_rdma_peer *p)
{
	struct ub_rdma_far *far;
	unsigned long id;

	lockdep_assert_held(&p->mutex);
	spin_lock_bh(&p->lock);
	xa_for_each(&p->far, id, far) {
		xa_erase_bh(&p->far, id);
		kvfree(far);
	}
	spin_unlock_bh(&p->lock);
}

/* Keep what was attached, unless better is there. Takes @far. */
static int far_keep(struct ub_rdma_conn *c, u32 id, struct ub_rdma_far *far)
{
	struct ub_rdma_peer *p = c->peer;
	struct ub_rdma_far *old;
	int err = xa_reserve_bh(&p->far, id, GFP_KERNEL);

	if (err) {
		kvfree(far);
		return err;
	}
	spin_lock_bh(&p->lock);
	old = xa_load(&p->far, id);
	/* Another life of the home has other windows. */
	if (p->conn != c)
		err = -EAGAIN;
	else if (old && old->generation == far->generation && old->write)
		err = 1;
	else
		old = xa_store_bh(&p->far, id, far, GFP_ATOMIC);
	if (!err)
		ub_st(&ub_shm_win(p->r->f, p->index, id)->generation,
		      far->generation);
	spin_unlock_bh(&p->lock);
	kvfree(err ? far : old);
	return min(err, 0);
}

/* ---- attaching ---- */

static int attach_once(struct ub_rdma_conn *c, const struct ub_win_attach *arg)
{
	const struct ub_win_desc *d = &arg->desc;
	u32 chunks = DIV_ROUND_UP(d->length, UB_RDMA_CHUNK);
	struct ub_rdma_msg msg = {
		.type = cpu_to_le16(UB_RDMA_ATTACH),
		.attach = {
			.generation = cpu_to_le64(d->generation),
			.incarnation = cpu_to_le64(d->incarnation),
			.gva = cpu_to_le64(d->gva),
			.length = cpu_to_le64(d->length),
			.token = { cpu_to_le64(arg->token[0]),
				   cpu_to_le64(arg->token[1]) },
			.window = cpu_to_le32(d->window),
			.desc_rights = cpu_to_le32(d->rights),
			.rights = cpu_to_le32(arg->rights),
		},
	};
	struct ub_rdma_req req = { .type = UB_RDMA_ATTACHED };
	struct ub_rdma_far *far;
	int err;

	far = kvzalloc(struct_size(far, key, chunks), GFP_KERNEL_ACCOUNT);
	if (!far)
		return -ENOMEM;
	far->generation = d->generation;
	far->gva = d->gva;
	far->length = d->length;
	far->chunks = chunks;
	req.attach = far;
	err = ub_rdma_ask(c, &msg, &req);
	memzero_explicit(&msg, sizeof(msg));
	if (!err)
		return far_keep(c, d->window, far);
	kvfree(far);
	return err;
}

/* What an attach that did not succeed ends with, and whether it is tried again. */
static bool attach_again(int err)
{
	return err == -ENOTCONN || err == -EAGAIN;
}

/**
 * ub_rdma_attach() - ub_transport_ops.attach
 * @f: the fabric
 * @home: record index of the home, which was alive
 * @arg: the request
 *
 * Context: process; no locks; bounded.
 * Return: 0; what the home says; -EOWNERDEAD the home is dead, or cannot be
 *	reached; -EINTR when killed.
 */
int ub_rdma_attach(struct ub_fabric *f, u32 home, const struct ub_win_attach *arg)
{
	struct ub_rdma_peer *p = ub_rdma_at(f->priv, home);
	ktime_t end = ktime_add_ms(ktime_get(), 2 * READ_ONCE(f->detect_ms));
	int err;

	if (!p || !arg->desc.length ||
	    arg->desc.length > (u64)UB_RDMA_CHUNK * U16_MAX)
		return -ENOENT;
	for (;;) {
		struct ub_rdma_conn *c = ub_rdma_conn_of(p);

		err = -ENOTCONN;
		if (c && c->incarnation == arg->desc.incarnation)
			err = attach_once(c, arg);
		if (c)
			ub_rdma_conn_put(c);
		if (!attach_again(err))
			break;
		if (!ub_member_alive(f, home, arg->desc.incarnation) ||
		    ktime_after(ktime_get(), end))
			return -EOWNERDEAD;
		if (fatal_signal_pending(current))
			return -EINTR;
		msleep(20);
	}
	switch (err) {
	case 0:
	case -ENOENT:
	case -ESTALE:
	case -EACCES:
	case -ENOMEM:
	case -EOWNERDEAD:
		return err;
	default:
		return -EOWNERDEAD;
	}
}

/**
 * ub_rdma_attached() - a home has admitted this node, or not
 * @c: the connection
 * @msg: the answer, or a part of it
 *
 * Context: softirq.
 */
void ub_rdma_attached(struct ub_rdma_conn *c, const struct ub_rdma_msg *msg)
{
	const struct ub_rdma_attached *a = &msg->attached;
	u32 tag = le16_to_cpu(msg->tag), first = le16_to_cpu(a->first);
	u32 n = le16_to_cpu(a->n), chunks = le16_to_cpu(a->chunks), i;
	int status = (int)le32_to_cpu(a->status);
	struct ub_rdma_far *far;
	bool end = true;

	if (tag >= UB_RDMA_TAGS)
		return;
	if (status > 0 || status < -MAX_ERRNO)
		status = -EPROTO;
	spin_lock_bh(&c->lock);
	far = c->req[tag].busy && c->req[tag].type == UB_RDMA_ATTACHED ?
	      c->req[tag].attach : NULL;
	if (!far) {
		end = false;
	} else if (!status && (chunks != far->chunks || first != far->got ||
			       !n || n > UB_RDMA_KEYS || n > chunks - first)) {
		status = -EPROTO;
	} else if (!status) {
		for (i = 0; i < n; i++)
			far->key[first + i] = le32_to_cpu(a->key[i]);
		far->got += n;
		far->write = !!a->write;
		end = far->got == chunks;
	}
	spin_unlock_bh(&c->lock);
	if (end)
		ub_rdma_req_end(c, tag, status, 0);
}

/* ---- what changes ---- */

/**
 * ub_rdma_window() - a window of a peer has got a generation
 * @c: the connection
 * @msg: the news, or an answer
 *
 * Context: softirq.
 */
void ub_rdma_window(struct ub_rdma_conn *c, const struct ub_rdma_msg *msg)
{
	u64 generation = le64_to_cpu(msg->window.generation);
	u32 id = le32_to_cpu(msg->window.window), tag = le16_to_cpu(msg->tag);
	struct ub_rdma_peer *p = c->peer;
	struct ub_fabric *f = p->r->f;
	struct ub_rdma_far *far = NULL;
	bool asked = false, changed = false;

	if (id >= f->geo.max_wins)
		return;
	spin_lock_bh(&p->lock);
	if (p->conn == c) {
		far = xa_load(&p->far, id);
		changed = far && far->generation != generation;
		if (changed) {
			xa_erase_bh(&p->far, id);
			ub_st(&ub_shm_win(f, p->index, id)->generation, generation);
		}
	}
	spin_unlock_bh(&p->lock);
	if (changed) {
		kvfree(far);
		/* The tick revokes what is mapped of it. */
		ub_swap(&ub_shm_node_rec(f, f->self)->poke, 1ULL);
		ub_fabric_bell(f);
	}
	if (tag >= UB_RDMA_TAGS)
		return;
	spin_lock_bh(&c->lock);
	asked = c->req[tag].busy && c->req[tag].type == UB_RDMA_WINDOW &&
		c->req[tag].window == id;
	spin_unlock_bh(&c->lock);
	if (asked)
		ub_rdma_req_end(c, tag, 0, 0);
}

/* The next window that is attached, from an id on; false when there is none. */
static bool far_next(struct ub_rdma_peer *p, unsigned long *id)
{
	bool found;

	spin_lock_bh(&p->lock);
	found = xa_find(&p->far, id, ULONG_MAX, XA_PRESENT);
	spin_unlock_bh(&p->lock);
	return found;
}

/**
 * ub_rdma_sync() - learn what has changed while there was no connection
 * @work: ub_rdma_conn.sync
 *
 * Context: work queue.
 */
void ub_rdma_sync(struct work_struct *work)
{
	struct ub_rdma_conn *c = container_of(work, struct ub_rdma_conn, sync);
	unsigned long id;
	int err = 0;

	for (id = 0; !err && far_next(c->peer, &id); id++) {
		struct ub_rdma_msg msg = {
			.type = cpu_to_le16(UB_RDMA_CHECK),
			.window.window = cpu_to_le32(id),
		};
		struct ub_rdma_req req = {
			.type = UB_RDMA_WINDOW,
			.window = id,
		};

		err = ub_rdma_ask(c, &msg, &req);
	}
	if (err)
		ub_rdma_conn_close(c);
	else
		smp_store_release(&c->synced, true);	/* not shared */
	ub_rdma_conn_put(c);
}

/* ---- operations ---- */

/* The key for an address, if the window is attached as @at says. */
static int far_key(struct ub_rdma_peer *p, const struct ub_place *at, u64 gva,
		   bool write, u32 *key)
{
	struct ub_rdma_far *far;
	int err = -ESTALE;

	spin_lock_bh(&p->lock);
	far = xa_load(&p->far, at->window);
	if (far && far->generation == at->generation && far->gva == at->gva) {
		u64 chunk = (gva - far->gva) / UB_RDMA_CHUNK;

		if (gva < far->gva || chunk >= far->chunks)
			err = -EOVERFLOW;
		else if (write && !far->write)
			err = -EACCES;
		else
			err = 0;
		if (!err)
			*key = far->key[chunk];
	}
	spin_unlock_bh(&p->lock);
	return err;
}

static int submit_copy(struct ub_rdma_conn *c, struct ub_io *io)
{
	struct ub_rdma *r = c->peer->r;
	bool write = io->op == UB_IO_WRITE;
	struct ub_rdma_op *op;
	u32 key, i;
	int err;

	err = far_key(c->peer, &io->at, io->gva, write, &key);
	if (err)
		return err;
	op = ub_rdma_op_get(c, io->nruns);
	if (!op)
		return -EHOSTUNREACH;
	op->dma = ib_dma_map_single(r->dev, io->buf, PAGE_SIZE,
				    write ? DMA_TO_DEVICE : DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(r->dev, op->dma)) {
		ub_rdma_op_put(op);
		return -ENOMEM;
	}
	op->dir = write ? DMA_TO_DEVICE : DMA_BIDIRECTIONAL;
	op->io = io;
	for (i = 0; i < io->nruns; i++) {
		bool last = i == io->nruns - 1;

		op->sge[i] = (struct ib_sge){
			.addr = op->dma + io->run[i].off,
			.length = io->run[i].len,
			.lkey = r->pd->local_dma_lkey,
		};
		op->wr[i] = (struct ib_rdma_wr){
			.wr = {
				.next = last ? NULL : &op->wr[i + 1].wr,
				.wr_cqe = last ? &op->cqe : &c->quiet,
				.sg_list = &op->sge[i],
				.num_sge = 1,
				.opcode = write ? IB_WR_RDMA_WRITE : IB_WR_RDMA_READ,
				.send_flags = last ? IB_SEND_SIGNALED : 0,
			},
			.remote_addr = io->gva + io->run[i].off,
			.rkey = key,
		};
	}
	err = ub_rdma_post(c, &op->wr[0].wr);
	if (err) {
		ub_rdma_op_put(op);
		return -EHOSTUNREACH;
	}
	return 0;
}

static int submit_atomic(struct ub_rdma_conn *c, struct ub_io *io)
{
	struct ub_rdma_msg msg = {
		.type = cpu_to_le16(UB_RDMA_ATOMIC),
		.atomic = {
			.generation = cpu_to_le64(io->at.generation),
			.gva = cpu_to_le64(io->atomic.gva),
			.operand = cpu_to_le64(io->atomic.operand),
			.compare = cpu_to_le64(io->atomic.compare),
			.window = cpu_to_le32(io->at.window),
			.op = cpu_to_le32(io->atomic.op),
			.length = cpu_to_le32(io->atomic.length),
		},
	};
	const struct ub_rdma_req req = { .type = UB_RDMA_DONE, .io = io };
	int tag = ub_rdma_request(c, &msg, &req);

	return tag >= 0 || tag == -EALREADY ? 0 : -EHOSTUNREACH;
}

/**
 * ub_rdma_submit() - ub_transport_ops.submit
 * @f: the fabric
 * @io: the operation
 *
 * Context: process.
 */
void ub_rdma_submit(struct ub_fabric *f, struct ub_io *io)
{
	struct ub_rdma_peer *p = ub_rdma_at(f->priv, io->at.home);
	int err = ub_fabric_enter_now(f);
	struct ub_rdma_conn *c = NULL;

	if (!err) {
		if (!p || !ub_member_alive(f, io->at.home, io->at.incarnation))
			err = -EOWNERDEAD;
		ub_fabric_exit(f);
	}
	if (!err)
		c = ub_rdma_conn_of(p);
	if (!err && (!c || c->incarnation != io->at.incarnation ||
		     !smp_load_acquire(&c->synced)))	/* not shared */
		err = -EHOSTUNREACH;
	if (!err)
		err = io->op == UB_IO_ATOMIC ? submit_atomic(c, io) :
					       submit_copy(c, io);
	if (c)
		ub_rdma_conn_put(c);
	if (err)
		ub_io_done(io, err);
}

/* Is an operation under way on a connection? */
static bool is_on(struct ub_rdma_conn *c, const struct ub_io *io)
{
	bool found = false;
	u32 i;

	spin_lock_bh(&c->lock);
	for (i = 0; i < UB_RDMA_IOS && !found; i++)
		found = c->op[i].io == io;
	for (i = 0; i < UB_RDMA_TAGS && !found; i++)
		found = c->req[i].busy && c->req[i].io == io;
	spin_unlock_bh(&c->lock);
	return found;
}

/**
 * ub_rdma_cancel() - ub_transport_ops.cancel
 * @f: the fabric
 * @io: the operation
 *
 * A device lets go of a page when the queues end: so the connection goes.
 *
 * Context: process.
 */
void ub_rdma_cancel(struct ub_fabric *f, struct ub_io *io)
{
	struct ub_rdma_peer *p = ub_rdma_at(f->priv, io->at.home);
	struct ub_rdma_conn *c = p ? ub_rdma_conn_of(p) : NULL;

	if (!c)
		return;
	if (is_on(c, io))
		ub_rdma_conn_close(c);
	ub_rdma_conn_put(c);
}
