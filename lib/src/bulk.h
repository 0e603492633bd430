/* SPDX-License-Identifier: MIT */
/*
 * Records handed over at a barrier: the one mechanism under ub_send() and bsp.h.
 *
 * What a member posts in a superstep the receivers have after the barrier that
 * ends it, by rising rank of the sender and then in the order of the calls.
 *
 *	ub_bulk_post()		any number of times, to any rank
 *	notes = ub_bulk_close()	hand over what fits
 *	a barrier that or-s every member's notes, see UB_AUX_NOTE()
 *	ub_bulk_run()		if the or is not 0: further rounds, answers, delivery
 *	ub_bulk_next()		read what came, until the next barrier
 *
 * ub_sync() and its relatives do the three in the middle for s->bulk, the
 * user's. A collective may have a bulk of its own and call them with barriers
 * of its own (ub_sync_noted()); those of the user's are then left alone.
 *
 * Where records lie. Each member has a window with three slots for each sender,
 * used by turns: slot x % 3 of exchange x is written in the superstep before
 * exchange x and read until its reader arrives at exchange x + 2, so that a
 * superstep with answers (two exchanges) reads both in place. Where memory is
 * shared senders write straight into the slot; else into private memory, which
 * close() puts there. Nobody ever reads a peer's memory, so a sender may leave
 * or die when the barrier is over.
 *
 * What does not fit waits in private chunks and goes in further rounds, one
 * barrier each; before the first of these the members agree on a larger slot.
 * The window is made and grown in that same way, so there is none at first.
 *
 * Only members of one job write here, but a record is checked before it is used:
 * a member that writes nonsense cannot make another one touch other memory.
 */
#ifndef UB_BULK_H
#define UB_BULK_H

#include <string.h>
#include "internal.h"

/* The notes. Uniform: all members see the or of all. */
#define UB_BULK_MAIL	1	/* somebody has records in slots */
#define UB_BULK_MORE	2	/* somebody has more than fits: another round */
#define UB_BULK_ASK	4	/* somebody wants answers: another exchange */
/* In the same word, but never told to others. */
#define UB_BULK_HELD	16	/* what came in is still here */
#define UB_BULK_TELL	32	/* ->close() wants to know of the next barrier */

#define UB_BULK_TURNS	3

/**
 * struct ub_bulk_rec - a record's header, as it lies in a slot
 * @len: bytes that follow, then padded to 8
 * @what: UB_BULK_WHAT()
 * @arg: the client's
 */
struct ub_bulk_rec {
	uint32_t len;
	uint32_t what;
	uint64_t arg;
};

/* {id:24, piece:1, brief:1, spare:2, kind:4}; kind and id are the client's, kind
 * from 1. */
#define UB_BULK_WHAT(kind, id)	((uint32_t)(id) << 8 | (kind))
#define UB_BULK_KIND(what)	((what) & 15)
#define UB_BULK_ID(what)	((what) >> 8)
/* A part of a large record: the payload begins with struct ub_bulk_piece. */
#define UB_BULK_PIECE		0x80
/* A header of 8 bytes, where the numbers are small: "arg" in the place of "len",
 * and "what" is {id:12, len:12, flags and kind:8}. */
#define UB_BULK_BRIEF		0x40

struct ub_bulk_piece {
	uint64_t total;
	uint64_t at;
};

/**
 * struct ub_bulk_item - a record, as the receiver gets it
 * @data: payload, aligned to 8 (ub_bulk_post16(): to 16)
 * @at: for records that are taken at once and came in pieces: where in @total
 */
struct ub_bulk_item {
	const char *data;
	size_t len;
	uint64_t arg;
	uint32_t what;
	uint32_t from;
	size_t at;
	size_t total;
};

struct ub_bulk;

