// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls: the listener, dialling, hellos. See proto.h for what is said.
 *
 * Invariants:
 *  - A hello is copied out of the event, then checked, then used.
 *  - A call that is accepted replaces a connection that is there: whoever calls
 *    has none any more. Its queues are told so before the new ones are.
 *  - Handlers return an error, which makes rdma_cm destroy the id, only for a
 *    call that no connection has been made for.
 */
#include <linux/slab.h>
#include <rdma/ib_cm.h>
#include "rdma.h"

#define RESOLVE_MS	2000
#define BACKLOG		64
#define ACK_TIMEOUT	14	/* 4.096 us << 14: 67 ms */
#define RNR_TIMER	12	/* 0.64 ms */
#define RETRIES		7

/* ---- hellos ---- */

static struct ub_rdma_hello hello_make(struct ub_rdma_peer *p)
{
	struct ub_rdma *r = p->r;
	u64 word = ub_ld(&ub_shm_node_rec(r->f, p->index)->word);

	lockdep_assert_held(&p->mutex);
	return (struct ub_rdma_hello){
		.magic = cpu_to_le64(UB_RDMA_MAGIC),
		.version = cpu_to_le16(UB_RDMA_VERSION),
		.layout = cpu_to_le16(UB_LAYOUT_VERSION + ub_rdma_layout_skew),
		.node = cpu_to_le32(r->f->node),
		.peer = cpu_to_le32(p->node),
		.incarnation = cpu_to_le64(r->f->incarnation),
		.fabric = { cpu_to_le64(r->fabric[0]), cpu_to_le64(r->fabric[1]) },
		.fenced = cpu_to_le64(word & UB_NODE_FENCED ? p->incarnation : 0),
	};
}

/* Is it a hello of this fabric, for this node? */
static u32 hello_check(struct ub_rdma *r, const struct ub_rdma_hello *h, u64 *value)
{
	if (le64_to_cpu(h->magic) != UB_RDMA_MAGIC)
		return UB_RDMA_WHY_MAGIC;
	*value = UB_RDMA_VERSION;
	if (le16_to_cpu(h->version) != UB_RDMA_VERSION)
		return UB_RDMA_WHY_VERSION;
	*value = UB_LAYOUT_VERSION + ub_rdma_layout_skew;
	if (le16_to_cpu(h->layout) != *value)
		return UB_RDMA_WHY_LAYOUT;
	if (le64_to_cpu(h->fabric[0]) != r->fabric[0] ||
	    le64_to_cpu(h->fabric[1]) != r->fabric[1])
		return UB_RDMA_WHY_FABRIC;
	*value = r->f->node;
	if (le32_to_cpu(h->peer) != r->f->node)
		return UB_RDMA_WHY_PEER;
	*value = r->f->incarnation;
	if (le64_to_cpu(h->fenced) == r->f->incarnation)
		return UB_RDMA_WHY_FENCED;
	return UB_RDMA_WHY_NONE;
}

static bool hello_read(const struct rdma_cm_event *ev, struct ub_rdma_hello *h)
{
	const struct rdma_conn_param *param = &ev->param.conn;

	if (!param->private_data || param->private_data_len < sizeof(*h))
		return false;
	memcpy(h, param->private_data, sizeof(*h));
	return true;
}

static const char *why_text(u32 why)
{
	static const char * const text[] = {
		[UB_RDMA_WHY_NONE]	= "for no reason that is known here",
		[UB_RDMA_WHY_BUSY]	= "it is not up yet",
		[UB_RDMA_WHY_MAGIC]	= "something else than this module calls or listens there",
		[UB_RDMA_WHY_VERSION]	= "the versions of ub_rdma differ: install the same one",
		[UB_RDMA_WHY_LAYOUT]	= "the layout versions differ: install the same modules",
		[UB_RDMA_WHY_FABRIC]	= "the names of the fabrics differ",
		[UB_RDMA_WHY_PEER]	= "another node has that address",
		[UB_RDMA_WHY_NODE]	= "its node id is nobody's there",
		[UB_RDMA_WHY_STALE]	= "its incarnation is over: is its clock behind?",
		[UB_RDMA_WHY_FENCED]	= "it was taken for dead: 'ubfab fabric set DEV up' there",
	};

	return why < ARRAY_SIZE(text) ? text[why] : text[UB_RDMA_WHY_NONE];
}

/* Say why there is no connection, once for each reason. */
static void say_refused(struct ub_rdma_peer *p, bool by_us, u32 why, u64 value)
{
	if (p->why == why || why == UB_RDMA_WHY_BUSY)
		return;
	p->why = why;
	dev_warn(&p->r->f->dev, "node %u at %pISc: call refused %s: %s (%llu)\n",
		 p->node, &p->addr, by_us ? "here" : "there", why_text(why), value);
}

/* ---- one connection's events ---- */

