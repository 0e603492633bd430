// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reductions against a plain loop over the ranks: all types and operators,
 * operators of the program's own that do not commute, sizes around every limit,
 * in place, on shapes that take each way. Every bit is compared.
 */
#include "t.h"
#include "t_machines.h"
#include <math.h>
#include "coll.h"

#define MOST	60001

static const size_t counts[] = { 0, 1, 2, 16, 17, 300, 5461, 16384, 16385, MOST };

/* ---- the same, computed plainly ---- */

static uint64_t hash(int rank, size_t i)
{
	uint64_t h = (rank + 1) * 0x9e3779b97f4a7c15ULL + i * 0xc2b2ae3d27d4eb4fULL;

	h ^= h >> 29;
	h *= 0xbf58476d1ce4e5b9ULL;
	return h ^ h >> 32;
}

static const size_t width[] = { 4, 8, 8, 4, 8, 2 };

/* Sums of these depend on their order. */
static void element(enum ub_type type, int rank, size_t i, void *to)
{
	uint64_t h = hash(rank, i);
	double d = ldexp((double)(h % 2003) - 1001 + 1.0 / 3, (int)(h >> 40) % 30);
	float f = d;
	uint32_t bits;

	switch (type) {
	case UB_FLOAT:
		memcpy(to, &f, 4);
		break;
	case UB_DOUBLE:
		memcpy(to, &d, 8);
		break;
	case UB_BF16:
		memcpy(&bits, &f, 4);
		((uint16_t *)to)[0] = bits >> 16;
		break;
	default:
		memcpy(to, &h, width[type]);
	}
}

/* The nearest bf16 by comparing distances; of two the even one. */
static uint16_t nearest(float f)
{
	uint32_t down, up;
	double below, above;
	float lo, hi;

	memcpy(&down, &f, 4);
	if (isinf(f))
		return down >> 16;
	down &= 0xffff0000;
	up = down + 0x10000;
	memcpy(&lo, &down, 4);
	memcpy(&hi, &up, 4);
	below = fabs((double)f - lo);
	/* Infinity counts as the number that would follow. */
	above = isinf(hi) ? ldexp(1, 128) - fabs(f) : fabs((double)hi - f);
	if (below == above)
		return (down >> 16 & 1 ? up : down) >> 16;
	return (below < above ? down : up) >> 16;
}

#define PLAIN(op, a, b)							\
	((op) == UB_OP_SUM ? (a) + (b) : (op) == UB_OP_PROD ? (a) * (b) :	\
	 (op) == UB_OP_MIN ? ((a) < (b) ? (a) : (b)) : (a) > (b) ? (a) : (b))

static void plain(enum ub_type type, enum ub_combine op, void *to, const void *from)
{
	bool order = op == UB_OP_MIN || op == UB_OP_MAX;
	uint64_t a = 0, b = 0;
	double d, e;
	float f, g;

	memcpy(&a, to, width[type]);
	memcpy(&b, from, width[type]);
	switch (type) {
	case UB_FLOAT:
		memcpy(&f, to, 4);
		memcpy(&g, from, 4);
		f = PLAIN(op, f, g);
		memcpy(to, &f, 4);
		return;
	case UB_DOUBLE:
		memcpy(&d, to, 8);
		memcpy(&e, from, 8);
		d = PLAIN(op, d, e);
		memcpy(to, &d, 8);
		return;
	case UB_BF16:
		a <<= 16;
		b <<= 16;
		memcpy(&f, &a, 4);
		memcpy(&g, &b, 4);
		((uint16_t *)to)[0] = nearest(PLAIN(op, f, g));
		return;
	default:
		break;
	}
	if (op == UB_OP_AND)
		a &= b;
	else if (op == UB_OP_OR)
		a |= b;
	else if (op == UB_OP_XOR)
		a ^= b;
	else if (type == UB_INT32 && order)
		a = (uint32_t)PLAIN(op, (int32_t)a, (int32_t)b);
	else if (type == UB_INT64 && order)
		a = PLAIN(op, (int64_t)a, (int64_t)b);
	else
		a = PLAIN(op, a, b);
	memcpy(to, &a, width[type]);
}

/* Element @i of ranks @from to @end - 1. */
static void expect(enum ub_type type, enum ub_combine op, int end, size_t i,
		   void *to)
{
	char next[8];
	int r;

	element(type, 0, i, to);
	for (r = 1; r < end; r++) {
		element(type, r, i, next);
		plain(type, op, to, next);
	}
}

/* ---- comparing ---- */

