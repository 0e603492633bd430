// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules of nesting: an inner sync is about inner traffic, outer windows and
 * outer calls work inside, scopes at levels are made once and cost little, the
 * dead are told from the inside out, scopes used in opposite order are named.
 */
#include "t.h"
#include <sys/mman.h>

static const int dense[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
static const int lanes13[13] = { 0, 0, 1, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7 };

static void machine(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "lib/machines/%s", name);
	setenv("UB_MACHINE", path, 1);
}

/* ---- traffic ---- */

/* Slots of a window: by parity of the outer step, so that readers are done. */
struct slots {
	uint64_t put[2];
	uint64_t inner[2];
	uint64_t mapped[2];
};

static int inner_steps(struct ub_scope *board, struct ub_win *own,
		       struct ub_win *outer, uint64_t step)
{
	int me = ub_rank(board), mate = !me, i;
	int outer_mate = ub_outer_rank(board, mate);
	struct slots *mine = ub_win_base(own), *far = ub_win_base(outer);
	struct slots *theirs = ub_win_peer(outer, outer_mate);
	uint64_t v, got;

	for (i = 0; i < 6; i++) {
		v = step * 100 + i * 10 + me;
		/* Inner traffic: over the inner window and the outer one. */
		T_CHECK(!ub_put(board, own, mate, offsetof(struct slots, inner) +
				(i & 1) * 8, &v, 8));
		T_CHECK(!ub_put(board, outer, outer_mate,
				offsetof(struct slots, inner) + (i & 1) * 8, &v, 8));
		theirs->mapped[i & 1] = v;
		v = 0;
		T_CHECK(!ub_sync(board));
		v = step * 100 + i * 10 + mate;
		T_CHECK(mine->inner[i & 1] == v && far->inner[i & 1] == v);
		T_CHECK(far->mapped[i & 1] == v);
		T_CHECK(!ub_get(board, own, mate, offsetof(struct slots, inner) +
				(i & 1) * 8, &got, 8));
		T_CHECK(got == step * 100 + i * 10 + me);
	}
	return 0;
}

static int traffic(struct ub_ctx *ctx, struct ub_scope *w)
{
	int me = ub_rank(w), far = (me + 2) % 4;
	struct ub_win *outer, *own;
	struct ub_scope *board;
	struct slots *mine;
	uint64_t step, v, got;

	(void)ctx;
	T_CHECK(!ub_scope_enter(w, "board", &board) && ub_size(board) == 2);
	T_CHECK(!ub_win_create(w, sizeof(struct slots), &outer));
	T_CHECK(!ub_win_create(board, sizeof(struct slots), &own));
	mine = ub_win_base(outer);
	for (step = 1; step <= 50; step++) {
		/* Outer calls, issued inside: complete at the outer sync. */
		v = step * 1000 + me;
		T_CHECK(!ub_put(w, outer, far, offsetof(struct slots, put) +
				(step & 1) * 8, &v, 8));
		v = ~0ULL;
		if (step > 1)
			T_CHECK(!ub_get(w, outer, far, offsetof(struct slots, put) +
					(~step & 1) * 8, &got, 8));
		if (inner_steps(board, own, outer, step))
			return 1;
		T_CHECK(!ub_sync(w));
		T_CHECK(mine->put[step & 1] == step * 1000 + far);
		T_CHECK(step == 1 || got == (step - 1) * 1000 + me);
	}
	T_CHECK(!ub_win_free(own) && !ub_win_free(outer));
	return ub_scope_exit(board);
}

/* ---- cost ---- */

