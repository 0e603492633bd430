// SPDX-License-Identifier: MIT
/* Records on their way out: slots, private chunks, handing over. See bulk.h. */
#include "bulk.h"
#include "backend.h"
#include <stdlib.h>

#define UB_BULK_CHUNK	4096	/* of private chunks, while there is no slot */
#define UB_BULK_COPY	4096	/* up to this a copy is cheaper than a piece */
#define UB_BULK_PART	512	/* the smallest piece that joins other records */
#define UB_BULK_SPARES	64

_Static_assert(sizeof(struct ub_bulk_head) == 16 &&
	       sizeof(struct ub_bulk_rec) == 16 &&
	       sizeof(struct ub_bulk_piece) == 16 &&
	       !(offsetof(struct ub_bulk_chunk, mem) % 16), "payloads are aligned");

struct ub_bulk *ub_bulk_new(struct ub_scope *s, const struct ub_bulk_ops *ops,
			    void *client, uint32_t *notes)
{
	struct ub_bulk *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->s = s;
	b->ops = ops;
	b->client = client;
	b->notes = notes;
	b->turn = 1;	/* 0 is in slots that nobody has written */
	b->out = calloc(s->n, sizeof(*b->out));
	b->touched = calloc(s->n, sizeof(*b->touched));
	b->in = calloc(s->n, sizeof(*b->in));
	b->part = calloc(s->n, sizeof(*b->part));
	b->inplace = calloc((size_t)s->n * UB_BULK_TURNS, sizeof(*b->inplace));
	if (b->out && b->touched && b->in && b->part && b->inplace)
		return b;
	ub_bulk_free(b, true);
	return NULL;
}

void ub_bulk_free(struct ub_bulk *b, bool used)
{
	struct ub_bulk_chunk *c;
	uint32_t i;

	if (!b)
		return;
	for (i = 0; i < b->s->n; i++) {
		if (b->out)
			ub_bulk_drop(b, &b->out[i].wait);
		if (b->in)
			ub_bulk_drop(b, &b->in[i]);
	}
	while ((c = b->spare)) {
		b->spare = c->next;
		free(c);
	}
	if (b->win)
		ub_win_drop(b->win, used);
	free(b->out);
	free(b->touched);
	free(b->in);
	free(b->part);
	free(b->inplace);
	free(b);
}

/* ---- chunks ---- */

static size_t chunk_room(const struct ub_bulk *b)
{
	return b->win ? b->slot - sizeof(struct ub_bulk_head) : UB_BULK_CHUNK;
}

struct ub_bulk_chunk *ub_bulk_chunk(struct ub_bulk *b, size_t cap)
{
	struct ub_bulk_chunk *c = b->spare;

	if (c && cap <= c->cap && cap > c->cap / 2) {
		b->spare = c->next;
		b->nspare--;
		cap = c->cap;
	} else {
		c = malloc(sizeof(*c) + sizeof(struct ub_bulk_head) + cap);
		if (!c)
			return NULL;
	}
	*c = (struct ub_bulk_chunk){ .data = (char *)(c->mem + 1), .cap = cap };
	return c;
}

static void chunk_free(struct ub_bulk *b, struct ub_bulk_chunk *c)
{
	/* It is one of b->inplace. */
	if (!c->cap && !c->large)
		return;
	if (c->cap != chunk_room(b) || b->nspare >= UB_BULK_SPARES) {
		free(c);
		return;
	}
	c->next = b->spare;
	b->spare = c;
	b->nspare++;
}

void ub_bulk_append(struct ub_bulk_list *l, struct ub_bulk_chunk *c)
{
	c->next = NULL;
	if (l->first)
		l->last->next = c;
	else
		l->first = c;
	l->last = c;
}

static void pop(struct ub_bulk *b, struct ub_bulk_list *l)
{
	struct ub_bulk_chunk *c = l->first;

	l->first = c->next;
	chunk_free(b, c);
}

void ub_bulk_drop(struct ub_bulk *b, struct ub_bulk_list *l)
{
	while (l->first)
		pop(b, l);
}

/* ---- posting ---- */

/* Own or another's slot for records of @from, in a turn. */
static size_t slot_at(const struct ub_bulk *b, uint64_t turn, uint32_t from)
{
	return (turn % UB_BULK_TURNS * b->s->n + from) * b->slot;
}

static size_t slot_off(const struct ub_bulk *b, uint32_t from)
{
	return slot_at(b, b->turn, from);
}

/*
 * The line that the next exchange's first record goes to was last the
 * receiver's: fetch it while the barrier waits.
 */
static void fetch_next(const struct ub_bulk *b, uint32_t rank)
{
#ifdef __x86_64__
	const char *p = b->win->peer[rank] +
			slot_at(b, b->turn + 1, b->s->rank);

	asm volatile("prefetchw %0" : : "m"(*p));
#else
	(void)b;
	(void)rank;
#endif
}

const struct ub_bulk_head *ub_bulk_slot(const struct ub_bulk *b, uint32_t from)
{
	return (const struct ub_bulk_head *)(b->win->peer[b->s->rank] +
					     slot_off(b, from));
}

