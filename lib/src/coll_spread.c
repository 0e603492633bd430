// SPDX-License-Identifier: MIT
/*
 * What one member or every member has goes to all, or to one, as it is: bcast,
 * allgather, gather.
 *
 *	flat	a source gives a slice in each step; readers copy it
 *	teams	a slice enters each team once: its members fetch a share each
 *		and keep it for the team, who read it one step later. Slices of
 *		the own team are read at once
 */
#include "coll.h"
#include <string.h>

/**
 * struct spread - a call
 * @s: scope
 * @in: own data, @own bytes
 * @out: what is gathered, or NULL when this member does not read
 * @size: bytes of each member in @out; NULL: @bytes
 * @off: where each lies; NULL: one after the other
 * @source: the only one that gives, or -1: all do
 * @longest: bytes of the longest
 * @slice: bytes of a step
 * @teams: the way
 */
struct spread {
	struct ub_scope *s;
	const char *in;
	size_t own;
	char *out;
	const size_t *size;
	const size_t *off;
	size_t bytes;
	int source;
	size_t longest;
	size_t slice;
	const struct ub_teams *teams;
};

static bool gives(const struct spread *p, uint32_t rank)
{
	return p->source < 0 || (uint32_t)p->source == rank;
}

static size_t size_of(const struct spread *p, uint32_t rank)
{
	return p->size ? p->size[rank] : p->bytes;
}

static char *place_of(const struct spread *p, uint32_t rank)
{
	if (p->off)
		return p->out + p->off[rank];
	return p->source < 0 ? p->out + rank * p->bytes : p->out;
}

static bool own_team(const struct spread *p, uint32_t rank)
{
	const struct ub_teams *t = p->teams;

	return rank >= t->first[t->mine] && rank < t->first[t->mine + 1];
}

/* The own data goes to its place without a window. */
static void place_own(const struct spread *p)
{
	size_t len = p->own;
	char *to;

	if (!p->out || !gives(p, p->s->rank) || !len)
		return;
	len = ub_less(len, size_of(p, p->s->rank));
	to = place_of(p, p->s->rank);
	if (to != p->in)
		memmove(to, p->in, len);
}

static void give(void *arg, size_t t)
{
	const struct spread *p = arg;
	size_t at = t * p->slice, len = ub_left(p->own, at, p->slice);

	if (len && gives(p, p->s->rank))
		memcpy(ub_coll_own(p->s, ub_coll_off(p->s, UB_GIVE)), p->in + at,
		       len);
}

/* A whole slice of @rank, to its place. */
static int take_slice(const struct spread *p, uint32_t rank, size_t t)
{
	size_t at = t * p->slice, len = ub_left(size_of(p, rank), at, p->slice);

	return len ? ub_coll_read(p->s, rank, ub_coll_off(p->s, UB_GIVE),
				  place_of(p, rank) + at, len) : 0;
}

/* Where a team keeps its shares of foreign member @rank's slice. */
static size_t keep_off(const struct spread *p, uint32_t rank)
{
	uint32_t first = p->teams->first[p->teams->mine];
	uint32_t n = ub_team_size(p->teams, p->teams->mine);

	if (p->source >= 0)
		return 0;
	return (rank < first ? rank : rank - n) * ub_ceil(p->slice, n);
}

/* Keep the own share of a foreign slice. */
static int fetch(const struct spread *p, uint32_t rank, size_t t)
{
	uint32_t first = p->teams->first[p->teams->mine];
	size_t len = ub_left(size_of(p, rank), t * p->slice, p->slice), at, many;

	ub_share_of(len, ub_team_size(p->teams, p->teams->mine),
		    p->s->rank - first, &at, &many);
	return ub_coll_read(p->s, rank, ub_coll_off(p->s, UB_GIVE) + at,
			    ub_coll_own(p->s, ub_coll_off(p->s, UB_SHARE) +
					keep_off(p, rank)), many);
}

/* Read the shares that the team fetched in the step before. */
static int take_shares(const struct spread *p, uint32_t rank, size_t t)
{
	uint32_t first = p->teams->first[p->teams->mine];
	uint32_t n = ub_team_size(p->teams, p->teams->mine), i;
	size_t len = ub_left(size_of(p, rank), t * p->slice, p->slice), at, many;
	int err = 0;

	for (i = 0; !err && len && i < n; i++) {
		ub_share_of(len, n, i, &at, &many);
		err = ub_coll_read(p->s, first + i, ub_coll_old(p->s, UB_SHARE) +
				   keep_off(p, rank),
				   place_of(p, rank) + t * p->slice + at, many);
	}
	return err;
}

