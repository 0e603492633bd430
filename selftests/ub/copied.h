/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of copied windows share: four lanes, two of them on one node,
 * a world and two inner groups, and a window that all have mapped.
 *
 *	lane	node	inner group
 *	0	0 home	0
 *	1	1	0
 *	2	1	1
 *	3	2	1
 *
 * One thread plays all lanes: it arrives for each, then waits for each.
 */
#ifndef UB_SELFTEST_COPIED_H
#define UB_SELFTEST_COPIED_H

#include "util.h"

#define LANES		4
#define PAGES		256
#define HOME		0

static const int node_of[LANES] = { 0, 1, 1, 2 };

/**
 * struct rig - the lanes and what they have
 * @m: the lanes, members of the world
 * @inner: the same ones as members of their inner groups
 * @win: of lane 0
 * @p: it as each lane has it mapped
 */
struct rig {
	struct member m[LANES];
	struct member inner[LANES];
	__u32 members[LANES][2];
	struct ub_win_create win;
	unsigned char *p[LANES];
};

static inline int rig_window(struct rig *r)
{
	int i, err = win_create(r->m[HOME].fd, PAGES * PAGE, UB_WIN_RIGHTS,
				&r->win);

	for (i = 0; i < LANES && !err; i++) {
		if (i != HOME)
			err = win_attach(r->m[i].fd, &r->win, UB_WIN_RIGHTS);
		if (err)
			break;
		r->p[i] = win_map(r->m[i].fd, r->win.out_desc.gva, PAGES * PAGE,
				  PROT_READ | PROT_WRITE);
		if (r->p[i] == MAP_FAILED)
			err = -errno;
	}
	return err;
}

static inline int rig_open(struct rig *r)
{
	__u64 key[2];
	int i, err;

	memset(r, 0, sizeof(*r));
	fresh_key(key);
	for (i = 0; i < LANES; i++) {
		r->m[i].index = i;
		r->m[i].n = LANES;
		r->m[i].fd = open_node(node_of[i]);
		if (r->m[i].fd < 0)
			return -errno;
		r->m[i].gc = world_arg(key, LANES, i, 20000);
	}
	err = members_run(r->m, LANES, step_create);
	if (err)
		return err;
	for (i = 0; i < LANES; i++) {
		r->members[i][0] = i & ~1;
		r->members[i][1] = i | 1;
		r->inner[i] = r->m[i];
		r->inner[i].gc = ARG(ub_group_create, .parent = r->m[i].group,
				     .key = { i / 2, 1 }, .timeout = in_ms(20000),
				     .members = PTR(r->members[i]), .nmembers = 2,
				     .index = i & 1, .level = "inner");
	}
	err = members_run(r->inner, LANES, step_create);
	return err ? err : rig_window(r);
}

static inline void rig_close(struct rig *r)
{
	int i;

	for (i = 0; i < LANES; i++) {
		if (r->p[i] && r->p[i] != MAP_FAILED)
			munmap(r->p[i], PAGES * PAGE);
		if (r->m[i].fd > 0)
			close(r->m[i].fd);
	}
}

static inline int arrive(struct member *m)
{
	return barrier(m, UB_BARRIER_ARRIVE, UB_RED_NONE, 0, in_ms(20000));
}

static inline int await(struct member *m)
{
	return barrier(m, UB_BARRIER_WAIT, UB_RED_NONE, 0, in_ms(20000));
}

/* A whole barrier of n members; the first result that is not 0. */
static inline int sync_all(struct member *m, int n)
{
	int i, err, ret = 0;

	for (i = 0; i < n; i++) {
		err = arrive(&m[i]);
		ret = ret ? ret : err;
	}
	for (i = 0; i < n; i++) {
		err = await(&m[i]);
		ret = ret ? ret : err;
	}
	return ret;
}

static inline int sync_world(struct rig *r)
{
	return sync_all(r->m, LANES);
}

static inline int sync_inner(struct rig *r, int group)
{
	return sync_all(&r->inner[2 * group], 2);
}

/* Engine hooks of every node that has copies of the window. */
static inline int hook(struct rig *r, __u32 op, __u64 value)
{
	int err = test_op(r->m[1].fd, op, value, 0, NULL);

	return err ? err : test_op(r->m[3].fd, op, value, 0, NULL);
}

static inline void hooks_clear(struct rig *r)
{
	hook(r, UB_TEST_COPIED_OFF, 0);
	hook(r, UB_TEST_COPIED_DELAY, 0);
	hook(r, UB_TEST_COPIED_LOSE, 0);
	hook(r, UB_TEST_COPIED_LIMIT, 1 << 14);
}

static inline __u64 ask(int fd, __u32 op)
{
	__u64 value = ~0ULL;

	test_op(fd, op, 0, 0, &value);
	return value;
}

#endif /* UB_SELFTEST_COPIED_H */
