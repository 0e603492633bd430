/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connected components by hooking and pointer jumping: each vertex asks its
 * neighbours by bsp_get(), offers are combined by messages at the owner, jumps are
 * bsp_hpget(). The graph is some rings of known vertices, numbered at random.
 */
#include "bsptest.h"

#define EACH	60
#define RINGS	4

static int parent[EACH];

/* Vertex i of the order 0..n-1 has number (i * 77 + 13) mod n; n is 60 p, 77 is coprime. */
static int number_of(int i, int n)
{
	return (int)((i * 77L + 13) % n);
}

static void jump(int p)
{
	static int above[EACH];
	int i, more, all = 1, *votes = (int *)malloc(p * sizeof(int));

	bsp_push_reg(votes, p * sizeof(int));
	bsp_sync();
	while (all) {
		for (i = 0; i < EACH; i++)
			bsp_hpget(parent[i] / EACH, parent, parent[i] % EACH * sizeof(int),
				  &above[i], sizeof(int));
		bsp_sync();
		for (i = 0, more = 0; i < EACH; i++) {
			more |= parent[i] != above[i];
			parent[i] = above[i];
		}
		for (i = 0; i < p; i++)
			bsp_put(i, &more, votes, ME * sizeof(int), sizeof(int));
		bsp_sync();
		for (i = 0, all = 0; i < p; i++)
			all |= votes[i];
	}
	bsp_pop_reg(votes);
	bsp_sync();
	free(votes);
}

/* What is least among a root's offers becomes its parent; 1 if that changed. */
static int take_offers(void)
{
	bsp_size_t status;
	int root, offer, changed = 0;

	for (;;) {
		bsp_get_tag(&status, &root);
		if (status == NONE)
			return changed;
		EQUAL(root / EACH, ME);
		bsp_move(&offer, sizeof(offer));
		if (offer < parent[root % EACH]) {
			parent[root % EACH] = offer;
			changed = 1;
		}
	}
}

TEST(components, "n=1,2,3,4,8")
{
	int p = NPROCS, n = EACH * p, each = n / RINGS, i, k, all = 1, changed;
	static int next[EACH], theirs[EACH], least[RINGS];
	int *votes = (int *)malloc(p * sizeof(int));
	bsp_size_t tag_size = sizeof(int);

	bsp_push_reg(parent, sizeof(parent));
	bsp_push_reg(votes, p * sizeof(int));
	bsp_set_tagsize(&tag_size);
	for (i = 0; i < RINGS; i++)
		least[i] = n;
	for (i = 0; i < n; i++) {
		int ring = i / each, to = number_of(ring * each + (i + 1) % each, n);

		if (number_of(i, n) / EACH == ME)
			next[number_of(i, n) % EACH] = to;
		if (number_of(i, n) < least[ring])
			least[ring] = number_of(i, n);
	}
	for (i = 0; i < EACH; i++)
		parent[i] = ME * EACH + i;
	bsp_sync();
	while (all) {
		for (i = 0; i < EACH; i++)
			bsp_get(next[i] / EACH, parent, next[i] % EACH * sizeof(int),
				&theirs[i], sizeof(int));
		bsp_sync();
		for (i = 0; i < EACH; i++) {
			int low = theirs[i] < parent[i] ? theirs[i] : parent[i];
			int high = theirs[i] < parent[i] ? parent[i] : theirs[i];

			if (low != high)
				bsp_send(high / EACH, &high, &low, sizeof(low));
		}
		bsp_sync();
		changed = take_offers();
		for (i = 0; i < p; i++)
			bsp_put(i, &changed, votes, ME * sizeof(int), sizeof(int));
		jump(p);
		for (i = 0, all = 0; i < p; i++)
			all |= votes[i];
	}
	for (i = 0; i < n; i++)
		if (number_of(i, n) / EACH == ME)
			EQUAL(parent[number_of(i, n) % EACH], least[i / each]);
	for (k = 0; k < 2; k++)
		bsp_pop_reg(k ? (void *)parent : (void *)votes);
	bsp_sync();
	free(votes);
}
