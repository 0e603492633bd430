/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the fuzzer knows of the arguments: a call, random numbers of the kind that
 * finds faults, and for each command a struct that is nearly right.
 */
#ifndef UB_SELFTEST_FUZZ_MAKE_H
#define UB_SELFTEST_FUZZ_MAKE_H

#include "nl.h"
#include "util.h"

#define SIZE		512		/* of a struct at most */

enum what { IOCTL, MMAP, NETLINK, READ, REOPEN, WHATS };

/* A call. @p is the struct, the mapping, or the message. */
struct call {
	enum what what;
	__u32 nr;
	__u64 p[SIZE / 8];
};

struct fuzzer {
	pthread_t thread;
	__u64 seed;
	int fd[NODES];
	struct nl nl;
	bool has_nl;
	char *area;
	unsigned long *cover;	/* or NULL */
	int kcov;
	__u64 calls, good;
};

/* Windows that were made; torn values are fine. */
static struct ub_win_create pool[8];

static __u64 rnd(struct fuzzer *z)
{
	return roll(&z->seed);
}

static __u64 number(struct fuzzer *z)
{
	static const __u64 odd[] = { 0, 1, 7, 8, PAGE - 1, PAGE, UNIT, UNIT + 1, 63, 64, 65,
		1ULL << 31, 1ULL << 32, 0xffffffff, 1ULL << 42, (1ULL << 43) - 1, 1ULL << 43,
		1ULL << 62, 1ULL << 63, ~0ULL, ~0ULL - PAGE };

	switch (rnd(z) % 4) {
	case 0:
		return odd[rnd(z) % COUNT(odd)];
	case 1:
		return rnd(z) >> rnd(z) % 64;
	default:
		return rnd(z) % 6;
	}
}

/* ---- what the fields mean ---- */

/*
 * Local memory that calls may use, a thread's own: descriptors, indices, the
 * rest for data. What lies behind it cannot be written.
 */
#define AREA		(1 << 20)
#define GUARD		(64 << 20)
#define DESCRIPTORS	32
#define INDICES		(16 << 10)
#define DATA		UNIT

static __u64 bad_pointer(struct fuzzer *z)
{
	static const __u64 bad[] = { 0, 1, 8, PAGE - 1, ~0ULL, ~0ULL - PAGE, 1ULL << 63,
				     1ULL << 47, (1ULL << 47) - PAGE, (1ULL << 47) - 8,
				     0xffff800000000000ULL };

	return bad[rnd(z) % COUNT(bad)];
}

static __u64 local(struct fuzzer *z)
{
	return rnd(z) % 8 ? PTR(z->area) + DATA + rnd(z) % UNIT : bad_pointer(z);
}

/* A pointer that was changed points to nothing, or into the area. */
static __u64 confine(struct fuzzer *z, __u64 p)
{
	if (p < PAGE || p >= (1ULL << 47) - PAGE)
		return p;
	return p - PTR(z->area) < AREA ? p : PTR(z->area) + p % AREA;
}

/* Never far away: nobody else may ever come. */
static __u64 soon(struct fuzzer *z)
{
	return rnd(z) % 4 ? in_ms(rnd(z) % 20) : rnd(z) % 1000;
}

static __u64 gva(struct fuzzer *z)
{
	return pool[rnd(z) % COUNT(pool)].out_desc.gva + (rnd(z) % 4 ? rnd(z) % 3 * PAGE :
							  number(z));
}

static void make_xfer(struct fuzzer *z, struct ub_xfer *x)
{
	struct ub_xfer_op_desc *d = (void *)z->area;
	size_t i;

	for (i = 0; i < DESCRIPTORS; i++)
		d[i] = (struct ub_xfer_op_desc){
			.op = rnd(z) % (UB_XFER_OPS + 1), .gva = gva(z), .addr = local(z),
			.length = rnd(z) % 3 ? 4 << rnd(z) % 2 : rnd(z) % 4 ? rnd(z) % UNIT :
				  number(z),
			.operand = number(z), .compare = number(z) };
	x->ops = rnd(z) % 16 ? PTR(d) : bad_pointer(z);
	x->nops = rnd(z) % 16 ? 1 + rnd(z) % DESCRIPTORS : number(z);
}

static void make_group(struct fuzzer *z, struct ub_group_create *g)
{
	__u64 key[2] = { 0xf022, rnd(z) % 4 };

	*g = world_arg(key, 1 + rnd(z) % 3, rnd(z) % 3, 0);
	if (rnd(z) % 2) {
		*g = ARG(ub_group_create, .key = { rnd(z) % 3, 1 }, .parent = rnd(z) % 6,
			 .nmembers = 1 + rnd(z) % 3, .index = rnd(z) % 3,
			 .members = PTR(z->area) + INDICES,
			 .flags = rnd(z) % 2 * UB_GROUP_USER_DRIVER);
		strcpy(g->level, "fuzz");
	}
	g->out_table = rnd(z) % 2 ? local(z) : 0;
}

static void make_struct(struct fuzzer *z, struct call *c)
{
	void *p = c->p;
	struct ub_win_create w = pool[rnd(z) % COUNT(pool)];

	memset(p, 0, SIZE);
	switch (c->nr) {
	case UB_CMD_WIN_CREATE:
		*(struct ub_win_create *)p = ARG(ub_win_create,
			.length = rnd(z) % 4 ? 1 + rnd(z) % (4 * UNIT) : number(z),
			.rights = rnd(z) % 8);
		break;
	case UB_CMD_WIN_ATTACH:
		*(struct ub_win_attach *)p = ARG(ub_win_attach, .desc = w.out_desc,
			.token = { w.out_token[0], w.out_token[1] }, .rights = rnd(z) % 8);
		break;
	case UB_CMD_WIN_DESTROY:
	case UB_CMD_WIN_ROTATE:
		*(struct ub_win_id *)p = ARG(ub_win_id, .window = w.out_desc.window);
		break;
	case UB_CMD_WIN_DETACH:
		*(struct ub_win_detach *)p = ARG(ub_win_detach, .gva = w.out_desc.gva);
		break;
	case UB_CMD_GROUP_CREATE:
		make_group(z, p);
		break;
	case UB_CMD_GROUP_SHRINK:
		*(struct ub_group_shrink *)p = ARG(ub_group_shrink, .group = rnd(z) % 6,
			.out_table = rnd(z) % 2 ? local(z) : 0);
		break;
	case UB_CMD_BARRIER:
		*(struct ub_barrier *)p = ARG(ub_barrier, .group = rnd(z) % 6,
			.flags = rnd(z) % 32, .op = rnd(z) % 10, .value = number(z),
			.last = rnd(z) % 2 ? number(z) : 0);
		break;
	case UB_CMD_XFER:
		*(struct ub_xfer *)p = ARG(ub_xfer);
		make_xfer(z, p);
		break;
	case UB_CMD_FENCE:
	case UB_CMD_SYNC:
		*(struct ub_range *)p = ARG(ub_range, .gva = gva(z), .length = number(z));
		break;
	case UB_CMD_TEST:
		*(struct ub_test *)p = ARG(ub_test, .op = rnd(z) % 8, .gva = gva(z),
			.value = rnd(z) % 8);
		break;
	default:
		*(struct ub_group_id *)p = ARG(ub_group_id, .group = rnd(z) % 6);
		if (c->nr == UB_CMD_INFO)
			*(__u32 *)p = sizeof(struct ub_info);
	}
}

#endif /* UB_SELFTEST_FUZZ_MAKE_H */
