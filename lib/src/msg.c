// SPDX-License-Identifier: MIT
/*
 * Bulk-synchronous messages: what is sent in a superstep of a scope is in the
 * receiver's queue in the next one, and gone in the one after that.
 *
 * The queue is where the records are (bulk.h); reading it copies nothing.
 */
#include "msg.h"
#include <stdlib.h>

bool ub_queue_close(struct ub_queue *q)
{
	q->was = q->tag;
	q->tag = q->next;
	return q->was != q->tag;
}

void ub_queue_reset(struct ub_queue *q)
{
	q->iter = (struct ub_bulk_iter){ 0 };
	q->here = false;
	q->count = 0;
	q->bytes = 0;
}

int ub_queue_count(struct ub_bulk *b, struct ub_queue *q,
		   const struct ub_bulk_item *it)
{
	if (UB_BULK_KIND(it->what) != UB_KIND_MSG)
		return 0;
	if (unlikely(it->arg != q->was))
		return ub_fail(-EINVAL,
			       "%s: rank %u sent a message with a tag of %llu bytes, this member expects %zu; tag sizes are set by all alike",
			       b->s->level_name, it->from,
			       (unsigned long long)it->arg, q->was);
	if (unlikely(it->len < ub_msg_tag_room(it->arg))) {
		ub_bulk_spoilt(b, it->from);
		return 0;
	}
	q->count++;
	q->bytes += ub_msg_len(it);
	return 0;
}

int ub_queue_send(struct ub_bulk *b, struct ub_queue *q, uint32_t rank,
		  const void *tag, const void *payload, size_t len)
{
	size_t room = ub_msg_tag_room(q->tag);
	char *to = ub_bulk_post16(b, rank, UB_BULK_WHAT(UB_KIND_MSG, 0), q->tag,
				  room + len);

	if (unlikely(!to))
		return -ENOMEM;
	if (q->tag)
		memcpy(to, tag, q->tag);
	if (len)
		memcpy(to + room, payload, len);
	return 0;
}

const struct ub_bulk_item *ub_queue_front(struct ub_bulk *b, struct ub_queue *q)
{
	while (q->count && !q->here && ub_bulk_next(b, &q->iter, &q->item))
		q->here = UB_BULK_KIND(q->item.what) == UB_KIND_MSG &&
			  q->item.arg == q->was &&
			  q->item.len >= ub_msg_tag_room(q->was);
	return q->here ? &q->item : NULL;
}

void ub_queue_pop(struct ub_queue *q)
{
	q->here = false;
	q->count--;
	q->bytes -= ub_msg_len(&q->item);
}

/* ---- a scope's ---- */

static int deliver(struct ub_bulk *b)
{
	struct ub_bulk_iter i = { 0 };
	struct ub_bulk_item it;
	int err = 0, bad;

	ub_queue_reset(b->s->queue);
	while (ub_bulk_next(b, &i, &it)) {
		bad = ub_queue_count(b, b->s->queue, &it);
		err = err ? err : bad;
	}
	return err;
}

static bool closing(struct ub_bulk *b)
{
	ub_queue_reset(b->s->queue);
	return ub_queue_close(b->s->queue);
}

static const struct ub_bulk_ops msg_ops = {
	.deliver = deliver,
	.close = closing,
};

int ub_msg_bulk(struct ub_scope *s)
{
	if (!s->queue)
		s->queue = calloc(1, sizeof(*s->queue));
	if (s->queue && !s->bulk)
		s->bulk = ub_bulk_new(s, &msg_ops, NULL, &s->notes);
	return s->bulk ? 0 : ub_fail(-ENOMEM, "no memory");
}

int ub_msg_client(struct ub_scope *s, const struct ub_bulk_ops *ops, void *client)
{
	int err = ub_msg_bulk(s);

	if (err)
		return err;
	s->bulk->ops = ops ? ops : &msg_ops;
	s->bulk->client = client;
	*s->queue = (struct ub_queue){ 0 };
	return 0;
}