/* Is the memory of @rank stored to? Else it is put there at the barrier. */
static bool shared(const struct ub_bulk *b, uint32_t rank)
{
	return !b->s->ctx->be->put || rank == b->s->rank;
}

static void note(struct ub_bulk *b, uint32_t rank)
{
	struct ub_bulk_out *o = &b->out[rank];

	if (o->listed)
		return;
	o->listed = true;
	b->touched[b->ntouched++] = rank;
	*b->notes |= UB_BULK_MAIL;
}

/* No record is added to what is open; the next run of records begins aligned. */
static void shut(struct ub_bulk_out *o)
{
	if (o->at) {
		if ((uintptr_t)o->at & 15)
			o->at = (char *)memset(o->at, 0, 8) + 8;
		if (o->direct)
			o->slotted = o->at - o->base;
		else
			o->wait.last->bytes = o->at - o->base;
	}
	o->at = NULL;
	o->end = NULL;
	o->base = NULL;
	o->direct = false;
}

/* The receiver's slot, while nothing was posted to it, or a private chunk. */
static bool begin(struct ub_bulk *b, uint32_t rank)
{
	struct ub_bulk_out *o = &b->out[rank];
	struct ub_bulk_chunk *c;

	if (b->win && shared(b, rank) && !o->slotted && !o->wait.first) {
		o->direct = true;
		o->base = b->win->peer[rank] + slot_off(b, b->s->rank) +
			  sizeof(struct ub_bulk_head);
		o->end = o->base + chunk_room(b);
	} else {
		c = ub_bulk_chunk(b, chunk_room(b));
		if (!c)
			return false;
		ub_bulk_append(&o->wait, c);
		o->base = c->data;
		o->end = o->base + c->cap;
	}
	o->at = o->base;
	return true;
}

static struct ub_bulk_chunk *large(struct ub_bulk *b, uint32_t rank,
				   uint32_t what, uint64_t arg, size_t len,
				   size_t cap)
{
	struct ub_bulk_chunk *c = ub_bulk_chunk(b, cap);

	if (!c)
		return NULL;
	c->large = true;
	c->bytes = len;
	c->rec = (struct ub_bulk_rec){ .what = what, .arg = arg };
	ub_bulk_append(&b->out[rank].wait, c);
	return c;
}

void *ub_bulk_open(struct ub_bulk *b, uint32_t rank, uint32_t what,
		   uint64_t arg, size_t len)
{
	struct ub_bulk_chunk *c;

	note(b, rank);
	shut(&b->out[rank]);
	if (len <= chunk_room(b) - sizeof(struct ub_bulk_rec))
		return begin(b, rank) ? ub_bulk_post(b, rank, what, arg, len) :
					NULL;
	c = large(b, rank, what, arg, len, len);
	return c ? c->data : NULL;
}

void *ub_bulk_post16(struct ub_bulk *b, uint32_t rank, uint32_t what,
		     uint64_t arg, size_t len)
{
	struct ub_bulk_out *o = &b->out[rank];
	struct ub_bulk_rec *r;

	/* Slots and chunks begin aligned and are a multiple of 16. */
	if ((uintptr_t)o->at & 15)
		o->at = (char *)memset(o->at, 0, 8) + 8;
	if (unlikely(sizeof(*r) + len > (size_t)(o->end - o->at))) {
		note(b, rank);
		shut(o);
		if (len > chunk_room(b) - sizeof(*r))
			return ub_bulk_open(b, rank, what, arg, len);
		if (!begin(b, rank))
			return NULL;
	}
	r = (struct ub_bulk_rec *)o->at;
	*r = (struct ub_bulk_rec){ .len = len, .what = what, .arg = arg };
	o->at += sizeof(*r) + ((len + 7) & ~(size_t)7);
	return r + 1;
}

int ub_bulk_post_ref(struct ub_bulk *b, uint32_t rank, uint32_t what,
		     uint64_t arg, const void *src, size_t len)
{
	struct ub_bulk_out *o = &b->out[rank];
	struct ub_bulk_chunk *c;
	void *to;

	if (len > UB_BULK_COPY && !o->at) {
		note(b, rank);
		if (!begin(b, rank))
			return -ENOMEM;
	}
	if (len <= UB_BULK_COPY ||
	    len + sizeof(struct ub_bulk_rec) + 8 <= (size_t)(o->end - o->at)) {
		to = ub_bulk_post(b, rank, what, arg, len);
		if (!to)
			return -ENOMEM;
		memcpy(to, src, len);
	} else {
		shut(o);
		c = large(b, rank, what, arg, len, 0);
		if (!c)
			return -ENOMEM;
		c->data = (char *)src;
	}
	if (b->ops->takes >> UB_BULK_KIND(what) & 1)
		o->flags |= UB_BULK_WALK;
	return 0;
}

/* ---- handing over ---- */

/* Bytes at @at in the own slot of @rank; a receiver that is gone is heard of at
 * the barrier. */
