/* SPDX-License-Identifier: MIT */
/*
 * The machine file: names, sizes and figures of the levels, outermost first;
 * and what a program's names for levels mean here.
 */
#ifndef UB_MACHINE_H
#define UB_MACHINE_H

#include <stdbool.h>
#include <ub/ub.h>

/* Figures of a level about which the file says nothing. */
#define UB_LATENCY_NS	100
#define UB_MB_PER_S	10000

#define UB_ALIASES	16

/**
 * struct ub_figure - how fast the children of one level reach each other
 * @latency_ns: of a flag from one to another
 * @mb_per_s: of one child's link to the others, 10^6 bytes a second
 */
struct ub_figure {
	__u32 latency_ns;
	__u32 mb_per_s;
};

/**
 * struct ub_alias - a name that programs may use for a level
 * @name: the name
 * @place: see ub_machine_place()
 */
struct ub_alias {
	char name[UB_NAME_LEN];
	int place;
};

/**
 * struct ub_machine - what a machine file says
 * @title: its name
 * @shape: for ub_sched_build()
 * @radix: of each level
 * @name: of each level
 * @figure: of each level, then of the lanes of a node
 * @alias: other names of levels, @naliases of them
 * @flat: there was no file: one level "fabric" that holds everything
 */
struct ub_machine {
	char title[64];
	struct ub_shape shape;
	__u32 radix[UB_SHAPE_LEVELS];
	char name[UB_SHAPE_LEVELS][UB_NAME_LEN];
	struct ub_figure figure[UB_SHAPE_LEVELS + 1];
	struct ub_alias alias[UB_ALIASES];
	__u32 naliases;
	bool flat;
};

/**
 * ub_machine_read() - read @path; NULL or "" gives the flat machine
 * Return: 0, or a negative errno with a text that names file and line
 */
int ub_machine_read(struct ub_machine *m, const char *path);

/** ub_machine_level() - index of a level's name, or -1 */
int ub_machine_level(const struct ub_machine *m, const char *name);

/**
 * ub_machine_place() - what a name means
 *
 * An alias comes before a level of the same name.
 * Return: 0 "world", 1 + index of a level, 1 + number of levels "node"; -1 for
 *	a name that means nothing
 */
int ub_machine_place(const struct ub_machine *m, const char *name);

/**
 * ub_machine_alias() - let @name mean what @target does, which is no alias
 * Return: 0, or -EINVAL with a text that begins with @where
 */
int ub_machine_alias(struct ub_machine *m, const char *where, const char *name,
		     const char *target);

/** ub_machine_map() - aliases from a text like "board=rack,package=node" */
int ub_machine_map(struct ub_machine *m, const char *where, const char *text);

/** ub_machine_hash() - 64 bits over all that members must have alike */
__u64 ub_machine_hash(const struct ub_machine *m);

/** ub_machine_nodes() - node ids are below this, if all fields are in range */
__u32 ub_machine_nodes(const struct ub_machine *m);

/** ub_machine_node() - dense number 0, 1, .. to node id, fields mixed */
__u32 ub_machine_node(const struct ub_machine *m, __u32 dense);

#endif /* UB_MACHINE_H */
