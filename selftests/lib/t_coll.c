// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collectives that are disturbed: time-outs at every barrier of every call, a
 * member that dies in the middle, figures that members do not agree about.
 */
#include "t.h"
#include <sys/mman.h>
#include "t_machines.h"

#define COUNT	60000	/* doubles: four chunks */
#define BYTES	(COUNT * sizeof(double))

struct call {
	const char *name;
	int (*fn)(struct ub_scope *w, double *in, double *out);
};

static size_t equal_sizes[64], equal_offs[64];

static int do_allreduce(struct ub_scope *w, double *in, double *out)
{
	return ub_allreduce(w, in, out, COUNT, UB_DOUBLE, UB_OP_SUM);
}

static int do_small(struct ub_scope *w, double *in, double *out)
{
	return ub_allreduce(w, in, out, 1, UB_DOUBLE, UB_OP_SUM);
}

static int do_reduce(struct ub_scope *w, double *in, double *out)
{
	return ub_reduce(w, in, out, COUNT, UB_DOUBLE, UB_OP_MAX, 1);
}

static int do_scan(struct ub_scope *w, double *in, double *out)
{
	return ub_scan(w, in, out, COUNT, UB_DOUBLE, UB_OP_SUM);
}

static int do_exscan(struct ub_scope *w, double *in, double *out)
{
	return ub_exscan(w, in, out, COUNT, UB_DOUBLE, UB_OP_SUM);
}

static int do_reduce_scatter(struct ub_scope *w, double *in, double *out)
{
	return ub_reduce_scatter(w, in, out, COUNT / ub_size(w), UB_DOUBLE,
				 UB_OP_SUM);
}

static int do_bcast(struct ub_scope *w, double *in, double *out)
{
	/* What a call that timed out has brought already is not touched. */
	if (ub_rank(w) == 1)
		memcpy(out, in, BYTES);
	return ub_bcast(w, out, BYTES, 1);
}

static int do_allgather(struct ub_scope *w, double *in, double *out)
{
	return ub_allgather(w, in, BYTES / ub_size(w) & ~7, out);
}

static int do_allgatherv(struct ub_scope *w, double *in, double *out)
{
	return ub_allgatherv(w, in, out, equal_sizes, equal_offs);
}

static int do_gather(struct ub_scope *w, double *in, double *out)
{
	return ub_gather(w, in, BYTES / ub_size(w) & ~7, out, 1);
}

static int do_gatherv(struct ub_scope *w, double *in, double *out)
{
	return ub_gatherv(w, in, equal_sizes[ub_rank(w)], out, equal_sizes,
			  equal_offs, 1);
}

static int do_scatter(struct ub_scope *w, double *in, double *out)
{
	return ub_scatter(w, in, BYTES / ub_size(w) & ~7, out, 1);
}

static int do_scatterv(struct ub_scope *w, double *in, double *out)
{
	return ub_scatterv(w, in, equal_sizes, equal_offs, out,
			   equal_sizes[ub_rank(w)], 1);
}

static int do_alltoall(struct ub_scope *w, double *in, double *out)
{
	return ub_alltoall(w, in, BYTES / ub_size(w) & ~7, out);
}

static int do_alltoallv(struct ub_scope *w, double *in, double *out)
{
	return ub_alltoallv(w, in, equal_sizes, equal_offs, out, equal_sizes,
			    equal_offs);
}

static const struct call calls[] = {
	{ "allreduce", do_allreduce }, { "allreduce of 8 bytes", do_small },
	{ "reduce", do_reduce }, { "scan", do_scan }, { "exscan", do_exscan },
	{ "reduce_scatter", do_reduce_scatter }, { "bcast", do_bcast },
	{ "allgather", do_allgather }, { "allgatherv", do_allgatherv },
	{ "gather", do_gather }, { "gatherv", do_gatherv },
	{ "scatter", do_scatter }, { "scatterv", do_scatterv },
	{ "alltoall", do_alltoall }, { "alltoallv", do_alltoallv },
};

#define CALLS	(sizeof(calls) / sizeof(*calls))

static void set_sizes(int n)
{
	int r;

	for (r = 0; r < n; r++) {
		equal_sizes[r] = BYTES / n & ~7;
		equal_offs[r] = r * equal_sizes[r];
	}
}

/* ---- time-outs ---- */

/*
 * One thread drives a member that is late at each of its barriers: it waits
 * at most a ms itself, and sleeps when that is over. The others do, too.
 */
static int until_done(struct ub_scope *w, const struct call *c, double *in,
		      double *out, unsigned int *seed, long *tries)
{
	int err;

	for (;;) {
		ub_set_timeout(w, 1);
		err = c->fn(w, in, out);
		if (err != -ETIMEDOUT)
			return err;
		++*tries;
		/* Another call must wait until this one is through. */
		T_CHECK(ub_sync(w) == -EALREADY);
		usleep(rand_r(seed) % 3000);
	}
}

