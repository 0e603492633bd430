// SPDX-License-Identifier: GPL-2.0-only
/* ubfab fabric: devices, and fabrics within this kernel. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ub_names.h"
#include "ubfab.h"

/* ---- show ---- */

static void show_details(const struct reply *r)
{
	uint64_t half[2];
	char text[33];

	if (r->a[UB_NL_A_FABRIC_ID]) {
		memcpy(half, nla_data(r->a[UB_NL_A_FABRIC_ID]), sizeof(half));
		snprintf(text, sizeof(text), "%016" PRIx64 "%016" PRIx64, half[0],
			 half[1]);
		out_str("fabric", text);
		out_u64("generation", reply_u64(r, UB_NL_A_GENERATION));
	}
	out_u64("max_nodes", reply_u32(r, UB_NL_A_MAX_NODES));
	out_u64("max_members", reply_u32(r, UB_NL_A_MAX_MEMBERS));
	out_u64("max_windows", reply_u32(r, UB_NL_A_MAX_WINDOWS));
	out_u64("detect_ms", reply_u32(r, UB_NL_A_DETECT_MS));
}

static void show_one(const struct reply *r, void *arg)
{
	(void)arg;
	out_open(r);
	out_str("transport", reply_str(r, UB_NL_A_TRANSPORT));
	out_u32_if(r, "loop", UB_NL_A_LOOP);
	out_u64("node", reply_u32(r, UB_NL_A_NODE));
	if (r->a[UB_NL_A_INCARNATION])
		out_u64("incarnation", reply_u64(r, UB_NL_A_INCARNATION));
	out_str("state", ub_state_name(reply_u32(r, UB_NL_A_STATE)));
	out_reason_if(r, "reason");
	out_bytes("memory", reply_u64(r, UB_NL_A_BYTES));
	out_str("memtype", ub_memtype_name(reply_u32(r, UB_NL_A_MEMTYPE)));
	out_bytes("slice", reply_u64(r, UB_NL_A_SLICE));
	out_bytes("free", reply_u64(r, UB_NL_A_FREE));
	out_u64("lanes", reply_u32(r, UB_NL_A_LANES));
	if (opts.details)
		show_details(r);
	out_close();
}

static int fabric_show(struct args *a)
{
	static const struct key keys[] = { { } };

	out_begin();
	return ubnl_show(a, UB_NL_CMD_FABRIC_GET, keys, show_one, NULL) ?:
	       out_end();
}

/* ---- add ---- */

/* What has been made: a loop, or one device. */
struct added {
	int attr;
	uint32_t value;
};

static void added(const struct reply *r, void *arg)
{
	struct added *new = arg;

	new->attr = r->a[UB_NL_A_FABRIC] ? UB_NL_A_FABRIC : UB_NL_A_LOOP;
	new->value = reply_u32(r, new->attr);
}

/* The nodes of a fabric that has just been made. */
static int show_added(struct args *a, const struct added *new)
{
	struct nl_msg *msg = ubnl_request(UB_NL_CMD_FABRIC_GET);

	if (msg)
		nla_put_u32(msg, new->attr, new->value);
	out_begin();
	return ubnl_dump(msg, a->about, show_one, NULL) ?: out_end();
}

/* "3=10.9.0.4" or "3=fd00::4", into @msg unless it is the node's own. */
static int add_peer(struct nl_msg *msg, const char *word, const uint64_t *own)
{
	unsigned char addr[16] = { [10] = 0xff, [11] = 0xff };
	struct nlattr *nest;
	unsigned long node;
	char *end;

	node = strtoul(word, &end, 10);
	if (end == word || *end != '=' || node > UINT32_MAX)
		return usage("peer: '%s' is not NODE=ADDRESS", word);
	if (own && node == *own)
		return 0;
	if (!inet_pton(AF_INET, end + 1, addr + 12) &&
	    !inet_pton(AF_INET6, end + 1, addr))
		return usage("peer: '%s' is no address of IPv4 or IPv6", end + 1);
	nest = nla_nest_start(msg, UB_NL_A_PEER);
	if (!nest || nla_put_u32(msg, UB_NL_PEER_NODE, node) ||
	    nla_put(msg, UB_NL_PEER_ADDRESS, sizeof(addr), addr))
		return say("peer: too many");
	nla_nest_end(msg, nest);
	return 0;
}

/* Peers are the words that follow, as long as they look like it. */
static int add_peers(struct args *a, struct nl_msg *msg, const uint64_t *own)
{
	int err = 0, n;

	for (n = 0; !err && *a->v && strchr(*a->v, '='); n++)
		err = add_peer(msg, args_next(a), own);
	return err || n ? err : usage("peer: NODE=ADDRESS is missing");
}

static int add_string(struct args *a, struct nl_msg *msg, int attr,
		      const char *name)
{
	const char *word = args_next(a);

	if (!word)
		return usage("%s: a word is missing", name);
	nla_put_string(msg, attr, word);
	return 0;
}

/* The node's own id, wherever it stands among the words; NULL: nowhere. */
static const uint64_t *own_node(const struct args *a)
{
	static uint64_t node;
	char **v;

	for (v = a->v; *v; v++) {
		if (strcmp(*v, "node") || !v[1])
			continue;
		node = strtoull(v[1], NULL, 0);
		return &node;
	}
	return NULL;
}

