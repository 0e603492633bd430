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

int args_verb(struct args *a, const char *object, const struct verb *verbs)
{
	const char *word = args_next(a);
	const struct verb *v = verbs;
	char known[64] = "";
	size_t n = 0;

	for (; word && v->name && !args_is(word, v->name); v++)
		n += snprintf(known + n, sizeof(known) - n, "%s%s",
			      n ? ", " : "", v->name);
	if (!v->name)
		return usage("%s: '%s' is not %s", object, word, known);
	snprintf(a->about, sizeof(a->about), "%s %s", object, v->name);
	return v->run(a);
}

bool args_is(const char *word, const char *name)
{
	return *word && !strncmp(word, name, strlen(word));
}

/* Digits of @word; what stands behind them in *end. */
static int digits(const char *name, const char *word, uint64_t *value, char **end)
{
	if (!word)
		return usage("%s: a number is missing", name);
	errno = 0;
	*value = strtoull(word, end, 0);
	if (*word < '0' || *word > '9')
		return usage("%s: '%s' is no number", name, word);
	return 0;
}

int args_number(struct args *a, const char *name, uint64_t min, uint64_t max,
		uint64_t *value)
{
	const char *word = args_next(a);
	char *end;
	int err = digits(name, word, value, &end);

	if (err)
		return err;
	if (*end)
		return usage("%s: '%s' is no number", name, word);
	if (errno || *value < min || *value > max)
		return usage("%s: %s is not from %" PRIu64 " to %" PRIu64, name,
			     word, min, max);
	return 0;
}

int args_size(struct args *a, const char *name, uint64_t *value)
{
	static const char units[] = "KMGT";
	const char *word = args_next(a), *unit;
	int shift = 0, err;
	char *end;

	err = digits(name, word, value, &end);
	if (err)
		return err;
	unit = *end ? strchr(units, *end) : NULL;
	if (*end && (!unit || end[1]))
		return usage("%s: '%s' is no size: bytes, or with K, M, G, T", name,
			     word);
	if (unit)
		shift = 10 * (unit - units + 1);
	if (errno || *value > UINT64_MAX >> shift)
		return usage("%s: %s is too much", name, word);
	*value <<= shift;
	return 0;
}

/* "ubfab3" or "/dev/ubfab3" */
static bool device_name(const char *word, uint32_t *minor)
{
	unsigned long n;
	char *end;

	if (!strncmp(word, "/dev/", 5))
		word += 5;
	if (strncmp(word, "ubfab", 5) || word[5] < '0' || word[5] > '9')
		return false;
	errno = 0;
	n = strtoul(word + 5, &end, 10);
	*minor = n;
	return !*end && !errno && n <= UINT32_MAX;
}

int args_device(struct args *a, uint32_t *minor)
{
	const char *word = args_next(a);

	if (word && !strcmp(word, "dev"))
		word = args_next(a);
	if (!word)
		return usage("%s: the name of a device is missing", a->about);
	if (!device_name(word, minor))
		return usage("%s: '%s' is no fabric device (they are ubfab0, ubfab1 ...)",
			     a->about, word);
	return 0;
}
