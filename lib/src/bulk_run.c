// SPDX-License-Identifier: MIT
/* Records that come in, and the barriers between. See bulk.h. */
#include "bulk.h"
#include "backend.h"
#include <stdlib.h>

#define UB_BULK_SLOT	(8u << 10)	/* the smallest that is made, if there is room */
#define UB_BULK_LEAST	512u

static void note_err(struct ub_bulk *b, int err)
{
	if (err && !b->err)
		b->err = err;
}

void ub_bulk_spoilt(struct ub_bulk *b, uint32_t from)
{
	note_err(b, ub_fail(-EPROTO, "%s: what rank %u handed over is no record",
			    b->s->level_name, from));
}

/* ---- reading ---- */

bool ub_bulk_page(struct ub_bulk *b, struct ub_bulk_iter *i)
{
	const struct ub_bulk_chunk *c;

	if (!i->chunk) {
		if (i->from >= b->s->n)
			return false;
		c = b->in[i->from].first;
	} else {
		c = i->chunk->next;
	}
	while (!c && ++i->from < b->s->n)
		c = b->in[i->from].first;
	i->chunk = c;
	if (!c)
		return false;
	i->at = c->large ? NULL : c->data;
	i->end = c->large ? NULL : c->data + c->bytes;
	i->large = c->large ? c : NULL;
	return true;
}

/* ---- collecting ---- */

/* A part of a large record that is not taken at once: joined to a whole. */
static void join(struct ub_bulk *b, uint32_t from, const struct ub_bulk_item *it)
{
	struct ub_bulk_chunk *c = b->part[from];

	if (!it->at) {
		c = it->total > PTRDIFF_MAX - 64 ? NULL :
		    ub_bulk_chunk(b, it->total);
		if (!c) {
			note_err(b, ub_fail(-ENOMEM,
					    "%s: no memory for %zu bytes from rank %u",
					    b->s->level_name, it->total, from));
			return;
		}
		c->large = true;
		c->bytes = it->total;
		c->rec = (struct ub_bulk_rec){
			.what = it->what & ~UB_BULK_PIECE, .arg = it->arg,
		};
		ub_bulk_append(&b->in[from], c);
		b->part[from] = c;
	}
	if (!c || c->done != it->at || it->len > c->bytes - c->done) {
		if (!b->err)
			ub_bulk_spoilt(b, from);
		return;
	}
	memcpy(c->data + c->done, it->data, it->len);
	c->done += it->len;
	if (c->done == c->bytes)
		b->part[from] = NULL;
}

static bool at_once(const struct ub_bulk *b, uint32_t what)
{
	return what & UB_BULK_PIECE || b->ops->takes >> UB_BULK_KIND(what) & 1;
}

/* Is there a record that ub_bulk_next() will show? */
static bool any_later(struct ub_bulk *b, uint32_t from, const char *data,
		      size_t bytes)
{
	struct ub_bulk_iter i = { .at = data, .end = data + bytes, .from = from };
	struct ub_bulk_item it;

	while (ub_bulk_step(b, &i, &it))
		if (!at_once(b, it.what))
			return true;
	return false;
}

/* What a run of records holds that is not for later. */
static void walk(struct ub_bulk *b, uint32_t from, const char *data, size_t bytes)
{
	struct ub_bulk_iter i = { .at = data, .end = data + bytes, .from = from };
	struct ub_bulk_item it;

	while (ub_bulk_step(b, &i, &it)) {
		it.at = 0;
		it.total = it.len;
		if (it.what & UB_BULK_PIECE) {
			struct ub_bulk_piece p;

			if (it.len < sizeof(p)) {
				ub_bulk_spoilt(b, from);
				return;
			}
			memcpy(&p, it.data, sizeof(p));
			it.data += sizeof(p);
			it.len -= sizeof(p);
			it.at = p.at;
			it.total = p.total;
			if (p.at > p.total || it.len > p.total - p.at) {
				ub_bulk_spoilt(b, from);
				return;
			}
		}
		if (b->ops->takes >> UB_BULK_KIND(it.what) & 1)
			note_err(b, b->ops->take(b, &it));
		else if (it.what & UB_BULK_PIECE)
			join(b, from, &it);
	}
}

/* @c is read in place: that must not be when two more barriers come. */
static void copy(struct ub_bulk *b, struct ub_bulk_list *l,
		 const struct ub_bulk_chunk *c)
{
	struct ub_bulk_chunk *own;

	if (!c->bytes)
		return;
	own = ub_bulk_chunk(b, c->bytes);
	if (!own) {
		note_err(b, ub_fail(-ENOMEM, "%s: no memory for %zu bytes of records",
				    b->s->level_name, c->bytes));
		return;
	}
	memcpy(own->data, c->data, c->bytes);
	own->bytes = c->bytes;
	ub_bulk_append(l, own);
}

static void copy_all(struct ub_bulk *b)
{
	uint32_t i;

	for (i = 0; i < b->s->n; i++) {
		struct ub_bulk_list old = b->in[i];
		struct ub_bulk_chunk *c, *next;

		b->in[i] = (struct ub_bulk_list){ 0 };
		for (c = old.first; c; c = next) {
			next = c->next;
			if (c->cap || c->large)
				ub_bulk_append(&b->in[i], c);
			else
				copy(b, &b->in[i], c);
		}
	}
	b->copied = true;
}

