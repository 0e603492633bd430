// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic netlink: looking at nodes, windows, groups, levels, counters.
 *
 * Invariant: a walk tells an object whole or not at all, and moves the cursor
 * past it only then.
 */
#include "netlink.h"
#include "netlink-gen.h"

/* Are there records of nodes to be read, and do the peers stand still? */
static bool is_member(struct ub_fabric *f)
{
	enum ub_fabric_state state = READ_ONCE(f->state);

	return state == UB_FABRIC_UP || state == UB_FABRIC_FENCED;
}

/* Whose it is. The lane's file is held by a lock. */
static bool put_lane(struct sk_buff *skb, const struct ub_file *file)
{
	pid_t pid = pid_vnr(file->owner);

	return nla_put_u32(skb, UB_NL_A_LANE, file->lane) ||
	       (pid && nla_put_u32(skb, UB_NL_A_PID, pid));
}

static bool put_counter(struct sk_buff *skb, unsigned int stat, u64 value)
{
	struct nlattr *nest = nla_nest_start(skb, UB_NL_A_STAT);

	if (!nest || nla_put_string(skb, UB_NL_STAT_NAME, ub_stats_name(stat)) ||
	    nla_put_u64_64bit(skb, UB_NL_STAT_VALUE, value, UB_NL_STAT_PAD))
		return true;
	nla_nest_end(skb, nest);
	return false;
}

static bool put_counters(struct sk_buff *skb, const u64 *value, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (put_counter(skb, i, READ_ONCE(value[i])))
			return true;
	return false;
}

/* ---- nodes: the key is the index of the record ---- */

/* Is this life of it the one that the tick watches? Then what it noted is of it. */
static bool peer_seen(struct ub_fabric *f, u32 index, const struct ub_node_view *v)
{
	const struct ub_peer *p = &f->peer[index];

	return smp_load_acquire(&p->incarnation) == v->incarnation;	/* not shared */
}

static u32 state_of(struct ub_fabric *f, u32 index,
		    const struct ub_node_view *v)
{
	if (v->word & UB_NODE_FENCED)
		return UB_STATE_FENCED;
	if (UB_NODE_STATE(v->word) == UB_NODE_CLAIMING)
		return UB_STATE_JOINING;
	if (UB_NODE_STATE(v->word) != UB_NODE_UP)
		return UB_STATE_DOWN;
	if (!peer_seen(f, index, v))
		return UB_STATE_JOINING;	/* the tick has not seen it yet */
	return READ_ONCE(f->peer[index].alive) ? UB_STATE_UP : UB_STATE_DOWN;
}

/* What the node wrote of itself, and what was rung. */
static bool put_doorbell(struct sk_buff *skb, struct ub_fabric *f, u32 index)
{
	struct ub_shm_node *rec = ub_shm_node_rec(f, index);
	u64 memtype = ub_ld(&rec->memtype), bell = ub_ld(&rec->bell);
	u64 sum[UB_STATS], rings = atomic64_read(&f->peer[index].rings); /* not shared */
	const struct ub_stats *stats = (const struct ub_stats *)sum;

	if (index == f->self) {
		ub_stats_sum(f, sum);
		rings = stats->rings;
	}
	return nla_put_u32(skb, UB_NL_A_MEMTYPE,
			   memtype <= UB_MEMTYPE_UC ? memtype : UB_MEMTYPE_UNKNOWN) ||
	       (bell && f->ops->ring && nla_put_flag(skb, UB_NL_A_DOORBELL)) ||
	       ub_nl_put_u64(skb, UB_NL_A_RINGS, rings) ||
	       (index == f->self &&
		(ub_nl_put_u64(skb, UB_NL_A_BELLS, stats->bells) ||
		 nla_put_flag(skb, UB_NL_A_SELF)));
}

