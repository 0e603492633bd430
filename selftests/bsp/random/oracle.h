/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The oracle of random.c: the memories, registrations and messages of all processes,
 * and what a superstep does to them, one after the other. Every process keeps the
 * whole of it and feeds it with the calls of all.
 *
 * A byte whose value the rules leave open is "open", and so is what is copied from
 * it: its value is not compared.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include "../bsptest.h"

#define PROCS	8
#define MEM	600	/* bytes of a process that can be registered */
#define MAXLEN	160	/* of a region, a put, a get, a payload */
#define SLOTS	400
#define OPS	2000	/* of all processes in a step */

/* One registration. */
struct slot {
	int usable;		/* since an earlier step */
	int pushed;		/* in this step */
	int popped;		/* in this step */
	int at[PROCS];		/* offset in the memory, -1: NULL */
	int size[PROCS];
};

/* A put, a get or a message of this step; the bytes of a put are those at the call. */
struct op {
	int kind;
	int from, to;		/* who calls, whose memory or queue */
	int at;			/* in the remote memory */
	int local;		/* a get's destination */
	int length;
	int number;		/* of a message */
	unsigned char bytes[MAXLEN];
	unsigned char open[MAXLEN];
};

enum { PUT, GET, SEND };

static unsigned char mem[PROCS][MEM], is_open[PROCS][MEM];
static struct slot slots[SLOTS];
static int nslots;
static struct op ops[OPS];
static int nops;
static int tag_queue, tag_now, tag_next;	/* of messages: received, sent, set */
static struct op queue[OPS];			/* messages for this process */
static int nqueue;

static void oracle_reset(void)
{
	memset(mem, 0, sizeof(mem));
	memset(is_open, 0, sizeof(is_open));
	nslots = 0;
	nops = 0;
	nqueue = 0;
	/* the tag size goes on from one program to the next */
}

/* The newest slot whose address on process @p is @at; -1 if there is none. */
static int newest_usable(int p, int at)
{
	int s;

	for (s = nslots - 1; s >= 0; s--)
		if (slots[s].usable && slots[s].at[p] == at)
			return s;
	return -1;
}

/* Whether @s can be popped: it is the newest of its addresses, which exist. */
static int can_pop(int s)
{
	int p, k, somebody = 0;

	if (slots[s].popped || !(slots[s].usable || slots[s].pushed))
		return 0;
	for (p = 0; p < NPROCS; p++) {
		if (slots[s].at[p] < 0)
			continue;
		somebody = 1;
		for (k = s + 1; k < nslots; k++)
			if (slots[k].at[p] == slots[s].at[p] && !slots[k].popped &&
			    (slots[k].usable || slots[k].pushed))
				return 0;
	}
	return somebody;
}

static struct op *new_op(int kind, int from, int to, int length)
{
	struct op *op = &ops[nops++];

	CHECK(nops <= OPS);
	op->kind = kind;
	op->from = from;
	op->to = to;
	op->length = length;
	return op;
}

static void oracle_store(int p, int at, int length, int seed)
{
	bspt_fill(mem[p] + at, length, seed);
	memset(is_open[p] + at, 0, length);
}

static void oracle_put(int from, int source, int to, int at, int length)
{
	struct op *op = new_op(PUT, from, to, length);

	op->at = at;
	memcpy(op->bytes, mem[from] + source, length);
	memcpy(op->open, is_open[from] + source, length);
}

static void oracle_get(int from, int to, int at, int local, int length)
{
	struct op *op = new_op(GET, from, to, length);

	op->at = at;
	op->local = local;
}

static void oracle_send(int from, int to, int length, int number)
{
	new_op(SEND, from, to, length)->number = number;
}

/* Write @op's bytes at @at of @p; those @written before by its like are open. */
static void land(const struct op *op, int p, int at, unsigned char *written, int ordered)
{
	int i;

	for (i = 0; i < op->length; i++) {
		int same = mem[p][at + i] == op->bytes[i] && !is_open[p][at + i];

		is_open[p][at + i] = op->open[i] || (written[at + i] && !ordered && !same);
		mem[p][at + i] = op->bytes[i];
		written[at + i] = 1;
	}
}

static void land_all(int kind, int ordered)
{
	static unsigned char written[PROCS][MEM];
	int i, from;

	memset(written, 0, sizeof(written));
	for (from = 0; from < NPROCS; from++)
		for (i = 0; i < nops; i++) {
			struct op *op = &ops[i];

			if (op->kind != kind || op->from != from)
				continue;
			if (kind == GET)
				land(op, from, op->local, written[from], ordered);
			else
				land(op, op->to, op->at, written[op->to], ordered);
		}
}

#ifdef BSPT_STANDARD
#define PUTS_ARE_ORDERED	0
#else
#define PUTS_ARE_ORDERED	1
#endif

static void oracle_sync(void)
{
	int i, s;

	for (i = 0; i < nops; i++)
		if (ops[i].kind == GET) {
			memcpy(ops[i].bytes, mem[ops[i].to] + ops[i].at, ops[i].length);
			memcpy(ops[i].open, is_open[ops[i].to] + ops[i].at, ops[i].length);
		}
	land_all(GET, 0);
	land_all(PUT, PUTS_ARE_ORDERED);
	nqueue = 0;
	for (i = 0; i < nops; i++)
		if (ops[i].kind == SEND && ops[i].to == ME)
			queue[nqueue++] = ops[i];
	nops = 0;
	for (s = 0; s < nslots; s++) {
		if (slots[s].pushed)
			slots[s].usable = 1;
		if (slots[s].popped)
			slots[s].usable = 0;
		slots[s].pushed = 0;
		slots[s].popped = 0;
	}
	tag_queue = tag_now;
	tag_now = tag_next;
}

#endif /* ORACLE_H */
