// SPDX-License-Identifier: GPL-2.0-only
/*
 * bcast, gather, allgather, scatter, alltoall and their forms with sizes that
 * differ: every byte, sizes around every limit, members with nothing, in place,
 * on shapes that take each way.
 */
#include "t.h"
#include "t_machines.h"
#include "coll.h"

#ifdef __SANITIZE_THREAD__
#define MOST	140003
#else
#define MOST	400003
#endif

static const size_t sizes[] = { 0, 1, 120, 121, 128, 129, 5000, 131072, 131073, MOST };

#define SIZES	(sizeof(sizes) / sizeof(*sizes))

/* Byte @i of what @from has for @to; of what it has for all when @to is 99. */
static unsigned char byte_of(int from, int to, size_t i)
{
	return from * 151 + to * 31 + i * 7 + i / 251 + 1;
}

static void fill(unsigned char *p, int from, int to, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = byte_of(from, to, i);
}

static bool same(const unsigned char *p, int from, int to, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] != byte_of(from, to, i)) {
			printf("# rank %d: byte %zu of %zu from %d to %d is %u\n",
			       t_rank, i, len, from, to, p[i]);
			return false;
		}
	return true;
}

struct data {
	unsigned char *in;
	unsigned char *out;
	size_t *in_sizes;
	size_t *in_offs;
	size_t *out_sizes;
	size_t *out_offs;
};

#define GUARD	0x5a

static int to_all(struct ub_scope *w, const struct data *d, size_t len)
{
	int me = ub_rank(w), n = ub_size(w), root = len % n, r;

	for (r = 0; r < n; r++) {
		memset(d->out, GUARD, len + 1);
		if (me == r)
			fill(d->out, r, 99, len);
		T_CHECK(!ub_bcast(w, d->out, len, r));
		T_CHECK(same(d->out, r, 99, len) && d->out[len] == GUARD);
		if (len > 5000)
			break;
	}
	fill(d->in, me, 99, len);
	memset(d->out, GUARD, n * len + 1);
	T_CHECK(!ub_allgather(w, d->in, len, d->out));
	for (r = 0; r < n; r++)
		T_CHECK(same(d->out + r * len, r, 99, len));
	T_CHECK(d->out[n * len] == GUARD);
	memset(d->out, GUARD, n * len + 1);
	fill(d->out + me * len, me, 99, len);
	T_CHECK(!ub_allgather(w, d->out + me * len, len, d->out));
	for (r = 0; r < n; r++)
		T_CHECK(same(d->out + r * len, r, 99, len));
	memset(d->out, GUARD, n * len + 1);
	T_CHECK(!ub_gather(w, d->in, len, me == root ? d->out : NULL, root));
	for (r = 0; me == root && r < n; r++)
		T_CHECK(same(d->out + r * len, r, 99, len));
	T_CHECK(d->out[n * len] == GUARD);
	fill(d->out + me * len, me, 99, len);
	T_CHECK(!ub_gather(w, d->out + me * len, len, d->out, root));
	for (r = 0; me == root && r < n; r++)
		T_CHECK(same(d->out + r * len, r, 99, len));
	return 0;
}

static int to_each(struct ub_scope *w, const struct data *d, size_t len)
{
	int me = ub_rank(w), n = ub_size(w), root = len % n, r;

	for (r = 0; r < n; r++)
		fill(d->in + r * len, me, r, len);
	memset(d->out, GUARD, n * len + 1);
	T_CHECK(!ub_alltoall(w, d->in, len, d->out));
	for (r = 0; r < n; r++)
		T_CHECK(same(d->out + r * len, r, me, len));
	T_CHECK(d->out[n * len] == GUARD);
	T_CHECK(!ub_alltoall(w, d->in, len, d->in));
	for (r = 0; r < n; r++)
		T_CHECK(same(d->in + r * len, r, me, len));
	for (r = 0; r < n; r++)
		fill(d->in + r * len, me, r, len);
	memset(d->out, GUARD, len + 1);
	T_CHECK(!ub_scatter(w, me == root ? d->in : NULL, len, d->out, root));
	T_CHECK(same(d->out, root, me, len) && d->out[len] == GUARD);
	T_CHECK(!ub_scatter(w, d->in, len, me == root ? d->in + me * len : d->out,
			    root));
	T_CHECK(same(me == root ? d->in + me * len : d->out, root, me, len));
	return 0;
}

