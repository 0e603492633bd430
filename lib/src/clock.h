/* SPDX-License-Identifier: MIT */
/*
 * Time in ticks, cheap enough to read in every superstep.
 *
 * A tick is one of the time stamp counter where that runs at a fixed rate on
 * all CPUs, else a nanosecond of CLOCK_MONOTONIC. Ticks of two members are
 * never compared: they may be on two machines.
 */
#ifndef UB_CLOCK_H
#define UB_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/**
 * struct ub_clock - rate of this machine's ticks, the same for all contexts
 * @tsc: ticks are the counter's
 * @mult: nanoseconds of a tick, times 2^32
 * @pause: turns of an empty loop that take UB_PAUSE_NS
 */
struct ub_clock {
	bool tsc;
	uint64_t mult;
	uint32_t pause;
};

/*
 * Between polls: about what it takes to move a line from one core to another.
 * The CPU's own pause takes from 10 to 70 ns, 200 where it is emulated.
 */
#define UB_PAUSE_NS	50

extern struct ub_clock ub_clock;

/** ub_clock_init() - choose and calibrate, once a process */
void ub_clock_init(void);

static inline uint64_t ub_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static inline uint64_t ub_ticks(void)
{
#if defined(__x86_64__)
	if (ub_clock.tsc)
		return __rdtsc();
#endif
	return ub_now();
}

/* Counters of two CPUs may differ by a few ticks: never below zero. */
static inline uint64_t ub_elapsed(uint64_t from, uint64_t to)
{
	return (int64_t)(to - from) < 0 ? 0 : to - from;
}

static inline uint64_t ub_ticks_ns(uint64_t ticks)
{
	return (uint64_t)((__uint128_t)ticks * ub_clock.mult >> 32);
}

static inline uint64_t ub_ns_ticks(uint64_t ns)
{
	return (uint64_t)(((__uint128_t)ns << 32) / ub_clock.mult);
}

#endif /* UB_CLOCK_H */
