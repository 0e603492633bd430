// SPDX-License-Identifier: GPL-2.0-only
/*
 * ubfab stats: counters of a node, and of the members of groups that live on
 * it, added up by level; with -d also each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ub_names.h"
#include "ubfab.h"

#define LEVELS_MAX	64

/**
 * struct level - sum of the members of all groups of a level
 * @name: of the level
 * @members: how many
 * @lost: of them in groups that are lost
 * @n: counters
 * @value: of each
 * @key: their names
 */
struct level {
	char name[32];
	uint64_t members;
	uint64_t lost;
	size_t n;
	uint64_t value[STATS_MAX];
	char key[STATS_MAX][32];
};

/**
 * struct levels - of a device
 * @minor: of it
 * @n: number
 * @v: each
 */
struct levels {
	uint32_t minor;
	size_t n;
	struct level v[LEVELS_MAX];
};

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

static void show_stats(const struct reply *r)
{
	struct stat_value v[STATS_MAX];
	size_t i, n = reply_stats(r, v);
	char key[32];

	for (i = 0; i < n; i++)
		out_u64(key_of(v[i].name, key, sizeof(key)), v[i].value);
}

static void show_fabric(const struct reply *r, void *arg)
{
	(void)arg;
	out_open(reply_u32(r, UB_NL_A_FABRIC));
	show_stats(r);
	out_close();
}

static struct level *level_of(struct levels *l, const char *name)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].name, name))
			return &l->v[i];
	if (l->n == LEVELS_MAX)
		return NULL;
	l->v[l->n] = (struct level){ 0 };
	snprintf(l->v[l->n].name, sizeof(l->v[0].name), "%s", name);
	return &l->v[l->n++];
}

static void add_group(const struct reply *r, void *arg)
{
	struct level *l = level_of(arg, reply_str(r, UB_NL_A_LEVEL));
	struct stat_value v[STATS_MAX];
	size_t i;

	if (!l)
		return;
	l->members++;
	l->lost += !!r->a[UB_NL_A_REASON];
	l->n = reply_stats(r, v);
	for (i = 0; i < l->n; i++) {
		key_of(v[i].name, l->key[i], sizeof(l->key[i]));
		l->value[i] += v[i].value;
	}
}

static void show_group(const struct reply *r, void *arg)
{
	(void)arg;
	out_open(reply_u32(r, UB_NL_A_FABRIC));
	out_u64("lane", reply_u32(r, UB_NL_A_LANE));
	out_u64("group", reply_u32(r, UB_NL_A_GROUP));
	out_u64("slot", reply_u32(r, UB_NL_A_SLOT));
	out_str("level", reply_str(r, UB_NL_A_LEVEL));
	out_u64("member", reply_u32(r, UB_NL_A_INDEX));
	out_u64("of", reply_u32(r, UB_NL_A_MEMBERS));
	out_u64("epoch", reply_u64(r, UB_NL_A_EPOCH));
	if (r->a[UB_NL_A_REASON])
		out_str("lost", ub_reason_name(reply_u32(r, UB_NL_A_REASON)));
	show_stats(r);
	out_close();
}

static int show_levels(uint32_t minor)
{
	struct levels *l = calloc(1, sizeof(*l));
	size_t i, k;
	int err;

	if (!l)
		return say("out of memory");
	err = ubnl_about(UB_NL_CMD_GROUP_GET, NLM_F_DUMP, minor, add_group, l);
	for (i = 0; i < l->n && !err; i++) {
		out_open(minor);
		out_str("level", l->v[i].name);
		out_u64("members", l->v[i].members);
		out_u64("lost", l->v[i].lost);
		for (k = 0; k < l->v[i].n; k++)
			out_u64(l->v[i].key[k], l->v[i].value[k]);
		out_close();
	}
	free(l);
	if (!err && opts.details)
		err = ubnl_about(UB_NL_CMD_GROUP_GET, NLM_F_DUMP, minor,
				 show_group, NULL);
	return err;
}

static int stats_show(struct args *a)
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
		err = ubnl_about(UB_NL_CMD_STATS_GET, 0, f[i].minor, show_fabric,
				 NULL) ?:
		      show_levels(f[i].minor);
	free(f);
	return err ?: out_end();
}

int do_stats(struct args *a)
{
	const char *verb = args_next(a);

	if (!verb || args_is(verb, "show") || args_is(verb, "list"))
		return stats_show(a);
	return usage("stats: '%s' is not show", verb);
}
