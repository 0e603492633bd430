// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic netlink family "ub". See ub/ub_netlink.h.
 *
 * Invariants:
 *  - A fabric found under ub_fabrics_lock stays registered until it is
 *    unlocked; its shared memory may be read meanwhile.
 *  - Dumps go by position and may miss or repeat what changes meanwhile.
 */
#include <linux/module.h>
#include <net/genetlink.h>
#include <ub/ub_netlink.h>
#include "ub.h"

#define UB_NL_LOOP_BYTES	(64ULL << 20)

static struct genl_family ub_family;

static const struct nla_policy fabric_policy[UB_NL_A_FABRIC + 1] = {
	[UB_NL_A_FABRIC]	= { .type = NLA_U32 },
};

static const struct nla_policy add_policy[UB_NL_A_NODES + 1] = {
	[UB_NL_A_TRANSPORT]	= { .type = NLA_NUL_STRING, .len = UB_NAME_LEN - 1 },
	[UB_NL_A_NODE]		= { .type = NLA_U32 },
	[UB_NL_A_BYTES]		= { .type = NLA_U64 },
	[UB_NL_A_NODES]		= NLA_POLICY_RANGE(NLA_U32, 1, UB_SHM_MAX_NODES),
};

static const struct nla_policy del_policy[UB_NL_A_LOOP + 1] = {
	[UB_NL_A_LOOP]		= { .type = NLA_U32 },
};

static struct ub_fabric *nl_find(const struct nlattr *minor,
				 struct netlink_ext_ack *extack)
{
	struct ub_fabric *f;

	lockdep_assert_held(&ub_fabrics_lock);
	list_for_each_entry(f, &ub_fabrics, node_list)
		if (f->minor == nla_get_u32(minor))
			return f;
	NL_SET_ERR_MSG_ATTR(extack, minor, "no such fabric device");
	return NULL;
}

/* ---- fabrics ---- */

static u32 nl_lanes(struct ub_fabric *f)
{
	struct ub_file *file;
	u32 n = 0;

	mutex_lock(&f->files_lock);
	list_for_each_entry(file, &f->files, fabric_node)
		n++;
	mutex_unlock(&f->files_lock);
	return n;
}

static int nl_put_identity(struct sk_buff *skb, struct ub_fabric *f)
{
	return nla_put_u32(skb, UB_NL_A_FABRIC, f->minor) ||
	       nla_put_string(skb, UB_NL_A_DEVICE, dev_name(&f->dev)) ||
	       nla_put_string(skb, UB_NL_A_TRANSPORT, f->transport) ||
	       nla_put(skb, UB_NL_A_FABRIC_ID, sizeof(f->fabric_id), f->fabric_id) ||
	       nla_put_u64_64bit(skb, UB_NL_A_GENERATION, f->generation, UB_NL_A_PAD) ||
	       nla_put_u32(skb, UB_NL_A_NODE, f->node) ||
	       nla_put_u64_64bit(skb, UB_NL_A_INCARNATION, f->incarnation, UB_NL_A_PAD);
}

static int nl_put_limits(struct sk_buff *skb, struct ub_fabric *f)
{
	return nla_put_u32(skb, UB_NL_A_DETECT_MS, f->detect_ms) ||
	       nla_put_u32(skb, UB_NL_A_MEMTYPE, f->memtype) ||
	       nla_put_u32(skb, UB_NL_A_MAX_NODES, f->geo.max_nodes) ||
	       nla_put_u32(skb, UB_NL_A_MAX_MEMBERS, f->geo.max_members) ||
	       nla_put_u64_64bit(skb, UB_NL_A_BYTES, f->geo.size, UB_NL_A_PAD) ||
	       nla_put_u64_64bit(skb, UB_NL_A_SLICE, f->geo.slice_size, UB_NL_A_PAD) ||
	       nla_put_u64_64bit(skb, UB_NL_A_FREE, READ_ONCE(f->slice_free), UB_NL_A_PAD) ||
	       nla_put_u32(skb, UB_NL_A_LANES, nl_lanes(f));
}