/* What rank @r has for @to: nothing, a little, or all there is. */
static size_t uneven(int r, int to, size_t len)
{
	switch ((r * 5 + to * 3) % 4) {
	case 0:
		return 0;
	case 1:
		return len / 3;
	case 2:
		return len < 100 ? len : 100;
	default:
		return len;
	}
}

/* Places in the opposite order, with gaps. */
static void places(const size_t *size, size_t *off, int n)
{
	size_t at = 3;
	int r;

	for (r = n - 1; r >= 0; r--) {
		off[r] = at;
		at += size[r] + 5;
	}
}

static int to_all_v(struct ub_scope *w, const struct data *d, size_t len)
{
	int me = ub_rank(w), n = ub_size(w), root = len % n, r;
	size_t all = 0;

	for (r = 0; r < n; r++) {
		d->out_sizes[r] = uneven(r, 0, len);
		all += d->out_sizes[r] + 5;
	}
	places(d->out_sizes, d->out_offs, n);
	fill(d->in, me, 99, d->out_sizes[me]);
	memset(d->out, GUARD, all + 4);
	T_CHECK(!ub_allgatherv(w, d->in, d->out, d->out_sizes, d->out_offs));
	for (r = 0; r < n; r++) {
		T_CHECK(same(d->out + d->out_offs[r], r, 99, d->out_sizes[r]));
		T_CHECK(d->out[d->out_offs[r] + d->out_sizes[r]] == GUARD);
	}
	memset(d->out, GUARD, all + 4);
	if (me == root)
		T_CHECK(!ub_gatherv(w, d->in, d->out_sizes[me], d->out,
				    d->out_sizes, d->out_offs, root));
	else
		T_CHECK(!ub_gatherv(w, d->in, d->out_sizes[me], NULL, NULL, NULL,
				    root));
	for (r = 0; me == root && r < n; r++) {
		T_CHECK(same(d->out + d->out_offs[r], r, 99, d->out_sizes[r]));
		T_CHECK(d->out[d->out_offs[r] + d->out_sizes[r]] == GUARD);
	}
	return 0;
}

static int to_each_v(struct ub_scope *w, const struct data *d, size_t len)
{
	int me = ub_rank(w), n = ub_size(w), root = len % n, r;
	size_t room;

	for (r = 0; r < n; r++) {
		d->in_sizes[r] = uneven(me, r, len);
		/* More room than is needed is fine. */
		d->out_sizes[r] = uneven(r, me, len) + (r & 1);
	}
	places(d->in_sizes, d->in_offs, n);
	places(d->out_sizes, d->out_offs, n);
	for (r = 0; r < n; r++)
		fill(d->in + d->in_offs[r], me, r, d->in_sizes[r]);
	memset(d->out, GUARD, n * (len + 6) + 4);
	T_CHECK(!ub_alltoallv(w, d->in, d->in_sizes, d->in_offs, d->out,
			      d->out_sizes, d->out_offs));
	for (r = 0; r < n; r++) {
		T_CHECK(same(d->out + d->out_offs[r], r, me, uneven(r, me, len)));
		T_CHECK(d->out[d->out_offs[r] + uneven(r, me, len)] == GUARD);
	}
	memset(d->out, GUARD, len + 2);
	room = uneven(root, me, len);
	if (me == root)
		T_CHECK(!ub_scatterv(w, d->in, d->in_sizes, d->in_offs, d->out,
				     room, root));
	else
		T_CHECK(!ub_scatterv(w, NULL, NULL, NULL, d->out, room, root));
	T_CHECK(same(d->out, root, me, room) && d->out[room] == GUARD);
	return 0;
}

/* Who gives more than fits is named, and nothing is written beyond. */
static int misfits(struct ub_scope *w, const struct data *d)
{
	int me = ub_rank(w), n = ub_size(w), r, err;
	const size_t len = MOST - 3;	/* what there is room for */

	for (r = 0; r < n; r++) {
		d->in_sizes[r] = len;
		d->out_sizes[r] = len - (me == 1 && r == 2);
	}
	places(d->in_sizes, d->in_offs, n);
	places(d->out_sizes, d->out_offs, n);
	memset(d->out, GUARD, n * (len + 6) + 4);
	err = ub_alltoallv(w, d->in, d->in_sizes, d->in_offs, d->out, d->out_sizes,
			   d->out_offs);
	T_CHECK(err == (n > 2 && me == 1 ? -EINVAL : 0));
	T_CHECK(!err || strstr(ub_last_error(), "rank 2"));
	for (r = 0; r < n; r++)
		T_CHECK(d->out[d->out_offs[r] + d->out_sizes[r]] == GUARD);
	/* The next call is as good as ever. */
	T_CHECK(!ub_alltoall(w, d->in, 1000, d->out));
	for (r = 0; r < n; r++)
		d->out_sizes[r] = len - (r == n - 1);
	memset(d->out, GUARD, n * (len + 6) + 4);
	err = ub_gatherv(w, d->in, len, d->out, d->out_sizes, d->out_offs, 0);
	T_CHECK(err == (me ? 0 : -EINVAL));
	T_CHECK(d->out[d->out_offs[n - 1] + len - 1] == GUARD || me);
	err = ub_scatterv(w, d->in, d->in_sizes, d->in_offs, d->out,
			  len - (me == n - 1), 0);
	T_CHECK(err == (me == n - 1 && me ? -EINVAL : 0));
	return 0;
}

