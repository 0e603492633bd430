// SPDX-License-Identifier: MIT
/*
 * How reductions are done: in mailboxes, alone, or by a chain of teams.
 *
 * Elements are combined in rank order, from the left: ((r0 r1) r2) r3, whatever
 * the way, so the bits depend on nothing but the members' data and order.
 *
 *	alone	everybody gives all of a chunk; everybody combines what it wants
 *	teams	everybody gives a chunk; of each chunk every member of a team
 *		combines a part, beginning with what the team before it has made
 *		of that part, one step later than that team. Readers find the
 *		last team's parts
 *
 * A single team of all is the flat way. With several, a chunk enters each team
 * once, and an allreduce's result once more: members fetch a part each, then
 * read those of their team.
 *
 * For a scan a part has rows: row i is what all ranks before the i-th of the
 * team make, and row i + 1 has the i-th in it.
 */
#include "coll.h"
#include <string.h>

static bool rows(const struct ub_chain *r)
{
	return r->kind == UB_TO_SCAN || r->kind == UB_TO_EXSCAN;
}

static size_t chunk_len(const struct ub_chain *r, size_t c)
{
	return ub_left(r->count, c * r->each, r->each);
}

/* What this member wants of elements [@at, @at + @len): their first, where. */
static size_t wanted(const struct ub_chain *r, size_t at, size_t len, size_t *first,
		     char **to)
{
	size_t lo = ub_more(at, r->from), end = ub_less(at + len, r->from + r->many);

	if (lo >= end)
		return 0;
	*first = lo - at;
	*to = r->out + (lo - r->from) * r->by.size;
	return end - lo;
}

/* ---- alone ---- */

/* Of @rank, elements from @first of what it gave in this step. */
static int operand(struct ub_chain *r, uint32_t rank, size_t first, size_t many,
		   const void **data)
{
	return ub_coll_look(r->s, rank, ub_coll_off(r->s, UB_GIVE) +
			    first * r->by.size, many * r->by.size, data);
}

static void alone_give(void *arg, size_t t)
{
	const struct ub_chain *r = arg;

	memcpy(ub_coll_own(r->s, ub_coll_off(r->s, UB_GIVE)),
	       r->in + t * r->each * r->by.size, chunk_len(r, t) * r->by.size);
}

/*
 * Is the own operand still in @in when its turn comes? It is faster to read
 * than the copy that others read, too. In place it is one of the first two
 * that are combined, element by element, or gone.
 */
static bool in_stays(const struct ub_chain *r)
{
	if (r->in != r->out)
		return true;
	return r->by.fn && r->s->rank < 2 && !r->from;
}

static int alone_take(void *arg, size_t t)
{
	struct ub_chain *r = arg;
	const char *own = r->in + t * r->each * r->by.size;
	const void *left = NULL, *right;
	size_t first, many;
	uint32_t q;
	char *to;
	int err = 0;

	many = wanted(r, t * r->each, chunk_len(r, t), &first, &to);
	for (q = 0; many && !err && q < r->ranks; q++) {
		if (q == r->s->rank && in_stays(r))
			right = own + first * r->by.size;
		else
			err = operand(r, q, first, many, &right);
		if (!err && left)
			ub_combine(&r->by, to, left, right, many);
		left = left ? to : right;
	}
	if (!err && many && r->ranks == 1 && left != to)
		memcpy(to, left, many * r->by.size);
	return err;
}

/* ---- teams ---- */

/**
 * struct part - what a member combines of a chunk
 * @len: elements of the chunk
 * @first: of the part
 * @many: elements of it
 * @stride: elements from row to row
 */
struct part {
	size_t len;
	size_t first;
	size_t many;
	size_t stride;
};

/* The part of the @i-th of team @k. */
static struct part part_of(const struct ub_chain *r, size_t c, uint32_t k, uint32_t i)
{
	uint32_t n = ub_team_size(r->teams, k);
	struct part p = { .len = chunk_len(r, c) };

	ub_share_of(p.len, n, i, &p.first, &p.many);
	p.stride = rows(r) ? ub_ceil(p.len, n) : 0;
	return p;
}

/*
 * Elements [@first, @first + @many) of chunk @c as team @k has them in its
 * buffers at @off, in row @row.
 */
