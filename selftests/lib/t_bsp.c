// SPDX-License-Identifier: GPL-2.0-only
/* bsp.h in the classic dialect: what its calls do. */
#include "bsp.h"
#include "t_bsp.h"

static int sections;

static void part(void)
{
	bsp_begin(sections == 1 ? 2 : 3);
	T_BSP(bsp_nprocs() == (sections == 1 ? 2 : 3));
	T_BSP(bsp_pid() >= 0 && bsp_pid() < bsp_nprocs());
	T_BSP(bsp_time() >= 0 && bsp_time() < 50);
	bsp_sync();
	bsp_end();
}

static void fn_sections(void)
{
	T_BSP(bsp_nprocs() == 3);
	for (sections = 0; sections < 3; sections++) {
		bsp_init(part, 0, NULL);
		part();
		T_BSP(bsp_nprocs() == (sections == 1 ? 2 : 3));
	}
}

static void fn_main_section(void)
{
	bsp_begin(100);
	T_BSP(bsp_nprocs() == 4);
	bsp_end();
}

/* ---- memory ---- */

static void fn_put_get(void)
{
	int me, n, next, i, *all, got = -1, x;

	bsp_begin(bsp_nprocs());
	me = bsp_pid();
	n = bsp_nprocs();
	next = (me + 1) % n;
	all = calloc(n + 1, sizeof(int));
	bsp_push_reg(all, n * sizeof(int));
	bsp_sync();
	for (i = 0; i < n; i++) {
		x = 100 * me + i;
		bsp_put(i, &x, all, me * sizeof(int), sizeof(int));
		x = -7;		/* copied at the call */
	}
	for (i = 0; i < n; i++)
		T_BSP(!all[i]);
	/* Read before the puts are written. */
	bsp_get(next, all, 0, &got, sizeof(int));
	bsp_sync();
	T_BSP(!got);
	for (i = 0; i < n; i++)
		T_BSP(all[i] == 100 * i + me);
	/* A put wins over a get, a get reads what a get overwrites. */
	x = 1000 + me;
	bsp_get(next, all, 0, all, 2 * sizeof(int));
	bsp_put(me, &x, all, sizeof(int), sizeof(int));
	bsp_sync();
	T_BSP(all[0] == next && all[1] == 1000 + me);
	T_BSP(!all[n]);
	bsp_end();
	free(all);
}

/* Of overlapping puts the highest process's last one is seen. */
static void fn_overlap(void)
{
	char mine[64], from[64];
	int i, n, step;

	bsp_begin(bsp_nprocs());
	n = bsp_nprocs();
	bsp_push_reg(mine, sizeof(mine));
	bsp_sync();
	for (step = 0; step < 50; step++) {
		memset(mine, 'x', sizeof(mine));
		bsp_sync();
		for (i = 0; i < 3; i++) {
			memset(from, 10 * bsp_pid() + i, sizeof(from));
			bsp_put(0, from, mine, bsp_pid() + i, 40);
		}
		bsp_sync();
		if (!bsp_pid()) {
			for (i = 0; i < n; i++)
				T_BSP(mine[i] == 10 * i);
			for (i = 0; i < 40; i++)
				T_BSP(mine[n + 1 + i] == 10 * (n - 1) + 2);
		}
	}
	bsp_end();
}

static void fn_unbuffered(void)
{
	int me, n, next, a[2000], b[2000], i;

	bsp_begin(bsp_nprocs());
	me = bsp_pid();
	n = bsp_nprocs();
	next = (me + 1) % n;
	bsp_push_reg(a, sizeof(a));
	bsp_sync();
	for (i = 0; i < 2000; i++)
		b[i] = me * 10000 + i;
	bsp_hpput(next, b, a, 0, 1000 * sizeof(int));
	bsp_hpput(next, b + 1500, a, 1500 * sizeof(int), 4);
	bsp_sync();
	for (i = 0; i < 1000; i++)
		T_BSP(a[i] == (me + n - 1) % n * 10000 + i);
	bsp_hpget(next, a, 0, b, 1000 * sizeof(int));
	bsp_hpget(next, a, 1500 * sizeof(int), b + 1999, 4);
	bsp_sync();
	for (i = 0; i < 1000; i++)
		T_BSP(b[i] == me * 10000 + i);
	T_BSP(b[1999] == me * 10000 + 1500);
	bsp_end();
}

