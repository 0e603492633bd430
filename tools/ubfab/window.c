// SPDX-License-Identifier: GPL-2.0-only
/* ubfab window: what the node of a device exports. */
#include <stdio.h>

#include "ub_names.h"
#include "ubfab.h"

static void show_rights(uint32_t rights)
{
	char text[32];

	snprintf(text, sizeof(text), "%s%s%s",
		 rights & UB_WIN_READ ? ",read" : "",
		 rights & UB_WIN_WRITE ? ",write" : "",
		 rights & UB_WIN_ATOMIC ? ",atomic" : "");
	out_str("rights", *text ? text + 1 : "none");
}

static void show_one(const struct reply *r, void *arg)
{
	(void)arg;
	out_open(r);
	out_u64("window", reply_u32(r, UB_NL_A_WINDOW));
	out_hex("gva", reply_u64(r, UB_NL_A_GVA));
	out_bytes("length", reply_u64(r, UB_NL_A_LENGTH));
	out_str("state", ub_win_state_name(reply_u32(r, UB_NL_A_WIN_STATE)));
	if (r->a[UB_NL_A_RIGHTS])
		show_rights(reply_u32(r, UB_NL_A_RIGHTS));
	out_u32_if(r, "lane", UB_NL_A_LANE);
	out_u32_if(r, "pid", UB_NL_A_PID);
	out_u32_if(r, "waits_for", UB_NL_A_WAITS_FOR);
	if (opts.details)
		out_u64("generation", reply_u64(r, UB_NL_A_GENERATION));
	out_close();
}

static int window_show(struct args *a)
{
	static const struct key keys[] = {
		{ .name = "window", .attr = UB_NL_A_WINDOW },
		{ }
	};

	out_begin();
	return ubnl_show(a, UB_NL_CMD_WINDOW_GET, keys, show_one, NULL) ?: out_end();
}

int do_window(struct args *a)
{
	static const struct verb verbs[] = {
		{ "show", window_show },
		{ "list", window_show },
		{ }
	};

	return args_verb(a, "window", verbs);
}
