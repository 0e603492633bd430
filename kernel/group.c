// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups: the life of a member here - references, leaving, the tick.
 *
 * Invariants:
 *  - Leaving: handle gone, mappings revoked, own word fenced, entry marked
 *    left, in this order; the last to leave frees the slot.
 *  - A member's words are touched only by the node it lives on, but for
 *    fencing it.
 *  - A slot is freed only when no member can store into its pages any more:
 *    it left, or its node came back with a newer incarnation.
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include "debug.h"
#include "netlink.h"
#include "ub.h"
#include "trace.h"

static void gmember_free(struct kref *ref)
{
	struct ub_gmember *gm = container_of(ref, struct ub_gmember, ref);

	if (gm->origin)
		ub_group_put(gm->origin);
	kvfree(gm->from);
	ub_sched_free(gm->sched);
	kvfree(gm->table);
	kvfree(gm->home);
	mutex_destroy(&gm->driver);
	kfree(gm);
}

/**
 * ub_group_put() - give a reference back
 * @gm: the member
 */
void ub_group_put(struct ub_gmember *gm)
{
	kref_put(&gm->ref, gmember_free);
}

/**
 * ub_group_get() - find a group of a file
 * @file: the lane
 * @handle: from user space
 *
 * Return: the member, counted, or NULL.
 */
struct ub_gmember *ub_group_get(struct ub_file *file, u32 handle)
{
	struct ub_gmember *gm;

	xa_lock(&file->groups);
	gm = xa_load(&file->groups, handle);
	if (gm)
		kref_get(&gm->ref);
	xa_unlock(&file->groups);
	return gm;
}

/**
 * ub_group_drive() - become the one agent of a member
 * @gm: the member
 *
 * Whoever helps in shrinking holds it for a moment, and is not in the way.
 * Context: process, may sleep.
 * Return: true: its driver is held; false when a call of another thread is on.
 */
bool ub_group_drive(struct ub_gmember *gm)
{
	while (!mutex_trylock(&gm->driver)) {
		if (!atomic_read(&gm->helpers))	/* not shared */
			return mutex_trylock(&gm->driver);
		fsleep(50);
	}
	return true;
}

/**
 * ub_gmember_alloc() - a member of a group to be
 * @file: the lane
 * @spec: the group
 *
 * Return: the member with one reference, or NULL.
 */
struct ub_gmember *ub_gmember_alloc(struct ub_file *file,
				    const struct ub_group_spec *spec)
{
	struct ub_gmember *gm = kzalloc(sizeof(*gm), GFP_KERNEL_ACCOUNT);
	u32 i;

	if (!gm)
		return NULL;
	kref_init(&gm->ref);
	mutex_init(&gm->driver);
	init_waitqueue_head(&gm->wq);
	INIT_LIST_HEAD(&gm->sleep_node);
	INIT_LIST_HEAD(&gm->fabric_node);
	gm->table = kvcalloc(spec->n, sizeof(*gm->table), GFP_KERNEL_ACCOUNT);
	gm->home = kvcalloc(spec->n, sizeof(*gm->home), GFP_KERNEL_ACCOUNT);
	if (!gm->table || !gm->home) {
		ub_group_put(gm);
		return NULL;
	}
	gm->file = file;
	gm->fabric = file->fabric;
	gm->id = spec->id;
	gm->base = spec->base;
	gm->shape = spec->shape;
	gm->user_driver = spec->user_driver;
	memcpy(gm->level, spec->level, sizeof(gm->level));
	if (spec->origin) {
		gm->from = kvcalloc(spec->n, sizeof(*gm->from), GFP_KERNEL_ACCOUNT);
		if (!gm->from) {
			ub_group_put(gm);
			return NULL;
		}
		memcpy(gm->from, spec->from, spec->n * sizeof(*gm->from));
		kref_get(&spec->origin->ref);
		gm->origin = spec->origin;
	}
	for (i = 0; i < spec->n; i++) {
		gm->home[i] = UB_NO_HOME;
		if (spec->table)
			gm->table[i] = spec->table[i];
	}
	return gm;
}

/**
 * ub_gmember_made() - a group is made, or failed: its origin is not looked at
 * @gm: the member
 *
 * Context: process; takes members_lock.
 */
void ub_gmember_made(struct ub_gmember *gm)
{
	struct ub_fabric *f = gm->fabric;
	struct ub_gmember *origin;

	mutex_lock(&f->members_lock);
	origin = gm->origin;
	gm->origin = NULL;
	mutex_unlock(&f->members_lock);
	if (origin)
		ub_group_put(origin);
}

