// SPDX-License-Identifier: GPL-2.0-only
/* Generic netlink by hand. See nl.h. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nl.h"

static struct nlmsghdr *current(struct nl *nl)
{
	return (struct nlmsghdr *)(nl->buf + nl->at);
}

/* ---- requests ---- */

void nl_begin(struct nl_req *q, int cmd)
{
	memset(q, 0, sizeof(*q));
	q->h.nlmsg_len = offsetof(struct nl_req, attrs);
	q->g.cmd = cmd;
	q->g.version = UB_FAMILY_VERSION;
}

void nl_put(struct nl_req *q, int type, const void *data, size_t len)
{
	struct nlattr *a = (struct nlattr *)((char *)q + q->h.nlmsg_len);

	if (q->h.nlmsg_len + NLA_HDRLEN + NLA_ALIGN(len) > sizeof(*q))
		return;
	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + len;
	if (len)
		memcpy((char *)a + NLA_HDRLEN, data, len);
	q->h.nlmsg_len += NLA_HDRLEN + NLA_ALIGN(len);
}

void nl_put_u32(struct nl_req *q, int type, __u32 value)
{
	nl_put(q, type, &value, sizeof(value));
}

void nl_put_u64(struct nl_req *q, int type, __u64 value)
{
	nl_put(q, type, &value, sizeof(value));
}

void nl_put_str(struct nl_req *q, int type, const char *text)
{
	nl_put(q, type, text, strlen(text) + 1);
}

static int request(struct nl *nl, struct nl_req *q, int type, int flags)
{
	q->h.nlmsg_type = type;
	q->h.nlmsg_flags = NLM_F_REQUEST | flags;
	q->h.nlmsg_seq = ++nl->seq;
	nl->at = 0;
	nl->len = 0;
	nl->text[0] = 0;
	nl->attr = 0;
	nl->missing = 0;
	nl->interrupted = false;
	nl->messages = 0;
	return send(nl->fd, q, q->h.nlmsg_len, 0) < 0 ? -errno : 0;
}

/* ---- what comes ---- */

static int receive(struct nl *nl)
{
	nl->len = recv(nl->fd, nl->buf, sizeof(nl->buf), MSG_TRUNC);
	nl->at = 0;
	if (nl->len < 0)
		return -errno;
	if (nl->len > (int)sizeof(nl->buf))
		return -EMSGSIZE;
	nl->messages++;
	return 0;
}

/* The next message; @first: stay where the last receive() left off. */
static int next_message(struct nl *nl, bool *begun)
{
	if (*begun)
		nl->at += NLMSG_ALIGN(current(nl)->nlmsg_len);
	*begun = true;
	if (nl->at + NLMSG_HDRLEN <= nl->len)
		return 0;
	return receive(nl);
}

static const void *payload(const struct nlattr *a)
{
	return (const char *)a + NLA_HDRLEN;
}

/* Attributes of [p, end) into a[]; type 0 to max. */
static void parse(const char *p, const char *end, const struct nlattr **a, int max)
{
	memset(a, 0, (max + 1) * sizeof(*a));
	while (end - p >= NLA_HDRLEN) {
		const struct nlattr *at = (const struct nlattr *)p;
		int type = at->nla_type & NLA_TYPE_MASK;

		if (at->nla_len < NLA_HDRLEN || at->nla_len > end - p)
			break;
		if (type <= max)
			a[type] = at;
		p += NLA_ALIGN(at->nla_len);
	}
}

/* What an EXT_ACK says. @request is inside the message, or NULL. */
static void learn(struct nl *nl, const char *tlv, const char *end,
		  const char *request)
{
	const struct nlattr *a[NLMSGERR_ATTR_MAX + 1];
	__u32 offset;

	parse(tlv, end, a, NLMSGERR_ATTR_MAX);
	if (a[NLMSGERR_ATTR_MSG])
		snprintf(nl->text, sizeof(nl->text), "%s",
			 (const char *)payload(a[NLMSGERR_ATTR_MSG]));
	if (a[NLMSGERR_ATTR_OFFS] && request) {
		memcpy(&offset, payload(a[NLMSGERR_ATTR_OFFS]), sizeof(offset));
		nl->attr = ((const struct nlattr *)(request + offset))->nla_type &
			   NLA_TYPE_MASK;
	}
	/* 6.1 and later */
	if (a[NLMSGERR_ATTR_MISS_TYPE])
		memcpy(&nl->missing, payload(a[NLMSGERR_ATTR_MISS_TYPE]),
		       sizeof(nl->missing));
}

