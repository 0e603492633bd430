/* SPDX-License-Identifier: MIT */
/*
 * Sample sort, in the size_t dialect: each process sorts its part, p regular
 * samples of each give p - 1 splitters, each number goes to its bucket as part of a
 * message, and what came is merged by sorting.
 *
 * usage: samplesort [N]: numbers on each process
 */
#define UB_BSP_SIZE_T
#include <bsp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t numbers = 100000;

static int order(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

static void *get_memory(size_t n)
{
	void *p = malloc(n ? n : 1);

	if (!p)
		bsp_abort("no memory for %lu bytes\n", (unsigned long)n);
	return p;
}

/* Splitters are the same on all: everybody has all samples. */
static void find_splitters(const unsigned long *x, size_t n, unsigned long *splitter)
{
	unsigned int p = bsp_nprocs(), s = bsp_pid(), t, i;
	unsigned long *sample = get_memory(p * p * sizeof(unsigned long));
	unsigned long *mine = get_memory(p * sizeof(unsigned long));

	bsp_push_reg(sample, p * p * sizeof(unsigned long));
	bsp_sync();
	for (i = 0; i < p; i++)
		mine[i] = x[i * n / p];
	for (t = 0; t < p; t++)
		bsp_put(t, mine, sample, s * p * sizeof(unsigned long), p * sizeof(unsigned long));
	bsp_sync();
	qsort(sample, p * p, sizeof(unsigned long), order);
	for (i = 1; i < p; i++)
		splitter[i - 1] = sample[i * p];
	bsp_pop_reg(sample);
	bsp_sync();
	free(sample);
	free(mine);
}

static void send_buckets(const unsigned long *x, size_t n, const unsigned long *splitter)
{
	unsigned int p = bsp_nprocs(), t;
	size_t from = 0, to;

	for (t = 0; t < p; t++) {
		for (to = from; to < n && (t == p - 1 || x[to] < splitter[t]); to++)
			;
		bsp_send(t, NULL, x + from, (to - from) * sizeof(unsigned long));
		from = to;
	}
}

static unsigned long *receive_bucket(size_t *n)
{
	bsp_nprocs_t messages;
	void *tag, *part;
	size_t bytes, len;
	char *all, *at;

	bsp_qsize(&messages, &bytes);
	all = at = get_memory(bytes);
	while ((len = bsp_hpmove(&tag, &part)) != (size_t)-1) {
		memcpy(at, part, len);
		at += len;
	}
	*n = bytes / sizeof(unsigned long);
	qsort(all, *n, sizeof(unsigned long), order);
	return (unsigned long *)all;
}

/* Sorted across processes: what is before me is not above my first. */
static void check(const unsigned long *x, size_t n, unsigned long sum, size_t all)
{
	struct {
		unsigned long first, last, sum;
		size_t n;
	} *end = get_memory(bsp_nprocs() * sizeof(*end)), mine = { 0, 0, 0, 0 };
	unsigned int t;
	unsigned long highest = 0;
	size_t i;

	bsp_push_reg(end, bsp_nprocs() * sizeof(*end));
	bsp_sync();
	for (i = 0; i < n; i++)
		mine.sum += x[i];
	mine.sum -= sum;
	mine.n = n;
	mine.first = n ? x[0] : 0;
	mine.last = n ? x[n - 1] : 0;
	bsp_put(0, &mine, end, bsp_pid() * sizeof(mine), sizeof(mine));
	bsp_sync();
	if (!bsp_pid()) {
		for (sum = 0, i = 0, t = 0; t < bsp_nprocs(); t++) {
			if (end[t].n && end[t].first < highest)
				bsp_abort("process %u is out of order\n", t);
			highest = end[t].n ? end[t].last : highest;
			sum += end[t].sum;
			i += end[t].n;
		}
		if (sum || i != all)
			bsp_abort("numbers were lost\n");
		printf("%lu numbers sorted by %u processes\n", (unsigned long)all,
		       bsp_nprocs());
	}
	bsp_sync();
	free(end);
}

int main(int argc, char **argv)
{
	unsigned long *x, *sorted, *splitter, sum = 0;
	unsigned long seed;
	size_t i, n;

	if (argc > 1)
		numbers = atol(argv[1]);
	bsp_begin(bsp_nprocs());
	x = get_memory(numbers * sizeof(unsigned long));
	splitter = get_memory(bsp_nprocs() * sizeof(unsigned long));
	seed = 12345 + bsp_pid();
	for (i = 0; i < numbers; i++) {
		seed = seed * 6364136223846793005UL + 1442695040888963407UL;
		x[i] = seed >> 33;
		sum += x[i];
	}
	if (numbers < bsp_nprocs())
		bsp_abort("give at least as many numbers as processes\n");
	qsort(x, numbers, sizeof(unsigned long), order);
	find_splitters(x, numbers, splitter);
	send_buckets(x, numbers, splitter);
	bsp_sync();
	sorted = receive_bucket(&n);
	check(sorted, n, sum, numbers * bsp_nprocs());
	free(x);
	free(sorted);
	free(splitter);
	bsp_end();
	return 0;
}
