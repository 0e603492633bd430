// SPDX-License-Identifier: GPL-2.0-only
/*
 * ubfab stats: counters of nodes, then of the levels of groups with members
 * that live on them, and with -d of each such member.
 */
#include <stdio.h>
#include <string.h>

#include "ub_names.h"
#include "ubfab.h"

/* As a word of a program: "put-bytes" is put_bytes. */
static const char *key_of(const char *name, char *key, size_t size)
{
	char *p;

	snprintf(key, size, "%s", name);
	for (p = key; *p; p++)
		if (*p == '-')
			*p = '_';
	return key;
}

void show_stats(const struct reply *r)
{
	struct stat_value v[STATS_MAX];
	size_t i, n = reply_stats(r, v);
	char key[32];

	for (i = 0; i < n; i++)
		out_u64(key_of(v[i].name, key, sizeof(key)), v[i].value);
}

static void show_one(const struct reply *r, void *arg)
{
	(void)arg;
	out_open(r);
	if (r->cmd == UB_NL_CMD_LEVEL_GET) {
		out_str("level", reply_str(r, UB_NL_A_LEVEL));
		out_u64("groups", reply_u32(r, UB_NL_A_GROUPS));
		out_u64("members", reply_u32(r, UB_NL_A_MEMBERS));
		out_u64("lost", reply_u32(r, UB_NL_A_LOST));
	} else if (r->cmd == UB_NL_CMD_GROUP_GET) {
		show_member(r);
	}
	show_stats(r);
	out_close();
}

static const struct key node_keys[] = { { } };

static const struct key level_keys[] = {
	{ .name = "level", .attr = UB_NL_A_LEVEL, .text = true },
	{ }
};

static const struct key group_keys[] = {
	{ .name = "slot", .attr = UB_NL_A_SLOT },
	{ .name = "member", .attr = UB_NL_A_MEMBER },
	{ }
};

/* Each of the three asks with the same words. */
static int ask(const struct args *a, int cmd, const struct key *keys)
{
	struct args again = *a;

	return ubnl_show(&again, cmd, keys, show_one, NULL);
}

static int stats_show(struct args *a)
{
	bool level = false;
	char **v;
	int err;

	for (v = a->v; *v; v++)
		level |= !strcmp(*v, "level");
	out_begin();
	err = level ? 0 : ask(a, UB_NL_CMD_STATS_GET, node_keys);
	if (!err)
		err = ask(a, UB_NL_CMD_LEVEL_GET, level_keys);
	if (!err && opts.details && !level)
		err = ask(a, UB_NL_CMD_GROUP_GET, group_keys);
	return err ?: out_end();
}

int do_stats(struct args *a)
{
	static const struct verb verbs[] = {
		{ "show", stats_show },
		{ "list", stats_show },
		{ }
	};

	return args_verb(a, "stats", verbs);
}