/* Words that only fabrics over a device have; -1: it is none of them. */
static int add_device_word(struct args *a, struct nl_msg *msg, const char *word,
			   const uint64_t *own)
{
	uint64_t value;
	int err;

	if (!strcmp(word, "dev"))
		return add_string(a, msg, UB_NL_A_DEV, "dev");
	if (!strcmp(word, "name"))
		return add_string(a, msg, UB_NL_A_NAME, "name");
	if (args_is(word, "peers") && strlen(word) > 1)
		return add_peers(a, msg, own);
	if (strcmp(word, "port"))
		return -1;
	err = args_number(a, "port", 1, UINT16_MAX, &value);
	if (!err)
		nla_put_u16(msg, UB_NL_A_PORT, value);
	return err;
}

static int add_words(struct args *a, struct nl_msg *msg)
{
	const char *word;
	const uint64_t *own = own_node(a);
	uint64_t value;
	int err = 0;

	while (!err && (word = args_next(a))) {
		err = add_device_word(a, msg, word, own);
		if (err >= 0)
			continue;
		err = 0;
		if (args_is(word, "nodes") && strcmp(word, "node")) {
			err = args_number(a, "nodes", 0, UINT32_MAX, &value);
			if (!err)
				nla_put_u32(msg, UB_NL_A_NODES, value);
		} else if (!strcmp(word, "node")) {
			err = args_number(a, "node", 0, UINT32_MAX, &value);
			if (!err)
				nla_put_u32(msg, UB_NL_A_NODE, value);
		} else if (args_is(word, "bytes")) {
			err = args_size(a, "bytes", &value);
			if (!err)
				nla_put_u64(msg, UB_NL_A_BYTES, value);
		} else {
			err = usage("fabric add: what is '%s'?", word);
		}
	}
	return err;
}

static int fabric_add(struct args *a)
{
	const char *transport = args_next(a);
	struct added new = { UB_NL_A_LOOP, 0 };
	struct nl_msg *msg;
	int err;

	if (!transport)
		return usage("fabric add: the transport is missing (loop, rdma)");
	msg = ubnl_request(UB_NL_CMD_FABRIC_ADD);
	if (!msg)
		return say("out of memory");
	nla_put_string(msg, UB_NL_A_TRANSPORT, transport);
	err = add_words(a, msg);
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	err = ubnl_talk(msg, a->about, added, &new);
	return err ?: show_added(a, &new);
}

/* ---- del, set, format ---- */

/* A request about the device that the next word names, or NULL and why. */
static struct nl_msg *about_device(struct args *a, int cmd, int *err)
{
	struct nl_msg *msg;
	uint32_t minor;
	size_t n = strlen(a->about);

	*err = args_device(a, &minor);
	if (*err)
		return NULL;
	snprintf(a->about + n, sizeof(a->about) - n, " ubfab%u", minor);
	msg = ubnl_request(cmd);
	if (!msg)
		*err = say("out of memory");
	else
		nla_put_u32(msg, UB_NL_A_FABRIC, minor);
	return msg;
}

static int fabric_del(struct args *a)
{
	int err;
	struct nl_msg *msg = about_device(a, UB_NL_CMD_FABRIC_DEL, &err);

	if (!msg)
		return err;
	if (*a->v) {
		nlmsg_free(msg);
		return usage("fabric del: what is '%s'?", *a->v);
	}
	return ubnl_talk(msg, a->about, NULL, NULL);
}

static int fabric_set(struct args *a)
{
	int err;
	struct nl_msg *msg = about_device(a, UB_NL_CMD_FABRIC_SET, &err);
	const char *word;
	uint64_t value;

	if (!msg)
		return err;
	while (!err && (word = args_next(a))) {
		if (args_is(word, "detect_ms") || !strcmp(word, "detect-ms")) {
			err = args_number(a, "detect_ms", 0, UINT32_MAX, &value);
			if (!err)
				nla_put_u32(msg, UB_NL_A_DETECT_MS, value);
		} else if (!strcmp(word, "up")) {
			nla_put_u32(msg, UB_NL_A_STATE, UB_STATE_UP);
		} else {
			err = usage("fabric set: what is '%s'?", word);
		}
	}
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	return ubnl_talk(msg, a->about, NULL, NULL);
}

static int fabric_format(struct args *a)
{
	int err;
	struct nl_msg *msg = about_device(a, UB_NL_CMD_FABRIC_FORMAT, &err);
	const char *word;

	if (!msg)
		return err;
	word = args_next(a);
	if (word && !strcmp(word, "force")) {
		nla_put_flag(msg, UB_NL_A_FORCE);
		word = args_next(a);
	}
	if (word) {
		nlmsg_free(msg);
		return usage("fabric format: what is '%s'?", word);
	}
	return ubnl_talk(msg, a->about, NULL, NULL);
}

int do_fabric(struct args *a)
{
	static const struct verb verbs[] = {
		{ "show", fabric_show },
		{ "list", fabric_show },
		{ "add", fabric_add },
		{ "delete", fabric_del },
		{ "set", fabric_set },
		{ "format", fabric_format },
		{ }
	};

	return args_verb(a, "fabric", verbs);
}
