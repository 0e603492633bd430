// SPDX-License-Identifier: MIT
/*
 * Moving windows out of the reach of a member that is lost and still runs.
 *
 * Each survivor's own part gets other memory, at the same addresses; the others
 * attach to it anew. Whoever is not told, keeps what was its memory before.
 */
#include "internal.h"
#include "backend.h"
#include <string.h>

/* Steps, each with a barrier at its end. */
enum { TELL, ATTACH };

struct move_mail {
	int64_t err;
	char desc[UB_WIN_MAIL];
};

/* Rank in the window's scope of world rank @who, or its number of members. */
static uint32_t rank_of(const struct ub_scope *s, uint32_t who)
{
	uint32_t i;

	for (i = 0; i < s->n; i++)
		if (s->world_rank[i] == who)
			break;
	return i;
}

static void move_own(struct ub_scope *s, struct ub_win *w)
{
	struct move_mail *m = ub_mail(s);

	m->err = s->ctx->be->win_move(w);
	s->ctx->be->win_describe(w, m->desc);
}

static int attach_all(struct ub_scope *s, struct ub_win *w)
{
	uint32_t i, rank;
	int err;

	for (i = 0; i < s->n; i++) {
		const struct move_mail *m = ub_mail_of(s, i);

		rank = rank_of(w->scope, s->world_rank[i]);
		if (rank == w->scope->n)
			return ub_fail(-EINVAL,
				       "%s: rank %u is no member of the window's scope",
				       s->level_name, i);
		if (m->err)	/* its own text says more */
			return i == s->rank ? (int)m->err :
			       ub_fail(m->err, "%s: rank %u (node %u) cannot move its part: %s",
				       s->level_name, i, s->node[i],
				       strerror(-(int)m->err));
		if (i == s->rank)
			continue;
		err = s->ctx->be->win_again(w, rank, m->desc);
		if (err)
			return err;
	}
	return 0;
}

static int move(struct ub_scope *s, struct ub_win *w)
{
	struct ub_pending *p = &s->pending;
	uint64_t worst;
	int err;

	/* The dead store nothing there. */
	if (!s->ctx->be->win_move)
		return ub_sync_inside(s);
	if (!ub_again(s)) {
		move_own(s, w);
		p->step = TELL;
	}
	if (p->step == TELL) {
		err = ub_exchange(s);
		if (err)
			return err;
		p->most = -attach_all(s, w);
		p->step = ATTACH;
	}
	err = ub_reduce_inside(s, UB_MAX_U64, p->most, &worst);
	if (err)
		return err;
	if (worst && !p->most)
		return ub_fail(-(int)worst, "%s: a member cannot move its part, or attach another's: %s",
			       s->level_name, strerror(worst));
	return -(int)p->most;
}

int ub_win_move(struct ub_scope *s, struct ub_win *w)
{
	int err;

	if (!s || !w)
		return ub_fail(-EINVAL, "ub_win_move(): an argument is NULL");
	err = ub_scope_begin(s, "ub_win_move");
	if (err)
		return err;
	err = move(s, w);
	ub_scope_end(s);
	return err;
}
