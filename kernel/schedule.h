/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The schedule of a barrier: who flags whom, in which round, on which line.
 *
 * Pure: a function of the members' node ids and the machine's shape alone.
 * The kernel, libub, the simulator and the tests compile this same code.
 * Every member computes the same tree and lines, or creation fails.
 */
#ifndef UB_SCHEDULE_H
#define UB_SCHEDULE_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>
#endif

#include <ub/ub.h>

#define UB_MAX_LEVELS	UB_SHAPE_LEVELS	/* of a machine; lanes are one more */
#define UB_MAX_PORTS	8
#define UB_NODE_BITS	20

/**
 * struct ub_child - a child subtree, as a run of positions
 * @start: first position, see ub_sched.order
 * @size: members in it
 */
struct ub_child {
	__u32 start;
	__u32 size;
};

/**
 * struct ub_vertex - one vertex on the way from a member to the root
 * @level: level of the machine that it joins; shape.nlevels for lanes
 * @r: number of children
 * @mine: which child the member lies in
 * @m: the member's index in that child
 * @child: first of its r children in ub_sched.child
 */
struct ub_vertex {
	__u32 level;
	__u32 r;
	__u32 mine;
	__u32 m;
	__u32 child;
};

/**
 * struct ub_round - one round of one member at one vertex
 * @vertex: index in ub_sched.vertex
 * @d: children that the member's window covers when the round begins
 * @rest: d' of the partial window that travels in this round (0: none)
 * @digit: digit of the missing part at this round, for the partial window
 * @line: line of port 1 at the receiver; port p uses line + p - 1
 * @nports: ports in use, 1 to k
 * @last: the vertex is complete after this round
 * @last_full: the last port contributes its full window, not the partial one
 * @mutual: the one port's sender is among its receivers; nothing partial travels
 * @from: member that port p waits for, by p - 1
 * @send: first receiver of port p in ub_sched.send, by p - 1; the end follows
 */
struct ub_round {
	__u32 vertex;
	__u32 d;
	__u32 rest;
	__u16 digit;
	__u16 line;
	__u8 nports;
	bool last;
	bool last_full;
	bool mutual;
	__u32 from[UB_MAX_PORTS];
	__u32 send[UB_MAX_PORTS + 1];
};

/**
 * struct ub_sched - the whole schedule of one member
 * @n: members of the group
 * @me: the member
 * @nvertices: vertices with more than one child, innermost first
 * @nrounds: rounds, in the order in which they run
 * @nlines: lines that any member of the group may need
 * @order: member at each position; a subtree is a run of positions
 * @vertex: as many as @nvertices
 * @child: children of all vertices
 * @round: as many as @nrounds
 * @send: receivers of all rounds
 */
struct ub_sched {
	__u32 n;
	__u32 me;
	__u32 nvertices;
	__u32 nrounds;
	__u32 nlines;
	__u32 *order;
	struct ub_vertex *vertex;
	struct ub_child *child;
	struct ub_round *round;
	__u32 *send;
};

/**
 * ub_sched_build() - compute the schedule of one member
 * @node: node id of each member, in group order; lanes share one
 * @n: number of members, at least 1
 * @me: the member, below @n
 * @shape: the machine; NULL for one flat level
 *
 * Context: process context, allocates.
 * Return: the schedule, or NULL when memory is out or an argument is wrong
 *	(see ub_shape_check()).
 */
struct ub_sched *ub_sched_build(const __u32 *node, __u32 n, __u32 me,
				const struct ub_shape *shape);

/** ub_sched_free() - free what ub_sched_build() made; NULL is fine */
void ub_sched_free(struct ub_sched *s);

/**
 * ub_shape_check() - is a shape usable
 * Return: 0, or -EINVAL when levels, bits or ports are out of range.
 */
int ub_shape_check(const struct ub_shape *shape);

/** ub_shape_hash() - 64 bits that differ when schedules could differ */
__u64 ub_shape_hash(const struct ub_shape *shape);

/** ub_rounds() - rounds that a vertex of @r children with @k ports takes */
__u32 ub_rounds(__u32 r, __u32 k);

/**
 * ub_level_key() - what two nodes under one vertex of a level share
 * @shape: the machine
 * @node: node id
 * @level: level; the key is the part of the id above that level's own field
 */
__u32 ub_level_key(const struct ub_shape *shape, __u32 node, __u32 level);

#endif /* UB_SCHEDULE_H */
