// SPDX-License-Identifier: GPL-2.0-only
/* Tells of a rig and its nodes, for people or for programs. */
#include <json-c/json.h>

#include "daemon.h"

static int64_t age_ms(const struct node *n)
{
	return n->pid ? (now_ns() - n->born) / 1000000 : 0;
}

static void status_json(const struct rig *r, struct buf *b)
{
	struct json_object *top = json_object_new_object();
	const int style = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE;
	struct json_object *list = json_object_new_array(), *o;
	int i;

#define ADD(obj, key, type, value) \
	json_object_object_add(obj, key, json_object_new_##type(value))
	ADD(top, "name", string, r->opts->name);
	ADD(top, "accel", string, r->accel);
	ADD(top, "kernel", string, r->kernel.image);
	ADD(top, "bar", int64, r->mem[0].size);
	for (i = 0; i < r->n; i++) {
		const struct node *n = &r->node[i];

		o = json_object_new_object();
		ADD(o, "index", int, i);
		ADD(o, "node", int64, n->id);
		ADD(o, "state", string, node_state_name(n));
		ADD(o, "pid", int, n->pid);
		ADD(o, "peer", int64, n->dev[0].peer);
		ADD(o, "age_ms", int64, age_ms(n));
		ADD(o, "boots", int, n->boots);
		ADD(o, "splats", int, n->con.splats);
		if (!n->pid)
			ADD(o, "why", string, n->why);
		json_object_array_add(list, o);
	}
#undef ADD
	json_object_object_add(top, "nodes", list);
	buf_printf(b, "%s\n", json_object_to_json_string_ext(top, style));
	json_object_put(top);
}

static void status_text(const struct rig *r, struct buf *b)
{
	int i;

	buf_printf(b, "rig '%s': %d nodes by %s, %llu MiB shared\n",
		   r->opts->name, r->n, r->accel,
		   (unsigned long long)r->mem[0].size >> 20);
	for (i = 0; i < r->n; i++) {
		const struct node *n = &r->node[i];

		buf_printf(b, "n%d  node %u  %-8s", i, n->id,
			   node_state_name(n));
		if (n->pid)
			buf_printf(b, "  peer %lld  pid %d  %lld s",
				   (long long)n->dev[0].peer, n->pid,
				   (long long)age_ms(n) / 1000);
		else
			buf_printf(b, "  (%s)", n->why);
		if (n->boots > 1)
			buf_printf(b, "  boot %d", n->boots);
		if (n->con.splats)
			buf_printf(b, "  %d SPLATS", n->con.splats);
		buf_printf(b, "\n");
	}
}

void status_write(const struct rig *r, bool json, struct buf *out)
{
	if (json)
		status_json(r, out);
	else
		status_text(r, out);
}
