// SPDX-License-Identifier: GPL-2.0-only
/*
 * XFER for the explorer: what xfer.c needs of user memory, and a put, an atomic
 * and a get on a window by a process of a node.
 *
 * Invariant that is checked at each copy: no other process that lives has these
 * bytes of the fabric mapped since they were given out anew (life.placement).
 */
#include "explore_node.h"

#define WORDS	3	/* of a window: its mark, one that is put, one added to */

static void used(const void *shared)
{
	const int me = LIFE(self());
	const u64 off = (const char *)shared - arena;
	int l, i;

	for (l = 0; l < LIVES; l++)
		for (i = 0; life[l].f && l != me && i < MAPS; i++) {
			const struct shim_map *m = &life[l].map[i];

			if (m->on && !life[l].dead && m->off <= off &&
			    off < m->off + m->len && m->placement != life[me].placement)
				fail("life %d uses memory that was given to life %d since",
				     me, l);
		}
}

unsigned long shim_user_copy(void *to, const void *from, unsigned long n,
			     const void *shared)
{
	unsigned long i;

	/* Preempted, as long as one may be that holds what a tick needs. */
	if (prog->slow)
		fsleep(ub_detect_ms * 1000 / 2);
	for (i = 0; i < n; i += sizeof(u64)) {
		ub_explore_point();
		used((const char *)shared + i);
		*(u64 *)((char *)to + i) = *(const u64 *)((const char *)from + i);
	}
	return 0;
}

int node_use(u64 gva, u64 value, u64 word[WORDS], u64 *sum)
{
	struct ub_xfer_op_desc d[] = {
		{ .op = UB_XFER_PUT, .gva = gva + 8, .length = 8,
		  .addr = (uintptr_t)&value },
		{ .op = UB_XFER_FETCH_ADD, .gva = gva + 16, .length = 8, .operand = 1,
		  .addr = (uintptr_t)sum },
		{ .op = UB_XFER_GET, .gva = gva, .length = 8 * WORDS,
		  .addr = (uintptr_t)word },
	};
	struct ub_xfer arg = { .ops = (uintptr_t)d, .nops = ARRAY_SIZE(d) };
	long err = ub_xfer(life[LIFE(self())].file, &arg);
	size_t i;

	if (err)
		fail("a vector of puts and gets: %ld", err);
	for (i = 0; i < ARRAY_SIZE(d) && !err; i++)
		err = d[i].out_status;
	for (; i < ARRAY_SIZE(d); i++)
		if (!d[i].out_status)
			fail("element %zu is done after one was refused: %ld", i, err);
	return err;
}
