/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generic netlink by hand, so that wrong messages can be made as well as right
 * ones: requests to the family "ub", replies, dumps message by message.
 */
#ifndef UB_SELFTEST_NL_H
#define UB_SELFTEST_NL_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/types.h>
#include <ub/ub_netlink.h>

/**
 * struct nl - a socket
 * @fd: of it
 * @family: id of "ub"
 * @group: id of its multicast group
 * @seq: of the last request
 * @buf: what was received last
 * @len: bytes of it
 * @at: of the next message in it
 * @text: of the last error
 * @attr: attribute that the last error is about, or 0
 * @missing: attribute that the last error says is missing, or 0
 * @interrupted: a message of the dump was marked so
 * @messages: of the dump, received
 */
struct nl {
	int fd;
	__u16 family;
	__u32 group;
	__u32 seq;
	char buf[4096] __attribute__((aligned(8)));
	int len;
	int at;
	char text[256];
	int attr;
	int missing;
	bool interrupted;
	int messages;
};

/* A request that is being made. */
struct nl_req {
	struct nlmsghdr h;
	struct genlmsghdr g;
	char attrs[1024];
};

/* An object: where each attribute's data is, NULL when it is not there. */
struct nl_obj {
	int cmd;
	const struct nlattr *a[UB_NL_A_MAX + 1];
};

/* 0 or -errno; -ENOENT: no such family */
int nl_open(struct nl *nl);
void nl_close(struct nl *nl);
int nl_join(struct nl *nl);

void nl_begin(struct nl_req *q, int cmd);
void nl_put(struct nl_req *q, int type, const void *data, size_t len);
void nl_put_u32(struct nl_req *q, int type, __u32 value);
void nl_put_u64(struct nl_req *q, int type, __u64 value);
void nl_put_str(struct nl_req *q, int type, const char *text);

/* Sends a request; what it is answered, 0 or -errno; @obj may be NULL. */
int nl_do(struct nl *nl, struct nl_req *q, struct nl_obj *obj);
/* Starts a dump. */
int nl_dump(struct nl *nl, struct nl_req *q);
/* The next object: 1, 0 at the end, -errno */
int nl_next(struct nl *nl, struct nl_obj *obj);
/* The next notification within a time: 1, 0, -errno */
int nl_heard(struct nl *nl, struct nl_obj *obj, int ms);

__u32 nl_u32(const struct nl_obj *o, int attr);
__u64 nl_u64(const struct nl_obj *o, int attr);
const char *nl_str(const struct nl_obj *o, int attr);

/* The counter of that name in an object's message, or all ones. */
__u64 nl_stat(const struct nl *nl, const char *name);

/* A loop fabric of @n nodes with ids from @first; their devices' numbers. */
int nl_loop_add(struct nl *nl, int n, __u32 first, __u32 *minor);
/* Delete the fabric of a device; of a loop fabric, all its nodes. */
int nl_fabric_del(struct nl *nl, __u32 minor);

#endif /* UB_SELFTEST_NL_H */
