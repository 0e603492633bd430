/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a member of the failure matrix may be doing when it dies: the phases, and
 * the victim's process. For matrix_test.c alone.
 */
#ifndef UB_SELFTEST_MATRIX_H
#define UB_SELFTEST_MATRIX_H

#include "util.h"

#define VICTIM		(NODES - 1)	/* its node */
#define CALL_MS		10000
#define MEET_MS		400		/* a world is given up after */

/* What the victim's process shares with this one. */
struct stage {
	__u64 key[2];
	struct ub_win_create home;	/* a survivor's window */
	struct ub_win_create own;	/* the victim's */
	const struct phase *phase;
	__u32 how;
	__u64 nth;
	int n;				/* members, the victim included */
	int index;			/* its place */
	bool mapped;
	__u32 ready, go, armed, missed, over;
	int ret;			/* of the phase's call */
	int oks;			/* of its barriers */
};

struct phase {
	const char *name;
	__u32 red;
	bool early;			/* it is the world that is made */
	bool shrinks;			/* somebody has left before */
	bool leaves;			/* it may be that which is told */
	int (*act)(struct stage *s, struct member *m);	/* of the victim */
	int (*meet)(struct member *m);			/* of survivors, meanwhile */
};

static unsigned char bytes[4 * UNIT];
static unsigned char *map;

/* ---- what the victim does ---- */

static int red_barrier(struct member *m, __u32 red)
{
	int ret = barrier(m, AW, red, m->index + 1, in_ms(CALL_MS));

	if (!ret && red && m->bar.value != m->n * (m->n + 1) / 2)
		return -EIO;
	return ret;
}

static int act_barriers(struct stage *s, struct member *m)
{
	int i, ret = 0;

	for (i = 0; i < 2 && !ret; i++) {
		ret = red_barrier(m, s->phase->red);
		s->oks += !ret;
	}
	return ret;
}

static int act_put(struct stage *s, struct member *m)
{
	return xfer(m->fd, UB_XFER_PUT, s->home.out_desc.gva, bytes,
		    sizeof(bytes), 0, 0);
}

static int act_get(struct stage *s, struct member *m)
{
	return xfer(m->fd, UB_XFER_GET, s->home.out_desc.gva, bytes,
		    sizeof(bytes), 0, 0);
}

static int act_atomic(struct stage *s, struct member *m)
{
	return xfer(m->fd, UB_XFER_FETCH_ADD, s->home.out_desc.gva, bytes, 8, 1, 0);
}

static int act_store(struct stage *s, struct member *m)
{
	int i, sig = 0;

	for (i = 0; i < 3 && !sig; i++)
		sig = touch(map + i * PAGE, true);
	return sig;
}

static int act_create(struct stage *s, struct member *m)
{
	struct ub_win_create c;

	return win_create(m->fd, 2 * UNIT, RW, &c);
}

static int act_attach(struct stage *s, struct member *m)
{
	int ret;

	win_detach(m->fd, s->home.out_desc.gva);
	ret = win_attach(m->fd, &s->home, UB_WIN_RIGHTS);
	return ret ? ret : act_atomic(s, m);
}

static int act_rotate(struct stage *s, struct member *m)
{
	struct ub_win_id id;

	return win_rotate(m->fd, s->own.out_desc.window, &id);
}

static int act_fresh(struct stage *s, struct member *m)
{
	struct ub_win_id id = ARG(ub_win_id, .flags = UB_ROTATE_FRESH,
				  .window = s->own.out_desc.window);

	return call(m->fd, UB_IOC_WIN_ROTATE, &id);
}

static int act_destroy(struct stage *s, struct member *m)
{
	return win_destroy(m->fd, s->own.out_desc.window);
}

static int act_world(struct stage *s, struct member *m)
{
	return step_create(m);
}

static int meet_world(struct member *m)
{
	return step_create(m);
}

