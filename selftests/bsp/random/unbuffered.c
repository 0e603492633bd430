/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random unbuffered traffic. In every other step each process may put into its own
 * part of each other's area and get from its source; in the steps between, when
 * nothing is under way, all is compared and the sources change.
 */
#include "../bsptest.h"

#define PROCS	8
#define PART	40		/* of an area that belongs to one writer */

static unsigned char area[PROCS][PROCS * PART], source[PROCS][PROCS * PART];
static unsigned char got[PROCS][PROCS * PART];
static unsigned char real_area[PROCS * PART], real_source[PROCS * PART];
static unsigned char real_got[PROCS * PART];

/* Calls of process @p to @to, and what they will do. */
static void communicate(unsigned long *state, int p, int to)
{
	int at, length;

	if (bspt_random(state, 3)) {
		at = (int)bspt_random(state, PART);
		length = 1 + (int)bspt_random(state, PART - at);
		at += p * PART;
		memcpy(area[to] + at, source[p] + at, length);
		if (p == ME)
			bsp_hpput(to, real_source + at, real_area, at, length);
	}
	if (bspt_random(state, 3)) {
		at = (int)bspt_random(state, PART);
		length = 1 + (int)bspt_random(state, PART - at);
		memcpy(got[p] + to * PART + at, source[to] + at, length);
		if (p == ME)
			bsp_hpget(to, real_source, at, real_got + to * PART + at, length);
	}
}

TEST(unbuffered, "n=1,2,3,4,8 limit=120")
{
	unsigned long state = 4711;
	int step, p, to;

	bsp_push_reg(real_area, sizeof(real_area));
	bsp_push_reg(real_source, sizeof(real_source));
	bsp_sync();
	for (step = 0; step < 20 * BSPT_SEEDS; step++) {
		for (p = 0; p < NPROCS; p++)
			bspt_fill(source[p], PROCS * PART, (int)bspt_random(&state, 1000000));
		memcpy(real_source, source[ME], sizeof(real_source));
		bsp_sync();
		for (p = 0; p < NPROCS; p++)
			for (to = 0; to < NPROCS; to++)
				communicate(&state, p, to);
		bsp_sync();
		CHECK(!memcmp(real_area, area[ME], sizeof(real_area)));
		CHECK(!memcmp(real_source, source[ME], sizeof(real_source)));
		CHECK(!memcmp(real_got, got[ME], sizeof(real_got)));
	}
}