struct data {
	char *in;
	char *out;
	size_t *counts;
};

static bool same(const char *got, enum ub_type type, enum ub_combine op, int end,
		 size_t first, size_t many)
{
	/* Much is looked at here and there, and around every chunk. */
	size_t step = many > 400 ? 97 : 1, i;
	char want[8];

	for (i = 0; i < many; i += step) {
		expect(type, op, end, first + i, want);
		if (memcmp(want, got + i * width[type], width[type])) {
			printf("# rank %d: type %d op %d ranks %d element %zu of %zu\n",
			       t_rank, type, op, end, first + i, many);
			return false;
		}
	}
	if (many) {
		expect(type, op, end, first + many - 1, want);
		if (memcmp(want, got + (many - 1) * width[type], width[type]))
			return false;
	}
	return true;
}

static void fill(const struct data *d, enum ub_type type, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		element(type, t_rank, i, d->in + i * width[type]);
	memset(d->out, 0x5a, (count + 1) * width[type]);
}

static int whole(struct ub_scope *w, const struct data *d, enum ub_type type,
		 enum ub_combine op, size_t n)
{
	int me = ub_rank(w), size = ub_size(w), root = n % size;
	size_t bytes = n * width[type];

	fill(d, type, n);
	T_CHECK(!ub_allreduce(w, d->in, d->out, n, type, op));
	T_CHECK(same(d->out, type, op, size, 0, n));
	T_CHECK(d->out[bytes] == 0x5a);
	fill(d, type, n);
	T_CHECK(!ub_reduce(w, d->in, me == root ? d->out : NULL, n, type, op, root));
	T_CHECK(me != root || same(d->out, type, op, size, 0, n));
	T_CHECK(!ub_scan(w, d->in, d->out, n, type, op));
	T_CHECK(same(d->out, type, op, me + 1, 0, n));
	fill(d, type, n);
	T_CHECK(!ub_exscan(w, d->in, d->out, n, type, op));
	T_CHECK(me || d->out[0] == 0x5a);
	T_CHECK(!me || same(d->out, type, op, me, 0, n));
	T_CHECK(d->out[bytes] == 0x5a);
	/* In place. */
	T_CHECK(!ub_allreduce(w, d->in, d->in, n, type, op));
	T_CHECK(same(d->in, type, op, size, 0, n));
	fill(d, type, n);
	T_CHECK(!ub_scan(w, d->in, d->in, n, type, op));
	T_CHECK(same(d->in, type, op, me + 1, 0, n));
	fill(d, type, n);
	T_CHECK(!ub_exscan(w, d->in, d->in, n, type, op));
	T_CHECK(!me || same(d->in, type, op, me, 0, n));
	fill(d, type, n);
	T_CHECK(!ub_reduce(w, d->in, d->in, n, type, op, root));
	T_CHECK(same(d->in, type, op, me == root ? size : 1, 0, 0));
	T_CHECK(me != root || same(d->in, type, op, size, 0, n));
	return 0;
}

static int parts(struct ub_scope *w, const struct data *d, enum ub_type type,
		 enum ub_combine op, size_t n)
{
	int me = ub_rank(w), size = ub_size(w), i;
	size_t each = n / size, first = 0, sum = 0;

	fill(d, type, n);
	T_CHECK(!ub_reduce_scatter(w, d->in, d->out, each, type, op));
	T_CHECK(same(d->out, type, op, size, me * each, each));
	T_CHECK(d->out[each * width[type]] == 0x5a);
	/* Nothing for the first, much for the last. */
	for (i = 0; i < size; i++) {
		d->counts[i] = i == size - 1 ? n - sum : i * (each / size);
		if (i == me)
			first = sum;
		sum += d->counts[i];
	}
	fill(d, type, n);
	T_CHECK(!ub_reduce_scatterv(w, d->in, d->out, d->counts, type, op));
	T_CHECK(same(d->out, type, op, size, first, d->counts[me]));
	T_CHECK(d->out[d->counts[me] * width[type]] == 0x5a);
	T_CHECK(!ub_reduce_scatter(w, d->in, d->in, each, type, op));
	T_CHECK(same(d->in, type, op, size, me * each, each));
	return 0;
}

static int all_types(struct ub_scope *w, const struct data *d)
{
	int type, op;

	for (type = UB_INT32; type <= UB_BF16; type++) {
		for (op = UB_OP_SUM; op <= UB_OP_XOR; op++) {
			if (type >= UB_FLOAT && op >= UB_OP_AND) {
				T_CHECK(ub_allreduce(w, d->in, d->out, 1, type,
						     op) == -EINVAL);
				continue;
			}
			if (whole(w, d, type, op, 13) || whole(w, d, type, op, 777))
				return 1;
			if (parts(w, d, type, op, 777))
				return 1;
		}
	}
	return 0;
}

