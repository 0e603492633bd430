/* SPDX-License-Identifier: MIT */
/*
 * LU decomposition with partial pivoting of a matrix whose rows are spread
 * cyclically; the rows of a step's pivot are exchanged and told to all by puts.
 *
 * usage: lu [N]
 */
#include <bsp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pivot {
	double value;
	int row;
	int unused;
};

static int size = 100;

static double element(int i, int j)
{
	/* Well conditioned, and in need of pivoting. */
	return i == j ? 0.5 : 1.0 / (1 + abs(i - j)) + ((i * 7 + j * 3) % 11) * 0.1;
}

static double *row_of(double *a, int n, int i)
{
	return a + (size_t)(i / bsp_nprocs()) * n;
}

/* The largest element in column k at or below row k: all choose the same. */
static int find_pivot(double *a, int n, int k, struct pivot *all)
{
	int p = bsp_nprocs(), s = bsp_pid(), i, t;
	struct pivot best = { 0, -1, 0 };

	for (i = k + (s - k % p + p) % p; i < n; i += p) {
		double v = fabs(row_of(a, n, i)[k]);

		if (best.row < 0 || v > best.value) {
			best.value = v;
			best.row = i;
		}
	}
	for (t = 0; t < p; t++)
		bsp_put(t, &best, all, s * (int)sizeof(best), sizeof(best));
	bsp_sync();
	for (best = all[0], t = 1; t < p; t++)
		if (all[t].row >= 0 && (best.row < 0 || all[t].value > best.value ||
					(all[t].value == best.value &&
					 all[t].row < best.row)))
			best = all[t];
	return best.row;
}

/* Rows k and r change places, and everybody gets the one that is k then. */
static void swap_and_tell(double *a, int n, int k, int r, double *pivot_row)
{
	int p = bsp_nprocs(), s = bsp_pid(), t, bytes = n * (int)sizeof(*a);
	int owner_k = k % p, owner_r = r % p;

	if (s == owner_r)
		for (t = 0; t < p; t++)
			bsp_put(t, row_of(a, n, r), pivot_row, 0, bytes);
	if (s == owner_k && r != k)
		bsp_put(owner_r, row_of(a, n, k), a, r / p * bytes, bytes);
	bsp_sync();
	if (s == owner_k)
		memcpy(row_of(a, n, k), pivot_row, bytes);
}

static void eliminate(double *a, int n, int k, const double *pivot_row)
{
	int p = bsp_nprocs(), s = bsp_pid(), i, j;

	for (i = k + 1 + (s - (k + 1) % p + p) % p; i < n; i += p) {
		double *x = row_of(a, n, i);

		x[k] /= pivot_row[k];
		for (j = k + 1; j < n; j++)
			x[j] -= x[k] * pivot_row[j];
	}
}

/* Process 0 gets all rows and compares L U with the permuted matrix. */
static double residual(double *a, int n, const int *perm)
{
	int p = bsp_nprocs(), i, j, k, bytes = n * (int)sizeof(*a);
	double *all = NULL, worst = 0;

	bsp_push_reg(a, (n + p - 1) / p * bytes);
	bsp_sync();
	if (!bsp_pid()) {
		all = malloc((size_t)n * bytes);
		if (!all)
			bsp_abort("no memory\n");
		for (i = 0; i < n; i++)
			bsp_get(i % p, a, i / p * bytes, all + (size_t)i * n, bytes);
	}
	bsp_sync();
	for (i = 0; all && i < n; i++) {
		for (j = 0; j < n; j++) {
			double sum = i <= j ? all[i * n + j] : 0;

			for (k = 0; k < i && k <= j; k++)
				sum += all[i * n + k] * all[k * n + j];
			sum = fabs(sum - element(perm[i], j));
			worst = sum > worst ? sum : worst;
		}
	}
	bsp_pop_reg(a);
	bsp_sync();
	free(all);
	return worst;
}

int main(int argc, char **argv)
{
	double *a, *pivot_row, error;
	struct pivot *all;
	int n, p, s, i, j, k, r, *perm;

	if (argc > 1)
		size = atoi(argv[1]);
	bsp_begin(bsp_nprocs());
	n = size;
	p = bsp_nprocs();
	s = bsp_pid();
	a = calloc((size_t)(n + p - 1) / p * n, sizeof(*a));
	pivot_row = calloc(n, sizeof(*a));
	all = calloc(p, sizeof(*all));
	perm = calloc(n, sizeof(*perm));
	if (!a || !pivot_row || !all || !perm)
		bsp_abort("no memory\n");
	for (i = 0; i < n; i++)
		perm[i] = i;
	for (i = s; i < n; i += p)
		for (j = 0; j < n; j++)
			row_of(a, n, i)[j] = element(i, j);
	bsp_push_reg(all, p * (int)sizeof(*all));
	bsp_push_reg(pivot_row, n * (int)sizeof(*a));
	bsp_push_reg(a, (n + p - 1) / p * n * (int)sizeof(*a));
	bsp_sync();
	for (k = 0; k < n; k++) {
		r = find_pivot(a, n, k, all);
		i = perm[k];
		perm[k] = perm[r];
		perm[r] = i;
		swap_and_tell(a, n, k, r, pivot_row);
		eliminate(a, n, k, pivot_row);
	}
	error = residual(a, n, perm);
	if (!s)
		printf("LU of %d x %d on %d processes: %s\n", n, n, p,
		       error * 1e10 < n ? "right" : "wrong");
	bsp_end();
	return 0;
}