/**
 * struct ub_bulk_ops - what the client of a bulk does, the same on all members
 * @takes: mask of kinds that @take gets, in any order, before all others and,
 *	where they are large, in pieces; ub_bulk_next() does not show them
 * @take: use a record at once
 * @answer: somebody asked (UB_BULK_ASK); every record is here: post answers.
 *	NULL: never
 * @deliver: every record and answer is here
 * @close: what came in goes (UB_BULK_HELD), or UB_BULK_TELL was set; true: set it
 *	again
 *
 * Errors do not stop the protocol; the first comes out of ub_bulk_run().
 */
struct ub_bulk_ops {
	uint32_t takes;
	int (*take)(struct ub_bulk *b, const struct ub_bulk_item *it);
	int (*answer)(struct ub_bulk *b);
	int (*deliver)(struct ub_bulk *b);
	bool (*close)(struct ub_bulk *b);
};

/* A slot: this head, then records. */
struct ub_bulk_head {
	uint64_t stamp;		/* number of the exchange */
	uint32_t bytes;		/* of records, a multiple of 8 */
	uint32_t flags;		/* UB_BULK_WALK: pieces, or records for @take */
};

#define UB_BULK_WALK	1

/**
 * struct ub_bulk_chunk - a run of whole records, or one large record
 * @data: where they are; of a large record: its payload
 * @bytes: of that
 * @cap: room in @mem, after its head; 0: @data lies elsewhere
 * @done: of a large record's bytes, how many are handed over, or are here
 * @rec: of a large record
 * @large: one large record
 * @mem: room for a slot's head, then @cap bytes
 */
struct ub_bulk_chunk {
	struct ub_bulk_chunk *next;
	char *data;
	size_t bytes;
	size_t cap;
	size_t done;
	struct ub_bulk_rec rec;
	bool large;
	struct ub_bulk_head mem[] __attribute__((aligned(16)));
};

struct ub_bulk_list {
	struct ub_bulk_chunk *first;
	struct ub_bulk_chunk *last;
};

/**
 * struct ub_bulk_out - records for one receiver
 * @at: where the next one goes, up to @end; both NULL: nothing is open
 * @end: of the open slot or chunk
 * @base: first record there
 * @slotted: bytes in the receiver's slot, once that is no longer open
 * @flags: for the slot's head
 * @direct: what is open is the receiver's slot, else the last of @wait
 * @listed: is in bulk->touched
 * @wait: private chunks
 */
struct ub_bulk_out {
	char *at;
	char *end;
	char *base;
	size_t slotted;
	uint32_t flags;
	bool direct;
	bool listed;
	struct ub_bulk_list wait;
};

enum ub_bulk_phase {
	UB_BULK_IDLE,
	UB_BULK_COLLECT,
	UB_BULK_NEEDS,
	UB_BULK_GROW,
	UB_BULK_PUSH,
	UB_BULK_BARRIER,
	UB_BULK_ANSWER,
	UB_BULK_DELIVER,
};

/**
 * struct ub_bulk - records of one scope
 * @s: the scope
 * @ops: of the client, and @client: its data
 * @notes: word where posting and what is held note themselves
 * @out: for each rank
 * @touched: ranks that something was posted to
 * @turn: number of the next exchange
 * @win: window with the slots, or NULL
 * @slot: bytes of one, head included
 * @most: that it may grow to; 0: not known yet
 * @in: what came from each rank
 * @part: the large record of it that is not complete, or NULL
 * @inplace: chunks for slots that are read in place, by turn and rank
 * @spare: free chunks of the size of a slot, @nspare
 * @phase: where ub_bulk_run() goes on after a time-out
 * @seen: notes of the last barrier
 * @ask: somebody wants answers
 * @want: bytes of the slots to come
 * @copied: nothing is in place, for further rounds
 * @give: notes for the barrier to come
 * @need: most bytes for one receiver in this exchange
 * @err: first error of this exchange
 * @full: result of the user's reduction, meanwhile
 */