/**
 * ub_group_tell() - a member's words have changed: bring them to the other nodes
 * @gm: the member
 *
 * Context: process, between enter and exit. Nothing is done where memory is shared.
 */
void ub_group_tell(struct ub_gmember *gm)
{
	struct ub_fabric *f = gm->fabric;

	if (f->ops->tell_group)
		f->ops->tell_group(f, gm->slot, gm->word, gm->bar.me);
}

/**
 * ub_group_home() - record index of a member's node
 * @gm: a member of the group that lives here
 * @i: the member asked for
 *
 * Reads the group's table where it is not known yet.
 * Context: between enter and exit.
 * Return: index, or UB_NO_HOME when nobody joined there.
 */
u32 ub_group_home(struct ub_gmember *gm, u32 i)
{
	struct ub_fabric *f = gm->fabric;
	struct ub_slot_member m;
	int home;

	if (i >= gm->bar.g.n)
		return UB_NO_HOME;
	home = READ_ONCE(gm->home[i]);
	if (home != UB_NO_HOME)
		return home;
	if (!gm->table[i].node_incarnation) {
		if (!ub_slots_member(&f->slots, gm->slot, gm->word, i, &m))
			return UB_NO_HOME;
		gm->table[i].node = UB_WHO_NODE(m.who);
		gm->table[i].lane = UB_WHO_LANE(m.who);
		gm->table[i].lane_incarnation = m.lane_inc;
		gm->table[i].node_incarnation = m.node_inc;
	}
	home = ub_member_index(f, gm->table[i].node,
			       gm->table[i].node_incarnation);
	if (home < 0)
		return UB_NO_HOME;
	WRITE_ONCE(gm->home[i], home);
	return home;
}

/* ---- leaving ---- */

static void fence_self(struct ub_gmember *gm, u32 reason)
{
	ub_grp_fence(&gm->bar.g, gm->bar.me, reason);
	ub_bar_ring(gm);
}

struct collect_ctx {
	struct ub_fabric *f;
	u32 slot;
};

static bool slot_gone(void *ctx, const struct ub_slot_member *m, u64 arrival)
{
	const struct collect_ctx *c = ctx;
	struct ub_fabric *f = c->f;
	bool stale = ub_slot_stale(f, c->slot);
	int index;

	if (!m)
		return stale;
	if (!m->who)	/* nobody took the entry */
		return stale || (arrival & UB_ARR_FENCED);
	if (!(m->who & UB_WHO_READY))	/* its claimer died on the way in */
		return stale && (arrival & UB_ARR_FENCED);
	index = ub_member_index(f, UB_WHO_NODE(m->who), m->node_inc);
	if (index >= 0 && ub_member_alive(f, index, m->node_inc))
		return false;
	/* Nothing of a dead life comes to a replica any more. */
	if (f->ops->replica)
		return true;
	return ub_member_gone(f, UB_WHO_NODE(m->who), m->node_inc);
}

/* A freer is coded as {incarnation:44, node:20}. */
static bool freer_gone(void *ctx, u64 freer)
{
	const struct collect_ctx *c = ctx;

	return ub_member_gone(c->f, freer & UB_GVA_NODE_MAX, freer >> 20);
}

/**
 * ub_slot_collect() - free a slot if its members are all gone
 * @f: the fabric
 * @slot: the slot
 *
 * Context: process, between enter and exit.
 */
void ub_slot_collect(struct ub_fabric *f, u32 slot)
{
	struct collect_ctx c = { .f = f, .slot = slot };
	u64 self = f->incarnation << 20 | f->node;

	ub_slots_collect(&f->slots, slot, self, slot_gone, freer_gone, &c);
}

/**
 * ub_gmember_leave() - leave for good
 * @gm: the member; its handle is gone already
 * @reason: enum ub_reason
 *
 * Revoking waits for faults in flight; later ones do not find the group.
 * Context: process, not between enter and exit.
 */
