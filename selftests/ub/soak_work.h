/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the members of a soak do, each in a process of its own: supersteps of
 * every kind, whose results are checked, until somebody is lost or the driver
 * says stop. Then they shrink, as often as it takes, and go on.
 *
 * All members run the same operations in the same order: these follow from the
 * step's seed and the number of the round. An operation that meets a window of
 * the lost goes on to its barrier, which tells: nobody leaves the order.
 */
#ifndef UB_SOAK_WORK_H
#define UB_SOAK_WORK_H

#include "util.h"

#define SOAK_LOSSES	4
#define SOAK_AFTER	12	/* rounds of the survivors */
#define SOAK_BROKEN	100	/* rounds in which a loss that was met must be told */
#define SOAK_STOP	1000ULL	/* in a sum: somebody saw the stop */

struct soak_report {
	__u32 up;
	__u32 told;		/* number of losses in @lost */
	__u32 done;
	__u32 refused;		/* fenced: it is out */
	__u32 op;		/* that runs */
	__u32 members;		/* of its last group */
	__u64 rounds;
	__u64 ok_epoch;		/* last that ended well in the first group */
	__u64 told_at;
	struct ub_lost lost[SOAK_LOSSES];
	int error;
	char where[80];
};

/* One step, shared by the driver and its members. */
struct soak_step {
	__u64 seed;
	__u64 key[2];
	__u32 stop;
	struct ub_win_create win[SOAK_LOSSES + 1][NODES];	/* by group and index */
	struct ub_win_create extra[SOAK_LOSSES + 1][NODES];
	int lost;		/* that the survivors are to see */
	struct soak_report r[NODES];
};

/* A member, while it works. */
struct soak_member {
	struct member m;
	struct soak_step *st;
	struct soak_report *r;
	struct ub_win_create *next;	/* the next member's window */
	unsigned char *mine, *theirs;
	__u64 atomics;		/* that all have issued, one each */
	__u64 round;
	int group;		/* the how-manieth */
	int broken;		/* rounds since a window of the lost was met */
};

static inline __u64 soak_mix(__u64 a, __u64 b)
{
	a ^= b + 0x9e3779b97f4a7c15ULL + (a << 6) + (a >> 2);
	a = (a ^ a >> 30) * 0xbf58476d1ce4e5b9ULL;
	a = (a ^ a >> 27) * 0x94d049bb133111ebULL;
	return a ^ a >> 31;
}

static int soak_failed(struct soak_member *s, int err, const char *where)
{
	if (!s->r->error) {
		s->r->error = err;
		snprintf(s->r->where, sizeof(s->r->where), "%s, round %llu", where,
			 s->round);
	}
	return err;
}

/* Errors that a window of the lost gives; anything else is a fault. */
static int soak_met(struct soak_member *s, int err, const char *where)
{
	if (err == -ESHUTDOWN)	/* this node itself is out */
		return err;
	if (err == -EOWNERDEAD || err == -ESTALE || err == SIGBUS) {
		s->broken = s->broken ? : 1;
		return 0;
	}
	return err ? soak_failed(s, err, where) : 0;
}

/* A barrier with a sum that is checked, in @m's group. */
static int soak_sync_of(struct soak_member *s, struct member *m, __u64 value,
			__u64 *sum)
{
	int ret = barrier(m, AW, UB_RED_SUM, value, in_ms(30000));

	if (ret == -EOWNERDEAD || ret == -ESHUTDOWN || ret == -ESTALE)
		return ret;
	if (ret)
		return soak_failed(s, ret, "barrier");
	*sum = m->bar.value;
	return 0;
}

static int soak_sync(struct soak_member *s)
{
	__u64 n = s->m.n, sum;
	int ret = soak_sync_of(s, &s->m, s->m.index + 1, &sum);

	if (!ret && sum != n * (n + 1) / 2)
		ret = soak_failed(s, -EILSEQ, "wrong sum");
	if (!ret && !s->group)
		s->r->ok_epoch = s->m.bar.out_epoch;
	return ret;
}

static __u64 soak_value(struct soak_member *s, int index)
{
	return soak_mix(s->st->seed ^ s->round, index + 1);
}

static int soak_prev(struct soak_member *s)
{
	return (s->m.index + s->m.n - 1) % s->m.n;
}

/* ---- operations: between two barriers, so that slots can be used again ---- */

static int soak_none(struct soak_member *s)
{
	return 0;
}

static int soak_compute(struct soak_member *s)
{
	sleep_ms(soak_value(s, s->m.index) % 4);
	return soak_sync(s);
}

static int soak_expect(struct soak_member *s, __u64 got, __u64 want,
		       const char *where)
{
	return s->broken || got == want ? 0 : soak_failed(s, -EILSEQ, where);
}

static int soak_put(struct soak_member *s)
{
	__u64 v = soak_value(s, s->m.index);
	int err;

	err = soak_met(s, xfer(s->m.fd, UB_XFER_PUT, s->next->out_desc.gva + 64, &v,
			       8, 0, 0), "put");
	err = err ? : soak_sync(s);
	return err ? : soak_expect(s, LD((__u64 *)(s->mine + 64)),
				   soak_value(s, soak_prev(s)), "what was put");
}

