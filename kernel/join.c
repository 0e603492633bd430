// SPDX-License-Identifier: GPL-2.0-only
/*
 * Joining: who is alive, which record to claim.
 *
 * Invariants:
 *  - A record changes hands by compare-and-swap of its word, with a random
 *    nonce.
 *  - An incarnation is above all that any record held when it was claimed, so
 *    it rises for each node id even when records are reused for other ids. It
 *    never wraps, whatever the records hold.
 *  - A node that stands still while it claims, for so long that its next life
 *    takes the record over, changes nothing of it that others go by: incarnation
 *    and generation are only raised, and the bell is told again by each tick.
 *  - A joiner waits only while records are up and none of them moves, or while
 *    one with its own id may be alive.
 */
#include <linux/delay.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "ub.h"

#define UB_ATTACH_TRIES	8
#define UB_ATTACH_DETECTS	16	/* no further try after so many detection times */
/* What a freer's word has room for; nobody attaches that often. */
#define UB_INCARNATION_MAX	((1ULL << 44) - 1)

/**
 * ub_join_ends() - must a wait of a node that joins end
 * @f: the fabric
 *
 * Context: any.
 * Return: 0; -ESHUTDOWN when the fabric is about to be unregistered; -EINTR when
 *	the caller was killed.
 */
int ub_join_ends(const struct ub_fabric *f)
{
	if (READ_ONCE(f->leaving))
		return -ESHUTDOWN;
	return fatal_signal_pending(current) ? -EINTR : 0;
}

/* What a joiner saw of the records that claim to be up. */
struct ub_watch {
	u32 silent;		/* records that did not move */
	bool up;		/* one of them is up, not only claimed */
	bool own;		/* one of them has this node's id */
	bool moved;
};

/* @except: a record that does not count */
static void watch_once(struct ub_fabric *f, struct ub_node_view *first,
		       bool begin, u32 except, struct ub_watch *w)
{
	u32 i;

	*w = (struct ub_watch){ 0 };
	for (i = 0; i < f->geo.max_nodes; i++) {
		struct ub_node_view v = { 0 };
		bool own;

		if (i == except)
			continue;
		if (!ub_member_view(f, i, &v))
			v.word = 0;
		if (begin)
			first[i] = v;
		own = v.word && UB_NODE_ID(v.word) == f->node;
		if (!ub_view_up(&v) &&
		    !(own && UB_NODE_STATE(v.word) == UB_NODE_CLAIMING))
			continue;
		if (v.word == first[i].word && v.heartbeat == first[i].heartbeat) {
			w->silent++;
			w->up |= ub_view_up(&v);
			w->own |= own;
			continue;
		}
		w->moved = true;
	}
}

/* Name the holder: its bell tells which device it sits on, 0 is one without. */
static void say_in_use(struct ub_fabric *f, u32 index, u64 incarnation)
{
	u64 bell = ub_ld(&ub_shm_node_rec(f, index)->bell);

	dev_err(&f->dev, "node id %u is in use: record %u, incarnation %llu, bell %#llx\n",
		f->node, index, incarnation, bell);
}

/* Somebody with this node's id beats. */
static bool watch_in_use(struct ub_fabric *f, const struct ub_node_view *first)
{
	u32 i;

	for (i = 0; i < f->geo.max_nodes; i++) {
		struct ub_node_view v;

		if (ub_member_view(f, i, &v) && ub_view_up(&v) &&
		    UB_NODE_ID(v.word) == f->node &&
		    v.heartbeat != first[i].heartbeat) {
			say_in_use(f, i, v.incarnation);
			return true;
		}
	}
	return false;
}

/*
 * Are the records that are up those of living nodes? Returns at once when
 * there are none, and when one moves; peers are poked, so that this is soon.
 * @first gets the records that were watched.
 */
