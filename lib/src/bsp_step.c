// SPDX-License-Identifier: MIT
/*
 * The end of a superstep of bsp.h: records become reads and writes.
 *
 * In this order: every get is read at its owner (answer(), before any of the
 * owner's memory is written), then what was got is written, then puts by rising
 * process and order of the calls, so that a put wins over a get. Unbuffered ones
 * are written when they come.
 *
 * Then the processes compare what all must do alike. Each tells all others,
 * when there is anything to tell; who finds itself told of something that it did
 * not do, or not told of something that it did, ends the job. So a process in
 * bsp_sync() learns of another's bsp_end(), and both are named.
 */
#include "bsp_section.h"
#include <stdlib.h>

/* Own memory that a record names, or NULL: the sender has checked already. */
static char *memory(struct ub_bulk *b, const struct ub_bulk_item *it, size_t len)
{
	const struct ub_bsp *r = b->client;
	uint32_t nr = UB_BULK_ID(it->what);
	const struct ub_bsp_slot *s = &r->slot[nr];

	if (likely(nr < r->nslots && s->state == UB_BSP_VALID &&
		   it->arg <= s->size && len <= s->size - it->arg))
		return s->addr + it->arg;
	ub_bulk_spoilt(b, it->from);
	return NULL;
}

/* ---- gets ---- */

void ub_bsp_ask(struct ub_bsp *r, const char *call, uint32_t pid, uint32_t slot,
		uint64_t off, void *dst, size_t len, bool hp)
{
	struct ub_bsp_wish *w;

	if (r->ngot == r->got_room) {
		size_t room = r->got_room ? 2 * (size_t)r->got_room : 64;
		void *more = room > UINT32_MAX ? NULL :
			     realloc(r->got, room * sizeof(*r->got));

		if (!more)
			ub_bsp_die(call, "no memory for %zu gets in a superstep", room);
		r->got = more;
		r->got_room = room;
	}
	w = ub_bulk_post(r->b, pid, UB_BULK_WHAT(UB_BSP_GET, slot), off, sizeof(*w));
	if (!w)
		ub_bsp_die(call, "no memory");
	*w = (struct ub_bsp_wish){ .len = len, .number = r->ngot, .hp = hp };
	*r->b->notes |= UB_BULK_ASK;
	r->got[r->ngot++] = (struct ub_bsp_got){ .dst = dst, .len = len };
}

static int answer(struct ub_bulk *b)
{
	struct ub_bulk_iter i = { 0 };
	struct ub_bulk_item it;
	struct ub_bsp_wish w;
	int err = 0;
	char *from;

	while (ub_bulk_next(b, &i, &it)) {
		if (UB_BULK_KIND(it.what) != UB_BSP_GET)
			continue;
		if (it.len != sizeof(w)) {
			ub_bulk_spoilt(b, it.from);
			continue;
		}
		memcpy(&w, it.data, sizeof(w));
		from = memory(b, &it, w.len);
		if (from && ub_bulk_post_ref(b, it.from,
					     UB_BULK_WHAT(w.hp ? UB_BSP_HPGOT :
							  UB_BSP_GOT, 0),
					     w.number, from, w.len))
			err = ub_fail(-ENOMEM, "no memory to answer a get");
	}
	return err;
}

/* A part of what was got, at @at of it. */
static void got(struct ub_bulk *b, const struct ub_bulk_item *it, size_t at)
{
	const struct ub_bsp *r = b->client;
	const struct ub_bsp_got *g = &r->got[it->arg];

	if (it->arg < r->ngot && at <= g->len && it->len <= g->len - at)
		memcpy((char *)g->dst + at, it->data, it->len);
	else
		ub_bulk_spoilt(b, it->from);
}

/* ---- puts ---- */

static int take(struct ub_bulk *b, const struct ub_bulk_item *it)
{
	char *to;

	if (UB_BULK_KIND(it->what) == UB_BSP_HPGOT) {
		got(b, it, it->at);
		return 0;
	}
	to = memory(b, it, it->total);
	if (to)
		memcpy(to + it->at, it->data, it->len);
	return 0;
}

static inline void put(struct ub_bulk *b, const struct ub_bulk_item *it)
{
	char *to = memory(b, it, it->len);

	if (unlikely(!to))
		return;
	if (it->len == 8)
		memcpy(to, it->data, 8);
	else
		memcpy(to, it->data, it->len);
}

/* ---- what all do alike ---- */

static void hear(struct ub_bulk *b, const struct ub_bulk_item *it)
{
	const struct ub_bsp_alike *a = (const void *)it->data;
	struct ub_bsp *r = b->client;

	if (it->len < sizeof(*a) ||
	    (it->len - sizeof(*a)) / sizeof(a->op[0]) != a->nops ||
	    r->alike[it->from]) {
		ub_bulk_spoilt(b, it->from);
		return;
	}
	r->alike[it->from] = a;
	r->nalike++;
}