static int nl_put_fabric(struct sk_buff *skb, struct ub_fabric *f, u32 portid,
			 u32 seq, int flags)
{
	u32 state = READ_ONCE(f->state) == UB_FABRIC_UP ? UB_NL_STATE_UP :
							  UB_NL_STATE_FENCED;
	int loop = ub_loop_of(f);
	void *hdr;

	hdr = genlmsg_put(skb, portid, seq, &ub_family, flags, UB_NL_CMD_FABRIC_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (nl_put_identity(skb, f) || nl_put_limits(skb, f) ||
	    nla_put_u32(skb, UB_NL_A_STATE, state) ||
	    (state && nla_put_u32(skb, UB_NL_A_REASON, f->fence_reason)) ||
	    (loop >= 0 && nla_put_u32(skb, UB_NL_A_LOOP, loop))) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/* Reply to a request about one fabric. */
static int nl_reply(struct genl_info *info,
		    int (*put)(struct sk_buff *skb, struct ub_fabric *f,
			       u32 portid, u32 seq, int flags))
{
	struct ub_fabric *f;
	struct sk_buff *skb;
	int err = -ENODEV;

	if (GENL_REQ_ATTR_CHECK(info, UB_NL_A_FABRIC))
		return -EINVAL;
	skb = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!skb)
		return -ENOMEM;
	mutex_lock(&ub_fabrics_lock);
	f = nl_find(info->attrs[UB_NL_A_FABRIC], info->extack);
	if (f)
		err = put(skb, f, info->snd_portid, info->snd_seq, 0);
	mutex_unlock(&ub_fabrics_lock);
	if (err) {
		nlmsg_free(skb);
		return err;
	}
	return genlmsg_reply(skb, info);
}

static int nl_fabric_get(struct sk_buff *skb, struct genl_info *info)
{
	return nl_reply(info, nl_put_fabric);
}

static int nl_fabric_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct ub_fabric *f;
	long at = 0;

	mutex_lock(&ub_fabrics_lock);
	list_for_each_entry(f, &ub_fabrics, node_list) {
		if (at++ < cb->args[0])
			continue;
		if (nl_put_fabric(skb, f, NETLINK_CB(cb->skb).portid,
				  cb->nlh->nlmsg_seq, NLM_F_MULTI))
			break;
		cb->args[0] = at;
	}
	mutex_unlock(&ub_fabrics_lock);
	return skb->len;
}

static int nl_loop_reply(struct genl_info *info, int id)
{
	struct sk_buff *skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *hdr;

	if (!skb)
		return -ENOMEM;
	hdr = genlmsg_put_reply(skb, info, &ub_family, 0, UB_NL_CMD_FABRIC_ADD);
	if (!hdr || nla_put_u32(skb, UB_NL_A_LOOP, id)) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return genlmsg_reply(skb, info);
}

/* What a new loop fabric will be, or what is wrong with the request. */
static int nl_add_check(struct genl_info *info, u32 *first, u32 *n, u64 *bytes)
{
	struct nlattr **a = info->attrs;
	struct ub_shm_geo geo;

	if (GENL_REQ_ATTR_CHECK(info, UB_NL_A_TRANSPORT) ||
	    GENL_REQ_ATTR_CHECK(info, UB_NL_A_NODES))
		return -EINVAL;
	if (nla_strcmp(a[UB_NL_A_TRANSPORT], "loop")) {
		NL_SET_ERR_MSG_ATTR(info->extack, a[UB_NL_A_TRANSPORT],
				    "only loop fabrics can be added");
		return -EOPNOTSUPP;
	}
	*n = nla_get_u32(a[UB_NL_A_NODES]);
	*first = a[UB_NL_A_NODE] ? nla_get_u32(a[UB_NL_A_NODE]) : 0;
	if (*first > UB_GVA_NODE_MAX + 1 - *n) {
		NL_SET_ERR_MSG_ATTR(info->extack, a[UB_NL_A_NODE],
				    "the last node's id would pass 20 bits");
		return -ERANGE;
	}
	*bytes = a[UB_NL_A_BYTES] ? nla_get_u64(a[UB_NL_A_BYTES]) :
				    UB_NL_LOOP_BYTES;
	if (*bytes >> PAGE_SHIFT > totalram_pages() / 2) {
		NL_SET_ERR_MSG_ATTR(info->extack, a[UB_NL_A_BYTES],
				    "more than half of this machine's memory");
		return -ENOMEM;
	}
	if (ub_shm_geometry(*bytes, &geo)) {
		NL_SET_ERR_MSG_ATTR(info->extack, a[UB_NL_A_BYTES],
				    "too little memory for a fabric");
		return -EINVAL;
	}
	if (*n > geo.max_nodes) {
		NL_SET_ERR_MSG_ATTR(info->extack, a[UB_NL_A_NODES],
				    "more nodes than a fabric of that much memory holds");
		return -E2BIG;
	}
	return 0;
}

