// SPDX-License-Identifier: MIT
/* The collectives' window and steps; see coll.h. */
#include "coll.h"
#include "backend.h"
#include <stdlib.h>
#include <string.h>

/* ---- window ---- */

static size_t buf_off(enum ub_coll_buf buf, uint64_t step)
{
	return (2 * buf + (step & 1)) * UB_CHUNK;
}

size_t ub_coll_off(const struct ub_scope *s, enum ub_coll_buf buf)
{
	return buf_off(buf, s->coll_steps);
}

size_t ub_coll_old(const struct ub_scope *s, enum ub_coll_buf buf)
{
	return buf_off(buf, s->coll_steps - 1);
}

char *ub_coll_own(const struct ub_scope *s, size_t off)
{
	return s->coll->peer[s->rank] + off;
}

/* Members that chose by other figures would not meet. */
static int same_figures(struct ub_scope *s)
{
	uint64_t own = ub_machine_hash(&s->ctx->machine);
	uint32_t r;
	int err;

	if (!ub_again(s))
		memcpy(ub_mail(s), &own, sizeof(own));
	err = ub_exchange(s);
	for (r = 0; !err && r < s->n; r++)
		if (memcmp(ub_mail_of(s, r), &own, sizeof(own)))
			err = ub_fail(-EINVAL,
				      "%s: rank %u has another machine file or level map than rank %u; give all the same",
				      s->level_name, r, s->rank);
	return err;
}

int ub_coll_window(struct ub_scope *s)
{
	int err = 0;

	if (s->coll)
		return 0;
	if (!s->plan)
		err = ub_plan_make(s);
	if (!err && !s->plan_agreed) {
		err = same_figures(s);
		s->plan_agreed = !err;
	}
	if (err)
		return err;
	if (s->ctx->be->get && !s->coll_copy)
		s->coll_copy = malloc(2 * UB_CHUNK);
	if (s->ctx->be->get && !s->coll_copy)
		return ub_fail(-ENOMEM, "no memory");
	return ub_win_make(s, 2 * UB_COLL_BUFS * UB_CHUNK, &s->coll);
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

int ub_coll_read(struct ub_scope *s, uint32_t rank, size_t off, void *to,
		 size_t len)
{
	int err = len ? ub_win_read(s->coll, rank, off, to, len) : 0;

	return err ? lost_peer(s, err) : 0;
}

int ub_coll_look(struct ub_scope *s, uint32_t rank, size_t off, size_t len,
		 const void **data)
{
	*data = s->coll->peer[rank] + off;
	if (rank == s->rank || !s->coll_copy)
		return 0;
	s->coll_turn ^= 1;
	*data = s->coll_copy + s->coll_turn * UB_CHUNK;
	return ub_coll_read(s, rank, off, s->coll_copy + s->coll_turn * UB_CHUNK,
			    len);
}

/* ---- steps ---- */

static uint64_t ticks(const struct ub_scope *s)
{
	return s->timing ? ub_ticks() : 0;
}

static void moved(struct ub_scope *s, uint64_t from)
{
	if (s->timing)
		ub_add(&s->count.move, ub_elapsed(from, ub_ticks()));
}

static int step(struct ub_scope *s, const struct ub_steps *st, size_t t)
{
	uint64_t from;
	int err;

	if (!ub_again(s)) {
		from = ticks(s);
		st->give(st->arg, t);
		moved(s, from);
	}
	err = ub_sync_inside(s);
	if (err)
		return err;
	from = ticks(s);
	err = st->take(st->arg, t);
	moved(s, from);
	if (err)
		return err;
	s->pending.step++;
	s->coll_steps++;
	return 0;
}

/*
 * Where a peer's memory goes with it, nobody may leave before all have read:
 * a last barrier.
 */
static int all_have_read(struct ub_scope *s)
{
	int err = ub_sync_inside(s);

	if (!err)
		s->pending.step++;
	return err;
}

int ub_coll_run(struct ub_scope *s, const struct ub_steps *st)
{
	int err = 0;

	while (!err && s->pending.step < st->from + st->n)
		err = step(s, st, s->pending.step - st->from);
	if (!err && s->coll_copy && s->pending.step == st->from + st->n)
		err = all_have_read(s);
	return err;
}

int ub_coll_pair(struct ub_scope *s, uint64_t own, uint64_t *peer)
{
	uint64_t both;
	int err = ub_reduce_inside(s, UB_XOR, own, &both);

	*peer = both ^ own;
	return err;
}

/* ---- what not all know ---- */

struct agree_mail {
	uint64_t value;
	char data[UB_AGREE_BYTES];
};

int ub_coll_agree(struct ub_scope *s, uint64_t value, const void *data,
		  size_t len, uint64_t *most)
{
	struct agree_mail *m = ub_mail(s);
	uint32_t r;
	int err;

	if (!s->pending.step) {
		if (!ub_again(s)) {
			m->value = value;
			if (len)
				memcpy(m->data, data, len);
		}
		err = ub_exchange(s);
		if (err)
			return err;
		s->pending.step = 1;
		s->pending.most = 0;
		for (r = 0; r < s->n; r++) {
			ub_coll_agreed(s, r, &value);
			s->pending.most = ub_more(s->pending.most, value);
		}
	}
	*most = s->pending.most;
	return 0;
}

const void *ub_coll_agreed(const struct ub_scope *s, uint32_t rank,
			   uint64_t *value)
{
	const struct agree_mail *m = ub_mail_of(s, rank);

	*value = m->value;
	return m->data;
}

int ub_coll_end(struct ub_scope *s, int err, size_t bytes)
{
	if (!err && s->timing)
		ub_add(&s->count.bytes, bytes);
	ub_scope_end(s);
	return err;
}

int ub_coll_bad(const char *call, const char *what)
{
	return ub_fail(-EINVAL, "%s(): %s", call, what);
}

int ub_coll_bad_root(const char *call, const struct ub_scope *s, int root)
{
	return ub_fail(-EINVAL, "%s(): root %d; ranks of this scope are 0 to %u",
		       call, root, s->n - 1);
}
