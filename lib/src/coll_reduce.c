// SPDX-License-Identifier: MIT
/* Reductions: the calls, and the checks of their arguments. */
#include "coll.h"

static int reduction(struct ub_chain *r, const char *call)
{
	struct ub_scope *s = r->s;
	int err;

	if ((r->count && !r->in) || (r->many && !r->out))
		return ub_coll_bad(call, "no place for the data");
	err = ub_scope_begin(s, call);
	if (err)
		return err;
	err = ub_chain_run(r);
	return ub_coll_end(s, err, r->count * r->by.size);
}

static int too_long(const char *call, size_t count, size_t size)
{
	return ub_fail(-EINVAL,
		       "%s(): %zu elements of %zu bytes are more than memory can have",
		       call, count, size);
}

/* All of the vector is wanted, if any. */
static int whole(struct ub_chain *r, const char *call)
{
	if (r->count > PTRDIFF_MAX / r->by.size)
		return too_long(call, r->count, r->by.size);
	r->many = r->ranks ? r->count : 0;
	return reduction(r, call);
}

static int reduce(struct ub_scope *s, const void *in, void *out, size_t count,
		  const struct ub_combiner *by, int root)
{
	struct ub_chain r = {
		.s = s, .by = *by, .kind = UB_TO_ROOT, .in = in, .out = out,
		.count = count,
	};

	if (!s)
		return ub_coll_bad("ub_reduce", "the scope is NULL");
	if (root < 0 || (uint32_t)root >= s->n)
		return ub_coll_bad_root("ub_reduce", s, root);
	r.ranks = s->rank == (uint32_t)root ? s->n : 0;
	return whole(&r, "ub_reduce");
}

static int allreduce(struct ub_scope *s, const void *in, void *out, size_t count,
		     const struct ub_combiner *by)
{
	struct ub_chain r = {
		.s = s, .by = *by, .kind = UB_TO_ALL, .in = in, .out = out,
		.count = count,
	};

	if (!s)
		return ub_coll_bad("ub_allreduce", "the scope is NULL");
	r.ranks = s->n;
	return whole(&r, "ub_allreduce");
}

static int scan(struct ub_scope *s, const void *in, void *out, size_t count,
		const struct ub_combiner *by, enum ub_to kind, const char *call)
{
	struct ub_chain r = {
		.s = s, .by = *by, .kind = kind, .in = in, .out = out,
		.count = count,
	};

	if (!s)
		return ub_coll_bad(call, "the scope is NULL");
	r.ranks = s->rank + (kind == UB_TO_SCAN);
	return whole(&r, call);
}

/* @counts NULL: @count elements for everybody. */
static int reduce_scatter(struct ub_scope *s, const void *in, void *out,
			  size_t count, const size_t *counts,
			  const struct ub_combiner *by, const char *call)
{
	struct ub_chain r = {
		.s = s, .by = *by, .kind = UB_TO_PARTS, .in = in, .out = out,
	};
	size_t most = PTRDIFF_MAX / by->size, n;
	uint32_t i;

	if (!s)
		return ub_coll_bad(call, "the scope is NULL");
	r.ranks = s->n;
	for (i = 0; i < s->n; i++, r.count += n) {
		n = counts ? counts[i] : count;
		if (n > most - r.count)
			return too_long(call, n, by->size);
		if (i != s->rank)
			continue;
		r.from = r.count;
		r.many = n;
	}
	return reduction(&r, call);
}

/* ---- types of the library's ---- */

int ub_reduce(struct ub_scope *s, const void *in, void *out, size_t count,
	      enum ub_type type, enum ub_combine op, int root)
{
	struct ub_combiner by;
	int err = ub_combiner_of(type, op, "ub_reduce", &by);

	return err ? err : reduce(s, in, out, count, &by, root);
}

int ub_allreduce(struct ub_scope *s, const void *in, void *out, size_t count,
		 enum ub_type type, enum ub_combine op)
{
	struct ub_combiner by;
	int err = ub_combiner_of(type, op, "ub_allreduce", &by);

	return err ? err : allreduce(s, in, out, count, &by);
}

int ub_scan(struct ub_scope *s, const void *in, void *out, size_t count,
	    enum ub_type type, enum ub_combine op)
{
	struct ub_combiner by;
	int err = ub_combiner_of(type, op, "ub_scan", &by);

	return err ? err : scan(s, in, out, count, &by, UB_TO_SCAN, "ub_scan");
}

int ub_exscan(struct ub_scope *s, const void *in, void *out, size_t count,
	      enum ub_type type, enum ub_combine op)
{
	struct ub_combiner by;
	int err = ub_combiner_of(type, op, "ub_exscan", &by);

	return err ? err : scan(s, in, out, count, &by, UB_TO_EXSCAN, "ub_exscan");
}

int ub_reduce_scatter(struct ub_scope *s, const void *in, void *out,
		      size_t count, enum ub_type type, enum ub_combine op)
{
	static const char call[] = "ub_reduce_scatter";
	struct ub_combiner by;
	int err = ub_combiner_of(type, op, call, &by);

	return err ? err : reduce_scatter(s, in, out, count, NULL, &by, call);
}

int ub_reduce_scatterv(struct ub_scope *s, const void *in, void *out,
		       const size_t *counts, enum ub_type type,
		       enum ub_combine op)
{
	static const char call[] = "ub_reduce_scatterv";
	struct ub_combiner by;
	int err = ub_combiner_of(type, op, call, &by);

	if (!counts)
		return ub_coll_bad(call, "counts is NULL");
	return err ? err : reduce_scatter(s, in, out, 0, counts, &by, call);
}

/* ---- operators of the program's ---- */

int ub_reduce_op(struct ub_scope *s, const void *in, void *out, size_t count,
		 const struct ub_op *op, int root)
{
	struct ub_combiner by;
	int err = ub_combiner_user(op, "ub_reduce_op", &by);

	return err ? err : reduce(s, in, out, count, &by, root);
}

int ub_allreduce_op(struct ub_scope *s, const void *in, void *out, size_t count,
		    const struct ub_op *op)
{
	struct ub_combiner by;
	int err = ub_combiner_user(op, "ub_allreduce_op", &by);

	return err ? err : allreduce(s, in, out, count, &by);
}

int ub_scan_op(struct ub_scope *s, const void *in, void *out, size_t count,
	       const struct ub_op *op)
{
	struct ub_combiner by;
	int err = ub_combiner_user(op, "ub_scan_op", &by);

	return err ? err : scan(s, in, out, count, &by, UB_TO_SCAN, "ub_scan_op");
}

int ub_exscan_op(struct ub_scope *s, const void *in, void *out, size_t count,
		 const struct ub_op *op)
{
	struct ub_combiner by;
	int err = ub_combiner_user(op, "ub_exscan_op", &by);

	return err ? err : scan(s, in, out, count, &by, UB_TO_EXSCAN, "ub_exscan_op");
}

int ub_reduce_scatter_op(struct ub_scope *s, const void *in, void *out,
			 const size_t *counts, const struct ub_op *op)
{
	static const char call[] = "ub_reduce_scatter_op";
	struct ub_combiner by;
	int err = ub_combiner_user(op, call, &by);

	if (!counts)
		return ub_coll_bad(call, "counts is NULL");
	return err ? err : reduce_scatter(s, in, out, 0, counts, &by, call);
}