static void fn_nothing(void)
{
	char x;
	int n = 5, bytes = 5;

	bsp_begin(bsp_nprocs());
	bsp_put(-1, NULL, NULL, -1, 0);
	bsp_get(77, NULL, 1 << 30, NULL, 0);
	bsp_hpput(77, NULL, &x, -1, 0);
	bsp_hpget(-3, &x, 0, NULL, 0);
	bsp_push_reg(NULL, 0);
	bsp_push_reg(&x, 0);
	bsp_sync();
	bsp_put(0, &x, &x, 0, 0);
	bsp_send(0, NULL, NULL, 0);
	bsp_sync();
	bsp_qsize(&n, &bytes);
	T_BSP(n == (bsp_pid() ? 0 : bsp_nprocs()) && !bytes);
	for (; n; n--)
		bsp_move(NULL, 0);
	bsp_pop_reg(&x);
	bsp_pop_reg(NULL);
	bsp_end();
}

/* ---- registrations ---- */

static void fn_slots(void)
{
	int me, n, x[4] = { 0 }, v = 9, other = 0;

	bsp_begin(bsp_nprocs());
	me = bsp_pid();
	n = bsp_nprocs();
	bsp_push_reg(x, sizeof(x));
	/* The same address in a later slot is another place elsewhere. */
	bsp_push_reg(me ? &other : x, sizeof(int));
	bsp_sync();
	if (!me)
		bsp_put(1, &v, x, 0, sizeof(v));
	bsp_sync();
	T_BSP(other == (me == 1 ? 9 : 0) && !x[0]);
	/* Popped in this superstep it still works, pushed it does not yet. */
	bsp_pop_reg(me ? &other : x);
	bsp_push_reg(me ? x + 1 : x, sizeof(int));
	if (!me)
		bsp_put(1, &v, x, 0, sizeof(v));
	other = 0;
	bsp_sync();
	T_BSP(other == (me == 1 ? 9 : 0) && !x[0]);
	if (!me)
		bsp_put(1, &v, x, 0, sizeof(v));
	bsp_sync();
	T_BSP(x[1] == (me == 1 ? 9 : 0) && !x[0]);
	/* Push and pop in one superstep; then the oldest is the newest. */
	bsp_push_reg(me ? &other : x, sizeof(int));
	bsp_pop_reg(me ? &other : x);
	bsp_pop_reg(me ? x + 1 : x);
	bsp_sync();
	bsp_put((me + 1) % n, &v, x, 12, sizeof(v));
	bsp_sync();
	T_BSP(x[3] == 9);
	/* Some take no part; their NULL pops what the others name. */
	bsp_push_reg(me % 2 ? NULL : &other, me % 2 ? 0 : sizeof(other));
	bsp_push_reg(me % 2 ? &v : NULL, me % 2 ? sizeof(v) : 0);
	bsp_sync();
	v = me;
	if (!me)
		bsp_put(2, &v, &other, 0, sizeof(v));
	bsp_pop_reg(me % 2 ? NULL : &other);
	bsp_pop_reg(me % 2 ? &v : NULL);
	bsp_sync();
	T_BSP(me != 2 || !other);
	bsp_pop_reg(x);
	bsp_sync();
	bsp_end();
}

/* Own size 0 still reaches the others'; only the remote size counts. */
static void fn_sizes(void)
{
	char x[100] = { 0 }, v = 1;

	bsp_begin(bsp_nprocs());
	bsp_push_reg(x, bsp_pid() * 50);
	bsp_sync();
	if (!bsp_pid())
		bsp_put(1, &v, x, 49, 1);
	bsp_sync();
	T_BSP(x[49] == (bsp_pid() == 1));
	bsp_end();
}

#define MANY	3000
static char areas[MANY][8];

static void fn_many_areas(void)
{
	int i, k, next;
	char v;

	bsp_begin(bsp_nprocs());
	next = (bsp_pid() + 1) % bsp_nprocs();
	for (k = 0; k < 3; k++) {
		for (i = 0; i < MANY; i++)
			bsp_push_reg(areas[(i * 7) % MANY], 8);
		bsp_sync();
		for (i = 0; i < MANY; i++) {
			v = i % 100 + k;
			bsp_put(next, &v, areas[i], k, 1);
		}
		bsp_sync();
		for (i = 0; i < MANY; i++)
			T_BSP(areas[i][k] == i % 100 + k);
		for (i = 0; k != 1 && i < MANY; i++)
			bsp_pop_reg(areas[i]);
		bsp_sync();
	}
	/* Those of the second round are left, hidden no more. */
	bsp_put(next, &v, areas[5], 7, 1);
	for (i = MANY; i--; )
		bsp_pop_reg(areas[i]);
	bsp_sync();
	T_BSP(areas[5][7]);
	bsp_end();
}

/* ---- messages ---- */