static bool put_node(struct sk_buff *skb, struct ub_fabric *f, u32 index,
		     const struct ub_node_view *v)
{
	const struct ub_peer *p = &f->peer[index];
	u32 state = state_of(f, index, v);
	bool seen = peer_seen(f, index, v);

	return nla_put_u32(skb, UB_NL_A_NODE, UB_NODE_ID(v->word)) ||
	       ub_nl_put_u64(skb, UB_NL_A_INCARNATION, v->incarnation) ||
	       nla_put_u32(skb, UB_NL_A_STATE, state) ||
	       (state && seen && nla_put_u32(skb, UB_NL_A_REASON, READ_ONCE(p->reason))) ||
	       (seen && ub_nl_put_u64(skb, UB_NL_A_HEARTBEAT_AGE,
				      ub_member_age(f, index))) ||
	       put_doorbell(skb, f, index);
}

static int node_walk(struct ub_nl_get *g, struct ub_fabric *f)
{
	u64 *i = &g->at->key;
	int err;

	for (; is_member(f) && *i < f->geo.max_nodes; (*i)++) {
		struct ub_node_view v;
		void *hdr;

		if (!ub_member_view(f, *i, &v) || !v.current_gen ||
		    !ub_nl_asked(g, UB_NL_A_NODE, UB_NODE_ID(v.word)))
			continue;
		hdr = ub_nl_begin(g, f);
		err = ub_nl_end(g, hdr, hdr && put_node(g->skb, f, *i, &v));
		if (err)
			return err;
	}
	return 0;
}

static const struct ub_nl_kind nodes = {
	.cmd	= UB_NL_CMD_NODE_GET,
	.change	= UB_CHANGE_NODE,
	.keys	= { UB_NL_A_FABRIC, UB_NL_A_NODE },
	.walk	= node_walk,
};

int ub_nl_node_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	int err = ub_nl_get(info, &nodes);

	if (err == -ENOENT)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[UB_NL_A_NODE],
				    "node: none of that id on the fabric");
	return err;
}

int ub_nl_node_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return ub_nl_dump(skb, cb, &nodes);
}

/* ---- own windows: the key is the id ---- */

/* Quarantine takes the rights away, and so does the record. */
static bool put_window(struct sk_buff *skb, const struct ub_window *w, u32 peers)
{
	u32 i, waits_for = 0;

	for (i = 0; i < peers; i++)
		waits_for += !!w->peer[i].incarnation;
	return nla_put_u32(skb, UB_NL_A_WINDOW, w->id) ||
	       ub_nl_put_u64(skb, UB_NL_A_GVA, w->gva) ||
	       ub_nl_put_u64(skb, UB_NL_A_LENGTH, w->length) ||
	       ub_nl_put_u64(skb, UB_NL_A_GENERATION, w->generation) ||
	       nla_put_u32(skb, UB_NL_A_WIN_STATE,
			   w->rights ? UB_WIN_STATE_LIVE : UB_WIN_STATE_QUARANTINE) ||
	       (w->rights && nla_put_u32(skb, UB_NL_A_RIGHTS, w->rights)) ||
	       (w->file && put_lane(skb, w->file)) ||
	       (!w->rights && nla_put_u32(skb, UB_NL_A_WAITS_FOR, waits_for));
}

static int window_walk(struct ub_nl_get *g, struct ub_fabric *f)
{
	unsigned long id = g->at->key;
	struct ub_window *w;
	int err = 0;

	mutex_lock(&f->win_lock);
	xa_for_each_start(&f->windows, id, w, g->at->key) {
		void *hdr;

		g->at->key = id;
		/* Without a generation it is being made. */
		if (!w->generation || !ub_nl_asked(g, UB_NL_A_WINDOW, id))
			continue;
		hdr = ub_nl_begin(g, f);
		err = ub_nl_end(g, hdr, hdr && put_window(g->skb, w,
							  f->geo.max_nodes));
		if (err)
			break;
	}
	mutex_unlock(&f->win_lock);
	return err;
}

static const struct ub_nl_kind windows = {
	.cmd	= UB_NL_CMD_WINDOW_GET,
	.change	= UB_CHANGE_WINDOW,
	.keys	= { UB_NL_A_FABRIC, UB_NL_A_WINDOW },
	.walk	= window_walk,
};

