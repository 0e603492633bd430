// SPDX-License-Identifier: GPL-2.0-only
/* Requests to the family "ub", and replies. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include "ubfab.h"

#define DUMP_TRIES	5	/* of one that changes meanwhile */

static struct nl_sock *sock;
static int family;

/**
 * struct talk - a request that is under way
 * @about: what it is about
 * @msg: replies of a dump, until it is complete
 * @n: number of them
 * @fn: gets replies
 * @arg: for @fn
 * @dump: keep replies
 * @changed: the kernel says that it is not consistent
 * @done: the last message came
 * @status: to return
 */
struct talk {
	const char *about;
	struct nl_msg **msg;
	size_t n;
	reply_fn fn;
	void *arg;
	bool dump;
	bool changed;
	bool done;
	int status;
};

static struct nla_policy policy[UB_NL_A_MAX + 1] = {
	[UB_NL_A_FABRIC]	= { .type = NLA_U32 },
	[UB_NL_A_NODE]		= { .type = NLA_U32 },
	[UB_NL_A_WINDOW]	= { .type = NLA_U32 },
	[UB_NL_A_SLOT]		= { .type = NLA_U32 },
	[UB_NL_A_MEMBER]	= { .type = NLA_U32 },
	[UB_NL_A_LEVEL]		= { .type = NLA_STRING },
	[UB_NL_A_LOOP]		= { .type = NLA_U32 },
	[UB_NL_A_TRANSPORT]	= { .type = NLA_STRING },
	[UB_NL_A_BYTES]		= { .type = NLA_U64 },
	[UB_NL_A_DETECT_MS]	= { .type = NLA_U32 },
	[UB_NL_A_STATE]		= { .type = NLA_U32 },
	[UB_NL_A_DEVICE]	= { .type = NLA_STRING },
	[UB_NL_A_FABRIC_ID]	= { .minlen = 16 },
	[UB_NL_A_GENERATION]	= { .type = NLA_U64 },
	[UB_NL_A_REASON]	= { .type = NLA_U32 },
	[UB_NL_A_INCARNATION]	= { .type = NLA_U64 },
	[UB_NL_A_HEARTBEAT_AGE]	= { .type = NLA_U64 },
	[UB_NL_A_MEMTYPE]	= { .type = NLA_U32 },
	[UB_NL_A_RINGS]		= { .type = NLA_U64 },
	[UB_NL_A_BELLS]		= { .type = NLA_U64 },
	[UB_NL_A_MAX_NODES]	= { .type = NLA_U32 },
	[UB_NL_A_MAX_MEMBERS]	= { .type = NLA_U32 },
	[UB_NL_A_MAX_WINDOWS]	= { .type = NLA_U32 },
	[UB_NL_A_SLICE]		= { .type = NLA_U64 },
	[UB_NL_A_FREE]		= { .type = NLA_U64 },
	[UB_NL_A_LANES]		= { .type = NLA_U32 },
	[UB_NL_A_LANE]		= { .type = NLA_U32 },
	[UB_NL_A_PID]		= { .type = NLA_U32 },
	[UB_NL_A_GVA]		= { .type = NLA_U64 },
	[UB_NL_A_LENGTH]	= { .type = NLA_U64 },
	[UB_NL_A_RIGHTS]	= { .type = NLA_U32 },
	[UB_NL_A_WIN_STATE]	= { .type = NLA_U32 },
	[UB_NL_A_WAITS_FOR]	= { .type = NLA_U32 },
	[UB_NL_A_GROUP]		= { .type = NLA_U32 },
	[UB_NL_A_GROUP_ID]	= { .type = NLA_U64 },
	[UB_NL_A_GROUPS]	= { .type = NLA_U32 },
	[UB_NL_A_MEMBERS]	= { .type = NLA_U32 },
	[UB_NL_A_LOST]		= { .type = NLA_U32 },
	[UB_NL_A_EPOCH]		= { .type = NLA_U64 },
	[UB_NL_A_MISSING]	= { .type = NLA_U32 },
	[UB_NL_A_STAT]		= { .type = NLA_NESTED },
	[UB_NL_A_EVENT]		= { .type = NLA_U32 },
	[UB_NL_A_VALUE]		= { .type = NLA_U64 },
};

/* ---- the socket ---- */

static int no_family(int err)
{
	if (err != -NLE_OBJ_NOTFOUND)
		return say("generic netlink: %s", nl_geterror(err));
	if (!access("/sys/module/ub", F_OK))
		return say("the module ub is loaded but has not all of the netlink family '%s': it is of another version",
			   UB_FAMILY_NAME);
	return say("the module ub is not loaded: modprobe ub");
}