static void collect(struct ub_bulk *b, bool more)
{
	struct ub_bulk_chunk *c = &b->inplace[b->turn % UB_BULK_TURNS * b->s->n];
	uint32_t i;

	if (more && !b->copied)
		copy_all(b);
	for (i = 0; b->win && i < b->s->n; i++, c++) {
		const struct ub_bulk_head *h = ub_bulk_slot(b, i);
		uint32_t bytes, flags;

		if (ub_ld(&h->stamp) != b->turn)
			continue;
		bytes = ub_ld(&h->bytes);
		flags = ub_ld(&h->flags);
		if (bytes > b->slot - sizeof(*h) || bytes % 8) {
			ub_bulk_spoilt(b, i);
			continue;
		}
		*c = (struct ub_bulk_chunk){
			.data = (char *)(h + 1), .bytes = bytes,
		};
		if (flags & UB_BULK_WALK && !any_later(b, i, c->data, bytes))
			;
		else if (more)
			copy(b, &b->in[i], c);
		else
			ub_bulk_append(&b->in[i], c);
		if (flags & UB_BULK_WALK)
			walk(b, i, c->data, bytes);
	}
	b->turn++;
}

/* ---- the window ---- */

struct needs {
	uint64_t need;		/* most bytes for one receiver */
	uint64_t room;		/* that this member may take */
};

static int agree(struct ub_bulk *b)
{
	struct ub_scope *s = b->s;
	uint64_t need = 0, room = UINT64_MAX, most, slot;
	uint32_t i;
	int err;

	if (!ub_again(s))
		*(struct needs *)ub_mail(s) = (struct needs){
			.need = b->need, .room = s->ctx->be->win_room(s->ctx),
		};
	err = ub_exchange(s);
	if (err)
		return err;
	for (i = 0; i < s->n; i++) {
		const struct needs m = *(const struct needs *)ub_mail_of(s, i);

		need = m.need > need ? m.need : need;
		room = m.room < room ? m.room : room;
	}
	most = room / UB_BULK_TURNS / s->n & ~127ULL;
	/* Heads count bytes in 32 bits; slots begin aligned. */
	if (most > 1ULL << 30)
		most = 1ULL << 30;
	if (most < UB_BULK_LEAST)
		most = UB_BULK_LEAST;
	for (slot = UB_BULK_SLOT; slot < need && slot < most; slot *= 2)
		;
	/* Not all heads in one set of the cache. */
	slot += 128;
	b->want = slot < most ? slot : most;
	b->most = most;
	return 0;
}

/* 0, or an error of the barriers; that there is no room for more is none. */
static int grow(struct ub_bulk *b)
{
	struct ub_win *w;
	size_t bytes = b->want * UB_BULK_TURNS * b->s->n;
	int err = ub_win_make(b->s, bytes, &w);

	if (err) {
		if (err == -ETIMEDOUT || b->s->lost)
			return err;
		/* The same for all. Without a window nothing can go. */
		b->most = b->slot;
		return b->win ? 0 : err;
	}
	/* All have copied what came, nobody has begun what goes. */
	if (b->win)
		ub_win_drop(b->win, false);
	b->win = w;
	b->slot = b->want;
	return 0;
}

/* ---- the whole of it ---- */

static void forget(struct ub_bulk *b)
{
	uint32_t i;

	for (i = 0; i < b->s->n; i++) {
		b->part[i] = NULL;
		ub_bulk_drop(b, &b->in[i]);
		ub_bulk_drop(b, &b->out[i].wait);
		b->out[i] = (struct ub_bulk_out){ 0 };
	}
	b->ntouched = 0;
}

static int collected(struct ub_bulk *b)
{
	bool more = b->seen & UB_BULK_MORE;
	uint32_t i;

	collect(b, more);
	for (i = 0; b->copied && !more && i < b->s->n; i++) {
		if (b->part[i])
			ub_bulk_spoilt(b, i);
		b->part[i] = NULL;
	}
	if (more)
		return !b->most || b->slot < b->most ? UB_BULK_NEEDS : UB_BULK_PUSH;
	return b->ask ? UB_BULK_ANSWER : UB_BULK_DELIVER;
}

/* One phase; the next one, or an error, after which it is to be done again. */
static int phase(struct ub_bulk *b)
{
	int err;

	switch (b->phase) {
	case UB_BULK_COLLECT:
		return collected(b);
	case UB_BULK_NEEDS:
		err = agree(b);
		if (err)
			return err;
		return b->want > b->slot ? UB_BULK_GROW : UB_BULK_PUSH;
	case UB_BULK_GROW:
		err = grow(b);
		return err ? err : UB_BULK_PUSH;
	case UB_BULK_PUSH:
		b->give = ub_bulk_push(b);
		return UB_BULK_BARRIER;
	case UB_BULK_BARRIER:
		err = ub_sync_noted(b->s, b->give, &b->seen);
		return err ? err : UB_BULK_COLLECT;
	case UB_BULK_ANSWER:
		b->ask = false;
		b->copied = false;
		b->need = 0;
		if (b->ops->answer)
			note_err(b, b->ops->answer(b));
		return UB_BULK_PUSH;
	case UB_BULK_DELIVER:
		note_err(b, b->ops->deliver(b));
		*b->notes = (*b->notes & UB_BULK_TELL) | UB_BULK_HELD;
		break;
	case UB_BULK_IDLE:
		break;
	}
	return UB_BULK_IDLE;
}

int ub_bulk_run(struct ub_bulk *b, uint32_t seen)
{
	int next;

	if (b->phase == UB_BULK_IDLE) {
		b->seen = seen;
		b->ask = seen & UB_BULK_ASK;
		b->copied = false;
		b->phase = UB_BULK_COLLECT;
	}
	do {
		next = phase(b);
		if (next == -ETIMEDOUT)
			return next;
		b->phase = next < 0 ? UB_BULK_IDLE : next;
	} while (b->phase != UB_BULK_IDLE);
	if (next < 0)
		forget(b);
	else
		next = b->err;
	b->err = 0;
	return next;
}
