// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic netlink: fabrics. Looking is open to everybody, all else needs
 * CAP_NET_ADMIN (ub.yaml).
 *
 * Invariant: what takes long is done without ub_fabrics_lock, on a fabric that
 * is counted; it may be unregistered meanwhile.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include "loop.h"
#include "netlink.h"
#include "netlink-gen.h"

#define UB_NL_LOOP_BYTES	(64ULL << 20)

/* ---- get ---- */

static u32 lanes(struct ub_fabric *f)
{
	struct ub_file *file;
	u32 n = 0;

	mutex_lock(&f->files_lock);
	list_for_each_entry(file, &f->files, fabric_node)
		n++;
	mutex_unlock(&f->files_lock);
	return n;
}

static u32 state_of(enum ub_fabric_state state)
{
	switch (state) {
	case UB_FABRIC_UP:
		return UB_STATE_UP;
	case UB_FABRIC_FENCED:
		return UB_STATE_FENCED;
	case UB_FABRIC_REFUSED:
		return UB_STATE_REFUSED;
	case UB_FABRIC_JOINING:
		return UB_STATE_JOINING;
	default:
		return UB_STATE_DOWN;
	}
}

/* What a node has while it is a member, and keeps when it was fenced. */
static int put_identity(struct sk_buff *skb, struct ub_fabric *f)
{
	return nla_put(skb, UB_NL_A_FABRIC_ID, sizeof(f->fabric_id), f->fabric_id) ||
	       ub_nl_put_u64(skb, UB_NL_A_GENERATION, f->generation) ||
	       ub_nl_put_u64(skb, UB_NL_A_INCARNATION, f->incarnation);
}

static int put_limits(struct sk_buff *skb, struct ub_fabric *f)
{
	return nla_put_u32(skb, UB_NL_A_DETECT_MS, READ_ONCE(f->detect_ms)) ||
	       nla_put_u32(skb, UB_NL_A_MEMTYPE, f->memtype) ||
	       nla_put_u32(skb, UB_NL_A_MAX_NODES, f->geo.max_nodes) ||
	       nla_put_u32(skb, UB_NL_A_MAX_MEMBERS, f->geo.max_members) ||
	       nla_put_u32(skb, UB_NL_A_MAX_WINDOWS, f->geo.max_wins) ||
	       ub_nl_put_u64(skb, UB_NL_A_BYTES, f->geo.size) ||
	       ub_nl_put_u64(skb, UB_NL_A_SLICE, f->geo.slice_size) ||
	       ub_nl_put_u64(skb, UB_NL_A_FREE, READ_ONCE(f->slice_free)) ||
	       nla_put_u32(skb, UB_NL_A_LANES, lanes(f));
}

/**
 * ub_nl_put_fabric() - all there is to tell of a fabric but its number
 * @skb: the message
 * @f: the fabric
 *
 * Context: may sleep; takes files_lock.
 * Return: 0, or not 0 when there is no room.
 */
int ub_nl_put_fabric(struct sk_buff *skb, struct ub_fabric *f)
{
	enum ub_fabric_state state = READ_ONCE(f->state);
	bool member = state == UB_FABRIC_UP || state == UB_FABRIC_FENCED;
	int loop = ub_loop_of(f);

	return nla_put_string(skb, UB_NL_A_DEVICE, dev_name(&f->dev)) ||
	       nla_put_string(skb, UB_NL_A_TRANSPORT, f->transport) ||
	       (loop >= 0 && nla_put_u32(skb, UB_NL_A_LOOP, loop)) ||
	       nla_put_u32(skb, UB_NL_A_NODE, f->node) ||
	       nla_put_u32(skb, UB_NL_A_STATE, state_of(state)) ||
	       (state == UB_FABRIC_FENCED &&
		nla_put_u32(skb, UB_NL_A_REASON, f->fence_reason)) ||
	       (member && put_identity(skb, f)) ||
	       put_limits(skb, f);
}

static int fabric_walk(struct ub_nl_get *g, struct ub_fabric *f)
{
	int loop = ub_loop_of(f);
	void *hdr;

	if (g->attrs[UB_NL_A_LOOP] &&
	    (loop < 0 || !ub_nl_asked(g, UB_NL_A_LOOP, loop)))
		return 0;
	hdr = ub_nl_begin(g, f);
	return ub_nl_end(g, hdr, hdr && ub_nl_put_fabric(g->skb, f));
}

