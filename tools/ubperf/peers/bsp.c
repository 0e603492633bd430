// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tests by BSPlib alone, classic dialect: our <bsp.h>, or another one. One
 * process for each that the launcher starts.
 *
 *	ubrun -n 2 ubperf-bsp barrier --json
 */
#include <bsp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

#define ROOM	512	/* bytes that a rank can give to a gather */

static char *room;

static void team_sync(struct perf *p)
{
	(void)p;
	bsp_sync();
}

static void team_gather(struct perf *p, const void *in, size_t bytes, void *out)
{
	int i;

	must(bytes > ROOM ? -EMSGSIZE : 0, "gather");
	for (i = 0; i < p->n; i++)
		bsp_put(i, in, room, p->rank * ROOM, bytes);
	bsp_sync();
	for (i = 0; i < p->n; i++)
		memcpy((char *)out + i * bytes, room + i * ROOM, bytes);
}

static double team_max(struct perf *p, double v)
{
	double *all = must_alloc(p->n * sizeof(*all));
	int i;

	team_gather(p, &v, sizeof(v), all);
	for (i = 0; i < p->n; i++)
		v = all[i] > v ? all[i] : v;
	free(all);
	return v;
}

static const struct perf_team team = {
	.sync = team_sync, .max = team_max, .gather = team_gather,
};

static int nothing(struct perf *p, struct perf_run *r)
{
	(void)p;
	(void)r;
	return 0;
}

static void sync_loop(struct perf *p, struct perf_run *r, long count)
{
	(void)p;
	(void)r;
	while (count--)
		bsp_sync();
}

/* r->remote is this rank's area, r->local what goes to the next one's. */
static int put_prepare(struct perf *p, struct perf_run *r)
{
	r->remote = must_alloc(r->size);
	r->local = must_alloc(r->size);
	data_fill(r->local, r->size, p->rank);
	bsp_push_reg(r->remote, r->size);
	bsp_sync();
	return 0;
}

static void put_loop(struct perf *p, struct perf_run *r, long count)
{
	while (count--) {
		bsp_put(p->next, r->local, r->remote, 0, r->size);
		bsp_sync();
	}
}

static void hpput_loop(struct perf *p, struct perf_run *r, long count)
{
	while (count--) {
		bsp_hpput(p->next, r->local, r->remote, 0, r->size);
		bsp_sync();
	}
}

static enum perf_verdict put_verify(struct perf *p, struct perf_run *r)
{
	return data_is(r->remote, r->size, p->prev) ? PERF_GOOD : PERF_BAD;
}

static void put_finish(struct perf *p, struct perf_run *r)
{
	(void)p;
	bsp_pop_reg(r->remote);
	bsp_sync();
	free(r->remote);
	free(r->local);
}

/* A message to the next rank, and the one of the previous rank taken out. */
static void send_loop(struct perf *p, struct perf_run *r, long count)
{
	while (count--) {
		bsp_send(p->next, NULL, r->local, r->size);
		bsp_sync();
		bsp_move(r->remote, r->size);
	}
}

static const struct perf_test tests[] = {
	{
		.name = "barrier", .iters = 200000,
		.prepare = nothing, .loop = sync_loop,
	}, {
		.name = "put-sync", .size = 8, .iters = 200000,
		.prepare = put_prepare, .loop = put_loop,
		.verify = put_verify, .finish = put_finish,
	}, {
		.name = "hpput-sync", .size = 8, .iters = 200000,
		.prepare = put_prepare, .loop = hpput_loop,
		.verify = put_verify, .finish = put_finish,
	}, {
		.name = "send-sync", .size = 8, .iters = 200000,
		.prepare = put_prepare, .loop = send_loop,
		.verify = put_verify, .finish = put_finish,
	},
	{ }
};

static const struct perf_test *const families[] = { tests, NULL };

static const char usage_text[] =
"Usage: ubrun -n N ubperf-bsp TEST[,TEST...] [OPTION]...\n"
"ubperf's tests on BSPlib: barrier (bsp_sync), put-sync, hpput-sync, send-sync\n"
"(bsp_put, bsp_hpput, bsp_send and bsp_move, each with bsp_sync).\n";

static struct perf_opts o;

int main(int argc, char **argv)
{
	struct perf p = { .o = &o, .team = &team, .fabric = "bsp" };
	int rc = PERF_EX_USAGE;

	perf_parse(&o, usage_text, families, argc, argv);
	bsp_begin(bsp_nprocs());
	peer_join(&p, bsp_pid(), bsp_nprocs());
	room = must_alloc(p.n * ROOM);
	bsp_push_reg(room, p.n * ROOM);
	bsp_sync();
	if (p.n < 2)
		fputs("ubperf: 2 ranks at least\n", stderr);
	else
		rc = perf_run(&p, families);
	bsp_end();
	return rc;
}
