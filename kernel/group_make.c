// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups: making them, without a leader. Shrinking: shrink.c.
 *
 * A group's id is computed by its members from what they all know, so they
 * meet in one slot (slots.c). Creating is the group's first barrier, run on
 * the arrival words alone, since nobody knows the whole table before it; it
 * has the same fence and verdict as any other.
 *
 * Invariants:
 *  - A member joins its table entry before it arrives, so whoever sees an
 *    arrival can read who it is.
 *  - A handle is published when the table is complete, or with -EOWNERDEAD.
 *  - A group's members are members of its parent, by index: no process can
 *    name, or meet, a group that it does not belong to.
 */
#include <linux/delay.h>
#include <linux/sched/signal.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "debug.h"
#include "netlink.h"
#include "told.h"
#include "ub.h"
#include "trace.h"

/* One try to meet. Entered. */
static int try_meet(struct ub_gmember *gm, const struct ub_group_spec *spec,
		    u64 *clash)
{
	struct ub_fabric *f = gm->fabric;
	struct ub_slot_member me = {
		.who = UB_WHO(0, f->node, gm->file->lane),
		.node_inc = f->incarnation,
		.lane_inc = gm->file->lane_incarnation,
	};
	int slot = ub_slots_claim(&f->slots, spec->id, &gm->word);

	if (slot < 0)
		return slot;
	gm->slot = slot;
	return ub_slots_join(&f->slots, slot, gm->word, spec->n,
			     ub_shape_hash(&spec->shape), spec->index, &me,
			     clash);
}

/* Is a try that ended with @err worth another? Entered. */
static bool meet_again(struct ub_gmember *gm, int err)
{
	struct ub_fabric *f = gm->fabric;

	if (err == -EAGAIN || err == -ESTALE)
		return true;
	/* A group of the same key may be on its way out, of other size or shape. */
	if ((err != -EEXIST && err != -EINVAL) ||
	    !ub_slots_ending(&f->slots, gm->slot, gm->word))
		return false;
	ub_slot_collect(f, gm->slot);
	return true;
}

/*
 * Meet the others in one slot and take the own place in its table. On success
 * the fabric is entered.
 */
static int meet(struct ub_gmember *gm, const struct ub_group_spec *spec,
		u64 *clash)
{
	for (;;) {
		int err = ub_file_enter(gm->file);
		bool again;

		if (err)
			return err;
		err = try_meet(gm, spec, clash);
		if (!err)
			return 0;
		again = meet_again(gm, err);
		ub_fabric_exit(gm->fabric);
		if (!again)
			return err;
		if (fatal_signal_pending(current))
			return -EINTR;
		if (ktime_get_ns() >= spec->timeout)
			return err == -EEXIST || err == -EINVAL ? err : -ETIMEDOUT;
		fsleep(1000);
	}
}

/* All arrived: read who they are, and build the schedule. */
static int complete_table(struct ub_gmember *gm)
{
	struct ub_fabric *f = gm->fabric;
	u32 n = gm->bar.g.n, i;
	struct ub_sched *sched;
	u32 *node;
	int err;

	node = kvcalloc(n, sizeof(*node), GFP_KERNEL);
	if (!node)
		return -ENOMEM;
	err = ub_file_enter(gm->file);
	if (err) {
		kvfree(node);
		return err;
	}
	for (i = 0; i < n; i++) {
		ub_group_home(gm, i);
		node[i] = gm->table[i].node;
	}
	ub_fabric_exit(f);
	err = ub_sched_check(node, n, gm->bar.me, &gm->shape);
	sched = err ? NULL : ub_sched_build(node, n, gm->bar.me, &gm->shape);
	kvfree(node);
	if (!sched)
		return err ?: -ENOMEM;
	if (sched->nlines > f->geo.max_lines) {
		ub_sched_free(sched);
		return -E2BIG;
	}
	/* Flags stay in a replica, arrivals are told to all: the record alone ends waits. */
	if (!f->ops->replica)
		ub_bar_schedule(&gm->bar, sched);
	gm->sched = sched;
	return 0;
}

/**
 * ub_group_fence_until() - when to look again whether a fence has held
 * @gm: the member that fenced others
 *
 * It does, and one look tells, unless a member or a peer spoils the words. So
 * what was fenced is fenced again, UB_FENCE_TRIES times in all: then nobody will
 * be told the same, but everybody something.
 *
 * Context: any.
 * Return: CLOCK_MONOTONIC ns.
 */
u64 ub_group_fence_until(const struct ub_gmember *gm)
{
	return ktime_get_ns() + (u64)READ_ONCE(gm->fabric->detect_ms) * NSEC_PER_MSEC;
}

