// SPDX-License-Identifier: GPL-2.0-only
/*
 * Formatting: erase a fabric's memory, whatever it holds, and join anew.
 *
 * Invariants:
 *  - Without force nothing is stored.
 *  - The header's state changes first: from then on no node of the old fabric
 *    finds itself on it. Those that beat are given the detection time to leave;
 *    one that stands still may store into windows that it has mapped, until
 *    its first tick, as a fenced one may.
 *  - While the memory is cleared the state is INITIALISING with a nonce that
 *    keeps changing, so that a joiner waits. One that takes over all the same
 *    is left to it.
 */
#include <linux/delay.h>
#include <linux/netlink.h>
#include <linux/random.h>
#include <linux/sizes.h>
#include "netlink.h"
#include "ub.h"

/* Why not without force. @f->life is held. */
static int format_refuse(struct ub_fabric *f, struct netlink_ext_ack *extack)
{
	u32 self = READ_ONCE(f->state) == UB_FABRIC_UP ? f->self : f->geo.max_nodes;
	int beats;

	if (READ_ONCE(f->state) == UB_FABRIC_REFUSED) {
		NL_SET_ERR_MSG(extack,
			       "memory holds something else, or another layout: force erases it");
		return -EEXIST;
	}
	beats = ub_member_beats(f, self);
	if (beats < 0)
		return beats;
	if (beats) {
		NL_SET_ERR_MSG(extack,
			       "heartbeat of another node moves: force erases the fabric under it");
		return -EBUSY;
	}
	NL_SET_ERR_MSG(extack,
		       "memory holds a fabric that no other node uses: force erases it");
	return -EEXIST;
}

static u64 new_nonce(void)
{
	return UB_SHM_WORD(UB_SHM_INITIALISING, get_random_u64() | 1);
}

static bool any_up(struct ub_fabric *f)
{
	u32 i;

	for (i = 0; i < f->geo.max_nodes; i++) {
		u64 word = ub_ld(&ub_shm_node_rec(f, i)->word);

		if (i != f->self && UB_NODE_STATE(word) == UB_NODE_UP)
			return true;
	}
	return false;
}

/* Nodes that tick find the state changed, and say that they left. */
static u64 wait_for_leavers(struct ub_fabric *f, u64 mine)
{
	ktime_t end = ktime_add_ms(ktime_get(), READ_ONCE(f->detect_ms));
	u64 *state = &ub_shm_hdr(f)->state;

	ub_member_poke_all(f);
	while (any_up(f) && ktime_before(ktime_get(), end) &&
	       !READ_ONCE(f->leaving)) {
		u64 next = new_nonce();

		usleep_range(1000, 2000);
		if (ub_cas(state, mine, next) != mine)
			break;
		mine = next;
	}
	return mine;
}

/* Zero means empty, free, not arrived. Window memory is zeroed when given out. */
static void erase(struct ub_fabric *f, bool known)
{
	struct ub_shm_header *h = ub_shm_hdr(f);
	u64 mine = new_nonce(), off;

	ub_swap(&h->state, mine);
	if (known)
		mine = wait_for_leavers(f, mine);
	for (off = UB_LAYOUT_PAGE; off < f->geo.slice_off; off += SZ_1M) {
		ub_clear(f->mem + off, min_t(u64, SZ_1M, f->geo.slice_off - off));
		cond_resched();
	}
	off = offsetof(struct ub_shm_header, size);
	ub_clear((void *)h + off, sizeof(*h) - off);
	ub_st(&h->layout, 0ULL);
	ub_st(&h->magic, 0ULL);
	ub_mb();
	ub_cas(&h->state, mine, 0ULL);
}

/**
 * ub_fabric_format() - erase a fabric's memory and join anew
 * @f: the fabric, registered, counted by the caller
 * @force: do it; otherwise only say what would be lost
 * @extack: gets why not
 *
 * Files that are open are dead afterwards, and nodes of other kernels fenced.
 *
 * Context: may sleep, for twice the detection time; no locks.
 * Return: 0; -EOPNOTSUPP each node has a memory of its own; without @force
 *	-EBUSY when the heartbeat of another node moves, else -EEXIST; -ESHUTDOWN
 *	when the fabric is about to go; or what joining returns: then the node is
 *	fenced, or refused as before.
 */
int ub_fabric_format(struct ub_fabric *f, bool force,
		     struct netlink_ext_ack *extack)
{
	bool refused;
	int err;

	if (f->ops->replica) {
		NL_SET_ERR_MSG(extack,
			       "there is no common memory to format: delete the fabric and add it");
		return -EOPNOTSUPP;
	}
	mutex_lock(&f->life);
	if (READ_ONCE(f->leaving)) {
		err = -ESHUTDOWN;
		goto unlock;
	}
	if (!force) {
		err = format_refuse(f, extack);
		goto unlock;
	}
	refused = READ_ONCE(f->state) == UB_FABRIC_REFUSED;
	ub_fabric_fenced(f, UB_REASON_ERASED);
	cancel_delayed_work_sync(&f->tick);
	dev_warn(&f->dev, "the memory is formatted\n");
	erase(f, !refused);
	err = ub_fabric_rejoin_locked(f);
	if (!err && refused)
		err = ub_fabric_publish(f);
	if (err)
		NL_SET_ERR_MSG(extack,
			       "erased, but this node could not join: see the kernel log");
unlock:
	mutex_unlock(&f->life);
	return err;
}
