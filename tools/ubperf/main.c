// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ubperf.h"

static const struct perf_test *const families[] = {
	latency_tests, ioctl_tests, onesided_tests, map_tests, raw_tests, tcp_tests,
};

#define NFAMILIES	(sizeof(families) / sizeof(families[0]))

static const char usage_text[] =
"Usage: ubperf TEST [OPTION]...\n"
"Measure the operations of a fabric; runs under ubrun or ubrig on 2 or more ranks.\n"
"\n"
"Tests:\n"
"  pingpong        a word stored into a peer's window, there and back\n"
"  barrier         ub_sync() of all ranks\n"
"  barrier-ioctl   the barrier by ioctl, always asleep (device)\n"
"  put, get        ub_put(), ub_get() of --size bytes (8)\n"
"  atomic          ub_atomic() fetch-and-add of 8 bytes\n"
"  map-read        copies of --size bytes (1 MiB) from a peer's window, and the\n"
"  map-write       same in private memory\n"
"  raw             the same copies on a bare mapping of the memory\n"
"  tcp             1 byte by TCP, there and back, ranks 0 and 1\n"
"  all             all of them\n"
"\n"
"  --size B        bytes of an operation; K, M, G may follow\n"
"  --iters N       operations (by default so many as take 2 s at most)\n"
"  --warmup N      operations before (a tenth of them)\n"
"  --fabric F      host, dev or a device's path (UB_FABRIC)\n"
"  --json          one JSON object on standard output\n"
"  --check         check the data after each test\n"
"  --sleep         barrier: from when all others are asleep until all are back\n"
"  --raw-file F    raw: file to map, as /sys/bus/pci/devices/*/resource2\n"
"  --tcp-peer A    tcp: address under which rank 1 reaches rank 0\n"
"                  (else UBPERF_TCP_PEER, else loopback)\n"
"\n"
"Times are the slowest rank's, in ns. Operations below 1 us are timed in batches;\n"
"percentiles are then over batches. Exit status: 1 wrong data or an error,\n"
"2 usage, 4 the test cannot run here.\n";

enum {
	OPT_SIZE = 256, OPT_ITERS, OPT_WARMUP, OPT_FABRIC, OPT_JSON, OPT_CHECK,
	OPT_SLEEP, OPT_RAW, OPT_TCP,
};

static const struct option options[] = {
	{ "size", required_argument, NULL, OPT_SIZE },
	{ "iters", required_argument, NULL, OPT_ITERS },
	{ "warmup", required_argument, NULL, OPT_WARMUP },
	{ "fabric", required_argument, NULL, OPT_FABRIC },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "check", no_argument, NULL, OPT_CHECK },
	{ "sleep", no_argument, NULL, OPT_SLEEP },
	{ "raw-file", required_argument, NULL, OPT_RAW },
	{ "tcp-peer", required_argument, NULL, OPT_TCP },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

void must(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "ubperf: %s: %s\n", what,
		ub_last_error()[0] ? ub_last_error() : strerror(-err));
	exit(PERF_EX_FAILED);
}

void *must_alloc(size_t bytes)
{
	void *p = aligned_alloc(4096, (bytes + 4096) & ~(size_t)4095);

	must(p ? 0 : -ENOMEM, "memory");
	memset(p, 0, bytes);
	return p;
}

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

static bool selected(const struct perf_test *t, const char *name)
{
	return !strcmp(name, "all") || !strcmp(name, t->name) ||
	       (t->group && !strcmp(name, t->group));
}

static bool known(const char *name)
{
	const struct perf_test *t;
	size_t i;

	for (i = 0; i < NFAMILIES; i++)
		for (t = families[i]; t->name; t++)
			if (selected(t, name))
				return true;
	return false;
}

static void parse(struct perf_opts *o, int argc, char **argv)
{
	int c, i = 0;

	while ((c = getopt_long(argc, argv, "h", options, &i)) != -1) {
		switch (c) {
		case OPT_SIZE:
			o->size = number("size", optarg, 1);
			break;
		case OPT_ITERS:
			o->iters = number("iters", optarg, 1);
			break;
		case OPT_WARMUP:
			o->warmup = number("warmup", optarg, 0);
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
		case OPT_RAW:
			o->raw_file = optarg;
			break;
		case OPT_TCP:
			o->tcp_peer = optarg;
			break;
		case 'h':
			fputs(usage_text, stdout);
			exit(0);
		default:
			fputs("Try 'ubperf --help'.\n", stderr);
			exit(PERF_EX_USAGE);
		}
	}
	if (optind + 1 != argc) {
		fputs("ubperf: which test? Try 'ubperf --help'.\n", stderr);
		exit(PERF_EX_USAGE);
	}
	o->test = argv[optind];
	if (!known(o->test)) {
		fprintf(stderr, "ubperf: there is no test '%s'\n", o->test);
		exit(PERF_EX_USAGE);
	}
}

static int count_nodes(const struct ub_scope *s)
{
	int i, k, nodes = 0;

	for (i = 0; i < ub_size(s); i++) {
		for (k = 0; k < i; k++)
			if (ub_node(s, k) == ub_node(s, i))
				break;
		nodes += k == i;
	}
	return nodes;
}

static void join(struct perf *p)
{
	struct ub_opts opts = { .size = sizeof(opts), .fabric = p->o->fabric };

	must(ub_init(&p->ctx, &opts), "ub_init");
	p->world = ub_world(p->ctx);
	p->rank = ub_rank(p->world);
	p->n = ub_size(p->world);
	p->next = (p->rank + 1) % p->n;
	p->prev = (p->rank + p->n - 1) % p->n;
	p->nodes = count_nodes(p->world);
}

const char *perf_device(struct perf *p)
{
	static char path[32];
	const char *fabric = p->o->fabric ? p->o->fabric : getenv("UB_FABRIC");
	int i;

	if (strcmp(ub_backend(p->ctx), "dev"))
		return NULL;
	if (fabric && fabric[0] == '/')
		return fabric;
	for (i = 0; i < 64; i++) {
		snprintf(path, sizeof(path), "/dev/ubfab%d", i);
		if (!access(path, R_OK | W_OK))
			return path;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct perf_opts o = { .warmup = -1 };
	struct perf p = { .o = &o };
	const struct perf_test *t;
	struct perf_row row;
	int ran = 0, bad = 0;
	size_t i;

	parse(&o, argc, argv);
	join(&p);
	if (p.n < 2) {
		fputs("ubperf: 2 ranks at least: ubrun -n 2 ubperf ...\n", stderr);
		ub_fini(p.ctx);
		return PERF_EX_USAGE;
	}
	for (i = 0; i < NFAMILIES; i++) {
		for (t = families[i]; t->name; t++) {
			if (!selected(t, o.test) || (t->before && !o.sleep))
				continue;
			perf_run_test(&p, t, &row);
			if (p.rank == 0)
				report_row(&o, &row);
			ran += !row.skipped;
			bad += row.verdict == PERF_BAD;
		}
	}
	if (p.rank == 0)
		report_end(&o);
	must(ub_sync(p.world), "ub_sync");
	ub_fini(p.ctx);
	if (bad)
		return PERF_EX_FAILED;
	return ran ? 0 : PERF_EX_SKIP;
}
