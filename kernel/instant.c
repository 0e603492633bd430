// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instants: places where a test has a node stand still, or a process die.
 *
 * What others see of a node changes by its stores only, so all its possible
 * deaths are those between two of them. Each store, swap and compare-and-swap
 * of ub_shared.h passes ub_instant() first; a test arms the n-th that a thread,
 * or a node's next tick, comes to, and goes through all n.
 *
 * Invariants:
 *  - Without test hooks a pass is a no-op in the code (a static key).
 *  - A node that is held stores nothing until UB_TEST_RESUME: its tick and its
 *    calls stand still, too, and this thread keeps all that it holds. Then it
 *    goes on where it was, as a paused machine does.
 */
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include "ub.h"

DEFINE_STATIC_KEY_FALSE(ub_instants);

static LIST_HEAD(armed);
static DEFINE_SPINLOCK(armed_lock);	/* of it, and of all struct ub_trap */

/**
 * ub_instant_init() - have stores look for a test's traps
 *
 * Context: module init, with test hooks.
 */
void ub_instant_init(void)
{
	static_branch_enable(&ub_instants);
}

static void disarm(struct ub_trap *t)
{
	lockdep_assert_held(&armed_lock);
	if (t->armed)
		list_del(&t->node);
	t->armed = false;
	put_pid(t->thread);
	t->thread = NULL;
}

/**
 * ub_instant_arm() - spring at a store
 * @f: the node that is held
 * @how: enum ub_test_op: UB_TEST_HOLD_AT, UB_TEST_DIE_AT, UB_TEST_HOLD_TICK_AT
 * @nth: which store from now, of the caller or of the next tick; 0: none
 *
 * Context: process.
 */
void ub_instant_arm(struct ub_fabric *f, u32 how, u64 nth)
{
	struct ub_trap *t = &f->trap;

	spin_lock(&armed_lock);
	disarm(t);
	t->how = how;
	t->left = nth;
	WRITE_ONCE(t->sprung, 0);
	if (nth) {
		if (how != UB_TEST_HOLD_TICK_AT)
			t->thread = get_pid(task_pid(current));
		list_add(&t->node, &armed);
		t->armed = true;
	}
	spin_unlock(&armed_lock);
}

/**
 * ub_instant_tick() - a tick begins or ends
 * @f: the fabric
 * @begins: it is about to store
 *
 * Context: the tick.
 */
void ub_instant_tick(struct ub_fabric *f, bool begins)
{
	struct ub_trap *t = &f->trap;

	if (!static_branch_unlikely(&ub_instants))
		return;
	spin_lock(&armed_lock);
	if (t->armed && t->how == UB_TEST_HOLD_TICK_AT) {
		if (begins)
			t->thread = get_pid(task_pid(current));
		else	/* it made fewer stores */
			disarm(t);
	}
	spin_unlock(&armed_lock);
}

/* The node whose trap springs at this store of this thread, or NULL. */
static struct ub_fabric *sprung(void)
{
	struct ub_fabric *f = NULL;
	struct ub_trap *t;

	spin_lock(&armed_lock);
	list_for_each_entry(t, &armed, node) {
		if (t->thread != task_pid(current))
			continue;
		if (!--t->left)
			f = container_of(t, struct ub_fabric, trap);
		break;
	}
	if (f) {
		disarm(&f->trap);
		/* Whoever sees that it sprung may resume the node, and its tick. */
		if (f->trap.how != UB_TEST_DIE_AT) {
			WRITE_ONCE(f->paused, true);
			cancel_delayed_work(&f->tick);
		}
		smp_store_release(&f->trap.sprung, ktime_get_ns());	/* not shared */
	}
	spin_unlock(&armed_lock);
	return f;
}

/**
 * ub_instant_reached() - a store is next; see ub_instant()
 *
 * Context: any; in a process it may sleep when a trap is armed for it.
 */
void ub_instant_reached(void)
{
	struct ub_fabric *f;

	if (!in_task() || list_empty(&armed))
		return;
	f = sprung();
	if (!f)
		return;
	might_sleep();
	if (f->trap.how == UB_TEST_DIE_AT) {
		send_sig(SIGKILL, current, 1);
		return;
	}
	wait_event_killable(f->pause_wq, !READ_ONCE(f->paused));
}
