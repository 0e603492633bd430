// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shrinking: the survivors of a group that a verdict has ended make another.
 *
 * Each sets "shrinking" in its arrival word; when every word is final the new
 * group's members read the same for all, and it is made like any other.
 *
 * Two groups may overlap, and their members shrink them in different order, each
 * waiting in one for those who wait in the other. So whoever waits in a shrink
 * takes those steps of the others that need no answer, for the other groups of
 * its lane that somebody shrinks: it agrees, joins and arrives. The call that
 * comes for such a group finds its heir and only waits.
 *
 * Invariants:
 *  - An heir is reached through its group alone, under that one's driver, until
 *    it has a handle of its own; whoever leaves the group leaves the heir.
 */
#include <linux/slab.h>
#include "ub.h"

static int all_final(struct ub_gmember *gm)
{
	const struct ub_grp *g = &gm->bar.g;
	u32 i;

	for (i = 0; i < g->n; i++)
		if (!(ub_ld(&g->line[i].arrival) & UB_ARR_FINAL))
			return 0;
	return 1;
}

static void fence_undecided(struct ub_gmember *gm)
{
	const struct ub_grp *g = &gm->bar.g;
	u32 i;

	if (ub_file_enter(gm->file))
		return;
	for (i = 0; i < g->n; i++)
		if (!(ub_ld(&g->line[i].arrival) & UB_ARR_FINAL))
			ub_grp_fence(g, i, UB_REASON_TIMEOUT);
	ub_bar_ring(gm);
	ub_fabric_exit(gm->fabric);
}

static bool shrinks(struct ub_gmember *gm, u32 i)
{
	return ub_ld(&gm->bar.g.line[i].arrival) & UB_ARR_SHRINKING;
}

/*
 * Agree to shrink: 1 all have, 0, or an error. Driver is held. Rings once: two
 * who help each other would ring each other for as long as a third is missing.
 */
static int agree(struct ub_gmember *gm)
{
	int ret = ub_file_enter(gm->file);
	bool before;

	if (ret)
		return ret;
	before = shrinks(gm, gm->bar.me);
	ret = ub_bar_verdict(&gm->bar, UB_EPOCH_MAX) ? 0 : -EINVAL;
	if (!ret)
		ret = ub_grp_shrink(&gm->bar.g, gm->bar.me);
	if (!ret) {
		if (!before)
			ub_bar_ring(gm);
		ret = all_final(gm);
	}
	ub_fabric_exit(gm->fabric);
	return ret;
}

/* Wait until everybody's word is final. */
static int wait_final(struct ub_gmember *gm, u64 timeout)
{
	int ret, tries;

	gm->helps = true;
	ret = ub_bar_sleep_on(gm, timeout, true, all_final);
	for (tries = 0; ret == -ETIMEDOUT && tries < UB_FENCE_TRIES; tries++) {
		fence_undecided(gm);
		ret = ub_bar_sleep_on(gm, ub_group_fence_until(gm), true, all_final);
	}
	gm->helps = false;
	return ret > 0 ? 0 : ret;
}

/* The survivors' group: id from the old one's, places in the old order. */
static int spec_shrunk(struct ub_gmember *gm, struct ub_group_spec *spec,
		       struct ub_member *table, u32 *survivor)
{
	const struct ub_group_key id = { .tag = gm->id, .key = { gm->word, 1 } };
	u32 n, i;
	int ret;

	ret = ub_file_enter(gm->file);
	if (ret)
		return ret;
	n = ub_grp_shrunk(&gm->bar.g, survivor);
	ret = -ESTALE;
	for (i = 0; i < n; i++) {
		ub_group_home(gm, survivor[i]);
		table[i] = gm->table[survivor[i]];
		if (survivor[i] == gm->bar.me) {
			spec->index = i;
			ret = 0;
		}
	}
	ub_fabric_exit(gm->fabric);
	spec->n = n;
	spec->id = ub_group_hash(gm->fabric, &id, sizeof(id));
	spec->shape = gm->shape;
	spec->table = table;
	spec->origin = gm;
	spec->from = survivor;
	spec->user_driver = gm->user_driver;
	memcpy(spec->level, gm->level, sizeof(spec->level));
	return ret;
}

/* All words are final: join the survivors' group, and arrive. Driver is held. */
static int begin_heir(struct ub_gmember *gm, u64 timeout)
{
	struct ub_group_spec spec = { .timeout = timeout };
	struct ub_member *table;
	u64 clash = 0;
	u32 *survivor;
	int ret = -ENOMEM;

	table = kvcalloc(gm->bar.g.n, sizeof(*table), GFP_KERNEL);
	survivor = kvcalloc(gm->bar.g.n, sizeof(*survivor), GFP_KERNEL);
	if (table && survivor)
		ret = spec_shrunk(gm, &spec, table, survivor);
	if (!ret)
		ret = ub_group_begin(gm->file, &spec, &gm->heir, &clash);
	if (!ret)
		gm->heir->helps = true;
	kvfree(survivor);
	kvfree(table);
	return ret;
}

