// SPDX-License-Identifier: MIT
/*
 * Another block for everybody: alltoall and scatter.
 *
 * A member's blocks are one stream, in steps of as much as a buffer holds. The
 * stream's i-th block is for member i - rank, modulo the members, so that two
 * members have the blocks for each other at the same place: everybody works on
 * another partner, and where all blocks have one size a received piece lands on
 * bytes that left in the same step, in place. A table in front of the buffer
 * tells each receiver where its piece is.
 */
#include "coll.h"
#include <string.h>

/**
 * struct piece - what a step carries for one receiver
 * @at: in the buffer
 * @len: bytes
 * @off: in the block
 */
struct piece {
	uint32_t at;
	uint32_t len;
	uint64_t off;
};

/**
 * struct swap - a call
 * @call: its name
 * @s: scope
 * @in: own blocks; NULL: none
 * @in_size: bytes of the block for each; NULL: @bytes
 * @in_off: where each lies; NULL: one after the other
 * @out: blocks of the others
 * @out_size: room for the block of each; NULL: @bytes
 * @out_off: where; NULL: one after the other
 * @bytes: of a block
 * @root: the only one that gives, or -1
 * @room: bytes of a step
 */
struct swap {
	const char *call;
	struct ub_scope *s;
	const char *in;
	const size_t *in_size;
	const size_t *in_off;
	char *out;
	const size_t *out_size;
	const size_t *out_off;
	size_t bytes;
	int root;
	size_t room;
};

static bool gives(const struct swap *w, uint32_t rank)
{
	return w->root < 0 || (uint32_t)w->root == rank;
}

static size_t in_size(const struct swap *w, uint32_t rank)
{
	return w->in_size ? w->in_size[rank] : w->bytes;
}

static size_t in_off(const struct swap *w, uint32_t rank)
{
	return w->in_off ? w->in_off[rank] : rank * w->bytes;
}

static size_t out_size(const struct swap *w, uint32_t rank)
{
	return w->out_size ? w->out_size[rank] : w->bytes;
}

static char *out_of(const struct swap *w, uint32_t rank)
{
	if (w->root >= 0)
		return w->out;
	return w->out + (w->out_off ? w->out_off[rank] : rank * w->bytes);
}

/* The own block is a gap in the stream, for the symmetry. */
static void give(void *arg, size_t t)
{
	const struct swap *w = arg;
	uint32_t n = w->s->n, me = w->s->rank, i;
	char *buf = ub_coll_own(w->s, ub_coll_off(w->s, UB_GIVE));
	size_t table = n * sizeof(struct piece);
	size_t from = t * w->room, end = from + w->room, at = 0;

	if (!gives(w, me))
		return;
	for (i = 0; i < n; i++) {
		uint32_t to = (i + n - me) % n;
		size_t len = in_size(w, to), lo = ub_more(at, from);
		size_t hi = ub_less(at + len, end);
		struct piece p = { 0 };

		if (lo < hi && to != me) {
			p = (struct piece){
				.at = table + lo - from, .len = hi - lo,
				.off = lo - at,
			};
			memcpy(buf + p.at, w->in + in_off(w, to) + p.off, p.len);
		}
		memcpy(buf + to * sizeof(p), &p, sizeof(p));
		at += len;
	}
}

static int take_piece(struct swap *w, uint32_t rank)
{
	size_t buf = ub_coll_off(w->s, UB_GIVE), room = out_size(w, rank);
	struct piece p;
	int err = ub_coll_read(w->s, rank, buf + w->s->rank * sizeof(p), &p,
			       sizeof(p));

	if (err || !p.len)
		return err;
	if (p.at > UB_CHUNK || p.len > UB_CHUNK - p.at || p.off > room ||
	    p.len > room - p.off) {
		w->s->pending.misfit = rank + 1;
		return 0;
	}
	return ub_coll_read(w->s, rank, buf + p.at, out_of(w, rank) + p.off, p.len);
}

static int take(void *arg, size_t t)
{
	struct swap *w = arg;
	uint32_t n = w->s->n, i;
	int err = 0;

	(void)t;
	for (i = 1; !err && i < n; i++)
		if (gives(w, (w->s->rank + i) % n))
			err = take_piece(w, (w->s->rank + i) % n);
	return err;
}

static void place_own(const struct swap *w)
{
	uint32_t me = w->s->rank;
	const char *from;
	size_t len;

	if (!gives(w, me))
		return;
	len = ub_less(in_size(w, me), out_size(w, me));
	if (!len)
		return;
	from = w->in + in_off(w, me);
	if (from != out_of(w, me))
		memmove(out_of(w, me), from, len);
}

/* All of it in mailboxes; blocks have one size. */
static int small(const struct swap *w)
{
	size_t bytes = w->bytes;
	uint32_t me = w->s->rank, r;
	int err;

	if (!ub_again(w->s) && bytes && gives(w, me))
		memcpy(ub_mail(w->s), w->in, w->s->n * bytes);
	err = ub_exchange(w->s);
	for (r = 0; !err && bytes && r < w->s->n; r++)
		if (r != me && gives(w, r))
			memcpy(out_of(w, r), (const char *)ub_mail_of(w->s, r) +
			       me * bytes, bytes);
	return err;
}

