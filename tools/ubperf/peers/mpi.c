// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tests on MPI: Open MPI or MPICH, as it was compiled.
 *
 *	mpirun -n 2 ubperf-openmpi barrier --json
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

#define INNER_SYNCS	10
#define TAG		1
#define WINDOW_MIN	4096

static void done(int rc, const char *what)
{
	char text[MPI_MAX_ERROR_STRING];
	int len;

	if (rc == MPI_SUCCESS)
		return;
	MPI_Error_string(rc, text, &len);
	fprintf(stderr, "ubperf: %s: %s\n", what, text);
	MPI_Abort(MPI_COMM_WORLD, PERF_EX_FAILED);
}

static void team_sync(struct perf *p)
{
	(void)p;
	done(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
}

static double team_max(struct perf *p, double v)
{
	(void)p;
	done(MPI_Allreduce(MPI_IN_PLACE, &v, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD),
	     "MPI_Allreduce");
	return v;
}

static void team_gather(struct perf *p, const void *in, size_t bytes, void *out)
{
	(void)p;
	done(MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD),
	     "MPI_Allgather");
}

static const struct perf_team mpi_team = {
	.sync = team_sync, .max = team_max, .gather = team_gather,
};

/* ---- barrier ---- */

static int nothing(struct perf *p, struct perf_run *r)
{
	(void)p;
	(void)r;
	return 0;
}

static void barrier_mpi(struct perf *p, struct perf_run *r, long count)
{
	(void)p;
	(void)r;
	while (count--)
		done(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
}

static int idle_prepare(struct perf *p, struct perf_run *r)
{
	r->untimed = p->rank == 0;
	return 0;
}

/* ---- windows ---- */

struct window {
	MPI_Win win;
	char *mine;
	size_t bytes;
	size_t *place;
};

static struct window *window(struct perf *p, struct perf_run *r, size_t bytes)
{
	struct window *w = must_alloc(sizeof(*w));

	/* Puts into windows below a line get lost with MPICH 4.0.2. */
	bytes = bytes > WINDOW_MIN ? bytes : WINDOW_MIN;
	w->bytes = bytes;
	done(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w->mine, &w->win),
	     "MPI_Win_allocate");
	memset(w->mine, 0, bytes);
	/* The first fence need not wait for anybody. */
	done(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
	r->priv = w;
	r->local = must_alloc(r->size);
	data_fill(r->local, r->size, p->rank);
	done(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win), "MPI_Win_fence");
	return w;
}

static void window_free(struct perf *p, struct perf_run *r)
{
	struct window *w = r->priv;

	(void)p;
	done(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win), "MPI_Win_fence");
	done(MPI_Win_free(&w->win), "MPI_Win_free");
	free(w->place);
	free(w);
	free(r->local);
}

static int put_prepare(struct perf *p, struct perf_run *r)
{
	window(p, r, r->size);
	return 0;
}

static void put_loop(struct perf *p, struct perf_run *r, long count)
{
	struct window *w = r->priv;

	while (count--) {
		done(MPI_Put(r->local, r->size, MPI_BYTE, p->next, 0, r->size, MPI_BYTE,
			     w->win), "MPI_Put");
		done(MPI_Win_fence(0, w->win), "MPI_Win_fence");
	}
}

static enum perf_verdict put_verify(struct perf *p, struct perf_run *r)
{
	struct window *w = r->priv;

	return data_is(w->mine, r->size, p->prev) ? PERF_GOOD : PERF_BAD;
}

static int random_prepare(struct perf *p, struct perf_run *r)
{
	struct window *w = window(p, r, r->size > RANDOM_ROOM ? r->size : RANDOM_ROOM);

	w->place = data_places(p->rank, r->size, w->bytes);
	return 0;
}

static void random_loop(struct perf *p, struct perf_run *r, long count)
{
	struct window *w = r->priv;
	long i;

	while (count--) {
		for (i = 0; i < RANDOM_PUTS; i++)
			done(MPI_Put(r->local, r->size, MPI_BYTE, p->next, w->place[i],
				     r->size, MPI_BYTE, w->win), "MPI_Put");
		done(MPI_Win_fence(0, w->win), "MPI_Win_fence");
	}
}

static enum perf_verdict random_verify(struct perf *p, struct perf_run *r)
{
	struct window *w = r->priv;

	return data_at_places(w->mine, r->size, w->bytes, p->prev) ? PERF_GOOD : PERF_BAD;
}

/* ---- two-sided: to the next and from the previous rank ---- */

static int sendrecv_prepare(struct perf *p, struct perf_run *r)
{
	r->local = must_alloc(r->size);
	r->remote = must_alloc(r->size);
	data_fill(r->local, r->size, p->rank);
	return 0;
}