static int on_error(struct nl *nl)
{
	struct nlmsghdr *h = current(nl);
	struct nlmsgerr *e = (struct nlmsgerr *)((char *)h + NLMSG_HDRLEN);
	char *tlv = (char *)(e + 1);

	if (!(h->nlmsg_flags & NLM_F_CAPPED))
		tlv = (char *)&e->msg + NLMSG_ALIGN(e->msg.nlmsg_len);
	if (h->nlmsg_flags & NLM_F_ACK_TLVS)
		learn(nl, tlv, (char *)h + h->nlmsg_len,
		      h->nlmsg_flags & NLM_F_CAPPED ? NULL : (char *)&e->msg);
	return e->error;
}

static void take(struct nl *nl, struct nl_obj *obj)
{
	struct nlmsghdr *h = current(nl);
	struct genlmsghdr *g = (struct genlmsghdr *)((char *)h + NLMSG_HDRLEN);

	obj->cmd = g->cmd;
	parse((char *)g + GENL_HDRLEN, (char *)h + h->nlmsg_len, obj->a,
	      UB_NL_A_MAX);
}

int nl_do(struct nl *nl, struct nl_req *q, struct nl_obj *obj)
{
	static char kept[sizeof(nl->buf)] __attribute__((aligned(8)));
	bool begun = false, got = false;
	int err = request(nl, q, nl->family, NLM_F_ACK);

	while (!err) {
		struct nlmsghdr *h;

		err = next_message(nl, &begun);
		if (err)
			return err;
		h = current(nl);
		if (h->nlmsg_seq != nl->seq)
			continue;
		if (h->nlmsg_type == NLMSG_ERROR) {
			err = on_error(nl);
			break;
		}
		if (h->nlmsg_type != nl->family)
			continue;
		memcpy(kept, h, h->nlmsg_len);
		got = true;
	}
	if (err || !obj)
		return err;
	memset(obj, 0, sizeof(*obj));
	if (got) {
		memcpy(nl->buf, kept, ((struct nlmsghdr *)kept)->nlmsg_len);
		nl->at = 0;
		nl->len = current(nl)->nlmsg_len;
		take(nl, obj);
	}
	return 0;
}

int nl_dump(struct nl *nl, struct nl_req *q)
{
	return request(nl, q, nl->family, NLM_F_DUMP);
}

int nl_next(struct nl *nl, struct nl_obj *obj)
{
	bool begun = nl->messages > 0;
	struct nlmsghdr *h;
	int err;

	for (;;) {
		err = next_message(nl, &begun);
		if (err)
			return err;
		h = current(nl);
		if (h->nlmsg_seq != nl->seq)
			continue;
		if (h->nlmsg_flags & NLM_F_DUMP_INTR)
			nl->interrupted = true;
		if (h->nlmsg_type == NLMSG_ERROR)
			return on_error(nl);
		if (h->nlmsg_type == NLMSG_DONE) {
			memcpy(&err, (char *)h + NLMSG_HDRLEN, sizeof(err));
			if (h->nlmsg_flags & NLM_F_ACK_TLVS)
				learn(nl, (char *)h + NLMSG_HDRLEN + sizeof(err),
				      (char *)h + h->nlmsg_len, NULL);
			return err;
		}
		take(nl, obj);
		return 1;
	}
}

int nl_heard(struct nl *nl, struct nl_obj *obj, int ms)
{
	struct pollfd p = { .fd = nl->fd, .events = POLLIN };
	int err;

	if (poll(&p, 1, ms) <= 0)
		return 0;
	err = receive(nl);
	if (err)
		return err;
	take(nl, obj);
	return 1;
}

/* ---- the family ---- */

static void nested_group(struct nl *nl, const struct nlattr *groups)
{
	const char *p = payload(groups), *end = (const char *)groups + groups->nla_len;

	while (end - p >= NLA_HDRLEN) {
		const struct nlattr *one = (const struct nlattr *)p;
		const struct nlattr *a[CTRL_ATTR_MCAST_GRP_MAX + 1];

		parse(payload(one), p + one->nla_len, a, CTRL_ATTR_MCAST_GRP_MAX);
		if (a[CTRL_ATTR_MCAST_GRP_NAME] && a[CTRL_ATTR_MCAST_GRP_ID] &&
		    !strcmp(payload(a[CTRL_ATTR_MCAST_GRP_NAME]), UB_MCGRP_EVENTS))
			memcpy(&nl->group, payload(a[CTRL_ATTR_MCAST_GRP_ID]),
			       sizeof(nl->group));
		p += NLA_ALIGN(one->nla_len);
	}
}

