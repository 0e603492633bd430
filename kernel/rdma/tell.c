// SPDX-License-Identifier: GPL-2.0-only
/*
 * Members of groups: what peers are told of own ones, and tell of theirs. What is
 * told, and how it is checked and stored, is in ../told.c.
 *
 * Each step of an own member goes to all nodes of the group at once: one message to
 * each, and one latency for a barrier.
 *
 * Invariants:
 *  - What is told of a member was read after all that was told before: it is read
 *    and posted under tell_lock, and a connection keeps the order.
 *  - What could not be sent, or went with a connection, is made up for by telling
 *    the peer of all members again, and asking for all of its. So is it when a
 *    connection opens: what came before the record of the peer was up is lost.
 *  - A peer's words are stored under ub_rdma_peer.lock, for its connection and
 *    while it is alive, so none comes after it was taken for dead.
 */
#include <linux/delay.h>
#include "rdma.h"
#include "told.h"

static void pack(struct ub_rdma_member *m, const struct ub_told *told)
{
	u32 i;

	*m = (struct ub_rdma_member){
		.id = cpu_to_le64(told->id),
		.theirs = cpu_to_le64(told->theirs),
		.yours = cpu_to_le64(told->yours),
		.lane_inc = cpu_to_le64(told->lane_inc),
		.arrival = cpu_to_le64(told->arrival),
		.window = cpu_to_le64(told->window),
		.verdict = cpu_to_le64(told->verdict),
		.lost_epoch = cpu_to_le64(told->lost_epoch),
		.shape = cpu_to_le32(told->shape),
		.lane = cpu_to_le32(told->lane),
		.reason = cpu_to_le32(told->reason),
		.flags = cpu_to_le32(told->flags),
		.n = cpu_to_le16(told->n),
		.index = cpu_to_le16(told->index),
	};
	for (i = 0; i < 2; i++) {
		m->value[i] = cpu_to_le64(told->contrib[i].value);
		m->aux[i] = cpu_to_le64(told->contrib[i].aux);
	}
	static_assert(sizeof(m->mail) == sizeof(told->mail));
	memcpy(m->mail, &told->mail, sizeof(m->mail));
}

static void unpack(struct ub_told *told, const struct ub_rdma_member *m)
{
	u32 i;

	*told = (struct ub_told){
		.id = le64_to_cpu(m->id),
		.theirs = le64_to_cpu(m->theirs),
		.yours = le64_to_cpu(m->yours),
		.lane_inc = le64_to_cpu(m->lane_inc),
		.arrival = le64_to_cpu(m->arrival),
		.window = le64_to_cpu(m->window),
		.verdict = le64_to_cpu(m->verdict),
		.lost_epoch = le64_to_cpu(m->lost_epoch),
		.shape = le32_to_cpu(m->shape),
		.lane = le32_to_cpu(m->lane),
		.reason = le32_to_cpu(m->reason),
		.flags = le32_to_cpu(m->flags),
		.n = le16_to_cpu(m->n),
		.index = le16_to_cpu(m->index),
	};
	for (i = 0; i < 2; i++) {
		told->contrib[i].value = le64_to_cpu(m->value[i]);
		told->contrib[i].aux = le64_to_cpu(m->aux[i]);
	}
	memcpy(&told->mail, m->mail, sizeof(told->mail));
}

/* ---- telling ---- */

/* To one peer, if it may have members of the group: 0, -EAGAIN no room. */
static int send_to(struct ub_rdma_peer *p, u32 slot, u64 word, struct ub_told *told)
{
	struct ub_rdma_conn *c = ub_rdma_conn_of(p);
	struct ub_rdma_msg msg = {
		.type = cpu_to_le16(UB_RDMA_MEMBER),
		.tag = cpu_to_le16(UB_RDMA_NO_TAG),
	};
	int err = 0;

	lockdep_assert_held(&p->r->tell_lock);
	if (!c)		/* told when it opens */
		return 0;
	if (ub_told_there(&p->r->f->slots, slot, word, p->node, c->incarnation,
			  &told->yours)) {
		pack(&msg.member, told);
		err = ub_rdma_send(c, &msg, false);
	}
	ub_rdma_conn_put(c);
	return err == -EAGAIN ? err : 0;
}

/* An own member: read, and to one peer. */
static int tell(struct ub_rdma_peer *p, u32 slot, u64 word, u32 index, u32 ask)
{
	struct ub_fabric *f = p->r->f;
	struct ub_told told;
	int err = 0;

	spin_lock_bh(&p->r->tell_lock);
	if (ub_told_read(&f->slots, slot, word, index, &told) &&
	    told.node == f->node && told.node_inc == f->incarnation) {
		told.flags |= ask;
		err = send_to(p, slot, word, &told);
	}
	spin_unlock_bh(&p->r->tell_lock);
	return err;
}

/* All own members of a group, to one peer. */
static int tell_members(struct ub_rdma_peer *p, u32 slot, u64 word, u32 ask)
{
	u32 n = UB_FORM_N(ub_ld(&ub_slot_rec(&p->r->f->slots, slot)->form)), i;
	int err = 0;

	n = min(n, p->r->f->slots.max_members);
	for (i = 0; i < n && !err; i++)
		err = tell(p, slot, word, i, ask);
	return err;
}

