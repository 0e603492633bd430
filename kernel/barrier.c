// SPDX-License-Identifier: GPL-2.0-only
/*
 * Barriers in the kernel: arriving, sleeping, ringing.
 *
 * The engine (engine.c) decides; this file is its agent. A library that
 * drives the group's pages comes here only to sleep; a program without one
 * does the whole barrier by UB_IOC_BARRIER.
 *
 * Invariants:
 *  - One agent at a time: gm->driver is held, and the shared driver word says
 *    KERNEL, from before the arrival until the call returns.
 *  - An arrival is never lost: once it is recorded, UB_BARRIER_ARRIVE is
 *    cleared in the caller's struct before the call is restarted.
 *  - Every sleep has a timer and ends on a fatal signal; shared memory is
 *    touched only between ub_file_enter() and ub_fabric_exit().
 *  - Before sleeping: announce (hint, sleeping word), then read every word.
 */
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include "ub.h"
#include "trace.h"

/* Rings are hints: look again after this long, doubling. */
#define UB_RUNG_MIN_NS		(10 * NSEC_PER_MSEC)
#define UB_RUNG_MAX_NS		(100 * NSEC_PER_MSEC)
/* What the first sleep is doubled at most. */
#define UB_NAPS_MAX		7U
/* How long the ioctl alone polls before it sleeps. */
#define UB_SPIN_NS		(20 * NSEC_PER_USEC)

/**
 * ub_bar_wake_local() - a ring came: wake whoever sleeps on this node
 * @f: the fabric
 *
 * Context: any, also hard interrupt.
 */
void ub_bar_wake_local(struct ub_fabric *f)
{
	struct ub_gmember *gm;
	unsigned long flags;

	spin_lock_irqsave(&f->sleepers_lock, flags);
	list_for_each_entry(gm, &f->sleepers, sleep_node) {
		WRITE_ONCE(gm->rung, true);
		wake_up(&gm->wq);
	}
	spin_unlock_irqrestore(&f->sleepers_lock, flags);
}
EXPORT_SYMBOL_GPL(ub_bar_wake_local);

/**
 * ub_bar_ring() - wake every member of a group that sleeps
 * @gm: a member of it that lives here
 *
 * The caller's store or compare-and-swap that ends a wait comes before.
 * Context: process; between ub_file_enter() and ub_fabric_exit().
 */
void ub_bar_ring(struct ub_gmember *gm)
{
	struct ub_fabric *f = gm->fabric;
	const struct ub_grp *g = &gm->bar.g;
	DECLARE_BITMAP(rung, UB_SHM_MAX_NODES) = { 0 };
	bool local = false;
	u32 i;

	ub_mb();
	for (i = 0; i < g->n; i++) {
		u32 home;

		if (!ub_ld(&g->line[i].sleeping))
			continue;
		home = ub_group_home(gm, i);
		if (home == f->self)
			local = true;
		else if (home < f->geo.max_nodes)
			__set_bit(home, rung);
	}
	if (local)
		ub_bar_wake_local(f);
	for_each_set_bit(i, rung, UB_SHM_MAX_NODES)
		ub_member_ring(f, i, gm->id, false);
}

/* Put the member on the list that rings look at, and announce it. */
static void sleep_begin(struct ub_gmember *gm)
{
	struct ub_fabric *f = gm->fabric;

	WRITE_ONCE(gm->rung, false);
	spin_lock_irq(&f->sleepers_lock);
	list_add_tail(&gm->sleep_node, &f->sleepers);
	spin_unlock_irq(&f->sleepers_lock);
	ub_bar_sleep_begin(&gm->bar);
}

static void sleep_end(struct ub_gmember *gm)
{
	struct ub_fabric *f = gm->fabric;

	spin_lock_irq(&f->sleepers_lock);
	list_del_init(&gm->sleep_node);
	spin_unlock_irq(&f->sleepers_lock);
}

/*
 * How long to sleep before looking again: the one rule for all transports.
 * With bells the timer is for rings that got lost; where this node cannot be
 * rung, or some node rings nobody, it is what ends the wait.
 */
