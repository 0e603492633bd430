// SPDX-License-Identifier: MIT
/*
 * put, get and atomics. On own memory, and where the back end has no way of its
 * own, these are copies and atomics of the CPU on mapped windows; a sync's
 * compare-and-swap orders them.
 */
#include "internal.h"
#include "backend.h"
#include <string.h>

/* A copy that takes less time than two looks at the clock is not timed. */
#define UB_TIMED_BYTES	4096

static bool dead(const struct ub_win *w, int rank, uint64_t *verdict)
{
	*verdict = ub_ld(&w->scope->bar.g.head->verdict);
	return unlikely(*verdict) && UB_VERDICT_MEMBER(*verdict) == (uint32_t)rank;
}

/* What is wrong with a call that fits() refused. */
static int __attribute__((cold))
refusal(const struct ub_scope *s, const struct ub_win *w, int rank, size_t off,
	size_t len, const char *call)
{
	uint64_t v;

	if (!s || !w)
		return ub_fail(-EINVAL, "%s(): scope or window is NULL", call);
	if (!__atomic_load_n(s->alive, __ATOMIC_RELAXED))
		return ub_fail(-EPERM,
			       "%s() in a child of the process that made the context",
			       call);
	if (rank < 0 || (uint32_t)rank >= w->scope->n)
		return ub_fail(-EINVAL,
			       "%s(): rank %d; the window's scope has 0 to %u",
			       call, rank, w->scope->n - 1);
	if (off > w->size[rank] || len > w->size[rank] - off)
		return ub_fail(-ERANGE,
			       "%s(): %zu bytes at offset %zu, but rank %d gave %llu to the window",
			       call, len, off, rank,
			       (unsigned long long)w->size[rank]);
	dead(w, rank, &v);
	return ub_fail(-EOWNERDEAD, "%s(): rank %d (node %u) is dead: %s",
		       call, rank, w->scope->node[rank],
		       ub_reason_text(UB_VERDICT_REASON(v)));
}

/* One branch for a call without fault: small puts are bound by instructions. */
static inline bool fits(const struct ub_scope *s, const struct ub_win *w, int rank,
			size_t off, size_t len)
{
	uint64_t v;

	return likely(s && w && __atomic_load_n(s->alive, __ATOMIC_RELAXED) &&
		      (uint32_t)rank < w->scope->n && off <= w->size[rank] &&
		      len <= w->size[rank] - off && !dead(w, rank, &v));
}

static int __attribute__((cold)) gone(const struct ub_win *w, int rank, int err,
				      const char *call)
{
	if (err == -EOWNERDEAD)
		return ub_fail(err, "%s(): the memory of rank %d (node %u) is gone with it",
			       call, rank, w->scope->node[rank]);
	return ub_fail(err, "%s() on rank %d: %s", call, rank, strerror(-err));
}

static inline int win_write(struct ub_win *w, uint32_t rank, size_t off,
			    const void *src, size_t len)
{
	const struct ub_backend *be = w->scope->ctx->be;

	if (be->put && rank != w->scope->rank)
		return be->put(w, rank, off, src, len);
	ub_copy(w->peer[rank] + off, src, len);
	return 0;
}

static inline int win_read(struct ub_win *w, uint32_t rank, size_t off, void *dst,
			   size_t len)
{
	const struct ub_backend *be = w->scope->ctx->be;

	if (be->get && rank != w->scope->rank)
		return be->get(w, rank, off, dst, len);
	ub_copy(dst, w->peer[rank] + off, len);
	return 0;
}

int ub_win_write(struct ub_win *w, uint32_t rank, size_t off, const void *src,
		 size_t len)
{
	return win_write(w, rank, off, src, len);
}

int ub_win_read(struct ub_win *w, uint32_t rank, size_t off, void *dst, size_t len)
{
	return win_read(w, rank, off, dst, len);
}