/* The time is over: whoever has not arrived is lost. */
static void fence_missing(struct ub_gmember *gm)
{
	const struct ub_grp *g = &gm->bar.g;
	u32 i;

	if (ub_file_enter(gm->file))
		return;
	for (i = 0; i < g->n; i++)
		if (UB_ARR_EPOCH(ub_ld(&g->line[i].arrival)) < gm->bar.epoch)
			ub_grp_fence(g, i, UB_REASON_TIMEOUT);
	ub_bar_ring(gm);
	ub_fabric_exit(gm->fabric);
}

/* Arrive at the first barrier: 1 complete, 0 wait, or an error. */
static int first_arrival(struct ub_gmember *gm)
{
	int ret = ub_file_enter(gm->file);

	if (ret)
		return ret;
	ret = ub_bar_arrive(&gm->bar, UB_RED_NONE, 0, UB_AUX_LAST_MASK);
	if (!ret) {
		ub_group_tell(gm);
		ret = ub_bar_arrived(gm);
	} else if (ret == -ESTALE) {
		ret = ub_bar_refused(gm);
	}
	ub_fabric_exit(gm->fabric);
	return ret;
}

/* Lost in place of arriving: the same to the others as a lane that ended then. */
static int first_absence(struct ub_gmember *gm)
{
	struct ub_fabric *f = gm->fabric;
	int ret = ub_file_enter(gm->file);

	if (ret)
		return ret;
	ub_slots_dead(&f->slots, gm->slot, gm->word, gm->bar.me);
	ub_grp_fence(&gm->bar.g, gm->bar.me, UB_REASON_EXIT);
	ub_bar_ring(gm);
	ub_group_tell(gm);
	ub_fabric_exit(f);
	return -EOWNERDEAD;
}

/* The rest of it: 0, -EOWNERDEAD, or an error after which to leave. */
static int first_wait(struct ub_gmember *gm, u64 timeout)
{
	int ret = ub_bar_wait(gm, timeout, true), tries;

	for (tries = 0; ret == -ETIMEDOUT && tries < UB_FENCE_TRIES; tries++) {
		fence_missing(gm);
		ret = ub_bar_wait(gm, ub_group_fence_until(gm), true);
	}
	return ret;
}

/* Was it lost because another node refused it, without common memory? */
static int refused_there(struct ub_gmember *gm, u64 *clash)
{
	struct ub_fabric *f = gm->fabric;
	int ret;

	if (!f->ops->replica || ub_file_enter(gm->file))
		return 0;
	ret = ub_told_clash(&f->slots, gm->slot, gm->word, clash);
	ub_fabric_exit(f);
	return ret;
}

/**
 * ub_group_begin() - join a group that is made, and arrive at its first barrier,
 *	or be lost
 * @file: the lane
 * @spec: the group; waits until its @timeout for the slot alone
 * @out: gets the member, for ub_group_finish(), or to be left and put
 * @clash: as ub_slots_join()
 *
 * Context: process, may sleep (killable); not between enter and exit.
 * Return: 0, or -errno and nothing is left of it.
 */
int ub_group_begin(struct ub_file *file, const struct ub_group_spec *spec,
		   struct ub_gmember **out, u64 *clash)
{
	struct ub_fabric *f = file->fabric;
	struct ub_gmember *gm;
	struct ub_grp g;
	int ret;

	gm = ub_gmember_alloc(file, spec);
	if (!gm)
		return -ENOMEM;
	ret = meet(gm, spec, clash);
	if (ret) {
		ub_group_put(gm);
		return ret;
	}
	ub_grp_init(&g, ub_slot_pages(&f->slots, gm->slot), spec->n,
		    f->geo.max_members, f->geo.max_lines);
	ub_bar_init(&gm->bar, &g, NULL, spec->index, spec->base);
	ub_st(&g.line[spec->index].driver, spec->user_driver ? UB_DRIVER_USER :
							       UB_DRIVER_NONE);
	ub_fabric_exit(f);

	mutex_lock(&f->members_lock);
	gm->serial = f->next_serial++;
	list_add_tail(&gm->fabric_node, &f->members);
	ub_changed(UB_CHANGE_GROUP);
	mutex_unlock(&f->members_lock);
	ub_debug_group_add(gm);

	gm->arrived = spec->absent ? first_absence(gm) : first_arrival(gm);
	*out = gm;
	return 0;
}

