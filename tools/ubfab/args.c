// SPDX-License-Identifier: GPL-2.0-only
/* Words of the command line, and messages. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ubfab.h"

static void vsay(const char *fmt, va_list ap)
{
	fflush(stdout);
	fputs("ubfab: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

int say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsay(fmt, ap);
	va_end(ap);
	return UBFAB_EX_FAILED;
}

int usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsay(fmt, ap);
	va_end(ap);
	return UBFAB_EX_USAGE;
}

const char *args_next(struct args *a)
{
	return *a->v ? *a->v++ : NULL;
}

bool args_is(const char *word, const char *name)
{
	return *word && !strncmp(word, name, strlen(word));
}

int args_number(struct args *a, const char *name, uint64_t min, uint64_t max,
		uint64_t *value)
{
	const char *word = args_next(a);
	char *end;

	if (!word)
		return usage("%s: a number is missing", name);
	errno = 0;
	*value = strtoull(word, &end, 0);
	if (*word < '0' || *word > '9' || *end)
		return usage("%s: '%s' is no number", name, word);
	if (errno || *value < min || *value > max)
		return usage("%s: %s is not from %" PRIu64 " to %" PRIu64, name,
			     word, min, max);
	return 0;
}

int args_device(const char *word, uint32_t *minor)
{
	const char *name = word;
	unsigned long n;
	char *end;

	if (!strncmp(name, "/dev/", 5))
		name += 5;
	if (!strncmp(name, "ubfab", 5) && name[5] >= '0' && name[5] <= '9') {
		errno = 0;
		n = strtoul(name + 5, &end, 10);
		if (!*end && !errno && n <= UINT32_MAX) {
			*minor = n;
			return 0;
		}
	}
	return say("%s: no such fabric device (they are ubfab0, ubfab1 ...)", word);
}

int args_dev(struct args *a, int64_t *minor)
{
	const char *word = args_next(a);
	uint32_t n;
	int err;

	*minor = -1;
	if (!word)
		return 0;
	if (!strcmp(word, "dev")) {
		word = args_next(a);
		if (!word)
			return usage("dev: the name of a device is missing");
	}
	err = args_device(word, &n);
	if (err)
		return err;
	*minor = n;
	word = args_next(a);
	return word ? usage("what is '%s'?", word) : 0;
}
