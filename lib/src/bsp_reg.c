// SPDX-License-Identifier: MIT
/*
 * Registrations. A registration is a slot, numbered alike by all processes: in
 * the order of the calls, numbers that are free again first.
 *
 * A hash holds the newest slot of each own address; those that it hides follow
 * by ->older. Calls see slots that were valid at the last sync, so ones that are
 * pushed since are passed over, and ones popped since are not.
 */
#include "bsp_section.h"
#include <stdlib.h>

#define FIRST_ROOM	16

static uint32_t bucket(const struct ub_bsp *r, const void *addr)
{
	uint64_t h = (uint64_t)(uintptr_t)addr * 0x9e3779b97f4a7c15ULL;

	return h >> 32 & r->mask;
}

/* Where @addr is in the hash, or would be. */
static uint32_t *place(const struct ub_bsp *r, const void *addr)
{
	uint32_t i = bucket(r, addr);

	while (r->hash[i] != UB_BSP_NONE && r->slot[r->hash[i]].addr != addr)
		i = (i + 1) & r->mask;
	return &r->hash[i];
}

static void *more(void *p, size_t n, size_t size)
{
	p = n > SIZE_MAX / size ? NULL : realloc(p, n * size);
	if (!p)
		ub_bsp_die("bsp_push_reg", "no memory for %zu registrations", n);
	return p;
}

/* At most half full, so that a search ends soon. */
static void rehash(struct ub_bsp *r)
{
	uint32_t size = r->mask ? (r->mask + 1) * 2 : 4 * FIRST_ROOM;
	uint32_t *old = r->hash, n = r->mask ? r->mask + 1 : 0, i;

	r->hash = more(NULL, size, sizeof(*r->hash));
	r->mask = size - 1;
	for (i = 0; i < size; i++)
		r->hash[i] = UB_BSP_NONE;
	for (i = 0; i < n; i++)
		if (old[i] != UB_BSP_NONE)
			*place(r, r->slot[old[i]].addr) = old[i];
	free(old);
}

static void hash_add(struct ub_bsp *r, uint32_t nr)
{
	uint32_t *at;

	if (!r->mask || 2 * (r->used + 1) > r->mask)
		rehash(r);
	at = place(r, r->slot[nr].addr);
	r->slot[nr].older = *at;
	r->used += *at == UB_BSP_NONE;
	*at = nr;
}

/* An entry is gone: those behind it move up, so that searches still end there. */
static void hash_empty(struct ub_bsp *r, uint32_t *at)
{
	uint32_t i = at - r->hash, nr;

	r->hash[i] = UB_BSP_NONE;
	r->used--;
	for (;;) {
		i = (i + 1) & r->mask;
		nr = r->hash[i];
		if (nr == UB_BSP_NONE)
			return;
		r->hash[i] = UB_BSP_NONE;
		*place(r, r->slot[nr].addr) = nr;
	}
}

static void hash_remove(struct ub_bsp *r, uint32_t nr)
{
	uint32_t *at = place(r, r->slot[nr].addr), *link = at;

	while (*link != nr)
		link = &r->slot[*link].older;
	*link = r->slot[nr].older;
	if (link == at && *link == UB_BSP_NONE)
		hash_empty(r, at);
}

struct ub_bsp_slot *ub_bsp_find(struct ub_bsp *r, const void *addr)
{
	uint32_t nr;

	if (!r->mask || !addr)
		return NULL;
	for (nr = *place(r, addr); nr != UB_BSP_NONE; nr = r->slot[nr].older) {
		if (r->slot[nr].state != UB_BSP_VALID)
			continue;
		r->last = &r->slot[nr];
		r->last_addr = addr;
		return r->last;
	}
	return NULL;
}

static struct ub_bsp_op *add_op(struct ub_bsp *r)
{
	struct ub_bsp_ops *o = &r->ops;

	if (o->n == o->room) {
		o->room = o->room ? 2 * o->room : FIRST_ROOM;
		o->op = more(o->op, o->room, sizeof(*o->op));
	}
	return &o->op[o->n++];
}

static uint32_t new_slot(struct ub_bsp *r)
{
	uint32_t nr = r->free, i;

	if (nr == UB_BSP_NONE) {
		if (r->nslots == r->room) {
			r->room = r->room ? 2 * r->room : FIRST_ROOM;
			r->slot = more(r->slot, r->room, sizeof(*r->slot));
			r->last = NULL;
			for (i = r->nslots; i < r->room; i++)
				r->slot[i] = (struct ub_bsp_slot){ 0 };
		}
		/* Records carry it in 24 bits. */
		if (r->nslots >= 1 << 24)
			ub_bsp_die("bsp_push_reg", "more than %u registrations", 1 << 24);
		nr = r->nslots++;
	} else {
		r->free = r->slot[nr].older;
	}
	if (!r->slot[nr].sizes)
		r->slot[nr].sizes = more(NULL, r->n, sizeof(size_t));
	return nr;
}

