/* SPDX-License-Identifier: MIT */
/*
 * Inner product of two vectors that are spread cyclically.
 *
 * usage: inprod [N [PROCESSES]]; without PROCESSES all that are available
 */
#include <bsp.h>
#include <stdio.h>
#include <stdlib.h>

static int wanted;
static long length = 1000000;

/* Number of elements on process s of p. */
static long local_length(int p, int s, long n)
{
	return (n + p - s - 1) / p;
}

/* Every process gets the sum: one superstep, p numbers in and out of each. */
static double inner_product(long nl, const double *x, const double *y)
{
	int p = bsp_nprocs(), s = bsp_pid(), t;
	double *part = calloc(p, sizeof(*part));
	double mine = 0, sum = 0;
	long i;

	if (!part)
		bsp_abort("no memory\n");
	bsp_push_reg(part, p * (int)sizeof(*part));
	bsp_sync();
	for (i = 0; i < nl; i++)
		mine += x[i] * y[i];
	for (t = 0; t < p; t++)
		bsp_put(t, &mine, part, s * (int)sizeof(*part), sizeof(*part));
	bsp_sync();
	for (t = 0; t < p; t++)
		sum += part[t];
	bsp_pop_reg(part);
	bsp_sync();
	free(part);
	return sum;
}

static void spmd(void)
{
	double *x, sum, exact, from;
	int p, s;
	long n, nl, i;

	bsp_begin(wanted);
	p = bsp_nprocs();
	s = bsp_pid();

	/* Process 0 tells the length: the others have not read the arguments. */
	n = length;
	bsp_push_reg(&n, sizeof(n));
	bsp_sync();
	bsp_get(0, &n, 0, &n, sizeof(n));
	bsp_sync();
	bsp_pop_reg(&n);

	nl = local_length(p, s, n);
	x = malloc((nl + 1) * sizeof(*x));
	if (!x)
		bsp_abort("no memory for %ld elements\n", nl);
	for (i = 0; i < nl; i++)
		x[i] = i * p + s + 1;
	bsp_sync();
	from = bsp_time();
	sum = inner_product(nl, x, x);
	exact = (double)n * (n + 1.0) * (2.0 * n + 1.0) / 6.0;
	if (!s)
		printf("sum of squares up to %ld on %d processes: %.17g, relative error %.1e\n",
		       n, p, sum, (sum - exact) / exact);
	fprintf(stderr, "process %d: %.6f s\n", s, bsp_time() - from);
	free(x);
	bsp_end();
}

int main(int argc, char **argv)
{
	bsp_init(spmd, argc, argv);
	if (argc > 1)
		length = atol(argv[1]);
	wanted = argc > 2 ? atoi(argv[2]) : bsp_nprocs();
	spmd();
	return 0;
}
