// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic netlink: one get and one dump for all kinds of objects, and what
 * listeners are told.
 *
 * Invariants:
 *  - A fabric found under ub_fabrics_lock stays registered until it is
 *    unlocked; its shared memory may be read meanwhile.
 *  - A dump goes on by key. It is marked as interrupted when the list of what
 *    it tells changed since its last message.
 */
#include <linux/module.h>
#include "compat_genl.h"
#include "netlink.h"
#include "netlink-gen.h"

/* Of this kernel alone. Never 0: that is what a dump begins with. */
static atomic_t changes[UB_CHANGES] = {
	[0 ... UB_CHANGES - 1] = ATOMIC_INIT(1)
};

/**
 * ub_changed() - a list that dumps tell has changed
 * @what: which
 *
 * Called after the change, and where a lock keeps dumps out before the lock is
 * dropped.
 *
 * Context: any.
 */
void ub_changed(enum ub_change what)
{
	atomic_inc(&changes[what]);	/* not shared */
}

/**
 * ub_nl_find() - the fabric that an attribute names
 * @minor: the attribute
 * @extack: gets an error, or NULL
 *
 * Context: ub_fabrics_lock is held.
 * Return: the fabric, or NULL.
 */
struct ub_fabric *ub_nl_find(const struct nlattr *minor,
			     struct netlink_ext_ack *extack)
{
	struct ub_fabric *f;

	lockdep_assert_held(&ub_fabrics_lock);
	list_for_each_entry(f, &ub_fabrics, node_list)
		if (f->minor == nla_get_u32(minor))
			return f;
	NL_SET_ERR_MSG_ATTR(extack, minor, "fabric: no such device");
	return NULL;
}

/**
 * ub_nl_asked() - does a request ask for an object
 * @g: the request
 * @attr: attribute, u32, that may restrict it
 * @value: of the object
 *
 * Context: any.
 * Return: true when it does.
 */
bool ub_nl_asked(const struct ub_nl_get *g, int attr, u32 value)
{
	return !g->attrs[attr] || nla_get_u32(g->attrs[attr]) == value;
}

/**
 * ub_nl_begin() - begin to tell an object
 * @g: the request
 * @f: its fabric
 *
 * Context: any.
 * Return: for ub_nl_end(), NULL when there is no room.
 */
void *ub_nl_begin(struct ub_nl_get *g, struct ub_fabric *f)
{
	void *hdr = genlmsg_put(g->skb, g->portid, g->seq, &ub_nl_family,
				g->cb ? NLM_F_MULTI : 0, g->cmd);

	if (hdr && g->cb)
		genl_dump_check_consistent(g->cb, hdr);
	if (hdr && nla_put_u32(g->skb, UB_NL_A_FABRIC, f->minor)) {
		genlmsg_cancel(g->skb, hdr);
		hdr = NULL;
	}
	return hdr;
}

/**
 * ub_nl_end() - an object is told
 * @g: the request
 * @hdr: from ub_nl_begin()
 * @full: there was no room for all of it
 *
 * Context: any.
 * Return: 0 or -EMSGSIZE.
 */
