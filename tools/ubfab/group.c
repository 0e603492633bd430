// SPDX-License-Identifier: GPL-2.0-only
/* ubfab group: members of groups that live on the node of a device. */
#include "ub_names.h"
#include "ubfab.h"

void show_member(const struct reply *r)
{
	out_u64("slot", reply_u32(r, UB_NL_A_SLOT));
	out_u64("member", reply_u32(r, UB_NL_A_MEMBER));
	out_u64("of", reply_u32(r, UB_NL_A_MEMBERS));
	out_str("level", reply_str(r, UB_NL_A_LEVEL));
	out_u32_if(r, "lane", UB_NL_A_LANE);
	out_u32_if(r, "pid", UB_NL_A_PID);
	out_u64("group", reply_u32(r, UB_NL_A_GROUP));
	out_u64("epoch", reply_u64(r, UB_NL_A_EPOCH));
	out_u32_if(r, "missing", UB_NL_A_MISSING);
	out_reason_if(r, "lost");
}

static void show_one(const struct reply *r, void *arg)
{
	(void)arg;
	out_open(r);
	show_member(r);
	if (opts.details) {
		out_hex("id", reply_u64(r, UB_NL_A_GROUP_ID));
		show_stats(r);
	}
	out_close();
}

static int group_show(struct args *a)
{
	static const struct key keys[] = {
		{ .name = "slot", .attr = UB_NL_A_SLOT },
		{ .name = "member", .attr = UB_NL_A_MEMBER },
		{ }
	};

	out_begin();
	return ubnl_show(a, UB_NL_CMD_GROUP_GET, keys, show_one, NULL) ?: out_end();
}

int do_group(struct args *a)
{
	static const struct verb verbs[] = {
		{ "show", group_show },
		{ "list", group_show },
		{ }
	};

	return args_verb(a, "group", verbs);
}
