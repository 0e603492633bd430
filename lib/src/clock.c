// SPDX-License-Identifier: MIT
/* Which clock, and its rate. See clock.h. */
#include "clock.h"
#include "ub_shared.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define UB_CALIBRATE_NS	1000000
#define UB_CALIBRATE_TRIES	16
#define UB_CALIBRATE_TURNS	1000

struct ub_clock ub_clock = { .mult = 1ULL << 32 };

#if defined(__x86_64__)
/* The kernel itself tells time by the counter, so it has checked it. */
static bool kernel_trusts_tsc(void)
{
	FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
	char name[16] = "";

	if (!f)
		return false;
	if (!fgets(name, sizeof(name), f))
		name[0] = '\0';
	fclose(f);
	return !strcmp(name, "tsc\n");
}

static bool tsc_usable(void)
{
	unsigned int a, b, c, d;

	if (__get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1 << 8))
		return true;
	return kernel_trusts_tsc();
}

/* Both clocks at one moment: of some tries, the one that was disturbed least. */
struct moment {
	uint64_t ns;
	uint64_t ticks;
};

static struct moment moment(void)
{
	struct moment m = { 0 };
	uint64_t best = UINT64_MAX;
	int i;

	for (i = 0; i < UB_CALIBRATE_TRIES; i++) {
		uint64_t before = __rdtsc();
		uint64_t ns = ub_now();
		uint64_t after = __rdtsc();

		if (after - before >= best)
			continue;
		best = after - before;
		m.ns = ns;
		m.ticks = before + best / 2;
	}
	return m;
}

static void calibrate(void)
{
	struct moment from = moment(), to;

	do {
		to = moment();
	} while (to.ns - from.ns < UB_CALIBRATE_NS);
	if (to.ticks <= from.ticks)
		return;
	ub_clock.mult = ((to.ns - from.ns) << 32) / (to.ticks - from.ticks);
	ub_clock.tsc = ub_clock.mult != 0;
	if (!ub_clock.tsc)
		ub_clock.mult = 1ULL << 32;
}
#endif

/* The fastest of some tries: the others were disturbed. */
static uint32_t pause_turns(void)
{
	uint64_t best = UINT64_MAX;
	int i, turn;

	for (i = 0; i < UB_CALIBRATE_TRIES; i++) {
		uint64_t ns = ub_now();

		for (turn = 0; turn < UB_CALIBRATE_TURNS; turn++)
			ub_turn();
		ns = ub_now() - ns;
		if (ns < best)
			best = ns;
	}
	return UB_CALIBRATE_TURNS * UB_PAUSE_NS / (best + 1) + 1;
}

static void choose(void)
{
	ub_clock.pause = pause_turns();
#if defined(__x86_64__)
	if (tsc_usable())
		calibrate();
#endif
}

void ub_clock_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, choose);
}