struct ub_bulk {
	struct ub_scope *s;
	const struct ub_bulk_ops *ops;
	void *client;
	uint32_t *notes;
	struct ub_bulk_out *out;
	uint32_t *touched;
	uint32_t ntouched;
	uint64_t turn;
	struct ub_win *win;
	size_t slot;
	size_t most;
	struct ub_bulk_list *in;
	struct ub_bulk_chunk **part;
	struct ub_bulk_chunk *inplace;
	struct ub_bulk_chunk *spare;
	uint32_t nspare;
	enum ub_bulk_phase phase;
	uint32_t seen;
	bool ask;
	bool copied;
	uint64_t want;
	uint32_t give;
	size_t need;
	int err;
	uint64_t full;
};

/**
 * ub_bulk_new() - records on a scope; not collective
 * @s: the scope
 * @ops: of the client
 * @client: for it
 * @notes: a word of notes to be; all zero. ub_bulk_post() sets UB_BULK_MAIL in
 *	it, the client UB_BULK_ASK, close() UB_BULK_MORE
 */
struct ub_bulk *ub_bulk_new(struct ub_scope *s, const struct ub_bulk_ops *ops,
			    void *client, uint32_t *notes);
/** ub_bulk_free() - not collective; @used: peers may still write to the slots */
void ub_bulk_free(struct ub_bulk *b, bool used);

/** ub_bulk_open() - a record where there was no room for it; NULL: no memory */
void *ub_bulk_open(struct ub_bulk *b, uint32_t rank, uint32_t what,
		   uint64_t arg, size_t len);

/**
 * ub_bulk_post() - a record for @rank, which may be the own one
 * @what: UB_BULK_WHAT()
 * @arg: the client's
 * @len: of the payload; at most PTRDIFF_MAX - 64
 * Return: where to put the payload, or NULL: no memory.
 */
static inline void *ub_bulk_post(struct ub_bulk *b, uint32_t rank,
				 uint32_t what, uint64_t arg, size_t len)
{
	struct ub_bulk_out *o = &b->out[rank];
	size_t need = sizeof(struct ub_bulk_rec) + ((len + 7) & ~(size_t)7);
	struct ub_bulk_rec *r = (struct ub_bulk_rec *)o->at;

	if (unlikely(need > (size_t)(o->end - o->at)))
		return ub_bulk_open(b, rank, what, arg, len);
	if (likely(!((len | UB_BULK_ID(what)) >> 12 | arg >> 32))) {
		o->at += need - 8;
		r->len = arg;
		r->what = UB_BULK_ID(what) << 20 | (uint32_t)len << 8 |
			  UB_BULK_BRIEF | UB_BULK_KIND(what);
		return &r->arg;
	}
	o->at += need;
	*r = (struct ub_bulk_rec){ .len = len, .what = what, .arg = arg };
	return r + 1;
}

/** ub_bulk_post16() - the same with the payload aligned to 16 at the receiver */
void *ub_bulk_post16(struct ub_bulk *b, uint32_t rank, uint32_t what,
		     uint64_t arg, size_t len);

/**
 * ub_bulk_post_ref() - the same for @src, which is copied at once or, when it
 * does not fit, later: it stays as it is until ub_bulk_run() is done, or in
 * ->answer() until ->deliver(). Records for ->take() go this way.
 * Return: 0 or -ENOMEM
 */
int ub_bulk_post_ref(struct ub_bulk *b, uint32_t rank, uint32_t what,
		     uint64_t arg, const void *src, size_t len);

/**
 * ub_bulk_close() - before arriving: what came last time is gone, what was
 * posted is handed over as far as it fits
 * Return: notes for the barrier; those that are told are 0 again in *b->notes.
 */
uint32_t ub_bulk_close(struct ub_bulk *b);