static int cost(struct ub_ctx *ctx, struct ub_scope *w)
{
	struct ub_scope *rack, *board, *again;
	uint64_t outer = ub_epoch(w), inner;
	int i;

	(void)ctx;
	T_CHECK(!ub_scope_enter(w, "rack", &rack));
	T_CHECK(!ub_scope_exit(rack));
	/* The first time its group is made: one barrier, and none of the outer. */
	T_CHECK(ub_epoch(rack) <= 2 && ub_epoch(w) == outer);
	T_CHECK(!ub_scope_enter(rack, "board", &board));
	T_CHECK(!ub_scope_exit(board));
	inner = ub_epoch(board);
	T_CHECK(inner <= 2);
	for (i = 0; i < 1000; i++) {
		T_CHECK(!ub_scope_enter(w, "rack", &again) && again == rack);
		T_CHECK(!ub_scope_enter(rack, "board", &again) && again == board);
		T_CHECK(!ub_scope_exit(board) && !ub_scope_exit(rack));
	}
	/* Then it is free. */
	T_CHECK(ub_epoch(board) == inner && ub_epoch(rack) <= 2);
	T_CHECK(ub_epoch(w) == outer);
	/* From the world it is another path to the same members. */
	T_CHECK(!ub_scope_enter(w, "board", &again) && ub_outer(again) == w);
	T_CHECK(ub_size(again) == ub_size(board));
	T_CHECK(!ub_sync(board) && !ub_sync(again) && !ub_sync(rack));
	return ub_sync(w);
}

/* ---- the dead ---- */

struct heard {
	char level[3][16];
	uint64_t epoch[3];
};

static struct heard *heard;

static int told(struct ub_scope *s, int me, int i)
{
	struct ub_lost_info info;

	T_CHECK(ub_sync(s) == -EOWNERDEAD);
	T_CHECK(!ub_lost(s, &info));
	T_CHECK(info.node == 7 && !strcmp(info.level, ub_level(s)));
	memcpy(heard[me].level[i], info.level, 16);
	heard[me].epoch[i] = info.epoch;
	return 0;
}

/* 2 racks of 2 boards of 2: rank 7 dies on its board. */
static int inside_out(struct ub_ctx *ctx, struct ub_scope *w)
{
	struct ub_scope *rack, *board, *left;
	int me = ub_rank(w), i;

	(void)ctx;
	T_CHECK(!ub_scope_enter(w, "rack", &rack));
	T_CHECK(!ub_scope_enter(rack, "board", &board));
	T_CHECK(!ub_sync(board) && !ub_sync(rack) && !ub_sync(w));
	if (me == 7)
		raise(SIGKILL);
	if (me == 6) {
		if (told(board, me, 0))
			return 1;
	} else {
		/* Other boards go on as if nothing was. */
		for (i = 0; i < 200; i++)
			T_CHECK(!ub_sync(board));
	}
	if (me >= 4) {
		if (told(rack, me, 1))
			return 1;
	} else {
		for (i = 0; i < 200; i++)
			T_CHECK(!ub_sync(rack));
	}
	if (told(w, me, 2))
		return 1;
	T_CHECK(!ub_shrink(w, &left) && ub_size(left) == 7);
	T_CHECK(!ub_scope_enter(left, "rack", &rack));
	T_CHECK(ub_size(rack) == (me < 4 ? 4 : 3));
	T_CHECK(!ub_scope_enter(rack, "board", &board));
	T_CHECK(ub_size(board) == (me < 6 ? 2 : 1));
	T_CHECK(!ub_sync(board) && !ub_sync(rack));
	return ub_sync(left);
}

