/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Short names of what the kernel tells by number: one word each, the same in
 * text and JSON. ub_name() gives "unknown" for what a newer kernel may say.
 */
#ifndef UB_NAMES_H
#define UB_NAMES_H

#include <stddef.h>
#include <ub/ub.h>
#include <ub/ub_netlink.h>

static const char * const ub_reason_names[] = {
	[UB_REASON_NONE]	= "none",
	[UB_REASON_HEARTBEAT]	= "no-heartbeat",
	[UB_REASON_LEFT]	= "left",
	[UB_REASON_FENCED]	= "fenced",
	[UB_REASON_EXIT]	= "exit",
	[UB_REASON_TIMEOUT]	= "timeout",
	[UB_REASON_LINK]	= "link",
	[UB_REASON_ISOLATED]	= "isolated",
	[UB_REASON_VERSION]	= "version",
	[UB_REASON_REBOOT]	= "reboot",
	[UB_REASON_ERASED]	= "erased",
};

static const char * const ub_state_names[] = {
	[UB_STATE_UP]		= "up",
	[UB_STATE_FENCED]	= "fenced",
	[UB_STATE_DOWN]		= "down",
	[UB_STATE_JOINING]	= "joining",
	[UB_STATE_REFUSED]	= "refused",
};

static const char * const ub_win_state_names[] = {
	[UB_WIN_STATE_LIVE]		= "live",
	[UB_WIN_STATE_QUARANTINE]	= "quarantine",
};

static const char * const ub_memtype_names[] = {
	[UB_MEMTYPE_UNKNOWN]	= "unknown",
	[UB_MEMTYPE_WB]		= "write-back",
	[UB_MEMTYPE_UC]		= "uncached",
};

static const char * const ub_event_names[] = {
	[UB_EVENT_NODE_UP]	= "node-up",
	[UB_EVENT_NODE_DOWN]	= "node-down",
	[UB_EVENT_FENCED]	= "fenced",
	[UB_EVENT_GROUP_LOST]	= "group-lost",
	[UB_EVENT_WINDOW_LOST]	= "window-lost",
	[UB_EVENT_OVERRUN]	= "overrun",
};

/* Of UB_NL_A_*, what requests have, as the kernel's messages name them. */
static const char * const ub_attr_names[] = {
	[UB_NL_A_FABRIC]	= "fabric",
	[UB_NL_A_NODE]		= "node",
	[UB_NL_A_WINDOW]	= "window",
	[UB_NL_A_SLOT]		= "slot",
	[UB_NL_A_MEMBER]	= "member",
	[UB_NL_A_LEVEL]		= "level",
	[UB_NL_A_LOOP]		= "loop",
	[UB_NL_A_TRANSPORT]	= "transport",
	[UB_NL_A_NODES]		= "nodes",
	[UB_NL_A_BYTES]		= "bytes",
	[UB_NL_A_DETECT_MS]	= "detect-ms",
	[UB_NL_A_STATE]		= "state",
	[UB_NL_A_FORCE]		= "force",
};

#define ub_name(names, n) \
	ub_name_of(names, sizeof(names) / sizeof((names)[0]), n)
#define ub_reason_name(n)	ub_name(ub_reason_names, n)
#define ub_state_name(n)	ub_name(ub_state_names, n)
#define ub_win_state_name(n)	ub_name(ub_win_state_names, n)
#define ub_memtype_name(n)	ub_name(ub_memtype_names, n)
#define ub_event_name(n)	ub_name(ub_event_names, n)
#define ub_attr_name(n)		ub_name(ub_attr_names, n)

static inline const char *ub_name_of(const char * const *names, size_t count,
				     unsigned int n)
{
	return n < count && names[n] ? names[n] : "unknown";
}

#endif /* UB_NAMES_H */