static const struct ub_nl_kind fabrics = {
	.cmd	= UB_NL_CMD_FABRIC_GET,
	.change	= UB_CHANGE_FABRIC,
	.keys	= { UB_NL_A_FABRIC },
	.walk	= fabric_walk,
};

int ub_nl_fabric_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	int err = ub_nl_get(info, &fabrics);

	if (err == -ENOENT)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[UB_NL_A_LOOP],
				    "loop: the device is not of that one");
	return err;
}

int ub_nl_fabric_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return ub_nl_dump(skb, cb, &fabrics);
}

/* ---- add ---- */

static int add_reply(struct genl_info *info, int attr, int id)
{
	struct sk_buff *skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *hdr;

	if (!skb)
		return -ENOMEM;
	hdr = genlmsg_put_reply(skb, info, &ub_nl_family, 0,
				UB_NL_CMD_FABRIC_ADD);
	if (!hdr || nla_put_u32(skb, attr, id)) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return genlmsg_reply(skb, info);
}

/* What a new loop fabric will be, or what is wrong with the request. */
static int add_check(struct genl_info *info, u32 *first, u32 *n, u64 *bytes)
{
	struct nlattr **a = info->attrs;
	struct ub_shm_geo geo;

	static const int others[] = {
		UB_NL_A_DEV, UB_NL_A_NAME, UB_NL_A_PORT, UB_NL_A_PEER,
	};
	u32 i;

	if (GENL_REQ_ATTR_CHECK(info, UB_NL_A_NODES))
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		if (!a[others[i]])
			continue;
		NL_SET_ERR_MSG_ATTR(info->extack, a[others[i]],
				    "dev, name, port, peer: a loop fabric has none");
		return -EINVAL;
	}
	*n = nla_get_u32(a[UB_NL_A_NODES]);
	*first = a[UB_NL_A_NODE] ? nla_get_u32(a[UB_NL_A_NODE]) : 0;
	if (*first > UB_GVA_NODE_MAX + 1 - *n) {
		NL_SET_ERR_MSG_ATTR(info->extack, a[UB_NL_A_NODE],
				    "node: the last node's id would pass 20 bits");
		return -ERANGE;
	}
	*bytes = a[UB_NL_A_BYTES] ? nla_get_u64(a[UB_NL_A_BYTES]) :
				    UB_NL_LOOP_BYTES;
	if (*bytes >> PAGE_SHIFT > totalram_pages() / 2) {
		NL_SET_ERR_MSG_ATTR(info->extack, a[UB_NL_A_BYTES],
				    "bytes: more than half of this machine's memory");
		return -ENOMEM;
	}
	if (ub_shm_geometry(*bytes, &geo)) {
		NL_SET_ERR_MSG_ATTR(info->extack, a[UB_NL_A_BYTES],
				    "bytes: too little memory for a fabric");
		return -EINVAL;
	}
	if (*n > geo.max_nodes) {
		NL_SET_ERR_MSG_ATTR(info->extack, a[UB_NL_A_NODES],
				    "nodes: more than a fabric of that much memory holds");
		return -E2BIG;
	}
	return 0;
}

static int add_loop(struct genl_info *info)
{
	u32 first, n, i, *ids;
	int id, err;
	u64 bytes;

	err = add_check(info, &first, &n, &bytes);
	if (err)
		return err;
	ids = kcalloc(n, sizeof(*ids), GFP_KERNEL);
	if (!ids)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		ids[i] = first + i;
	err = ub_loop_add(ids, n, bytes, false, &id);
	kfree(ids);
	if (err) {
		GENL_SET_ERR_MSG(info, "the loop fabric could not be made");
		return err;
	}
	/* What cannot be told must not be done. */
	err = add_reply(info, UB_NL_A_LOOP, id);
	if (err)
		ub_loop_del(id);
	return err;
}

static void peer_address(struct ub_conf_peer *peer, const struct nlattr *address)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&peer->addr;
	struct sockaddr_in *in = (struct sockaddr_in *)&peer->addr;
	struct in6_addr addr;

	memcpy(&addr, nla_data(address), sizeof(addr));
	if (ipv6_addr_v4mapped(&addr)) {
		in->sin_family = AF_INET;
		in->sin_addr.s_addr = addr.s6_addr32[3];
	} else {
		in6->sin6_family = AF_INET6;
		in6->sin6_addr = addr;
	}
}