static int again(struct ub_ctx *ctx, struct ub_scope *w)
{
	double *in = malloc(BYTES), *out = malloc(BYTES), *want = malloc(BYTES);
	unsigned int seed = ub_rank(w) + 1;
	size_t k, i;
	long tries = 0;
	uint64_t all;

	(void)ctx;
	T_CHECK(in && out && want);
	for (k = 0; k < CALLS; k++) {
		for (i = 0; i < COUNT; i++)
			in[i] = (ub_rank(w) + 1) * 1e3 + i / 7.0;
		memset(want, 0, BYTES);
		memset(out, 0, BYTES);
		ub_set_timeout(w, 0);
		T_CHECK(!calls[k].fn(w, in, want));
		if (ub_rank(w) == 1)
			usleep(5000);
		T_CHECK(!until_done(w, &calls[k], in, out, &seed, &tries));
		T_CHECK(!memcmp(want, out, BYTES));
	}
	/* Those who waited for rank 1; it need not have waited itself. */
	ub_set_timeout(w, 0);
	T_CHECK(!ub_sync_reduce(w, UB_SUM, tries, &all));
	T_CHECK(all);
	free(in);
	free(out);
	free(want);
	return 0;
}

/* ---- the dead ---- */

#define MEMBERS	4

struct found {
	struct ub_lost_info info[MEMBERS];
	int ready;
};

static struct found *found;
static const struct call *victim_call;

static int survive(struct ub_ctx *ctx, struct ub_scope *w)
{
	double *in = calloc(1, BYTES), *out = calloc(1, BYTES);
	int me = ub_rank(w), err;
	struct ub_scope *s;

	(void)ctx;
	T_CHECK(in && out);
	__atomic_add_fetch(&found->ready, 1, __ATOMIC_SEQ_CST);
	do {
		err = victim_call->fn(w, in, out);
	} while (!err);
	T_CHECK(err == -EOWNERDEAD);
	T_CHECK(victim_call->fn(w, in, out) == -EOWNERDEAD);
	T_CHECK(!ub_lost(w, &found->info[me]));
	T_CHECK(!ub_shrink(w, &s) && ub_size(s) == MEMBERS - 1);
	set_sizes(MEMBERS - 1);
	T_CHECK(!victim_call->fn(s, in, out));
	free(in);
	free(out);
	return 0;
}

/* Rank 2 dies; what it gave to the root or the others may still be asked for. */
static bool dies_in(const struct call *c, long us)
{
	struct t_job j;
	int r, bad;

	memset(found, 0, sizeof(*found));
	victim_call = c;
	set_sizes(MEMBERS);
	if (t_start(&j, MEMBERS, dense, survive))
		return false;
	while (__atomic_load_n(&found->ready, __ATOMIC_SEQ_CST) < MEMBERS)
		usleep(100);
	usleep(us);
	kill(j.pid[2], SIGKILL);
	bad = t_wait(&j, 1 << 2);
	for (r = 0; r < MEMBERS; r++)
		if (r != 2 && (found->info[r].rank != 2 ||
			       found->info[r].epoch != found->info[0].epoch)) {
			printf("# %s: rank %d heard of rank %d at %llu\n", c->name,
			       r, found->info[r].rank,
			       (unsigned long long)found->info[r].epoch);
			bad = 1;
		}
	return !bad;
}

static bool dies(void)
{
	bool ok = true;
	size_t k;

	for (k = 0; k < CALLS; k++)
		ok &= dies_in(&calls[k], rand() % 8000);
	return ok;
}

/* ---- figures ---- */

/* Members of other figures would choose other ways: all are told, and go on. */
static bool figures_differ(void)
{
	int fd = ub_host_arena_create(2, 1 << 24), r, status, bad = 0;

	for (r = 0; r < 2; r++) {
		struct ub_ctx *ctx;

		if (fork())
			continue;
		t_env("UB_RANK", r);
		t_env("UB_SIZE", 2);
		t_env("UB_HOST_FD", fd);
		t_env("UB_START_MS", 2000);
		t_machine(r ? "levels: [{name: board, radix: 2, latency: 7}]\n" :
			  "levels: [{name: board, radix: 2, latency: 8}]\n");
		if (r)
			usleep(50000);
		r = ub_init(&ctx, NULL);
		t_machine(NULL);
		_exit(r != -EOWNERDEAD &&
		      (r != -EINVAL || !strstr(ub_last_error(), "machine")));
	}
	for (r = 0; r < 2; r++) {
		wait(&status);
		bad |= status;
	}
	close(fd);
	return !bad;
}

int main(void)
{
	size_t i;

	found = mmap(NULL, sizeof(*found), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	t_plan(SHAPES - 1 + 3);
	for (i = 1; i < SHAPES; i++) {
		char name[80];

		t_machine(shapes[i].machine);
		set_sizes(shapes[i].n);
		snprintf(name, sizeof(name), "time-outs, %s", shapes[i].name);
		t_result(!t_run(shapes[i].n, shapes[i].node, again), name);
	}
	t_machine(NULL);
	if (t_threads()) {
		t_result(true, "a member dies in each # SKIP not as threads");
		t_result(true, "the same with teams # SKIP not as threads");
		t_result(true, "figures that differ # SKIP not as threads");
		return t_end();
	}
	t_result(dies(), "a member dies in each");
	t_machine(shapes[4].machine);
	t_result(dies(), "the same with teams");
	t_machine(NULL);
	t_result(figures_differ(), "figures that differ");
	return t_end();
}
