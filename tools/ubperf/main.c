// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ubperf.h"

static const struct perf_test *const families[] = {
	latency_tests, ioctl_tests, onesided_tests, superstep_tests, coll_tests,
	scope_tests, cpu_tests, map_tests, raw_tests, tcp_tests, NULL
};

static const char usage_text[] =
"Usage: ubperf TEST[,TEST...] [OPTION]...\n"
"Measure the operations of a fabric; runs under ubrun or ubrig on 2 or more ranks.\n"
"\n"
"Tests:\n"
"  pingpong        a word stored into a peer's window, there and back\n"
"  barrier         ub_sync() of all ranks\n"
"  barrier-ioctl   the barrier by ioctl, always asleep (device)\n"
"  put, get        ub_put(), ub_get() of --size bytes (8)\n"
"  atomic          ub_atomic() fetch-and-add of 8 bytes\n"
"  put-sync        ub_put() of --size bytes (8) to the next rank, ub_sync()\n"
"  put-random      10,000 times ub_put() of --size bytes (8) to random places of the\n"
"                  next rank's 1 MiB, ub_sync()\n"
"  allreduce       ub_allreduce(), sum of --size bytes (8) of double\n"
"  inner           ub_sync() of the scope of --level, or else of half the ranks\n"
"  nested          ten of these, and one of all ranks\n"
"  scope-enter     ub_scope_enter() of --level and ub_scope_exit()\n"
"  map-read        copies of --size bytes (1 MiB) from a peer's window, and the\n"
"  map-write       same in private memory\n"
"  raw             the same copies on a bare mapping of the memory\n"
"  tcp             1 byte by TCP, there and back, ranks 0 and 1\n"
"  all             all of them, but not:\n"
"  barrier-cpu     ub_sync(), CPU time instead of time\n"
"  idle            CPU time of those who wait in ub_sync() while rank 0 sleeps\n"
"\n"
"  --size B[,B]    bytes of an operation; K, M, G may follow\n"
"  --iters N       operations (by default as many as the budget allows at most)\n"
"  --budget MS     time for a test (2,000); cuts --iters, too\n"
"  --warmup N      operations before (a tenth of them)\n"
"  --batch N       operations between two looks at the clock\n"
"  --fabric F      host, dev or a device's path (UB_FABRIC)\n"
"  --json          one JSON object on standard output\n"
"  --check         check the data after each test\n"
"  --sleep         barrier: from when all others are asleep until all are back\n"
"  --late MS       idle: how long rank 0 sleeps (10,000)\n"
"  --level L       level of the machine file for inner scopes (board)\n"
"  --raw-file F    raw: file to map, as /sys/bus/pci/devices/*/resource2\n"
"  --tcp-peer A    tcp: address under which rank 1 reaches rank 0\n"
"                  (else UBPERF_TCP_PEER, else loopback)\n"
"\n"
"Times are the slowest rank's, in ns. Operations below 1 us are timed in batches;\n"
"percentiles are then over batches. Exit status: 1 wrong data or an error,\n"
"2 usage, 4 the test cannot run here.\n";

static void team_sync(struct perf *p)
{
	must(ub_sync(p->world), "ub_sync");
}

static double team_max(struct perf *p, double v)
{
	must(ub_allreduce(p->world, &v, &v, 1, UB_DOUBLE, UB_OP_MAX), "ub_allreduce");
	return v;
}

static void team_gather(struct perf *p, const void *in, size_t bytes, void *out)
{
	must(ub_allgather(p->world, in, bytes, out), "ub_allgather");
}

static const struct perf_team ub_team = {
	.sync = team_sync, .max = team_max, .gather = team_gather,
};

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
	p->team = &ub_team;
	p->fabric = ub_backend(p->ctx);
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
	struct perf_opts o;
	struct perf p = { .o = &o };
	int rc = PERF_EX_USAGE;

	perf_parse(&o, usage_text, families, argc, argv);
	join(&p);
	if (p.n < 2)
		fputs("ubperf: 2 ranks at least: ubrun -n 2 ubperf ...\n", stderr);
	else
		rc = perf_run(&p, families);
	ub_fini(p.ctx);
	return rc;
}