static int nl_fabric_add(struct sk_buff *skb, struct genl_info *info)
{
	u32 first, n, i, *ids;
	int id, err;
	u64 bytes;

	err = nl_add_check(info, &first, &n, &bytes);
	if (err)
		return err;
	ids = kcalloc(n, sizeof(*ids), GFP_KERNEL);
	if (!ids)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		ids[i] = first + i;
	err = ub_loop_add(ids, n, bytes, &id);
	kfree(ids);
	if (err) {
		NL_SET_ERR_MSG(info->extack, "the loop fabric could not be made");
		return err;
	}
	return nl_loop_reply(info, id);
}

static int nl_fabric_del(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *loop = info->attrs[UB_NL_A_LOOP];
	int err;

	if (GENL_REQ_ATTR_CHECK(info, UB_NL_A_LOOP))
		return -EINVAL;
	err = ub_loop_del(nla_get_u32(loop));
	if (err)
		NL_SET_ERR_MSG_ATTR(info->extack, loop, "no such loop fabric");
	return err;
}

/* ---- nodes ---- */

static u32 nl_node_state(struct ub_fabric *f, u32 index,
			 const struct ub_node_view *v)
{
	if (v->word & UB_NODE_FENCED)
		return UB_NL_STATE_FENCED;
	if (UB_NODE_STATE(v->word) == UB_NODE_CLAIMING)
		return UB_NL_STATE_JOINING;
	if (UB_NODE_STATE(v->word) != UB_NODE_UP)
		return UB_NL_STATE_DOWN;
	if (f->peer[index].incarnation != v->incarnation)
		return UB_NL_STATE_JOINING;	/* the tick has not seen it yet */
	if (!f->peer[index].alive)
		return UB_NL_STATE_DOWN;
	return UB_NL_STATE_UP;
}

static int nl_put_node(struct sk_buff *skb, struct ub_fabric *f, u32 index,
		       const struct ub_node_view *v, struct netlink_callback *cb)
{
	const struct ub_peer *p = &f->peer[index];
	u32 state = nl_node_state(f, index, v);
	bool seen = p->incarnation == v->incarnation;
	u64 age = ktime_to_ns(ktime_sub(ktime_get(), p->seen));
	void *hdr;

	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			  &ub_family, NLM_F_MULTI, UB_NL_CMD_NODE_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_u32(skb, UB_NL_A_FABRIC, f->minor) ||
	    nla_put_u32(skb, UB_NL_A_NODE, UB_NODE_ID(v->word)) ||
	    nla_put_u64_64bit(skb, UB_NL_A_INCARNATION, v->incarnation, UB_NL_A_PAD) ||
	    nla_put_u32(skb, UB_NL_A_STATE, state) ||
	    (state && seen && nla_put_u32(skb, UB_NL_A_REASON, p->reason)) ||
	    (seen && nla_put_u64_64bit(skb, UB_NL_A_AGE_NS, age, UB_NL_A_PAD)) ||
	    (index == f->self && nla_put_flag(skb, UB_NL_A_SELF))) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

static int nl_node_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr **a = ub_dump_attrs(cb);
	struct ub_fabric *f;
	int err = 0;

	if (!a[UB_NL_A_FABRIC]) {
		NL_SET_ERR_MSG(cb->extack, "which fabric device?");
		return -EINVAL;
	}
	mutex_lock(&ub_fabrics_lock);
	f = nl_find(a[UB_NL_A_FABRIC], cb->extack);
	if (!f) {
		mutex_unlock(&ub_fabrics_lock);
		return -ENODEV;
	}
	for (; cb->args[0] < f->geo.max_nodes; cb->args[0]++) {
		struct ub_node_view v;

		if (!ub_member_view(f, cb->args[0], &v) || !v.current_gen)
			continue;
		err = nl_put_node(skb, f, cb->args[0], &v, cb);
		if (err)
			break;
	}
	mutex_unlock(&ub_fabrics_lock);
	return skb->len ?: err;
}

/* ---- counters ---- */

