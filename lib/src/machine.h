/* SPDX-License-Identifier: MIT */
/*
 * The machine file: names and sizes of the levels, outermost first.
 */
#ifndef UB_MACHINE_H
#define UB_MACHINE_H

#include <stdbool.h>
#include <ub/ub.h>

/**
 * struct ub_machine - what a machine file says
 * @title: its name
 * @shape: for ub_sched_build()
 * @radix: of each level
 * @name: of each level
 * @flat: there was no file: one level "fabric" that holds everything
 */
struct ub_machine {
	char title[64];
	struct ub_shape shape;
	__u32 radix[UB_SHAPE_LEVELS];
	char name[UB_SHAPE_LEVELS][UB_NAME_LEN];
	bool flat;
};

/**
 * ub_machine_read() - read @path; NULL or "" gives the flat machine
 * Return: 0, or a negative errno with a text that names file and line
 */
int ub_machine_read(struct ub_machine *m, const char *path);

/** ub_machine_level() - index of a level's name, or -1 */
int ub_machine_level(const struct ub_machine *m, const char *name);

/** ub_machine_nodes() - node ids are below this, if all fields are in range */
__u32 ub_machine_nodes(const struct ub_machine *m);

/** ub_machine_node() - dense number 0, 1, .. to node id, fields mixed */
__u32 ub_machine_node(const struct ub_machine *m, __u32 dense);

#endif /* UB_MACHINE_H */