/**
 * ub_group_finish() - wait for the others, and publish the handle
 * @gm: from ub_group_begin()
 * @timeout: absolute; whoever has not arrived then is lost
 * @clash: as ub_slots_join()
 *
 * Context: as ub_group_begin().
 * Return: 0 or -EOWNERDEAD, and the table of handles has a reference of its
 *	own; else -errno, and @gm is gone.
 */
int ub_group_finish(struct ub_gmember *gm, u64 timeout, u64 *clash)
{
	int ret = gm->arrived;

	/* Nobody else knows it yet; shrinking holds the old group's. */
	mutex_lock_nested(&gm->driver, SINGLE_DEPTH_NESTING);
	if (!ret)
		ret = first_wait(gm, timeout);
	else if (ret > 0)
		ret = 0;
	if (!ret)
		ret = complete_table(gm);
	else if (ret == -EOWNERDEAD)
		ret = refused_there(gm, clash) ?: ret;
	gm->helps = false;
	ub_gmember_made(gm);
	if (ret && ret != -EOWNERDEAD)
		goto leave;
	kref_get(&gm->ref);
	if (xa_alloc(&gm->file->groups, &gm->handle, gm, xa_limit_31b,
		     GFP_KERNEL_ACCOUNT)) {
		ub_group_put(gm);
		ret = -ENOMEM;
		goto leave;
	}
	mutex_unlock(&gm->driver);
	return ret;
leave:
	ub_gmember_leave(gm, ret == -EINTR ? UB_REASON_EXIT : UB_REASON_LEFT);
	mutex_unlock(&gm->driver);
	ub_group_put(gm);
	return ret;
}

/**
 * ub_group_hash() - id of a group
 * @f: the fabric, whose secret it is made with
 * @data: the same bytes at all its members, and at no other group's
 * @len: of @data
 */
u64 ub_group_hash(struct ub_fabric *f, const void *data, size_t len)
{
	const siphash_key_t key = { .key = { f->key[0], f->key[1] } };

	return siphash(data, len, &key) & UB_SLOT_ID_MASK;
}

struct id_child {
	u64 tag;
	u64 parent;
	u64 key[2];
	u64 n;
	u32 member[];
};

static void spec_world(struct ub_fabric *f, const struct ub_group_create *arg,
		       struct ub_group_spec *spec)
{
	const struct ub_group_key id = {
		.tag = UB_GROUP_WORLD, .key = { arg->key[0], arg->key[1] },
	};

	spec->id = ub_group_hash(f, &id, sizeof(id));
	spec->shape = arg->shape;
}

/* Members are indices in the parent: nobody can name a group's outsiders. */
static int spec_child(struct ub_file *file, const struct ub_group_create *arg,
		      struct ub_group_spec *spec, struct ub_member *table,
		      u32 *from)
{
	struct ub_gmember *parent = ub_group_get(file, arg->parent);
	size_t bytes = arg->nmembers * sizeof(u32);
	DECLARE_BITMAP(seen, UB_GROUP_MEMBERS_MAX) = { 0 };
	struct id_child *id;
	int ret = -EINVAL;
	u32 i;

	if (!parent)
		return -ENOENT;
	id = kvzalloc(struct_size(id, member, arg->nmembers), GFP_KERNEL);
	if (!id) {
		ret = -ENOMEM;
		goto out;
	}
	if (copy_from_user(id->member, u64_to_user_ptr(arg->members), bytes)) {
		ret = -EFAULT;
		goto out;
	}
	for (i = 0; i < arg->nmembers; i++) {
		u32 m = id->member[i];

		if (m >= parent->bar.g.n || __test_and_set_bit(m, seen))
			goto out;
		table[i] = parent->table[m];
	}
	if (id->member[arg->index] != parent->bar.me || !parent->sched)
		goto out;
	id->parent = parent->id;
	id->key[0] = arg->key[0];
	id->key[1] = arg->key[1];
	id->n = arg->nmembers;
	spec->id = ub_group_hash(file->fabric, id,
				 struct_size(id, member, arg->nmembers));
	spec->shape = parent->shape;
	spec->table = table;
	for (i = 0; i < arg->nmembers; i++)
		from[i] = id->member[i];
	spec->origin = parent;
	spec->from = from;
	kref_get(&parent->ref);
	ret = 0;
out:
	kvfree(id);
	ub_group_put(parent);
	return ret;
}