static void sendrecv_loop(struct perf *p, struct perf_run *r, long count)
{
	while (count--)
		done(MPI_Sendrecv(r->local, r->size, MPI_BYTE, p->next, TAG, r->remote,
				  r->size, MPI_BYTE, p->prev, TAG, MPI_COMM_WORLD,
				  MPI_STATUS_IGNORE), "MPI_Sendrecv");
}

static enum perf_verdict sendrecv_verify(struct perf *p, struct perf_run *r)
{
	return data_is(r->remote, r->size, p->prev) ? PERF_GOOD : PERF_BAD;
}

/* ---- allreduce ---- */

static void allreduce_loop(struct perf *p, struct perf_run *r, long count)
{
	(void)p;
	while (count--)
		done(MPI_Allreduce(r->local, r->remote, r->size / sizeof(double),
				   MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
}

/* ---- communicators: the first and the second half of the ranks ---- */

static MPI_Comm split(struct perf *p)
{
	MPI_Comm half;

	done(MPI_Comm_split(MPI_COMM_WORLD, p->rank >= (p->n + 1) / 2, 0, &half),
	     "MPI_Comm_split");
	return half;
}

static int comm_prepare(struct perf *p, struct perf_run *r)
{
	MPI_Comm *c = must_alloc(sizeof(*c));

	*c = split(p);
	r->priv = c;
	return 0;
}

static void comm_free(struct perf *p, struct perf_run *r)
{
	(void)p;
	done(MPI_Comm_free(r->priv), "MPI_Comm_free");
	free(r->priv);
}

static void inner_loop(struct perf *p, struct perf_run *r, long count)
{
	MPI_Comm half = *(MPI_Comm *)r->priv;

	(void)p;
	while (count--)
		done(MPI_Barrier(half), "MPI_Barrier");
}

static void nested_loop(struct perf *p, struct perf_run *r, long count)
{
	MPI_Comm half = *(MPI_Comm *)r->priv;
	int i;

	(void)p;
	while (count--) {
		for (i = 0; i < INNER_SYNCS; i++)
			done(MPI_Barrier(half), "MPI_Barrier");
		done(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
	}
}

static void enter_loop(struct perf *p, struct perf_run *r, long count)
{
	MPI_Comm half;

	(void)r;
	while (count--) {
		half = split(p);
		done(MPI_Comm_free(&half), "MPI_Comm_free");
	}
}

static const struct perf_test tests[] = {
	{
		.name = "barrier", .iters = 200000,
		.prepare = nothing, .loop = barrier_mpi,
	}, {
		.name = "put-sync", .size = 8, .iters = 200000,
		.prepare = put_prepare, .loop = put_loop,
		.verify = put_verify, .finish = window_free,
	}, {
		.name = "put-random", .size = 8, .iters = 2000, .messages = RANDOM_PUTS,
		.prepare = random_prepare, .loop = random_loop,
		.verify = random_verify, .finish = window_free,
	}, {
		.name = "sendrecv", .size = 8, .iters = 200000,
		.prepare = sendrecv_prepare, .loop = sendrecv_loop,
		.verify = sendrecv_verify, .finish = data_doubles_free,
	}, {
		.name = "allreduce", .size = 8, .iters = 100000,
		.prepare = data_doubles, .loop = allreduce_loop,
		.verify = data_sums_verify, .finish = data_doubles_free,
	}, {
		.name = "inner", .iters = 200000,
		.prepare = comm_prepare, .loop = inner_loop, .finish = comm_free,
	}, {
		.name = "nested", .iters = 20000,
		.prepare = comm_prepare, .loop = nested_loop, .finish = comm_free,
	}, {
		.name = "scope-enter", .iters = 20000,
		.prepare = nothing, .loop = enter_loop,
	}, {
		.name = "barrier-cpu", .iters = 200000, .by_name = true, .cpu = true,
		.prepare = nothing, .loop = barrier_mpi,
	}, {
		.name = "idle", .iters = 1, .by_name = true, .cpu = true,
		.prepare = idle_prepare, .before = perf_late, .loop = barrier_mpi,
	},
	{ }
};

static const struct perf_test *const families[] = { tests, NULL };

static const char usage_text[] =
"Usage: mpirun -n N ubperf-openmpi|ubperf-mpich TEST[,TEST...] [OPTION]...\n"
"ubperf's tests on MPI: barrier, put-sync and put-random (MPI_Put, MPI_Win_fence),\n"
"sendrecv, allreduce, inner, nested, scope-enter (MPI_Comm_split and _free),\n"
"barrier-cpu, idle. Options are ubperf's.\n";

int main(int argc, char **argv)
{
	struct perf_opts o;
	struct perf p = { .o = &o, .team = &mpi_team, .fabric = PEER_NAME };
	int rank, n, rc = PERF_EX_USAGE;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	perf_parse(&o, usage_text, families, argc, argv);
	peer_join(&p, rank, n);
	if (n < 2)
		fputs("ubperf: 2 ranks at least\n", stderr);
	else
		rc = perf_run(&p, families);
	MPI_Finalize();
	return rc;
}
