// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/ub.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink-gen.h"

#include <uapi/ub/ub_netlink.h>

/* Integer value ranges */
static const struct netlink_range_validation ub_nl_a_node_range = {
	.max	= 1048575ULL,
};

static const struct netlink_range_validation ub_nl_a_detect_ms_range = {
	.min	= 500ULL,
	.max	= 600000ULL,
};

static const struct netlink_range_validation ub_nl_peer_node_range = {
	.max	= 1048575ULL,
};

/* Common nested types */
const struct nla_policy ub_peer_nl_policy[UB_NL_PEER_ADDRESS + 1] = {
	[UB_NL_PEER_NODE] = NLA_POLICY_FULL_RANGE(NLA_U32, &ub_nl_peer_node_range),
	[UB_NL_PEER_ADDRESS] = NLA_POLICY_EXACT_LEN(16),
};

/* UB_NL_CMD_FABRIC_GET - do */
static const struct nla_policy ub_fabric_get_do_nl_policy[UB_NL_A_LOOP + 1] = {
	[UB_NL_A_FABRIC] = { .type = NLA_U32, },
	[UB_NL_A_LOOP] = { .type = NLA_U32, },
};

/* UB_NL_CMD_FABRIC_GET - dump */
static const struct nla_policy ub_fabric_get_dump_nl_policy[UB_NL_A_LOOP + 1] = {
	[UB_NL_A_FABRIC] = { .type = NLA_U32, },
	[UB_NL_A_LOOP] = { .type = NLA_U32, },
};

