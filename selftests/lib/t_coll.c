// SPDX-License-Identifier: GPL-2.0-only
/* Collectives: sizes around the limits, all types, the same bits always. */
#include "t.h"
#include <math.h>

static const size_t counts[] = { 0, 1, 15, 16, 17, 1000, 16384, 16385, 100001 };

#define MOST	100001

static double number(int rank, size_t i)
{
	/* Sums of these depend on their order. */
	return ldexp((rank * 7919 + i * 104729) % 1009 + 1.0 / 3,
		     (rank * 5 + i) % 40);
}

static int doubles(struct ub_ctx *ctx, struct ub_scope *w)
{
	double *in = calloc(MOST, 8), *out = calloc(MOST, 8);
	int me = ub_rank(w), n = ub_size(w), r;
	size_t k, i;

	(void)ctx;
	for (k = 0; k < sizeof(counts) / sizeof(*counts); k++) {
		for (i = 0; i < counts[k]; i++)
			in[i] = number(me, i);
		T_CHECK(!ub_allreduce(w, in, out, counts[k], UB_DOUBLE, UB_OP_SUM));
		for (i = 0; i < counts[k]; i++) {
			double v = number(0, i);

			for (r = 1; r < n; r++)
				v += number(r, i);
			T_CHECK(!memcmp(&v, &out[i], 8));
		}
		/* In place. */
		T_CHECK(!ub_allreduce(w, in, in, counts[k], UB_DOUBLE, UB_OP_MAX));
		for (i = 0; i < counts[k]; i += 97) {
			double v = number(0, i);

			for (r = 1; r < n; r++)
				v = fmax(v, number(r, i));
			T_CHECK(v == in[i]);
		}
	}
	free(in);
	free(out);
	return 0;
}

static int integers(struct ub_ctx *ctx, struct ub_scope *w)
{
	int me = ub_rank(w), n = ub_size(w), r;
	int32_t a[100], sum[100], min[100];
	float f[40], fs[40];
	int64_t b[3];
	size_t i;

	(void)ctx;
	for (i = 0; i < 100; i++)
		a[i] = (uint32_t)((me + 1) * (i % 2 ? -1 : 1)) * 700000000u;
	T_CHECK(!ub_allreduce(w, a, sum, 100, UB_INT32, UB_OP_SUM));
	T_CHECK(!ub_allreduce(w, a, min, 100, UB_INT32, UB_OP_MIN));
	for (i = 0; i < 100; i++) {
		uint32_t s = 0;
		int32_t m = INT32_MAX;

		for (r = 0; r < n; r++) {
			int32_t v = (uint32_t)((r + 1) * (i % 2 ? -1 : 1)) * 700000000u;

			s += (uint32_t)v;
			m = v < m ? v : m;
		}
		T_CHECK((uint32_t)sum[i] == s && min[i] == m);
	}
	for (i = 0; i < 3; i++)
		b[i] = -(int64_t)me - i;
	T_CHECK(!ub_allreduce(w, b, b, 3, UB_INT64, UB_OP_MIN));
	T_CHECK(b[2] == -(n - 1) - 2);
	for (i = 0; i < 40; i++)
		f[i] = me + 0.5f;
	T_CHECK(!ub_allreduce(w, f, fs, 40, UB_FLOAT, UB_OP_SUM));
	T_CHECK(fs[39] == n * (n - 1) / 2 + n * 0.5f);
	return 0;
}

static int others(struct ub_ctx *ctx, struct ub_scope *w)
{
	static const size_t bytes[] = { 0, 1, 128, 129, 131072, 131073, 500000 };
	int me = ub_rank(w), n = ub_size(w), root, r;
	unsigned char *a = malloc(500000), *all = malloc(500000UL * n);
	size_t k, i;

	(void)ctx;
	for (k = 0; k < sizeof(bytes) / sizeof(*bytes); k++) {
		for (root = 0; root < n; root++) {
			memset(a, me == root ? root + 1 : 0xee, bytes[k]);
			T_CHECK(!ub_bcast(w, a, bytes[k], root));
			for (i = 0; i < bytes[k]; i++)
				T_CHECK(a[i] == root + 1);
		}
		for (i = 0; i < bytes[k]; i++)
			a[i] = me * 31 + i;
		T_CHECK(!ub_allgather(w, a, bytes[k], all));
		for (r = 0; r < n; r++)
			for (i = 0; i < bytes[k]; i++)
				T_CHECK(all[r * bytes[k] + i] ==
					(unsigned char)(r * 31 + i));
	}
	T_CHECK(ub_bcast(w, a, 1, n) == -EINVAL);
	free(a);
	free(all);
	return 0;
}

/* A slow member: time-outs interrupt every step, and the call goes on. */
static int again(struct ub_ctx *ctx, struct ub_scope *w)
{
	double *in = calloc(50000, 8), *out = calloc(50000, 8);
	struct ub_scope *s;
	int err, tries = 0, i;
	char c = 7;

	(void)ctx;
	for (i = 0; i < 50000; i++)
		in[i] = ub_rank(w);
	if (ub_rank(w) == 1) {
		usleep(100000);
		T_CHECK(!ub_allreduce(w, in, out, 50000, UB_DOUBLE, UB_OP_SUM));
		usleep(100000);
		T_CHECK(!ub_scope_split(w, 0, 0, &s));
		usleep(100000);
		T_CHECK(!ub_bcast(w, &c, 1, 1));
	} else {
		ub_set_timeout(w, 5);
		while ((err = ub_allreduce(w, in, out, 50000, UB_DOUBLE,
					   UB_OP_SUM)) == -ETIMEDOUT)
			tries++;
		T_CHECK(!err && tries > 3);
		while ((err = ub_scope_split(w, 0, 0, &s)) == -ETIMEDOUT) {
			T_CHECK(ub_bcast(w, &c, 1, 1) == -EALREADY);
			tries++;
		}
		T_CHECK(!err);
		while ((err = ub_bcast(w, &c, 1, 1)) == -ETIMEDOUT)
			tries++;
		T_CHECK(!err && c == 7);
	}
	for (i = 0; i < 50000; i++)
		T_CHECK(out[i] == ub_size(w) * (ub_size(w) - 1) / 2);
	ub_set_timeout(s, 0);
	T_CHECK(!ub_sync(s));
	free(in);
	free(out);
	return 0;
}

int main(void)
{
	static const int sizes[] = { 1, 2, 3, 5 };
	char name[64];
	int i;

	t_plan(13);
	for (i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "doubles, %d ranks", sizes[i]);
		t_result(!t_run(sizes[i], NULL, doubles), name);
		snprintf(name, sizeof(name), "other types, %d ranks", sizes[i]);
		t_result(!t_run(sizes[i], NULL, integers), name);
		snprintf(name, sizeof(name), "bcast, allgather, %d ranks", sizes[i]);
		t_result(!t_run(sizes[i], NULL, others), name);
	}
	t_result(!t_run(3, NULL, again), "time-outs in the middle");
	return t_end();
}
