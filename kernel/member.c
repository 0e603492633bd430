// SPDX-License-Identifier: GPL-2.0-only
/*
 * Membership: node records, heartbeats, suspicion, fencing. Joining: join.c.
 *
 * Invariants:
 *  - Whoever finds another word in its record than its own is fenced.
 *  - A node that ticked late, or was resumed, suspects nobody until it has
 *    watched for a full detection time.
 *  - The heartbeat is raised after the attachments were compared with their
 *    records: two more heartbeats mean that everything changed before the
 *    first of them has been seen (see slice.c).
 *  - A killed node (test hook) leaves all words as they are.
 */
#include "netlink.h"
#include "trace.h"
#include "ub.h"

#define UB_COLLECT_TICKS	4	/* reading all slots costs */

/**
 * ub_member_view() - read a node's record, once
 * @f: the fabric
 * @index: of the record
 * @v: gets a consistent copy
 *
 * Context: any; the shared memory is there.
 * Return: false when it is empty or just changing.
 */
bool ub_member_view(struct ub_fabric *f, u32 index, struct ub_node_view *v)
{
	struct ub_shm_node *rec = ub_shm_node_rec(f, index);

	v->word = ub_ld(&rec->word);
	v->incarnation = ub_ld(&rec->incarnation);
	v->current_gen = ub_ld(&rec->generation) == f->generation;
	v->heartbeat = ub_ld(&rec->heartbeat);
	return UB_NODE_STATE(v->word) != UB_NODE_EMPTY &&
	       ub_ld(&rec->word) == v->word;
}

/**
 * ub_member_index() - record of a node
 * @f: the fabric
 * @node: node id
 * @incarnation: of it
 *
 * Context: any; the shared memory is there.
 * Return: index; -ENOENT when no record has that id, -ESTALE when it has
 *	another incarnation.
 */
int ub_member_index(struct ub_fabric *f, u32 node, u64 incarnation)
{
	int err = -ENOENT;
	u32 i;

	for (i = 0; i < f->geo.max_nodes; i++) {
		struct ub_node_view v;
		bool valid = ub_member_view(f, i, &v);

		if (UB_NODE_STATE(v.word) == UB_NODE_EMPTY ||
		    UB_NODE_ID(v.word) != node)
			continue;
		/* One that is just changing was that node's, too. */
		if (valid && v.incarnation == incarnation && v.current_gen &&
		    UB_NODE_STATE(v.word) != UB_NODE_CLAIMING)
			return i;
		err = -ESTALE;
	}
	return err;
}

/**
 * ub_member_alive() - is a life of a node up and not fenced
 * @f: the fabric
 * @index: of its record
 * @incarnation: of that life
 *
 * Context: any; the shared memory is there.
 * Return: true when it is.
 */
bool ub_member_alive(struct ub_fabric *f, u32 index, u64 incarnation)
{
	struct ub_node_view v;

	return index < f->geo.max_nodes && ub_member_view(f, index, &v) &&
	       ub_view_up(&v) && v.incarnation == incarnation;
}
EXPORT_SYMBOL_GPL(ub_member_alive);

/**
 * ub_member_gone() - will a life of a node never touch the memory again
 * @f: the fabric
 * @node: node id
 * @incarnation: of that life
 *
 * Dead is not gone: a fenced node may be resumed. Gone is one that left, that
 * noticed its fence, or whose record shows another life or generation.
 *
 * Context: any; the shared memory is there.
 * Return: true when it is gone.
 */
bool ub_member_gone(struct ub_fabric *f, u32 node, u64 incarnation)
{
	u32 i;

	for (i = 0; i < f->geo.max_nodes; i++) {
		struct ub_shm_node *rec = ub_shm_node_rec(f, i);
		u64 word = ub_ld(&rec->word);

		if (UB_NODE_STATE(word) == UB_NODE_EMPTY ||
		    UB_NODE_ID(word) != node)
			continue;
		/* While it is claimed the incarnation may still be the old one. */
		if (UB_NODE_STATE(word) != UB_NODE_CLAIMING &&
		    (UB_NODE_STATE(word) == UB_NODE_LEFT ||
		     ub_ld(&rec->generation) != f->generation))
			continue;
		if (ub_ld(&rec->incarnation) == incarnation)
			return false;
	}
	return true;
}