void ub_bsp_push(struct ub_bsp *r, const void *addr, int64_t size)
{
	struct ub_bsp_slot *s;
	struct ub_bsp_op *op;
	uint32_t nr;

	if (size < 0)
		ub_bsp_die("bsp_push_reg", "the size %lld is negative",
			   (long long)size);
	if (!addr && size)
		ub_bsp_die("bsp_push_reg", "the address is NULL, but the size is %lld",
			   (long long)size);
	nr = new_slot(r);
	s = &r->slot[nr];
	s->addr = (char *)addr;
	s->size = size;
	s->nulls = 0;
	s->older = UB_BSP_NONE;
	s->state = UB_BSP_PENDING;
	s->popped = false;
	if (addr)
		hash_add(r, nr);
	op = add_op(r);
	*op = (struct ub_bsp_op){
		.what = addr ? UB_BSP_PUSH : UB_BSP_PUSH_NULL,
		.slot = nr, .size = size,
	};
}

void ub_bsp_pop(struct ub_bsp *r, const void *addr)
{
	uint32_t nr = UB_BSP_NONE;

	if (addr) {
		if (r->mask)
			nr = *place(r, addr);
		while (nr != UB_BSP_NONE && r->slot[nr].popped)
			nr = r->slot[nr].older;
		if (nr == UB_BSP_NONE)
			ub_bsp_die("bsp_pop_reg", "the address %p is not registered",
				   addr);
		r->slot[nr].popped = true;
	}
	*add_op(r) = (struct ub_bsp_op){
		.what = addr ? UB_BSP_POP : UB_BSP_POP_NULL, .slot = nr,
	};
}

/* ---- at the sync ---- */

static void make_valid(struct ub_bsp *r, uint32_t k)
{
	struct ub_bsp_slot *s = &r->slot[r->ops.op[k].slot];
	uint32_t p;

	for (p = 0; p < r->n; p++) {
		const struct ub_bsp_op *op = p == r->pid ? &r->ops.op[k] :
					     &r->alike[p]->op[k];

		if (op->slot != r->ops.op[k].slot)
			ub_bsp_die("bsp_push_reg",
				   "process %u gave registration %u the number %u, this process %u",
				   p, k + 1, op->slot, r->ops.op[k].slot);
		s->sizes[p] = op->what == UB_BSP_PUSH ? op->size : 0;
		s->nulls += op->what == UB_BSP_PUSH_NULL;
	}
	s->state = UB_BSP_VALID;
}

/* No process says which: the one slot in which none takes part. */
static uint32_t null_slot(const struct ub_bsp *r)
{
	uint32_t nr, found = UB_BSP_NONE;

	for (nr = 0; nr < r->nslots; nr++) {
		const struct ub_bsp_slot *s = &r->slot[nr];

		if (s->state != UB_BSP_VALID || s->nulls != r->n)
			continue;
		if (found != UB_BSP_NONE)
			ub_bsp_die("bsp_pop_reg",
				   "all processes gave NULL, and more than one registration has only NULL");
		found = nr;
	}
	if (found == UB_BSP_NONE)
		ub_bsp_die("bsp_pop_reg", "NULL is not registered by all processes");
	return found;
}

/* The slot that operation @k pops, for all the same. */
static uint32_t popped(const struct ub_bsp *r, uint32_t k)
{
	uint32_t nr = UB_BSP_NONE, who = 0, p;

	for (p = 0; p < r->n; p++) {
		const struct ub_bsp_op *op = p == r->pid ? &r->ops.op[k] :
					     &r->alike[p]->op[k];

		if (op->what != UB_BSP_POP)
			continue;
		if (nr != UB_BSP_NONE && op->slot != nr)
			ub_bsp_die("bsp_pop_reg",
				   "process %u names registration %u, process %u registration %u",
				   who, nr, p, op->slot);
		if (nr == UB_BSP_NONE)
			who = p;
		nr = op->slot;
	}
	if (nr == UB_BSP_NONE)
		return null_slot(r);
	if (nr >= r->nslots || r->slot[nr].state != UB_BSP_VALID)
		ub_bsp_die("bsp_pop_reg", "process %u names registration %u, which is none",
			   who, nr);
	if (r->ops.op[k].what == UB_BSP_POP_NULL && r->slot[nr].addr)
		ub_bsp_die("bsp_pop_reg",
			   "this process gave NULL, process %u registration %u, in which this process has address %p",
			   who, nr, (void *)r->slot[nr].addr);
	return nr;
}

static void make_free(struct ub_bsp *r, uint32_t nr)
{
	struct ub_bsp_slot *s = &r->slot[nr];

	if (s->addr)
		hash_remove(r, nr);
	s->state = UB_BSP_FREE;
	s->popped = false;
	s->addr = NULL;
	s->older = r->free;
	r->free = nr;
}

void ub_bsp_register(struct ub_bsp *r)
{
	uint32_t k;

	for (k = 0; k < r->ops.n; k++) {
		uint32_t what = r->ops.op[k].what;

		if (what == UB_BSP_PUSH || what == UB_BSP_PUSH_NULL)
			make_valid(r, k);
		else
			make_free(r, popped(r, k));
	}
	r->ops.n = 0;
	r->last = NULL;
}

void ub_bsp_unregister_all(struct ub_bsp *r)
{
	uint32_t nr;

	for (nr = 0; nr < r->nslots; nr++)
		free(r->slot[nr].sizes);
	free(r->slot);
	free(r->hash);
	free(r->ops.op);
}
