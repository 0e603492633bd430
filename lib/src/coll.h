/* SPDX-License-Identifier: MIT */
/*
 * What the collectives share.
 *
 * Up to a mailbox's size a call is one barrier. Larger data goes through a
 * window of the scope's own, made on first use, in steps:
 *
 *	give	write the own UB_GIVE buffer of this step
 *	barrier
 *	take	read the others' UB_GIVE buffer of this step, and what they
 *		made in the step before: UB_PART, UB_SHARE; write one's own
 *		UB_PART and UB_SHARE of this step
 *
 * Each buffer is there twice, for even and odd steps of the scope, whichever
 * calls they belong to. So it is written again two steps later, when a barrier
 * in between has shown that all have read it.
 *
 * A call that timed out is made again with the same arguments and goes on at
 * the barrier that was interrupted: what a step gives or takes follows from
 * the arguments and the step's number alone.
 */
#ifndef UB_COLL_H
#define UB_COLL_H

#include "internal.h"

#define UB_CHUNK	((size_t)128 << 10)

enum ub_coll_buf { UB_GIVE, UB_PART, UB_SHARE, UB_COLL_BUFS };

/* ---- coll.c ---- */
/**
 * ub_coll_window() - the scope's window and plan; the first step of a call
 *
 * Return: 0; -EINVAL for all when the members' machine files differ in their
 *	figures; other errors as ub_win_create()
 */
int ub_coll_window(struct ub_scope *s);

/** ub_coll_off() - offset of a buffer of this step in a member's window */
size_t ub_coll_off(const struct ub_scope *s, enum ub_coll_buf buf);
/** ub_coll_old() - the same of the step before */
size_t ub_coll_old(const struct ub_scope *s, enum ub_coll_buf buf);
/** ub_coll_own() - own memory at an offset */
char *ub_coll_own(const struct ub_scope *s, size_t off);
/** ub_coll_read() - copy from a member's window */
int ub_coll_read(struct ub_scope *s, uint32_t rank, size_t off, void *to,
		 size_t len);
/** ub_coll_look() - data in a member's window, up to a chunk: in place where
 * that is safe, else a copy, good until the second ub_coll_look() after it */
int ub_coll_look(struct ub_scope *s, uint32_t rank, size_t off, size_t len,
		 const void **data);

/**
 * struct ub_steps - a run of steps
 * @from: barriers of the call before them
 * @n: how many
 * @give: before the barrier of step @t
 * @take: after it; 0 or a negative errno
 * @arg: for both
 */
struct ub_steps {
	size_t from;
	size_t n;
	void (*give)(void *arg, size_t t);
	int (*take)(void *arg, size_t t);
	void *arg;
};

/** ub_coll_pair() - a word between two members, on a barrier: the exclusive or of
 * what both gave tells each what the other one gave */
int ub_coll_pair(struct ub_scope *s, uint64_t own, uint64_t *peer);

/** ub_coll_run() - the steps of a call that are still to do */
int ub_coll_run(struct ub_scope *s, const struct ub_steps *st);

#define UB_AGREE_BYTES	(UB_MAILBOX_BYTES - sizeof(uint64_t))

/**
 * ub_coll_agree() - first barrier of a call: the largest of all @value
 * @data: up to UB_AGREE_BYTES that travel along; see ub_coll_agreed()
 */
int ub_coll_agree(struct ub_scope *s, uint64_t value, const void *data,
		  size_t len, uint64_t *most);
/** ub_coll_agreed() - what @rank gave there; before any other step */
const void *ub_coll_agreed(const struct ub_scope *s, uint32_t rank,
			   uint64_t *value);

/** ub_coll_end() - leave the call, whose own part was @bytes */
int ub_coll_end(struct ub_scope *s, int err, size_t bytes);

/* Wrong arguments: -EINVAL with a text. */
int ub_coll_bad(const char *call, const char *what);
int ub_coll_bad_root(const char *call, const struct ub_scope *s, int root);

static inline size_t ub_less(size_t a, size_t b)
{
	return a < b ? a : b;
}

