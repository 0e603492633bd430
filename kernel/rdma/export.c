// SPDX-License-Identifier: GPL-2.0-only
/*
 * Own windows: keys for peers that attach them, atomics on their words.
 *
 * A window's memory is registered when the first peer attaches it, a region and
 * a key for each chunk, and once more when the first attaches it for writing:
 * who may only read gets keys that can only read. The addresses of the regions
 * are global addresses.
 *
 * Invariants:
 *  - Regions are made, and taken away, with export_mutex held, and the window's
 *    record is looked at under it: who changes the record takes it, too, and
 *    when it has it no key of the former generation is good any more.
 *  - All atomics on a word of a window are done by its home's kernel, whoever
 *    asks for them, so they are atomic against each other in both widths.
 */
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "rdma.h"

/* ---- registering ---- */

struct reg {
	struct ib_cqe cqe;
	struct completion done;
	enum ib_wc_status status;
};

static void reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct reg *reg = container_of(wc->wr_cqe, struct reg, cqe);

	ub_rdma_wc_bad(cq->cq_context, wc);
	reg->status = wc->status;
	complete(&reg->done);
}

/* Have the device know a region; over any connection, since keys are for all. */
static int reg_post(struct ub_rdma_conn *c, struct ib_mr *mr, int access)
{
	struct reg reg = { .cqe.done = reg_done };
	struct ib_reg_wr wr = {
		.wr = {
			.wr_cqe = &reg.cqe,
			.opcode = IB_WR_REG_MR,
			.send_flags = IB_SEND_SIGNALED,
		},
		.mr = mr,
		.key = mr->rkey,
		.access = access,
	};
	int err;

	init_completion(&reg.done);
	err = ub_rdma_post(c, &wr.wr);
	if (err)
		return err;
	/* At the latest the connection's end completes it. */
	wait_for_completion(&reg.done);
	return reg.status == IB_WC_SUCCESS ? 0 : -EIO;
}

static void chunk_free(struct ub_rdma *r, struct ub_rdma_chunk *chunk)
{
	if (chunk->mr)
		ib_dereg_mr(chunk->mr);
	if (chunk->sgt.nents)
		ib_dma_unmap_sgtable_attrs(r->dev, &chunk->sgt, DMA_BIDIRECTIONAL, 0);
	sg_free_table(&chunk->sgt);
}

static int chunk_make(struct ub_rdma_conn *c, struct ub_rdma_chunk *chunk,
		      void *mem, u64 gva, u32 pages, int access)
{
	struct ub_rdma *r = c->peer->r;
	struct scatterlist *sg;
	int i, err;

	err = sg_alloc_table(&chunk->sgt, pages, GFP_KERNEL);
	if (err)
		return err;
	for_each_sgtable_sg(&chunk->sgt, sg, i)
		sg_set_page(sg, vmalloc_to_page(mem + i * PAGE_SIZE), PAGE_SIZE, 0);
	chunk->sgt.nents = 0;
	err = ib_dma_map_sgtable_attrs(r->dev, &chunk->sgt, DMA_BIDIRECTIONAL, 0);
	if (err) {
		chunk->sgt.nents = 0;
		return err;
	}
	chunk->mr = ib_alloc_mr(r->pd, IB_MR_TYPE_MEM_REG, UB_RDMA_CHUNK_PAGES);
	if (IS_ERR(chunk->mr)) {
		err = PTR_ERR(chunk->mr);
		chunk->mr = NULL;
		return err;
	}
	err = ib_map_mr_sg(chunk->mr, chunk->sgt.sgl, chunk->sgt.nents, NULL, PAGE_SIZE);
	if (err != chunk->sgt.nents)
		return err < 0 ? err : -EINVAL;
	chunk->mr->iova = gva;
	return reg_post(c, chunk->mr, access);
}

static void keys_free(struct ub_rdma *r, struct ub_rdma_keys *keys)
{
	u32 i;

	for (i = 0; keys && i < keys->chunks; i++)
		chunk_free(r, &keys->chunk[i]);
	kvfree(keys);
}

static struct ub_rdma_keys *keys_make(struct ub_rdma_conn *c,
				      const struct ub_rdma_export *e, bool write)
{
	int access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ |
		     (write ? IB_ACCESS_REMOTE_WRITE : 0);
	u32 chunks = DIV_ROUND_UP(e->length, UB_RDMA_CHUNK), i;
	struct ub_rdma_keys *keys;
	int err = 0;

	keys = kvzalloc(struct_size(keys, chunk, chunks), GFP_KERNEL);
	if (!keys)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < chunks && !err; i++) {
		u64 off = (u64)i * UB_RDMA_CHUNK;
		u64 bytes = min_t(u64, PAGE_ALIGN(e->length) - off, UB_RDMA_CHUNK);

		keys->chunks = i + 1;
		err = chunk_make(c, &keys->chunk[i], e->mem + off, e->gva + off,
				 bytes >> PAGE_SHIFT, access);
	}
	if (!err)
		return keys;
	keys_free(c->peer->r, keys);
	return ERR_PTR(err);
}