static struct rdma_conn_param conn_param(const struct ub_rdma_hello *h,
					 struct ib_device *dev)
{
	return (struct rdma_conn_param){
		.private_data = h,
		.private_data_len = sizeof(*h),
		.responder_resources = min(dev->attrs.max_qp_rd_atom, 16),
		.initiator_depth = min(dev->attrs.max_qp_init_rd_atom, 16),
		.retry_count = RETRIES,
		.rnr_retry_count = RETRIES,
	};
}

static int addr_resolved(struct ub_rdma_conn *c)
{
	struct ub_rdma_peer *p = c->peer;
	int err;

	if (c->id->device != p->r->dev) {
		dev_warn_ratelimited(&p->r->f->dev,
				     "node %u at %pISc is reached over %s, not %s\n",
				     p->node, &p->addr, dev_name(&c->id->device->dev),
				     dev_name(&p->r->dev->dev));
		return -ENODEV;
	}
	rdma_set_ack_timeout(c->id, ACK_TIMEOUT);
	rdma_set_min_rnr_timer(c->id, RNR_TIMER);
	err = ub_rdma_conn_queues(c);
	return err ?: rdma_resolve_route(c->id, RESOLVE_MS);
}

static int route_resolved(struct ub_rdma_conn *c)
{
	struct ub_rdma_peer *p = c->peer;
	struct rdma_conn_param param;
	struct ub_rdma_hello h;

	mutex_lock(&p->mutex);
	h = hello_make(p);
	mutex_unlock(&p->mutex);
	param = conn_param(&h, p->r->dev);
	return rdma_connect_locked(c->id, &param);
}

/* The call was accepted: by whom? */
static int accepted(struct ub_rdma_conn *c, const struct rdma_cm_event *ev)
{
	struct ub_rdma_peer *p = c->peer;
	u32 why = UB_RDMA_WHY_MAGIC;
	struct ub_rdma_hello h;
	u64 value = 0;

	mutex_lock(&p->mutex);
	if (hello_read(ev, &h))
		why = hello_check(p->r, &h, &value);
	if (!why && le32_to_cpu(h.node) != p->node) {
		why = UB_RDMA_WHY_PEER;
		value = le32_to_cpu(h.node);
	}
	if (!why)
		why = ub_rdma_peer_refuses(p, le64_to_cpu(h.incarnation), &value);
	if (why) {
		say_refused(p, true, why, value);
	} else {
		c->incarnation = le64_to_cpu(h.incarnation);
		ub_rdma_peer_up(p, c->incarnation);
		ub_rdma_conn_open(c);
	}
	mutex_unlock(&p->mutex);
	return why ? -ECONNREFUSED : 0;
}

static void refused(struct ub_rdma_conn *c, struct rdma_cm_event *ev)
{
	struct ub_rdma_peer *p = c->peer;
	struct ub_rdma_refusal no;
	const void *data;
	u8 len;

	data = rdma_consumer_reject_data(c->id, ev, &len);
	if (!data || len < sizeof(no))
		return;		/* nobody listens there yet */
	memcpy(&no, data, sizeof(no));
	mutex_lock(&p->mutex);
	if (le64_to_cpu(no.magic) != UB_RDMA_MAGIC)
		say_refused(p, false, UB_RDMA_WHY_MAGIC, 0);
	else
		say_refused(p, false, le32_to_cpu(no.why), le64_to_cpu(no.value));
	mutex_unlock(&p->mutex);
}

static int conn_event(struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	struct ub_rdma_conn *c = id->context;
	int err = -ECONNRESET;

	if (READ_ONCE(c->state) == UB_RDMA_DEAD)
		return 0;
	switch (ev->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		err = addr_resolved(c);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		err = route_resolved(c);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		err = c->asked ? accepted(c, ev) : 0;
		break;
	case RDMA_CM_EVENT_REJECTED:
		refused(c, ev);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		err = 0;
		break;
	default:
		break;
	}
	if (err)
		ub_rdma_conn_close(c);
	return 0;
}

/* ---- dialling ---- */

static void set_conn(struct ub_rdma_peer *p, struct ub_rdma_conn *c)
{
	lockdep_assert_held(&p->mutex);
	spin_lock_bh(&p->lock);
	p->conn = c;
	spin_unlock_bh(&p->lock);
}

/**
 * ub_rdma_dial() - call a peer
 * @p: the peer, without a connection; its mutex is held
 *
 * Context: process.
 */
void ub_rdma_dial(struct ub_rdma_peer *p)
{
	struct ub_rdma_conn *c = ub_rdma_conn_alloc(p);

	lockdep_assert_held(&p->mutex);
	if (!c) {
		ub_rdma_peer_call(p, true);
		return;
	}
	c->asked = true;
	c->id = rdma_create_id(&init_net, conn_event, c, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(c->id)) {
		ub_rdma_conn_put(c);
		ub_rdma_peer_call(p, true);
		return;
	}
	set_conn(p, c);
	if (rdma_resolve_addr(c->id, NULL, (struct sockaddr *)&p->addr, RESOLVE_MS))
		ub_rdma_conn_close(c);
}

