// SPDX-License-Identifier: GPL-2.0-only
/*
 * Peers: their records in the replica, calling them, telling them of ourselves.
 *
 * Invariants:
 *  - The record of a peer says what this node knows of it: that it is up comes
 *    by a hello, that it left by a message, that it is fenced from the core here,
 *    and its heartbeat rises with each message of its.
 *  - Of two nodes the one with the lower id calls, so there are never two calls
 *    at once. It calls until the peer is there, ever more rarely, and again
 *    when a connection has ended.
 *  - A connection that brings nothing for half of the detection time, in which its
 *    peer beats at least four times, is given up, and made anew.
 *  - A life that left, or was taken for dead, is not accepted any more.
 */
#include "rdma.h"

#define CALL_MIN_MS	20U
#define CALL_MAX_MS	1000U
#define LEAVE_WAIT	HZ	/* for all farewells together, some sent again */

static void call_work(struct work_struct *work)
{
	struct ub_rdma_peer *p = container_of(to_delayed_work(work),
					      struct ub_rdma_peer, call);

	mutex_lock(&p->mutex);
	if (READ_ONCE(p->r->started) && !p->conn)
		ub_rdma_dial(p);
	mutex_unlock(&p->mutex);
}

/**
 * ub_rdma_peer_init() - a peer that was not heard of yet
 * @r: the fabric
 * @i: its place in @r
 * @conf: the peer
 *
 * The own record is the first one, since the replica was empty when it was
 * claimed; those of peers follow.
 *
 * Context: process.
 */
void ub_rdma_peer_init(struct ub_rdma *r, u32 i, const struct ub_conf_peer *conf)
{
	struct ub_rdma_peer *p = &r->peer[i];
	__be16 port = cpu_to_be16(r->port);

	p->r = r;
	p->node = conf->node;
	p->index = i + 1;
	p->addr = conf->addr;
	if (p->addr.ss_family == AF_INET6)
		((struct sockaddr_in6 *)&p->addr)->sin6_port = port;
	else
		((struct sockaddr_in *)&p->addr)->sin_port = port;
	mutex_init(&p->mutex);
	spin_lock_init(&p->lock);
	xa_init_flags(&p->far, XA_FLAGS_LOCK_BH);
	INIT_DELAYED_WORK(&p->call, call_work);
	INIT_DELAYED_WORK(&p->tell, ub_rdma_tell_work);
}

/**
 * ub_rdma_find() - the peer with a node id
 * @r: the fabric
 * @node: the id
 *
 * Context: any.
 * Return: the peer, or NULL.
 */
struct ub_rdma_peer *ub_rdma_find(struct ub_rdma *r, u32 node)
{
	u32 i;

	for (i = 0; i < r->npeers; i++)
		if (r->peer[i].node == node)
			return &r->peer[i];
	return NULL;
}

/**
 * ub_rdma_at() - the peer that has a record of the replica
 * @r: the fabric
 * @index: of the record
 *
 * Context: any.
 * Return: the peer, or NULL.
 */
struct ub_rdma_peer *ub_rdma_at(struct ub_rdma *r, u32 index)
{
	return index && index <= r->npeers ? &r->peer[index - 1] : NULL;
}

/**
 * ub_rdma_conn_of() - the connection to a peer, when it is open
 * @p: the peer
 *
 * Context: any but hard interrupts.
 * Return: the connection, counted, or NULL.
 */
struct ub_rdma_conn *ub_rdma_conn_of(struct ub_rdma_peer *p)
{
	struct ub_rdma_conn *c;

	spin_lock_bh(&p->lock);
	c = p->conn;
	if (c && READ_ONCE(c->state) == UB_RDMA_OPEN)
		kref_get(&c->ref);
	else
		c = NULL;
	spin_unlock_bh(&p->lock);
	return c;
}

/* ---- records ---- */

static struct ub_shm_node *rec_of(struct ub_rdma_peer *p)
{
	return ub_shm_node_rec(p->r->f, p->index);
}

/**
 * ub_rdma_peer_refuses() - may a life of a peer not take part
 * @p: the peer; its mutex is held
 * @incarnation: of that life
 * @value: gets what to say of it
 *
 * Context: process.
 * Return: enum ub_rdma_why; UB_RDMA_WHY_NONE when it may.
 */
u32 ub_rdma_peer_refuses(struct ub_rdma_peer *p, u64 incarnation, u64 *value)
{
	u64 word = ub_ld(&rec_of(p)->word);

	lockdep_assert_held(&p->mutex);
	*value = p->incarnation;
	if (!incarnation || incarnation < p->incarnation)
		return UB_RDMA_WHY_STALE;
	if (incarnation > p->incarnation)
		return UB_RDMA_WHY_NONE;
	if (word & UB_NODE_FENCED)
		return UB_RDMA_WHY_FENCED;
	return UB_NODE_STATE(word) == UB_NODE_LEFT ? UB_RDMA_WHY_STALE :
						     UB_RDMA_WHY_NONE;
}