static u64 nap_ns(struct ub_fabric *f, unsigned int naps)
{
	bool rung = f->ops->ring && !READ_ONCE(f->mute);
	u64 first = rung ? UB_RUNG_MIN_NS : UB_TIMER_MIN_US * NSEC_PER_USEC;
	u64 most = rung ? UB_RUNG_MAX_NS : UB_TIMER_MAX_US * NSEC_PER_USEC;

	return min(first << min(naps, UB_NAPS_MAX), most);
}

/*
 * Sleep until a ring, the timer or a signal. Called without the fabric
 * entered; 0 or -EINTR.
 */
static int sleep_once(struct ub_gmember *gm, u64 until, bool killable)
{
	u64 now = ktime_get_ns(), left = until > now ? until - now : 0;
	unsigned int state = killable ? TASK_KILLABLE : TASK_INTERRUPTIBLE;
	int err = 0;

	ub_stat_inc(gm, sleeps);
	trace_ub_sleep(gm->fabric, gm->id, gm->bar.me, gm->bar.epoch);
	if (!READ_ONCE(gm->rung))
		err = __wait_event_hrtimeout(gm->wq, READ_ONCE(gm->rung),
					     ns_to_ktime(left), state);
	return err == -ERESTARTSYS ? -EINTR : 0;
}

/**
 * ub_bar_sleep_on() - sleep until a condition on shared words holds
 * @gm: the member; its driver is held
 * @timeout: absolute, CLOCK_MONOTONIC ns
 * @killable: only a fatal signal ends the sleep
 * @done: reads the words; not 0 ends the sleep and is the result
 *
 * @done runs after the sleep is announced, so a store that makes it true
 * either is seen or rings.
 * Context: process, may sleep; not between enter and exit.
 * Return: what @done returned; -ETIMEDOUT; -EINTR on a signal; -ESHUTDOWN.
 */
int ub_bar_sleep_on(struct ub_gmember *gm, u64 timeout, bool killable,
		    int (*done)(struct ub_gmember *gm))
{
	unsigned int naps = 0;
	int err, ret = 0;

	for (;;) {
		u64 now;

		if (gm->helps)
			ub_group_help(gm);
		err = ub_file_enter(gm->file);
		if (err)
			return err;
		sleep_begin(gm);
		ret = done(gm);
		ub_fabric_exit(gm->fabric);
		now = ktime_get_ns();
		if (!ret && now >= timeout)
			ret = -ETIMEDOUT;
		if (!ret)
			ret = sleep_once(gm, min(timeout, now + nap_ns(gm->fabric, naps)),
					 killable);
		if (!gm->helps)
			naps++;
		sleep_end(gm);
		err = ub_file_enter(gm->file);
		if (err)
			return err;
		ub_bar_sleep_end(&gm->bar);
		ub_fabric_exit(gm->fabric);
		if (ret)
			return ret;
	}
}

/* Take a verdict to the file's events, once. */
static void report_lost(struct ub_gmember *gm)
{
	struct ub_lost lost;
	struct ub_event ev = { .type = UB_EVENT_GROUP_LOST };

	if (gm->lost)
		return;
	gm->lost = true;
	ub_stat_inc(gm, verdicts);
	/* Who it is may not be known yet to a group that is being made. */
	ub_group_home(gm, UB_VERDICT_MEMBER(gm->bar.verdict));
	ub_bar_lost(gm, &lost);
	ev.group = gm->handle;
	ev.node = lost.node;
	ev.incarnation = lost.incarnation;
	ev.reason = lost.reason;
	ev.value = lost.epoch;
	ub_event_post(gm->file, &ev);
	trace_ub_verdict(gm->fabric, gm->id, lost.member, lost.epoch,
			 lost.reason);
}

/* The engine's slow path as a condition: 1 done, -EOWNERDEAD lost, 0 wait. */
static int record(struct ub_gmember *gm)
{
	struct ub_bar *b = &gm->bar;
	enum ub_bar_state state = ub_bar_record(b);

	if (b->wake) {
		b->wake = false;
		ub_bar_ring(gm);
		ub_group_tell(gm);
	}
	if (state == UB_BAR_LOST) {
		report_lost(gm);
		return -EOWNERDEAD;
	}
	return state == UB_BAR_DONE;
}