static int soak_get(struct soak_member *s)
{
	int next = (s->m.index + 1) % s->m.n, err;
	__u64 v = 0;

	ST((__u64 *)(s->mine + 128), soak_value(s, s->m.index));
	err = soak_sync(s);
	err = err ? : soak_met(s, xfer(s->m.fd, UB_XFER_GET,
				       s->next->out_desc.gva + 128, &v, 8, 0, 0), "get");
	err = err ? : soak_expect(s, v, soak_value(s, next), "what was got");
	return err ? : soak_sync(s);
}

static int soak_atomic(struct soak_member *s)
{
	__u64 gva = s->next->out_desc.gva + 192, old = 0;
	int err;

	err = soak_met(s, xfer(s->m.fd, UB_XFER_FETCH_ADD, gva, &old, 8, 1, 0),
		       "atomic");
	err = err ? : soak_expect(s, old, s->atomics, "fetch-add");
	s->atomics++;
	return err ? : soak_sync(s);
}

static int soak_mapped(struct soak_member *s)
{
	struct sigaction sa = { .sa_handler = touch_caught };
	int sig, err;

	sigaction(SIGBUS, &sa, NULL);
	sig = sigsetjmp(touch_env, 1);
	if (!sig)
		ST((__u64 *)(s->theirs + 256), soak_value(s, s->m.index));
	signal(SIGBUS, SIG_DFL);
	err = soak_met(s, sig, "mapped store");
	err = err ? : soak_sync(s);
	return err ? : soak_expect(s, LD((__u64 *)(s->mine + 256)),
				   soak_value(s, soak_prev(s)), "what was stored");
}

/* A window is made, used, rotated, and gone. */
static int soak_window(struct soak_member *s)
{
	struct ub_win_create *own = &s->st->extra[s->group][s->m.index], *next;
	__u64 v = soak_value(s, s->m.index);
	struct ub_win_id id = { 0 };
	int fd = s->m.fd, err, put;

	next = &s->st->extra[s->group][(s->m.index + 1) % s->m.n];
	err = win_create(fd, PAGE, RW, own);
	if (err)
		return err == -ESHUTDOWN ? err : soak_failed(s, err, "create window");
	err = soak_sync(s);
	err = err ? : soak_met(s, win_attach(fd, next, RW), "attach");
	if (!err && !s->broken)
		err = soak_met(s, xfer(fd, UB_XFER_PUT, next->out_desc.gva, &v, 8, 0, 0),
			       "put to a new window");
	err = err ? : soak_sync(s);
	if (!err)
		err = win_rotate(fd, own->out_desc.window, &id);
	err = err ? : soak_sync(s);
	if (!err && !s->broken) {
		put = xfer(fd, UB_XFER_PUT, next->out_desc.gva, &v, 8, 0, 0);
		if (put != -ESTALE && put != -EOWNERDEAD && put != -ESHUTDOWN)
			err = soak_failed(s, put, "put to a rotated window");
		win_detach(fd, next->out_desc.gva);
	}
	err = err ? : win_destroy(fd, own->out_desc.window);
	return err ? : soak_sync(s);
}

/* A group of some members: the first ones, or those that are even. */
static int soak_child(struct soak_member *s)
{
	__u64 sum, kind = soak_mix(s->st->seed, s->round) % 3;
	__u32 members[NODES], n = 0, i;
	struct member c = { .fd = s->m.fd, .index = -1 };
	int err;

	for (i = 0; i < s->m.n; i++) {
		if (kind == 1 ? i & 1 : kind == 2 && i + 1 == s->m.n && i)
			continue;
		if (i == s->m.index)
			c.index = n;
		members[n++] = i;
	}
	if (c.index < 0)
		return soak_sync(s);
	c.gc = ARG(ub_group_create, .key = { s->round, s->group },
		   .timeout = in_ms(30000), .parent = s->m.group, .nmembers = n,
		   .index = c.index, .members = PTR(members), .level = "child");
	err = step_create(&c);
	if (!err)
		err = soak_sync_of(s, &c, c.index + 1, &sum);
	if (!err && sum != n * (n + 1) / 2)
		return soak_failed(s, -EILSEQ, "wrong sum of some");
	if (err == -ESHUTDOWN)
		return err;
	err = soak_met(s, err, "group of some");
	if (c.group)
		group_destroy(c.fd, c.group);
	return err ? : soak_sync(s);
}

static const struct soak_op {
	const char *name;
	int (*run)(struct soak_member *s);
} soak_ops[] = {
	{ "barrier", soak_none },	/* the one that all begin with */
	{ "compute", soak_compute },
	{ "put", soak_put },
	{ "get", soak_get },
	{ "atomic", soak_atomic },
	{ "store", soak_mapped },
	{ "window", soak_window },
	{ "group", soak_child },
	{ "shrink", NULL },
	{ "set-up", NULL },
};
#define SOAK_OPS	8
#define SOAK_SHRINK	8
#define SOAK_SETUP	9

/* ---- a group's life ---- */