/* One peer into @conf, which stays in the order of ids. */
static int add_peer(struct genl_info *info, const struct nlattr *nest,
		    struct ub_fabric_conf *conf)
{
	struct nlattr *a[UB_NL_PEER_ADDRESS + 1];
	struct ub_conf_peer peer = { };
	u32 i;
	int err;

	err = nla_parse_nested(a, UB_NL_PEER_ADDRESS, nest, ub_peer_nl_policy,
			       info->extack);
	if (err)
		return err;
	if (!a[UB_NL_PEER_NODE] || !a[UB_NL_PEER_ADDRESS]) {
		NL_SET_ERR_MSG_ATTR(info->extack, nest,
				    "peer: needs a node id and an address");
		return -EINVAL;
	}
	peer_address(&peer, a[UB_NL_PEER_ADDRESS]);
	if (conf->npeers == UB_CONF_PEERS) {
		NL_SET_ERR_MSG_ATTR(info->extack, nest, "peer: more than 63");
		return -E2BIG;
	}
	peer.node = nla_get_u32(a[UB_NL_PEER_NODE]);
	for (i = 0; i < conf->npeers && conf->peer[i].node < peer.node; i++)
		;
	if (peer.node == conf->node ||
	    (i < conf->npeers && conf->peer[i].node == peer.node)) {
		NL_SET_ERR_MSG_ATTR(info->extack, nest,
				    "peer: the node id is given twice");
		return -EEXIST;
	}
	memmove(&conf->peer[i + 1], &conf->peer[i],
		(conf->npeers - i) * sizeof(peer));
	conf->peer[i] = peer;
	conf->npeers++;
	return 0;
}

static int add_conf(struct genl_info *info, struct ub_fabric_conf *conf)
{
	struct nlattr **a = info->attrs, *attr;
	int left, err;

	if (GENL_REQ_ATTR_CHECK(info, UB_NL_A_DEV) ||
	    GENL_REQ_ATTR_CHECK(info, UB_NL_A_NODE))
		return -EINVAL;
	if (a[UB_NL_A_NODES]) {
		NL_SET_ERR_MSG_ATTR(info->extack, a[UB_NL_A_NODES],
				    "nodes: only a loop fabric has several here");
		return -EINVAL;
	}
	nla_strscpy(conf->dev, a[UB_NL_A_DEV], sizeof(conf->dev));
	if (a[UB_NL_A_NAME])
		nla_strscpy(conf->name, a[UB_NL_A_NAME], sizeof(conf->name));
	conf->node = nla_get_u32(a[UB_NL_A_NODE]);
	if (a[UB_NL_A_BYTES])
		conf->bytes = nla_get_u64(a[UB_NL_A_BYTES]);
	if (a[UB_NL_A_PORT])
		conf->port = nla_get_u16(a[UB_NL_A_PORT]);
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, left) {
		if (nla_type(attr) != UB_NL_A_PEER)
			continue;
		err = add_peer(info, attr, conf);
		if (err)
			return err;
	}
	return 0;
}

/* A fabric of a transport that is a module of its own. */
static int add_other(struct genl_info *info, const char *name)
{
	struct ub_transport *t = ub_transport_get(name);
	struct ub_fabric_conf *conf;
	int minor;

	if (!t) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[UB_NL_A_TRANSPORT],
				    "transport: unknown, or its module is not there, or its fabrics come by themselves");
		return -EOPNOTSUPP;
	}
	conf = kzalloc(sizeof(*conf), GFP_KERNEL);
	minor = conf ? add_conf(info, conf) : -ENOMEM;
	if (!minor)
		minor = t->add(conf, info->extack);
	kfree_sensitive(conf);
	ub_transport_put(t);
	/* It is listed: who is not told finds it there. */
	return minor < 0 ? minor : add_reply(info, UB_NL_A_FABRIC, minor);
}

int ub_nl_fabric_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	char name[UB_NAME_LEN];

	if (GENL_REQ_ATTR_CHECK(info, UB_NL_A_TRANSPORT))
		return -EINVAL;
	nla_strscpy(name, info->attrs[UB_NL_A_TRANSPORT], sizeof(name));
	return strcmp(name, "loop") ? add_other(info, name) : add_loop(info);
}