static void give(struct ub_bulk *b, uint32_t rank, size_t at, const void *src,
		 size_t len)
{
	int err = ub_win_write(b->win, rank, slot_off(b, b->s->rank) + at, src, len);

	if (err && !b->err)
		b->err = ub_fail(err, "%s: cannot hand records to rank %u: %s",
				 b->s->level_name, rank, strerror(-err));
}

/* As much of a large record as there is room for; bytes used. */
static size_t give_large(struct ub_bulk *b, uint32_t rank, size_t at,
			 struct ub_bulk_chunk *c)
{
	struct {
		struct ub_bulk_rec rec;
		struct ub_bulk_piece piece;
	} h = { .rec = c->rec };
	size_t room = b->slot - at, left = c->bytes - c->done, used;

	if (!c->done && left + sizeof(h.rec) <= room) {
		h.rec.len = left;
		give(b, rank, at, &h, sizeof(h.rec));
		give(b, rank, at + sizeof(h.rec), c->data, left);
		c->done = c->bytes;
		used = sizeof(h.rec) + left;
	} else {
		/* An empty slot takes what it can. */
		if (room < sizeof(h) + UB_BULK_PART &&
		    at > sizeof(struct ub_bulk_head))
			return 0;
		if (left > room - sizeof(h))
			left = room - sizeof(h);
		h.rec.len = sizeof(h.piece) + left;
		h.rec.what |= UB_BULK_PIECE;
		h.piece.total = c->bytes;
		h.piece.at = c->done;
		give(b, rank, at, &h, sizeof(h));
		give(b, rank, at + sizeof(h), c->data + c->done, left);
		b->out[rank].flags |= UB_BULK_WALK;
		c->done += left;
		used = sizeof(h) + left;
	}
	used = (used + 7) & ~(size_t)7;
	if (used & 15) {
		const uint64_t filler = 0;

		give(b, rank, at + used, &filler, sizeof(filler));
		used += sizeof(filler);
	}
	return used;
}

/* Fill the slot of @rank; true: something is left. */
static bool fill(struct ub_bulk *b, uint32_t rank)
{
	struct ub_bulk_out *o = &b->out[rank];
	struct ub_bulk_chunk *c, *first = NULL;
	struct ub_bulk_head own, *h = &own;
	size_t at = sizeof(*h) + o->slotted;

	o->slotted = 0;
	while ((c = o->wait.first)) {
		if (c->large) {
			at += give_large(b, rank, at, c);
			if (c->done < c->bytes)
				break;
		} else if (c->bytes > b->slot - at) {
			break;
		} else if (at == sizeof(*h)) {
			/* Goes last, with the head in front of it. */
			first = c;
			h = c->mem;
			at += c->bytes;
			o->wait.first = c->next;
			continue;
		} else {
			give(b, rank, at, c->data, c->bytes);
			at += c->bytes;
		}
		pop(b, &o->wait);
	}
	*h = (struct ub_bulk_head){
		.stamp = b->turn,
		.bytes = at - sizeof(*h),
		.flags = o->flags,
	};
	give(b, rank, 0, h, sizeof(*h) + (first ? first->bytes : 0));
	if (shared(b, rank))
		fetch_next(b, rank);
	if (first)
		chunk_free(b, first);
	if (b->s->timing)
		ub_add(&b->s->count.bytes, at - sizeof(*h));
	return o->wait.first;
}

/* What all that is there for @rank takes. */
static size_t needed(const struct ub_bulk_out *o)
{
	size_t bytes = sizeof(struct ub_bulk_head) + o->slotted;
	const struct ub_bulk_chunk *c;

	for (c = o->wait.first; c; c = c->next)
		bytes += c->bytes + 2 * sizeof(struct ub_bulk_rec);
	return bytes;
}

uint32_t ub_bulk_push(struct ub_bulk *b)
{
	uint32_t notes = b->ntouched ? UB_BULK_MAIL : 0, left = 0, i;

	for (i = 0; i < b->ntouched; i++) {
		uint32_t rank = b->touched[i];
		struct ub_bulk_out *o = &b->out[rank];
		size_t need;

		shut(o);
		need = needed(o);
		if (need > b->need)
			b->need = need;
		if (!b->win || fill(b, rank)) {
			b->touched[left++] = rank;
			notes |= UB_BULK_MORE;
		} else {
			o->listed = false;
			o->flags = 0;
		}
	}
	b->ntouched = left;
	return notes;
}

uint32_t ub_bulk_close(struct ub_bulk *b)
{
	uint32_t local = *b->notes, i;

	*b->notes = 0;
	if (local & (UB_BULK_HELD | UB_BULK_TELL) && b->ops->close(b))
		*b->notes = UB_BULK_TELL;
	if (local & UB_BULK_HELD)
		for (i = 0; i < b->s->n; i++)
			ub_bulk_drop(b, &b->in[i]);
	b->need = 0;
	return ub_bulk_push(b) | (local & UB_BULK_ASK);
}
