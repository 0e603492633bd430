// SPDX-License-Identifier: MIT
/*
 * Types and operators of reductions.
 *
 * Results have the same bits wherever they are computed: no operation is
 * reordered or contracted (-ffp-contract=off), only done several at a time.
 */
#include "coll.h"
#include <string.h>

/* to[i] may be left[i]; elements do not depend on each other. */
#ifdef __clang__
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#define KERNEL(name, type, expr)					\
static void name(void *to, const void *left, const void *right, size_t n)\
{									\
	const type *l = left, *r = right;				\
	type *t = to;							\
	size_t i;							\
									\
	INDEPENDENT							\
	for (i = 0; i < n; i++) {					\
		const type a = l[i], b = r[i];				\
									\
		t[i] = (expr);						\
	}								\
}

/* Sums and products wrap around: unsigned arithmetic has the same bits. */
KERNEL(i32_sum, uint32_t, a + b)
KERNEL(i32_prod, uint32_t, a * b)
KERNEL(i32_min, int32_t, b < a ? b : a)
KERNEL(i32_max, int32_t, b > a ? b : a)
KERNEL(i32_and, uint32_t, a & b)
KERNEL(i32_or, uint32_t, a | b)
KERNEL(i32_xor, uint32_t, a ^ b)

KERNEL(i64_sum, uint64_t, a + b)
KERNEL(i64_prod, uint64_t, a * b)
KERNEL(i64_min, int64_t, b < a ? b : a)
KERNEL(i64_max, int64_t, b > a ? b : a)
KERNEL(i64_and, uint64_t, a & b)
KERNEL(i64_or, uint64_t, a | b)
KERNEL(i64_xor, uint64_t, a ^ b)

KERNEL(u64_min, uint64_t, b < a ? b : a)
KERNEL(u64_max, uint64_t, b > a ? b : a)

/* A NaN is the least and the greatest of all; of 0 and -0 the left one stays. */
KERNEL(f32_sum, float, a + b)
KERNEL(f32_prod, float, a * b)
KERNEL(f32_min, float, b < a || b != b ? b : a)
KERNEL(f32_max, float, b > a || b != b ? b : a)

KERNEL(f64_sum, double, a + b)
KERNEL(f64_prod, double, a * b)
KERNEL(f64_min, double, b < a || b != b ? b : a)
KERNEL(f64_max, double, b > a || b != b ? b : a)

/* bf16: the upper half of a float, computed in float, rounded to even. */
static inline float wide(uint16_t v)
{
	const union { uint32_t u; float f; } x = { .u = (uint32_t)v << 16 };

	return x.f;
}

static inline uint16_t narrow(float f)
{
	const union { float f; uint32_t u; } x = { .f = f };
	uint32_t even = (x.u + 0x7fff + (x.u >> 16 & 1)) >> 16;

	/* Rounding must not make an infinity of a NaN. */
	return f != f ? x.u >> 16 | 0x40 : even;
}

KERNEL(b16_sum, uint16_t, narrow(wide(a) + wide(b)))
KERNEL(b16_prod, uint16_t, narrow(wide(a) * wide(b)))
KERNEL(b16_min, uint16_t, wide(b) < wide(a) || wide(b) != wide(b) ? b : a)
KERNEL(b16_max, uint16_t, wide(b) > wide(a) || wide(b) != wide(b) ? b : a)

#define UB_TYPES	(UB_BF16 + 1)
#define UB_OPS		(UB_OP_XOR + 1)

/* In the order of enum ub_combine. */
static const struct {
	size_t size;
	void (*fn[UB_OPS])(void *to, const void *left, const void *right,
			   size_t count);
} types[UB_TYPES] = {
	[UB_INT32] = { 4, { i32_sum, i32_min, i32_max, i32_prod,
			    i32_and, i32_or, i32_xor } },
	[UB_INT64] = { 8, { i64_sum, i64_min, i64_max, i64_prod,
			    i64_and, i64_or, i64_xor } },
	[UB_UINT64] = { 8, { i64_sum, u64_min, u64_max, i64_prod,
			     i64_and, i64_or, i64_xor } },
	[UB_FLOAT] = { 4, { f32_sum, f32_min, f32_max, f32_prod } },
	[UB_DOUBLE] = { 8, { f64_sum, f64_min, f64_max, f64_prod } },
	[UB_BF16] = { 2, { b16_sum, b16_min, b16_max, b16_prod } },
};

/* The barrier's own, for integers; it has no products. */
static const enum ub_reduction s64[UB_OPS] = {
	UB_SUM, UB_MIN_S64, UB_MAX_S64, UB_NONE, UB_AND, UB_OR, UB_XOR,
};

static const enum ub_reduction u64[UB_OPS] = {
	UB_SUM, UB_MIN_U64, UB_MAX_U64, UB_NONE, UB_AND, UB_OR, UB_XOR,
};

int ub_combiner_of(enum ub_type type, enum ub_combine op, const char *call,
		   struct ub_combiner *c)
{
	if ((unsigned int)type >= UB_TYPES || (unsigned int)op >= UB_OPS)
		return ub_fail(-EINVAL, "%s(): unknown type %d or operation %d",
			       call, type, op);
	*c = (struct ub_combiner){
		.size = types[type].size, .fn = types[type].fn[op],
		.word = type == UB_INT32 || type == UB_INT64 ? s64[op] :
			type == UB_UINT64 ? u64[op] : UB_NONE,
	};
	if (!c->fn)
		return ub_fail(-EINVAL,
			       "%s(): bits of floating-point numbers (operation %d) are not combined; use an integer type",
			       call, op);
	return 0;
}

int ub_combiner_user(const struct ub_op *op, const char *call,
		     struct ub_combiner *c)
{
	if (!op || !op->combine)
		return ub_fail(-EINVAL, "%s(): no operator", call);
	if (!op->size || op->size > UB_OP_BYTES)
		return ub_fail(-EINVAL,
			       "%s(): an element of %zu bytes; give 1 to %d, and several elements for more",
			       call, op->size, UB_OP_BYTES);
	*c = (struct ub_combiner){ .size = op->size, .user = op };
	return 0;
}

void ub_combine(const struct ub_combiner *c, void *to, const void *left,
		const void *right, size_t count)
{
	if (!count)
		return;
	if (c->fn) {
		c->fn(to, left, right, count);
		return;
	}
	if (to != left)
		memcpy(to, left, count * c->size);
	c->user->combine(to, right, count, c->user->arg);
}
