// SPDX-License-Identifier: GPL-2.0-only
/* ubfab node: the nodes of a fabric, as a device of it sees them. */
#include <stdlib.h>

#include "ub_names.h"
#include "ubfab.h"

static void show_one(const struct reply *r, void *arg)
{
	const struct fabric *f = arg;

	out_open(f->minor);
	out_u64("node", reply_u32(r, UB_NL_A_NODE));
	out_u64("incarnation", reply_u64(r, UB_NL_A_INCARNATION));
	out_str("state", ub_state_name(reply_u32(r, UB_NL_A_STATE)));
	if (r->a[UB_NL_A_REASON])
		out_str("reason", ub_reason_name(reply_u32(r, UB_NL_A_REASON)));
	if (r->a[UB_NL_A_AGE_NS])
		out_ns("heartbeat_age", reply_u64(r, UB_NL_A_AGE_NS));
	/* A node knows how it maps the memory itself, not how others do. */
	if (r->a[UB_NL_A_SELF]) {
		out_str("memtype", ub_memtype_name(f->memtype));
		out_flag("self");
	}
	out_close();
}

static int node_show(struct args *a)
{
	struct fabric *f;
	int64_t minor;
	size_t n, i;
	int err;

	err = args_dev(a, &minor) ?: fabric_list(minor, &f, &n);
	if (err)
		return err;
	out_begin();
	for (i = 0; i < n && !err; i++)
		err = ubnl_about(UB_NL_CMD_NODE_GET, NLM_F_DUMP, f[i].minor,
				 show_one, &f[i]);
	free(f);
	return err ?: out_end();
}

int do_node(struct args *a)
{
	const char *verb = args_next(a);

	if (!verb || args_is(verb, "show") || args_is(verb, "list"))
		return node_show(a);
	return usage("node: '%s' is not show", verb);
}
