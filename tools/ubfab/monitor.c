// SPDX-License-Identifier: GPL-2.0-only
/* ubfab monitor: events as they come, a line or an object each. */
#include <stdio.h>
#include <time.h>

#include "ub_names.h"
#include "ubfab.h"

static void show_time(void)
{
	struct timespec t;
	char text[64], date[32];
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &t);
	gmtime_r(&t.tv_sec, &tm);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text, sizeof(text), "%s.%06ldZ", date, t.tv_nsec / 1000);
	out_str("time", text);
}

static void show_event(const struct reply *r)
{
	uint32_t type = reply_u32(r, UB_NL_A_EVENT);

	out_word("event", ub_event_name(type));
	out_u64("node", reply_u32(r, UB_NL_A_NODE));
	out_u64("incarnation", reply_u64(r, UB_NL_A_INCARNATION));
	if (reply_u32(r, UB_NL_A_REASON))
		out_str("reason", ub_reason_name(reply_u32(r, UB_NL_A_REASON)));
	if (reply_u32(r, UB_NL_A_GROUP))
		out_u64("group", reply_u32(r, UB_NL_A_GROUP));
	if (reply_u64(r, UB_NL_A_GVA))
		out_hex("gva", reply_u64(r, UB_NL_A_GVA));
	if (reply_u64(r, UB_NL_A_VALUE))
		out_u64("value", reply_u64(r, UB_NL_A_VALUE));
}

/* The word for a message about a device, or NULL. */
static const char *fabric_event(int cmd)
{
	switch (cmd) {
	case UB_NL_CMD_FABRIC_ADD_NTF:
		return "fabric-add";
	case UB_NL_CMD_FABRIC_DEL_NTF:
		return "fabric-del";
	case UB_NL_CMD_FABRIC_CHANGE_NTF:
		return "fabric-change";
	default:
		return NULL;
	}
}

static void show_fabric(const struct reply *r)
{
	out_word("event", fabric_event(r->cmd));
	out_str("transport", reply_str(r, UB_NL_A_TRANSPORT));
	out_u64("node", reply_u32(r, UB_NL_A_NODE));
	if (r->a[UB_NL_A_INCARNATION])
		out_u64("incarnation", reply_u64(r, UB_NL_A_INCARNATION));
	if (r->cmd == UB_NL_CMD_FABRIC_CHANGE_NTF) {
		out_str("state", ub_state_name(reply_u32(r, UB_NL_A_STATE)));
		out_u64("detect_ms", reply_u32(r, UB_NL_A_DETECT_MS));
	}
}

static void show_one(const struct reply *r, void *arg)
{
	(void)arg;
	if (r->cmd != UB_NL_CMD_EVENT && !fabric_event(r->cmd))
		return;
	out_open(r);
	if (r->cmd == UB_NL_CMD_EVENT)
		show_event(r);
	else
		show_fabric(r);
	if (opts.details)
		show_time();
	out_close();
}

int do_monitor(struct args *a)
{
	const char *word = args_next(a);

	if (word)
		return usage("monitor: what is '%s'?", word);
	out_stream();
	return ubnl_listen(show_one, NULL);
}