static int nl_put_counter(struct sk_buff *skb, const char *name, u64 value)
{
	struct nlattr *nest = nla_nest_start(skb, UB_NL_A_STAT);

	if (!nest || nla_put_string(skb, UB_NL_STAT_NAME, name) ||
	    nla_put_u64_64bit(skb, UB_NL_STAT_VALUE, value, UB_NL_STAT_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int nl_put_stats(struct sk_buff *skb, struct ub_fabric *f, u32 portid,
			u32 seq, int flags)
{
	u64 sum[UB_STATS];
	unsigned int i;
	void *hdr;

	ub_stats_sum(f, sum);
	hdr = genlmsg_put(skb, portid, seq, &ub_family, flags, UB_NL_CMD_STATS_GET);
	if (!hdr || nla_put_u32(skb, UB_NL_A_FABRIC, f->minor))
		return -EMSGSIZE;
	for (i = 0; i < UB_STATS; i++)
		if (nl_put_counter(skb, ub_stats_name(i), sum[i]))
			return -EMSGSIZE;
	genlmsg_end(skb, hdr);
	return 0;
}

static int nl_stats_get(struct sk_buff *skb, struct genl_info *info)
{
	return nl_reply(info, nl_put_stats);
}

/* ---- groups ---- */

/* members_lock is held: the member has not left. */
static int nl_put_group(struct sk_buff *skb, struct ub_gmember *gm,
			struct netlink_callback *cb)
{
	const struct ub_bar *b = &gm->bar;
	u64 word = ub_ld(&b->g.line[b->me].arrival);
	u64 verdict = ub_ld(&b->g.head->verdict);
	char level[UB_NAME_LEN + 1] = "";
	const u64 *stat = (const u64 *)&gm->stats;
	unsigned int i;
	void *hdr;

	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			  &ub_family, NLM_F_MULTI, UB_NL_CMD_GROUP_GET);
	if (!hdr)
		return -EMSGSIZE;
	memcpy(level, gm->level, sizeof(gm->level));
	if (nla_put_u32(skb, UB_NL_A_FABRIC, gm->fabric->minor) ||
	    nla_put_u32(skb, UB_NL_A_LANE, gm->file->lane) ||
	    nla_put_u32(skb, UB_NL_A_GROUP, READ_ONCE(gm->handle)) ||
	    nla_put_u32(skb, UB_NL_A_SLOT, gm->slot) ||
	    nla_put_string(skb, UB_NL_A_LEVEL, level) ||
	    nla_put_u32(skb, UB_NL_A_INDEX, b->me) ||
	    nla_put_u32(skb, UB_NL_A_MEMBERS, b->g.n) ||
	    nla_put_u64_64bit(skb, UB_NL_A_EPOCH, UB_ARR_EPOCH(word), UB_NL_A_PAD) ||
	    (verdict && nla_put_u32(skb, UB_NL_A_REASON, UB_VERDICT_REASON(verdict))))
		goto cancel;
	for (i = 0; i < UB_GROUP_STATS; i++)
		if (nl_put_counter(skb, ub_stats_name(i), READ_ONCE(stat[i])))
			goto cancel;
	genlmsg_end(skb, hdr);
	return 0;
cancel:
	genlmsg_cancel(skb, hdr);
	return -EMSGSIZE;
}

static int nl_group_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr **a = ub_dump_attrs(cb);
	struct ub_gmember *gm;
	struct ub_fabric *f;
	long at = 0;
	int err = 0;

	if (!a[UB_NL_A_FABRIC]) {
		NL_SET_ERR_MSG(cb->extack, "which fabric device?");
		return -EINVAL;
	}
	mutex_lock(&ub_fabrics_lock);
	f = nl_find(a[UB_NL_A_FABRIC], cb->extack);
	if (!f) {
		mutex_unlock(&ub_fabrics_lock);
		return -ENODEV;
	}
	mutex_lock(&f->members_lock);
	list_for_each_entry(gm, &f->members, fabric_node) {
		if (at++ < cb->args[0])
			continue;
		err = nl_put_group(skb, gm, cb);
		if (err)
			break;
		cb->args[0] = at;
	}
	mutex_unlock(&f->members_lock);
	mutex_unlock(&ub_fabrics_lock);
	return skb->len ?: err;
}

/* ---- events ---- */

/**
 * ub_netlink_event() - tell listeners of an event of a fabric
 * @f: the fabric
 * @ev: the event
 *
 * Context: may sleep.
 */
void ub_netlink_event(struct ub_fabric *f, const struct ub_event *ev)
{
	struct sk_buff *skb;
	void *hdr;

	if (!genl_has_listeners(&ub_family, &init_net, 0))
		return;
	skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		return;
	hdr = genlmsg_put(skb, 0, 0, &ub_family, 0, UB_NL_CMD_EVENT);
	if (!hdr ||
	    nla_put_u32(skb, UB_NL_A_FABRIC, f->minor) ||
	    nla_put_u32(skb, UB_NL_A_EVENT, ev->type) ||
	    nla_put_u32(skb, UB_NL_A_REASON, ev->reason) ||
	    nla_put_u32(skb, UB_NL_A_NODE, ev->node) ||
	    nla_put_u64_64bit(skb, UB_NL_A_INCARNATION, ev->incarnation, UB_NL_A_PAD) ||
	    nla_put_u64_64bit(skb, UB_NL_A_GVA, ev->gva, UB_NL_A_PAD) ||
	    nla_put_u64_64bit(skb, UB_NL_A_VALUE, ev->value, UB_NL_A_PAD) ||
	    nla_put_u32(skb, UB_NL_A_GROUP, ev->group)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, hdr);
	genlmsg_multicast_netns(&ub_family, &init_net, skb, 0, 0, GFP_KERNEL);
}

/**
 * ub_netlink_fabric() - tell listeners that a fabric came or went
 * @f: the fabric
 * @added: it came
 *
 * Context: may sleep.
 */
void ub_netlink_fabric(struct ub_fabric *f, bool added)
{
	struct sk_buff *skb;
	void *hdr;

	if (!genl_has_listeners(&ub_family, &init_net, 0))
		return;
	skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		return;
	hdr = genlmsg_put(skb, 0, 0, &ub_family, 0, added ? UB_NL_CMD_FABRIC_ADD :
							    UB_NL_CMD_FABRIC_DEL);
	if (!hdr || nl_put_identity(skb, f)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, hdr);
	genlmsg_multicast_netns(&ub_family, &init_net, skb, 0, 0, GFP_KERNEL);
}

static const struct genl_ops ub_ops[] = {
	{
		.cmd	 = UB_NL_CMD_FABRIC_GET,
		.doit	 = nl_fabric_get,
		.dumpit	 = nl_fabric_dump,
		.policy	 = fabric_policy,
		.maxattr = UB_NL_A_FABRIC,
	}, {
		.cmd	 = UB_NL_CMD_FABRIC_ADD,
		.doit	 = nl_fabric_add,
		.policy	 = add_policy,
		.maxattr = UB_NL_A_NODES,
		.flags	 = GENL_ADMIN_PERM,
	}, {
		.cmd	 = UB_NL_CMD_FABRIC_DEL,
		.doit	 = nl_fabric_del,
		.policy	 = del_policy,
		.maxattr = UB_NL_A_LOOP,
		.flags	 = GENL_ADMIN_PERM,
	}, {
		.cmd	 = UB_NL_CMD_NODE_GET,
		.dumpit	 = nl_node_dump,
		.policy	 = fabric_policy,
		.maxattr = UB_NL_A_FABRIC,
	}, {
		.cmd	 = UB_NL_CMD_STATS_GET,
		.doit	 = nl_stats_get,
		.policy	 = fabric_policy,
		.maxattr = UB_NL_A_FABRIC,
	}, {
		.cmd	 = UB_NL_CMD_GROUP_GET,
		.dumpit	 = nl_group_dump,
		.policy	 = fabric_policy,
		.maxattr = UB_NL_A_FABRIC,
	},
};

static const struct genl_multicast_group ub_groups[] = {
	{ .name = UB_GENL_MCGRP },
};

static struct genl_family ub_family __ro_after_init = {
	.name		= UB_GENL_NAME,
	.version	= UB_GENL_VERSION,
	.module		= THIS_MODULE,
	.parallel_ops	= true,
	.ops		= ub_ops,
	.n_ops		= ARRAY_SIZE(ub_ops),
	.mcgrps		= ub_groups,
	.n_mcgrps	= ARRAY_SIZE(ub_groups),
};

/**
 * ub_netlink_init() - offer the family
 *
 * Context: module init.
 * Return: 0 or -errno.
 */
int __init ub_netlink_init(void)
{
	return genl_register_family(&ub_family);
}

/**
 * ub_netlink_exit() - undo ub_netlink_init()
 *
 * Context: module exit.
 */
void ub_netlink_exit(void)
{
	genl_unregister_family(&ub_family);
}

MODULE_ALIAS_GENL_FAMILY(UB_GENL_NAME);
