// SPDX-License-Identifier: GPL-2.0-only
/*
 * How fast the host's time stamp counter runs. Guests see it as it is, but on
 * a busy host they measure it wrongly at boot, and their clocks would differ;
 * so they are told.
 *
 * Invariant: a reading counts only if nothing came between its two halves.
 */
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "kernel.h"
#include "util.h"

#define TRIES 50

struct reading {
	int64_t ns;
	uint64_t tsc;
};

/* The quickest of some tries: the others were interrupted. */
static struct reading take(void)
{
	struct reading best = { 0 };
	uint64_t before, after, least = ~0ULL;
	struct timespec ts;
	int i;

	for (i = 0; i < TRIES; i++) {
		before = __rdtsc();
		clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
		after = __rdtsc();
		if (after - before >= least)
			continue;
		least = after - before;
		best.tsc = before + least / 2;
		best.ns = ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
	}
	return best;
}

unsigned int tsc_measure_khz(void)
{
	struct reading a = take(), b;

	usleep(20000);
	b = take();
	return (double)(b.tsc - a.tsc) * 1e6 / (double)(b.ns - a.ns) + 0.5;
}