static int shrink(struct ub_gmember *gm, u64 timeout, struct ub_gmember **out)
{
	struct ub_gmember *heir;
	u64 clash;
	int ret = gm->heir ? 1 : agree(gm);

	if (!ret)
		ret = wait_final(gm, timeout);
	if (ret < 0)
		return ret;
	/* Those who agreed are on their way: give them time. */
	timeout = max_t(u64, timeout, ktime_get_ns() +
			2ULL * READ_ONCE(gm->fabric->detect_ms) * NSEC_PER_MSEC);
	if (!gm->heir) {
		ret = begin_heir(gm, timeout);
		if (ret)
			return ret;
	}
	heir = gm->heir;
	gm->heir = NULL;
	gm->shrunk = true;
	ret = ub_group_finish(heir, timeout, &clash);
	if (!ret || ret == -EOWNERDEAD)
		*out = heir;
	return ret;
}

/* Does a member wait for others to shrink? Entered. */
static bool somebody_shrinks(struct ub_gmember *gm)
{
	u32 i;

	for (i = 0; i < gm->bar.g.n; i++)
		if (shrinks(gm, i))
			return true;
	return false;
}

/*
 * One group: what can be done without waiting. Driver is held. Its heir may have
 * lost a member, too, and be shrunk by those who have a handle of it.
 */
static void help(struct ub_gmember *gm)
{
	bool wanted;

	while (gm->heir)
		gm = gm->heir;
	if (ub_file_enter(gm->file))
		return;
	wanted = somebody_shrinks(gm);
	ub_fabric_exit(gm->fabric);
	if (wanted && agree(gm) > 0)
		begin_heir(gm, 0);	/* else at the next turn */
}

/**
 * ub_group_help() - a member waits in a shrink: take part in the lane's others
 * @gm: the member, or its heir
 *
 * Groups that a thread is in a call on are left to it.
 * Context: process, may sleep; not between enter and exit.
 */
void ub_group_help(struct ub_gmember *gm)
{
	struct ub_file *file = gm->file;
	unsigned long handle = 0;
	struct ub_gmember *other;

	for (;; handle++) {
		xa_lock(&file->groups);
		other = xa_find(&file->groups, &handle, ULONG_MAX, XA_PRESENT);
		if (other)
			kref_get(&other->ref);
		xa_unlock(&file->groups);
		if (!other)
			return;
		atomic_inc(&other->helpers);	/* not shared */
		if (mutex_trylock(&other->driver)) {
			/* Not one that was shrunk before, or destroyed. */
			if (!other->shrunk && xa_load(&file->groups, handle) == other)
				help(other);
			mutex_unlock(&other->driver);
		}
		atomic_dec(&other->helpers);	/* not shared */
		ub_group_put(other);
	}
}

/**
 * ub_group_shrink() - UB_IOC_GROUP_SHRINK
 * @file: the lane
 * @arg: copied in; copied out whatever is returned
 *
 * Context: process, may sleep (killable); not between enter and exit.
 * Return: see struct ub_group_shrink.
 */
long ub_group_shrink(struct ub_file *file, struct ub_group_shrink *arg)
{
	struct ub_gmember *gm = ub_group_get(file, arg->group), *new = NULL;
	int ret;

	if (!gm)
		return -ENOENT;
	/* Replicas may differ in who survived. */
	if (file->fabric->ops->replica) {
		ub_group_put(gm);
		return -EOPNOTSUPP;
	}
	if (!ub_group_drive(gm)) {
		ub_group_put(gm);
		return -EBUSY;
	}
	ret = -ENOENT;
	if (xa_load(&file->groups, arg->group) == gm)
		ret = shrink(gm, arg->timeout, &new);
	mutex_unlock(&gm->driver);
	ub_group_put(gm);
	if (!new)
		return ret;
	arg->out_group = new->handle;
	arg->out_nmembers = new->bar.g.n;
	arg->out_index = new->bar.me;
	arg->out_offset = ub_gva_group(file->fabric->node, new->slot);
	arg->out_map_size = file->fabric->geo.map_size;
	arg->out_epoch = new->bar.epoch;
	if (ret)
		ub_bar_lost(new, &arg->out_lost);
	return ub_group_hand_over(file, new, arg->out_table) ?: ret;
}
