// SPDX-License-Identifier: MIT
/*
 * Reading the machine file:
 *
 *	# outermost first
 *	name: rig-4
 *	levels:
 *	  - {name: board, radix: 2, ports: 1, latency: 400, bandwidth: 6000}
 *	  - {name: package, radix: 2}
 *	lanes: {ports: 1}
 *	aliases: {rack: world}
 *
 * The field of a level in the node id is as wide as its radix needs.
 */
#include "machine.h"
#include "error.h"
#include "schedule.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* A file that is being read. */
struct reader {
	const char *path;
	yaml_document_t doc;
};

static int __attribute__((format(printf, 3, 4)))
complain(const struct reader *r, const yaml_node_t *n, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return ub_fail(-EINVAL, "%s:%zu: %s", r->path, n->start_mark.line + 1,
		       text);
}

static const char *text_of(const yaml_node_t *n)
{
	return n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value :
	       "";
}

static int number(const struct reader *r, const yaml_node_t *n, const char *key,
		  long min, long max, long *value)
{
	const char *text = text_of(n);
	char *end;

	*value = strtol(text, &end, 10);
	if (!*text || *end || *value < min || *value > max)
		return complain(r, n, "%s is \"%s\"; give a number from %ld to %ld",
				key, text, min, max);
	return 0;
}

static int read_name(const struct reader *r, struct ub_machine *m,
		     const yaml_node_t *n, __u32 level)
{
	const char *text = text_of(n);
	__u32 i;

	if (!*text || strlen(text) >= UB_NAME_LEN)
		return complain(r, n, "a level's name has 1 to %d characters",
				UB_NAME_LEN - 1);
	if (!strcmp(text, "world") || !strcmp(text, "node") ||
	    !strcmp(text, "split"))
		return complain(r, n,
				"\"%s\" has a meaning of its own; give the level another name",
				text);
	for (i = 0; i < level; i++)
		if (!strcmp(m->name[i], text))
			return complain(r, n, "two levels are called \"%s\"", text);
	memset(m->name[level], 0, UB_NAME_LEN);
	memcpy(m->name[level], text, strlen(text));
	return 0;
}

static const struct ub_figure usual = {
	.latency_ns = UB_LATENCY_NS, .mb_per_s = UB_MB_PER_S,
};

/* What levels and lanes have in common; false when it is something else. */
static bool read_link(const struct reader *r, struct ub_machine *m, __u32 level,
		      const yaml_node_t *key, const yaml_node_t *val, int *err)
{
	const char *name = text_of(key);
	long v = 0;

	if (!strcmp(name, "ports")) {
		*err = number(r, val, name, 1, UB_MAX_PORTS, &v);
		m->shape.ports[level] = v;
	} else if (!strcmp(name, "latency")) {
		*err = number(r, val, name, 1, 1000000000, &v);
		m->figure[level].latency_ns = v;
	} else if (!strcmp(name, "bandwidth")) {
		*err = number(r, val, name, 1, 10000000, &v);
		m->figure[level].mb_per_s = v;
	} else {
		return false;
	}
	return true;
}

static int read_level(struct reader *r, struct ub_machine *m,
		      const yaml_node_t *n)
{
	const yaml_node_pair_t *p;
	__u32 level = m->shape.nlevels;
	long v;
	int err = 0;

	if (n->type != YAML_MAPPING_NODE)
		return complain(r, n, "a level looks like {name: board, radix: 2}");
	if (level == UB_SHAPE_LEVELS)
		return complain(r, n, "more than %d levels", UB_SHAPE_LEVELS);
	m->shape.ports[level] = 1;
	m->figure[level] = usual;
	for (p = n->data.mapping.pairs.start;
	     !err && p < n->data.mapping.pairs.top; p++) {
		const yaml_node_t *k = yaml_document_get_node(&r->doc, p->key);
		const yaml_node_t *val = yaml_document_get_node(&r->doc, p->value);

		if (!strcmp(text_of(k), "name")) {
			err = read_name(r, m, val, level);
		} else if (!strcmp(text_of(k), "radix")) {
			err = number(r, val, "radix", 1, 1 << UB_NODE_BITS, &v);
			m->radix[level] = v;
		} else if (!read_link(r, m, level, k, val, &err)) {
			err = complain(r, k,
				       "a level has no \"%s\"; it has name, radix, ports, latency and bandwidth",
				       text_of(k));
		}
	}
	if (err)
		return err;
	if (!m->name[level][0] || !m->radix[level])
		return complain(r, n, "a level needs name and radix");
	while (1UL << m->shape.bits[level] < m->radix[level])
		m->shape.bits[level]++;
	m->shape.nlevels++;
	return 0;
}

static int read_levels(struct reader *r, struct ub_machine *m,
		       const yaml_node_t *n)
{
	const yaml_node_item_t *it;
	__u32 bits = 0, i;
	int err = 0;

	if (n->type != YAML_SEQUENCE_NODE)
		return complain(r, n, "levels is a list, outermost first");
	for (it = n->data.sequence.items.start;
	     !err && it < n->data.sequence.items.top; it++)
		err = read_level(r, m, yaml_document_get_node(&r->doc, *it));
	if (err)
		return err;
	for (i = 0; i < m->shape.nlevels; i++)
		bits += m->shape.bits[i];
	if (bits > UB_NODE_BITS)
		return complain(r, n,
				"the levels need %u bits of a node id, which has %d; make a radix smaller",
				bits, UB_NODE_BITS);
	return 0;
}