/* A record begins with nothing that a former life left in it. */
static void rec_begin(struct ub_rdma_peer *p, u64 incarnation)
{
	struct ub_fabric *f = p->r->f;
	struct ub_shm_node *rec = rec_of(p);
	u32 nonce = incarnation, id;

	ub_swap(&rec->word, UB_NODE_WORD(UB_NODE_CLAIMING, p->node, nonce));
	for (id = 0; id < f->geo.max_wins; id++)
		ub_st(&ub_shm_win(f, p->index, id)->generation, 0ULL);
	ub_st(&rec->incarnation, incarnation);
	ub_st(&rec->generation, f->generation);
	ub_st(&rec->bell, (u64)p->index);
	ub_st(&rec->reason, 0ULL);
	ub_st(&rec->poke, 0ULL);
	ub_st(&rec->memtype, (u64)UB_MEMTYPE_WB);
	ub_st(&rec->heartbeat, ub_ld(&rec->heartbeat) + 1);
	ub_swap(&rec->word, UB_NODE_WORD(UB_NODE_UP, p->node, nonce));
}

/**
 * ub_rdma_peer_up() - a life of a peer takes part
 * @p: the peer; its mutex is held
 * @incarnation: of that life, not refused
 *
 * Context: process.
 */
void ub_rdma_peer_up(struct ub_rdma_peer *p, u64 incarnation)
{
	lockdep_assert_held(&p->mutex);
	if (incarnation != p->incarnation) {
		ub_rdma_far_forget(p);
		p->incarnation = incarnation;
		rec_begin(p, incarnation);
	} else if (UB_NODE_STATE(ub_ld(&rec_of(p)->word)) == UB_NODE_EMPTY) {
		rec_begin(p, incarnation);
	}
	ub_rdma_peer_seen(p);
	p->fails = 0;
	p->why = UB_RDMA_WHY_NONE;
}

/**
 * ub_rdma_peer_left() - a life of a peer is over by its own will
 * @p: the peer; its mutex is held
 * @incarnation: of that life
 *
 * Context: process.
 */
void ub_rdma_peer_left(struct ub_rdma_peer *p, u64 incarnation)
{
	struct ub_shm_node *rec = rec_of(p);
	u64 w = ub_ld(&rec->word);

	lockdep_assert_held(&p->mutex);
	if (incarnation != p->incarnation || UB_NODE_STATE(w) != UB_NODE_UP)
		return;
	/* The core may fence it meanwhile, which leaves as much. */
	ub_cas(&rec->word, w, UB_NODE_WORD(UB_NODE_LEFT, p->node, (u32)w) |
			      (w & UB_NODE_FENCED));
	ub_swap(&ub_shm_node_rec(p->r->f, p->r->f->self)->poke, 1ULL);
	ub_fabric_bell(p->r->f);
}

/**
 * ub_rdma_peer_seen() - a message of a peer came
 * @p: the peer
 *
 * Context: any.
 */
void ub_rdma_peer_seen(struct ub_rdma_peer *p)
{
	u64 *heartbeat = &rec_of(p)->heartbeat;

	/* Two that come at once may count as one. */
	ub_st(heartbeat, ub_ld(heartbeat) + 1);
}

/* ---- calling ---- */

/**
 * ub_rdma_peer_call() - there is no connection to a peer: call it
 * @p: the peer
 * @failed: the last call came to nothing
 *
 * Context: any.
 */
void ub_rdma_peer_call(struct ub_rdma_peer *p, bool failed)
{
	struct ub_rdma *r = p->r;
	u32 ms = CALL_MIN_MS;

	if (p->node < r->f->node || !READ_ONCE(r->started))
		return;
	if (failed)
		ms = min(CALL_MIN_MS << min(READ_ONCE(p->fails), 16U), CALL_MAX_MS);
	if (failed)
		WRITE_ONCE(p->fails, READ_ONCE(p->fails) + 1);
	queue_delayed_work(r->wq, &p->call, msecs_to_jiffies(ms));
}

/* ---- what the core asks for ---- */

static void tell_all(struct ub_rdma *r, u32 type)
{
	struct ub_rdma_msg msg = {
		.type = cpu_to_le16(type),
		.tag = cpu_to_le16(UB_RDMA_NO_TAG),
	};
	u32 i;

	for (i = 0; i < r->npeers; i++) {
		struct ub_rdma_conn *c = ub_rdma_conn_of(&r->peer[i]);

		if (!c)
			continue;
		/* Without room others are on their way, which say as much. */
		ub_rdma_send(c, &msg, false);
		ub_rdma_conn_put(c);
	}
}

