/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/ub.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_UB_GEN_H
#define _LINUX_UB_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/ub/ub_netlink.h>

/* Common nested types */
extern const struct nla_policy ub_peer_nl_policy[UB_NL_PEER_ADDRESS + 1];

int ub_nl_fabric_get_doit(struct sk_buff *skb, struct genl_info *info);
int ub_nl_fabric_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int ub_nl_fabric_add_doit(struct sk_buff *skb, struct genl_info *info);
int ub_nl_fabric_del_doit(struct sk_buff *skb, struct genl_info *info);
int ub_nl_fabric_set_doit(struct sk_buff *skb, struct genl_info *info);
int ub_nl_fabric_format_doit(struct sk_buff *skb, struct genl_info *info);
int ub_nl_node_get_doit(struct sk_buff *skb, struct genl_info *info);
int ub_nl_node_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int ub_nl_window_get_doit(struct sk_buff *skb, struct genl_info *info);
int ub_nl_window_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int ub_nl_group_get_doit(struct sk_buff *skb, struct genl_info *info);
int ub_nl_group_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int ub_nl_level_get_doit(struct sk_buff *skb, struct genl_info *info);
int ub_nl_level_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int ub_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info);
int ub_nl_stats_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);

enum {
	UB_NLGRP_EVENTS,
};

extern struct genl_family ub_nl_family;

#endif /* _LINUX_UB_GEN_H */