/**
 * ub_rdma_tell_work() - tell a peer of all members here, and ask for its
 * @work: ub_rdma_peer.tell
 *
 * Context: work queue; until the connection ends at the latest.
 */
void ub_rdma_tell_work(struct work_struct *work)
{
	struct ub_rdma_peer *p = container_of(to_delayed_work(work),
					      struct ub_rdma_peer, tell);
	const struct ub_slots *t = &p->r->f->slots;
	u32 slot;

	for (slot = 0; slot < t->nslots; slot++) {
		u64 word = ub_ld(&ub_slot_rec(t, slot)->word);

		if (UB_SLOT_STATE(word) != UB_SLOT_COMMITTED)
			continue;
		/* Until there is room, or no connection; what is sent twice does no harm. */
		while (tell_members(p, slot, word, UB_TOLD_ASK))
			usleep_range(500, 2000);
	}
}

/**
 * ub_rdma_tell_group() - ub_transport_ops.tell_group
 * @f: the fabric
 * @slot: of the group
 * @word: of the slot
 * @index: the member, which lives here
 *
 * Context: process.
 */
void ub_rdma_tell_group(struct ub_fabric *f, u32 slot, u64 word, u32 index)
{
	struct ub_rdma *r = f->priv;
	struct ub_told told;
	u32 i;

	spin_lock_bh(&r->tell_lock);
	if (ub_told_read(&f->slots, slot, word, index, &told))
		for (i = 0; i < r->npeers; i++)
			if (send_to(&r->peer[i], slot, word, &told))
				queue_delayed_work(r->wq, &r->peer[i].tell, 1);
	spin_unlock_bh(&r->tell_lock);
}

/* ---- being told ---- */

static void refuse(struct ub_rdma_conn *c, const struct ub_told *told, int err, u64 clash)
{
	const struct ub_rdma_msg msg = {
		.type = cpu_to_le16(UB_RDMA_REFUSED),
		.tag = cpu_to_le16(UB_RDMA_NO_TAG),
		.refused = {
			.id = cpu_to_le64(told->id),
			.place = cpu_to_le64(told->theirs),
			.clash = cpu_to_le64(clash),
			.err = cpu_to_le32(err),
		},
	};

	ub_rdma_send(c, &msg, true);
}

/* Is what came on a connection from a node that takes part? */
static bool is_current(struct ub_rdma_conn *c)
{
	struct ub_rdma_peer *p = c->peer;

	lockdep_assert_held(&p->lock);
	return p->conn == c && !c->leaving &&
	       ub_member_alive(p->r->f, p->index, c->incarnation);
}

/**
 * ub_rdma_member() - a peer tells of a member of its
 * @c: the connection
 * @msg: the message
 *
 * Context: softirq.
 */
void ub_rdma_member(struct ub_rdma_conn *c, const struct ub_rdma_msg *msg)
{
	struct ub_rdma_peer *p = c->peer;
	struct ub_fabric *f = p->r->f;
	struct ub_told told;
	u64 clash = 0;
	u32 slot = 0;
	int ret = -ENOENT;

	unpack(&told, &msg->member);
	told.node = p->node;
	told.node_inc = c->incarnation;
	spin_lock_bh(&p->lock);
	if (is_current(c))
		ret = ub_told_store(&f->slots, &told, &slot, &clash);
	spin_unlock_bh(&p->lock);
	switch (ret) {
	case -EEXIST:
	case -EINVAL:
		refuse(c, &told, ret, clash);
		return;
	case -EPROTO:
		dev_warn_ratelimited(&f->dev, "node %u told nonsense of a group\n",
				     p->node);
		ub_rdma_conn_close(c);
		return;
	case 1:
		ub_bar_wake_local(f);
		break;
	}
	if (ret < 0 || (told.yours && !(told.flags & UB_TOLD_ASK)))
		return;
	if (tell_members(p, slot, ub_ld(&ub_slot_rec(&f->slots, slot)->word), 0))
		queue_delayed_work(p->r->wq, &p->tell, 1);
}

/**
 * ub_rdma_refused() - a peer says that an own member cannot join
 * @c: the connection
 * @msg: the message
 *
 * Context: softirq.
 */
void ub_rdma_refused(struct ub_rdma_conn *c, const struct ub_rdma_msg *msg)
{
	const struct ub_rdma_refused *m = &msg->refused;
	u64 place = le64_to_cpu(m->place);
	struct ub_rdma_peer *p = c->peer;
	bool ended = false;

	spin_lock_bh(&p->lock);
	if (is_current(c) && UB_PLACE_KNOWN(place))
		ended = ub_told_refused(&p->r->f->slots, le64_to_cpu(m->id), place,
					(int)le32_to_cpu(m->err), le64_to_cpu(m->clash));
	spin_unlock_bh(&p->lock);
	if (ended)
		ub_bar_wake_local(p->r->f);
}
