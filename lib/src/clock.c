// SPDX-License-Identifier: MIT
/* Which clock, and its rate. See clock.h. */
#include "clock.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define UB_CALIBRATE_NS	200000

struct ub_clock ub_clock = { .mult = 1ULL << 32 };

#if defined(__x86_64__)
/* The kernel itself tells time by the counter, so it has checked it. */
static bool kernel_trusts_tsc(void)
{
	FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/"
			"current_clocksource", "re");
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

static void calibrate(void)
{
	uint64_t n0, n1, t0, t1;

	n0 = ub_now();
	t0 = __rdtsc();
	do {
		n1 = ub_now();
		t1 = __rdtsc();
	} while (n1 - n0 < UB_CALIBRATE_NS);
	if (t1 <= t0)
		return;
	ub_clock.mult = ((n1 - n0) << 32) / (t1 - t0);
	ub_clock.tsc = ub_clock.mult != 0;
	if (!ub_clock.tsc)
		ub_clock.mult = 1ULL << 32;
}
#endif

static void choose(void)
{
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