/* Enter a call on the scope's messages; -ENOMSG where @need and there is none. */
static int enter(struct ub_scope *s, const char *call, bool need)
{
	int err;

	if (!s)
		return ub_fail(-EINVAL, "%s(): the scope is NULL", call);
	err = ub_scope_begin(s, call);
	if (err)
		return err;
	err = ub_msg_bulk(s);
	if (!err && need && !ub_queue_front(s->bulk, s->queue))
		err = ub_fail(-ENOMSG, "%s: %s(): no message is left",
			      s->level_name, call);
	if (err)
		ub_scope_end(s);
	return err;
}

int ub_set_tagsize(struct ub_scope *s, size_t *bytes)
{
	size_t old;
	int err;

	if (!bytes || *bytes > UB_TAG_MAX)
		return ub_fail(-EINVAL, "ub_set_tagsize(): %s",
			       bytes ? "above 1 GiB" : "no size is given");
	err = enter(s, "ub_set_tagsize", false);
	if (err)
		return err;
	old = s->queue->next;
	s->queue->next = *bytes;
	*bytes = old;
	s->notes |= UB_BULK_TELL;
	ub_scope_end(s);
	return 0;
}

int ub_send(struct ub_scope *s, int rank, const void *tag, const void *payload,
	    size_t len)
{
	int err = enter(s, "ub_send", false);

	if (err)
		return err;
	if (rank < 0 || (uint32_t)rank >= s->n)
		err = ub_fail(-EINVAL, "ub_send(): rank %d; %s has 0 to %u", rank,
			      s->level_name, s->n - 1);
	else if ((!tag && s->queue->tag) || (!payload && len))
		err = ub_fail(-EINVAL, "ub_send(): %s is NULL",
			      payload || !len ? "the tag" : "the payload");
	else if (len > PTRDIFF_MAX / 2)
		err = ub_fail(-EINVAL, "ub_send(): %zu bytes", len);
	else if (ub_queue_send(s->bulk, s->queue, rank, tag, payload, len))
		err = ub_fail(-ENOMEM, "ub_send(): no memory for %zu bytes", len);
	ub_scope_end(s);
	return err;
}

int ub_qsize(struct ub_scope *s, size_t *messages, size_t *bytes)
{
	int err = enter(s, "ub_qsize", false);

	if (err)
		return err;
	if (messages)
		*messages = s->queue->count;
	if (bytes)
		*bytes = s->queue->bytes;
	ub_scope_end(s);
	return 0;
}

int ub_get_tag(struct ub_scope *s, size_t *len, void *tag)
{
	int err = enter(s, "ub_get_tag", true);

	if (err)
		return err;
	if (len)
		*len = ub_msg_len(&s->queue->item);
	if (tag)
		memcpy(tag, s->queue->item.data, s->queue->item.arg);
	ub_scope_end(s);
	return 0;
}

int ub_move(struct ub_scope *s, void *payload, size_t room)
{
	int err = enter(s, "ub_move", true);
	size_t len;

	if (err)
		return err;
	len = ub_msg_len(&s->queue->item);
	if (len > room)
		len = room;
	if (len && payload)
		memcpy(payload, ub_msg_payload(&s->queue->item), len);
	if (len && !payload)
		err = ub_fail(-EINVAL, "ub_move(): no place for the payload");
	else
		ub_queue_pop(s->queue);
	ub_scope_end(s);
	return err;
}

int ub_hpmove(struct ub_scope *s, const void **tag, const void **payload,
	      size_t *len)
{
	int err = enter(s, "ub_hpmove", true);

	if (err)
		return err;
	if (tag)
		*tag = s->queue->item.data;
	if (payload)
		*payload = ub_msg_payload(&s->queue->item);
	if (len)
		*len = ub_msg_len(&s->queue->item);
	ub_queue_pop(s->queue);
	ub_scope_end(s);
	return 0;
}
