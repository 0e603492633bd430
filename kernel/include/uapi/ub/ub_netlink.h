/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/ub.yaml */
/* YNL-GEN uapi header */

#ifndef _UAPI_LINUX_UB_H
#define _UAPI_LINUX_UB_H

#define UB_FAMILY_NAME		"ub"
#define UB_FAMILY_VERSION	1

/**
 * enum ub_state - what a fabric's device, or a node of a fabric, is doing
 * @UB_STATE_UP: it takes part
 * @UB_STATE_FENCED: it was taken for dead
 * @UB_STATE_DOWN: node - silent, or left
 * @UB_STATE_JOINING: being claimed; node - or not looked at yet
 * @UB_STATE_REFUSED: device - the memory holds something else, or another
 *   layout; only fabric-format helps
 */
enum ub_state {
	UB_STATE_UP,
	UB_STATE_FENCED,
	UB_STATE_DOWN,
	UB_STATE_JOINING,
	UB_STATE_REFUSED,

	/* private: */
	__UB_STATE_MAX,
	UB_STATE_MAX = (__UB_STATE_MAX - 1)
};

/**
 * enum ub_win_state - what a window's memory is used for
 * @UB_WIN_STATE_LIVE: exported
 * @UB_WIN_STATE_QUARANTINE: destroyed; kept until no peer can reach it any
 *   more
 */
enum ub_win_state {
	UB_WIN_STATE_LIVE,
	UB_WIN_STATE_QUARANTINE,

	/* private: */
	__UB_WIN_STATE_MAX,
	UB_WIN_STATE_MAX = (__UB_WIN_STATE_MAX - 1)
};

enum {
	UB_NL_A_FABRIC = 1,
	UB_NL_A_NODE,
	UB_NL_A_WINDOW,
	UB_NL_A_SLOT,
	UB_NL_A_MEMBER,
	UB_NL_A_LEVEL,
	UB_NL_A_LOOP,
	UB_NL_A_TRANSPORT,
	UB_NL_A_NODES,
	UB_NL_A_BYTES,
	UB_NL_A_DETECT_MS,
	UB_NL_A_STATE,
	UB_NL_A_FORCE,
	UB_NL_A_PAD,
	UB_NL_A_DEVICE,
	UB_NL_A_FABRIC_ID,
	UB_NL_A_GENERATION,
	UB_NL_A_REASON,
	UB_NL_A_INCARNATION,
	UB_NL_A_SELF,
	UB_NL_A_HEARTBEAT_AGE,
	UB_NL_A_MEMTYPE,
	UB_NL_A_DOORBELL,
	UB_NL_A_RINGS,
	UB_NL_A_BELLS,
	UB_NL_A_MAX_NODES,
	UB_NL_A_MAX_MEMBERS,
	UB_NL_A_MAX_WINDOWS,
	UB_NL_A_SLICE,
	UB_NL_A_FREE,
	UB_NL_A_LANES,
	UB_NL_A_LANE,
	UB_NL_A_PID,
	UB_NL_A_GVA,
	UB_NL_A_LENGTH,
	UB_NL_A_RIGHTS,
	UB_NL_A_WIN_STATE,
	UB_NL_A_WAITS_FOR,
	UB_NL_A_GROUP,
	UB_NL_A_GROUP_ID,
	UB_NL_A_GROUPS,
	UB_NL_A_MEMBERS,
	UB_NL_A_LOST,
	UB_NL_A_EPOCH,
	UB_NL_A_MISSING,
	UB_NL_A_STAT,
	UB_NL_A_EVENT,
	UB_NL_A_VALUE,
	UB_NL_A_DEV,
	UB_NL_A_NAME,
	UB_NL_A_PORT,
	UB_NL_A_PEER,

	__UB_NL_A_MAX,
	UB_NL_A_MAX = (__UB_NL_A_MAX - 1)
};

enum {
	UB_NL_PEER_NODE = 1,
	UB_NL_PEER_ADDRESS,

	__UB_NL_PEER_MAX,
	UB_NL_PEER_MAX = (__UB_NL_PEER_MAX - 1)
};

enum {
	UB_NL_STAT_NAME = 1,
	UB_NL_STAT_VALUE,
	UB_NL_STAT_PAD,

	__UB_NL_STAT_MAX,
	UB_NL_STAT_MAX = (__UB_NL_STAT_MAX - 1)
};

enum {
	UB_NL_CMD_FABRIC_GET = 1,
	UB_NL_CMD_FABRIC_ADD,
	UB_NL_CMD_FABRIC_DEL,
	UB_NL_CMD_FABRIC_SET,
	UB_NL_CMD_FABRIC_FORMAT,
	UB_NL_CMD_NODE_GET,
	UB_NL_CMD_WINDOW_GET,
	UB_NL_CMD_GROUP_GET,
	UB_NL_CMD_LEVEL_GET,
	UB_NL_CMD_STATS_GET,
	UB_NL_CMD_FABRIC_ADD_NTF,
	UB_NL_CMD_FABRIC_DEL_NTF,
	UB_NL_CMD_FABRIC_CHANGE_NTF,
	UB_NL_CMD_EVENT,

	__UB_NL_CMD_MAX,
	UB_NL_CMD_MAX = (__UB_NL_CMD_MAX - 1)
};

#define UB_MCGRP_EVENTS	"events"

#endif /* _UAPI_LINUX_UB_H */
