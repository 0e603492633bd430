/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For each of N members: Promela has no loop that makes one option of a choice
 * for each of them, nor a quantifier.
 */
#define BIT(i)	(1 << (i))
#define ALL	(BIT(N) - 1)

#if N == 2
#define EACH(x)	x(0) x(1)
#define ANY(x)	(x(0) || x(1))
#elif N == 3
#define EACH(x)	x(0) x(1) x(2)
#define ANY(x)	(x(0) || x(1) || x(2))
#elif N == 4
#define EACH(x)	x(0) x(1) x(2) x(3)
#define ANY(x)	(x(0) || x(1) || x(2) || x(3))
#elif N == 5
#define EACH(x)	x(0) x(1) x(2) x(3) x(4)
#define ANY(x)	(x(0) || x(1) || x(2) || x(3) || x(4))
#elif N == 6
#define EACH(x)	x(0) x(1) x(2) x(3) x(4) x(5)
#define ANY(x)	(x(0) || x(1) || x(2) || x(3) || x(4) || x(5))
#else
#define EACH(x)	x(0) x(1) x(2) x(3) x(4) x(5) x(6)
#define ANY(x)	(x(0) || x(1) || x(2) || x(3) || x(4) || x(5) || x(6))
#endif

/*
 * A crash takes effect at once: from when fate sets @dying until the member
 * has ended nothing else moves. Process 1 + i is member i; see init.
 */
#define UNLESS_DYING	provided (!dying || dying == _pid)