void ub_gmember_leave(struct ub_gmember *gm, u32 reason)
{
	struct ub_fabric *f = gm->fabric;

	if (gm->heir) {
		ub_gmember_leave(gm->heir, reason);
		ub_group_put(gm->heir);
		gm->heir = NULL;
	}
	ub_debug_group_del(gm);
	ub_mmap_revoke(f, ub_gva_group(f->node, gm->slot), f->geo.map_size);

	mutex_lock(&f->members_lock);
	list_del_init(&gm->fabric_node);
	ub_changed(UB_CHANGE_GROUP);
	mutex_unlock(&f->members_lock);

	if (!ub_file_enter(gm->file)) {
		fence_self(gm, reason);
		ub_slots_leave(&f->slots, gm->slot, gm->word, gm->bar.me);
		ub_group_tell(gm);
		ub_slot_collect(f, gm->slot);
		ub_fabric_exit(f);
	}
}

/**
 * ub_group_destroy() - UB_IOC_GROUP_DESTROY
 * @file: the lane
 * @arg: copied in
 *
 * Context: process, may sleep; not between enter and exit.
 * Return: 0, -ENOENT, -EBUSY when a thread is in a barrier of the group.
 */
long ub_group_destroy(struct ub_file *file, struct ub_group_id *arg)
{
	struct ub_gmember *gm = ub_group_get(file, arg->group);

	if (!gm)
		return -ENOENT;
	if (!ub_group_drive(gm)) {
		ub_group_put(gm);
		return -EBUSY;
	}
	if (xa_cmpxchg(&file->groups, arg->group, gm, NULL, 0) != gm) {
		mutex_unlock(&gm->driver);
		ub_group_put(gm);
		return -ENOENT;
	}
	ub_gmember_leave(gm, UB_REASON_LEFT);
	mutex_unlock(&gm->driver);
	ub_group_put(gm);	/* the table's */
	ub_group_put(gm);
	return 0;
}

/**
 * ub_group_lane_dead() - the lane's process ended: nobody waits for it
 * @file: the lane
 * @reason: enum ub_reason
 *
 * The entries stay until the file is released.
 * Context: process, not between enter and exit.
 */
void ub_group_lane_dead(struct ub_file *file, u16 reason)
{
	struct ub_fabric *f = file->fabric;
	struct ub_gmember *gm;

	if (ub_file_enter(file))
		return;
	mutex_lock(&f->members_lock);
	list_for_each_entry(gm, &f->members, fabric_node) {
		if (gm->file != file)
			continue;
		/* Before the ring; the word is final if it agreed to shrink. */
		ub_slots_dead(&f->slots, gm->slot, gm->word, gm->bar.me);
		fence_self(gm, reason);
		ub_group_tell(gm);
	}
	mutex_unlock(&f->members_lock);
	ub_fabric_exit(f);
}

/**
 * ub_group_release() - the last reference of the file is gone
 * @file: the lane
 *
 * Context: process, no other thread uses @file.
 */
void ub_group_release(struct ub_file *file)
{
	struct ub_gmember *gm;
	unsigned long handle;

	xa_for_each(&file->groups, handle, gm) {
		xa_erase(&file->groups, handle);
		ub_gmember_leave(gm, UB_REASON_EXIT);
		ub_group_put(gm);
	}
}

/**
 * ub_group_page() - is an address in the pages of a group of this file
 * @file: the lane
 * @gva: address, ub_gva_is_group()
 *
 * Context: state_sem held for read.
 * Return: offset of the byte in the fabric's memory, or 0.
 */
u64 ub_group_page(struct ub_file *file, u64 gva)
{
	struct ub_fabric *f = file->fabric;
	u64 off = ub_gva_off(gva) & ~UB_GVA_GROUPS;
	u64 slot = off >> UB_GVA_GROUP_SHIFT;
	u64 in = off & ((1ULL << UB_GVA_GROUP_SHIFT) - 1);
	struct ub_gmember *gm;
	unsigned long handle;
	u64 found = 0;

	if (ub_gva_node(gva) != f->node || in >= f->geo.map_size)
		return 0;
	xa_lock(&file->groups);
	xa_for_each(&file->groups, handle, gm) {
		if (gm->slot == slot) {
			found = f->geo.pages_off + slot * f->geo.map_size + in;
			break;
		}
	}
	xa_unlock(&file->groups);
	return found;
}

/* ---- the tick ---- */

/*
 * Will a member never come to a group that is being made, because it was
 * lost to the group that it was taken from? Gives the reason.
 */