/* Was it the record that ended a wait? */
static int by_record(struct ub_gmember *gm, int ret)
{
	if (ret > 0)
		ub_stat_inc(gm, by_record);
	return ret;
}

/**
 * ub_bar_refused() - an arrival was refused: what to tell
 * @gm: the member
 *
 * Context: process, between enter and exit.
 * Return: -EOWNERDEAD when another member is lost: the answer of all;
 *	-ESTALE when it is this one.
 */
int ub_bar_refused(struct ub_gmember *gm)
{
	struct ub_bar *b = &gm->bar;

	if (!ub_bar_verdict(b, UB_EPOCH_MAX) ||
	    UB_VERDICT_MEMBER(b->verdict) == b->me)
		return -ESTALE;
	report_lost(gm);
	return -EOWNERDEAD;
}

/**
 * ub_bar_arrived() - look at once whether somebody sleeps or a verdict stands
 * @gm: the member, just arrived
 *
 * Context: process, between enter and exit.
 * Return: 1 the barrier is complete, 0 go on waiting, -EOWNERDEAD.
 */
int ub_bar_arrived(struct ub_gmember *gm)
{
	int ret = 0;

	if (ub_bar_pressed(&gm->bar)) {
		ret = record(gm);
		if (ret > 0)
			ub_bar_ring(gm);
	}
	return ret;
}

/* Poll the flags for a short while; true when the barrier is complete. */
static bool spin(struct ub_gmember *gm)
{
	u64 end = ktime_get_ns() + UB_SPIN_NS;
	bool done;

	if (ub_file_enter(gm->file))
		return false;
	while (!(done = ub_bar_poll(&gm->bar))) {
		if (need_resched() || ktime_get_ns() > end)
			break;
		cpu_relax();
	}
	ub_fabric_exit(gm->fabric);
	return done;
}

/* Wait, spinning first or asleep at once: 0 or an error. */
static int wait_for(struct ub_gmember *gm, u64 timeout, bool killable,
		    bool spinning)
{
	struct ub_fabric *f = gm->fabric;
	int ret;

	trace_ub_wait_begin(f, gm->id, gm->bar.me, gm->bar.epoch);
	if (spinning && spin(gm)) {
		ret = 0;
	} else {
		ret = ub_bar_sleep_on(gm, timeout, killable, record);
		ret = by_record(gm, ret) > 0 ? 0 : ret;
	}
	if (ret == -ETIMEDOUT)
		ub_stat_inc(gm, timeouts);
	trace_ub_wait_end(f, gm->id, gm->bar.me, gm->bar.epoch, ret);
	return ret;
}

/**
 * ub_bar_wait() - wait for the epoch that the member arrived at
 * @gm: the member; its driver is held
 * @timeout: absolute, CLOCK_MONOTONIC ns
 * @killable: only a fatal signal ends it
 *
 * Context: process, may sleep; not between enter and exit.
 * Return: 0; -EOWNERDEAD; -ETIMEDOUT; -EINTR; -ESHUTDOWN.
 */
int ub_bar_wait(struct ub_gmember *gm, u64 timeout, bool killable)
{
	return wait_for(gm, timeout, killable, false);
}

/**
 * ub_bar_lost() - the uniform answer, from the verdict the engine saw
 * @gm: the member
 * @lost: filled in
 */
void ub_bar_lost(struct ub_gmember *gm, struct ub_lost *lost)
{
	u32 m = UB_VERDICT_MEMBER(gm->bar.verdict);

	memset(lost, 0, sizeof(*lost));
	strscpy(lost->level, gm->level, sizeof(lost->level));
	if (m >= gm->bar.g.n)
		m = 0;
	lost->member = m;
	lost->epoch = gm->bar.lost_epoch;
	lost->reason = UB_VERDICT_REASON(gm->bar.verdict);
	lost->node = gm->table[m].node;
	lost->lane = gm->table[m].lane;
	lost->incarnation = gm->table[m].node_incarnation;
}

/**
 * ub_bar_missing_info() - on a time-out: who has not arrived, and since when
 *	its node was last heard of
 * @gm: the member
 * @lost: filled in; reason UB_REASON_NONE, epoch is the first not reached
 *
 * Context: process, not between enter and exit.
 */