static inline size_t ub_more(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* What is left of @len after @at, at most @most. */
static inline size_t ub_left(size_t len, size_t at, size_t most)
{
	return at < len ? ub_less(len - at, most) : 0;
}

/* Of @count elements, what falls to the @i-th of @n. */
static inline void ub_share_of(size_t count, uint32_t n, uint32_t i,
			       size_t *first, size_t *many)
{
	size_t each = count / n, more = count % n;

	*first = each * i + ub_less(i, more);
	*many = each + (i < more);
}

static inline size_t ub_ceil(size_t a, size_t b)
{
	return a / b + !!(a % b);
}

/* ---- coll_plan.c ---- */
/**
 * struct ub_teams - a scope's members as runs of ranks
 * @n: teams
 * @mine: own team
 * @least: members of the smallest
 * @most: members of the largest
 * @first: first rank of each team; the end follows
 */
struct ub_teams {
	uint32_t n;
	uint32_t mine;
	uint32_t least;
	uint32_t most;
	uint32_t *first;
};

static inline uint32_t ub_team_size(const struct ub_teams *t, uint32_t team)
{
	return t->first[team + 1] - t->first[team];
}

/** ub_plan_make() - what there is to choose from, from group and machine file */
int ub_plan_make(struct ub_scope *s);
void ub_plan_free(struct ub_plan *p);
/** ub_plan_reduce() - teams for a reduction of @bytes a member, or NULL: each
 * combines all it needs by itself */
const struct ub_teams *ub_plan_reduce(const struct ub_scope *s, size_t bytes);
/** ub_plan_spread() - teams when all get @bytes of one member, or of @all */
const struct ub_teams *ub_plan_spread(const struct ub_scope *s, size_t bytes,
				      bool all);
/** ub_spread_slice() - bytes of a member that one step carries then */
size_t ub_spread_slice(const struct ub_scope *s, const struct ub_teams *t,
		       bool all);
/** ub_plan_flat() - one team of all members */
const struct ub_teams *ub_plan_flat(const struct ub_scope *s);

/* ---- coll_op.c ---- */
/**
 * struct ub_combiner - how two elements become one
 * @size: bytes of an element
 * @word: what a barrier combines 64-bit integers alike by, or UB_NONE. Narrower
 *	ones are widened with their sign, and cut again
 * @fn: to[i] = left[i] OP right[i]; @to may be one of them. NULL: @user's
 */
struct ub_combiner {
	size_t size;
	enum ub_reduction word;
	void (*fn)(void *to, const void *left, const void *right, size_t count);
	const struct ub_op *user;
};

int ub_combiner_of(enum ub_type type, enum ub_combine op, const char *call,
		   struct ub_combiner *c);
int ub_combiner_user(const struct ub_op *op, const char *call,
		     struct ub_combiner *c);
/** ub_combine() - @to may be @left; @right too for the library's types */
void ub_combine(const struct ub_combiner *c, void *to, const void *left,
		const void *right, size_t count);

/* ---- coll_chain.c ---- */
enum ub_to {
	UB_TO_ROOT, UB_TO_ALL, UB_TO_SCAN, UB_TO_EXSCAN, UB_TO_PARTS
};

/**
 * struct ub_chain - a reduction
 * @s: scope
 * @by: how to combine
 * @kind: which
 * @in: own vector
 * @out: what is wanted
 * @count: elements of the vector
 * @from: first element that this member wants
 * @many: how many
 * @ranks: it wants those below this combined
 * @each: elements of a chunk; this and the rest is ub_chain_run()'s
 * @chunks: how many
 * @teams: NULL: alone
 */
struct ub_chain {
	struct ub_scope *s;
	struct ub_combiner by;
	enum ub_to kind;
	const char *in;
	char *out;
	size_t count;
	size_t from;
	size_t many;
	uint32_t ranks;
	size_t each;
	size_t chunks;
	const struct ub_teams *teams;
};

/** ub_chain_run() - between ub_scope_begin() and ub_coll_end() */
int ub_chain_run(struct ub_chain *r);

#endif /* UB_COLL_H */
