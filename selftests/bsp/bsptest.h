/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the programs of the BSPlib conformance suite share. ANSI C, and of BSPlib
 * no more than they test.
 *
 * A file is about one rule and is one program. Each TEST in it is a case, named by
 * the program's argument or by BSPT_CASE in the environment; the runner tells the
 * compiler which there are, in BSPT_CASES. A PROGRAM has its own main and is the
 * file's only case. The words in quotes are for the runner (see README): how many
 * processes, and which end is expected.
 */
#ifndef BSPTEST_H
#define BSPTEST_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bsp.h>

#define TEST(name, words)	void name(void)
#define PROGRAM(words)		struct bspt_program

#define ME	((int)bsp_pid())
#define NPROCS	((int)bsp_nprocs())
#define NONE	((bsp_size_t)-1)	/* what an empty queue answers */

/* A line on stdout in one piece: the runner counts these. */
static void bspt_say(const char *fmt, ...)
{
	char line[300];
	va_list ap;

	va_start(ap, fmt);
	vsprintf(line, fmt, ap);
	va_end(ap);
	fflush(stdout);
	printf("%s\n", line);
	fflush(stdout);
}

/* At the end of an SPMD section: this process got there. */
static void bspt_done(void)
{
	bspt_say("done %d %d", ME, NPROCS);
}

static void bspt_failed(const char *file, int line, const char *what)
{
	bspt_say("FAILED process %d: %s:%d: %s", ME, file, line, what);
	bsp_abort("%s:%d: %s\n", file, line, what);
}

#define CHECK(cond)							\
	do {								\
		if (!(cond))						\
			bspt_failed(__FILE__, __LINE__, #cond);		\
	} while (0)

/* CHECK with the two numbers. */
#define EQUAL(a, b)							\
	do {								\
		long a_ = (long)(a), b_ = (long)(b);			\
		if (a_ != b_) {						\
			bspt_say("# %ld and %ld", a_, b_);		\
			bspt_failed(__FILE__, __LINE__, #a " == " #b);	\
		}							\
	} while (0)

/* After a call that must have ended the run. */
#define NOT_REACHED()							\
	bspt_failed(__FILE__, __LINE__, "the run went on after an error")

/*
 * After an error of some process, found at the call or in the next bsp_sync(). The
 * others may get through that, but not through one more.
 */
#define ENDED_BY_SYNC()							\
	do {								\
		bsp_sync();						\
		bsp_sync();						\
		NOT_REACHED();						\
	} while (0)

/* Bytes that depend on their place and on who wrote them. */
static unsigned char bspt_byte(long i, int seed)
{
	unsigned long x = (unsigned long)i * 2654435761UL + (unsigned long)seed * 40503UL;

	return (unsigned char)(x >> 7 ^ x >> 19);
}

static void bspt_fill(void *buf, long n, int seed)
{
	unsigned char *p = (unsigned char *)buf;
	long i;

	for (i = 0; i < n; i++)
		p[i] = bspt_byte(i, seed);
}

/* Whether @buf is what bspt_fill(whole, ..., seed) has from byte @first on. */
static int bspt_has(const void *buf, long first, long n, int seed)
{
	const unsigned char *p = (const unsigned char *)buf;
	long i;

	for (i = 0; i < n; i++)
		if (p[i] != bspt_byte(first + i, seed))
			return 0;
	return 1;
}

/* Whether all @n bytes are @value. */
static int bspt_all(const void *buf, long n, int value)
{
	const unsigned char *p = (const unsigned char *)buf;
	long i;

	for (i = 0; i < n; i++)
		if (p[i] != (unsigned char)value)
			return 0;
	return 1;
}

/* Be late: compute for some seconds. */
static void bspt_spin(double seconds)
{
	double end = bsp_time() + seconds;

	while (bsp_time() < end)
		;
}

/* A generator that gives every process and every machine the same numbers. */
static unsigned long bspt_random(unsigned long *state, unsigned long below)
{
	*state = (*state * 1103515245UL + 12345UL) & 0xffffffffUL;
	return below ? (*state >> 8) % below : 0;
}

/* A file with BSPT_OWN_MAIN calls the wanted case itself, by BSPT_RUN. */
#ifdef BSPT_CASES
#define BSPT_DECLARE(name)	void name(void)
BSPT_CASES(BSPT_DECLARE)

#define BSPT_RUN(name)							\
	do {								\
		if (!strcmp(want, #name)) {				\
			name();						\
			found = 1;					\
		}							\
	} while (0)

#ifndef BSPT_OWN_MAIN
int main(int argc, char **argv)
{
	const char *want;
	int found = 0;

	bsp_begin(bsp_nprocs());
	want = argc > 1 ? argv[1] : getenv("BSPT_CASE");
	if (!want)
		want = "";
	BSPT_CASES(BSPT_RUN)
	CHECK(found);
	bspt_done();
	bsp_end();
	return 0;
}
#endif
#endif

#endif /* BSPTEST_H */