void ub_bar_missing_info(struct ub_gmember *gm, struct ub_lost *lost)
{
	struct ub_fabric *f = gm->fabric;
	const struct ub_grp *g = &gm->bar.g;
	u32 home, m;

	memset(lost, 0, sizeof(*lost));
	strscpy(lost->level, gm->level, sizeof(lost->level));
	if (ub_file_enter(gm->file))
		return;
	m = ub_bar_missing(&gm->bar, gm->bar.epoch);
	if (m < g->n) {
		lost->member = m;
		lost->epoch = UB_ARR_EPOCH(ub_ld(&g->line[m].arrival)) + 1;
		lost->node = gm->table[m].node;
		lost->lane = gm->table[m].lane;
		lost->incarnation = gm->table[m].node_incarnation;
		home = ub_group_home(gm, m);
		if (home < f->geo.max_nodes && home != f->self)
			lost->heartbeat_age_ns = ub_member_age(f, home);
	}
	ub_fabric_exit(f);
}

/* The shared driver word: false when somebody else drives the member. */
static bool take_word(struct ub_gmember *gm, u64 from)
{
	u64 *driver = &gm->bar.g.line[gm->bar.me].driver;

	return ub_cas(driver, from, UB_DRIVER_KERNEL) == from;
}

static void give_word(struct ub_gmember *gm, u64 to)
{
	u64 *driver = &gm->bar.g.line[gm->bar.me].driver;

	ub_cas(driver, UB_DRIVER_KERNEL, to);
}

/* Arrive, or take up the arrival that stands. 1 complete, 0 wait, errno. */
static int begin(struct ub_gmember *gm, struct ub_barrier *arg)
{
	struct ub_bar *b = &gm->bar;
	bool handover = arg->flags & UB_BARRIER_HANDOVER;
	u64 last;
	int err;

	if (!(arg->flags & UB_BARRIER_ARRIVE)) {
		if (!handover && !gm->pending)
			return -EINVAL;
		return handover ? ub_bar_resume(b) : 0;
	}
	if (gm->pending)
		return -EALREADY;
	if (handover)	/* the library may have run barriers since */
		ub_bar_init(b, &b->g, b->sched, b->me, gm->base);
	last = (arg->last ?: UB_AUX_LAST_MASK) & UB_AUX_GIVEN_MASK;
	err = ub_bar_arrive(b, arg->op, arg->value, last | ub_copied_tell(gm));
	if (err == -ESTALE)
		return ub_bar_refused(gm);
	if (err)
		return err;
	gm->pending = true;
	arg->flags &= ~UB_BARRIER_ARRIVE;
	trace_ub_arrive(gm->fabric, gm->id, b->me, b->epoch);
	ub_stat_inc(gm, barriers);
	ub_group_tell(gm);
	return ub_bar_arrived(gm);
}

/* One look, for UB_BARRIER_TEST. */
static int test_once(struct ub_gmember *gm)
{
	int ret = ub_file_enter(gm->file);

	if (ret)
		return ret;
	ret = ub_bar_poll(&gm->bar) ? 1 : by_record(gm, record(gm));
	ub_fabric_exit(gm->fabric);
	return ret ? ret : -EAGAIN;
}

/* It is complete, and bytes of a window were lost on the way: which one. */
static int window_lost(struct ub_gmember *gm, struct ub_barrier *arg)
{
	u64 e = gm->bar.epoch;

	memset(&arg->out_lost, 0, sizeof(arg->out_lost));
	if (!ub_file_enter(gm->file)) {
		arg->out_window = ub_ld(&gm->bar.g.head->lost[e & 1].gva);
		ub_fabric_exit(gm->fabric);
	}
	return -EOWNERDEAD;
}

/* The barrier ended for this member: hand out what it brought. */
static int finish(struct ub_gmember *gm, struct ub_barrier *arg, int ret)
{
	struct ub_bar *b = &gm->bar;

	arg->out_epoch = b->epoch;
	switch (ret) {
	case 1:
		if (gm->fabric->copied)
			ub_copied_release(gm);
		gm->pending = false;
		arg->value = b->sum.full;
		arg->out_last = b->sum.aux & UB_AUX_GIVEN_MASK;
		if (ub_bar_mixed(b))
			return -EINVAL;
		return b->sum.aux & UB_AUX_WINLOST ? window_lost(gm, arg) : 0;
	case -EOWNERDEAD:
		gm->pending = false;
		ub_bar_lost(gm, &arg->out_lost);
		return ret;
	case -ETIMEDOUT:
		ub_bar_missing_info(gm, &arg->out_lost);
		return ret;
	case -EINTR:	/* ARRIVE is cleared: nothing is lost */
		return -ERESTARTSYS;
	default:
		return ret;
	}
}