static int soak_begin(struct soak_member *s)
{
	struct ub_win_create *win = s->st->win[s->group];
	int err;

	ST(&s->r->op, SOAK_SETUP);
	ST(&s->r->members, s->m.n);
	s->broken = 0;
	s->atomics = 0;
	s->next = &win[(s->m.index + 1) % s->m.n];
	err = win_create(s->m.fd, PAGE, UB_WIN_RIGHTS, &win[s->m.index]);
	if (err)
		return err == -ESHUTDOWN ? err : soak_failed(s, err, "first window");
	s->mine = win_map(s->m.fd, win[s->m.index].out_desc.gva, PAGE,
			  PROT_READ | PROT_WRITE);
	if (s->mine == MAP_FAILED)
		return errno == ESHUTDOWN ? -ESHUTDOWN :
		       soak_failed(s, -errno, "map own window");
	err = soak_sync(s);
	if (err)
		return err;
	if (s->m.n > 1)
		err = soak_met(s, win_attach(s->m.fd, s->next, UB_WIN_RIGHTS), "attach next");
	s->theirs = win_map(s->m.fd, s->next->out_desc.gva, PAGE,
			    PROT_READ | PROT_WRITE);
	if (!err && s->theirs == MAP_FAILED) {
		s->theirs = s->mine;
		err = errno == ESHUTDOWN ? -ESHUTDOWN : soak_met(s, -errno, "map next");
		if (err == -ENOENT && s->broken)
			err = 0;
	}
	return err;
}

/* Rounds: 0 when all saw the stop, or enough have run without the lost. */
static int soak_rounds(struct soak_member *s)
{
	__u64 most = s->group && s->m.n <= NODES - s->st->lost ? SOAK_AFTER : ~0ULL;
	__u64 n, sum, i;
	__u32 op;
	int err;

	for (i = 0; i < most; i++, s->round++) {
		n = s->m.n;
		ST(&s->r->op, 0);
		err = soak_sync_of(s, &s->m, s->m.index + 1 +
				   (LD(&s->st->stop) ? SOAK_STOP : 0), &sum);
		if (err)
			return err;
		if (!s->group)
			s->r->ok_epoch = s->m.bar.out_epoch;
		if (sum % SOAK_STOP != n * (n + 1) / 2)
			return soak_failed(s, -EILSEQ, "wrong sum at the start");
		if (sum >= SOAK_STOP && !s->group)
			return 0;
		ST(&s->r->rounds, s->r->rounds + 1);
		op = soak_mix(s->st->seed, s->round) % SOAK_OPS;
		ST(&s->r->op, op);
		err = soak_ops[op].run(s);
		if (err)
			return err;
		if (s->broken && s->broken++ > SOAK_BROKEN)
			return soak_failed(s, -ETIME, "a loss that nobody is told of");
	}
	return 0;
}

static void soak_tell(struct soak_member *s, const struct ub_lost *lost)
{
	__u32 n = s->r->told;

	if (n == SOAK_LOSSES) {
		soak_failed(s, -E2BIG, "too many losses");
		return;
	}
	s->r->lost[n] = *lost;
	if (!n)
		ST(&s->r->told_at, now());
	__atomic_store_n(&s->r->told, n + 1, __ATOMIC_RELEASE);
}

/* Until a group of survivors stands, or this member is out. */
static int soak_go_on(struct soak_member *s)
{
	int err;

	do {
		ST(&s->r->op, SOAK_SHRINK);
		err = step_shrink(&s->m);
		s->group++;
		if (err == -EOWNERDEAD)
			soak_tell(s, &s->m.shrink.out_lost);
		else if (err && err != -ESHUTDOWN && err != -ESTALE)
			soak_failed(s, err, "shrink");
	} while (err == -EOWNERDEAD && s->group < SOAK_LOSSES);
	return err;
}

/* Exit status 0, whatever the step is to show; it is in the report. */
static int soak_main(struct soak_step *st, int index)
{
	struct soak_member s = { .st = st, .r = &st->r[index],
				 .m = { .index = index, .n = NODES } };
	int err;

	s.m.fd = open_node(index);
	s.m.gc = world_arg(st->key, NODES, index, 20000);
	err = step_create(&s.m);
	if (err)
		return soak_failed(&s, err, "world");
	st->r[index].ok_epoch = s.m.gc.out_epoch;
	err = soak_begin(&s);
	set_word(&s.r->up);
	err = err ? : soak_rounds(&s);
	while (err == -EOWNERDEAD && s.group < SOAK_LOSSES && !s.r->error) {
		soak_tell(&s, &s.m.bar.out_lost);
		err = soak_go_on(&s);
		s.round = 0;
		err = err ? : soak_begin(&s);
		err = err ? : soak_rounds(&s);
	}
	if (err == -ESHUTDOWN || err == -ESTALE)
		set_word(&s.r->refused);
	else if (err)
		soak_failed(&s, err, "the end");
	else
		set_word(&s.r->done);
	/* To leave is to be lost to those who are not there yet. */
	return 0;
}

#endif /* UB_SOAK_WORK_H */