/**
 * ub_member_age() - how long has a node been silent
 * @f: the fabric
 * @index: of its record
 *
 * Context: any.
 * Return: ns since its heartbeat was seen to move.
 */
u64 ub_member_age(struct ub_fabric *f, u32 index)
{
	/* Before the clock: the tick may store a later time than was read. */
	ktime_t seen = smp_load_acquire(&f->peer[index].seen);	/* not shared */

	return ktime_to_ns(ktime_sub(ktime_get(), seen));
}

/**
 * ub_member_ring() - wake the sleepers of another node
 * @f: the fabric
 * @index: of its record
 * @group: that concerns them, for the trace; 0 when none does
 * @poke: have it tick at once, too
 *
 * Context: any; the shared memory is there.
 */
void ub_member_ring(struct ub_fabric *f, u32 index, u64 group, bool poke)
{
	struct ub_shm_node *rec = ub_shm_node_rec(f, index);
	u64 bell;

	if (poke)
		ub_swap(&rec->poke, 1ULL);
	/* The device of one that left may be about to go. */
	if (!f->ops->ring || UB_NODE_STATE(ub_ld(&rec->word)) == UB_NODE_LEFT)
		return;
	bell = ub_ld(&rec->bell);
	if (!bell)
		return;
	ub_count(f, rings);
	atomic64_inc(&f->peer[index].rings);	/* not shared */
	trace_ub_ring(f, group, index);
	f->ops->ring(f, bell);
}

/**
 * ub_member_poke_all() - have all living peers tick at once
 * @f: the fabric
 *
 * Context: any; the shared memory is there.
 */
void ub_member_poke_all(struct ub_fabric *f)
{
	struct ub_node_view v;
	u32 i;

	for (i = 0; i < f->geo.max_nodes; i++)
		if (i != f->self && ub_member_view(f, i, &v) && ub_view_up(&v))
			ub_member_ring(f, i, 0, true);
}

/**
 * ub_member_fence() - take a node for dead
 * @f: the fabric
 * @index: of its record
 * @reason: enum ub_reason
 *
 * Context: may sleep; the shared memory is there.
 */
void ub_member_fence(struct ub_fabric *f, u32 index, u16 reason)
{
	struct ub_shm_node *rec = ub_shm_node_rec(f, index);
	u64 w = ub_ld(&rec->word);

	if (UB_NODE_STATE(w) != UB_NODE_UP || (w & UB_NODE_FENCED))
		return;
	/* Nothing of it comes here any more when this is decided. */
	if (f->ops->cut)
		f->ops->cut(f, index);
	ub_cas(&rec->reason, 0ULL, (u64)reason);
	if (ub_cas(&rec->word, w, w | UB_NODE_FENCED) != w)
		return;
	trace_ub_node_fence(f->node, UB_NODE_ID(w), ub_ld(&rec->incarnation),
			    reason);
	ub_member_ring(f, index, 0, true);
	ub_member_poke_all(f);
}

/**
 * ub_member_detach() - leave: this life touches nothing any more
 * @f: the fabric; nobody is in it
 *
 * Context: may sleep; the shared memory is there.
 */
void ub_member_detach(struct ub_fabric *f)
{
	u64 *word = &ub_shm_node_rec(f, f->self)->word;
	u64 left = UB_NODE_WORD(UB_NODE_LEFT, f->node, (u32)f->word);

	if (ub_cas(word, f->word, left) != f->word)
		ub_cas(word, f->word | UB_NODE_FENCED, left | UB_NODE_FENCED);
	if (f->ops->tell_node)
		f->ops->tell_node(f);
	ub_member_poke_all(f);
}

/* ---- the tick ---- */

