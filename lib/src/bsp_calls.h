/* SPDX-License-Identifier: MIT */
/*
 * The calls of bsp.h whose types differ between the dialects: this file is
 * compiled once for each, by bsp_classic.c and bsp_size_t.c.
 *
 * Here a negative number of the classic dialect and one beyond the half of size_t
 * are the same thing: not a size.
 */
#include "bsp.h"
#include "bsp_section.h"
#include <limits.h>

#define BSP_NOTHING	((bsp_size_t)-1)
/* Numbers above it do not fit the dialect's type. */
#define BSP_MOST	(sizeof(bsp_size_t) == sizeof(int) ? (size_t)INT_MAX : SIZE_MAX)

static inline struct ub_bsp *section(const char *call)
{
	if (unlikely(!ub_bsp_now))
		ub_bsp_outside(call);
	return ub_bsp_now;
}

static void __attribute__((cold, noreturn))
bad_pid(const struct ub_bsp *r, const char *call, bsp_pid_t pid)
{
	ub_bsp_die(call, "the process id is %lld; there are 0 to %u",
		   (long long)pid, r->n - 1);
}

static void __attribute__((cold, noreturn))
bad_size(const char *call, const char *what, bsp_size_t size)
{
	ub_bsp_die(call, "the %s %lld is negative", what, (long long)size);
}

static void __attribute__((cold, noreturn)) null(const char *call, const char *what)
{
	ub_bsp_die(call, "%s is NULL", what);
}

static size_t fitting(const char *call, const char *what, size_t n)
{
	if (n > BSP_MOST)
		ub_bsp_die(call, "%s %zu does not fit an int; use the size_t dialect (UB_BSP_SIZE_T)",
			   what, n);
	return n;
}

/* ---- the section ---- */

void bsp_begin(bsp_pid_t max)
{
	ub_bsp_begin(max);
}

bsp_nprocs_t bsp_nprocs(void)
{
	return ub_bsp_nprocs();
}

bsp_pid_t bsp_pid(void)
{
	return section("bsp_pid")->pid;
}

/* ---- memory ---- */

void bsp_push_reg(const void *ident, bsp_size_t size)
{
	ub_bsp_push(section("bsp_push_reg"), ident, (int64_t)size);
}

void bsp_pop_reg(const void *ident)
{
	ub_bsp_pop(section("bsp_pop_reg"), ident);
}

static void __attribute__((cold, noreturn))
bad_area(struct ub_bsp *r, const char *call, bsp_pid_t pid, const void *ident,
	 bsp_size_t off, bsp_size_t n)
{
	const struct ub_bsp_slot *s = ub_bsp_find(r, ident);

	if ((int64_t)off < 0)
		bad_size(call, "offset", off);
	if (!s)
		ub_bsp_die(call, "the address %p is not registered%s", ident,
			   ident ? ", or only since this superstep" : "");
	ub_bsp_die(call, "%lld bytes at offset %lld, but process %u registered %zu",
		   (long long)n, (long long)off, (unsigned int)pid, s->sizes[pid]);
}

/* Checks what put and get have in common; the slot of the area. */
static inline uint32_t area(struct ub_bsp *r, const char *call, bsp_pid_t pid,
			    const void *ident, bsp_size_t off, bsp_size_t n,
			    const void *local)
{
	const struct ub_bsp_slot *s;

	if (unlikely((uint32_t)pid >= r->n))
		bad_pid(r, call, pid);
	if (unlikely((int64_t)n < 0))
		bad_size(call, "number of bytes", n);
	s = ub_bsp_lookup(r, ident);
	if (unlikely(!s || (uint64_t)(int64_t)off > s->sizes[pid] ||
		     (size_t)n > s->sizes[pid] - (size_t)off))
		bad_area(r, call, pid, ident, off, n);
	if (unlikely(!local))
		null(call, "the own buffer");
	return s - r->slot;
}

void bsp_put(bsp_pid_t pid, const void *src, const void *dst, bsp_size_t offset,
	     bsp_size_t nbytes)
{
	struct ub_bsp *r = section("bsp_put");
	uint32_t slot;
	void *to;

	if (!nbytes)
		return;
	slot = area(r, "bsp_put", pid, dst, offset, nbytes, src);
	to = ub_bulk_post(r->b, pid, UB_BULK_WHAT(UB_BSP_PUT, slot), offset, nbytes);
	if (unlikely(!to))
		ub_bsp_die("bsp_put", "no memory for %lld bytes", (long long)nbytes);
	if (nbytes == 8)
		memcpy(to, src, 8);
	else
		memcpy(to, src, nbytes);
}

void bsp_hpput(bsp_pid_t pid, const void *src, const void *dst, bsp_size_t offset,
	       bsp_size_t nbytes)
{
	struct ub_bsp *r = section("bsp_hpput");
	uint32_t slot;

	if (!nbytes)
		return;
	slot = area(r, "bsp_hpput", pid, dst, offset, nbytes, src);
	if (ub_bulk_post_ref(r->b, pid, UB_BULK_WHAT(UB_BSP_HPPUT, slot), offset,
			     src, nbytes))
		ub_bsp_die("bsp_hpput", "no memory");
}

