/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sorting by regular sampling with messages: the tag is nothing, then one int, then
 * a struct, from step to step, and the queue is read by bsp_move() and bsp_hpmove()
 * in turn. Keys come several times each, so that runs of equal ones cross borders.
 */
#include "bsptest.h"

#define EACH	1500
#define KINDS	97	/* different keys */

struct block {
	int from;
	int first;
	double check;
};

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static double sum(const int *v, int n)
{
	double s = 0;

	while (n--)
		s += v[n] * 1.5;
	return s;
}

static int key_of(long i)
{
	return (int)(i * i % KINDS);
}

/* Everybody's samples, with the sender's number as tag. */
static void get_samples(int *samples, int p)
{
	bsp_size_t status;
	int tag, i;

	for (i = 0; i < p; i++) {
		bsp_get_tag(&status, &tag);
		EQUAL(status, p * sizeof(int));
		CHECK(tag >= 0 && tag < p);
		bsp_move(samples + tag * p, status);
	}
	bsp_get_tag(&status, &tag);
	CHECK(status == NONE);
	qsort(samples, p * p, sizeof(int), compare);
}

static int get_blocks(int *keys, int p)
{
	struct block *tag;
	void *payload;
	int i, total = 0, n;

	for (i = 0; i < p; i++) {
		n = (int)bsp_hpmove((void **)&tag, &payload) / (int)sizeof(int);
		CHECK(tag->from >= 0 && tag->from < p);
		CHECK(tag->check == sum((int *)payload, n));
		memcpy(keys + total, payload, n * sizeof(int));
		total += n;
	}
	qsort(keys, total, sizeof(int), compare);
	return total;
}

/* How often a key is among those of all processes. */
static int occurs(int key, int n)
{
	int i, many = 0;

	for (i = 0; i < n; i++)
		many += key_of(i) == key;
	return many;
}

/* The lengths say where mine begin among all; each key must be in its place. */
static void check_order(const int *keys, int total, int p, int s)
{
	int i, k, first = 0, below = 0, *lengths = (int *)malloc(p * sizeof(int));

	bsp_push_reg(lengths, p * sizeof(int));
	bsp_sync();
	for (i = 0; i < p; i++)
		bsp_hpput(i, &total, lengths, s * sizeof(int), sizeof(int));
	bsp_pop_reg(lengths);
	bsp_sync();
	for (i = 0; i < s; i++)
		first += lengths[i];
	for (k = 0, i = 0; k < KINDS; k++) {
		int many = occurs(k, EACH * p);

		for (; i < total && first + i < below + many; i++)
			EQUAL(keys[i], k);
		below += many;
	}
	EQUAL(i, total);
	free(lengths);
}

TEST(regular_sampling, "n=1,2,3,4,8")
{
	int p = NPROCS, s = ME, i, k, begin, total;
	int keys[EACH], *samples = (int *)malloc(p * p * sizeof(int));
	int *own = (int *)malloc(p * sizeof(int)), *mine;
	bsp_size_t tag_size = sizeof(int);
	struct block tag;

	mine = (int *)malloc(EACH * p * sizeof(int));
	bsp_set_tagsize(&tag_size);
	EQUAL(tag_size, 0);
	for (i = 0; i < EACH; i++)
		keys[i] = key_of((long)s * EACH + i);
	qsort(keys, EACH, sizeof(int), compare);
	bsp_sync();
	for (i = 0; i < p; i++)
		own[i] = keys[i * EACH / p];
	for (k = 0; k < p; k++)
		bsp_send(k, &s, own, p * sizeof(int));
	tag_size = sizeof(struct block);
	bsp_set_tagsize(&tag_size);
	EQUAL(tag_size, sizeof(int));
	bsp_sync();
	get_samples(samples, p);
	memset(&tag, 0, sizeof(tag));
	for (k = 0, begin = 0; k < p; k++, begin = i) {
		for (i = begin; i < EACH && (k == p - 1 || keys[i] < samples[(k + 1) * p]); i++)
			;
		tag.from = s;
		tag.first = begin;
		tag.check = sum(keys + begin, i - begin);
		bsp_send(k, &tag, keys + begin, (i - begin) * sizeof(int));
	}
	tag_size = 0;
	bsp_set_tagsize(&tag_size);
	EQUAL(tag_size, sizeof(struct block));
	bsp_sync();
	total = get_blocks(mine, p);
	check_order(mine, total, p, s);
	free(mine);
	free(own);
	free(samples);
}