/* What is told of a peer elsewhere is read while the tick writes: each word once. */
static void peer_up(struct ub_fabric *f, u32 index, const struct ub_node_view *v)
{
	struct ub_peer *p = &f->peer[index];
	struct ub_event ev = {
		.type = UB_EVENT_NODE_UP,
		.node = UB_NODE_ID(v->word),
		.incarnation = v->incarnation,
	};

	p->word = v->word;
	p->heartbeat = v->heartbeat;
	WRITE_ONCE(p->seen, ktime_get());
	WRITE_ONCE(p->reason, UB_REASON_NONE);
	WRITE_ONCE(p->alive, true);
	atomic64_set(&p->rings, 0);	/* not shared */
	/* Who reads this life reads what belongs to it. */
	smp_store_release(&p->incarnation, v->incarnation);	/* not shared */
	ub_changed(UB_CHANGE_NODE);
	ub_count(f, node_up);
	trace_ub_node_up(f->node, ev.node, ev.incarnation, 0);
	ub_event_all(f, &ev);
}

static void peer_down(struct ub_fabric *f, u32 index, u16 reason)
{
	struct ub_peer *p = &f->peer[index];
	struct ub_event ev = {
		.type = UB_EVENT_NODE_DOWN,
		.reason = reason,
		.node = UB_NODE_ID(p->word),
		.incarnation = p->incarnation,
	};

	WRITE_ONCE(p->alive, false);
	WRITE_ONCE(p->reason, reason);
	ub_changed(UB_CHANGE_NODE);
	ub_count(f, node_down);
	trace_ub_node_down(f->node, ev.node, ev.incarnation, reason);
	if (reason != UB_REASON_LEFT)
		dev_warn_ratelimited(&f->dev, "node %u is lost: reason %u\n",
				     ev.node, reason);
	ub_event_all(f, &ev);
	ub_win_node_down(f, index);
}

/* Why a life is over, from its record. */
static u16 down_reason(struct ub_fabric *f, u32 index, u64 incarnation,
		       const struct ub_node_view *v, bool valid)
{
	if (valid && v->incarnation == incarnation) {
		if (v->word & UB_NODE_FENCED)
			return ub_ld(&ub_shm_node_rec(f, index)->reason) & 0xffff ?:
			       UB_REASON_FENCED;
		if (UB_NODE_STATE(v->word) == UB_NODE_LEFT)
			return UB_REASON_LEFT;
	}
	return UB_REASON_REBOOT;
}

/**
 * ub_member_reason() - why a life of a node is over
 * @f: the fabric
 * @index: of its record
 * @incarnation: of that life, which is not ub_member_alive()
 *
 * What the tick noted counts for the life that it watched: it may not have
 * looked since a next one began and ended.
 *
 * Context: any; the shared memory is there.
 * Return: enum ub_reason.
 */
u32 ub_member_reason(struct ub_fabric *f, u32 index, u64 incarnation)
{
	const struct ub_peer *p = &f->peer[index];
	u32 noted = READ_ONCE(p->reason);
	struct ub_node_view v;
	bool valid;

	if (READ_ONCE(p->incarnation) == incarnation && !READ_ONCE(p->alive) && noted)
		return noted;
	valid = ub_member_view(f, index, &v);
	return down_reason(f, index, incarnation, &v, valid);
}

static void watch_peer(struct ub_fabric *f, u32 index, ktime_t now)
{
	struct ub_peer *p = &f->peer[index];
	struct ub_node_view v;
	bool valid = ub_member_view(f, index, &v);
	ktime_t since;

	if (p->alive && (!valid || !ub_view_up(&v) ||
			 v.incarnation != p->incarnation))
		peer_down(f, index, down_reason(f, index, p->incarnation, &v, valid));
	if (!valid || !ub_view_up(&v))
		return;
	if (!p->alive) {
		peer_up(f, index, &v);
		return;
	}
	if (v.heartbeat != p->heartbeat) {
		p->heartbeat = v.heartbeat;
		WRITE_ONCE(p->seen, now);
		return;
	}
	since = ktime_after(p->seen, f->watch_from) ? p->seen : f->watch_from;
	if (ktime_ms_delta(now, since) > READ_ONCE(f->detect_ms)) {
		ub_member_fence(f, index, UB_REASON_HEARTBEAT);
		if (ub_member_view(f, index, &v) && !ub_view_up(&v))
			peer_down(f, index,
				  down_reason(f, index, p->incarnation, &v, true));
	}
}