void bsp_get(bsp_pid_t pid, const void *src, bsp_size_t offset, void *dst,
	     bsp_size_t nbytes)
{
	struct ub_bsp *r = section("bsp_get");

	if (!nbytes)
		return;
	ub_bsp_ask(r, "bsp_get", pid,
		   area(r, "bsp_get", pid, src, offset, nbytes, dst), offset, dst,
		   nbytes, false);
}

void bsp_hpget(bsp_pid_t pid, const void *src, bsp_size_t offset, void *dst,
	       bsp_size_t nbytes)
{
	struct ub_bsp *r = section("bsp_hpget");

	if (!nbytes)
		return;
	ub_bsp_ask(r, "bsp_hpget", pid,
		   area(r, "bsp_hpget", pid, src, offset, nbytes, dst), offset, dst,
		   nbytes, true);
}

/* ---- messages ---- */

void bsp_set_tagsize(bsp_size_t *tag_nbytes)
{
	struct ub_bsp *r = section("bsp_set_tagsize");
	size_t old = r->q->next;

	if (!tag_nbytes)
		null("bsp_set_tagsize", "the size");
	if ((int64_t)*tag_nbytes < 0)
		bad_size("bsp_set_tagsize", "size", *tag_nbytes);
	if ((size_t)*tag_nbytes > UB_TAG_MAX)
		ub_bsp_die("bsp_set_tagsize", "the size %zu is above 1 GiB",
			   (size_t)*tag_nbytes);
	r->q->next = *tag_nbytes;
	r->flags |= UB_BSP_TAG;
	*r->b->notes |= UB_BULK_TELL;
	*tag_nbytes = fitting("bsp_set_tagsize", "the former size", old);
}

void bsp_send(bsp_pid_t pid, const void *tag, const void *payload, bsp_size_t nbytes)
{
	struct ub_bsp *r = section("bsp_send");

	if (unlikely((uint32_t)pid >= r->n))
		bad_pid(r, "bsp_send", pid);
	if (unlikely((int64_t)nbytes < 0))
		bad_size("bsp_send", "number of bytes", nbytes);
	if (unlikely(!payload && nbytes))
		null("bsp_send", "the payload");
	if (unlikely(!tag && r->q->tag))
		null("bsp_send", "the tag");
	if (unlikely(ub_queue_send(r->b, r->q, pid, tag, payload, nbytes)))
		ub_bsp_die("bsp_send", "no memory for %lld bytes", (long long)nbytes);
}

void bsp_qsize(bsp_nprocs_t *nmessages, bsp_size_t *accum_nbytes)
{
	struct ub_bsp *r = section("bsp_qsize");

	if (!nmessages)
		null("bsp_qsize", "the place for the number of messages");
	if (!accum_nbytes)
		null("bsp_qsize", "the place for the number of bytes");
	*nmessages = r->q->count;
	*accum_nbytes = fitting("bsp_qsize", "the number of bytes", r->q->bytes);
}

void bsp_get_tag(bsp_size_t *status, void *tag)
{
	struct ub_bsp *r = section("bsp_get_tag");
	const struct ub_bulk_item *m = ub_queue_front(r->b, r->q);

	if (!status)
		null("bsp_get_tag", "the place for the status");
	if (!m) {
		*status = BSP_NOTHING;
		return;
	}
	if (!tag && m->arg)
		null("bsp_get_tag", "the place for the tag");
	*status = fitting("bsp_get_tag", "the payload's length", ub_msg_len(m));
	if (m->arg)
		memcpy(tag, m->data, m->arg);
}

void bsp_move(void *payload, bsp_size_t max)
{
	struct ub_bsp *r = section("bsp_move");
	const struct ub_bulk_item *m = ub_queue_front(r->b, r->q);
	size_t len;

	if ((int64_t)max < 0)
		bad_size("bsp_move", "number of bytes", max);
	if (!m)
		ub_bsp_die("bsp_move", "the queue is empty");
	len = ub_msg_len(m) < (size_t)max ? ub_msg_len(m) : (size_t)max;
	if (len && !payload)
		null("bsp_move", "the place for the payload");
	if (len)
		memcpy(payload, ub_msg_payload(m), len);
	ub_queue_pop(r->q);
}

bsp_size_t bsp_hpmove(void **tag, void **payload)
{
	struct ub_bsp *r = section("bsp_hpmove");
	const struct ub_bulk_item *m = ub_queue_front(r->b, r->q);
	size_t len;

	if (!tag)
		null("bsp_hpmove", "the place for the tag's address");
	if (!payload)
		null("bsp_hpmove", "the place for the payload's address");
	if (!m)
		return BSP_NOTHING;
	len = fitting("bsp_hpmove", "the payload's length", ub_msg_len(m));
	*tag = (void *)m->data;
	*payload = (void *)ub_msg_payload(m);
	ub_queue_pop(r->q);
	return len;
}