static int read_lanes(struct reader *r, struct ub_machine *m,
		      const yaml_node_t *n)
{
	const yaml_node_pair_t *p;
	int err = 0;

	if (n->type != YAML_MAPPING_NODE)
		return complain(r, n, "lanes looks like {ports: 1}");
	for (p = n->data.mapping.pairs.start;
	     !err && p < n->data.mapping.pairs.top; p++) {
		const yaml_node_t *k = yaml_document_get_node(&r->doc, p->key);

		if (!read_link(r, m, m->shape.nlevels, k,
			       yaml_document_get_node(&r->doc, p->value), &err))
			return complain(r, k,
					"lanes has no \"%s\"; it has ports, latency and bandwidth",
					text_of(k));
	}
	return err;
}

static int read_aliases(struct reader *r, struct ub_machine *m,
			const yaml_node_t *n)
{
	const yaml_node_pair_t *p;
	char where[128];
	int err = 0;

	if (n->type != YAML_MAPPING_NODE)
		return complain(r, n, "aliases looks like {rack: board}");
	for (p = n->data.mapping.pairs.start;
	     !err && p < n->data.mapping.pairs.top; p++) {
		const yaml_node_t *k = yaml_document_get_node(&r->doc, p->key);

		if (ub_machine_level(m, text_of(k)) >= 0)
			return complain(r, k, "\"%s\" is a level", text_of(k));
		snprintf(where, sizeof(where), "%s:%zu", r->path,
			 k->start_mark.line + 1);
		err = ub_machine_alias(m, where, text_of(k),
				       text_of(yaml_document_get_node(&r->doc,
								      p->value)));
	}
	return err;
}

static int read_top(struct reader *r, struct ub_machine *m)
{
	const yaml_node_t *top = yaml_document_get_root_node(&r->doc);
	const yaml_node_t *lanes = NULL, *aliases = NULL;
	const yaml_node_pair_t *p;
	int err = 0;

	if (!top)
		return ub_fail(-EINVAL, "%s: the file is empty; it needs levels",
			       r->path);
	if (top->type != YAML_MAPPING_NODE)
		return complain(r, top,
				"a machine file has name, levels, lanes and aliases");
	for (p = top->data.mapping.pairs.start;
	     !err && p < top->data.mapping.pairs.top; p++) {
		const yaml_node_t *k = yaml_document_get_node(&r->doc, p->key);
		const yaml_node_t *v = yaml_document_get_node(&r->doc, p->value);

		if (!strcmp(text_of(k), "name"))
			snprintf(m->title, sizeof(m->title), "%s", text_of(v));
		else if (!strcmp(text_of(k), "levels"))
			err = read_levels(r, m, v);
		else if (!strcmp(text_of(k), "lanes"))
			lanes = v;
		else if (!strcmp(text_of(k), "aliases"))
			aliases = v;
		else
			err = complain(r, k,
				       "a machine has no \"%s\"; it has name, levels, lanes and aliases",
				       text_of(k));
	}
	if (!err && !m->shape.nlevels)
		err = complain(r, top, "no level; give at least one, like {name: board, radix: 2}");
	/* They need the levels. */
	m->shape.ports[m->shape.nlevels] = 1;
	m->figure[m->shape.nlevels] = usual;
	if (!err && lanes)
		err = read_lanes(r, m, lanes);
	if (!err && aliases)
		err = read_aliases(r, m, aliases);
	return err;
}

static void flat(struct ub_machine *m)
{
	*m = (struct ub_machine){
		.title = "flat",
		.shape = {
			.nlevels = 1, .bits = { UB_NODE_BITS }, .ports = { 1, 1 },
		},
		.radix = { 1 << UB_NODE_BITS },
		.name = { "fabric" },
		.figure = { usual, usual },
		.flat = true,
	};
}

int ub_machine_read(struct ub_machine *m, const char *path)
{
	struct reader r = { .path = path };
	yaml_parser_t parser;
	FILE *f;
	int err;

	if (!path || !*path) {
		flat(m);
		return 0;
	}
	*m = (struct ub_machine){ 0 };
	f = fopen(path, "re");
	if (!f)
		return ub_fail(-errno, "machine file %s: %s", path,
			       strerror(errno));
	if (!yaml_parser_initialize(&parser)) {
		fclose(f);
		return ub_fail(-ENOMEM, "no memory");
	}
	yaml_parser_set_input_file(&parser, f);
	if (yaml_parser_load(&parser, &r.doc)) {
		err = read_top(&r, m);
		yaml_document_delete(&r.doc);
	} else {
		err = ub_fail(-EINVAL, "%s:%zu: no YAML: %s", path,
			      parser.problem_mark.line + 1,
			      parser.problem ? parser.problem : "cannot be read");
	}
	yaml_parser_delete(&parser);
	fclose(f);
	return err;
}

int ub_machine_level(const struct ub_machine *m, const char *name)
{
	__u32 i;

	for (i = 0; i < m->shape.nlevels; i++)
		if (!strcmp(m->name[i], name))
			return i;
	return -1;
}

__u32 ub_machine_nodes(const struct ub_machine *m)
{
	__u64 nodes = 1;
	__u32 i;

	for (i = 0; i < m->shape.nlevels; i++)
		nodes *= m->radix[i];
	return nodes;
}

__u32 ub_machine_node(const struct ub_machine *m, __u32 dense)
{
	__u32 node = 0, shift = 0, i;

	for (i = m->shape.nlevels; i-- > 0; shift += m->shape.bits[i]) {
		node |= dense % m->radix[i] << shift;
		dense /= m->radix[i];
	}
	return node;
}