/* @stream: bytes of the longest stream; @from: barriers of the call so far */
static int large(struct swap *w, size_t stream, size_t from)
{
	struct ub_steps st = { .from = from, .give = give, .take = take, .arg = w };
	int err = ub_coll_window(w->s);

	if (err)
		return err;
	w->room = UB_CHUNK - w->s->n * sizeof(struct piece);
	st.n = ub_ceil(stream, w->room);
	return ub_coll_run(w->s, &st);
}

static int finish(struct swap *w, int err)
{
	uint32_t bad = w->s->pending.misfit;

	if (err)
		return err;
	place_own(w);
	if (!bad)
		return 0;
	return ub_fail(-EINVAL,
		       "%s(): rank %u gives more than the %zu bytes that there is room for",
		       w->call, bad - 1, out_size(w, bad - 1));
}

/* Blocks of one size, which all know. */
static int equal(struct swap *w)
{
	size_t stream = w->s->n * w->bytes;
	int err = ub_scope_begin(w->s, w->call);

	if (err)
		return err;
	if (w->s->n == 1)
		err = ub_sync_inside(w->s);
	else if (stream <= UB_MAILBOX_BYTES)
		err = small(w);
	else
		err = large(w, stream, 0);
	return ub_coll_end(w->s, finish(w, err), w->bytes);
}

/* Blocks of any size: the first barrier tells the longest stream. */
static int unequal(struct swap *w)
{
	uint64_t stream = 0, longest;
	uint32_t r;
	int err;

	for (r = 0; gives(w, w->s->rank) && r < w->s->n; r++)
		stream += in_size(w, r);
	err = ub_scope_begin(w->s, w->call);
	if (err)
		return err;
	err = ub_coll_agree(w->s, stream, NULL, 0, &longest);
	if (!err && w->s->n > 1 && longest)
		err = large(w, longest, 1);
	return ub_coll_end(w->s, finish(w, err), stream);
}

/* ---- the calls ---- */

/* Do @n blocks fit memory, with a place where there are any? */
static int check_blocks(const char *call, uint32_t n, const void *data,
			const size_t *sizes, const size_t *offs)
{
	size_t sum = 0;
	uint32_t i;

	if (!sizes || !offs)
		return ub_coll_bad(call, "sizes or offs is NULL");
	for (i = 0; i < n; i++) {
		if (sizes[i] > PTRDIFF_MAX - sum || offs[i] > PTRDIFF_MAX)
			return ub_coll_bad(call, "more than memory can have");
		sum += sizes[i];
	}
	return sum && !data ? ub_coll_bad(call, "no place for the data") : 0;
}

int ub_alltoall(struct ub_scope *s, const void *in, size_t bytes, void *out)
{
	struct swap w = {
		.call = "ub_alltoall", .s = s, .in = in, .out = out,
		.bytes = bytes, .root = -1,
	};

	if (!s || (bytes && (!in || !out)))
		return ub_coll_bad(w.call, "the scope or a place is NULL");
	if (bytes > PTRDIFF_MAX / s->n)
		return ub_coll_bad(w.call, "more than memory can have");
	return equal(&w);
}

int ub_alltoallv(struct ub_scope *s, const void *in, const size_t *in_sizes,
		 const size_t *in_offs, void *out, const size_t *out_sizes,
		 const size_t *out_offs)
{
	struct swap w = {
		.call = "ub_alltoallv", .s = s, .in = in, .in_size = in_sizes,
		.in_off = in_offs, .out = out, .out_size = out_sizes,
		.out_off = out_offs, .root = -1,
	};
	int err;

	if (!s)
		return ub_coll_bad(w.call, "the scope is NULL");
	err = check_blocks(w.call, s->n, in, in_sizes, in_offs);
	if (!err)
		err = check_blocks(w.call, s->n, out, out_sizes, out_offs);
	return err ? err : unequal(&w);
}

int ub_scatter(struct ub_scope *s, const void *in, size_t bytes, void *out,
	       int root)
{
	struct swap w = {
		.call = "ub_scatter", .s = s, .in = in, .out = out,
		.bytes = bytes, .root = root,
	};

	if (!s || (bytes && !out))
		return ub_coll_bad(w.call, "the scope or the place is NULL");
	if (root < 0 || (uint32_t)root >= s->n)
		return ub_coll_bad_root(w.call, s, root);
	if (bytes > PTRDIFF_MAX / s->n)
		return ub_coll_bad(w.call, "more than memory can have");
	if (s->rank == (uint32_t)root && bytes && !in)
		return ub_coll_bad(w.call, "no data at the root");
	return equal(&w);
}

int ub_scatterv(struct ub_scope *s, const void *in, const size_t *sizes,
		const size_t *offs, void *out, size_t bytes, int root)
{
	struct swap w = {
		.call = "ub_scatterv", .s = s, .in = in, .in_size = sizes,
		.in_off = offs, .out = out, .bytes = bytes, .root = root,
	};
	int err = 0;

	if (!s || (bytes && !out))
		return ub_coll_bad(w.call, "the scope or the place is NULL");
	if (root < 0 || (uint32_t)root >= s->n)
		return ub_coll_bad_root(w.call, s, root);
	if (bytes > PTRDIFF_MAX)
		return ub_coll_bad(w.call, "more than memory can have");
	if (s->rank == (uint32_t)root)
		err = check_blocks(w.call, s->n, in, sizes, offs);
	return err ? err : unequal(&w);
}