static int take(void *arg, size_t t)
{
	const struct spread *p = arg;
	uint32_t n = p->s->n, i;
	int err = 0;

	/* Everybody begins with its neighbour, so that no source is crowded. */
	for (i = 1; p->out && !err && i < n; i++) {
		uint32_t rank = (p->s->rank + i) % n;

		if (!gives(p, rank))
			continue;
		if (own_team(p, rank)) {
			err = take_slice(p, rank, t);
			continue;
		}
		err = fetch(p, rank, t);
		if (!err && t)
			err = take_shares(p, rank, t - 1);
	}
	return err;
}

/* All of it in mailboxes. */
static int small(const struct spread *p)
{
	uint32_t r;
	int err;

	if (!ub_again(p->s) && p->own && gives(p, p->s->rank))
		memcpy(ub_mail(p->s), p->in, p->own);
	err = ub_exchange(p->s);
	for (r = 0; !err && p->out && r < p->s->n; r++)
		if (gives(p, r) && r != p->s->rank && size_of(p, r))
			memcpy(place_of(p, r), ub_mail_of(p->s, r), size_of(p, r));
	return err;
}

/* A word from the only one that gives: it rides on the barrier. */
static int word(const struct spread *p)
{
	uint64_t own = 0, got;
	int err;

	if (gives(p, p->s->rank))
		memcpy(&own, p->in, p->bytes);
	err = ub_reduce_inside(p->s, UB_XOR, own, &got);
	if (!err)
		memcpy(p->out, &got, p->bytes);
	return err;
}

/* @from: barriers of the call before this */
static int large(struct spread *p, size_t from, bool all_read)
{
	struct ub_steps st = { .from = from, .give = give, .take = take, .arg = p };
	int err = ub_coll_window(p->s);

	if (err)
		return err;
	p->teams = all_read ? ub_plan_spread(p->s, p->longest, p->source < 0) :
			      ub_plan_flat(p->s);
	p->slice = ub_spread_slice(p->s, p->teams, p->source < 0);
	st.n = ub_ceil(p->longest, p->slice) + (p->teams->n > 1);
	return ub_coll_run(p->s, &st);
}

/* Everybody knows the longest. */
static int run(struct spread *p, bool all_read)
{
	int err;

	if (p->s->n == 1)
		err = ub_sync_inside(p->s);
	else if (p->source >= 0 && p->bytes && p->bytes <= sizeof(uint64_t))
		err = word(p);
	else if (p->longest <= UB_MAILBOX_BYTES)
		err = small(p);
	else
		err = large(p, 0, all_read);
	if (!err)
		place_own(p);
	return ub_coll_end(p->s, err, p->own);
}

/* ---- the calls ---- */

int ub_bcast(struct ub_scope *s, void *data, size_t bytes, int root)
{
	struct spread p = {
		.s = s, .in = data, .out = data, .bytes = bytes, .longest = bytes,
		.source = root,
	};
	int err;

	if (!s || (bytes && !data))
		return ub_coll_bad("ub_bcast", "the scope or the data is NULL");
	if (root < 0 || (uint32_t)root >= s->n)
		return ub_coll_bad_root("ub_bcast", s, root);
	p.own = s->rank == (uint32_t)root ? bytes : 0;
	err = ub_scope_begin(s, "ub_bcast");
	return err ? err : run(&p, true);
}

int ub_allgather(struct ub_scope *s, const void *in, size_t bytes, void *out)
{
	struct spread p = {
		.s = s, .in = in, .own = bytes, .out = out, .bytes = bytes,
		.longest = bytes, .source = -1,
	};
	int err;

	if (!s || (bytes && (!in || !out)))
		return ub_coll_bad("ub_allgather", "the scope or a place is NULL");
	if (bytes > PTRDIFF_MAX / s->n)
		return ub_coll_bad("ub_allgather", "more than memory can have");
	err = ub_scope_begin(s, "ub_allgather");
	return err ? err : run(&p, true);
}

