// SPDX-License-Identifier: MIT
/*
 * Windows with a mirror: what they held at the last checkpoint, twice.
 *
 * A member's part has, behind what the program sees,
 *
 *	own[2]		copies of what it sees, of the two last checkpoints
 *	ward[2]...	the same of each member that it is the buddy of, by rank
 *
 * A checkpoint is written over the older copies and ends with a barrier; by that
 * barrier's uniform answer either all members count it or none does, so all
 * agree on the copy that counts (@gen), and a death meanwhile leaves it whole.
 * Buddies and places follow from node ids and sizes: everybody computes them alike.
 */
#include "internal.h"
#include <stdlib.h>
#include <string.h>

#define ALIGN	64

/* Steps of making a window; each ends with a barrier. */
enum { SIZES, PLACES, FILL, SPREAD, MADE };

/**
 * struct ub_mirror - of a window, or of one that is being made
 * @n: members
 * @gen: checkpoints that all have; its parity tells which copies count
 * @level: accounting level of whose vertices, see ub_machine_place()
 * @buddy: of each member
 * @bytes: of each member, what the program sees
 * @full: of each member, with all copies
 * @at: where each member's copies begin in its buddy's part
 * @has: has each member an old window; NULL once it is made
 * @step: what is to be done next
 */
struct ub_mirror {
	uint32_t n;
	uint64_t gen;
	int level;
	uint32_t *buddy;
	uint64_t *bytes;
	uint64_t *full;
	uint64_t *at;
	bool *has;
	int step;
};

