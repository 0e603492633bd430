/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ubfab: shows and changes fabrics, over the generic netlink family "ub".
 *
 *	main.c		options, objects
 *	args.c		words of the command line
 *	netlink.c	requests, replies, the kernel's messages
 *	output.c	text and JSON from the same calls
 *	OBJECT.c	the verbs of an object
 *
 * Functions that return int give 0, or UBFAB_EX_* after they have told why.
 */
#ifndef UBFAB_H
#define UBFAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <linux/genetlink.h>
#include <ub/ub_netlink.h>

#define UBFAB_EX_FAILED	1
#define UBFAB_EX_USAGE	2

/**
 * struct opts - the options
 * @json: JSON instead of text
 * @pretty: JSON over several lines
 * @details: all there is
 */
struct opts {
	bool json;
	bool pretty;
	bool details;
};

extern struct opts opts;

/**
 * struct args - words of the command line that are not used yet
 * @v: words, ends with NULL
 */
struct args {
	char **v;
};

/* ---- args.c ---- */
int say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
const char *args_next(struct args *a);
/* Is @word @name, or the beginning of it? */
bool args_is(const char *word, const char *name);
/* The word after @name, from @min to @max. */
int args_number(struct args *a, const char *name, uint64_t min, uint64_t max,
		uint64_t *value);
/* "ubfab3" or "/dev/ubfab3" */
int args_device(const char *word, uint32_t *minor);
/* "[dev DEV]" and no more: *minor, or -1 for all */
int args_dev(struct args *a, int64_t *minor);

/* ---- netlink.c ---- */

/**
 * struct reply - a message of the family
 * @cmd: UB_NL_CMD_*
 * @a: its attributes, UB_NL_A_*; of several of a type the last
 * @nlh: the message
 */
struct reply {
	int cmd;
	struct nlattr *a[UB_NL_A_MAX + 1];
	struct nlmsghdr *nlh;
};

typedef void (*reply_fn)(const struct reply *r, void *arg);

void ubnl_close(void);
struct nl_msg *ubnl_request(int cmd, int flags);
/* Sends @msg and frees it; @about: what failed, for messages. */
int ubnl_talk(struct nl_msg *msg, const char *about, reply_fn fn, void *arg);
/* A request with the attribute FABRIC, or none when @minor is -1. */
int ubnl_about(int cmd, int flags, int64_t minor, reply_fn fn, void *arg);
/* Until something is wrong. */
int ubnl_listen(reply_fn fn, void *arg);

uint32_t reply_u32(const struct reply *r, int attr);
uint64_t reply_u64(const struct reply *r, int attr);
const char *reply_str(const struct reply *r, int attr);

/**
 * struct stat - a counter
 * @name: as the kernel has it
 * @value: sum
 */
struct stat_value {
	const char *name;
	uint64_t value;
};

#define STATS_MAX	64

/* The counters of a reply, STATS_MAX at most; their number. */
size_t reply_stats(const struct reply *r, struct stat_value *v);

/* ---- output.c ---- */
void out_begin(void);
int out_end(void);
/* A line or object of a device. Those of a stream are written at once. */
void out_open(uint32_t minor);
void out_close(void);
void out_stream(void);
void out_str(const char *key, const char *value);
void out_word(const char *key, const char *value);
void out_u64(const char *key, uint64_t value);
void out_bytes(const char *key, uint64_t value);
/* Text in a unit that suits; JSON: @key with "_ns" */
void out_ns(const char *key, uint64_t value);
void out_flag(const char *key);

/* ---- objects ---- */

/**
 * struct fabric - of FABRIC_GET, what other objects need
 * @minor: N of ubfab<N>
 * @memtype: enum ub_memtype
 * @loop: id of its loop fabric, or -1
 */
struct fabric {
	uint32_t minor;
	uint32_t memtype;
	int64_t loop;
};

/* The fabric of @minor, or all for -1, to be freed. */
int fabric_list(int64_t minor, struct fabric **list, size_t *count);

int do_fabric(struct args *a);
int do_node(struct args *a);
int do_stats(struct args *a);
int do_monitor(struct args *a);

#endif /* UBFAB_H */
