/* SPDX-License-Identifier: MIT */
/*
 * Collectives of libub. Included by libub.h.
 */
#ifndef LIBUB_COLL_H
#define LIBUB_COLL_H

#include "libub.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- collectives ---- */
/*
 * Every member of the scope makes the same call with the same sizes, type,
 * operator and root. A call has at least one barrier of the scope, also for no
 * bytes, so no member leaves it before all have come. Sizes of 0 and scopes of
 * one member are fine; counts and sizes are size_t throughout.
 *
 * Elements are combined in rank order, from the left: ((r0 op r1) op r2) op r3.
 * That fixes the bits of floating-point results: they follow from the members'
 * data and their order, and from nothing else; neither from timing, nor from
 * the machine file, the back end or the number of elements.
 *
 * Errors beside those of all collective calls:
 *	-EINVAL		an argument is wrong: NULL where there is data, no such
 *			root, type or operator, a size that memory cannot have;
 *			or machine files differ in their figures
 *	-ENOSPC, -ENOMEM	no memory for the scope's own window
 * After an error what is in @out is unspecified.
 *
 * Data that several calls of one scope are about must not overlap unless a call
 * says so. Each call may be made by one thread at a time, as all of a scope.
 */
enum ub_type { UB_INT32, UB_INT64, UB_UINT64, UB_FLOAT, UB_DOUBLE, UB_BF16 };

/*
 * Operators of these types. Integers wrap around. UB_OP_AND, UB_OP_OR and
 * UB_OP_XOR are for integers. Minimum and maximum of floating-point numbers are
 * NaN when one of them is; of 0 and -0 the lower rank's stays. UB_BF16, the
 * upper half of a float, is computed in float and rounded to nearest, ties to
 * even, at each step.
 */
enum ub_combine {
	UB_OP_SUM, UB_OP_MIN, UB_OP_MAX, UB_OP_PROD, UB_OP_AND, UB_OP_OR, UB_OP_XOR
};

#define UB_OP_BYTES	65536

/**
 * struct ub_op - an operator of the program's own
 * @size: bytes of an element, 1 to UB_OP_BYTES
 * @combine: to[i] = to[i] op from[i] for @count elements, at least 1; @to has
 *	the lower ranks. It must be associative, need not commute, and has the
 *	same result wherever it runs: any member may be asked to combine any
 *	elements, in pieces. Called in the thread of the collective call; it
 *	makes no calls on that scope
 * @arg: for @combine
 *
 * Elements are aligned as their size allows, up to 64 bytes.
 */
struct ub_op {
	size_t size;
	void (*combine)(void *to, const void *from, size_t count, void *arg);
	void *arg;
};

/** ub_allreduce(), ub_reduce(), ub_scan(), ub_exscan() - combine the members' elements
 * @s: collective over it
 * @in: @count elements of this member
 * @out: gets as many; may be @in. Of ub_reduce(): used at @root only
 * @count: elements
 * @type: of the elements
 * @op: operator
 * @root: rank that gets the result
 *
 * ub_allreduce() gives everybody the combination of all, ub_reduce() @root alone.
 * ub_scan() gives that of ranks 0 to the member's own; ub_exscan() that of the
 * ranks below, and leaves rank 0's @out alone.
 *
 * Return: 0; -EINVAL an argument is wrong; -ENOSPC, -ENOMEM */
UB_API int ub_allreduce(struct ub_scope *s, const void *in, void *out,
			size_t count, enum ub_type type, enum ub_combine op);
UB_API int ub_reduce(struct ub_scope *s, const void *in, void *out, size_t count,
		     enum ub_type type, enum ub_combine op, int root);
UB_API int ub_scan(struct ub_scope *s, const void *in, void *out, size_t count,
		   enum ub_type type, enum ub_combine op);
UB_API int ub_exscan(struct ub_scope *s, const void *in, void *out, size_t count,
		     enum ub_type type, enum ub_combine op);
/** ub_reduce_scatter(), ub_reduce_scatterv() - combine, each member gets a part
 * @s: collective over it
 * @in: elements of this member for all, one part after the other
 * @out: gets this member's part; may be @in
 * @count: elements of each part
 * @counts: elements of each member's part; the same on all members
 * @type: of the elements
 * @op: operator
 *
 * Return: 0; -EINVAL an argument is wrong; -ENOSPC, -ENOMEM */
UB_API int ub_reduce_scatter(struct ub_scope *s, const void *in, void *out,
			     size_t count, enum ub_type type, enum ub_combine op);
UB_API int ub_reduce_scatterv(struct ub_scope *s, const void *in, void *out,
			      const size_t *counts, enum ub_type type,
			      enum ub_combine op);