static bool dead_inside(void)
{
	struct t_job j;
	bool same = true;
	int r;

	heard = mmap(NULL, 8 * sizeof(*heard), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (t_start(&j, 8, dense, inside_out) || t_wait(&j, 1 << 7))
		return false;
	for (r = 1; r < 7; r++)
		same &= heard[r].epoch[2] == heard[0].epoch[2];
	for (r = 5; r < 7; r++)
		same &= heard[r].epoch[1] == heard[4].epoch[1];
	return same;
}

/* ---- opposite order ---- */

static int *both;	/* how many have heard */

static int opposite(struct ub_ctx *ctx, struct ub_scope *w)
{
	bool known = false;
	struct ub_scope *s[2];
	int me = ub_rank(w), err;
	const char *other = me ? "board" : "split";

	(void)ctx;
	T_CHECK(!ub_scope_enter(w, "board", &s[0]));
	T_CHECK(!ub_scope_split(w, 0, 0, &s[1]));
	T_CHECK(!ub_sync(s[0]) && !ub_sync(s[1]));
	ub_set_timeout(s[0], 100);
	ub_set_timeout(s[1], 100);
	/* Each waits in its own, until both have heard of the other. */
	for (;;) {
		err = ub_sync(s[me]);
		if (!err && known)	/* the other one came over */
			break;
		T_CHECK(err == -ETIMEDOUT);
		T_CHECK(strstr(ub_last_error(), ub_level(s[me])) ==
			ub_last_error());
		if (!strstr(ub_last_error(), "another scope"))
			continue;
		T_CHECK(strstr(ub_last_error(), other));
		if (!known)
			__atomic_fetch_add(both, 1, __ATOMIC_SEQ_CST);
		known = true;
		if (__atomic_load_n(both, __ATOMIC_SEQ_CST) == 2)
			break;
	}
	ub_set_timeout(s[0], 0);
	ub_set_timeout(s[1], 0);
	/* And so they get out of it. */
	T_CHECK(!ub_sync(s[!me]));
	T_CHECK(!err || !ub_sync(s[me]));
	return ub_sync(w);
}

/* ---- splits ---- */

static unsigned int mixed(unsigned int a, unsigned int b)
{
	a = (a + 1) * 0x9e3779b1u + b * 0x85ebca77u;
	return a ^ a >> 15;
}

/* Who is in it, in which order, and do collectives agree? */
static int check_scope(struct ub_scope *s, int world_rank)
{
	int n = ub_size(s), i, who[64];
	uint64_t sum, want = 0;

	T_CHECK(!ub_allgather(s, &world_rank, sizeof(world_rank), who));
	for (i = 0; i < n; i++) {
		want += who[i];
		T_CHECK(i == ub_rank(s) ? who[i] == world_rank : who[i] != world_rank);
	}
	sum = world_rank;
	T_CHECK(!ub_allreduce(s, &sum, &sum, 1, UB_UINT64, UB_OP_SUM));
	T_CHECK(sum == want);
	return ub_sync(s);
}

/* Three colours, and some take no part, down to one member. */
static int divide(struct ub_scope *s, int world_rank, int depth)
{
	int key = mixed(world_rank, depth) % 1000, colour;
	struct ub_scope *in;

	if (check_scope(s, world_rank))
		return 1;
	if (ub_size(s) > 1 && depth < 6) {
		colour = (int)(mixed(key, depth) % 7) - 1;
		T_CHECK(!ub_scope_split(s, colour < 0 ? -1 : colour % 3, key, &in));
		T_CHECK(!in == (colour < 0));
		if (in) {
			T_CHECK(ub_outer(in) == s);
			T_CHECK(ub_outer_rank(in, ub_rank(in)) == ub_rank(s));
			if (divide(in, world_rank, depth + 1))
				return 1;
			T_CHECK(!ub_scope_exit(in));
		}
	}
	return check_scope(s, world_rank);
}

static int splits(struct ub_ctx *ctx, struct ub_scope *w)
{
	struct ub_scope *rack, *node;
	int me = ub_rank(w);

	(void)ctx;
	if (divide(w, me, 0))
		return 1;
	/* Inside a level, and a level inside a split of it. */
	T_CHECK(!ub_scope_enter(w, "rack", &rack));
	if (divide(rack, me, 1))
		return 1;
	T_CHECK(!ub_scope_split(rack, me & 1, -me, &node));
	T_CHECK(!ub_scope_enter(node, "board", &rack));
	if (divide(rack, me, 3))
		return 1;
	T_CHECK(!ub_scope_exit(rack) && !ub_scope_exit(node));
	return ub_sync(w);
}

int main(void)
{
	both = mmap(NULL, sizeof(*both), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	t_plan(6);
	machine("2x2.yaml");
	t_result(!t_run(4, dense, traffic), "traffic of inner and outer scopes");
	machine("2x2x2.yaml");
	t_result(!t_run(8, dense, cost), "entering and leaving, in barriers");
	if (t_threads())
		t_result(true, "the dead, from the inside out # SKIP not as threads");
	else
		t_result(dead_inside(), "the dead, from the inside out");
	machine("2x2.yaml");
	t_result(!t_run(2, dense, opposite), "scopes in opposite order");
	machine("2x2x2.yaml");
	t_result(!t_run(8, dense, splits), "splits of 8, inside splits");
	t_result(!t_run(13, lanes13, splits), "splits of 13 with lanes");
	return t_end();
}