/* Begin and end of a copy, for the accounting. */
static uint64_t copy_begin(const struct ub_scope *s, size_t len)
{
	return s->timing && len >= UB_TIMED_BYTES ? ub_ticks() : 0;
}

static void copy_end(struct ub_scope *s, size_t len, uint64_t from)
{
	if (!s->timing)
		return;
	ub_add(&s->count.bytes, len);
	if (from)
		ub_add(&s->count.move, ub_elapsed(from, ub_ticks()));
}

int ub_put(struct ub_scope *s, struct ub_win *win, int rank, size_t off,
	   const void *src, size_t len)
{
	uint64_t from;
	int err;

	if (!fits(s, win, rank, off, len))
		return refusal(s, win, rank, off, len, "ub_put");
	if (unlikely(!len))
		return 0;
	from = copy_begin(s, len);
	err = win_write(win, rank, off, src, len);
	if (unlikely(err))
		return gone(win, rank, err, "ub_put");
	copy_end(s, len, from);
	return 0;
}

int ub_get(struct ub_scope *s, struct ub_win *win, int rank, size_t off,
	   void *dst, size_t len)
{
	uint64_t from;
	int err;

	if (!fits(s, win, rank, off, len))
		return refusal(s, win, rank, off, len, "ub_get");
	if (unlikely(!len))
		return 0;
	from = copy_begin(s, len);
	err = win_read(win, rank, off, dst, len);
	if (unlikely(err))
		return gone(win, rank, err, "ub_get");
	copy_end(s, len, from);
	return 0;
}

#define ATOMIC_ON(type, word) ({						\
	type *p_ = (type *)(word);						\
	type v_ = (type)operand, old_ = (type)compare;				\
	switch (op) {								\
	case UB_ATOMIC_ADD:							\
		old_ = __atomic_fetch_add(p_, v_, __ATOMIC_SEQ_CST);		\
		break;								\
	case UB_ATOMIC_SWAP:							\
		old_ = __atomic_exchange_n(p_, v_, __ATOMIC_SEQ_CST);		\
		break;								\
	case UB_ATOMIC_CAS:							\
		__atomic_compare_exchange_n(p_, &old_, v_, 0,			\
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);\
		break;								\
	case UB_ATOMIC_AND:							\
		old_ = __atomic_fetch_and(p_, v_, __ATOMIC_SEQ_CST);		\
		break;								\
	case UB_ATOMIC_OR:							\
		old_ = __atomic_fetch_or(p_, v_, __ATOMIC_SEQ_CST);		\
		break;								\
	case UB_ATOMIC_XOR:							\
		old_ = __atomic_fetch_xor(p_, v_, __ATOMIC_SEQ_CST);		\
		break;								\
	}									\
	(uint64_t)old_; })

int ub_atomic(struct ub_scope *s, struct ub_win *win, int rank, size_t off,
	      int width, enum ub_atomic_op op, uint64_t operand,
	      uint64_t compare, uint64_t *old)
{
	uint64_t was;
	void *word;
	int err;

	if ((width != 4 && width != 8) || off % width)
		return ub_fail(-EINVAL,
			       "ub_atomic(): width %d at offset %zu; give 4 or 8, aligned",
			       width, off);
	if ((unsigned int)op > UB_ATOMIC_XOR)
		return ub_fail(-EINVAL, "ub_atomic(): unknown operation %d", op);
	if (!fits(s, win, rank, off, width))
		return refusal(s, win, rank, off, width, "ub_atomic");
	if (win->scope->ctx->be->atomic) {
		err = win->scope->ctx->be->atomic(win, rank, off, width, op,
						  operand, compare, &was);
		if (unlikely(err))
			return gone(win, rank, err, "ub_atomic");
	} else {
		word = win->peer[rank] + off;
		was = width == 4 ? ATOMIC_ON(uint32_t, word) :
				   ATOMIC_ON(uint64_t, word);
	}
	if (s->timing)
		ub_add(&s->count.bytes, width);
	if (old)
		*old = was;
	return 0;
}