static uint64_t room(uint64_t bytes)
{
	return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* Where @rank's copy of checkpoint @gen is in its own part, and in its buddy's. */
static uint64_t own_at(const struct ub_mirror *m, uint32_t rank, uint64_t gen)
{
	return room(m->bytes[rank]) * (1 + (gen & 1));
}

static uint64_t ward_at(const struct ub_mirror *m, uint32_t rank, uint64_t gen)
{
	return m->at[rank] + room(m->bytes[rank]) * (gen & 1);
}

void ub_mirror_free(struct ub_mirror *m, struct ub_win *w)
{
	if (!m)
		return;
	/* The back end gave out, and takes back, all of it. */
	if (w)
		memcpy(w->size, m->full, m->n * sizeof(*w->size));
	free(m->buddy);
	free(m->bytes);
	free(m->full);
	free(m->at);
	free(m->has);
	free(m);
}

static struct ub_mirror *mirror_alloc(uint32_t n, int level)
{
	struct ub_mirror *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->n = n;
	m->level = level;
	m->buddy = calloc(n, sizeof(*m->buddy));
	m->bytes = calloc(n, sizeof(*m->bytes));
	m->full = calloc(n, sizeof(*m->full));
	m->at = calloc(n, sizeof(*m->at));
	m->has = calloc(n, sizeof(*m->has));
	if (m->buddy && m->bytes && m->full && m->at && m->has)
		return m;
	ub_mirror_free(m, NULL);
	return NULL;
}

/* ---- buddies ---- */

struct spot {
	uint32_t vertex;
	uint32_t rank;
};

static int by_vertex(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;

	if (x->vertex != y->vertex)
		return x->vertex < y->vertex ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/*
 * Members in a circle, vertex by vertex: the i-th of a vertex has the i-th of those
 * that follow it. Where all vertices are of one size everybody has one ward.
 */
static int choose_buddies(struct ub_mirror *m, const struct ub_scope *s)
{
	struct spot *spot = calloc(s->n, sizeof(*spot));
	uint32_t a, b, i;

	if (!spot)
		return ub_fail(-ENOMEM, "no memory");
	for (i = 0; i < s->n; i++)
		spot[i] = (struct spot){ ub_scope_vertex(s, i, m->level), i };
	qsort(spot, s->n, sizeof(*spot), by_vertex);
	for (a = 0; a < s->n; a = b) {
		for (b = a; b < s->n && spot[b].vertex == spot[a].vertex; b++)
			;
		for (i = a; i < b && b - a < s->n; i++)
			m->buddy[spot[i].rank] =
				spot[(b + (i - a) % (s->n - (b - a))) % s->n].rank;
	}
	i = spot[0].vertex != spot[s->n - 1].vertex;
	free(spot);
	return i ? 0 : ub_fail(-EINVAL,
			       "%s: all %u members are at one vertex of the level, so none could keep another's mirror; name an inner level, or \"node\"",
			       s->level_name, s->n);
}

static void lay_out(struct ub_mirror *m)
{
	uint32_t r;

	for (r = 0; r < m->n; r++)
		m->full[r] = 3 * room(m->bytes[r]);
	for (r = 0; r < m->n; r++) {
		m->at[r] = m->full[m->buddy[r]];
		m->full[m->buddy[r]] += 2 * room(m->bytes[r]);
	}
}

/* ---- making ---- */

/* What a member says of its part to come, and of the old one. */
struct part {
	uint64_t bytes;
	uint64_t gen;
	int32_t level;
	int32_t has;
};

/* What the members said; the same verdict for all. */
static int take_parts(struct ub_scope *s, struct ub_mirror *m)
{
	const struct part *first = ub_mail_of(s, 0), *p;
	uint64_t gen = 0;
	uint32_t r;
	bool any = false;

	for (r = 0; r < s->n; r++) {
		p = ub_mail_of(s, r);
		if (p->level != first->level)
			return ub_fail(-EINVAL,
				       "%s: rank %u gave another level for the mirror than rank 0",
				       s->level_name, r);
		if (p->bytes > UINT64_MAX / 8 / s->n)
			return ub_fail(-ENOSPC, "%s: rank %u wants %llu bytes",
				       s->level_name, r,
				       (unsigned long long)p->bytes);
		if (p->has < 0)
			return ub_fail(-EINVAL,
				       "%s: the old window of rank %u has no mirror, or not as many members or bytes as the new one",
				       s->level_name, r);
		if (p->has && any && p->gen != gen)
			return ub_fail(-EPROTO,
				       "%s: rank %u has another checkpoint than the others",
				       s->level_name, r);
		m->bytes[r] = p->bytes;
		m->has[r] = p->has;
		if (p->has)
			gen = p->gen;
		any |= p->has;
	}
	if (!any) {
		free(m->has);
		m->has = NULL;
	}
	lay_out(m);
	return 0;
}

static void tell_part(struct ub_scope *s, const struct ub_mirror *m,
		      uint64_t bytes, const struct ub_win *old)
{
	const struct ub_mirror *o = old ? old->mirror : NULL;
	struct part *p = ub_mail(s);

	*p = (struct part){ .bytes = bytes, .level = m->level, .has = !!o };
	if (o)
		p->gen = o->gen;
	if (old && (!o || o->n != s->n || old->scope->rank != s->rank ||
		    o->bytes[s->rank] != bytes))
		p->has = -1;
}

/* A buddy that died: the barrier that follows tells it to all alike. */
static int write_copy(struct ub_win *w, uint32_t rank, uint64_t off,
		      const void *src, uint64_t len)
{
	int err = len ? ub_win_write(w, rank, off, src, len) : 0;

	return err == -EOWNERDEAD ? 0 : err;
}

/* From an old window: the own part, and the copies of those that have none. */
static int fill_from(struct ub_win *w, const struct ub_mirror *m,
		     const struct ub_win *old, bool keep)
{
	const struct ub_mirror *o = old->mirror;
	uint32_t me = w->scope->rank, r;
	const char *was = old->peer[me];
	char *is = w->peer[me];
	int err = 0;

	if (m->bytes[me]) {
		memcpy(is, was + (keep ? 0 : own_at(o, me, o->gen)), m->bytes[me]);
		memcpy(is + own_at(m, me, 0), was + own_at(o, me, o->gen),
		       m->bytes[me]);
	}
	for (r = 0; r < m->n && !err; r++) {
		if (m->has[r])
			continue;
		if (!m->has[o->buddy[r]])
			err = -ENODATA;
		else if (m->bytes[r] != o->bytes[r])
			err = -EINVAL;
		else if (o->buddy[r] == me)
			err = write_copy(w, r, own_at(m, r, 0),
					 was + ward_at(o, r, o->gen), m->bytes[r]);
	}
	return err;
}

/* What all have now, to whoever is to keep it. */
static int spread(struct ub_win *w, const struct ub_mirror *m)
{
	uint32_t me = w->scope->rank;
	char *is = w->peer[me];

	if (!m->bytes[me])
		return 0;
	if (!m->has[me])
		memcpy(is, is + own_at(m, me, 0), m->bytes[me]);
	return write_copy(w, m->buddy[me], ward_at(m, me, 0),
			  is + own_at(m, me, 0), m->bytes[me]);
}

/* A barrier after a part of the work, @err of this member: the worst for all. */
static int join(struct ub_scope *s, int err, uint64_t *worst)
{
	return ub_reduce_inside(s, UB_MAX_U64, -err, worst);
}

static int rebuild_error(struct ub_scope *s, int err)
{
	switch (err) {
	case 0:
		return 0;
	case -ENODATA:
		return ub_fail(err,
			       "%s: a member and its buddy are both lost, and with them what it held",
			       s->level_name);
	case -EINVAL:
		return ub_fail(err,
			       "%s: a spare gave another size than the rank had whose place it took",
			       s->level_name);
	default:
		return ub_fail(err, "%s: a member could not write a copy: %s",
			       s->level_name, strerror(-err));
	}
}

/* One step and its barrier; after a time-out only what is left of that. */
static int step(struct ub_scope *s, struct ub_mirror *m, struct ub_win **win,
		const struct ub_win *old, bool keep)
{
	uint64_t worst = 0;
	int err = 0, bad = 0;

	switch (m->step) {
	case SIZES:
		err = ub_exchange(s);
		return err ? err : take_parts(s, m);
	case PLACES:
		err = ub_win_make(s, m->full[s->rank], win);
		if (err)
			return err;
		memcpy((*win)->size, m->bytes, s->n * sizeof(*m->bytes));
		(*win)->mirror = m;
		s->pending.mirror = NULL;	/* it is the window's now */
		return 0;
	case FILL:
		if (!ub_again(s) && old)
			bad = fill_from(*win, m, old, keep);
		break;
	case SPREAD:
		if (!ub_again(s))
			bad = spread(*win, m);
		break;
	}
	err = join(s, bad, &worst);
	return err ? err : rebuild_error(s, -(int)worst);
}

static int run_steps(struct ub_scope *s, struct ub_win **win,
		     const struct ub_win *old, bool keep)
{
	/* After a time-out the window that was made is the scope's newest. */
	struct ub_win *w = s->pending.mirror ? NULL : s->wins;
	struct ub_mirror *m = w ? w->mirror : s->pending.mirror;
	int err;

	while (m->step < MADE) {
		err = step(s, m, &w, old, keep);
		if (err == -ETIMEDOUT)
			return err;
		if (err) {
			if (w)
				ub_win_drop(w, true);
			ub_mirror_free(s->pending.mirror, NULL);
			s->pending.mirror = NULL;
			return err;
		}
		m->step += m->step == PLACES && !m->has ? MADE : 1;
	}
	free(m->has);
	m->has = NULL;
	w->inner = false;
	*win = w;
	return 0;
}

static int create(struct ub_scope *s, const char *call, size_t bytes,
		  const char *level, struct ub_win *old, bool keep,
		  struct ub_win **win)
{
	int err, l;

	if (!s || !level || !win)
		return ub_fail(-EINVAL, "%s(): an argument is NULL", call);
	err = ub_scope_begin(s, call);
	if (err)
		return err;
	*win = NULL;
	if (!ub_again(s)) {
		struct ub_mirror *m = NULL;

		l = ub_machine_place(&s->ctx->machine, level);
		if (l < 0)
			err = ub_fail(-ENOENT, "machine \"%s\" has no level \"%s\"",
				      s->ctx->machine.title, level);
		else
			m = mirror_alloc(s->n, l);
		if (!err)
			err = m ? choose_buddies(m, s) : ub_fail(-ENOMEM, "no memory");
		if (err) {
			ub_mirror_free(m, NULL);
			goto out;
		}
		tell_part(s, m, bytes, old);
		s->pending.mirror = m;
	}
	err = run_steps(s, win, old, keep);
out:
	ub_scope_end(s);
	return err;
}

int ub_win_create_mirrored(struct ub_scope *s, size_t bytes, const char *level,
			   struct ub_win **win)
{
	return create(s, "ub_win_create_mirrored", bytes, level, NULL, false, win);
}

int ub_win_rebuild(struct ub_scope *s, size_t bytes, const char *level,
		   struct ub_win *old, int keep, struct ub_win **win)
{
	return create(s, "ub_win_rebuild", bytes, level, old, keep, win);
}

int ub_win_buddy(const struct ub_win *w, int rank)
{
	if (!w->mirror || rank < 0 || (uint32_t)rank >= w->scope->n)
		return ub_fail(-EINVAL, "rank %d of %u, in a window %s mirror",
			       rank, w->scope->n, w->mirror ? "with a" : "without");
	return w->mirror->buddy[rank];
}

/* ---- keeping and reading ---- */

static int save(struct ub_win *w)
{
	const struct ub_mirror *m = w->mirror;
	uint32_t me = w->scope->rank;
	uint64_t len = m->bytes[me], gen = m->gen + 1;
	char *own = w->peer[me];

	if (!len)
		return 0;
	memcpy(own + own_at(m, me, gen), own, len);
	return write_copy(w, m->buddy[me], ward_at(m, me, gen), own, len);
}

static int save_all(struct ub_scope *s)
{
	uint64_t from = s->timing ? ub_ticks() : 0;
	struct ub_win *w;
	int err = 0;

	for (w = s->wins; w && !err; w = w->next) {
		if (!w->mirror)
			continue;
		err = save(w);
		if (s->timing)
			ub_add(&s->count.mirror_bytes,
			       2 * w->mirror->bytes[s->rank]);
	}
	if (s->timing) {
		ub_add(&s->count.checkpoints, 1);
		ub_add(&s->count.mirror, ub_elapsed(from, ub_ticks()));
	}
	return err;
}

int ub_checkpoint(struct ub_scope *s)
{
	uint64_t worst = 0;
	struct ub_win *w;
	int err;

	if (!s)
		return ub_fail(-EINVAL, "ub_checkpoint(): the scope is NULL");
	err = ub_scope_begin(s, "ub_checkpoint");
	if (err)
		return err;
	err = join(s, ub_again(s) ? 0 : save_all(s), &worst);
	if (!err && worst)
		err = ub_fail(-EIO, "%s: a member could not write its copy: %s",
			      s->level_name, strerror(worst));
	for (w = s->wins; w && !err; w = w->next)
		if (w->mirror)
			w->mirror->gen++;
	ub_scope_end(s);
	return err;
}

/* A word that is fenced stays so: that member is lost to the window's scope. */
static bool fenced(const struct ub_scope *s, uint32_t rank)
{
	return ub_ld(&s->bar.g.line[rank].arrival) & UB_ARR_FENCED;
}

int ub_win_mirror_get(struct ub_win *w, int rank, size_t off, void *dst, size_t len)
{
	const struct ub_mirror *m = w ? w->mirror : NULL;
	int err = -EOWNERDEAD;
	uint32_t b;

	if (!m)
		return ub_fail(-EINVAL, "ub_win_mirror_get(): the window has no mirror");
	if (!*w->scope->alive)
		return ub_fail(-EPERM,
			       "ub_win_mirror_get() in a child of the process that made the context");
	if (rank < 0 || (uint32_t)rank >= m->n)
		return ub_fail(-EINVAL, "ub_win_mirror_get(): rank %d of %u", rank, m->n);
	if (off > m->bytes[rank] || len > m->bytes[rank] - off)
		return ub_fail(-ERANGE,
			       "ub_win_mirror_get(): %zu bytes at offset %zu, but rank %d gave %llu to the window",
			       len, off, rank, (unsigned long long)m->bytes[rank]);
	if (!len)
		return 0;
	b = m->buddy[rank];
	if (!fenced(w->scope, rank))
		err = ub_win_read(w, rank, own_at(m, rank, m->gen) + off, dst, len);
	if (err == -EOWNERDEAD && !fenced(w->scope, b))
		err = ub_win_read(w, b, ward_at(m, rank, m->gen) + off, dst, len);
	if (err == -EOWNERDEAD)
		err = ub_fail(-ENODATA, "rank %d and its buddy %u are both lost", rank, b);
	else if (err)
		ub_fail(err, "ub_win_mirror_get() of rank %d: %s", rank, strerror(-err));
	return err;
}