static int check_create(struct ub_fabric *f, const struct ub_group_create *arg)
{
	if (strnlen(arg->level, sizeof(arg->level)) == sizeof(arg->level))
		return -EINVAL;
	if (!arg->nmembers || arg->index >= arg->nmembers || arg->reserved)
		return -EINVAL;
	if (arg->nmembers > min_t(u32, f->geo.max_members, UB_GROUP_MEMBERS_MAX))
		return -E2BIG;
	if (arg->base && !(arg->flags & UB_GROUP_BASE))
		return -EINVAL;
	if ((arg->flags & UB_GROUP_ABSENT) && !(arg->flags & UB_GROUP_WORLD))
		return -EINVAL;
	if ((arg->flags & UB_GROUP_BASE) && !ub_test_hooks)
		return -EOPNOTSUPP;
	/* Arriving and leaving a barrier move the copies: the kernel does it. */
	if ((arg->flags & UB_GROUP_USER_DRIVER) && f->copied)
		return -EOPNOTSUPP;
	if (arg->base >= UB_EPOCH_MAX)
		return -EINVAL;
	if (arg->flags & UB_GROUP_WORLD)
		return arg->parent || arg->members || arg->shape.reserved ?
			-EINVAL : ub_shape_check(&arg->shape);
	return memchr_inv(&arg->shape, 0, sizeof(arg->shape)) ? -EINVAL : 0;
}

/**
 * ub_group_hand_over() - tell the caller who is in its new group
 * @file: the lane
 * @gm: the group; the caller's reference is given back
 * @table: user pointer, or 0
 *
 * Context: process, not between enter and exit.
 * Return: 0, or -EFAULT: a group that it cannot be told of is left.
 */
int ub_group_hand_over(struct ub_file *file, struct ub_gmember *gm, u64 table)
{
	struct ub_group_id id = { .group = gm->handle };
	int err = 0;

	if (table && copy_to_user(u64_to_user_ptr(table), gm->table,
				  gm->bar.g.n * sizeof(*gm->table))) {
		ub_group_destroy(file, &id);
		err = -EFAULT;
	}
	ub_group_put(gm);
	return err;
}

/* Who stands in the way: a member word, or a form word's number of members. */
static void tell_clash(struct ub_group_create *arg, int err, u64 clash)
{
	if (err == -EEXIST) {
		arg->out_clash.node = UB_WHO_NODE(clash);
		arg->out_clash.lane = UB_WHO_LANE(clash);
	} else if (err == -EINVAL) {
		arg->out_clash.lane = UB_FORM_N(clash);
	}
}

/**
 * ub_group_create() - UB_IOC_GROUP_CREATE
 * @file: the lane
 * @arg: copied in; copied out whatever is returned
 *
 * Context: process, may sleep (killable); not between enter and exit.
 * Return: see struct ub_group_create.
 */
long ub_group_create(struct ub_file *file, struct ub_group_create *arg)
{
	struct ub_fabric *f = file->fabric;
	struct ub_group_spec spec = {
		.base = arg->base,
		.timeout = arg->timeout,
		.n = arg->nmembers,
		.index = arg->index,
		.user_driver = arg->flags & UB_GROUP_USER_DRIVER,
		.absent = arg->flags & UB_GROUP_ABSENT,
	};
	struct ub_member *table = NULL;
	struct ub_gmember *gm = NULL;
	u32 *from = NULL;
	u64 clash = 0;
	int ret;

	ret = check_create(f, arg);
	if (ret)
		return ret;
	memcpy(spec.level, arg->level, sizeof(spec.level));
	if (arg->flags & UB_GROUP_WORLD) {
		spec_world(f, arg, &spec);
	} else {
		table = kvcalloc(spec.n, sizeof(*table), GFP_KERNEL);
		from = kvcalloc(spec.n, sizeof(*from), GFP_KERNEL);
		ret = -ENOMEM;
		if (table && from)
			ret = spec_child(file, arg, &spec, table, from);
	}
	if (!ret)
		ret = ub_group_begin(file, &spec, &gm, &clash);
	if (!ret) {
		ret = ub_group_finish(gm, spec.timeout, &clash);
		if (ret && ret != -EOWNERDEAD)
			gm = NULL;
	}
	if (spec.origin)
		ub_group_put(spec.origin);
	kvfree(from);
	kvfree(table);
	if (!gm) {
		tell_clash(arg, ret, clash);
		return ret;
	}
	arg->out_group = gm->handle;
	arg->out_offset = ub_gva_group(f->node, gm->slot);
	arg->out_map_size = f->geo.map_size;
	arg->out_epoch = gm->bar.epoch;
	if (spec.absent)
		ret = 0;
	if (ret)
		ub_bar_lost(gm, &arg->out_lost);
	return ub_group_hand_over(file, gm, arg->out_table) ?: ret;
}