static u32 lost_to_origin(struct ub_gmember *gm, u32 i)
{
	struct ub_gmember *o = gm->origin;
	const struct ub_slot_rec *rec;
	u32 reason = UB_REASON_NONE;
	u64 arrival, who;

	lockdep_assert_held(&gm->fabric->members_lock);
	if (!o || list_empty(&o->fabric_node))
		return UB_REASON_NONE;
	rec = ub_slot_rec(&gm->fabric->slots, o->slot);
	arrival = ub_ld(&o->bar.g.line[gm->from[i]].arrival);
	who = ub_ld(&rec->member[gm->from[i]].who);
	if (arrival & UB_ARR_FENCED)
		reason = ub_ld(&o->bar.g.line[gm->from[i]].reason) ?:
			 UB_REASON_EXIT;
	else if ((who & (UB_WHO_LEFT | UB_WHO_DEAD)) &&
		 UB_WHO_GEN(who) == UB_SLOT_GEN(o->word))
		reason = UB_REASON_EXIT;
	/* Last: who arrives may leave the origin at once, and is not lost. */
	if (UB_ARR_EPOCH(ub_ld(&gm->bar.g.line[i].arrival)) > gm->base)
		reason = UB_REASON_NONE;
	return reason;
}

/* Why a member that may still arrive will not: enum ub_reason, or none. */
static u32 lost_member(struct ub_gmember *gm, u32 i)
{
	struct ub_fabric *f = gm->fabric;
	const struct ub_member *m = &gm->table[i];
	u32 home = ub_group_home(gm, i);

	if (home == f->self)
		return lost_to_origin(gm, i);
	if (home != UB_NO_HOME)
		return ub_member_alive(f, home, m->node_incarnation) ?
		       lost_to_origin(gm, i) :
		       ub_member_reason(f, home, m->node_incarnation);
	/* A life that is over, and that nobody here has watched. */
	if (m->node_incarnation && ub_member_gone(f, m->node, m->node_incarnation))
		return UB_REASON_REBOOT;
	return UB_REASON_NONE;
}

/*
 * Fence the members of one group that are lost. Sleepers are rung for each
 * final word that is new, whoever made it so: it may have died since.
 */
static void fence_lost(struct ub_gmember *gm)
{
	const struct ub_grp *g = &gm->bar.g;
	u32 finals = 0, reason, i;

	for (i = 0; i < g->n; i++) {
		u64 arrival = ub_ld(&g->line[i].arrival);

		if (arrival & UB_ARR_FINAL) {
			finals++;
			continue;
		}
		reason = lost_member(gm, i);
		if (!reason)
			continue;
		trace_ub_fence(gm->fabric, gm->id, i, UB_ARR_EPOCH(arrival) + 1,
			       reason);
		ub_grp_fence(g, i, reason);
		finals++;
	}
	if (finals != gm->finals) {
		gm->finals = finals;
		ub_bar_ring(gm);
	}
}

/**
 * ub_group_tick() - fence members on nodes that are lost
 * @f: the fabric
 *
 * Context: process, between enter and exit.
 */
void ub_group_tick(struct ub_fabric *f)
{
	struct ub_gmember *gm;

	mutex_lock(&f->members_lock);
	list_for_each_entry(gm, &f->members, fabric_node)
		if (gm->file->node_incarnation == f->incarnation)
			fence_lost(gm);
	mutex_unlock(&f->members_lock);
}

/**
 * ub_group_collect() - free slots whose members are all gone
 * @f: the fabric
 *
 * A slot that has kept one word for twice the detection time without a form
 * was left by a claimer that died.
 * Context: process, between enter and exit; one caller at a time.
 */
void ub_group_collect(struct ub_fabric *f)
{
	ktime_t now = ktime_get();
	u32 i;

	for (i = 0; i < f->slots.nslots; i++) {
		struct ub_slot_watch *w = &f->slot_watch[i];
		u64 word = ub_ld(&ub_slot_rec(&f->slots, i)->word);

		if (w->word != word) {
			w->word = word;
			w->since = now;
		}
		if (UB_SLOT_STATE(word) != UB_SLOT_FREE)
			ub_slot_collect(f, i);
	}
}

/**
 * ub_slot_stale() - has a slot kept its word for twice the detection time
 * @f: the fabric
 * @slot: the slot
 */
bool ub_slot_stale(struct ub_fabric *f, u32 slot)
{
	const struct ub_slot_watch *w = &f->slot_watch[slot];

	return w->word == ub_ld(&ub_slot_rec(&f->slots, slot)->word) &&
	       ktime_ms_delta(ktime_get(), w->since) >
	       2LL * READ_ONCE(f->detect_ms);
}