static int resolve(struct nl *nl)
{
	const struct nlattr *a[CTRL_ATTR_MAX + 1];
	struct nlmsghdr *h;
	struct nl_req q;
	int err;

	nl_begin(&q, CTRL_CMD_GETFAMILY);
	nl_put_str(&q, CTRL_ATTR_FAMILY_NAME, UB_FAMILY_NAME);
	err = request(nl, &q, GENL_ID_CTRL, 0) ?: receive(nl);
	if (err)
		return err;
	h = current(nl);
	if (h->nlmsg_type == NLMSG_ERROR)
		return on_error(nl);
	parse((char *)h + NLMSG_HDRLEN + GENL_HDRLEN, (char *)h + h->nlmsg_len, a,
	      CTRL_ATTR_MAX);
	if (!a[CTRL_ATTR_FAMILY_ID] || !a[CTRL_ATTR_MCAST_GROUPS])
		return -EPROTO;
	memcpy(&nl->family, payload(a[CTRL_ATTR_FAMILY_ID]), sizeof(nl->family));
	nested_group(nl, a[CTRL_ATTR_MCAST_GROUPS]);
	return 0;
}

int nl_open(struct nl *nl)
{
	int one = 1, err;

	memset(nl, 0, sizeof(*nl));
	nl->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (nl->fd < 0)
		return -errno;
	setsockopt(nl->fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	err = resolve(nl);
	if (err)
		nl_close(nl);
	return err;
}

void nl_close(struct nl *nl)
{
	if (nl->fd >= 0)
		close(nl->fd);
	nl->fd = -1;
}

int nl_join(struct nl *nl)
{
	return setsockopt(nl->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &nl->group,
			  sizeof(nl->group)) ? -errno : 0;
}

/* ---- an object ---- */

__u32 nl_u32(const struct nl_obj *o, int attr)
{
	__u32 value = ~0U;

	if (o->a[attr])
		memcpy(&value, payload(o->a[attr]), sizeof(value));
	return value;
}

__u64 nl_u64(const struct nl_obj *o, int attr)
{
	__u64 value = ~0ULL;

	if (o->a[attr])
		memcpy(&value, payload(o->a[attr]), sizeof(value));
	return value;
}

const char *nl_str(const struct nl_obj *o, int attr)
{
	return o->a[attr] ? payload(o->a[attr]) : "";
}

__u64 nl_stat(const struct nl *nl, const char *name)
{
	const struct nlmsghdr *h = current((struct nl *)nl);
	const char *p = (const char *)h + NLMSG_HDRLEN + GENL_HDRLEN;
	const char *end = (const char *)h + h->nlmsg_len;
	__u64 value = ~0ULL;

	while (end - p >= NLA_HDRLEN) {
		const struct nlattr *at = (const struct nlattr *)p;
		const struct nlattr *a[UB_NL_STAT_MAX + 1];

		if ((at->nla_type & NLA_TYPE_MASK) == UB_NL_A_STAT) {
			parse(payload(at), p + at->nla_len, a, UB_NL_STAT_MAX);
			if (!strcmp(payload(a[UB_NL_STAT_NAME]), name))
				memcpy(&value, payload(a[UB_NL_STAT_VALUE]),
				       sizeof(value));
		}
		p += NLA_ALIGN(at->nla_len);
	}
	return value;
}

int nl_loop_add(struct nl *nl, int n, __u32 first, __u32 *minor)
{
	struct nl_obj o;
	struct nl_req q;
	int i = 0, err;
	__u32 loop;

	nl_begin(&q, UB_NL_CMD_FABRIC_ADD);
	nl_put_str(&q, UB_NL_A_TRANSPORT, "loop");
	nl_put_u32(&q, UB_NL_A_NODES, n);
	nl_put_u32(&q, UB_NL_A_NODE, first);
	err = nl_do(nl, &q, &o);
	if (err)
		return err;
	loop = nl_u32(&o, UB_NL_A_LOOP);
	nl_begin(&q, UB_NL_CMD_FABRIC_GET);
	nl_put_u32(&q, UB_NL_A_LOOP, loop);
	err = nl_dump(nl, &q);
	/* All of the dump is read: the next request must not meet the rest. */
	if (err)
		return err;
	while ((err = nl_next(nl, &o)) == 1)
		if (i < n)
			minor[i++] = nl_u32(&o, UB_NL_A_FABRIC);
	return err;
}

int nl_fabric_del(struct nl *nl, __u32 minor)
{
	struct nl_req q;

	nl_begin(&q, UB_NL_CMD_FABRIC_DEL);
	nl_put_u32(&q, UB_NL_A_FABRIC, minor);
	return nl_do(nl, &q, NULL);
}