/* Has this node been fenced, or its record or fabric been given away? */
static bool tick_fenced(struct ub_fabric *f)
{
	struct ub_shm_node *rec = ub_shm_node_rec(f, f->self);
	u64 w = ub_ld(&rec->word);
	u16 reason = UB_REASON_REBOOT;

	if (w == f->word && ub_shm_current(f))
		return false;
	if (w == (f->word | UB_NODE_FENCED))
		reason = ub_ld(&rec->reason) & 0xffff;
	else if (!w || UB_SHM_STATE(ub_ld(&ub_shm_hdr(f)->state)) != UB_SHM_READY)
		reason = UB_REASON_ERASED;
	dev_err(&f->dev, "this node was fenced: reason %u\n", reason);
	ub_fabric_fenced(f, reason);
	/* Nothing here touches the memory any more: say so. */
	if (!READ_ONCE(f->killed))
		ub_member_detach(f);
	return true;
}

/* Lanes whose process ended without ->flush, or called exec. */
static void tick_lanes(struct ub_fabric *f)
{
	struct ub_file *file;

	mutex_lock(&f->files_lock);
	list_for_each_entry(file, &f->files, fabric_node)
		if (ub_lane_gone(file))
			ub_lane_dead(file);
	mutex_unlock(&f->files_lock);
}

static void tick_groups(struct ub_fabric *f)
{
	if (ub_fabric_enter_now(f))
		return;
	ub_group_tick(f);
	if (f->peer[f->self].heartbeat % UB_COLLECT_TICKS == 0)
		ub_group_collect(f);
	ub_fabric_exit(f);
}

/* Heartbeat, and a look at everybody. */
static void tick(struct ub_fabric *f)
{
	struct ub_shm_node *rec;
	ktime_t now = ktime_get();
	bool mute = false;
	u32 i;

	if (ktime_ms_delta(now, f->last_tick) >
	    READ_ONCE(f->period_ms) + READ_ONCE(f->detect_ms) / 2) {
		ub_count(f, late_ticks);
		f->watch_from = now;
	}
	f->last_tick = now;
	if (tick_fenced(f))
		return;
	rec = ub_shm_node_rec(f, f->self);
	ub_swap(&rec->poke, 0ULL);
	for (i = 0; i < f->geo.max_nodes; i++) {
		if (i == f->self)
			continue;
		watch_peer(f, i, now);
		/* Who has no bell has none to ring either. */
		mute |= f->peer[i].alive && !ub_ld(&ub_shm_node_rec(f, i)->bell);
	}
	WRITE_ONCE(f->mute, mute);
	ub_attach_tick(f);
	f->peer[f->self].heartbeat++;
	WRITE_ONCE(f->peer[f->self].seen, now);
	/* A former life that goes on late may have stored its own. */
	if (f->ops->bell && ub_ld(&rec->bell) != f->ops->bell(f))
		ub_st(&rec->bell, f->ops->bell(f));
	ub_st(&rec->heartbeat, f->peer[f->self].heartbeat);
	if (f->ops->tell_node)
		f->ops->tell_node(f);
	tick_lanes(f);
	ub_win_tick(f);
	tick_groups(f);
	ub_fabric_requeue(f, READ_ONCE(f->period_ms));
}

/**
 * ub_member_tick() - heartbeat, and a look at everybody
 * @work: ub_fabric.tick
 *
 * Context: work queue; no locks.
 */
void ub_member_tick(struct work_struct *work)
{
	struct ub_fabric *f = container_of(to_delayed_work(work),
					   struct ub_fabric, tick);

	if (READ_ONCE(f->state) != UB_FABRIC_UP || READ_ONCE(f->paused))
		return;
	ub_instant_tick(f, true);
	tick(f);
	ub_instant_tick(f, false);
}