int ub_nl_window_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	int err = ub_nl_get(info, &windows);

	if (err == -ENOENT)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[UB_NL_A_WINDOW],
				    "window: the node exports none of that id");
	return err;
}

int ub_nl_window_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return ub_nl_dump(skb, cb, &windows);
}

/* A member of a former life names what may be others' by now. */
static bool lives(const struct ub_gmember *gm)
{
	return gm->file->node_incarnation == gm->fabric->incarnation;
}

/* ---- members of groups: the key is their serial number here ---- */

static bool put_group(struct sk_buff *skb, struct ub_gmember *gm)
{
	const struct ub_bar *b = &gm->bar;
	u64 epoch = UB_ARR_EPOCH(ub_ld(&b->g.line[b->me].arrival));
	u64 verdict = ub_ld(&b->g.head->verdict);
	u32 missing = ub_bar_missing(b, epoch);

	return nla_put_u32(skb, UB_NL_A_SLOT, gm->slot) ||
	       nla_put_u32(skb, UB_NL_A_MEMBER, b->me) ||
	       nla_put_u32(skb, UB_NL_A_MEMBERS, b->g.n) ||
	       ub_nl_put_u64(skb, UB_NL_A_GROUP_ID, gm->id) ||
	       nla_put_string(skb, UB_NL_A_LEVEL, gm->level) ||
	       put_lane(skb, gm->file) ||
	       nla_put_u32(skb, UB_NL_A_GROUP, READ_ONCE(gm->handle)) ||
	       ub_nl_put_u64(skb, UB_NL_A_EPOCH, epoch) ||
	       (missing < b->g.n && nla_put_u32(skb, UB_NL_A_MISSING, missing)) ||
	       (verdict && nla_put_u32(skb, UB_NL_A_REASON,
				       UB_VERDICT_REASON(verdict)));
}

static bool put_group_stats(struct sk_buff *skb, struct ub_gmember *gm)
{
	return put_counters(skb, (const u64 *)&gm->stats, UB_GROUP_STATS);
}

static int group_walk(struct ub_nl_get *g, struct ub_fabric *f)
{
	struct ub_gmember *gm;
	int err = 0;

	mutex_lock(&f->members_lock);
	list_for_each_entry(gm, &f->members, fabric_node) {
		void *hdr;

		if (gm->serial < g->at->key || !lives(gm) ||
		    !ub_nl_asked(g, UB_NL_A_SLOT, gm->slot) ||
		    !ub_nl_asked(g, UB_NL_A_MEMBER, gm->bar.me))
			continue;
		g->at->key = gm->serial;
		hdr = ub_nl_begin(g, f);
		err = ub_nl_end(g, hdr, hdr && (put_group(g->skb, gm) ||
						put_group_stats(g->skb, gm)));
		if (err)
			break;
		g->at->key++;
	}
	mutex_unlock(&f->members_lock);
	return err;
}

static const struct ub_nl_kind groups = {
	.cmd	= UB_NL_CMD_GROUP_GET,
	.change	= UB_CHANGE_GROUP,
	.keys	= { UB_NL_A_FABRIC, UB_NL_A_SLOT, UB_NL_A_MEMBER },
	.walk	= group_walk,
};

int ub_nl_group_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	int err = ub_nl_get(info, &groups);

	if (err == -ENOENT)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[UB_NL_A_MEMBER],
				    "member: the slot has none of that place that lives here");
	return err;
}

int ub_nl_group_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return ub_nl_dump(skb, cb, &groups);
}

/* ---- levels: the key is the name ---- */

/* Sum over the members that live here of all groups of a level. */
struct level_sum {
	const char *name;
	u32 groups;
	u32 members;
	u32 lost;
	u64 stat[UB_GROUP_STATS];
};