static int attach_watch(struct ub_fabric *f, struct ub_node_view *first)
{
	const u32 none = f->geo.max_nodes;
	ktime_t start = ktime_get();
	struct ub_watch w;
	int err = 0;

	watch_once(f, first, true, none, &w);
	if (w.silent) {
		f->self = none;
		ub_member_poke_all(f);
	}
	while (w.silent) {
		s64 ms = ktime_ms_delta(ktime_get(), start);
		u32 detect_ms = READ_ONCE(f->detect_ms);

		err = ub_join_ends(f);
		if (err)
			break;
		if (watch_in_use(f, first)) {
			err = -EADDRINUSE;
			break;
		}
		if (w.moved && (!w.own || ms > detect_ms))
			break;
		if (ms > 2LL * detect_ms) {
			/* Of a former life that died when it claimed it: take it. */
			if (!w.up)
				break;
			if (ub_shm_raise(f))
				dev_info(&f->dev, "all %u nodes are silent: new generation\n",
					 w.silent);
			err = -EAGAIN;
			break;
		}
		usleep_range(1000, 2000);
		watch_once(f, first, false, none, &w);
	}
	if (!err && watch_in_use(f, first))
		err = -EADDRINUSE;
	return err;
}

/**
 * ub_member_beats() - does the heartbeat of a node move
 * @f: the fabric
 * @except: index of a record that does not count
 *
 * Context: may sleep, for the detection time when all nodes are silent.
 * Return: 1 when one does, 0, -ENOMEM, -ESHUTDOWN when the fabric is about to
 *	be unregistered, or -EINTR when killed.
 */
int ub_member_beats(struct ub_fabric *f, u32 except)
{
	struct ub_node_view *first;
	ktime_t start = ktime_get();
	struct ub_watch w;
	int err = 0;

	first = kvcalloc(f->geo.max_nodes, sizeof(*first), GFP_KERNEL);
	if (!first)
		return -ENOMEM;
	watch_once(f, first, true, except, &w);
	if (w.silent)
		ub_member_poke_all(f);
	while (w.silent && !w.moved && !err &&
	       ktime_ms_delta(ktime_get(), start) <= READ_ONCE(f->detect_ms)) {
		usleep_range(1000, 2000);
		watch_once(f, first, false, except, &w);
		err = ub_join_ends(f);
	}
	kvfree(first);
	return err ?: w.moved;
}

/*
 * How well a record suits this node: the higher the better, 0 not at all. One of
 * its own id that may be in use was watched, or somebody else has just come.
 */
static int claim_rank(struct ub_fabric *f, u32 index, u64 word, u64 watched)
{
	u64 state = UB_NODE_STATE(word);
	u64 generation = ub_ld(&ub_shm_node_rec(f, index)->generation);

	/* One of a generation that this node has not opened: it may well live. */
	if (word && generation > f->generation)
		return 0;
	if (word && UB_NODE_ID(word) == f->node)
		return word == watched || state == UB_NODE_LEFT ? 3 : -EAGAIN;
	if (state == UB_NODE_EMPTY)
		return 2;
	if (state == UB_NODE_CLAIMING)
		return 0;
	if (generation != f->generation)
		return 2;
	return state == UB_NODE_LEFT ? 1 : 0;
}

static int claim_pick(struct ub_fabric *f, const struct ub_node_view *watched,
		      u64 *word, u64 *incarnation)
{
	int best = -ENOSPC, rank = 0;
	u32 i;

	*incarnation = 0;
	for (i = 0; i < f->geo.max_nodes; i++) {
		struct ub_shm_node *rec = ub_shm_node_rec(f, i);
		u64 w = ub_ld(&rec->word);
		int r = claim_rank(f, i, w, watched[i].word);

		if (r < 0)
			return r;
		*incarnation = max(*incarnation, ub_ld(&rec->incarnation));
		if (r > rank) {
			rank = r;
			best = i;
			*word = w;
		}
	}
	return best;
}

/* Two nodes with one id in different records: the one that was first stays. */
static bool claim_clash(struct ub_fabric *f, u32 mine)
{
	u32 i;

	for (i = 0; i < f->geo.max_nodes; i++) {
		struct ub_node_view v;

		if (i == mine || !ub_member_view(f, i, &v) ||
		    UB_NODE_ID(v.word) != f->node)
			continue;
		if (ub_view_up(&v) ||
		    (UB_NODE_STATE(v.word) == UB_NODE_CLAIMING && i < mine)) {
			say_in_use(f, i, v.incarnation);
			return true;
		}
	}
	return false;
}

/* Raise a word of a record; false when it is there, or beyond, already. */
static bool claim_raise(u64 *word, u64 to)
{
	u64 old = ub_ld(word);
	int tries;

	for (tries = 0; old < to && tries < UB_ATTACH_TRIES; tries++) {
		u64 was = ub_cas(word, old, to);

		if (was == old)
			return true;
		old = was;
	}
	return false;
}

