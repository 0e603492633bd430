/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All processes get the nonzero entries of a distributed vector: tags carry the
 * index. The tag size of the caller is restored.
 */
#include "bsptest.h"

#define EACH	100

static int gather_nonzeros(const double *dense, int **index, double **value)
{
	bsp_size_t size = sizeof(int), bytes, status;
	bsp_nprocs_t packets;
	int i, k, global;

	bsp_set_tagsize(&size);
	bsp_sync();
	for (i = 0; i < EACH; i++) {
		if (dense[i] == 0)
			continue;
		global = ME * EACH + i;
		for (k = 0; k < NPROCS; k++)
			bsp_send(k, &global, &dense[i], sizeof(double));
	}
	bsp_set_tagsize(&size);
	bsp_sync();
	bsp_qsize(&packets, &bytes);
	EQUAL(bytes, packets * sizeof(double));
	*index = (int *)malloc(packets * sizeof(int) + 1);
	*value = (double *)malloc(bytes + 1);
	for (i = 0; i < (int)packets; i++) {
		bsp_get_tag(&status, &(*index)[i]);
		EQUAL(status, sizeof(double));
		bsp_move(&(*value)[i], sizeof(double));
	}
	return (int)packets;
}

TEST(sparse_gather, "n=1,2,3,4")
{
	double dense[EACH], *value, sum = 0;
	int i, count, want = 0, *index, *seen = (int *)calloc(EACH * NPROCS, sizeof(int));
	bsp_size_t size = 3, status;
	char tag[4] = "...";

	bsp_set_tagsize(&size);
	bsp_sync();
	for (i = 0; i < EACH; i++)
		dense[i] = (ME * EACH + i) % 7 == 3 ? ME * EACH + i : 0;
	count = gather_nonzeros(dense, &index, &value);
	for (i = 0; i < EACH * NPROCS; i++)
		want += i % 7 == 3;
	EQUAL(count, want);
	for (i = 0; i < count; i++) {
		EQUAL(index[i] % 7, 3);
		EQUAL(seen[index[i]]++, 0);
		EQUAL(value[i], index[i]);
		sum += value[i];
	}
	bsp_send(ME, "abc", &sum, sizeof(sum));
	bsp_sync();
	bsp_get_tag(&status, tag);
	EQUAL(status, sizeof(sum));
	CHECK(!strcmp(tag, "abc"));
	free(index);
	free(value);
	free(seen);
}