int ub_allgatherv(struct ub_scope *s, const void *in, void *out,
		  const size_t *sizes, const size_t *offs)
{
	struct spread p = {
		.s = s, .in = in, .out = out, .size = sizes, .off = offs,
		.source = -1,
	};
	uint32_t i;
	int err;

	if (!s || !sizes || !offs)
		return ub_coll_bad("ub_allgatherv", "the scope, sizes or offs is NULL");
	for (i = 0; i < s->n; i++) {
		p.longest = ub_more(p.longest, sizes[i]);
		if (sizes[i] > PTRDIFF_MAX || offs[i] > PTRDIFF_MAX)
			return ub_coll_bad("ub_allgatherv", "more than memory can have");
	}
	p.own = sizes[s->rank];
	if ((p.own && !in) || (p.longest && !out))
		return ub_coll_bad("ub_allgatherv", "no place for the data");
	err = ub_scope_begin(s, "ub_allgatherv");
	return err ? err : run(&p, true);
}

int ub_gather(struct ub_scope *s, const void *in, size_t bytes, void *out,
	      int root)
{
	struct spread p = {
		.s = s, .in = in, .own = bytes, .bytes = bytes, .longest = bytes,
		.source = -1,
	};
	int err;

	if (!s || (bytes && !in))
		return ub_coll_bad("ub_gather", "the scope or the data is NULL");
	if (root < 0 || (uint32_t)root >= s->n)
		return ub_coll_bad_root("ub_gather", s, root);
	if (bytes > PTRDIFF_MAX / s->n)
		return ub_coll_bad("ub_gather", "more than memory can have");
	if (s->rank == (uint32_t)root)
		p.out = out;
	if (s->rank == (uint32_t)root && bytes && !out)
		return ub_coll_bad("ub_gather", "no place for the data at the root");
	err = ub_scope_begin(s, "ub_gather");
	return err ? err : run(&p, false);
}

/* At the root: the first whose bytes are not what is expected, plus one. */
static uint32_t misfit(const struct spread *p)
{
	uint64_t sent;
	uint32_t r;

	for (r = 0; p->out && r < p->s->n; r++) {
		ub_coll_agreed(p->s, r, &sent);
		if (sent != size_of(p, r))
			return r + 1;
	}
	return 0;
}

/* Only the root knows who has how much; the first barrier tells the longest. */
static int gather_unknown(struct spread *p)
{
	struct ub_scope *s = p->s;
	bool fresh = !s->pending.step;
	uint64_t longest, sent;
	uint32_t r;
	int err;

	err = ub_coll_agree(s, p->own, p->in,
			    p->own <= UB_AGREE_BYTES ? p->own : 0, &longest);
	if (err)
		return err;
	if (fresh)
		s->pending.misfit = misfit(p);
	p->longest = longest;
	if (longest > UB_AGREE_BYTES && s->n > 1)
		err = large(p, 1, false);
	else
		for (r = 0; p->out && r < s->n; r++)
			if (r != s->rank && size_of(p, r))
				memcpy(place_of(p, r), ub_coll_agreed(s, r, &sent),
				       ub_less(size_of(p, r), UB_AGREE_BYTES));
	if (err)
		return err;
	place_own(p);
	if (s->pending.misfit)
		return ub_fail(-EINVAL,
			       "ub_gatherv(): rank %u gives another number of bytes than sizes[%u], %zu",
			       s->pending.misfit - 1, s->pending.misfit - 1,
			       size_of(p, s->pending.misfit - 1));
	return 0;
}

int ub_gatherv(struct ub_scope *s, const void *in, size_t bytes, void *out,
	       const size_t *sizes, const size_t *offs, int root)
{
	struct spread p = {
		.s = s, .in = in, .own = bytes, .size = sizes, .off = offs,
		.source = -1,
	};
	int err;

	if (!s || (bytes && !in))
		return ub_coll_bad("ub_gatherv", "the scope or the data is NULL");
	if (root < 0 || (uint32_t)root >= s->n)
		return ub_coll_bad_root("ub_gatherv", s, root);
	if (bytes > PTRDIFF_MAX)
		return ub_coll_bad("ub_gatherv", "more than memory can have");
	if (s->rank == (uint32_t)root) {
		if (!sizes || !offs || !out)
			return ub_coll_bad("ub_gatherv", "out, sizes or offs is NULL at the root");
		p.out = out;
	}
	err = ub_scope_begin(s, "ub_gatherv");
	if (err)
		return err;
	return ub_coll_end(s, gather_unknown(&p), bytes);
}
