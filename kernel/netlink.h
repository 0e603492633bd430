/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The generic netlink family "ub": what the rest of the module tells it, and
 * what its parts share.
 *
 *	netlink.c		gets and dumps in general, notifications
 *	netlink_fabric.c	fabrics: get, add, del, set, format
 *	netlink_get.c		nodes, windows, groups, levels, counters
 *	netlink-gen.[ch]	policies and the family, from ub.yaml
 */
#ifndef UB_NETLINK_H
#define UB_NETLINK_H

#include <net/genetlink.h>
#include <ub/ub_netlink.h>
#include "ub.h"

/* What dumps list. A dump during which it changed says so. */
enum ub_change {
	UB_CHANGE_FABRIC,
	UB_CHANGE_NODE,
	UB_CHANGE_WINDOW,
	UB_CHANGE_GROUP,
	UB_CHANGES
};

/* ---- for the rest of the module ---- */
int ub_netlink_init(void);
void ub_netlink_exit(void);
void ub_changed(enum ub_change what);
void ub_netlink_event(struct ub_fabric *f, const struct ub_event *ev);
void ub_netlink_fabric(struct ub_fabric *f, u8 cmd);

/* ---- among the parts ---- */

/**
 * struct ub_nl_cursor - where a dump stands, by key: what comes and goes
 *	between its messages moves nothing else
 * @minor: of the fabric that is next
 * @key: of the object of it that is next
 * @level: last one told, when @key is not 0; levels only
 * @begun: not the first message
 */
struct ub_nl_cursor {
	u32 minor;
	bool begun;
	u64 key;
	char level[UB_NAME_LEN];
};

/**
 * struct ub_nl_get - a get or a dump that is under way
 * @skb: the message
 * @cb: the dump, or NULL
 * @attrs: the request
 * @cmd: UB_NL_CMD_*
 * @portid: of the asker
 * @seq: of the request
 * @at: where it stands
 * @count: objects told so far
 */
struct ub_nl_get {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	struct nlattr **attrs;
	u8 cmd;
	u32 portid;
	u32 seq;
	struct ub_nl_cursor *at;
	u32 count;
};

/**
 * struct ub_nl_kind - objects that can be got
 * @cmd: UB_NL_CMD_*
 * @change: what changes their list
 * @keys: attributes that name one object; a get needs them all. 0 ends them
 * @walk: tell those objects of a fabric that the request asks for, from the
 *	cursor on, and move it. Returns 0 when all are told. Context:
 *	ub_fabrics_lock is held, so the fabric stays registered, and its shared
 *	memory may be read.
 */
struct ub_nl_kind {
	u8 cmd;
	enum ub_change change;
	u16 keys[4];
	int (*walk)(struct ub_nl_get *g, struct ub_fabric *f);
};

int ub_nl_get(struct genl_info *info, const struct ub_nl_kind *kind);
int ub_nl_dump(struct sk_buff *skb, struct netlink_callback *cb,
	       const struct ub_nl_kind *kind);
struct ub_fabric *ub_nl_find(const struct nlattr *minor,
			     struct netlink_ext_ack *extack);
bool ub_nl_asked(const struct ub_nl_get *g, int attr, u32 value);
void *ub_nl_begin(struct ub_nl_get *g, struct ub_fabric *f);
int ub_nl_end(struct ub_nl_get *g, void *hdr, bool full);
int ub_nl_put_fabric(struct sk_buff *skb, struct ub_fabric *f);

static inline bool ub_nl_put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, UB_NL_A_PAD);
}

#endif /* UB_NETLINK_H */