static void fn_messages(void)
{
	int size = 4, tag = 5, n, bytes, status = 7, me, i;
	double *where, sum = 0, x;
	void *tp, *pp;
	char part[4] = "???";

	bsp_begin(bsp_nprocs());
	me = bsp_pid();
	bsp_get_tag(&status, &tag);
	T_BSP(status == -1 && tag == 5);
	T_BSP(bsp_hpmove(&tp, &pp) == -1);
	bsp_set_tagsize(&size);
	T_BSP(size == 0);
	bsp_sync();
	for (i = 0; i < bsp_nprocs(); i++) {
		x = me + 0.5;
		tag = 10 * me + i;
		bsp_send(i, &tag, &x, sizeof(x));
		bsp_send(i, &tag, "abcdef", i + 1);
	}
	bsp_sync();
	bsp_qsize(&n, &bytes);
	T_BSP(n == 2 * bsp_nprocs() && bytes == bsp_nprocs() * (8 + me + 1));
	for (i = 0; i < bsp_nprocs(); i++) {
		bsp_get_tag(&status, &tag);
		T_BSP(status == 8 && tag == 10 * i + me);
		T_BSP(bsp_hpmove(&tp, &pp) == 8 && *(int *)tp == 10 * i + me);
		where = pp;
		T_BSP(!((uintptr_t)where % 16) && *where == i + 0.5);
		sum += *where;
		bsp_get_tag(&status, &tag);
		T_BSP(status == me + 1);
		bsp_move(part, 2);
		T_BSP(part[0] == 'a' && part[1] == (me ? 'b' : '?') && part[2] == '?');
		part[1] = '?';
	}
	bsp_qsize(&n, &bytes);
	T_BSP(!n && !bytes);
	bsp_send(me, &tag, "left", 4);
	bsp_sync();
	bsp_sync();
	bsp_qsize(&n, &bytes);
	T_BSP(!n);
	bsp_end();
}

/* ---- inside ---- */

static void fn_inside(void)
{
	int me, n, all[8] = { 0 }, in[8] = { 0 }, i, v, size = 8, count, bytes;

	bsp_begin(bsp_nprocs());
	me = bsp_pid();
	n = bsp_nprocs();
	bsp_push_reg(all, sizeof(all));
	bsp_set_tagsize(&size);
	bsp_sync();
	v = me + 1;
	for (i = 0; i < n; i++)
		bsp_put(i, &v, all, me * sizeof(int), sizeof(int));
	T_BSP(ub_bsp_split(me % 2, -me));
	T_BSP(bsp_nprocs() == n / 2 && bsp_pid() == (n - 1 - me) / 2);
	bsp_push_reg(in, sizeof(in));
	bsp_sync();
	v = 100 + me;
	bsp_put(0, &v, in, bsp_pid() * sizeof(int), sizeof(int));
	bsp_send(0, NULL, &v, sizeof(v));	/* tags of 0 bytes here */
	bsp_sync();
	for (i = 0; i < n; i++)
		T_BSP(!all[i]);
	bsp_qsize(&count, &bytes);
	T_BSP(count == (bsp_pid() ? 0 : n / 2));
	for (i = 0; !bsp_pid() && i < n / 2; i++)
		T_BSP(in[i] == 100 + n - 2 - 2 * i + me % 2);
	ub_bsp_leave();
	T_BSP(bsp_nprocs() == n && bsp_pid() == me);
	if (ub_bsp_split(me ? 0 : -1, 0))
		ub_bsp_leave();
	for (i = 0; i < 3; i++) {
		ub_bsp_enter("node");
		T_BSP(bsp_nprocs() == n);
		size = 4;
		bsp_set_tagsize(&size);
		T_BSP(!size);
		bsp_push_reg(in, sizeof(in));
		bsp_sync();
		bsp_put((me + 1) % n, &me, in, 0, sizeof(int));
		bsp_send(0, &me, NULL, 0);
		ub_bsp_leave();
		T_BSP(in[0] == (me + n - 1) % n);
	}
	T_BSP(!all[0]);
	bsp_sync();
	for (i = 0; i < n; i++)
		T_BSP(all[i] == i + 1);
	bsp_end();
}

/* ---- all at once, against a sequential run ---- */

#define CELLS	40000
#define OPS	60

struct op {
	int kind, by, at, from, to, len;
};

static unsigned int dice(unsigned int *seed, unsigned int below)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % below;
}

/* Everybody knows what everybody does in a step. */
static struct op draw(unsigned int *seed, int n, int by)
{
	struct op o = { .kind = dice(seed, 4), .by = by };