/* UB_NL_CMD_FABRIC_ADD - do */
static const struct nla_policy ub_fabric_add_nl_policy[UB_NL_A_PEER + 1] = {
	[UB_NL_A_TRANSPORT] = { .type = NLA_NUL_STRING, .len = 15, },
	[UB_NL_A_NODES] = NLA_POLICY_RANGE(NLA_U32, 1, 64),
	[UB_NL_A_NODE] = NLA_POLICY_FULL_RANGE(NLA_U32, &ub_nl_a_node_range),
	[UB_NL_A_BYTES] = { .type = NLA_U64, },
	[UB_NL_A_DEV] = { .type = NLA_NUL_STRING, .len = 63, },
	[UB_NL_A_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
	[UB_NL_A_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
	[UB_NL_A_PEER] = NLA_POLICY_NESTED(ub_peer_nl_policy),
};

/* UB_NL_CMD_FABRIC_DEL - do */
static const struct nla_policy ub_fabric_del_nl_policy[UB_NL_A_FABRIC + 1] = {
	[UB_NL_A_FABRIC] = { .type = NLA_U32, },
};

/* UB_NL_CMD_FABRIC_SET - do */
static const struct nla_policy ub_fabric_set_nl_policy[UB_NL_A_STATE + 1] = {
	[UB_NL_A_FABRIC] = { .type = NLA_U32, },
	[UB_NL_A_DETECT_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &ub_nl_a_detect_ms_range),
	[UB_NL_A_STATE] = NLA_POLICY_MAX(NLA_U32, 4),
};

/* UB_NL_CMD_FABRIC_FORMAT - do */
static const struct nla_policy ub_fabric_format_nl_policy[UB_NL_A_FORCE + 1] = {
	[UB_NL_A_FABRIC] = { .type = NLA_U32, },
	[UB_NL_A_FORCE] = { .type = NLA_FLAG, },
};

/* UB_NL_CMD_NODE_GET - do */
static const struct nla_policy ub_node_get_do_nl_policy[UB_NL_A_NODE + 1] = {
	[UB_NL_A_FABRIC] = { .type = NLA_U32, },
	[UB_NL_A_NODE] = NLA_POLICY_FULL_RANGE(NLA_U32, &ub_nl_a_node_range),
};

/* UB_NL_CMD_NODE_GET - dump */
static const struct nla_policy ub_node_get_dump_nl_policy[UB_NL_A_NODE + 1] = {
	[UB_NL_A_FABRIC] = { .type = NLA_U32, },
	[UB_NL_A_NODE] = NLA_POLICY_FULL_RANGE(NLA_U32, &ub_nl_a_node_range),
};

/* UB_NL_CMD_WINDOW_GET - do */
static const struct nla_policy ub_window_get_do_nl_policy[UB_NL_A_WINDOW + 1] = {
	[UB_NL_A_FABRIC] = { .type = NLA_U32, },
	[UB_NL_A_WINDOW] = { .type = NLA_U32, },
};

/* UB_NL_CMD_WINDOW_GET - dump */
static const struct nla_policy ub_window_get_dump_nl_policy[UB_NL_A_WINDOW + 1] = {
	[UB_NL_A_FABRIC] = { .type = NLA_U32, },
	[UB_NL_A_WINDOW] = { .type = NLA_U32, },
};

/* UB_NL_CMD_GROUP_GET - do */
static const struct nla_policy ub_group_get_do_nl_policy[UB_NL_A_MEMBER + 1] = {
	[UB_NL_A_FABRIC] = { .type = NLA_U32, },
	[UB_NL_A_SLOT] = { .type = NLA_U32, },
	[UB_NL_A_MEMBER] = { .type = NLA_U32, },
};

/* UB_NL_CMD_GROUP_GET - dump */
static const struct nla_policy ub_group_get_dump_nl_policy[UB_NL_A_MEMBER + 1] = {
	[UB_NL_A_FABRIC] = { .type = NLA_U32, },
	[UB_NL_A_SLOT] = { .type = NLA_U32, },
	[UB_NL_A_MEMBER] = { .type = NLA_U32, },
};

/* UB_NL_CMD_LEVEL_GET - do */
static const struct nla_policy ub_level_get_do_nl_policy[UB_NL_A_LEVEL + 1] = {
	[UB_NL_A_FABRIC] = { .type = NLA_U32, },
	[UB_NL_A_LEVEL] = { .type = NLA_NUL_STRING, .len = 15, },
};

/* UB_NL_CMD_LEVEL_GET - dump */
static const struct nla_policy ub_level_get_dump_nl_policy[UB_NL_A_LEVEL + 1] = {
	[UB_NL_A_FABRIC] = { .type = NLA_U32, },
	[UB_NL_A_LEVEL] = { .type = NLA_NUL_STRING, .len = 15, },
};

/* UB_NL_CMD_STATS_GET - do */
static const struct nla_policy ub_stats_get_do_nl_policy[UB_NL_A_FABRIC + 1] = {
	[UB_NL_A_FABRIC] = { .type = NLA_U32, },
};

/* UB_NL_CMD_STATS_GET - dump */
static const struct nla_policy ub_stats_get_dump_nl_policy[UB_NL_A_FABRIC + 1] = {
	[UB_NL_A_FABRIC] = { .type = NLA_U32, },
};

/* Ops table for ub */
static const struct genl_split_ops ub_nl_ops[] = {
	{
		.cmd		= UB_NL_CMD_FABRIC_GET,
		.doit		= ub_nl_fabric_get_doit,
		.policy		= ub_fabric_get_do_nl_policy,
		.maxattr	= UB_NL_A_LOOP,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= UB_NL_CMD_FABRIC_GET,
		.dumpit		= ub_nl_fabric_get_dumpit,
		.policy		= ub_fabric_get_dump_nl_policy,
		.maxattr	= UB_NL_A_LOOP,
		.flags		= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= UB_NL_CMD_FABRIC_ADD,
		.doit		= ub_nl_fabric_add_doit,
		.policy		= ub_fabric_add_nl_policy,
		.maxattr	= UB_NL_A_PEER,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= UB_NL_CMD_FABRIC_DEL,
		.doit		= ub_nl_fabric_del_doit,
		.policy		= ub_fabric_del_nl_policy,
		.maxattr	= UB_NL_A_FABRIC,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= UB_NL_CMD_FABRIC_SET,
		.doit		= ub_nl_fabric_set_doit,
		.policy		= ub_fabric_set_nl_policy,
		.maxattr	= UB_NL_A_STATE,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= UB_NL_CMD_FABRIC_FORMAT,
		.doit		= ub_nl_fabric_format_doit,
		.policy		= ub_fabric_format_nl_policy,
		.maxattr	= UB_NL_A_FORCE,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= UB_NL_CMD_NODE_GET,
		.doit		= ub_nl_node_get_doit,
		.policy		= ub_node_get_do_nl_policy,
		.maxattr	= UB_NL_A_NODE,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= UB_NL_CMD_NODE_GET,
		.dumpit		= ub_nl_node_get_dumpit,
		.policy		= ub_node_get_dump_nl_policy,
		.maxattr	= UB_NL_A_NODE,
		.flags		= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= UB_NL_CMD_WINDOW_GET,
		.doit		= ub_nl_window_get_doit,
		.policy		= ub_window_get_do_nl_policy,
		.maxattr	= UB_NL_A_WINDOW,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= UB_NL_CMD_WINDOW_GET,
		.dumpit		= ub_nl_window_get_dumpit,
		.policy		= ub_window_get_dump_nl_policy,
		.maxattr	= UB_NL_A_WINDOW,
		.flags		= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= UB_NL_CMD_GROUP_GET,
		.doit		= ub_nl_group_get_doit,
		.policy		= ub_group_get_do_nl_policy,
		.maxattr	= UB_NL_A_MEMBER,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= UB_NL_CMD_GROUP_GET,
		.dumpit		= ub_nl_group_get_dumpit,
		.policy		= ub_group_get_dump_nl_policy,
		.maxattr	= UB_NL_A_MEMBER,
		.flags		= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= UB_NL_CMD_LEVEL_GET,
		.doit		= ub_nl_level_get_doit,
		.policy		= ub_level_get_do_nl_policy,
		.maxattr	= UB_NL_A_LEVEL,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= UB_NL_CMD_LEVEL_GET,
		.dumpit		= ub_nl_level_get_dumpit,
		.policy		= ub_level_get_dump_nl_policy,
		.maxattr	= UB_NL_A_LEVEL,
		.flags		= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= UB_NL_CMD_STATS_GET,
		.doit		= ub_nl_stats_get_doit,
		.policy		= ub_stats_get_do_nl_policy,
		.maxattr	= UB_NL_A_FABRIC,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= UB_NL_CMD_STATS_GET,
		.dumpit		= ub_nl_stats_get_dumpit,
		.policy		= ub_stats_get_dump_nl_policy,
		.maxattr	= UB_NL_A_FABRIC,
		.flags		= GENL_CMD_CAP_DUMP,
	},
};

static const struct genl_multicast_group ub_nl_mcgrps[] = {
	[UB_NLGRP_EVENTS] = { "events", },
};

struct genl_family ub_nl_family __ro_after_init = {
	.name		= UB_FAMILY_NAME,
	.version	= UB_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.split_ops	= ub_nl_ops,
	.n_split_ops	= ARRAY_SIZE(ub_nl_ops),
	.mcgrps		= ub_nl_mcgrps,
	.n_mcgrps	= ARRAY_SIZE(ub_nl_mcgrps),
};