/* A library has spun before it comes here; without a schedule no flags come. */
static bool may_spin(const struct ub_gmember *gm, u32 flags)
{
	return gm->bar.sched && !(flags & (UB_BARRIER_SLEEP | UB_BARRIER_HANDOVER));
}

static int run(struct ub_gmember *gm, struct ub_barrier *arg)
{
	u64 from = arg->flags & UB_BARRIER_HANDOVER ? UB_DRIVER_USER :
						      UB_DRIVER_NONE;
	const u32 flags = arg->flags;
	const bool wait = flags & UB_BARRIER_WAIT;
	const bool test = flags & UB_BARRIER_TEST;
	int ret;

	arg->out_window = 0;
	if (gm->fabric->copied && (flags & UB_BARRIER_ARRIVE))
		ub_copied_flush_all(gm->fabric->copied);
	ret = ub_file_enter(gm->file);
	if (ret)
		return ret;
	if (!take_word(gm, from)) {
		ub_fabric_exit(gm->fabric);
		return -EBUSY;
	}
	ret = begin(gm, arg);
	ub_fabric_exit(gm->fabric);

	if (ret == 1 && (wait || test))
		by_record(gm, ret);
	else if (ret == 1)
		ret = 0;	/* the result is for the WAIT to come */
	else if (!ret && test)
		ret = test_once(gm);
	else if (!ret && wait)
		ret = wait_for(gm, arg->timeout, false, may_spin(gm, flags)) ?: 1;
	if (ret || wait || test)
		ret = finish(gm, arg, ret);
	else
		arg->out_epoch = gm->bar.epoch;
	if (!ub_file_enter(gm->file)) {
		give_word(gm, from);
		ub_fabric_exit(gm->fabric);
	}
	return ret;
}

/**
 * ub_barrier() - UB_IOC_BARRIER
 * @file: the lane
 * @arg: copied in; copied out whatever is returned
 *
 * Context: process, may sleep; not between enter and exit.
 * Return: see struct ub_barrier.
 */
long ub_barrier(struct ub_file *file, struct ub_barrier *arg)
{
	const u32 waits = UB_BARRIER_WAIT | UB_BARRIER_TEST;
	struct ub_gmember *gm;
	int ret;

	if (!(arg->flags & (UB_BARRIER_ARRIVE | waits)) ||
	    (arg->flags & waits) == waits || arg->op >= UB_RED_OPS)
		return -EINVAL;
	gm = ub_group_get(file, arg->group);
	if (!gm)
		return -ENOENT;
	if (!gm->sched) {
		ret = -EOWNERDEAD;	/* creation failed: shrink or destroy */
		ub_bar_lost(gm, &arg->out_lost);
	} else if (!ub_group_drive(gm)) {
		ret = -EBUSY;
	} else {
		/* It may have been destroyed before the driver was held. */
		ret = xa_load(&file->groups, arg->group) == gm ? run(gm, arg) :
								 -ENOENT;
		mutex_unlock(&gm->driver);
	}
	ub_group_put(gm);
	return ret;
}

/**
 * ub_kick() - UB_IOC_KICK: wake all members of a group that sleep
 * @file: the lane
 * @arg: copied in
 *
 * Context: process; not between enter and exit.
 * Return: 0, -ENOENT, -ESHUTDOWN.
 */
long ub_kick(struct ub_file *file, struct ub_group_id *arg)
{
	struct ub_gmember *gm = ub_group_get(file, arg->group);
	long ret;

	if (!gm)
		return -ENOENT;
	ret = ub_file_enter(gm->file);
	if (!ret) {
		ub_bar_ring(gm);
		ub_fabric_exit(gm->fabric);
	}
	ub_group_put(gm);
	return ret;
}