/* ---- exports ---- */

static struct ub_rdma_export *export_make(struct ub_rdma *r,
					  const struct ub_shm_window *rec)
{
	struct ub_rdma_export *e = kzalloc(sizeof(*e), GFP_KERNEL);
	void *old;

	lockdep_assert_held(&r->export_mutex);
	if (!e)
		return ERR_PTR(-ENOMEM);
	e->generation = rec->generation;
	e->gva = rec->gva;
	e->length = rec->length;
	e->rights = rec->rights;
	e->mem = r->mem + rec->offset;
	/* Allocates with the lock dropped; the mutex keeps others out. */
	old = xa_store_bh(&r->exports, rec->id, e, GFP_KERNEL);
	if (xa_is_err(old)) {
		kfree(e);
		return ERR_PTR(xa_err(old));
	}
	return e;
}

/* Take an export out of the table, so that no atomic finds it, and free it. */
static void export_end(struct ub_rdma *r, u32 id, struct ub_rdma_export *e)
{
	lockdep_assert_held(&r->export_mutex);
	spin_lock_bh(&r->export_lock);
	xa_erase_bh(&r->exports, id);
	spin_unlock_bh(&r->export_lock);
	keys_free(r, e->keys[0]);
	keys_free(r, e->keys[1]);
	kfree(e);
}

/**
 * ub_rdma_tell_window() - ub_transport_ops.tell_window
 * @f: the fabric
 * @id: of the window
 * @generation: that its record has now
 *
 * An access that is under way when its key goes costs the peer its connection,
 * which it makes anew. So peers are told first.
 *
 * Context: process; win_lock is held.
 */
void ub_rdma_tell_window(struct ub_fabric *f, u32 id, u64 generation)
{
	const struct ub_rdma_msg msg = {
		.type = cpu_to_le16(UB_RDMA_WINDOW),
		.tag = cpu_to_le16(UB_RDMA_NO_TAG),
		.window = {
			.generation = cpu_to_le64(generation),
			.window = cpu_to_le32(id),
		},
	};
	struct ub_rdma *r = f->priv;
	struct ub_rdma_export *e;
	u32 i;

	mutex_lock(&r->export_mutex);
	e = xa_load(&r->exports, id);
	if (!e || e->generation == generation) {
		mutex_unlock(&r->export_mutex);
		return;
	}
	for (i = 0; i < r->npeers; i++) {
		struct ub_rdma_conn *c = ub_rdma_conn_of(&r->peer[i]);

		if (!c)
			continue;	/* it asks when it comes back */
		/* Who cannot be told shall come back and ask. */
		if (ub_rdma_send(c, &msg, true))
			ub_rdma_conn_close(c);
		ub_rdma_conn_put(c);
	}
	export_end(r, id, e);
	mutex_unlock(&r->export_mutex);
}

/**
 * ub_rdma_exports_end() - no window of this node is reached any more
 * @r: the fabric
 *
 * Context: process.
 */
void ub_rdma_exports_end(struct ub_rdma *r)
{
	struct ub_rdma_export *e;
	unsigned long id;

	mutex_lock(&r->export_mutex);
	xa_for_each(&r->exports, id, e)
		export_end(r, id, e);
	mutex_unlock(&r->export_mutex);
}

/* ---- attaching ---- */

static struct ub_rdma_keys *admit(struct ub_rdma_conn *c,
				  const struct ub_win_attach *arg, bool write)
{
	struct ub_rdma *r = c->peer->r;
	struct ub_shm_window rec;
	struct ub_rdma_export *e;
	int err;

	lockdep_assert_held(&r->export_mutex);
	if (!READ_ONCE(r->started))
		return ERR_PTR(-EOWNERDEAD);
	err = ub_win_admit(r->f, arg, r->f->self, &rec);
	if (err)
		return ERR_PTR(err);
	rec.id = arg->desc.window;
	e = xa_load(&r->exports, rec.id);
	if (e && e->generation != rec.generation)
		return ERR_PTR(-ESTALE);	/* just changing */
	if (!e)
		e = export_make(r, &rec);
	if (!IS_ERR(e) && !e->keys[write]) {
		struct ub_rdma_keys *keys = keys_make(c, e, write);

		if (IS_ERR(keys))
			return keys;
		e->keys[write] = keys;
	}
	return IS_ERR(e) ? ERR_CAST(e) : e->keys[write];
}

static void answer_keys(struct ub_rdma_conn *c, struct ub_rdma_msg *msg,
			const struct ub_rdma_keys *keys)
{
	struct ub_rdma_attached *a = &msg->attached;
	u32 first, n, i;

	a->chunks = cpu_to_le16(keys->chunks);
	for (first = 0; first < keys->chunks; first += n) {
		n = min_t(u32, keys->chunks - first, UB_RDMA_KEYS);
		a->first = cpu_to_le16(first);
		a->n = cpu_to_le16(n);
		for (i = 0; i < n; i++)
			a->key[i] = cpu_to_le32(keys->chunk[first + i].mr->rkey);
		if (ub_rdma_send_wait(c, msg))
			return;
	}
}

