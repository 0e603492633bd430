// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random BSP programs without races give what the memory model says, on
 * coherent and on copied windows alike: loads, stores, puts, gets and atomics,
 * by four lanes on three nodes, in a world and two inner groups.
 *
 * In a superstep of the world each byte may be only read, or is one lane's, or
 * an inner group's; then it is so within that group until its next sync. Who
 * loads a byte therefore knows its value: one reference memory is enough.
 * Seeds are fixed; a failure prints its own, UB_MODEL_SEED runs it alone.
 * UB_MODEL_N: random programs (2000, with UB_LONG 20000).
 */
#include "copied.h"

#define BYTES		192	/* in three places, one across a page's end */
#define SEGMENT		64
#define SUPERSTEPS	3
#define OPS		24

enum { READ_ONLY = LANES, GROUP };	/* beside: a lane's own */

/**
 * struct program - one run
 * @r: the lanes
 * @state: of the generator
 * @ref: what memory holds
 * @owner: of each byte: a lane, READ_ONLY, or GROUP + inner group
 * @within: of a group's byte: a lane, or READ_ONLY in the group
 * @wrong: loads that gave another value
 * @err: a call failed
 */
struct program {
	struct rig *r;
	__u64 state;
	unsigned char ref[BYTES];
	int owner[BYTES];
	int within[BYTES];
	int wrong;
	int err;
};

static __u32 rnd(struct program *p, __u32 n)
{
	p->state = p->state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (__u32)(p->state >> 33) % n;
}

static size_t place(int i)
{
	static const size_t at[] = { 16, PAGE - SEGMENT / 2, 2 * PAGE + 1000 };

	return at[i / SEGMENT] + i % SEGMENT;
}

static bool may(const struct program *p, int lane, int i, int n, bool write)
{
	for (; n; n--, i++) {
		int o = p->owner[i];

		if (o >= GROUP) {
			if (o - GROUP != lane / 2)
				return false;
			o = p->within[i];
		}
		if (o != lane && (write || o != READ_ONLY))
			return false;
	}
	return true;
}

/* Runs of bytes with one owner, of any length: pages and words are shared. */
static void deal_world(struct program *p)
{
	int i, n, o;

	for (i = 0; i < BYTES; i += n) {
		n = 1 + rnd(p, 16);
		o = rnd(p, GROUP + 2);
		for (int k = i; k < i + n && k < BYTES; k++)
			p->owner[k] = o;
	}
}

static void deal_group(struct program *p, int group)
{
	int i, n, o;

	for (i = 0; i < BYTES; i += n) {
		n = 1 + rnd(p, 12);
		o = rnd(p, 3);
		for (int k = i; k < i + n && k < BYTES; k++)
			if (p->owner[k] == GROUP + group)
				p->within[k] = o < 2 ? 2 * group + o : READ_ONLY;
	}
}

static void note(struct program *p, int err)
{
	if (err && !p->err)
		p->err = err;
}

static void one_atomic(struct program *p, int lane, int i)
{
	__u64 gva = p->r->win.out_desc.gva + place(i), was = 0, old = 0;
	__u64 operand = rnd(p, 1 << 30), new;
	int n = rnd(p, 2) ? 8 : 4;

	if (place(i) % n || i % SEGMENT + n > SEGMENT || !may(p, lane, i, n, true))
		return;
	memcpy(&was, p->ref + i, n);
	if (rnd(p, 2)) {
		note(p, xfer(p->r->m[lane].fd, UB_XFER_FETCH_ADD, gva, &old, n,
			     operand, 0));
		new = was + operand;
	} else {
		note(p, xfer(p->r->m[lane].fd, UB_XFER_COMPARE_SWAP, gva, &old, n,
			     operand, was));
		new = operand;
	}
	p->wrong += old != was;
	memcpy(p->ref + i, &new, n);
}

static void one_op(struct program *p, int lane)
{
	int i = rnd(p, BYTES), n = 1 + rnd(p, 8), k, what = rnd(p, 6);
	unsigned char buf[8];
	unsigned char *at = p->r->p[lane] + place(i);

	if (what == 5) {
		one_atomic(p, lane, i & ~3);
		return;
	}
	if (i % SEGMENT + n > SEGMENT)
		n = SEGMENT - i % SEGMENT;
	if (!may(p, lane, i, n, what < 3))
		return;
	for (k = 0; k < n; k++)
		buf[k] = rnd(p, 256);
	if (what < 3)
		memcpy(p->ref + i, buf, n);
	if (what < 2)
		for (k = 0; k < n; k++)
			ST(at + k, buf[k]);
	else if (what == 2)
		note(p, xfer(p->r->m[lane].fd, UB_XFER_PUT,
			     p->r->win.out_desc.gva + place(i), buf, n, 0, 0));
	else if (what == 3)
		for (k = 0; k < n; k++)
			buf[k] = LD(at + k);
	else
		note(p, xfer(p->r->m[lane].fd, UB_XFER_GET,
			     p->r->win.out_desc.gva + place(i), buf, n, 0, 0));
	p->wrong += memcmp(buf, p->ref + i, n) != 0;
}

