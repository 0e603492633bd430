// SPDX-License-Identifier: GPL-2.0-only
/* "show" of any object: which ones the words ask for. */
#include <stdio.h>
#include <string.h>

#include "ubfab.h"

static int put_u32(struct nl_msg *msg, int attr, uint32_t value)
{
	return nla_put_u32(msg, attr, value) ? say("out of memory") : 0;
}

/* Puts what a word and the one after it say. */
static int put_key(struct args *a, struct nl_msg *msg, const struct key *k)
{
	const char *word;
	uint64_t value;
	int err;

	if (!k->text) {
		err = args_number(a, k->name, 0, UINT32_MAX, &value);
		return err ?: put_u32(msg, k->attr, value);
	}
	word = args_next(a);
	if (!word)
		return usage("%s: %s: a name is missing", a->about, k->name);
	return nla_put_string(msg, k->attr, word) ? say("out of memory") : 0;
}

static int put_device(struct args *a, struct nl_msg *msg)
{
	uint32_t minor;
	int err = args_device(a, &minor);
	size_t n = strlen(a->about);

	if (err)
		return err;
	snprintf(a->about + n, sizeof(a->about) - n, " ubfab%u", minor);
	return put_u32(msg, UB_NL_A_FABRIC, minor);
}

/* The keys given by the words, a bit each, the first for the device. */
static int put_keys(struct args *a, struct nl_msg *msg, const struct key *keys,
		    unsigned int *given)
{
	int err = 0;

	while (!err && *a->v) {
		unsigned int bit = 1;
		const struct key *k;

		for (k = keys; k->name && strcmp(*a->v, k->name); k++)
			bit <<= 1;
		if (k->name) {
			a->v++;
			err = put_key(a, msg, k);
		} else if (!strcmp(*a->v, "dev") || !strncmp(*a->v, "ubfab", 5) ||
			   !strncmp(*a->v, "/dev/", 5)) {
			err = put_device(a, msg);
			bit = 1U << 31;
		} else {
			err = usage("%s: what is '%s'?", a->about, *a->v);
		}
		if (!err && (*given & bit))
			err = usage("%s: a word stands there twice", a->about);
		*given |= bit;
	}
	return err;
}

int ubnl_show(struct args *a, int cmd, const struct key *keys, reply_fn fn,
	      void *arg)
{
	struct nl_msg *msg = ubnl_request(cmd);
	unsigned int given = 0, all = 1U << 31, i;
	int err;

	if (!msg)
		return say("out of memory");
	err = put_keys(a, msg, keys, &given);
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	for (i = 0; keys[i].name; i++)
		all |= 1U << i;
	return given == all ? ubnl_talk(msg, a->about, fn, arg) :
			      ubnl_dump(msg, a->about, fn, arg);
}