	o.at = dice(seed, n);
	o.len = dice(seed, 10) ? dice(seed, 50) : dice(seed, 10) ?
		dice(seed, 2000) : dice(seed, CELLS / 2);
	o.from = dice(seed, CELLS - o.len);
	o.to = dice(seed, CELLS - o.len);
	return o;
}

static void apply_all(char *now, char *was, const struct op *o, int n)
{
	int i, k;

	memcpy(was, now, (size_t)n * CELLS);
	/* Overlapping gets: by the process that is read. */
	for (k = 0; k < n; k++)
		for (i = 0; i < n * OPS; i++)
			if (o[i].kind == 1 && o[i].at == k)
				memcpy(now + o[i].by * CELLS + o[i].to,
				       was + k * CELLS + o[i].from, o[i].len);
	for (k = 0; k < n; k++)
		for (i = k * OPS; i < (k + 1) * OPS; i++)
			if (!o[i].kind)
				memcpy(now + o[i].at * CELLS + o[i].to,
				       was + k * CELLS + o[i].from, o[i].len);
}

static void do_mine(char *mine, const struct op *o)
{
	if (!o->kind)
		bsp_put(o->at, mine + o->from, mine, o->to, o->len);
	else if (o->kind == 1)
		bsp_get(o->at, mine, o->from, mine + o->to, o->len);
	else
		bsp_send(o->at, o, mine + o->from, o->len);
}

static void check_messages(const char *was, const struct op *o, int n)
{
	int i, count = 0, bytes, status;
	void *tag, *payload;
	struct op got;

	for (i = 0; i < n * OPS; i++) {
		if (o[i].kind < 2 || o[i].at != bsp_pid())
			continue;
		count++;
		bsp_get_tag(&status, &got);
		T_BSP(status == o[i].len && !memcmp(&got, &o[i], sizeof(got)));
		bsp_hpmove(&tag, &payload);
		T_BSP(!memcmp(payload, was + o[i].by * CELLS + o[i].from, status));
	}
	bsp_qsize(&count, &bytes);
	T_BSP(!count && !bytes);
}

static void fn_random(void)
{
	static char mine[CELLS];
	int n, me, step, i, tag = sizeof(struct op);
	unsigned int seed = 1;
	char *now, *was;
	struct op *o;

	bsp_begin(bsp_nprocs());
	n = bsp_nprocs();
	me = bsp_pid();
	now = malloc(n * CELLS);
	was = malloc(n * CELLS);
	o = calloc(n * OPS, sizeof(*o));
	for (i = 0; i < n * CELLS; i++)
		now[i] = dice(&seed, 256);
	memcpy(mine, now + me * CELLS, CELLS);
	bsp_push_reg(mine, CELLS);
	bsp_set_tagsize(&tag);
	bsp_sync();
	for (step = 0; step < 12; step++) {
		for (i = 0; i < n * OPS; i++)
			o[i] = draw(&seed, n, i / OPS);
		for (i = 0; i < OPS; i++)
			do_mine(mine, &o[me * OPS + i]);
		bsp_sync();
		apply_all(now, was, o, n);
		check_messages(was, o, n);
		for (i = 0; i < CELLS; i++)
			if (mine[i] != now[me * CELLS + i])
				break;
		if (i < CELLS)
			bsp_abort("step %d, process %d: byte %d differs\n", step,
				  me, i);
	}
	bsp_end();
	free(now);
	free(was);
	free(o);
}

static void fn_random_tight(void)
{
	setenv("UB_HOST_MEM", "2M", 1);
	fn_random();
}

static const struct t_bsp cases[] = {
	T_BSP_GOOD("sections with bsp_init(), of fewer processes", 3, fn_sections),
	T_BSP_GOOD("main() is the section", 4, fn_main_section),
	T_BSP_GOOD("put and get", 4, fn_put_get),
	T_BSP_GOOD("overlapping puts", 4, fn_overlap),
	T_BSP_GOOD("unbuffered", 3, fn_unbuffered),
	T_BSP_GOOD("nothing at all", 3, fn_nothing),
	T_BSP_GOOD("slots", 4, fn_slots),
	T_BSP_GOOD("sizes", 2, fn_sizes),
	T_BSP_GOOD("thousands of areas", 2, fn_many_areas),
	T_BSP_GOOD("messages", 3, fn_messages),
	T_BSP_GOOD("inner sections", 4, fn_inside),
	T_BSP_GOOD("all at once, one process", 1, fn_random),
	T_BSP_GOOD("all at once, three", 3, fn_random),
	T_BSP_GOOD("all at once, by pieces", 4, fn_random_tight),
};

int main(void)
{
	return t_bsp_all(cases, sizeof(cases) / sizeof(cases[0]));
}
