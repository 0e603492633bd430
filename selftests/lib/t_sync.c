// SPDX-License-Identifier: GPL-2.0-only
/* Barriers and fused reductions, 1 to 8 members, results checked each time. */
#include "t.h"
#include <sys/mman.h>

static long syncs = 100000;

static uint64_t value_of(int rank, long i)
{
	uint64_t h = (rank + 1) * 0x9e3779b97f4a7c15ULL + i * 0xc2b2ae3d27d4eb4fULL;

	return h ^ h >> 31;
}

static uint64_t expect(int n, long i, enum ub_reduction op)
{
	uint64_t v = value_of(0, i);
	int r;

	for (r = 1; r < n; r++) {
		uint64_t w = value_of(r, i);

		switch (op) {
		case UB_SUM:
			v += w;
			break;
		case UB_XOR:
			v ^= w;
			break;
		case UB_AND:
			v &= w;
			break;
		case UB_OR:
			v |= w;
			break;
		case UB_MIN_U64:
			v = w < v ? w : v;
			break;
		case UB_MAX_U64:
			v = w > v ? w : v;
			break;
		case UB_MIN_S64:
			v = (int64_t)w < (int64_t)v ? w : v;
			break;
		default:
			v = (int64_t)w > (int64_t)v ? w : v;
			break;
		}
	}
	return v;
}

static int reductions(struct ub_ctx *ctx, struct ub_scope *w)
{
	uint64_t got;
	long i;

	(void)ctx;
	for (i = 0; i < syncs; i++) {
		enum ub_reduction op = 1 + i % UB_MAX_S64;

		T_CHECK(!ub_sync_reduce(w, op, value_of(ub_rank(w), i), &got));
		T_CHECK(got == expect(ub_size(w), i, op));
	}
	return 0;
}

static int halves(struct ub_ctx *ctx, struct ub_scope *w)
{
	uint64_t got;
	long i;
	int err;

	(void)ctx;
	for (i = 0; i < syncs / 10; i++) {
		T_CHECK(!ub_arrive(w, UB_SUM, value_of(ub_rank(w), i)));
		if (i % 3 == ub_rank(w) % 3) {
			while ((err = ub_test(w, &got)) == -EAGAIN)
				sched_yield();
			T_CHECK(!err);
		} else {
			T_CHECK(!ub_wait(w, &got));
		}
		T_CHECK(got == expect(ub_size(w), i, UB_SUM));
	}
	return 0;
}

static int norm(struct ub_ctx *ctx, struct ub_scope *w)
{
	double got;

	(void)ctx;
	T_CHECK(!ub_sync_max_double(w, ub_rank(w) * 1.5, &got));
	T_CHECK(got == (ub_size(w) - 1) * 1.5);
	T_CHECK(ub_sync_reduce(w, ub_rank(w) ? UB_SUM : UB_XOR, 1, NULL) ==
		(ub_size(w) > 1 ? -EINVAL : 0));
	T_CHECK(!ub_sync(w));
	return 0;
}

/* Everybody pauses at random, so that all ways of waiting end barriers. */
static int uneven(struct ub_ctx *ctx, struct ub_scope *w)
{
	unsigned int seed = ub_rank(w) * 77 + 1;
	uint64_t got;
	long i;

	(void)ctx;
	for (i = 0; i < syncs / 50; i++) {
		int r = rand_r(&seed) % 400;

		if (!r)
			usleep(20000);
		else if (r < 60)
			usleep(r);
		else if (r < 90)
			sched_yield();
		T_CHECK(!ub_sync_reduce(w, UB_SUM, value_of(ub_rank(w), i), &got));
		T_CHECK(got == expect(ub_size(w), i, UB_SUM));
	}
	return 0;
}

static int *told;	/* how many have heard of rank 1 */

/* Rank 1 comes when all others have heard that it is missing. */
static int late(struct ub_ctx *ctx, struct ub_scope *w)
{
	(void)ctx;
	if (ub_rank(w) == 1) {
		while (__atomic_load_n(told, __ATOMIC_SEQ_CST) < ub_size(w) - 1)
			usleep(1000);
	} else {
		ub_set_timeout(w, 50);
		do {
			T_CHECK(ub_sync(w) == -ETIMEDOUT);
			T_CHECK(strstr(ub_last_error(), "it lives") ||
				strstr(ub_last_error(), "heard of"));
		} while (!strstr(ub_last_error(), "first rank 1"));
		__atomic_fetch_add(told, 1, __ATOMIC_SEQ_CST);
		ub_set_timeout(w, 0);
	}
	T_CHECK(!ub_sync(w));
	T_CHECK(!ub_sync(w));
	return 0;
}

static int by_value(const void *a, const void *b)
{
	return (*(const uint64_t *)a > *(const uint64_t *)b) -
	       (*(const uint64_t *)a < *(const uint64_t *)b);
}

/* Mean, and the median of batches of 100: what it costs undisturbed. */
static int measure(struct ub_ctx *ctx, struct ub_scope *w)
{
	uint64_t *batch = calloc(syncs / 100 + 1, sizeof(*batch));
	uint64_t t, before;
	long i;

	(void)ctx;
	if (getenv("T_PIN"))
		t_pin(atoi(getenv("T_PIN")) == 1 ? 0 : ub_rank(w) % 2);
	for (i = 0; i < 1000; i++)
		ub_sync(w);
	before = t = t_now();
	for (i = 0; i < syncs; i++) {
		ub_sync(w);
		if (i % 100 == 99) {
			uint64_t now = t_now();

			batch[i / 100] = now - before;
			before = now;
		}
	}
	t = t_now() - t;
	qsort(batch, syncs / 100, sizeof(*batch), by_value);
	if (!ub_rank(w))
		printf("# %d ranks: mean %.4f us a sync, median %.4f, best %.4f\n",
		       ub_size(w), t / 1e3 / syncs, batch[syncs / 200] / 1e5,
		       batch[0] / 1e5);
	free(batch);
	ub_sync(w);
	return 0;
}

int main(int argc, char **argv)
{
	static const int sizes[] = { 1, 2, 3, 4, 8 };
	char name[64];
	size_t k;

	if (getenv("T_SYNCS"))
		syncs = atol(getenv("T_SYNCS"));
	if (argc > 2 && !strcmp(argv[1], "measure"))
		return t_run(atoi(argv[2]), NULL, measure);
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	t_plan(4 * 5 + 1);
	for (k = 0; k < 5; k++) {
		snprintf(name, sizeof(name), "reductions, %d ranks", sizes[k]);
		t_result(!t_run(sizes[k], NULL, reductions), name);
		snprintf(name, sizeof(name), "arrive and wait, %d ranks", sizes[k]);
		t_result(!t_run(sizes[k], NULL, halves), name);
		snprintf(name, sizeof(name), "norm and mixed, %d ranks", sizes[k]);
		t_result(!t_run(sizes[k], NULL, norm), name);
		snprintf(name, sizeof(name), "uneven work, %d ranks", sizes[k]);
		t_result(!t_run(sizes[k], NULL, uneven), name);
	}
	t_result(!t_run(3, NULL, late), "time-out names who is missing");
	return t_end();
}