/* Queues may stand still and never say so. */
static void give_up_silent(struct ub_rdma *r)
{
	unsigned long half = msecs_to_jiffies(READ_ONCE(r->f->detect_ms) / 2);
	u32 i;

	for (i = 0; i < r->npeers; i++) {
		struct ub_rdma_conn *c = ub_rdma_conn_of(&r->peer[i]);

		if (!c)
			continue;
		if (time_after(jiffies, READ_ONCE(c->heard) + half))
			ub_rdma_conn_close(c);
		ub_rdma_conn_put(c);
	}
}

/* Farewells have gone out, or their time is over. */
static void wait_sent(struct ub_rdma *r)
{
	unsigned long end = jiffies + LEAVE_WAIT;
	u32 i;

	for (i = 0; i < r->npeers; i++) {
		struct ub_rdma_conn *c = ub_rdma_conn_of(&r->peer[i]);
		long left = end - jiffies;

		if (!c)
			continue;
		if (left > 0)
			wait_event_timeout(c->wq, READ_ONCE(c->nsends) == UB_RDMA_SENDS ||
					   READ_ONCE(c->state) != UB_RDMA_OPEN,
					   left);
		ub_rdma_conn_put(c);
	}
}

/* End a peer's connection, if it has one, and see it gone. */
static void hang_up(struct ub_rdma_peer *p)
{
	struct ub_rdma_conn *c;

	mutex_lock(&p->mutex);
	spin_lock_bh(&p->lock);
	c = p->conn;
	if (c)
		kref_get(&c->ref);
	spin_unlock_bh(&p->lock);
	mutex_unlock(&p->mutex);
	if (!c)
		return;
	ub_rdma_conn_close(c);
	flush_work(&c->end);
	ub_rdma_conn_put(c);
}

/**
 * ub_rdma_stop() - the own life is over: leave
 * @r: the fabric
 *
 * Nobody reaches this memory any more when it returns.
 *
 * Context: process; no locks.
 */
void ub_rdma_stop(struct ub_rdma *r)
{
	u32 i;

	WRITE_ONCE(r->started, false);
	tell_all(r, UB_RDMA_LEAVE);
	wait_sent(r);
	for (i = 0; i < r->npeers; i++) {
		struct ub_rdma_peer *p = &r->peer[i];

		cancel_delayed_work_sync(&p->call);
		hang_up(p);
		cancel_delayed_work_sync(&p->tell);
		mutex_lock(&p->mutex);
		ub_swap(&rec_of(p)->word, 0ULL);
		ub_rdma_far_forget(p);
		mutex_unlock(&p->mutex);
	}
	ub_rdma_exports_end(r);
}

/**
 * ub_rdma_tell_node() - ub_transport_ops.tell_node
 * @f: the fabric
 *
 * Context: process.
 */
void ub_rdma_tell_node(struct ub_fabric *f)
{
	struct ub_rdma *r = f->priv;
	u32 i;

	if (UB_NODE_STATE(ub_ld(&ub_shm_node_rec(f, f->self)->word)) != UB_NODE_UP) {
		ub_rdma_stop(r);
		return;
	}
	if (!READ_ONCE(r->started)) {
		WRITE_ONCE(r->started, true);
		for (i = 0; i < r->npeers; i++) {
			WRITE_ONCE(r->peer[i].fails, 0);
			ub_rdma_peer_call(&r->peer[i], false);
		}
	}
	give_up_silent(r);
	tell_all(r, UB_RDMA_BEAT);
}

/**
 * ub_rdma_cut() - ub_transport_ops.cut
 * @f: the fabric
 * @index: of the peer's record
 *
 * Context: process.
 */
void ub_rdma_cut(struct ub_fabric *f, u32 index)
{
	struct ub_rdma_peer *p = ub_rdma_at(f->priv, index);

	if (p)
		hang_up(p);
}

/**
 * ub_rdma_ring() - ub_transport_ops.ring
 * @f: the fabric
 * @bell: index of the peer's record
 *
 * Context: any but hard interrupts.
 */
void ub_rdma_ring(struct ub_fabric *f, u64 bell)
{
	const struct ub_rdma_msg msg = {
		.type = cpu_to_le16(UB_RDMA_POKE),
		.tag = cpu_to_le16(UB_RDMA_NO_TAG),
	};
	struct ub_rdma_peer *p = ub_rdma_at(f->priv, min_t(u64, bell, U32_MAX));
	struct ub_rdma_conn *c = p ? ub_rdma_conn_of(p) : NULL;

	if (!c)
		return;
	ub_rdma_send(c, &msg, false);
	ub_rdma_conn_put(c);
}

/**
 * ub_rdma_bell() - ub_transport_ops.bell
 * @f: the fabric
 *
 * Context: any.
 * Return: not 0: there is one. Peers do not see it.
 */
u64 ub_rdma_bell(struct ub_fabric *f)
{
	return 1;
}