static int all_sizes(struct ub_scope *w, const struct data *d)
{
	static const enum ub_type types[] = { UB_DOUBLE, UB_BF16 };
	size_t k, t;

	for (k = 0; k < sizeof(counts) / sizeof(*counts); k++)
		for (t = 0; t < 2; t++)
			if (whole(w, d, types[t], UB_OP_SUM, counts[k]) ||
			    parts(w, d, types[t], UB_OP_SUM, counts[k]))
				return 1;
	return 0;
}

/* ---- operators of the program's own ---- */

/* x -> a x + b modulo 2^32, one after the other: it does not commute. */
struct map {
	uint32_t a;
	uint32_t b;
};

struct maps {
	size_t n;	/* in an element */
	size_t calls;
};

static void after(void *to, const void *from, size_t count, void *arg)
{
	struct maps *m = arg;
	const struct map *f = from;
	struct map *t = to;
	size_t i;

	m->calls++;
	for (i = 0; i < count * m->n; i++) {
		t[i].b = f[i].a * t[i].b + f[i].b;
		t[i].a *= f[i].a;
	}
}

static struct map map_of(int rank, size_t i)
{
	uint64_t h = hash(rank, i);

	return (struct map){ h | 1, h >> 32 };
}

static bool same_maps(const char *got, int end, size_t first, size_t many)
{
	struct maps one = { .n = 1 };
	size_t i;
	int r;

	for (i = 0; i < many; i += many > 400 ? 89 : 1) {
		struct map want = map_of(0, first + i);

		for (r = 1; r < end; r++) {
			struct map next = map_of(r, first + i);

			after(&want, &next, 1, &one);
		}
		if (memcmp(&want, got + i * sizeof(want), sizeof(want)))
			return false;
	}
	return true;
}

static void fill_maps(const struct data *d, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		((struct map *)d->in)[i] = map_of(t_rank, i);
	memset(d->out, 0x5a, n * sizeof(struct map));
}

/* @count elements of @each maps. */
static int own_op(struct ub_scope *w, const struct data *d, size_t each,
		  size_t count)
{
	struct maps m = { .n = each };
	const struct ub_op op = {
		.size = each * sizeof(struct map), .combine = after, .arg = &m,
	};
	int me = ub_rank(w), size = ub_size(w), i;
	size_t n = each * count, sum = 0, first = 0;

	fill_maps(d, n);
	T_CHECK(!ub_allreduce_op(w, d->in, d->out, count, &op));
	T_CHECK(same_maps(d->out, size, 0, n));
	T_CHECK(!ub_reduce_op(w, d->in, d->out, count, &op, size - 1));
	T_CHECK(same_maps(d->out, size, 0, n));
	T_CHECK(!ub_scan_op(w, d->in, d->out, count, &op));
	T_CHECK(same_maps(d->out, me + 1, 0, n));
	T_CHECK(!ub_exscan_op(w, d->in, d->out, count, &op));
	T_CHECK(!me || same_maps(d->out, me, 0, n));
	for (i = 0; i < size; i++) {
		d->counts[i] = i == size - 1 ? count - sum : count / size;
		if (i == me)
			first = sum;
		sum += d->counts[i];
	}
	T_CHECK(!ub_reduce_scatter_op(w, d->in, d->out, d->counts, &op));
	T_CHECK(same_maps(d->out, size, first * each, d->counts[me] * each));
	T_CHECK(!ub_allreduce_op(w, d->in, d->in, count, &op));
	T_CHECK(same_maps(d->in, size, 0, n));
	fill_maps(d, n);
	T_CHECK(!ub_scan_op(w, d->in, d->in, count, &op));
	T_CHECK(same_maps(d->in, me + 1, 0, n));
	T_CHECK(size == 1 || m.calls);
	return 0;
}

static int own_ops(struct ub_scope *w, const struct data *d)
{
	struct ub_op op = { .size = 8, .combine = after };

	T_CHECK(ub_allreduce_op(w, d->in, d->out, 1, NULL) == -EINVAL);
	op.size = 0;
	T_CHECK(ub_allreduce_op(w, d->in, d->out, 1, &op) == -EINVAL);
	op.size = UB_OP_BYTES + 1;
	T_CHECK(ub_allreduce_op(w, d->in, d->out, 1, &op) == -EINVAL);
	/* In a mailbox; in parts; one element of half a chunk, and several. */
	return own_op(w, d, 1, 16) || own_op(w, d, 1, 40000) ||
	       own_op(w, d, 125, 99) || own_op(w, d, UB_OP_BYTES / 8, 1) ||
	       own_op(w, d, UB_OP_BYTES / 8, 5);
}