/* Steps by lanes that have not arrived. */
static void ops(struct program *p, int n, int not_lane)
{
	while (n--) {
		int lane = rnd(p, LANES);

		if (lane != not_lane)
			one_op(p, lane);
	}
}

static void inner(struct program *p, int group)
{
	struct member *m = &p->r->inner[2 * group];
	int first = rnd(p, 2);

	note(p, arrive(&m[first]));
	ops(p, OPS / 4, 2 * group + first);
	note(p, arrive(&m[!first]));
	note(p, await(&m[first]));
	note(p, await(&m[!first]));
	deal_group(p, group);
}

static int run_program(struct rig *r, __u64 seed)
{
	struct program p = { .r = r, .state = seed * 2654435761U + 1 };
	int s, i, k;

	for (i = 0; i < BYTES; i++)
		p.ref[i] = LD(&r->p[HOME][place(i)]);
	for (s = 0; s < SUPERSTEPS; s++) {
		deal_world(&p);
		deal_group(&p, 0);
		deal_group(&p, 1);
		for (k = rnd(&p, 4); k; k--) {
			ops(&p, OPS / 2, -1);
			inner(&p, rnd(&p, 2));
		}
		ops(&p, OPS, -1);
		note(&p, sync_world(r));
		for (i = 0; i < BYTES; i++)
			p.wrong += LD(&r->p[rnd(&p, LANES)][place(i)]) != p.ref[i];
		note(&p, sync_world(r));
	}
	return p.err ? -1 : p.wrong;
}

FIXTURE(model) {
	struct rig r;
	bool copied;
};

FIXTURE_SETUP(model)
{
	ASSERT_EQ(heal(), 0);
	ASSERT_EQ(rig_open(&self->r), 0);
	hooks_clear(&self->r);
	self->copied = !(info_of(self->r.m[0].fd).out_caps & UB_CAP_COHERENT);
}

FIXTURE_TEARDOWN(model)
{
	hooks_clear(&self->r);
	rig_close(&self->r);
}

/* How many of @n programs went wrong; the first seed is told. */
static int programs(struct rig *r, int first, int n)
{
	const char *one = getenv("UB_MODEL_SEED");
	int bad = 0, i, wrong;

	for (i = one ? atoi(one) : first; n--; i++) {
		wrong = run_program(r, i);
		if (wrong && !bad++)
			printf("# seed %d: %d wrong loads\n", i, wrong);
		if (one)
			break;
	}
	return bad;
}

TEST_F_TIMEOUT(model, random_programs, 300)
{
	const char *n = getenv("UB_MODEL_N");

	EXPECT_EQ(programs(&self->r, 1, n ? atoi(n) : getenv("UB_LONG") ? 20000 : 2000), 0);
}

/* With hardly any memory, and answers that come late and in any order. */
TEST_F_TIMEOUT(model, random_programs_in_trouble, 300)
{
	if (!self->copied)
		SKIP(return, "windows are coherent");
	ASSERT_EQ(hook(&self->r, UB_TEST_COPIED_LIMIT, UB_COPIED_LIMIT_MIN), 0);
	ASSERT_EQ(hook(&self->r, UB_TEST_COPIED_DELAY, 4), 0);
	EXPECT_EQ(programs(&self->r, 100001, 25), 0);
}

/* They would notice. */
TEST_F_TIMEOUT(model, random_programs_without_a_step, 300)
{
	static const __u32 step[] = {
		UB_COPIED_NO_WRITE_BACK, UB_COPIED_NO_INVALIDATE, UB_COPIED_NO_UNMAP,
	};
	unsigned int i;

	if (!self->copied)
		SKIP(return, "windows are coherent");
	for (i = 0; i < COUNT(step); i++) {
		ASSERT_EQ(hook(&self->r, UB_TEST_COPIED_OFF, step[i]), 0);
		EXPECT_GT(programs(&self->r, 1, 50), 0);
	}
}

TEST_HARNESS_MAIN