/* When first needed: a wrong command line is told before. */
static int open_family(void)
{
	int err, on = 1;

	if (sock)
		return 0;
	sock = nl_socket_alloc();
	if (!sock)
		return say("out of memory");
	err = genl_connect(sock);
	if (err)
		return say("generic netlink: %s", nl_geterror(err));
	/* Without it messages are fewer, no more. */
	setsockopt(nl_socket_get_fd(sock), SOL_NETLINK, NETLINK_EXT_ACK, &on,
		   sizeof(on));
	family = genl_ctrl_resolve(sock, UB_FAMILY_NAME);
	return family < 0 ? no_family(family) : 0;
}

void ubnl_close(void)
{
	nl_socket_free(sock);
	sock = NULL;
}

struct nl_msg *ubnl_request(int cmd)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (msg && genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, 0, 0, 0, cmd,
			       UB_FAMILY_VERSION))
		return msg;
	nlmsg_free(msg);
	return NULL;
}

/* ---- what comes ---- */

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)((char *)e - NLMSG_HDRLEN);
	bool whole = !(nlh->nlmsg_flags & NLM_F_CAPPED);
	uint32_t at = NLMSG_HDRLEN + sizeof(*e);
	struct talk *t = arg;

	(void)from;
	if (whole && e->msg.nlmsg_len > NLMSG_HDRLEN)
		at += NLMSG_ALIGN(e->msg.nlmsg_len) - NLMSG_HDRLEN;
	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS) || at > nlh->nlmsg_len)
		at = nlh->nlmsg_len;
	tell_error(t->about, e->error, (char *)nlh + at, nlh->nlmsg_len - at,
		   whole ? &e->msg : NULL);
	t->status = UBFAB_EX_FAILED;
	t->done = true;
	return NL_STOP;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	struct talk *t = arg;

	(void)msg;
	t->done = true;
	return NL_STOP;
}

/* What nobody asked for has no number to be checked. */
static int on_any(struct nl_msg *msg, void *arg)
{
	(void)msg;
	(void)arg;
	return NL_OK;
}

static int on_changed(struct nl_msg *msg, void *arg)
{
	struct talk *t = arg;

	(void)msg;
	t->changed = true;
	return NL_OK;
}

/* A dump that fails says so in its last message. */
static int on_finish(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct talk *t = arg;
	int err = 0;

	if (nlmsg_datalen(nlh) >= (int)sizeof(err))
		memcpy(&err, nlmsg_data(nlh), sizeof(err));
	if (err < 0) {
		bool more = nlh->nlmsg_flags & NLM_F_ACK_TLVS;

		tell_error(t->about, err, (char *)nlmsg_data(nlh) + sizeof(err),
			   more ? nlmsg_datalen(nlh) - (int)sizeof(err) : 0, NULL);
		t->status = UBFAB_EX_FAILED;
	}
	t->done = true;
	return NL_STOP;
}

static void hand_out(struct talk *t, struct nl_msg *msg)
{
	struct reply r = { .nlh = nlmsg_hdr(msg) };
	int err;

	r.cmd = genlmsg_hdr(r.nlh)->cmd;
	err = genlmsg_parse(r.nlh, 0, r.a, UB_NL_A_MAX, policy);
	if (err)
		t->status = say("%s: a message of the kernel: %s", t->about,
				nl_geterror(err));
	else if (t->fn)
		t->fn(&r, t->arg);
}

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct talk *t = arg;
	struct nl_msg **more;

	if (nlmsg_hdr(msg)->nlmsg_type != family)
		return NL_SKIP;
	if (!t->dump) {
		hand_out(t, msg);
		return NL_OK;
	}
	more = realloc(t->msg, (t->n + 1) * sizeof(*more));
	if (!more)
		return -NLE_NOMEM;
	t->msg = more;
	more[t->n++] = msg;
	nlmsg_get(msg);
	return NL_OK;
}

static struct nl_cb *callbacks(struct talk *t)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);

	if (!cb)
		return NULL;
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, t);
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, t);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, t);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, t);
	nl_cb_set(cb, NL_CB_DUMP_INTR, NL_CB_CUSTOM, on_changed, t);
	return cb;
}

/* ---- talking ---- */

