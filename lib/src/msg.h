/* SPDX-License-Identifier: MIT */
/* Queue of messages of a scope: what ub_send() and bsp_send() have in common. */
#ifndef UB_MSG_H
#define UB_MSG_H

#include "bulk.h"

#define UB_TAG_MAX	((size_t)1 << 30)	/* bytes of a tag */

/* Kinds of records in a scope's supersteps. */
enum ub_kind {
	UB_KIND_MSG = 1,	/* arg: bytes of the tag; tag, up to 16, payload */
	UB_KIND_CLIENT,		/* the first that is free for others */
};

/**
 * struct ub_queue - what came in, and tag sizes
 * @iter: reading; @item is the next message when @here
 * @count: messages that remain
 * @bytes: of their payloads
 * @was: tag size of what comes in
 * @tag: of what is sent in this superstep
 * @next: of what is sent in the next
 */
struct ub_queue {
	struct ub_bulk_iter iter;
	struct ub_bulk_item item;
	bool here;
	size_t count;
	size_t bytes;
	size_t was;
	size_t tag;
	size_t next;
};

/** ub_queue_close() - the superstep ends; true: call it at the next end, too */
bool ub_queue_close(struct ub_queue *q);
/** ub_queue_reset() - read from the first record on; nothing is counted yet */
void ub_queue_reset(struct ub_queue *q);
/** ub_queue_count() - a record came: count it if it is a message; 0 or -EINVAL */
int ub_queue_count(struct ub_bulk *b, struct ub_queue *q,
		   const struct ub_bulk_item *it);
/** ub_queue_send() - 0 or -ENOMEM */
int ub_queue_send(struct ub_bulk *b, struct ub_queue *q, uint32_t rank,
		  const void *tag, const void *payload, size_t len);
/** ub_queue_front() - the first message, or NULL */
const struct ub_bulk_item *ub_queue_front(struct ub_bulk *b, struct ub_queue *q);
/** ub_queue_pop() - remove it */
void ub_queue_pop(struct ub_queue *q);

/**
 * ub_msg_client() - the scope's records are of @ops; NULL: messages alone
 *
 * Between two supersteps, by all members, with nothing posted. Queue and tag size
 * begin anew; what @ops do with records of UB_KIND_MSG is s->queue's.
 */
int ub_msg_client(struct ub_scope *s, const struct ub_bulk_ops *ops, void *client);

static inline size_t ub_msg_tag_room(size_t tag)
{
	return (tag + 15) & ~(size_t)15;
}

static inline const char *ub_msg_payload(const struct ub_bulk_item *m)
{
	return m->data + ub_msg_tag_room(m->arg);
}

static inline size_t ub_msg_len(const struct ub_bulk_item *m)
{
	return m->len - ub_msg_tag_room(m->arg);
}

#endif /* UB_MSG_H */
