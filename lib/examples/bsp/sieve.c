/* SPDX-License-Identifier: MIT */
/*
 * Sieve of Eratosthenes, by blocks: process 0 has the primes up to the square
 * root and tells each as a message; all cross out in their own block. The number
 * up to which is read from standard input.
 */
#include <bsp.h>
#include <stdio.h>
#include <stdlib.h>

#define BATCH	64	/* primes in one superstep */

static long limit;

static void cross_out(char *composite, long first, long last, long prime)
{
	long i = (first + prime - 1) / prime * prime;

	if (i < prime * prime)
		i = prime * prime;
	for (; i <= last; i += prime)
		composite[i - first] = 1;
}

static long next_prime(const char *composite, long first, long last, long after)
{
	long i;

	for (i = after + 1; i <= last && i * i <= limit; i++)
		if (!composite[i - first])
			return i;
	return 0;
}

/* Process 0: the next primes to all; returns the last of them, or 0. */
static long send_batch(char *composite, long first, long last, long prime)
{
	int i, t;

	for (i = 0; i < BATCH; i++) {
		prime = next_prime(composite, first, last, prime);
		if (!prime)
			break;
		cross_out(composite, first, last, prime);
		for (t = 1; t < bsp_nprocs(); t++)
			bsp_send(t, NULL, &prime, sizeof(prime));
	}
	return prime;
}

static long count_primes(const char *composite, long first, long last)
{
	long i, n = 0;

	for (i = first < 2 ? 2 : first; i <= last; i++)
		n += !composite[i - first];
	return n;
}

int main(void)
{
	long size, first, last, prime = 1, mine, all = 0, part;
	int p, s, n, bytes, going = 1;
	char *composite;

	/* main() is the SPMD section; only process 0 has the input. */
	if (scanf("%ld", &limit) != 1)
		limit = 0;
	bsp_begin(bsp_nprocs());
	p = bsp_nprocs();
	s = bsp_pid();
	bsp_push_reg(&limit, sizeof(limit));
	bsp_push_reg(&going, sizeof(going));
	bsp_sync();
	bsp_get(0, &limit, 0, &limit, sizeof(limit));
	bsp_sync();
	if (limit < 4)
		bsp_abort("give a number from 4 on standard input\n");

	/* Process 0's block must hold the square root. */
	size = (limit + p) / p;
	if (size * size <= limit)
		bsp_abort("%ld is too small for %d processes\n", limit, p);
	first = s * size;
	last = first + size - 1 < limit ? first + size - 1 : limit;
	composite = calloc(size, 1);
	if (!composite)
		bsp_abort("no memory for %ld numbers\n", size);
	while (going) {
		if (!s) {
			prime = send_batch(composite, first, last, prime);
			going = prime != 0;
			for (n = 1; n < p; n++)
				bsp_put(n, &going, &going, 0, sizeof(going));
		}
		bsp_sync();
		for (bsp_qsize(&n, &bytes); n; n--) {
			bsp_move(&prime, sizeof(prime));
			cross_out(composite, first, last, prime);
		}
	}
	mine = count_primes(composite, first, last);
	bsp_send(0, NULL, &mine, sizeof(mine));
	bsp_sync();
	if (!s) {
		for (bsp_qsize(&n, &bytes); n; n--) {
			bsp_move(&part, sizeof(part));
			all += part;
		}
		printf("%ld primes up to %ld, by %d processes\n", all, limit, p);
	}
	free(composite);
	bsp_end();
	return 0;
}