/* ---- between bulk.c and bulk_run.c ---- */
/** ub_bulk_push() - hand over as much as fits; notes for the barrier */
uint32_t ub_bulk_push(struct ub_bulk *b);
/** ub_bulk_chunk() - an empty one, or NULL */
struct ub_bulk_chunk *ub_bulk_chunk(struct ub_bulk *b, size_t cap);
void ub_bulk_append(struct ub_bulk_list *l, struct ub_bulk_chunk *c);
void ub_bulk_drop(struct ub_bulk *b, struct ub_bulk_list *l);
/** ub_bulk_slot() - own slot for records of @from in this turn */
const struct ub_bulk_head *ub_bulk_slot(const struct ub_bulk *b, uint32_t from);

/* ---- coming in ---- */
/**
 * ub_bulk_run() - after a barrier whose notes or to @seen, not 0
 *
 * Inside a call on the scope. After -ETIMEDOUT call it again instead of the
 * barrier; b->phase is not UB_BULK_IDLE then and @seen does not count.
 * Return: 0; an error of the barriers in it; else the first error of this
 *	member: the client's, or -ENOMEM, -EPROTO: records are missing
 */
int ub_bulk_run(struct ub_bulk *b, uint32_t seen);

/**
 * struct ub_bulk_iter - where reading stands; all zero at first
 * @at: next record of those up to @end
 * @large: a large record comes next
 * @chunk: the one that is read, of rank @from
 */
struct ub_bulk_iter {
	const char *at;
	const char *end;
	const struct ub_bulk_chunk *large;
	const struct ub_bulk_chunk *chunk;
	uint32_t from;
};

/** ub_bulk_page() - go on to the next chunk; false: there is none */
bool ub_bulk_page(struct ub_bulk *b, struct ub_bulk_iter *i);
/** ub_bulk_spoilt() - rank @from wrote nonsense: pass over the rest of it */
void ub_bulk_spoilt(struct ub_bulk *b, uint32_t from);

/* The next record in a chunk, checked; false: that was the last. */
static inline bool ub_bulk_step(struct ub_bulk *b, struct ub_bulk_iter *i,
				struct ub_bulk_item *it)
{
	while (i->at < i->end) {
		const struct ub_bulk_rec *r = (const struct ub_bulk_rec *)i->at;
		size_t room = i->end - i->at;
		uint32_t len = *(const volatile uint32_t *)&r->len;
		uint32_t what = *(const volatile uint32_t *)&r->what;

		if (!UB_BULK_KIND(what)) {	/* filled up to 16 */
			i->at += 8;
			continue;
		}
		if (likely(what & UB_BULK_BRIEF)) {
			it->arg = len;
			it->len = what >> 8 & 0xfff;
			it->what = UB_BULK_WHAT(UB_BULK_KIND(what), what >> 20);
			it->from = i->from;
			it->data = (const char *)&r->arg;
			if (unlikely(it->len > room - 8))
				goto spoilt;
			i->at += 8 + ((it->len + 7) & ~(size_t)7);
			return true;
		}
		if (unlikely(room < sizeof(*r) || len > room - sizeof(*r))) {
spoilt:
			ub_bulk_spoilt(b, i->from);
			i->at = i->end;
			break;
		}
		i->at += sizeof(*r) + ((len + 7ULL) & ~7ULL);
		it->data = (const char *)(r + 1);
		it->len = len;
		it->what = what;
		it->arg = r->arg;
		it->from = i->from;
		return true;
	}
	return false;
}

/** ub_bulk_next() - the next record; false: that was the last */
static inline bool ub_bulk_next(struct ub_bulk *b, struct ub_bulk_iter *i,
				struct ub_bulk_item *it)
{
	do {
		while (ub_bulk_step(b, i, it))
			if (likely(!(it->what & UB_BULK_PIECE) &&
				   !(b->ops->takes >> UB_BULK_KIND(it->what) & 1)))
				return true;
		if (unlikely(i->large)) {
			*it = (struct ub_bulk_item){
				.data = i->large->data,
				.len = i->large->bytes,
				.what = i->large->rec.what,
				.arg = i->large->rec.arg,
				.from = i->from,
			};
			i->large = NULL;
			return true;
		}
	} while (ub_bulk_page(b, i));
	return false;
}

#endif /* UB_BULK_H */
