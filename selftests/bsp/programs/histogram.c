/* SPDX-License-Identifier: GPL-2.0-only */
/* Each process counts numbers; the owner of a value adds up, told by messages. */
#include "bsptest.h"

#define VALUES	100
#define EACH	5000

TEST(histogram, "n=1,2,3,4")
{
	int counts[VALUES], p = NPROCS, i, tag, part;
	unsigned long state = 1 + ME, other;
	bsp_size_t size = sizeof(int), status;
	long total[VALUES], want[VALUES];

	bsp_set_tagsize(&size);
	bsp_sync();
	memset(counts, 0, sizeof(counts));
	for (i = 0; i < EACH; i++)
		counts[bspt_random(&state, VALUES)]++;
	for (i = 0; i < VALUES; i++)
		if (counts[i])
			bsp_send(i % p, &i, &counts[i], sizeof(int));
	bsp_sync();
	memset(total, 0, sizeof(total));
	for (;;) {
		bsp_get_tag(&status, &tag);
		if (status == NONE)
			break;
		bsp_move(&part, sizeof(part));
		total[tag] += part;
	}
	memset(want, 0, sizeof(want));
	for (part = 0; part < p; part++) {
		other = 1 + part;
		for (i = 0; i < EACH; i++)
			want[bspt_random(&other, VALUES)]++;
	}
	for (i = 0; i < VALUES; i++)
		EQUAL(total[i], i % p == ME ? want[i] : 0);
}
