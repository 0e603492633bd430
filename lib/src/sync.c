// SPDX-License-Identifier: MIT
/*
 * A barrier, as a member runs it.
 *
 *	ub_sync()	when nothing is odd: ub_bar_straight() in kernel/engine.h
 *	  begin()	one thread drives a scope; not in a forked child
 *	  hand_over()	records that were posted, and notes that tell of them
 *	  arrive()	contribution and own word (one compare-and-swap); if
 *			somebody sleeps, read the record and wake them
 *	  wait_for()	poll own flag lines by the schedule
 *	    ub_wait_long()	wait.c: spin, yield, sleep in the back end
 *	  finish()	accounting, records that came, result
 *
 * The words and the rounds are in kernel/engine.c, the back end is entered
 * only to sleep and to wake. Where windows are copied (@by_kernel) it does all of
 * it, since arriving and leaving move the copies.
 */
#include "internal.h"
#include "backend.h"
#include "bulk.h"
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char sync_call[] = "ub_sync";

_Static_assert((int)UB_MAX_S64 == (int)UB_RED_MAX_S64 &&
	       (int)UB_XOR == (int)UB_RED_XOR, "reductions are the engine's");

static inline void *self(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
	return __builtin_thread_pointer();
#else
	static _Thread_local char here;

	return &here;
#endif
}

/*
 * A scope is biased to the thread that used it last: it enters by a store and
 * a load. Another thread takes the scope over with the help of membarrier(),
 * which makes the owner's store visible or lets it see the new owner. Without
 * membarrier() (or under ThreadSanitizer) owner is always NULL and everybody
 * enters by compare-and-swap.
 */
static int busy(void)
{
	return ub_fail(-EBUSY,
		       "another thread is inside a call on this scope; use one scope from one thread at a time");
}

#define UB_TAKING	((void *)1)