static int wrong(struct ub_scope *w, const struct data *d)
{
	int n = ub_size(w), r;

	for (r = 0; r < n; r++) {
		d->in_sizes[r] = PTRDIFF_MAX;
		d->in_offs[r] = 0;
	}
	T_CHECK(ub_bcast(w, d->in, 1, n) == -EINVAL);
	T_CHECK(ub_bcast(w, NULL, 1, 0) == -EINVAL);
	T_CHECK(ub_bcast(NULL, d->in, 1, 0) == -EINVAL);
	T_CHECK(ub_allgather(w, d->in, SIZE_MAX / 2 + 1, d->out) == -EINVAL);
	T_CHECK(ub_gather(w, d->in, 1, d->out, -1) == -EINVAL);
	T_CHECK(ub_gather(w, NULL, 1, d->out, 0) == -EINVAL);
	T_CHECK(ub_scatter(w, d->in, SIZE_MAX, d->out, 0) == -EINVAL);
	T_CHECK(ub_alltoall(w, d->in, SIZE_MAX / n, d->out) == -EINVAL);
	T_CHECK(ub_alltoall(w, d->in, 1, NULL) == -EINVAL);
	T_CHECK(ub_alltoallv(w, d->in, d->in_sizes, NULL, d->out, d->in_sizes,
			     d->in_offs) == -EINVAL);
	if (n > 1)
		T_CHECK(ub_alltoallv(w, d->in, d->in_sizes, d->in_offs, d->out,
				     d->in_sizes, d->in_offs) == -EINVAL);
	/* Nothing at all needs no place. */
	T_CHECK(!ub_bcast(w, NULL, 0, 0) && !ub_allgather(w, NULL, 0, NULL));
	T_CHECK(!ub_gather(w, NULL, 0, NULL, 0));
	T_CHECK(!ub_scatter(w, NULL, 0, NULL, 0) && !ub_alltoall(w, NULL, 0, NULL));
	for (r = 0; r < n; r++)
		d->in_sizes[r] = 0;
	T_CHECK(!ub_allgatherv(w, NULL, NULL, d->in_sizes, d->in_offs));
	T_CHECK(!ub_alltoallv(w, NULL, d->in_sizes, d->in_offs, NULL, d->in_sizes,
			      d->in_offs));
	return 0;
}


static int all(struct ub_scope *w, const struct data *d)
{
	size_t k;

	for (k = 0; k < SIZES; k++)
		if (to_all(w, d, sizes[k]) || to_each(w, d, sizes[k]) ||
		    to_all_v(w, d, sizes[k]) || to_each_v(w, d, sizes[k]))
			return 1;
	return misfits(w, d) || wrong(w, d);
}

static int battery(struct ub_ctx *ctx, struct ub_scope *w)
{
	size_t n = ub_size(w), room = n * (MOST + 6) + 4;
	size_t *table = calloc(4 * n, sizeof(*table));
	struct data d = {
		.in = calloc(1, room), .out = calloc(1, room),
		.in_sizes = table, .in_offs = table + n,
		.out_sizes = table + 2 * n, .out_offs = table + 3 * n,
	};
	int err;

	(void)ctx;
	T_CHECK(d.in && d.out && table);
	err = all(w, &d);
	free(d.in);
	free(d.out);
	free(table);
	if (err || n == 1)
		return err;
	/* It was the way that this shape is to test. */
	T_CHECK(ub_plan_spread(w, MOST, true)->n == (want_teams ? want_teams : 1));
	T_CHECK(ub_plan_spread(w, MOST, false)->n == (want_teams ? want_teams : 1));
	return 0;
}

int main(void)
{
	return t_shapes(battery);
}