static void tell(struct ub_bsp *r)
{
	size_t ops = r->ops.n * sizeof(*r->ops.op);
	struct ub_bsp_alike *a;
	uint32_t p;

	for (p = 0; p < r->n; p++) {
		if (p == r->pid)
			continue;
		a = ub_bulk_post(r->b, p, UB_BULK_WHAT(UB_BSP_ALIKE, 0), 0,
				 sizeof(*a) + ops);
		if (!a)
			ub_bsp_die(r->call, "no memory");
		*a = (struct ub_bsp_alike){
			.tag = r->q->next, .flags = r->flags, .nops = r->ops.n,
		};
		if (ops)
			memcpy(a->op, r->ops.op, ops);
	}
}

static const char *op_call(const struct ub_bsp_op *op)
{
	return op->what == UB_BSP_PUSH || op->what == UB_BSP_PUSH_NULL ?
	       "bsp_push_reg()" : "bsp_pop_reg()";
}

/* How the step ends and what tags there are. */
static void compare_flags(const struct ub_bsp *r, uint32_t p,
			  const struct ub_bsp_alike *a)
{
	uint32_t differ = (a ? a->flags : 0) ^ r->flags;

	if (differ & UB_BSP_END) {
		if (r->flags & UB_BSP_END)
			ub_bsp_die(r->call, "process %u is in bsp_sync() instead", p);
		ub_bsp_die(r->call, "process %u is in %s instead", p,
			   r->outer ? "ub_bsp_leave()" : "bsp_end()");
	}
	if (differ & UB_BSP_TAG)
		ub_bsp_die("bsp_set_tagsize",
			   "process %u called it in this superstep and process %u did not",
			   r->flags & UB_BSP_TAG ? r->pid : p,
			   r->flags & UB_BSP_TAG ? p : r->pid);
	if (r->flags & UB_BSP_TAG && a->tag != r->q->next)
		ub_bsp_die("bsp_set_tagsize",
			   "the size is %zu, but process %u gave %llu", r->q->next,
			   p, (unsigned long long)a->tag);
}

static void compare_ops(const struct ub_bsp *r, uint32_t p,
			const struct ub_bsp_alike *a)
{
	uint32_t n = a ? a->nops : 0, k;

	for (k = 0; k < n || k < r->ops.n; k++) {
		const char *mine = k < r->ops.n ? op_call(&r->ops.op[k]) : NULL;
		const char *theirs = k < n ? op_call(&a->op[k]) : NULL;

		if (mine && theirs && !strcmp(mine, theirs))
			continue;
		ub_bsp_die(r->call,
			   "as call %u of bsp_push_reg() and bsp_pop_reg() in this superstep process %u made %s, this process %s",
			   k + 1, p, theirs ? theirs : "none", mine ? mine : "none");
	}
}

static void compare(struct ub_bsp *r)
{
	uint32_t p;

	for (p = 0; p < r->n; p++) {
		if (p == r->pid)
			continue;
		compare_flags(r, p, r->alike[p]);
		compare_ops(r, p, r->alike[p]);
	}
	ub_bsp_register(r);
	memset(r->alike, 0, r->n * sizeof(*r->alike));
	r->nalike = 0;
}

/* ---- the step ---- */

static int deliver(struct ub_bulk *b)
{
	struct ub_bsp *r = b->client;
	struct ub_bulk_iter i = { 0 };
	struct ub_bulk_item it;
	int err = 0;

	if (r->ngot)
		while (ub_bulk_next(b, &i, &it))
			if (UB_BULK_KIND(it.what) == UB_BSP_GOT)
				got(b, &it, 0);
	ub_queue_reset(r->q);
	i = (struct ub_bulk_iter){ 0 };
	while (ub_bulk_next(b, &i, &it)) {
		uint32_t kind = UB_BULK_KIND(it.what);

		if (kind == UB_BSP_PUT)
			put(b, &it);
		else if (kind == UB_KIND_MSG)
			err = err ? err : ub_queue_count(b, r->q, &it);
		else if (kind == UB_BSP_ALIKE)
			hear(b, &it);
	}
	r->ngot = 0;
	return err;
}

static bool closing(struct ub_bulk *b)
{
	struct ub_bsp *r = b->client;

	ub_queue_reset(r->q);
	return ub_queue_close(r->q);
}

const struct ub_bulk_ops ub_bsp_bulk_ops = {
	.takes = UB_BSP_TAKES,
	.take = take,
	.answer = answer,
	.deliver = deliver,
	.close = closing,
};

void ub_bsp_step(struct ub_bsp *r, const char *call)
{
	bool told = r->ops.n || r->flags;
	int err;

	r->call = call;
	if (unlikely(told))
		tell(r);
	err = ub_sync(r->s);
	if (unlikely(err))
		ub_bsp_failed(call, err);
	if (unlikely(told || r->nalike))
		compare(r);
	r->flags = 0;
}
