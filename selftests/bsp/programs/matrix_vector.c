/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Matrix times vector with the vectors at single owners, as a partitioner may leave
 * them: most processes own nothing and register NULL, for each of several vectors.
 */
#include "bsptest.h"

#define N 7

static double *v, *u;		/* of N numbers where they are owned, else NULL */
static int *owner;

static void register_all(int pid, int n)
{
	int i;

	v = pid == 0 ? (double *)malloc(N * sizeof(*v)) : NULL;
	u = pid == n - 1 ? (double *)malloc(N * sizeof(*u)) : NULL;
	owner = pid == 0 ? (int *)malloc(N * sizeof(*owner)) : NULL;
	for (i = 0; v && i < N; i++) {
		v[i] = i + 1;
		owner[i] = n - 1;
	}
	for (i = 0; u && i < N; i++)
		u[i] = -1;
	bsp_push_reg(v, v ? N * sizeof(*v) : 0);
	bsp_push_reg(u, u ? N * sizeof(*u) : 0);
	bsp_push_reg(owner, owner ? N * sizeof(*owner) : 0);
}

/* Process 0 hands v out by messages, since the others cannot name its slot. */
static void fan_out(double *all, int n)
{
	bsp_size_t size = sizeof(int), status;
	int i, t;

	bsp_set_tagsize(&size);
	bsp_sync();
	for (i = 0; v && i < N; i++)
		for (t = 0; t < n; t++)
			bsp_send(t, &i, &v[i], sizeof(*v));
	bsp_sync();
	for (t = 0; t < N; t++) {
		bsp_get_tag(&status, &i);
		EQUAL(status, sizeof(*v));
		bsp_move(&all[i], sizeof(*all));
	}
}

TEST(matrix_vector, "n=1,2,3,4,7,16")
{
	int me = ME, n = NPROCS, i, j, *tag;
	double all[N], sum, *value;

	register_all(me, n);
	bsp_sync();
	fan_out(all, n);
	/* Rows are dealt out; the sums go to the owner of u. */
	for (i = me; i < N; i += n) {
		for (sum = 0, j = 0; j < N; j++)
			sum += (i == j ? 2 : 1) * all[j];
		bsp_send(n - 1, &i, &sum, sizeof(sum));
	}
	bsp_sync();
	for (i = 0; u && i < N; i++) {
		EQUAL(bsp_hpmove((void **)&tag, (void **)&value), sizeof(*value));
		u[*tag] = *value;
	}
	for (i = 0; u && i < N; i++)
		CHECK(u[i] == N * (N + 1) / 2 + i + 1);
	bsp_pop_reg(owner);
	bsp_pop_reg(v);
	bsp_pop_reg(u);
	bsp_sync();
	free(v);
	free(u);
	free(owner);
}
