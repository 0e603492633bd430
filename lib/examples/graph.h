/* SPDX-License-Identifier: MIT */
/*
 * A graph from a text file: "node<TAB>neighbour neighbour ..." on each line.
 */
#ifndef GRAPH_H
#define GRAPH_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct graph - nodes in the order of their lines
 * @text: the file; names point into it
 * @name: of each node
 * @n: nodes
 * @edges: edges
 * @out: n + 1 places in @to, where a node's edges begin
 * @to: targets
 */
struct graph {
	char *text;
	char **name;
	uint32_t n;
	size_t edges;
	uint32_t *out;
	uint32_t *to;
};

/* Neighbours without a line of their own are left out. Returns 0 or a
 * negative errno; -EINVAL: no line has a tab. */
int graph_read(struct graph *g, const char *path);
void graph_free(struct graph *g);

static inline uint32_t graph_degree(const struct graph *g, uint32_t v)
{
	return g->out[v + 1] - g->out[v];
}

#endif
