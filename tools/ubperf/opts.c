// SPDX-License-Identifier: GPL-2.0-only
/* The command line, the same for ubperf and its peers. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ubperf.h"

enum {
	OPT_SIZE = 256, OPT_ITERS, OPT_BUDGET, OPT_WARMUP, OPT_BATCH, OPT_FABRIC,
	OPT_JSON, OPT_CHECK, OPT_SLEEP, OPT_LATE, OPT_LEVEL, OPT_RAW, OPT_TCP,
};

static const struct option options[] = {
	{ "size", required_argument, NULL, OPT_SIZE },
	{ "iters", required_argument, NULL, OPT_ITERS },
	{ "budget", required_argument, NULL, OPT_BUDGET },
	{ "warmup", required_argument, NULL, OPT_WARMUP },
	{ "batch", required_argument, NULL, OPT_BATCH },
	{ "fabric", required_argument, NULL, OPT_FABRIC },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "check", no_argument, NULL, OPT_CHECK },
	{ "sleep", no_argument, NULL, OPT_SLEEP },
	{ "late", required_argument, NULL, OPT_LATE },
	{ "level", required_argument, NULL, OPT_LEVEL },
	{ "raw-file", required_argument, NULL, OPT_RAW },
	{ "tcp-peer", required_argument, NULL, OPT_TCP },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static long number(const char *name, const char *text, long min)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (end != text && !errno) {
		const char *unit = *end ? strchr("KMG", *end) : NULL;

		if (unit && !end[1] && n < 1 << 20) {
			n <<= 10 * (unit - "KMG" + 1);
			end++;
		}
		if (!*end && n >= min)
			return n;
	}
	fprintf(stderr, "ubperf: --%s wants a number from %ld on, not '%s'\n", name,
		min, text);
	exit(PERF_EX_USAGE);
}

static void sizes(struct perf_opts *o, char *list)
{
	char *one, *state;

	o->nsizes = 0;
	for (one = strtok_r(list, ",", &state); one;
	     one = strtok_r(NULL, ",", &state)) {
		if (o->nsizes == PERF_SIZES) {
			fprintf(stderr, "ubperf: --size takes %d sizes\n", PERF_SIZES);
			exit(PERF_EX_USAGE);
		}
		o->size[o->nsizes++] = number("size", one, 1);
	}
	if (!o->nsizes)
		number("size", list, 1);
}

/* Is the @len bytes at @name a name of @t? */
static bool names(const struct perf_test *t, const char *name, size_t len)
{
	if (len == 3 && !memcmp(name, "all", 3))
		return !t->by_name;
	if (strlen(t->name) == len && !memcmp(name, t->name, len))
		return true;
	return t->group && strlen(t->group) == len && !memcmp(name, t->group, len);
}

bool perf_selected(const struct perf_opts *o, const struct perf_test *t)
{
	const char *name = o->test;
	size_t len;

	if (t->sleepers && !o->sleep)
		return false;
	for (;; name += len + 1) {
		len = strcspn(name, ",");
		if (names(t, name, len))
			return true;
		if (!name[len])
			return false;
	}
}

static void check_names(const char *list, const struct perf_test *const *families)
{
	const struct perf_test *const *f, *t;
	const char *name = list;
	bool known;
	size_t len;

	for (;; name += len + 1) {
		len = strcspn(name, ",");
		known = false;
		for (f = families; *f; f++)
			for (t = *f; t->name; t++)
				known |= names(t, name, len);
		if (!known) {
			fprintf(stderr, "ubperf: there is no test '%.*s'\n", (int)len,
				name);
			exit(PERF_EX_USAGE);
		}
		if (!name[len])
			return;
	}
}

static void option(struct perf_opts *o, int c, const char *usage)
{
	switch (c) {
	case OPT_SIZE:
		sizes(o, optarg);
		break;
	case OPT_ITERS:
		o->iters = number("iters", optarg, 1);
		break;
	case OPT_BUDGET:
		o->budget_ms = number("budget", optarg, 1);
		break;
	case OPT_WARMUP:
		o->warmup = number("warmup", optarg, 0);
		break;
	case OPT_BATCH:
		o->batch = number("batch", optarg, 1);
		break;
	case OPT_FABRIC:
		o->fabric = optarg;
		break;
	case OPT_JSON:
		o->json = true;
		break;
	case OPT_CHECK:
		o->check = true;
		break;
	case OPT_SLEEP:
		o->sleep = true;
		break;
	case OPT_LATE:
		o->late_ms = number("late", optarg, 1);
		break;
	case OPT_LEVEL:
		o->level = optarg;
		break;
	case OPT_RAW:
		o->raw_file = optarg;
		break;
	case OPT_TCP:
		o->tcp_peer = optarg;
		break;
	case 'h':
		fputs(usage, stdout);
		exit(0);
	default:
		fputs("Try 'ubperf --help'.\n", stderr);
		exit(PERF_EX_USAGE);
	}
}

void perf_parse(struct perf_opts *o, const char *usage,
		const struct perf_test *const *families, int argc, char **argv)
{
	int c;

	*o = (struct perf_opts){
		.warmup = -1, .late_ms = 10000, .level = "board",
	};
	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1)
		option(o, c, usage);
	if (optind + 1 != argc) {
		fputs("ubperf: which test? Try 'ubperf --help'.\n", stderr);
		exit(PERF_EX_USAGE);
	}
	o->test = argv[optind];
	check_names(o->test, families);
}
