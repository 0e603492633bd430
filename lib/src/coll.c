// SPDX-License-Identifier: MIT
/*
 * Collectives on a scope.
 *
 * Up to a mailbox's size they are one barrier. Larger data goes in chunks
 * through a window of the scope's own, made on first use, in which each
 * member has two input and two result buffers, used by turns: a buffer is
 * written again two steps later, when a barrier in between has shown that all
 * have read it.
 *
 * After a time-out the same call goes on at the step that was interrupted.
 */
#include "internal.h"
#include "backend.h"
#include <stdlib.h>
#include <string.h>

#define UB_CHUNK	(128u << 10)
#define UB_COLL_BYTES	(4 * (size_t)UB_CHUNK)

/* Offsets in a member's part of the window. */
static size_t in_off(const struct ub_scope *s)
{
	return (s->coll_steps & 1) * UB_CHUNK;
}

static size_t out_off(const struct ub_scope *s)
{
	return in_off(s) + 2 * UB_CHUNK;
}

static char *own(const struct ub_scope *s, size_t off)
{
	return s->coll->peer[s->rank] + off;
}

/*
 * A peer's buffer could not be read: it is lost, and never comes to the next
 * barrier, where all hear the same.
 */
static int lost_peer(struct ub_scope *s, int err)
{
	int verdict = err == -EOWNERDEAD ? ub_sync_inside(s) : 0;

	return verdict ? verdict :
	       ub_fail(err, "%s: cannot read a peer's part: %s", s->level_name,
		       strerror(-err));
}

/*
 * Where a peer's memory goes with it, nobody may leave before all have read:
 * a last barrier, after @steps steps.
 */
static int all_have_read(struct ub_scope *s, size_t steps)
{
	int err;

	if (!s->coll_copy || s->pending.step != steps)
		return 0;
	err = ub_sync_inside(s);
	if (!err)
		s->pending.step++;
	return err;
}

static int read_peer(struct ub_scope *s, uint32_t rank, size_t off, void *to,
		     size_t len)
{
	int err = ub_win_read(s->coll, rank, off, to, len);

	return err ? lost_peer(s, err) : 0;
}

/* A member's data: in place where that is safe, else a copy in coll_copy. */
static int look_at(struct ub_scope *s, uint32_t rank, size_t off, size_t len,
		   const void **data)
{
	*data = s->coll->peer[rank] + off;
	if (rank == s->rank || !s->coll_copy)
		return 0;
	*data = s->coll_copy;
	return read_peer(s, rank, off, s->coll_copy, len);
}

/* The scope's own window; its making is the first step of a call. */
static int need_window(struct ub_scope *s)
{
	if (s->coll)
		return 0;
	if (s->ctx->be->get && !s->coll_copy)
		s->coll_copy = malloc(UB_CHUNK);
	if (s->ctx->be->get && !s->coll_copy)
		return ub_fail(-ENOMEM, "no memory");
	return ub_win_make(s, UB_COLL_BYTES, &s->coll);
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void count_bytes(struct ub_scope *s, size_t bytes)
{
	if (s->timing)
		ub_add(&s->count.bytes, bytes);
}

/* ---- combining ---- */

#define COMBINE(type) do {							\
	const type *f_ = from;							\
	type *t_ = to;								\
	size_t i_;								\
	for (i_ = 0; i_ < count; i_++) {					\
		if (op == UB_OP_SUM)						\
			t_[i_] = (type)(t_[i_] + f_[i_]);			\
		else if (op == UB_OP_MIN)					\
			t_[i_] = f_[i_] < t_[i_] ? f_[i_] : t_[i_];		\
		else								\
			t_[i_] = f_[i_] > t_[i_] ? f_[i_] : t_[i_];		\
	}									\
} while (0)

static void combine(void *to, const void *from, size_t count,
		    enum ub_type type, enum ub_combine op)
{
	switch (type) {
	case UB_INT32:
		/* Sums wrap around: unsigned arithmetic has the same bits. */
		if (op == UB_OP_SUM)
			COMBINE(uint32_t);
		else
			COMBINE(int32_t);
		break;
	case UB_INT64:
		if (op == UB_OP_SUM)
			COMBINE(uint64_t);
		else
			COMBINE(int64_t);
		break;
	case UB_UINT64:
		COMBINE(uint64_t);
		break;
	case UB_FLOAT:
		COMBINE(float);
		break;
	case UB_DOUBLE:
		COMBINE(double);
		break;
	}
}

static size_t width_of(enum ub_type type)
{
	return type == UB_INT32 || type == UB_FLOAT ? 4 : 8;
}

/* ---- allreduce ---- */

static int reduce_small(struct ub_scope *s, const void *in, void *out,
			size_t count, enum ub_type type, enum ub_combine op)
{
	size_t bytes = count * width_of(type);
	uint32_t r;
	int err;

	if (!ub_again(s))
		memcpy(ub_mail(s), in, bytes);
	err = ub_exchange(s);
	if (err)
		return err;
	memcpy(out, ub_mail_of(s, 0), bytes);
	for (r = 1; r < s->n; r++)
		combine(out, ub_mail_of(s, r), count, type, op);
	return 0;
}

/* The elements of a chunk that member @r combines. */
static void part_of(size_t count, uint32_t n, uint32_t r, size_t *first,
		    size_t *many)
{
	size_t each = count / n, more = count % n;

	*first = each * r + smaller(r, more);
	*many = each + (r < more);
}

/*
 * Two steps a chunk: all give, then each combines its part and gives that.
 * pending.step counts them, so that a step that is done is not done again.
 */
static int reduce_chunk(struct ub_scope *s, size_t step, const char *in,
			char *out, size_t count, enum ub_type type,
			enum ub_combine op)
{
	size_t w = width_of(type), first, many;
	const void *data;
	uint32_t r;
	int err;