int ub_nl_end(struct ub_nl_get *g, void *hdr, bool full)
{
	if (!hdr || full) {
		genlmsg_cancel(g->skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(g->skb, hdr);
	g->count++;
	return 0;
}

static int get_locked(struct ub_nl_get *g, const struct ub_nl_kind *kind,
		      struct netlink_ext_ack *extack)
{
	struct ub_fabric *f = ub_nl_find(g->attrs[UB_NL_A_FABRIC], extack);

	if (!f)
		return -ENODEV;
	return kind->walk(g, f) ?: g->count ? 0 : -ENOENT;
}

/**
 * ub_nl_get() - answer a request for one object
 * @info: the request
 * @kind: of the object
 *
 * Context: may sleep.
 * Return: 0 or -errno; -ENOENT, without a text, when the fabric has none such.
 */
int ub_nl_get(struct genl_info *info, const struct ub_nl_kind *kind)
{
	struct ub_nl_cursor at = { 0 };
	struct ub_nl_get g = {
		.attrs = info->attrs, .cmd = kind->cmd, .at = &at,
		.portid = info->snd_portid, .seq = info->snd_seq,
	};
	unsigned int i;
	int err;

	for (i = 0; kind->keys[i]; i++)
		if (GENL_REQ_ATTR_CHECK(info, kind->keys[i]))
			return -EINVAL;
	g.skb = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!g.skb)
		return -ENOMEM;
	mutex_lock(&ub_fabrics_lock);
	err = get_locked(&g, kind, info->extack);
	mutex_unlock(&ub_fabrics_lock);
	if (!err)
		return genlmsg_reply(g.skb, info);
	nlmsg_free(g.skb);
	return err;
}

static int dump_locked(struct ub_nl_get *g, const struct ub_nl_kind *kind)
{
	struct ub_nl_cursor *at = g->at;
	struct ub_fabric *f;
	int err;

	list_for_each_entry(f, &ub_fabrics, node_list) {
		if (f->minor < at->minor || !ub_nl_asked(g, UB_NL_A_FABRIC, f->minor))
			continue;
		if (f->minor > at->minor)
			*at = (struct ub_nl_cursor){ .minor = f->minor };
		err = kind->walk(g, f);
		if (err)
			return err;
		*at = (struct ub_nl_cursor){ .minor = f->minor + 1 };
	}
	return 0;
}

/**
 * ub_nl_dump() - fill one message of a dump
 * @skb: the message
 * @cb: the dump
 * @kind: of objects
 *
 * Context: may sleep.
 * Return: as a dumpit: bytes, 0 when all are told, or -errno.
 */
int ub_nl_dump(struct sk_buff *skb, struct netlink_callback *cb,
	       const struct ub_nl_kind *kind)
{
	struct ub_nl_cursor *at = (struct ub_nl_cursor *)cb->ctx;
	struct ub_nl_get g = {
		.skb = skb, .cb = cb, .attrs = ub_dump_attrs(cb),
		.cmd = kind->cmd, .at = at,
		.portid = NETLINK_CB(cb->skb).portid, .seq = cb->nlh->nlmsg_seq,
	};
	const struct nlattr *fabric = g.attrs[UB_NL_A_FABRIC];
	int err = 0;

	BUILD_BUG_ON(sizeof(*at) > sizeof(cb->ctx));
	mutex_lock(&ub_fabrics_lock);
	/* Both only rise, so a sum that is the same means that none has. */
	cb->seq = atomic_read(&changes[UB_CHANGE_FABRIC]) +	/* not shared */
		  atomic_read(&changes[kind->change]);		/* not shared */
	/* One that went away in the middle ends its dump. */
	if (fabric && !at->begun && !ub_nl_find(fabric, cb->extack))
		err = -ENODEV;
	if (!err)
		err = dump_locked(&g, kind);
	at->begun = true;
	mutex_unlock(&ub_fabrics_lock);
	return skb->len ?: err;
}

/* ---- what listeners are told ---- */

static void tell(u8 cmd, int (*put)(struct sk_buff *skb, struct ub_fabric *f,
				    const void *arg),
		 struct ub_fabric *f, const void *arg)
{
	struct sk_buff *skb;
	void *hdr;

	if (!genl_has_listeners(&ub_nl_family, &init_net, UB_NLGRP_EVENTS))
		return;
	skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		return;
	hdr = genlmsg_put(skb, 0, 0, &ub_nl_family, 0, cmd);
	if (!hdr || nla_put_u32(skb, UB_NL_A_FABRIC, f->minor) ||
	    put(skb, f, arg)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, hdr);
	genlmsg_multicast_netns(&ub_nl_family, &init_net, skb, 0,
				UB_NLGRP_EVENTS, GFP_KERNEL);
}

static int put_event(struct sk_buff *skb, struct ub_fabric *f, const void *arg)
{
	const struct ub_event *ev = arg;

	return nla_put_u32(skb, UB_NL_A_EVENT, ev->type) ||
	       nla_put_u32(skb, UB_NL_A_REASON, ev->reason) ||
	       nla_put_u32(skb, UB_NL_A_NODE, ev->node) ||
	       ub_nl_put_u64(skb, UB_NL_A_INCARNATION, ev->incarnation) ||
	       ub_nl_put_u64(skb, UB_NL_A_GVA, ev->gva) ||
	       ub_nl_put_u64(skb, UB_NL_A_VALUE, ev->value) ||
	       nla_put_u32(skb, UB_NL_A_GROUP, ev->group);
}

/**
 * ub_netlink_event() - tell listeners of an event of a fabric
 * @f: the fabric
 * @ev: the event
 *
 * Context: may sleep.
 */
void ub_netlink_event(struct ub_fabric *f, const struct ub_event *ev)
{
	tell(UB_NL_CMD_EVENT, put_event, f, ev);
}

static int put_fabric(struct sk_buff *skb, struct ub_fabric *f, const void *arg)
{
	return ub_nl_put_fabric(skb, f);
}

/**
 * ub_netlink_fabric() - tell listeners that a fabric came, went or changed
 * @f: the fabric
 * @cmd: UB_NL_CMD_FABRIC_*_NTF
 *
 * Context: may sleep; takes files_lock. The transport knows the fabric still.
 */
void ub_netlink_fabric(struct ub_fabric *f, u8 cmd)
{
	tell(cmd, put_fabric, f, NULL);
}

/**
 * ub_netlink_init() - offer the family
 *
 * Context: module init.
 * Return: 0 or -errno.
 */
int __init ub_netlink_init(void)
{
	/* Fabrics belong to no network name space: only the first sees them. */
	ub_nl_family.netnsok = false;
	return ub_genl_register(&ub_nl_family);
}

/**
 * ub_netlink_exit() - undo ub_netlink_init()
 *
 * Context: module exit.
 */
void ub_netlink_exit(void)
{
	genl_unregister_family(&ub_nl_family);
}

MODULE_ALIAS_GENL_FAMILY(UB_FAMILY_NAME);
