/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ubfab: shows and changes fabrics, over the generic netlink family "ub".
 *
 *	main.c		options, objects
 *	args.c		words of the command line
 *	netlink.c	requests and replies
 *	error.c		the kernel's messages
 *	output.c	text and JSON from the same calls
 *	OBJECT.c	the verbs of an object
 *	config.c	up and down: fabrics of files
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
 * @about: object and verb, for messages
 */
struct args {
	char **v;
	char about[64];
};

/* ---- args.c ---- */
int say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
const char *args_next(struct args *a);

/**
 * struct verb - what an object can do
 * @name: of it; the first one is meant when no word is there
 * @run: does it
 */
struct verb {
	const char *name;
	int (*run)(struct args *a);
};

int args_verb(struct args *a, const char *object, const struct verb *verbs);
/* Is @word @name, or the beginning of it? */
bool args_is(const char *word, const char *name);
/* The word after @name, from @min to @max. */
int args_number(struct args *a, const char *name, uint64_t min, uint64_t max,
		uint64_t *value);
/* The word after @name: bytes, or with K, M, G, T. */
int args_size(struct args *a, const char *name, uint64_t *value);
/* "[dev] DEV", "ubfab3" or "/dev/ubfab3" */
int args_device(struct args *a, uint32_t *minor);

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
struct nl_msg *ubnl_request(int cmd);
/* Sends @msg and frees it; @about: what failed, for messages. */
int ubnl_talk(struct nl_msg *msg, const char *about, reply_fn fn, void *arg);
/* The same for a dump; one that changed meanwhile is asked for again. */
int ubnl_dump(struct nl_msg *msg, const char *about, reply_fn fn, void *arg);
/* Until something is wrong. */
int ubnl_listen(reply_fn fn, void *arg);

/**
 * struct key - a word that says what to show
 * @name: the word before the value; "dev" is always there
 * @attr: UB_NL_A_*
 * @text: the value is no number
 */
struct key {
	const char *name;
	int attr;
	bool text;
};

/* What the words say by @keys: one object when all are given, else a dump. */
int ubnl_show(struct args *a, int cmd, const struct key *keys, reply_fn fn,
	      void *arg);

uint32_t reply_u32(const struct reply *r, int attr);
uint64_t reply_u64(const struct reply *r, int attr);
const char *reply_str(const struct reply *r, int attr);

/**
 * struct stat_value - a counter
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

/* ---- error.c ---- */

/* What the attributes of an EXT_ACK are; libnl has no name for it. */
#define EXTACK_MAX	NLMSGERR_ATTR_MISS_NEST

/*
 * Tell of an error of the kernel. @tlv: @len bytes of EXT_ACK; @request: the
 * message it is about, whole, or NULL.
 */
void tell_error(const char *about, int err, void *tlv, int len,
		const struct nlmsghdr *request);

/* ---- output.c ---- */
void out_begin(void);
int out_end(void);
/* A line or object of a device. Those of a stream are written at once. */
void out_open(const struct reply *r);
void out_close(void);
void out_stream(void);
void out_str(const char *key, const char *value);
void out_word(const char *key, const char *value);
void out_u64(const char *key, uint64_t value);
/* Both text and JSON: a string "0x..." */
void out_hex(const char *key, uint64_t value);
void out_bytes(const char *key, uint64_t value);
/* Text in a unit that suits; JSON: @key with "_ns" */
void out_ns(const char *key, uint64_t value);
void out_flag(const char *key);
/* An attribute, when the reply has it. */
void out_u32_if(const struct reply *r, const char *key, int attr);
void out_reason_if(const struct reply *r, const char *key);

/* ---- objects ---- */
int do_fabric(struct args *a);
int do_node(struct args *a);
int do_window(struct args *a);
int do_group(struct args *a);
int do_stats(struct args *a);
int do_monitor(struct args *a);
int do_up(struct args *a);
int do_down(struct args *a);

/* A member of a group: which, whose, where it stands. */
void show_member(const struct reply *r);
void show_stats(const struct reply *r);

#endif /* UBFAB_H */