	if (s->pending.step == step) {
		if (!ub_again(s))
			memcpy(own(s, in_off(s)), in, count * w);
		err = ub_sync_inside(s);
		if (err)
			return err;
		s->pending.step++;
		part_of(count, s->n, s->rank, &first, &many);
		err = read_peer(s, 0, in_off(s) + first * w,
				own(s, out_off(s)), many * w);
		for (r = 1; !err && r < s->n; r++) {
			err = look_at(s, r, in_off(s) + first * w, many * w,
				      &data);
			if (!err)
				combine(own(s, out_off(s)), data, many, type, op);
		}
		if (err)
			return err;
	}
	if (s->pending.step == step + 1) {
		err = ub_sync_inside(s);
		if (err)
			return err;
		s->pending.step++;
		for (r = 0; !err && r < s->n; r++) {
			part_of(count, s->n, r, &first, &many);
			err = read_peer(s, r, out_off(s), out + first * w,
					many * w);
		}
		if (err)
			return err;
		s->coll_steps++;
	}
	return 0;
}

static int reduce_large(struct ub_scope *s, const char *in, char *out,
			size_t count, enum ub_type type, enum ub_combine op)
{
	size_t w = width_of(type), each = UB_CHUNK / w, at, step = 0;
	int err = need_window(s);

	for (at = 0; !err && at < count; at += each, step += 2)
		if (s->pending.step < step + 2)
			err = reduce_chunk(s, step, in + at * w, out + at * w,
					   smaller(each, count - at), type, op);
	return err ? err : all_have_read(s, step);
}

int ub_allreduce(struct ub_scope *s, const void *in, void *out, size_t count,
		 enum ub_type type, enum ub_combine op)
{
	size_t bytes;
	int err;

	if ((unsigned int)type > UB_DOUBLE || (unsigned int)op > UB_OP_MAX)
		return ub_fail(-EINVAL,
			       "ub_allreduce(): unknown type %d or operation %d",
			       type, op);
	if (count > SIZE_MAX / width_of(type))
		return ub_fail(-EINVAL, "ub_allreduce(): %zu elements", count);
	err = ub_scope_begin(s, "ub_allreduce");
	if (err)
		return err;
	bytes = count * width_of(type);
	if (bytes <= UB_MAILBOX_BYTES)
		err = reduce_small(s, in, out, count, type, op);
	else
		err = reduce_large(s, in, out, count, type, op);
	if (!err)
		count_bytes(s, bytes);
	ub_scope_end(s);
	return err;
}

/* ---- bcast ---- */

static int bcast_large(struct ub_scope *s, char *data, size_t bytes,
		       uint32_t root)
{
	size_t at, step = 0;
	int err = need_window(s);

	for (at = 0; !err && at < bytes; at += UB_CHUNK, step++) {
		size_t len = smaller(UB_CHUNK, bytes - at);

		if (s->pending.step > step)
			continue;
		if (s->rank == root && !ub_again(s))
			memcpy(own(s, in_off(s)), data + at, len);
		err = ub_sync_inside(s);
		if (err)
			break;
		if (s->rank != root)
			err = read_peer(s, root, in_off(s), data + at, len);
		if (err)
			break;
		s->pending.step++;
		s->coll_steps++;
	}
	return err ? err : all_have_read(s, step);
}

int ub_bcast(struct ub_scope *s, void *data, size_t bytes, int root)
{
	int err;

	if (root < 0 || (uint32_t)root >= s->n)
		return ub_fail(-EINVAL, "ub_bcast(): root %d of %u", root, s->n);
	err = ub_scope_begin(s, "ub_bcast");
	if (err)
		return err;
	if (bytes <= UB_MAILBOX_BYTES) {
		if (s->rank == (uint32_t)root && !ub_again(s))
			memcpy(ub_mail(s), data, bytes);
		err = ub_exchange(s);
		if (!err && s->rank != (uint32_t)root)
			memcpy(data, ub_mail_of(s, root), bytes);
	} else {
		err = bcast_large(s, data, bytes, root);
	}
	if (!err)
		count_bytes(s, bytes);
	ub_scope_end(s);
	return err;
}

/* ---- allgather ---- */

static int gather_large(struct ub_scope *s, const char *in, size_t bytes,
			char *out)
{
	size_t at, step = 0;
	int err = need_window(s);
	uint32_t r;

	for (at = 0; !err && at < bytes; at += UB_CHUNK, step++) {
		size_t len = smaller(UB_CHUNK, bytes - at);

		if (s->pending.step > step)
			continue;
		if (!ub_again(s))
			memcpy(own(s, in_off(s)), in + at, len);
		err = ub_sync_inside(s);
		if (err)
			break;
		for (r = 0; !err && r < s->n; r++)
			err = read_peer(s, r, in_off(s), out + r * bytes + at,
					len);
		if (err)
			break;
		s->pending.step++;
		s->coll_steps++;
	}
	return err ? err : all_have_read(s, step);
}

int ub_allgather(struct ub_scope *s, const void *in, size_t bytes, void *out)
{
	uint32_t r;
	int err = ub_scope_begin(s, "ub_allgather");

	if (err)
		return err;
	if (bytes <= UB_MAILBOX_BYTES) {
		if (!ub_again(s))
			memcpy(ub_mail(s), in, bytes);
		err = ub_exchange(s);
		for (r = 0; !err && r < s->n; r++)
			memcpy((char *)out + r * bytes, ub_mail_of(s, r), bytes);
	} else {
		err = gather_large(s, in, bytes, out);
	}
	if (!err)
		count_bytes(s, bytes);
	ub_scope_end(s);
	return err;
}