/* All of the group again, the other way round. */
static int meet_child(struct member *m)
{
	__u32 members[NODES];
	int i, ret;

	for (i = 0; i < m->n; i++)
		members[i] = m->n - 1 - i;
	m->gc = ARG(ub_group_create, .parent = m->group, .nmembers = m->n,
		    .members = PTR(members), .index = m->n - 1 - m->index,
		    .key = { 7, 7 }, .timeout = in_ms(CALL_MS), .level = "board");
	ret = step_create(m);
	m->index = m->n - 1 - m->index;
	return ret;
}

static int act_child(struct stage *s, struct member *m)
{
	return meet_child(m);
}

static int act_shrink(struct stage *s, struct member *m)
{
	return step_shrink(m);
}

static int act_leave(struct stage *s, struct member *m)
{
	return group_destroy(m->fd, m->group);
}

static int act_close(struct stage *s, struct member *m)
{
	munmap(map, 4 * UNIT);
	return close(m->fd);
}

static const struct phase phases[] = {
	{ "barrier", .act = act_barriers },
	{ "reduction", .act = act_barriers, .red = UB_RED_SUM },
	{ "put", .act = act_put },
	{ "get", .act = act_get },
	{ "atomic", .act = act_atomic },
	{ "mapped-store", .act = act_store },
	{ "window-create", .act = act_create },
	{ "window-attach", .act = act_attach },
	{ "window-rotate", .act = act_rotate },
	{ "window-move", .act = act_fresh },
	{ "window-destroy", .act = act_destroy },
	{ "world-create", .act = act_world, .meet = meet_world, .early = true },
	{ "group-create", .act = act_child, .meet = meet_child },
	{ "shrink", .act = act_shrink, .shrinks = true },
	{ "group-destroy", .act = act_leave, .leaves = true },
	{ "close", .act = act_close, .leaves = true },
};

static int victim_prepare(struct stage *s, struct member *m)
{
	int ret = 0;

	if (!s->phase->early)
		ret = step_create(m);
	if (!ret && s->phase->shrinks)
		ret = step_barrier(m) == -EOWNERDEAD ? 0 : -EPROTO;
	if (!ret)
		ret = win_create(m->fd, 2 * UNIT, UB_WIN_RIGHTS, &s->own);
	if (!ret)
		ret = win_attach(m->fd, &s->home, UB_WIN_RIGHTS);
	if (!ret)
		map = win_map(m->fd, s->home.out_desc.gva, 4 * UNIT,
			      PROT_READ | PROT_WRITE);
	return map == MAP_FAILED ? -errno : ret;
}

static int victim_main(void *ctx)
{
	struct stage *s = ctx;
	struct member m = { .index = s->index, .n = s->n };
	__u64 at = 0;
	int ctl;

	close_range(3, ~0U, 0);		/* the survivors' */
	m.fd = open_node(VICTIM);
	m.gc = world_arg(s->key, s->n + s->phase->shrinks, s->index,
			 s->phase->early ? MEET_MS : CALL_MS);
	ctl = open_node(VICTIM);

	memset(bytes, 1, sizeof(bytes));	/* its pages are there */
	s->ret = m.fd < 0 || ctl < 0 ? -errno : victim_prepare(s, &m);
	set_word(&s->ready);
	if (s->ret || !wait_word(&s->go, CALL_MS))
		return 1;
	if (test_op(ctl, s->how, s->nth, 0, NULL))
		return 2;
	set_word(&s->armed);
	s->ret = s->phase->act(s, &m);
	if (test_op(ctl, UB_TEST_SPRUNG, 0, 0, &at))
		return 3;
	if (!at) {
		test_op(ctl, s->how, 0, 0, NULL);
		set_word(&s->missed);
		return 0;
	}
	while (!red_barrier(&m, s->phase->red))
		s->oks++;
	set_word(&s->over);
	return 0;
}

#endif /* UB_SELFTEST_MATRIX_H */