/* ---- being called ---- */

static int refuse(struct rdma_cm_id *id, u32 why, u64 value)
{
	const struct ub_rdma_refusal no = {
		.magic = cpu_to_le64(UB_RDMA_MAGIC),
		.why = cpu_to_le32(why),
		.value = cpu_to_le64(value),
	};

	rdma_reject(id, &no, sizeof(no), IB_CM_REJ_CONSUMER_DEFINED);
	return -ECONNREFUSED;
}

/* Accept the call of a peer; its mutex is held. */
static int accept(struct ub_rdma_peer *p, struct rdma_cm_id *id,
		  const struct ub_rdma_hello *theirs)
{
	struct ub_rdma_conn *old = p->conn, *c = ub_rdma_conn_alloc(p);
	struct ib_qp_attr dead = { .qp_state = IB_QPS_ERR };
	struct rdma_conn_param param;
	struct ub_rdma_hello h;

	if (!c)
		return refuse(id, UB_RDMA_WHY_BUSY, 0);
	c->id = id;
	c->incarnation = le64_to_cpu(theirs->incarnation);
	rdma_set_ack_timeout(id, ACK_TIMEOUT);
	rdma_set_min_rnr_timer(id, RNR_TIMER);
	if (ub_rdma_conn_queues(c)) {
		ub_rdma_conn_put(c);
		return refuse(id, UB_RDMA_WHY_BUSY, 0);
	}
	if (old) {
		/* Late packets of the old one must not come after the new ones'. */
		ub_rdma_conn_close(old);
		ib_modify_qp(old->qp, &dead, IB_QP_STATE);
	}
	id->context = c;
	id->event_handler = conn_event;
	set_conn(p, c);
	ub_rdma_peer_up(p, c->incarnation);
	h = hello_make(p);
	param = conn_param(&h, p->r->dev);
	if (rdma_accept(id, &param))
		ub_rdma_conn_close(c);
	else
		ub_rdma_conn_open(c);
	return 0;
}

static int called(struct ub_rdma *r, struct rdma_cm_id *id,
		  const struct rdma_cm_event *ev)
{
	u32 why = UB_RDMA_WHY_MAGIC;
	struct ub_rdma_peer *p = NULL;
	struct ub_rdma_hello h;
	u64 value = 0;
	int err;

	if (!READ_ONCE(r->started))
		return refuse(id, UB_RDMA_WHY_BUSY, 0);
	if (hello_read(ev, &h))
		why = hello_check(r, &h, &value);
	if (why != UB_RDMA_WHY_MAGIC)
		p = ub_rdma_find(r, le32_to_cpu(h.node));
	if (!why && (!p || p->node > r->f->node || id->device != r->dev))
		why = UB_RDMA_WHY_NODE;
	if (!p) {
		dev_warn_ratelimited(&r->f->dev, "call from %pISc refused here: %s (%llu)\n",
				     &id->route.addr.dst_addr, why_text(why), value);
		return refuse(id, why, value);
	}
	mutex_lock(&p->mutex);
	/* Again: whoever stops hangs up with the mutex held, after this changed. */
	if (!why && !READ_ONCE(r->started))
		why = UB_RDMA_WHY_BUSY;
	if (!why)
		why = ub_rdma_peer_refuses(p, le64_to_cpu(h.incarnation), &value);
	if (why)
		say_refused(p, true, why, value);
	err = why ? refuse(id, why, value) : accept(p, id, &h);
	mutex_unlock(&p->mutex);
	return err;
}

static int listener_event(struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	struct ub_rdma *r = id->context;

	return ev->event == RDMA_CM_EVENT_CONNECT_REQUEST ? called(r, id, ev) : 0;
}

/**
 * ub_rdma_listen() - accept calls; they are refused until the node is started
 * @r: the fabric
 * @extack: gets what is wrong
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int ub_rdma_listen(struct ub_rdma *r, struct netlink_ext_ack *extack)
{
	struct sockaddr_storage any = { .ss_family = AF_INET };
	struct rdma_cm_id *id;
	u32 i;
	int err;

	/* That of IPv6 takes calls by IPv4, too. */
	for (i = 0; i < r->npeers; i++)
		if (r->peer[i].addr.ss_family == AF_INET6)
			any.ss_family = AF_INET6;

	/* The port is at the same place in both kinds. */
	((struct sockaddr_in *)&any)->sin_port = cpu_to_be16(r->port);
	id = rdma_create_id(&init_net, listener_event, r, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	err = rdma_bind_addr(id, (struct sockaddr *)&any);
	if (!err)
		err = rdma_listen(id, BACKLOG);
	if (err) {
		NL_SET_ERR_MSG(extack, "port: cannot be listened on; is it in use?");
		rdma_destroy_id(id);
		return err;
	}
	r->listener = id;
	return 0;
}