/* ---- special numbers ---- */

static int special(struct ub_scope *w)
{
	int me = ub_rank(w), n = ub_size(w);
	double d[4] = { me == n / 2 ? NAN : me, me ? -0.0 : 0.0, INFINITY, me };
	uint16_t b[2] = { me == n / 2 ? 0x7f81 : 0x3f80, 0x7f7f };
	double got[4];

	T_CHECK(!ub_allreduce(w, d, got, 4, UB_DOUBLE, UB_OP_MIN));
	T_CHECK(isnan(got[0]) && !signbit(got[1]) && got[3] == 0);
	T_CHECK(!ub_allreduce(w, d, got, 4, UB_DOUBLE, UB_OP_MAX));
	T_CHECK(isnan(got[0]) && !signbit(got[1]) && got[3] == n - 1);
	T_CHECK(!ub_allreduce(w, b, b, 2, UB_BF16, UB_OP_SUM));
	/* A NaN stays one; the largest number twice is infinite. */
	T_CHECK((b[0] & 0x7fff) > 0x7f80);
	T_CHECK(n == 1 || b[1] == 0x7f80);
	return 0;
}

static int wrong(struct ub_scope *w, const struct data *d)
{
	size_t huge[64];
	int i;

	for (i = 0; i < ub_size(w); i++)
		huge[i] = SIZE_MAX / 8;
	T_CHECK(ub_allreduce(NULL, d->in, d->out, 1, UB_FLOAT, 0) == -EINVAL);
	T_CHECK(ub_allreduce(w, NULL, d->out, 1, UB_FLOAT, 0) == -EINVAL);
	T_CHECK(ub_allreduce(w, d->in, NULL, 1, UB_FLOAT, 0) == -EINVAL);
	T_CHECK(ub_allreduce(w, d->in, d->out, SIZE_MAX / 8 + 1, UB_DOUBLE, 0) ==
		-EINVAL);
	T_CHECK(strstr(ub_last_error(), "memory"));
	T_CHECK(ub_reduce(w, d->in, d->out, 1, UB_FLOAT, 0, ub_size(w)) == -EINVAL);
	T_CHECK(ub_reduce(w, d->in, d->out, 1, UB_FLOAT, 0, -1) == -EINVAL);
	T_CHECK(ub_scan(w, d->in, d->out, 1, 99, 0) == -EINVAL);
	T_CHECK(ub_exscan(w, d->in, d->out, 1, UB_FLOAT, 99) == -EINVAL);
	T_CHECK(ub_reduce_scatterv(w, d->in, d->out, huge, UB_DOUBLE, 0) == -EINVAL);
	T_CHECK(ub_reduce_scatterv(w, d->in, d->out, NULL, UB_DOUBLE, 0) == -EINVAL);
	/* Nothing at all needs no place. */
	T_CHECK(!ub_allreduce(w, NULL, NULL, 0, UB_INT32, UB_OP_SUM));
	T_CHECK(!ub_scan(w, NULL, NULL, 0, UB_INT32, UB_OP_SUM));
	T_CHECK(!ub_reduce_scatter(w, NULL, NULL, 0, UB_INT32, UB_OP_SUM));
	return 0;
}


static int battery(struct ub_ctx *ctx, struct ub_scope *w)
{
	struct data d = {
		.in = malloc(8 * (MOST + 1)), .out = malloc(8 * (MOST + 1)),
		.counts = calloc(ub_size(w), sizeof(*d.counts)),
	};
	const struct ub_teams *t;
	int err;

	(void)ctx;
	T_CHECK(d.in && d.out && d.counts);
	memset(d.in, 0, 8 * (MOST + 1));
	err = all_types(w, &d) || all_sizes(w, &d) || own_ops(w, &d) ||
	      special(w) || wrong(w, &d);
	free(d.in);
	free(d.out);
	free(d.counts);
	if (err || ub_size(w) == 1)
		return err;
	/* It was the way that this shape is to test. */
	t = ub_plan_reduce(w, 8 * MOST);
	T_CHECK(want_teams ? t && (int)t->n == want_teams : !t || t->n == 1);
	return 0;
}

int main(void)
{
	return t_shapes(battery);
}
