/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/*
 * Generic netlink family "ub": fabrics, nodes, counters, events.
 *
 * FABRIC_GET	do: FABRIC; dump: nothing. One message for each device.
 * FABRIC_ADD	do: TRANSPORT "loop", NODES, optionally NODE (first id) and
 *		BYTES. Replies with LOOP. CAP_NET_ADMIN.
 * FABRIC_DEL	do: LOOP, all nodes of it. CAP_NET_ADMIN.
 * NODE_GET	dump: FABRIC. One message for each node record in use.
 * STATS_GET	do: FABRIC. Replies with a STAT for each counter of the node.
 * GROUP_GET	dump: FABRIC. One message for each member of a group that lives on
 *		the node: GROUP is its handle, 0 while it is made; REASON is
 *		there when the group is lost. STAT counts calls of the device:
 *		a library's own driver shows in EPOCH alone.
 * To the multicast group "events":
 *
 * EVENT	what struct ub_event holds, of nodes that come and go.
 * FABRIC_ADD, FABRIC_DEL
 *		a device came, went: FABRIC to INCARNATION of what FABRIC_GET has.
 *
 * Attributes are of one space for all commands. Numbers are never reused.
 */
#ifndef _UAPI_UB_NETLINK_H
#define _UAPI_UB_NETLINK_H

#define UB_GENL_NAME	"ub"
#define UB_GENL_VERSION	1
#define UB_GENL_MCGRP	"events"

enum {
	UB_NL_CMD_FABRIC_GET = 1,
	UB_NL_CMD_FABRIC_ADD,
	UB_NL_CMD_FABRIC_DEL,
	UB_NL_CMD_NODE_GET,
	UB_NL_CMD_STATS_GET,
	UB_NL_CMD_EVENT,
	UB_NL_CMD_GROUP_GET,

	__UB_NL_CMD_MAX,
	UB_NL_CMD_MAX = __UB_NL_CMD_MAX - 1
};

enum {
	UB_NL_A_FABRIC = 1,	/* u32, N of /dev/ubfab<N> */
	UB_NL_A_DEVICE,		/* string */
	UB_NL_A_TRANSPORT,	/* string */
	UB_NL_A_FABRIC_ID,	/* binary, 16 bytes */
	UB_NL_A_GENERATION,	/* u64, of the fabric */
	UB_NL_A_STATE,		/* u32, enum ub_nl_state */
	UB_NL_A_REASON,		/* u32, enum ub_reason */
	UB_NL_A_NODE,		/* u32, node id */
	UB_NL_A_INCARNATION,	/* u64, of the node */
	UB_NL_A_SELF,		/* flag: the node is this one */
	UB_NL_A_AGE_NS,		/* u64, since its heartbeat moved */
	UB_NL_A_DETECT_MS,	/* u32 */
	UB_NL_A_MEMTYPE,	/* u32, enum ub_memtype */
	UB_NL_A_MAX_NODES,	/* u32 */
	UB_NL_A_MAX_MEMBERS,	/* u32 */
	UB_NL_A_BYTES,		/* u64, of the fabric's memory */
	UB_NL_A_SLICE,		/* u64, bytes of the node's window memory */
	UB_NL_A_FREE,		/* u64, of them not in use */
	UB_NL_A_LANES,		/* u32, open files */
	UB_NL_A_LOOP,		/* u32, id of a loop fabric */
	UB_NL_A_NODES,		/* u32, how many */
	UB_NL_A_STAT,		/* nest of UB_NL_STAT_*, multi */
	UB_NL_A_EVENT,		/* u32, enum ub_event_type */
	UB_NL_A_GVA,		/* u64 */
	UB_NL_A_VALUE,		/* u64 */
	UB_NL_A_GROUP,		/* u32 */
	UB_NL_A_PAD,
	UB_NL_A_LANE,		/* u32, of the node */
	UB_NL_A_SLOT,		/* u32, of the fabric; the same for all members */
	UB_NL_A_LEVEL,		/* string */
	UB_NL_A_INDEX,		/* u32, the member's place in its group */
	UB_NL_A_MEMBERS,	/* u32, of the group */
	UB_NL_A_EPOCH,		/* u64, last barrier that the member arrived at */

	__UB_NL_A_MAX,
	UB_NL_A_MAX = __UB_NL_A_MAX - 1
};

enum {
	UB_NL_STAT_NAME = 1,	/* string */
	UB_NL_STAT_VALUE,	/* u64 */
	UB_NL_STAT_PAD,

	__UB_NL_STAT_MAX,
	UB_NL_STAT_MAX = __UB_NL_STAT_MAX - 1
};

enum ub_nl_state {
	UB_NL_STATE_UP		= 0,
	UB_NL_STATE_FENCED	= 1,
	UB_NL_STATE_DOWN	= 2,	/* nodes: silent or left */
	UB_NL_STATE_JOINING	= 3	/* nodes: being claimed, or not looked at yet */
};

#endif /* _UAPI_UB_NETLINK_H */