static void membarrier(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

static int __attribute__((noinline, cold)) forked(void)
{
	return ub_fail(-EPERM,
		       "called in a child of the process that made the context; call ub_init() in the process that takes part");
}

static int __attribute__((noinline, cold)) take_over(struct ub_scope *s)
{
	void *old = __atomic_load_n(&s->owner, __ATOMIC_ACQUIRE), *none = NULL;

	if (!*s->alive)
		return forked();
	if (!s->ctx->biased)
		return __atomic_compare_exchange_n(&s->inside, &none, self(), 0,
						   __ATOMIC_SEQ_CST,
						   __ATOMIC_RELAXED) ? 0 : busy();
	if (old == UB_TAKING ||
	    !__atomic_compare_exchange_n(&s->owner, &old, UB_TAKING, 0,
					 __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return busy();
	/* Twice: the owner may have been between its load and its store. */
	membarrier();
	membarrier();
	if (__atomic_load_n(&s->inside, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&s->owner, old, __ATOMIC_RELEASE);
		return busy();
	}
	__atomic_store_n(&s->inside, self(), __ATOMIC_RELAXED);
	__atomic_store_n(&s->owner, self(), __ATOMIC_RELEASE);
	return 0;
}

static int __attribute__((noinline, cold)) lost_owner(struct ub_scope *s)
{
	void *me = self();

	__atomic_compare_exchange_n(&s->inside, &me, NULL, 0, __ATOMIC_SEQ_CST,
				    __ATOMIC_RELAXED);
	return busy();
}

static inline int begin(struct ub_scope *s)
{
	void *me = self();

	if (unlikely(__atomic_load_n(&s->owner, __ATOMIC_RELAXED) != me))
		return take_over(s);
	__atomic_store_n(&s->inside, me, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (unlikely(__atomic_load_n(&s->owner, __ATOMIC_RELAXED) != me))
		return lost_owner(s);
	return 0;
}

static inline void end(struct ub_scope *s)
{
	__atomic_store_n(&s->inside, NULL, __ATOMIC_RELEASE);
}

int ub_lost_error(struct ub_scope *s)
{
	struct ub_bar *b = &s->bar;
	uint32_t m = UB_VERDICT_MEMBER(b->verdict);

	s->lost = true;
	s->state = UB_SCOPE_IDLE;
	if (m == s->rank)
		return ub_fail(-ESTALE,
			       "%s: the others took this member (rank %u) for lost at epoch %llu: %s; start it again",
			       s->level_name, m, (unsigned long long)b->lost_epoch,
			       ub_reason_text(UB_VERDICT_REASON(b->verdict)));
	return ub_fail(-EOWNERDEAD,
		       "%s: rank %u (node %u, lane %u) is lost, it never reached epoch %llu: %s; ub_shrink() goes on without it",
		       s->level_name, m, s->node[m], s->lane[m],
		       (unsigned long long)b->lost_epoch,
		       ub_reason_text(UB_VERDICT_REASON(b->verdict)));
}

static int __attribute__((noinline, cold))
arrive_error(struct ub_scope *s, int err)
{
	struct ub_bar *b = &s->bar;

	switch (err) {
	case -ESTALE:
		if (ub_bar_verdict(b, b->epoch + 1))
			return ub_lost_error(s);
		return ub_fail(err, "%s: the others took this member for lost",
			       s->level_name);
	case -EBUSY:
		return busy();
	case -EOVERFLOW:
		return ub_fail(err, "%s: no epoch is left", s->level_name);
	default:
		return ub_fail(err, "%s: unknown reduction", s->level_name);
	}
}

/* Somebody is about to sleep, or a verdict stands. */
static int __attribute__((noinline)) pressed(struct ub_scope *s)
{
	struct ub_bar *b = &s->bar;
	enum ub_bar_state st = ub_bar_record(b);

	if (st == UB_BAR_DONE || b->wake)
		s->ctx->be->kick(s);
	return st == UB_BAR_LOST ? ub_lost_error(s) : 0;
}

/* What the next barrier of the user's tells of records. */
static inline uint64_t hand_over(struct ub_scope *s)
{
	if (likely(!s->notes) || s->lost)
		return 0;
	return UB_AUX_NOTE(ub_bulk_close(s->bulk));
}

static int __attribute__((noinline))
kernel_arrive(struct ub_scope *s, uint32_t op, uint64_t value, uint64_t last)
{
	int err = s->ctx->be->arrive(s, op, value, last);

	return err == -EOWNERDEAD ? ub_lost_error(s) : err ? arrive_error(s, err) : 0;
}

static inline int arrive(struct ub_scope *s, uint32_t op, uint64_t value,
			 uint64_t notes)
{
	int err;

	if (unlikely(s->lost))
		return ub_lost_error(s);
	if (unlikely(s->by_kernel))
		return kernel_arrive(s, op, value, s->last | notes);
	err = ub_bar_arrive(&s->bar, op, value, s->last | notes);
	if (unlikely(err))
		return arrive_error(s, err);
	if (unlikely(ub_bar_pressed(&s->bar)))
		return pressed(s);
	return 0;
}

/* What the next barrier tells of the wait in this one, when it was short. */
static inline void note_wait(struct ub_scope *s, uint32_t polls)
{
	_Static_assert(UB_POLLS * UB_PAUSE_NS < 1 << UB_WAIT_BITS, "its own code");

	if (s->timing)
		s->last = (uint64_t)(polls * UB_PAUSE_NS) << UB_AUX_WAIT_SHIFT |
			  UB_AUX_LAST(0, s->rank);
}

/* @polls: how many there were already */
static inline int wait_for(struct ub_scope *s, uint32_t polls)
{
	for (; polls < UB_POLLS && !s->by_kernel; polls++) {
		if (ub_bar_poll(&s->bar)) {
			note_wait(s, polls);
			return 0;
		}
		ub_bar_pause(&s->bar);
	}
	return ub_wait_long(s);
}

static int __attribute__((noinline, cold))
bad_sum(struct ub_scope *s, uint32_t op, uint64_t aux)
{
	if (aux & UB_AUX_MIXED)
		return ub_fail(-EINVAL,
			       "%s: members gave different reductions at epoch %llu (this one: %s)",
			       s->level_name,
			       (unsigned long long)s->bar.epoch,
			       ub_red_name(op));
	return ub_fail(-EOWNERDEAD, "%s: a window is lost, its home is dead",
		       s->level_name);
}

/* Records came with a barrier of the user's, or go on coming. */
static int __attribute__((noinline))
receive(struct ub_scope *s, uint32_t op, const struct ub_window_sum *sum,
	uint64_t *result)
{
	int err;

	if (!s->bulk && ub_msg_bulk(s))
		return -ENOMEM;
	if (s->bulk->phase == UB_BULK_IDLE) {
		s->bulk->full = sum->full;
		s->bulk->err = sum->aux & (UB_AUX_MIXED | UB_AUX_WINLOST) ?
			       bad_sum(s, op, sum->aux) : 0;
	}
	err = ub_bulk_run(s->bulk, sum->aux >> UB_AUX_NOTE_SHIFT & 15);
	if (!err && result)
		*result = s->bulk->full;
	return err;
}

/* A barrier is complete, with @sum; @notes: those that are the caller's to see. */
static inline int finish(struct ub_scope *s, uint32_t op,
			 const struct ub_window_sum *sum, uint64_t notes,
			 uint64_t *result)
{
	uint64_t aux = sum->aux;

	if (s->timing) {
		uint32_t m = UB_AUX_MEMBER(aux);

		if (likely(m < s->n &&
			   (aux & UB_AUX_LAST_MASK) != UB_AUX_LAST_MASK))
			ub_add(&s->waited[m], 1);
	}
	if (unlikely(aux & (UB_AUX_MIXED | UB_AUX_WINLOST | notes)))
		return aux & notes ? receive(s, op, sum, result) :
				     bad_sum(s, op, aux);
	if (result)
		*result = sum->full;
	return 0;
}

/* The same when the engine has it all. */
static int finish_bar(struct ub_scope *s, uint64_t notes, uint64_t *result)
{
	s->state = UB_SCOPE_IDLE;
	return finish(s, s->bar.op, &s->bar.sum, notes, result);
}

/* A call that does not fit what a former one left behind. */
static int __attribute__((noinline, cold))
check_state(struct ub_scope *s, const char *call)
{
	if (s->lost)
		return ub_lost_error(s);
	if (s->state == UB_SCOPE_ARRIVED)
		return ub_fail(-EALREADY,
			       "%s: %s() after ub_arrive(); call ub_wait() first",
			       s->level_name, call);
	if (s->state == UB_SCOPE_TIMED_OUT && strcmp(s->pending.call, call))
		return ub_fail(-EALREADY,
			       "%s: %s() after a time-out of %s(); call that again first",
			       s->level_name, call,
			       s->pending.call);
	return 0;
}

/* Wait for what was arrived at, unless @err; the scope is left. */
static inline int wait_and_end(struct ub_scope *s, int err, uint32_t polls,
			       uint64_t *result)
{
	if (likely(!err))
		err = wait_for(s, polls);
	if (likely(!err))
		err = finish_bar(s, UB_AUX_NOTE(~0U), result);
	if (unlikely(err == -ETIMEDOUT))
		s->pending.call = sync_call;
	end(s);
	return err;
}

/* A time-out interrupted the handing over. */
static int __attribute__((cold)) receive_on(struct ub_scope *s, uint64_t *result)
{
	int err = receive(s, s->bar.op, &s->bar.sum, result);

	end(s);
	return err;
}

static inline bool receiving(const struct ub_scope *s)
{
	return s->state == UB_SCOPE_TIMED_OUT && s->bulk &&
	       s->bulk->phase != UB_BULK_IDLE;
}

/* There is no straight path, or not now. */
static int __attribute__((noinline)) slow(struct ub_scope *s, uint32_t op,
					  uint64_t value, uint64_t notes,
					  uint64_t *result)
{
	int err;

	if (likely(s->state == UB_SCOPE_IDLE))
		err = arrive(s, op, value, notes);
	else
		err = check_state(s, sync_call);
	if (unlikely(!err && receiving(s)))
		return receive_on(s, result);
	return wait_and_end(s, err, 0, result);
}

/* The straight path arrived and did not end it, after so many polls. */
static int __attribute__((noinline)) go_on(struct ub_scope *s, uint32_t polls,
					   uint64_t *result)
{
	int err = unlikely(ub_bar_pressed(&s->bar)) ? pressed(s) : 0;

	return wait_and_end(s, err, polls, result);
}

static __always_inline int whole(struct ub_scope *s, uint32_t op, uint64_t value,
				 uint64_t *result)
{
	struct ub_window_sum sum;
	uint32_t left = UB_POLLS;
	uint64_t notes = 0;
	int err = begin(s);

	if (unlikely(err))
		return err;
	if (unlikely(s->state | s->notes)) {
		if (s->state != UB_SCOPE_IDLE)
			return slow(s, op, value, 0, result);
		notes = hand_over(s);
	}
	if (unlikely(!s->bar.nhops))
		return slow(s, op, value, notes, result);
	err = ub_bar_straight(&s->bar, op, value, s->last | notes, &left, &sum);
	if (unlikely(err <= 0))
		return err ? slow(s, op, value, notes, result) :
			     go_on(s, UB_POLLS - left, result);
	note_wait(s, UB_POLLS - left);
	err = finish(s, op, &sum, UB_AUX_NOTE(~0U), result);
	if (unlikely(err == -ETIMEDOUT))
		s->pending.call = sync_call;
	end(s);
	return err;
}

int ub_sync(struct ub_scope *s)
{
	return whole(s, UB_RED_NONE, 0, NULL);
}

int ub_sync_reduce(struct ub_scope *s, enum ub_reduction op, uint64_t value,
		   uint64_t *result)
{
	return whole(s, op, value, result);
}

int ub_sync_max_double(struct ub_scope *s, double value, double *result)
{
	uint64_t bits, most;
	int err;

	if (value < 0)
		return ub_fail(-EINVAL, "ub_sync_max_double(): %g is below 0", value);
	memcpy(&bits, &value, sizeof(bits));
	/* Without the sign NaN is above infinity, and -0 is 0. */
	bits &= ~(1ULL << 63);
	err = ub_sync_reduce(s, UB_MAX_U64, bits, &most);
	if (!err && result)
		memcpy(result, &most, sizeof(most));
	return err;
}

int ub_arrive(struct ub_scope *s, enum ub_reduction op, uint64_t value)
{
	int err = begin(s);

	if (unlikely(err))
		return err;
	if (likely(s->state == UB_SCOPE_IDLE)) {
		err = arrive(s, op, value, hand_over(s));
		if (likely(!err)) {
			s->state = UB_SCOPE_ARRIVED;
			/* The rounds' first flags go out at once. */
			if (!s->by_kernel)
				ub_bar_poll(&s->bar);
		}
	} else {
		err = check_state(s, "ub_arrive");
	}
	end(s);
	return err;
}

/* May the barrier that runs be awaited by ub_wait() and ub_test()? */
static int awaitable(struct ub_scope *s)
{
	if (likely(s->state == UB_SCOPE_ARRIVED))
		return 0;
	if (s->lost)
		return ub_lost_error(s);
	if (s->state == UB_SCOPE_IDLE)
		return ub_fail(-EINVAL,
			       "%s: nothing to wait for; call ub_arrive() first",
			       s->level_name);
	return check_state(s, sync_call);
}

int ub_wait(struct ub_scope *s, uint64_t *result)
{
	int err = begin(s);

	if (unlikely(err))
		return err;
	err = awaitable(s);
	if (unlikely(!err && receiving(s)))
		return receive_on(s, result);
	if (likely(!err))
		return wait_and_end(s, 0, 0, result);
	end(s);
	return err;
}

/* One look: 0, -EAGAIN, -EOWNERDEAD. */
static int test_once(struct ub_scope *s)
{
	enum ub_bar_state st;

	if (ub_bar_poll(&s->bar))
		return 0;
	if (ub_now() >= s->look)
		s->ctx->be->look(s);
	st = ub_bar_record(&s->bar);
	if (s->bar.wake)
		s->ctx->be->kick(s);
	return st == UB_BAR_LOST ? -EOWNERDEAD : st == UB_BAR_WAIT ? -EAGAIN : 0;
}

int ub_test(struct ub_scope *s, uint64_t *result)
{
	int err = begin(s);

	if (unlikely(err))
		return err;
	err = awaitable(s);
	if (!err && receiving(s))
		return receive_on(s, result);
	if (!err) {
		err = s->by_kernel ? s->ctx->be->test(s) : test_once(s);
		if (err == -EOWNERDEAD)
			err = ub_lost_error(s);
	}
	if (!err)
		err = finish_bar(s, UB_AUX_NOTE(~0U), result);
	if (err == -ETIMEDOUT)
		s->pending.call = sync_call;
	end(s);
	return err;
}

void ub_set_timeout(struct ub_scope *s, int ms)
{
	s->timeout_ms = ms < 0 ? 0 : ms;
}

uint64_t ub_epoch(const struct ub_scope *s)
{
	return s->bar.epoch;
}

uint64_t ub_deadline(const struct ub_scope *s)
{
	return s->timeout_ms ? ub_now() + s->timeout_ms * 1000000ULL : UB_NEVER;
}

/* ---- for the other collective calls ---- */

int ub_scope_begin(struct ub_scope *s, const char *call)
{
	int err = begin(s);

	if (err)
		return err;
	err = check_state(s, call);
	if (err)
		end(s);
	else if (s->state == UB_SCOPE_IDLE)
		s->pending = (struct ub_pending){ .call = call };
	return err;
}

int ub_scope_begin_lost(struct ub_scope *s)
{
	return begin(s);
}

void ub_scope_end(struct ub_scope *s)
{
	end(s);
}

/* One barrier; after a time-out what is left of it. */
static int inside(struct ub_scope *s, uint32_t op, uint64_t value,
		  uint64_t notes, struct ub_window_sum *sum)
{
	uint32_t left = UB_POLLS;
	int err = 0;

	if (likely(s->state == UB_SCOPE_IDLE)) {
		err = -EBUSY;
		if (likely(s->bar.nhops))
			err = ub_bar_straight(&s->bar, op, value, s->last | notes,
					      &left, sum);
		if (likely(err > 0)) {
			note_wait(s, UB_POLLS - left);
			return finish(s, op, sum, 0, NULL);
		}
		if (err)
			err = arrive(s, op, value, notes);
		else if (unlikely(ub_bar_pressed(&s->bar)))
			err = pressed(s);
	}
	if (!err)
		err = wait_for(s, UB_POLLS - left);
	if (!err)
		err = finish_bar(s, 0, NULL);
	*sum = s->bar.sum;
	return err;
}

int ub_sync_noted(struct ub_scope *s, uint32_t notes, uint32_t *seen)
{
	struct ub_window_sum sum;
	int err = inside(s, UB_RED_NONE, 0, UB_AUX_NOTE(notes), &sum);

	*seen = sum.aux >> UB_AUX_NOTE_SHIFT & 15;
	return err;
}

int ub_sync_inside(struct ub_scope *s)
{
	struct ub_window_sum sum;

	return inside(s, UB_RED_NONE, 0, 0, &sum);
}

int ub_reduce_inside(struct ub_scope *s, enum ub_reduction op, uint64_t value,
		     uint64_t *result)
{
	struct ub_window_sum sum;
	int err = inside(s, op, value, 0, &sum);

	*result = sum.full;
	return err;
}
