// SPDX-License-Identifier: MIT
/* Windows: memory that members give to a scope, mapped by all of them. */
#include "internal.h"
#include "backend.h"
#include <stdlib.h>
#include <string.h>

static struct ub_win *win_alloc(struct ub_scope *s)
{
	struct ub_win *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->scope = s;
	w->peer = calloc(s->n, sizeof(*w->peer));
	w->size = calloc(s->n, sizeof(*w->size));
	w->handle = calloc(s->n, sizeof(*w->handle));
	if (w->peer && w->size && w->handle) {
		w->next = s->wins;
		s->wins = w;
		return w;
	}
	free(w->peer);
	free(w->size);
	free(w->handle);
	free(w);
	return NULL;
}

void ub_win_drop(struct ub_win *w, bool used)
{
	struct ub_win **p;

	for (p = &w->scope->wins; *p; p = &(*p)->next) {
		if (*p == w) {
			*p = w->next;
			break;
		}
	}
	if (w->scope->coll == w)
		w->scope->coll = NULL;
	ub_mirror_free(w->mirror, w);
	w->scope->ctx->be->win_free(w, used);
	free(w->peer);
	free(w->size);
	free(w->handle);
	free(w);
}

/* What a member says of its part; the rest is the back end's. */
struct win_mail {
	int64_t err;
	uint64_t bytes;
	char desc[UB_WIN_MAIL];
};

/* The first member that could not give its part fails the call for all. */
static int attach_all(struct ub_win *w, bool *used)
{
	struct ub_scope *s = w->scope;
	uint32_t i;
	int err = 0;

	for (i = 0; i < s->n; i++) {
		const struct win_mail *m = ub_mail_of(s, i);

		if (!m->err)
			continue;
		if (i == s->rank)	/* its own text says more */
			return m->err;
		return ub_fail(m->err,
			       "%s: rank %u (node %u) cannot give %llu bytes to a window: its memory is out",
			       s->level_name, i,
			       s->node[i], (unsigned long long)m->bytes);
	}
	*used = true;
	for (i = 0; i < s->n && !err; i++) {
		const struct win_mail *m = ub_mail_of(s, i);

		if (i != s->rank)
			err = s->ctx->be->win_attach(w, i, m->desc);
	}
	return err;
}

static int describe(struct ub_scope *s, size_t bytes)
{
	struct win_mail *m = ub_mail(s);
	struct ub_win *w = win_alloc(s);
	int err;

	if (!w)
		return ub_fail(-ENOMEM, "no memory");
	err = s->ctx->be->win_alloc(w, bytes);
	m->err = err;
	m->bytes = bytes;
	if (!err)
		s->ctx->be->win_describe(w, m->desc);
	s->pending.obj = w;
	return 0;
}

/*
 * All have the window or none has. A home may die between the barriers: who then
 * cannot attach its part tells the others, and all go on to the barrier that it
 * does not come to.
 */
static int agree(struct ub_scope *s, struct ub_win *w)
{
	uint64_t worst;
	int err = 0;

	if (w->stage == UB_WIN_AGREE) {
		err = ub_reduce_inside(s, UB_MAX_U64, -w->err, &worst);
		if (err)
			return err;
		if (worst != EOWNERDEAD)
			return w->err || !worst ? w->err :
			       ub_fail(-(int)worst,
				       "%s: a member cannot attach the windows of the others: %s",
				       s->level_name, strerror(worst));
		w->stage = UB_WIN_HEAR;
	}
	while (!err)
		err = ub_sync_inside(s);
	return err;
}

int ub_win_make(struct ub_scope *s, size_t bytes, struct ub_win **win)
{
	bool used = true;
	struct ub_win *w;
	int err = 0;

	if (!ub_again(s))
		err = describe(s, bytes);
	if (err)
		return err;
	w = s->pending.obj;
	if (w->stage == UB_WIN_TELL) {
		err = ub_exchange(s);
		if (err == -ETIMEDOUT)
			return err;
		if (!err) {
			used = false;
			w->err = attach_all(w, &used);
			w->stage = UB_WIN_AGREE;
			/* Whose memory was out has told all already. */
			if (!used)
				err = w->err;
		}
	}
	if (!err)
		err = agree(s, w);
	if (err == -ETIMEDOUT)
		return err;
	s->pending.obj = NULL;
	if (err) {
		ub_win_drop(w, used);
		return err;
	}
	w->inner = true;
	*win = w;
	return 0;
}

int ub_win_create(struct ub_scope *s, size_t bytes, struct ub_win **win)
{
	int err;

	if (!s || !win)
		return ub_fail(-EINVAL, "ub_win_create(): an argument is NULL");
	err = ub_scope_begin(s, "ub_win_create");
	if (err)
		return err;
	*win = NULL;
	err = ub_win_make(s, bytes, win);
	if (!err)
		(*win)->inner = false;
	ub_scope_end(s);
	return err;
}

int ub_win_free(struct ub_win *w)
{
	struct ub_scope *s;
	int err;

	if (!w)
		return 0;
	s = w->scope;
	err = ub_scope_begin_lost(s);
	if (err)
		return err;
	if (s->state == UB_SCOPE_ARRIVED) {
		ub_scope_end(s);
		return ub_fail(-EALREADY,
			       "%s: ub_win_free() after ub_arrive(); call ub_wait() first",
			       s->level_name);
	}
	/* Nobody uses it any more when all have come here. */
	err = ub_sync_inside(s);
	if (err != -ETIMEDOUT)
		ub_win_drop(w, err != 0);
	else
		s->pending.call = "ub_win_free";
	ub_scope_end(s);
	return err == -EOWNERDEAD || err == -ESTALE ? 0 : err;
}

void *ub_win_base(const struct ub_win *w)
{
	return w->peer[w->scope->rank];
}

void *ub_win_peer(const struct ub_win *w, int rank)
{
	if (rank < 0 || (uint32_t)rank >= w->scope->n)
		return NULL;
	return w->peer[rank];
}

size_t ub_win_size(const struct ub_win *w, int rank)
{
	if (rank < 0 || (uint32_t)rank >= w->scope->n)
		return 0;
	return w->size[rank];
}