static int talk(struct nl_msg *msg, struct talk *t)
{
	struct nl_cb *cb = callbacks(t);
	int err;

	if (!msg || !cb)
		return say("out of memory");
	err = open_family();
	if (err) {
		nl_cb_put(cb);
		return err;
	}
	nlmsg_hdr(msg)->nlmsg_type = family;
	err = nl_send_auto(sock, msg);
	while (err >= 0 && !t->done)
		err = nl_recvmsgs(sock, cb);
	nl_cb_put(cb);
	if (!t->done)
		return say("%s: netlink: %s", t->about, nl_geterror(err));
	return t->status;
}

int ubnl_talk(struct nl_msg *msg, const char *about, reply_fn fn, void *arg)
{
	struct talk t = { .about = about, .fn = fn, .arg = arg };
	int err = talk(msg, &t);

	nlmsg_free(msg);
	return err;
}

static void forget(struct talk *t)
{
	while (t->n)
		nlmsg_free(t->msg[--t->n]);
	free(t->msg);
	t->msg = NULL;
}

int ubnl_dump(struct nl_msg *msg, const char *about, reply_fn fn, void *arg)
{
	struct talk t;
	int tries = 0, err;
	size_t i;

	if (msg)
		nlmsg_hdr(msg)->nlmsg_flags |= NLM_F_DUMP;
	do {
		if (tries)
			forget(&t);
		t = (struct talk){ .about = about, .fn = fn, .arg = arg, .dump = true };
		if (msg)
			nlmsg_hdr(msg)->nlmsg_seq = NL_AUTO_SEQ;
		err = talk(msg, &t);
	} while (!err && t.changed && ++tries < DUMP_TRIES);
	if (!err && t.changed)
		say("%s: keeps changing: something may be missing", about);
	for (i = 0; i < t.n && !err; i++)
		hand_out(&t, t.msg[i]);
	forget(&t);
	nlmsg_free(msg);
	return err ?: t.status;
}

int ubnl_listen(reply_fn fn, void *arg)
{
	struct talk t = { .about = "events", .fn = fn, .arg = arg };
	struct nl_cb *cb = callbacks(&t);
	int group, err;

	err = open_family();
	if (err) {
		nl_cb_put(cb);
		return err;
	}
	group = genl_ctrl_resolve_grp(sock, UB_FAMILY_NAME, UB_MCGRP_EVENTS);
	if (group < 0) {
		nl_cb_put(cb);
		return no_family(group);
	}
	if (!cb)
		return say("out of memory");
	nl_cb_set(cb, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, on_any, NULL);
	nl_socket_set_buffer_size(sock, 1 << 20, 0);
	err = nl_socket_add_membership(sock, group);
	while (err >= 0 && !ferror(stdout)) {
		err = nl_recvmsgs(sock, cb);
		if (err == -NLE_NOMEM) {
			say("events were lost");
			err = 0;
		}
	}
	nl_cb_put(cb);
	return err < 0 ? say("events: %s", nl_geterror(err)) : UBFAB_EX_FAILED;
}

/* ---- what is in a reply ---- */

uint32_t reply_u32(const struct reply *r, int attr)
{
	return r->a[attr] ? nla_get_u32(r->a[attr]) : 0;
}

uint64_t reply_u64(const struct reply *r, int attr)
{
	return r->a[attr] ? nla_get_u64(r->a[attr]) : 0;
}

const char *reply_str(const struct reply *r, int attr)
{
	return r->a[attr] ? nla_get_string(r->a[attr]) : "";
}

size_t reply_stats(const struct reply *r, struct stat_value *v)
{
	static struct nla_policy nested[UB_NL_STAT_MAX + 1] = {
		[UB_NL_STAT_NAME]	= { .type = NLA_STRING },
		[UB_NL_STAT_VALUE]	= { .type = NLA_U64 },
	};
	struct nlattr *a, *s[UB_NL_STAT_MAX + 1];
	const struct genlmsghdr *g = genlmsg_hdr(r->nlh);
	size_t n = 0;
	int left;

	nla_for_each_attr(a, genlmsg_attrdata(g, 0), genlmsg_attrlen(g, 0), left) {
		if (nla_type(a) != UB_NL_A_STAT || n == STATS_MAX ||
		    nla_parse_nested(s, UB_NL_STAT_MAX, a, nested) ||
		    !s[UB_NL_STAT_NAME] || !s[UB_NL_STAT_VALUE])
			continue;
		v[n].name = nla_get_string(s[UB_NL_STAT_NAME]);
		v[n++].value = nla_get_u64(s[UB_NL_STAT_VALUE]);
	}
	return n;
}