/** ub_allreduce_op(), ub_reduce_op(), ub_scan_op(), ub_exscan_op(),
 * ub_reduce_scatter_op() - the same with an operator of the program's own
 * @s: collective over it
 * @in: elements of this member
 * @out: gets the result
 * @count: elements
 * @counts: elements of each member's part, as of ub_reduce_scatterv()
 * @op: all members give the same size and the same function
 * @root: rank that gets the result
 *
 * As ub_reduce() and the others do it.
 *
 * Return: 0; -EINVAL an argument is wrong; -ENOSPC, -ENOMEM */
UB_API int ub_allreduce_op(struct ub_scope *s, const void *in, void *out,
			   size_t count, const struct ub_op *op);
UB_API int ub_reduce_op(struct ub_scope *s, const void *in, void *out,
			size_t count, const struct ub_op *op, int root);
UB_API int ub_scan_op(struct ub_scope *s, const void *in, void *out, size_t count,
		      const struct ub_op *op);
UB_API int ub_exscan_op(struct ub_scope *s, const void *in, void *out,
			size_t count, const struct ub_op *op);
UB_API int ub_reduce_scatter_op(struct ub_scope *s, const void *in, void *out,
				const size_t *counts, const struct ub_op *op);

/** ub_bcast() - copy a member's bytes to all
 * @s: collective over it
 * @data: from here of @root, to here of the others
 * @bytes: the same on all members
 * @root: rank that gives
 *
 * Return: 0; -EINVAL an argument is wrong; -ENOSPC, -ENOMEM */
UB_API int ub_bcast(struct ub_scope *s, void *data, size_t bytes, int root);
/** ub_gather(), ub_gatherv() - a member gets the data of all
 * @s: collective over it
 * @in: of this member; at the root it may lie at its place in @out
 * @bytes: of this member; of ub_gather() the same on all members
 * @out: at the root: gets them, in rank order, or by @offs; as the next two
 * @sizes: bytes of each member
 * @offs: where each goes in @out, bytes
 * @root: rank that gets them
 *
 * Return: 0; -EINVAL an argument is wrong, at the root also a member's size;
 * -ENOSPC, -ENOMEM */
UB_API int ub_gather(struct ub_scope *s, const void *in, size_t bytes, void *out,
		     int root);
UB_API int ub_gatherv(struct ub_scope *s, const void *in, size_t bytes, void *out,
		      const size_t *sizes, const size_t *offs, int root);
/** ub_allgather(), ub_allgatherv() - everybody gets the data of all
 * @s: collective over it
 * @in: of this member; may lie at its place in @out
 * @bytes: of each member
 * @out: gets them, in rank order, or by @offs
 * @sizes: bytes of each member; the same on all members
 * @offs: where each goes in @out, bytes
 *
 * Return: 0; -EINVAL an argument is wrong; -ENOSPC, -ENOMEM */
UB_API int ub_allgather(struct ub_scope *s, const void *in, size_t bytes,
			void *out);
UB_API int ub_allgatherv(struct ub_scope *s, const void *in, void *out,
			 const size_t *sizes, const size_t *offs);
/** ub_scatter(), ub_scatterv() - a member gives each a part of its data
 * @s: collective over it
 * @in: at the root: the parts, in rank order, or by @offs; as the next two
 * @sizes: bytes for each member
 * @offs: where they lie in @in, bytes
 * @out: gets this member's part; at the root it may be its place in @in
 * @bytes: of each part; of ub_scatterv() room at @out, less is fine
 * @root: rank that gives
 *
 * Return: 0; -EINVAL an argument is wrong, or @root gives more than there is room
 * for; -ENOSPC, -ENOMEM */
UB_API int ub_scatter(struct ub_scope *s, const void *in, size_t bytes, void *out,
		      int root);
UB_API int ub_scatterv(struct ub_scope *s, const void *in, const size_t *sizes,
		       const size_t *offs, void *out, size_t bytes, int root);
/** ub_alltoall(), ub_alltoallv() - everybody gives each a part of its data
 * @s: collective over it
 * @in: parts for the others, in rank order, or by @in_offs
 * @bytes: of each part
 * @out: gets the parts that the others have for this member; of ub_alltoall() it
 *	may be @in, of ub_alltoallv() it must not overlap it
 * @in_sizes: bytes for each member
 * @in_offs: where they lie in @in, bytes
 * @out_sizes: room for each member's part, less is fine
 * @out_offs: where they go in @out, bytes
 *
 * Return: 0; -EINVAL an argument is wrong, or a member gives more than there is
 * room for; -ENOSPC, -ENOMEM */
UB_API int ub_alltoall(struct ub_scope *s, const void *in, size_t bytes,
		       void *out);
UB_API int ub_alltoallv(struct ub_scope *s, const void *in,
			const size_t *in_sizes, const size_t *in_offs, void *out,
			const size_t *out_sizes, const size_t *out_offs);

#ifdef __cplusplus
}
#endif
#endif /* LIBUB_COLL_H */