/**
 * ub_rdma_attach_asked() - a peer wants to attach an own window
 * @c: the connection
 * @msg: the request
 *
 * Context: process; no locks.
 */
void ub_rdma_attach_asked(struct ub_rdma_conn *c, const struct ub_rdma_msg *msg)
{
	const struct ub_rdma_attach *a = &msg->attach;
	struct ub_rdma *r = c->peer->r;
	struct ub_win_attach arg = {
		.desc = {
			.incarnation = le64_to_cpu(a->incarnation),
			.generation = le64_to_cpu(a->generation),
			.gva = le64_to_cpu(a->gva),
			.length = le64_to_cpu(a->length),
			.node = r->f->node,
			.window = le32_to_cpu(a->window),
			.rights = le32_to_cpu(a->desc_rights),
		},
		.token = { le64_to_cpu(a->token[0]), le64_to_cpu(a->token[1]) },
		.rights = le32_to_cpu(a->rights),
	};
	bool write = arg.rights & UB_WIN_WRITE;
	struct ub_rdma_msg *answer = kzalloc(sizeof(*answer), GFP_KERNEL);
	struct ub_rdma_keys *keys;

	if (!answer)
		return;		/* the peer's time is over some day */
	answer->type = cpu_to_le16(UB_RDMA_ATTACHED);
	answer->tag = msg->tag;
	answer->attached.write = cpu_to_le16(write);
	/* The answer goes out before the news that the window has changed. */
	mutex_lock(&r->export_mutex);
	keys = admit(c, &arg, write);
	if (IS_ERR(keys)) {
		answer->attached.status = cpu_to_le32(PTR_ERR(keys));
		ub_rdma_send_wait(c, answer);
	} else {
		answer_keys(c, answer, keys);
	}
	mutex_unlock(&r->export_mutex);
	kfree(answer);
	memzero_explicit(&arg, sizeof(arg));
}

/**
 * ub_rdma_check_asked() - a peer that comes back asks for a generation
 * @c: the connection
 * @msg: the request
 *
 * Context: softirq.
 */
void ub_rdma_check_asked(struct ub_rdma_conn *c, const struct ub_rdma_msg *msg)
{
	struct ub_fabric *f = c->peer->r->f;
	u32 id = le32_to_cpu(msg->window.window);
	struct ub_rdma_msg answer = {
		.type = cpu_to_le16(UB_RDMA_WINDOW),
		.tag = msg->tag,
		.window.window = cpu_to_le32(id),
	};

	if (id < f->geo.max_wins)
		answer.window.generation =
			cpu_to_le64(ub_ld(&ub_shm_win(f, f->self, id)->generation));
	ub_rdma_send(c, &answer, true);
}

/* ---- atomics ---- */

static int atomic_run(struct ub_rdma *r, u32 id, u64 generation,
		      const struct ub_xfer_op_desc *d, u64 *result)
{
	struct ub_rdma_export *e;
	int err = -ESTALE;

	if (d->op <= UB_XFER_GET || d->op >= UB_XFER_OPS ||
	    (d->length != 4 && d->length != 8) || d->gva & (d->length - 1))
		return -EINVAL;
	/* The word stays while the lock is held. */
	spin_lock_bh(&r->export_lock);
	e = xa_load(&r->exports, id);
	if (e && e->generation == generation) {
		err = -EACCES;
		if ((e->rights & UB_WIN_ATOMIC) &&
		    ub_gva_inside(d->gva, d->length, e->gva, e->length))
			err = ub_xfer_word(d, e->mem + (d->gva - e->gva), result);
	}
	spin_unlock_bh(&r->export_lock);
	return err;
}

/**
 * ub_rdma_atomic_asked() - a peer wants an atomic done on a word here
 * @c: the connection
 * @msg: the request
 *
 * Context: softirq.
 */
void ub_rdma_atomic_asked(struct ub_rdma_conn *c, const struct ub_rdma_msg *msg)
{
	const struct ub_rdma_atomic *a = &msg->atomic;
	const struct ub_xfer_op_desc d = {
		.op = le32_to_cpu(a->op),
		.gva = le64_to_cpu(a->gva),
		.length = le32_to_cpu(a->length),
		.operand = le64_to_cpu(a->operand),
		.compare = le64_to_cpu(a->compare),
	};
	struct ub_rdma_msg answer = {
		.type = cpu_to_le16(UB_RDMA_DONE),
		.tag = msg->tag,
	};
	u64 result = 0;
	int err;

	err = atomic_run(c->peer->r, le32_to_cpu(a->window),
			 le64_to_cpu(a->generation), &d, &result);
	answer.done.status = cpu_to_le32(err);
	answer.done.result = cpu_to_le64(result);
	ub_rdma_send(c, &answer, true);
}