static int attach_claim(struct ub_fabric *f, const struct ub_node_view *watched)
{
	u32 nonce = get_random_u32();
	u64 old = 0, bell, incarnation, w = UB_NODE_WORD(UB_NODE_CLAIMING, f->node, nonce);
	struct ub_shm_node *rec;
	int index;

	index = claim_pick(f, watched, &old, &incarnation);
	if (index == -EAGAIN || !ub_shm_current(f))
		return -EAGAIN;
	if (index < 0) {
		dev_err(&f->dev, "all %u node records are taken\n",
			f->geo.max_nodes);
		return index;
	}
	/* An incarnation that wraps would let files of a former life live again. */
	if (max(incarnation, f->incarnation) >= UB_INCARNATION_MAX) {
		dev_err(&f->dev, "a node record holds incarnation %llu, which nobody reaches\n",
			max(incarnation, f->incarnation));
		return -EMEDIUMTYPE;
	}
	rec = ub_shm_node_rec(f, index);
	if (ub_cas(&rec->word, old, w) != old)
		return -EAGAIN;
	if (claim_clash(f, index)) {
		ub_cas(&rec->word, w, 0ULL);
		return -EADDRINUSE;
	}
	f->self = index;
	/* Above its own as well: formatting forgets what records held. */
	f->incarnation = max(incarnation, f->incarnation) + 1;
	bell = f->ops->bell ? f->ops->bell(f) : 0;
	if (!claim_raise(&rec->incarnation, f->incarnation) ||
	    (!claim_raise(&rec->generation, f->generation) &&
	     ub_ld(&rec->generation) != f->generation)) {
		ub_cas(&rec->word, w, 0ULL);
		return -EAGAIN;
	}
	ub_st(&rec->bell, bell);
	ub_st(&rec->reason, 0ULL);
	ub_st(&rec->poke, 0ULL);
	ub_st(&rec->memtype, (u64)f->memtype);
	ub_st(&rec->heartbeat, ub_ld(&rec->heartbeat) + 1);
	f->word = UB_NODE_WORD(UB_NODE_UP, f->node, nonce);
	if (ub_cas(&rec->word, w, f->word) != w)
		return -EAGAIN;
	ub_mb();
	if (ub_shm_current(f))
		return 0;
	ub_cas(&rec->word, f->word, UB_NODE_WORD(UB_NODE_LEFT, f->node, nonce));
	return -EAGAIN;
}

/**
 * ub_member_attach() - claim a node record and become a member
 * @f: the fabric, not up
 *
 * Context: may sleep; no locks.
 * Return: 0; -EADDRINUSE when a living node has the id; -ENOSPC when all
 *	records are taken; -EMEDIUMTYPE when one cannot be a node's; -EAGAIN when
 *	others kept changing them; or what ub_shm_open() returns.
 */
int ub_member_attach(struct ub_fabric *f)
{
	ktime_t end = ktime_add_ms(ktime_get(), (u64)UB_ATTACH_DETECTS *
				   READ_ONCE(f->detect_ms));
	int tries, err = -EAGAIN;
	struct ub_node_view *first;

	first = kvcalloc(f->geo.max_nodes, sizeof(*first), GFP_KERNEL);
	if (!first)
		return -ENOMEM;
	for (tries = 0; err == -EAGAIN && tries < UB_ATTACH_TRIES &&
	     ktime_before(ktime_get(), end); tries++) {
		err = ub_shm_open(f);
		if (!err)
			err = attach_watch(f, first);
		if (!err)
			err = attach_claim(f, first);
	}
	kvfree(first);
	if (err)
		return err;
	memset(f->peer, 0, f->geo.max_nodes * sizeof(*f->peer));
	f->peer[f->self] = (struct ub_peer){
		.word = f->word, .incarnation = f->incarnation,
		.heartbeat = ub_ld(&ub_shm_node_rec(f, f->self)->heartbeat),
		.seen = ktime_get(), .alive = true,
	};
	f->last_tick = ktime_get();
	f->watch_from = f->last_tick;
	err = ub_win_reset(f);
	if (err) {
		ub_member_detach(f);
		return err;
	}
	if (f->ops->tell_node)
		f->ops->tell_node(f);
	ub_member_poke_all(f);
	return 0;
}
