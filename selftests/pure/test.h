/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of the pure files share: KTAP output, seeded random numbers,
 * random machines.
 */
#ifndef UB_TEST_H
#define UB_TEST_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ub/ub.h>
#include <ub/ub_test.h>

static unsigned int ktap_count, ktap_failed;

static inline void ktap_start(unsigned int plan)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("KTAP version 1\n1..%u\n", plan);
}

__attribute__((format(printf, 2, 3)))
static inline bool ktap_ok(bool ok, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %u ", ok ? "" : "not ", ++ktap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	ktap_failed += !ok;
	return ok;
}

static inline int ktap_end(void)
{
	return ktap_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Within one test: count failures, tell the first few. */
static unsigned int bad;

#define expect(cond, fmt, ...) ({					\
	bool __c = (cond);						\
	if (!__c && bad++ < 10)						\
		printf("# %s:%d: %s: " fmt "\n", __FILE__, __LINE__,	\
		       #cond, ##__VA_ARGS__);				\
	__c; })

static inline bool ktap_done(const char *what)
{
	bool ok = ktap_ok(!bad, "%s", what);

	bad = 0;
	return ok;
}

/* splitmix64 */
static uint64_t rng_state;

static inline uint64_t rnd(void)
{
	uint64_t z = rng_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static inline uint32_t below(uint32_t n)
{
	return n ? (rnd() >> 32) % n : 0;
}

/* One flat level with k ports. */
static inline struct ub_shape flat_of(uint32_t k)
{
	struct ub_shape s = { .nlevels = 1, .bits = { 20 } };

	s.ports[0] = k;
	s.ports[1] = k;
	return s;
}

/*
 * A machine of one to six levels (now and then all fifteen), and the node ids
 * of up to @max members on it: few or many children at a level, several lanes
 * on a node, in an order that has nothing to do with the tree. Returns n.
 */
static inline uint32_t random_machine(struct ub_shape *s, uint32_t *node,
				      uint32_t max, uint32_t max_ports)
{
	uint32_t left = 20, n = 0, want, lanes = 1 + below(9), i, j;
	uint32_t fan[UB_SHAPE_LEVELS], top;

	memset(s, 0, sizeof(*s));
	s->nlevels = below(16) ? 1 + below(6) : UB_SHAPE_LEVELS;
	for (i = 0; i < s->nlevels; i++) {
		uint32_t most = left < 9 ? left : 9;

		s->bits[i] = below(most + 1);
		if (s->nlevels == UB_SHAPE_LEVELS)
			s->bits[i] = left ? 1 : 0;
		left -= s->bits[i];
		fan[i] = 1 + below(1U << s->bits[i]);
		if (below(2) && fan[i] > 5)
			fan[i] = 1 + below(5);
	}
	for (i = 0; i <= s->nlevels; i++)
		s->ports[i] = 1 + below(max_ports);
	top = left ? below(1U << left) : 0;
	want = 1 + below(max);
	while (n < want) {
		uint32_t id = top, of_node = 1 + below(lanes);

		for (i = 0; i < s->nlevels; i++)
			id = id << s->bits[i] | below(fan[i]);
		for (j = 0; j < of_node && n < want; j++)
			node[n++] = id;
	}
	for (i = n; i-- > 1; ) {	/* shuffle */
		uint32_t t = node[i];

		j = below(i + 1);
		node[i] = node[j];
		node[j] = t;
	}
	return n;
}

#endif /* UB_TEST_H */