/* ---- del, set, format ---- */

/* The fabric that a request names, counted, or an ERR_PTR(). */
static struct ub_fabric *fabric_of(struct genl_info *info)
{
	struct ub_fabric *f;

	if (GENL_REQ_ATTR_CHECK(info, UB_NL_A_FABRIC))
		return ERR_PTR(-EINVAL);
	mutex_lock(&ub_fabrics_lock);
	f = ub_nl_find(info->attrs[UB_NL_A_FABRIC], info->extack);
	if (f)
		get_device(&f->dev);
	mutex_unlock(&ub_fabrics_lock);
	return f ?: ERR_PTR(-ENODEV);
}

/* A loop may go with its fabrics: it is looked at while they are registered. */
int ub_nl_fabric_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *fabric = info->attrs[UB_NL_A_FABRIC];
	struct module *owner = NULL;
	struct ub_fabric *f;
	int loop = -1, err;
	bool held = false;

	if (GENL_REQ_ATTR_CHECK(info, UB_NL_A_FABRIC))
		return -EINVAL;
	mutex_lock(&ub_fabrics_lock);
	f = ub_nl_find(fabric, info->extack);
	if (f) {
		loop = ub_loop_of(f);
		get_device(&f->dev);
		/* Its transport's code must be there while it deletes it. */
		held = loop < 0 && f->ops->del && try_module_get(f->owner);
		if (held)
			owner = f->owner;
	}
	mutex_unlock(&ub_fabrics_lock);
	if (!f)
		return -ENODEV;
	if (loop >= 0) {
		err = ub_loop_del(loop);
	} else if (held) {
		err = f->ops->del(f);
	} else {
		NL_SET_ERR_MSG_ATTR(info->extack, fabric,
				    "fabric: its bus adds and deletes it");
		err = -EOPNOTSUPP;
	}
	if (err == -ENOENT)
		NL_SET_ERR_MSG_ATTR(info->extack, fabric, "fabric: just deleted");
	ub_fabric_put(f);
	if (held)
		module_put(owner);
	return err;
}

static void tell_changed(struct ub_fabric *f)
{
	mutex_lock(&ub_fabrics_lock);
	if (!list_empty(&f->node_list))
		ub_netlink_fabric(f, UB_NL_CMD_FABRIC_CHANGE_NTF);
	mutex_unlock(&ub_fabrics_lock);
}

static int set_up(struct genl_info *info, struct ub_fabric *f)
{
	struct nlattr *state = info->attrs[UB_NL_A_STATE];
	int err;

	if (READ_ONCE(f->state) == UB_FABRIC_UP)
		return 0;
	err = ub_fabric_rejoin(f);
	if (err == -EBUSY)
		NL_SET_ERR_MSG_ATTR(info->extack, state,
				    "state: a node that is refused, or joins already, cannot be set up");
	else if (err)
		NL_SET_ERR_MSG_ATTR(info->extack, state,
				    "state: the node could not join: see the kernel log");
	return err;
}

int ub_nl_fabric_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *detect = info->attrs[UB_NL_A_DETECT_MS];
	struct nlattr *state = info->attrs[UB_NL_A_STATE];
	struct ub_fabric *f;
	int err = 0;

	if (!detect && !state) {
		GENL_SET_ERR_MSG(info, "nothing to set: give detect-ms or state");
		return -EINVAL;
	}
	if (state && nla_get_u32(state) != UB_STATE_UP) {
		NL_SET_ERR_MSG_ATTR(info->extack, state,
				    "state: only up can be set");
		return -EINVAL;
	}
	f = fabric_of(info);
	if (IS_ERR(f))
		return PTR_ERR(f);
	if (detect)
		ub_fabric_detect(f, nla_get_u32(detect));
	if (state)
		err = set_up(info, f);
	if (!err)
		tell_changed(f);
	ub_fabric_put(f);
	return err;
}

int ub_nl_fabric_format_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct ub_fabric *f = fabric_of(info);
	int err;

	if (IS_ERR(f))
		return PTR_ERR(f);
	err = ub_fabric_format(f, nla_get_flag(info->attrs[UB_NL_A_FORCE]),
			       info->extack);
	if (!err)
		tell_changed(f);
	ub_fabric_put(f);
	return err;
}
