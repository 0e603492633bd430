// SPDX-License-Identifier: GPL-2.0-only
/* ubfab fabric: devices, and fabrics within this kernel. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ub_names.h"
#include "ubfab.h"

/**
 * struct listing - fabrics as they come
 * @v: so far
 * @n: number
 * @failed: out of memory
 */
struct listing {
	struct fabric *v;
	size_t n;
	bool failed;
};

static void list_one(const struct reply *r, void *arg)
{
	struct listing *l = arg;
	struct fabric *v = realloc(l->v, (l->n + 1) * sizeof(*v));

	if (!v) {
		l->failed = true;
		return;
	}
	l->v = v;
	v[l->n++] = (struct fabric){
		.minor = reply_u32(r, UB_NL_A_FABRIC),
		.memtype = reply_u32(r, UB_NL_A_MEMTYPE),
		.loop = -1,
	};
	if (r->a[UB_NL_A_LOOP])
		v[l->n - 1].loop = reply_u32(r, UB_NL_A_LOOP);
}

int fabric_list(int64_t minor, struct fabric **list, size_t *count)
{
	struct listing l = { 0 };
	int err = ubnl_about(UB_NL_CMD_FABRIC_GET, minor < 0 ? NLM_F_DUMP : 0,
			     minor, list_one, &l);

	if (!err && l.failed)
		err = say("out of memory");
	if (err) {
		free(l.v);
		l = (struct listing){ 0 };
	}
	*list = l.v;
	*count = l.n;
	return err;
}

static void show_details(const struct reply *r)
{
	const unsigned char *id = nla_data(r->a[UB_NL_A_FABRIC_ID]);
	uint64_t half[2];
	char text[33];

	memcpy(half, id, sizeof(half));
	snprintf(text, sizeof(text), "%016" PRIx64 "%016" PRIx64, half[0], half[1]);
	out_str("fabric", text);
	out_u64("generation", reply_u64(r, UB_NL_A_GENERATION));
	out_u64("max_nodes", reply_u32(r, UB_NL_A_MAX_NODES));
	out_u64("max_members", reply_u32(r, UB_NL_A_MAX_MEMBERS));
	out_u64("detect_ms", reply_u32(r, UB_NL_A_DETECT_MS));
}

static void show_one(const struct reply *r, void *arg)
{
	const int64_t *loop = arg;	/* only of this one, when not NULL */

	if (loop && (!r->a[UB_NL_A_LOOP] || reply_u32(r, UB_NL_A_LOOP) != *loop))
		return;
	out_open(reply_u32(r, UB_NL_A_FABRIC));
	out_str("transport", reply_str(r, UB_NL_A_TRANSPORT));
	if (r->a[UB_NL_A_LOOP])
		out_u64("loop", reply_u32(r, UB_NL_A_LOOP));
	out_u64("node", reply_u32(r, UB_NL_A_NODE));
	out_u64("incarnation", reply_u64(r, UB_NL_A_INCARNATION));
	out_str("state", ub_state_name(reply_u32(r, UB_NL_A_STATE)));
	if (r->a[UB_NL_A_REASON])
		out_str("reason", ub_reason_name(reply_u32(r, UB_NL_A_REASON)));
	out_bytes("memory", reply_u64(r, UB_NL_A_BYTES));
	out_str("memtype", ub_memtype_name(reply_u32(r, UB_NL_A_MEMTYPE)));
	out_bytes("slice", reply_u64(r, UB_NL_A_SLICE));
	out_bytes("free", reply_u64(r, UB_NL_A_FREE));
	out_u64("lanes", reply_u32(r, UB_NL_A_LANES));
	if (opts.details && r->a[UB_NL_A_FABRIC_ID])
		show_details(r);
	out_close();
}

static int show(int64_t minor, int64_t *loop)
{
	int err;

	out_begin();
	err = ubnl_about(UB_NL_CMD_FABRIC_GET, minor < 0 ? NLM_F_DUMP : 0, minor,
			 show_one, loop);
	return err ?: out_end();
}

static int fabric_show(struct args *a)
{
	int64_t minor;

	return args_dev(a, &minor) ?: show(minor, NULL);
}

static void added(const struct reply *r, void *arg)
{
	int64_t *loop = arg;

	*loop = reply_u32(r, UB_NL_A_LOOP);
}

static int fabric_add(struct args *a)
{
	const char *word = args_next(a);
	uint64_t nodes = 0, mb = 0, first = 0;
	int64_t loop = -1;
	struct nl_msg *msg;
	int err = 0;

	if (!word)
		return usage("fabric add: the transport is missing (loop)");
	msg = ubnl_request(UB_NL_CMD_FABRIC_ADD, 0);
	if (!msg)
		return say("out of memory");
	nla_put_string(msg, UB_NL_A_TRANSPORT, word);
	while (!err && (word = args_next(a))) {
		if (args_is(word, "nodes")) {
			err = args_number(a, "nodes", 0, UINT32_MAX, &nodes);
			nla_put_u32(msg, UB_NL_A_NODES, nodes);
		} else if (args_is(word, "mb")) {
			err = args_number(a, "mb", 1, UINT64_MAX >> 20, &mb);
			nla_put_u64(msg, UB_NL_A_BYTES, mb << 20);
		} else if (args_is(word, "first")) {
			err = args_number(a, "first", 0, UINT32_MAX, &first);
			nla_put_u32(msg, UB_NL_A_NODE, first);
		} else {
			err = usage("fabric add: what is '%s'?", word);
		}
	}
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	err = ubnl_talk(msg, "fabric add", added, &loop);
	return err ?: show(-1, &loop);
}

static int fabric_del(struct args *a)
{
	const char *word = args_next(a);
	struct fabric *f;
	struct nl_msg *msg;
	int64_t loop;
	uint32_t minor;
	size_t n;
	int err;

	if (word && !strcmp(word, "dev"))
		word = args_next(a);
	if (!word)
		return usage("fabric del: the name of a device is missing");
	if (*a->v)
		return usage("what is '%s'?", *a->v);
	err = args_device(word, &minor) ?: fabric_list(minor, &f, &n);
	if (err)
		return err;
	loop = n ? f->loop : -1;
	free(f);
	if (loop < 0)
		return say("%s: not of a loop fabric: its bus adds and deletes it",
			   word);
	msg = ubnl_request(UB_NL_CMD_FABRIC_DEL, 0);
	if (msg)
		nla_put_u32(msg, UB_NL_A_LOOP, loop);
	return ubnl_talk(msg, "fabric del", NULL, NULL);
}

int do_fabric(struct args *a)
{
	const char *verb = args_next(a);

	if (!verb || args_is(verb, "show") || args_is(verb, "list"))
		return fabric_show(a);
	if (args_is(verb, "add"))
		return fabric_add(a);
	if (args_is(verb, "delete"))
		return fabric_del(a);
	return usage("fabric: '%s' is not show, add or del", verb);
}