/* The name after the cursor, or NULL. */
static const char *level_next(struct ub_fabric *f, const struct ub_nl_cursor *at)
{
	const char *next = NULL;
	struct ub_gmember *gm;

	lockdep_assert_held(&f->members_lock);
	list_for_each_entry(gm, &f->members, fabric_node)
		if (lives(gm) && (!at->key || strcmp(gm->level, at->level) > 0) &&
		    (!next || strcmp(gm->level, next) < 0))
			next = gm->level;
	return next;
}

/* @seen: room for a bit of each slot */
static void level_add(struct ub_fabric *f, struct level_sum *sum,
		      unsigned long *seen)
{
	struct ub_gmember *gm;
	unsigned int i;

	lockdep_assert_held(&f->members_lock);
	bitmap_zero(seen, f->geo.nslots);
	list_for_each_entry(gm, &f->members, fabric_node) {
		const u64 *stat = (const u64 *)&gm->stats;

		if (!lives(gm) || strcmp(gm->level, sum->name))
			continue;
		if (!test_bit(gm->slot, seen))
			sum->groups++;
		bitmap_set(seen, gm->slot, 1);
		sum->members++;
		sum->lost += !!ub_ld(&gm->bar.g.head->verdict);
		for (i = 0; i < UB_GROUP_STATS; i++)
			sum->stat[i] += READ_ONCE(stat[i]);
	}
}

static bool put_level(struct sk_buff *skb, const struct level_sum *sum)
{
	return nla_put_string(skb, UB_NL_A_LEVEL, sum->name) ||
	       nla_put_u32(skb, UB_NL_A_GROUPS, sum->groups) ||
	       nla_put_u32(skb, UB_NL_A_MEMBERS, sum->members) ||
	       nla_put_u32(skb, UB_NL_A_LOST, sum->lost) ||
	       put_counters(skb, sum->stat, UB_GROUP_STATS);
}

static int level_walk(struct ub_nl_get *g, struct ub_fabric *f)
{
	const struct nlattr *wanted = g->attrs[UB_NL_A_LEVEL];
	struct ub_nl_cursor *at = g->at;
	unsigned long *seen = bitmap_alloc(f->geo.nslots, GFP_KERNEL);
	const char *name;
	int err = 0;

	if (!seen)
		return -ENOMEM;
	mutex_lock(&f->members_lock);
	while (!err && (name = level_next(f, at))) {
		struct level_sum sum = { .name = name };
		void *hdr;

		if (!wanted || !nla_strcmp(wanted, name)) {
			level_add(f, &sum, seen);
			hdr = ub_nl_begin(g, f);
			err = ub_nl_end(g, hdr, hdr && put_level(g->skb, &sum));
		}
		if (!err) {
			at->key = 1;
			strscpy(at->level, name, sizeof(at->level));
		}
	}
	mutex_unlock(&f->members_lock);
	bitmap_free(seen);
	return err;
}

static const struct ub_nl_kind levels = {
	.cmd	= UB_NL_CMD_LEVEL_GET,
	.change	= UB_CHANGE_GROUP,
	.keys	= { UB_NL_A_FABRIC, UB_NL_A_LEVEL },
	.walk	= level_walk,
};

int ub_nl_level_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	int err = ub_nl_get(info, &levels);

	if (err == -ENOENT)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[UB_NL_A_LEVEL],
				    "level: no group of that one has a member here");
	return err;
}

int ub_nl_level_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return ub_nl_dump(skb, cb, &levels);
}

/* ---- counters ---- */

static int stats_walk(struct ub_nl_get *g, struct ub_fabric *f)
{
	u64 sum[UB_STATS];
	void *hdr;

	ub_stats_sum(f, sum);
	hdr = ub_nl_begin(g, f);
	return ub_nl_end(g, hdr, hdr && put_counters(g->skb, sum, UB_STATS));
}

static const struct ub_nl_kind stats = {
	.cmd	= UB_NL_CMD_STATS_GET,
	.change	= UB_CHANGE_FABRIC,
	.keys	= { UB_NL_A_FABRIC },
	.walk	= stats_walk,
};

int ub_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return ub_nl_get(info, &stats);
}

int ub_nl_stats_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return ub_nl_dump(skb, cb, &stats);
}