static int read_team(struct ub_chain *r, size_t off, size_t c, uint32_t k,
		     uint32_t row, size_t first, size_t many, char *to)
{
	uint32_t n = ub_team_size(r->teams, k), i;
	size_t size = r->by.size;
	int err = 0;

	for (i = 0; !err && i < n; i++) {
		struct part p = part_of(r, c, k, i);
		size_t lo = ub_more(first, p.first);
		size_t end = ub_less(first + many, p.first + p.many);

		if (lo < end)
			err = ub_coll_read(r->s, r->teams->first[k] + i,
					   off + (row * p.stride + lo - p.first) *
					   size, to + (lo - first) * size,
					   (end - lo) * size);
	}
	return err;
}

/* Rows that a team's parts have, and which of them holds all. */
static uint32_t last_row(const struct ub_chain *r, uint32_t k)
{
	return rows(r) ? ub_team_size(r->teams, k) : 0;
}

static uint32_t own_index(const struct ub_chain *r)
{
	return r->s->rank - r->teams->first[r->teams->mine];
}

/* All of a chunk but the own part, which only this member combines. */
static void team_give(void *arg, size_t t)
{
	const struct ub_chain *r = arg;
	size_t c = t - r->teams->mine, size = r->by.size, end;
	const char *in;
	struct part p;
	char *to;

	if (t < r->teams->mine || c >= r->chunks)
		return;
	p = part_of(r, c, r->teams->mine, own_index(r));
	in = r->in + c * r->each * size;
	to = ub_coll_own(r->s, ub_coll_off(r->s, UB_GIVE));
	end = p.first + p.many;
	memcpy(to, in, p.first * size);
	memcpy(to + end * size, in + end * size, (p.len - end) * size);
}

/* Combine the own part of chunk @c. */
static int team_part(struct ub_chain *r, size_t c)
{
	uint32_t k = r->teams->mine, n = ub_team_size(r->teams, k), i;
	struct part p = part_of(r, c, k, own_index(r));
	size_t size = r->by.size, row = p.stride * size;
	char *to = ub_coll_own(r->s, ub_coll_off(r->s, UB_PART));
	bool keep = row || n == 1;	/* the first one's operand, too */
	const void *left = NULL, *right;
	int err = 0;

	if (k) {
		err = read_team(r, ub_coll_old(r->s, UB_PART), c, k - 1,
				last_row(r, k - 1), p.first, p.many, to);
		left = to;
	}
	for (i = 0; !err && i < n; i++) {
		uint32_t rank = r->teams->first[k] + i;

		right = r->in + (c * r->each + p.first) * size;
		if (rank != r->s->rank)
			err = operand(r, rank, p.first, p.many, &right);
		if (err)
			break;
		to += row;
		if (left)
			ub_combine(&r->by, to, left, right, p.many);
		else if (keep)
			memcpy(to, right, p.many * size);
		left = left || keep ? to : right;
	}
	return err;
}

/* Read what is wanted of chunk @c, made in the step before by team @k. */
static int team_read(struct ub_chain *r, size_t c, enum ub_coll_buf buf, uint32_t k,
		     uint32_t row)
{
	size_t first, many;
	char *to;

	many = wanted(r, c * r->each, chunk_len(r, c), &first, &to);
	return many ? read_team(r, ub_coll_old(r->s, buf), c, k, row, first, many,
				to) : 0;
}

/* Fetch one's share of chunk @c for the own team. */
static int team_fetch(struct ub_chain *r, size_t c)
{
	struct part p = part_of(r, c, r->teams->mine, own_index(r));

	return read_team(r, ub_coll_old(r->s, UB_PART), c, r->teams->n - 1, 0,
			 p.first, p.many,
			 ub_coll_own(r->s, ub_coll_off(r->s, UB_SHARE)));
}

/* Is it the turn of a chunk that is @behind steps behind? */
static bool turn(const struct ub_chain *r, size_t t, size_t behind)
{
	return t >= behind && t - behind < r->chunks;
}

static int team_take(void *arg, size_t t)
{
	struct ub_chain *r = arg;
	uint32_t k = r->teams->mine, n = r->teams->n, i = own_index(r);
	int err = 0;

	if (turn(r, t, k))
		err = team_part(r, t - k);
	if (err)
		return err;
	if (rows(r))
		return turn(r, t, k + 1) ?
		       team_read(r, t - k - 1, UB_PART, k,
				 r->kind == UB_TO_SCAN ? i + 1 : i) : 0;
	if (r->kind != UB_TO_ALL || n == 1)
		return turn(r, t, n) ?
		       team_read(r, t - n, UB_PART, n - 1, 0) : 0;
	if (turn(r, t, n))
		err = team_fetch(r, t - n);
	if (!err && turn(r, t, n + 1))
		err = team_read(r, t - n - 1, UB_SHARE, k, 0);
	return err;
}

