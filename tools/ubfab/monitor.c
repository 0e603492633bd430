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
		out_u64("gva", reply_u64(r, UB_NL_A_GVA));
	if (reply_u64(r, UB_NL_A_VALUE))
		out_u64("value", reply_u64(r, UB_NL_A_VALUE));
}

static void show_fabric(const struct reply *r)
{
	out_word("event", r->cmd == UB_NL_CMD_FABRIC_ADD ? "fabric-add" :
							   "fabric-del");
	out_str("transport", reply_str(r, UB_NL_A_TRANSPORT));
	out_u64("node", reply_u32(r, UB_NL_A_NODE));
	out_u64("incarnation", reply_u64(r, UB_NL_A_INCARNATION));
}

static void show_one(const struct reply *r, void *arg)
{
	(void)arg;
	if (r->cmd != UB_NL_CMD_EVENT && r->cmd != UB_NL_CMD_FABRIC_ADD &&
	    r->cmd != UB_NL_CMD_FABRIC_DEL)
		return;
	out_open(reply_u32(r, UB_NL_A_FABRIC));
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
