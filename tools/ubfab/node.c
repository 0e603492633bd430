// SPDX-License-Identifier: GPL-2.0-only
/* ubfab node: the nodes of a fabric, as a device of it sees them. */
#include "ub_names.h"
#include "ubfab.h"

static void show_one(const struct reply *r, void *arg)
{
	(void)arg;
	out_open(r);
	out_u64("node", reply_u32(r, UB_NL_A_NODE));
	out_u64("incarnation", reply_u64(r, UB_NL_A_INCARNATION));
	out_str("state", ub_state_name(reply_u32(r, UB_NL_A_STATE)));
	out_reason_if(r, "reason");
	if (r->a[UB_NL_A_HEARTBEAT_AGE])
		out_ns("heartbeat_age", reply_u64(r, UB_NL_A_HEARTBEAT_AGE));
	out_str("memtype", ub_memtype_name(reply_u32(r, UB_NL_A_MEMTYPE)));
	out_str("wakes_by", r->a[UB_NL_A_DOORBELL] ? "doorbell" : "timer");
	out_u64("rings", reply_u64(r, UB_NL_A_RINGS));
	if (r->a[UB_NL_A_BELLS])
		out_u64("bells", reply_u64(r, UB_NL_A_BELLS));
	if (r->a[UB_NL_A_SELF])
		out_flag("self");
	out_close();
}

static int node_show(struct args *a)
{
	static const struct key keys[] = {
		{ .name = "node", .attr = UB_NL_A_NODE },
		{ }
	};

	out_begin();
	return ubnl_show(a, UB_NL_CMD_NODE_GET, keys, show_one, NULL) ?: out_end();
}

int do_node(struct args *a)
{
	static const struct verb verbs[] = {
		{ "show", node_show },
		{ "list", node_show },
		{ }
	};

	return args_verb(a, "node", verbs);
}