/* ---- a call ---- */

/* Nobody to combine with. */
static int single(struct ub_chain *r)
{
	int err = ub_sync_inside(r->s);

	if (!err && r->many && r->in != r->out)
		memmove(r->out, r->in, r->many * r->by.size);
	return err;
}

/* Two members and a word: it rides on the barrier. */
static int pair(struct ub_chain *r)
{
	size_t size = r->by.size, at = r->from * size;
	uint64_t own = 0, peer;
	const char *left = (const char *)(r->s->rank ? &peer : &own) + at;
	const char *right = (const char *)(r->s->rank ? &own : &peer) + at;
	int err;

	memcpy(&own, r->in, r->count * size);
	err = ub_coll_pair(r->s, own, &peer);
	if (err || !r->many)
		return err;
	if (r->ranks == 1)
		memcpy(r->out, left, r->many * size);
	else
		ub_combine(&r->by, r->out, left, right, r->many);
	return 0;
}

/* One integer: the barrier itself combines it. */
static int word(struct ub_chain *r)
{
	bool is_wide = r->by.size == sizeof(int64_t);
	int64_t wide;
	int32_t narrow;
	uint64_t sum;
	int err;

	memcpy(is_wide ? (void *)&wide : &narrow, r->in, r->by.size);
	if (!is_wide)
		wide = narrow;
	err = ub_reduce_inside(r->s, r->by.word, wide, &sum);
	if (err || !r->many)
		return err;
	narrow = sum;
	memcpy(r->out, is_wide ? (void *)&sum : &narrow, r->by.size);
	return 0;
}

static bool fits_word(const struct ub_chain *r)
{
	return r->count == 1 && r->by.word != UB_NONE &&
	       (r->kind == UB_TO_ALL || r->kind == UB_TO_ROOT);
}

/* All of it in mailboxes. */
static int small(struct ub_chain *r)
{
	size_t size = r->by.size;
	const char *left;
	uint32_t q;
	int err;

	if (!ub_again(r->s) && r->count)
		memcpy(ub_mail(r->s), r->in, r->count * size);
	err = ub_exchange(r->s);
	if (err || !r->many)
		return err;
	left = (const char *)ub_mail_of(r->s, 0) + r->from * size;
	if (r->ranks == 1)
		memcpy(r->out, left, r->many * size);
	for (q = 1; q < r->ranks; q++, left = r->out)
		ub_combine(&r->by, r->out, left,
			   (const char *)ub_mail_of(r->s, q) + r->from * size,
			   r->many);
	return 0;
}

/* Do a scan's rows of a chunk of @each elements fit a buffer of @room? */
static bool rows_fit(const struct ub_teams *t, size_t each, size_t room)
{
	/* Each of the rows of the largest team may be an element longer. */
	return each && 2 * each + t->most + 1 <= room;
}

static int large(struct ub_chain *r)
{
	size_t room = UB_CHUNK / r->by.size, bytes = r->count * r->by.size;
	struct ub_steps st = { .give = alone_give, .take = alone_take, .arg = r };
	int err = ub_coll_window(r->s);

	if (err)
		return err;
	r->each = room;
	r->teams = ub_plan_reduce(r->s, bytes);
	/* Of a single chunk everybody reads its own block at once. */
	if (r->kind == UB_TO_PARTS && r->count <= room)
		r->teams = NULL;
	if (r->teams && rows(r)) {
		if (rows_fit(r->teams, room / 3, room))
			r->each = room / 3;
		else
			r->teams = NULL;
	}
	r->chunks = ub_ceil(r->count, r->each);
	st.n = r->chunks;
	if (r->teams) {
		st.give = team_give;
		st.take = team_take;
		st.n += r->teams->n +
			(r->kind == UB_TO_ALL && r->teams->n > 1);
	}
	return ub_coll_run(r->s, &st);
}

int ub_chain_run(struct ub_chain *r)
{
	if (r->s->n == 1)
		return single(r);
	if (r->s->n == 2 && r->count && r->count * r->by.size <= sizeof(uint64_t))
		return pair(r);
	if (fits_word(r))
		return word(r);
	return r->count * r->by.size <= UB_MAILBOX_BYTES ? small(r) : large(r);
}
