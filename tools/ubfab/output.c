// SPDX-License-Identifier: GPL-2.0-only
/* Text and JSON from the same calls: a line, or an object in an array. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <json-c/json.h>

#include "ub_names.h"
#include "ubfab.h"

static struct json_object *list, *object;
static bool stream;

void out_begin(void)
{
	if (opts.json)
		list = json_object_new_array();
}

void out_stream(void)
{
	stream = true;
}

static void put_json(struct json_object *o)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE;

	if (opts.pretty)
		flags |= JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED;
	puts(json_object_to_json_string_ext(o, flags));
	json_object_put(o);
}

int out_end(void)
{
	if (list)
		put_json(list);
	list = NULL;
	if (fflush(stdout) || ferror(stdout))
		return say("standard output: %s", strerror(errno));
	return 0;
}

void out_open(const struct reply *r)
{
	char name[32];

	snprintf(name, sizeof(name), "ubfab%" PRIu32, reply_u32(r, UB_NL_A_FABRIC));
	if (opts.json) {
		object = json_object_new_object();
		json_object_object_add(object, "device", json_object_new_string(name));
	} else {
		printf("%s:", name);
	}
}

void out_close(void)
{
	if (!opts.json)
		putchar('\n');
	else if (stream)
		put_json(object);
	else
		json_object_array_add(list, object);
	object = NULL;
	if (stream)
		fflush(stdout);
}

void out_str(const char *key, const char *value)
{
	if (opts.json)
		json_object_object_add(object, key, json_object_new_string(value));
	else
		printf(" %s %s", key, *value ? value : "-");
}

void out_word(const char *key, const char *value)
{
	if (opts.json)
		out_str(key, value);
	else
		printf(" %s", value);
}

void out_u64(const char *key, uint64_t value)
{
	if (opts.json)
		json_object_object_add(object, key, json_object_new_uint64(value));
	else
		printf(" %s %" PRIu64, key, value);
}

void out_hex(const char *key, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	out_str(key, text);
}

void out_bytes(const char *key, uint64_t value)
{
	static const char units[] = "BKMGTPE";
	double scaled = value;
	int u = 0;

	if (opts.json) {
		out_u64(key, value);
		return;
	}
	for (; scaled >= 1024; u++)
		scaled /= 1024;
	if (scaled == (uint64_t)scaled)
		printf(" %s %.0f%c", key, scaled, units[u]);
	else
		printf(" %s %.1f%c", key, scaled, units[u]);
}

void out_ns(const char *key, uint64_t value)
{
	char name[64];

	if (opts.json) {
		snprintf(name, sizeof(name), "%s_ns", key);
		out_u64(name, value);
	} else if (value < 10000000000ULL) {
		printf(" %s %.1fms", key, value / 1e6);
	} else {
		printf(" %s %.0fs", key, value / 1e9);
	}
}

void out_flag(const char *key)
{
	if (opts.json)
		json_object_object_add(object, key, json_object_new_boolean(true));
	else
		printf(" %s", key);
}

void out_u32_if(const struct reply *r, const char *key, int attr)
{
	if (r->a[attr])
		out_u64(key, reply_u32(r, attr));
}

void out_reason_if(const struct reply *r, const char *key)
{
	if (r->a[UB_NL_A_REASON])
		out_str(key, ub_reason_name(reply_u32(r, UB_NL_A_REASON)));
}
