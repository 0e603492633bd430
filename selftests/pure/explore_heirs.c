// SPDX-License-Identifier: GPL-2.0-only
/*
 * The explorer's programs of shrink.c and group_make.c: nodes with one thread
 * each are in two groups; one of them dies, and the others shrink the groups,
 * some in this order and some in that.
 */
#include "explore_node.h"

#define GROUPS		2
#define DEPTH		6

/* What the first to be told was told of a group that came of another. */
struct told {
	bool any, ok;
	u32 n, lost, reason;
	struct ub_member table[MAXN];
};

static struct told told[GROUPS][DEPTH];
static u32 handle[MAXN][GROUPS];
static int depth[MAXN][GROUPS];
static int joined, made, lost;

static u64 soon(void)
{
	return shim_now + 8 * ub_detect_ms * SHIM_MS;
}

void heirs_start(void)
{
	nodes_start(prog->n, 0);
	memset(told, 0, sizeof(told));
	memset(depth, 0, sizeof(depth));
	joined = 0;
	made = 0;
	lost = 0;
	quiet = true;
}

/* A member that is lost must have been: it is the only thing that may be told. */
static void check_lost(int l, int g, const struct ub_lost *who)
{
	int i;

	for (i = 0; i < prog->n; i++)
		if (life[i].f->node == who->node &&
		    life[i].f->incarnation == who->incarnation && life[i].dead)
			return;
	fail("member %d: group %d has lost node %u, reason %u, which lives", l, g,
	     who->node, who->reason);
}

static void check_told(int l, int g, int ret, const struct ub_group_shrink *arg,
		       const struct ub_member *table)
{
	struct told *t = &told[g][depth[l][g]];
	bool ok = !ret;
	u32 i;

	if (!t->any) {
		*t = (struct told){ .any = true, .ok = ok, .n = arg->out_nmembers };
		t->lost = ok ? 0 : arg->out_lost.member;
		t->reason = ok ? 0 : arg->out_lost.reason;
		if (ok)
			memcpy(t->table, table, t->n * sizeof(*table));
	}
	if (t->ok != ok || t->n != arg->out_nmembers ||
	    (!ok && (t->lost != arg->out_lost.member ||
		     t->reason != arg->out_lost.reason)))
		fail("member %d: group %d is told %d of %u, another %d of %u", l, g,
		     ret, arg->out_nmembers, t->ok, t->n);
	for (i = 0; ok && i < t->n; i++)
		if (table[i].node != t->table[i].node)
			fail("member %d: group %d, place %u is node %u, not %u", l,
			     g, i, table[i].node, t->table[i].node);
}

/* Shrink until a group stands. */
static void shrink_group(int l, int g)
{
	for (;;) {
		struct ub_member table[MAXN] = { 0 };
		struct ub_group_shrink arg = {
			.group = handle[l][g], .timeout = soon(),
			.out_table = (uintptr_t)table,
		};
		struct ub_group_id old = { .group = handle[l][g] };
		int ret = ub_group_shrink(life[l].file, &arg);

		if (ret && ret != -EOWNERDEAD)
			fail("member %d: shrinking %d: %d", l, g, ret);
		if (ret)
			check_lost(l, g, &arg.out_lost);
		check_told(l, g, ret, &arg, table);
		if (!ret && !crashes && arg.out_nmembers != (u32)prog->n - 1)
			fail("member %d: %u survive", l, arg.out_nmembers);
		if (++depth[l][g] == DEPTH)
			fail("member %d: group %d shrinks for ever", l, g);
		handle[l][g] = arg.out_group;
		ub_group_destroy(life[l].file, &old);
		if (!ret)
			return;
	}
}

static int barrier_of(int l, int g)
{
	struct ub_barrier arg = {
		.group = handle[l][g], .timeout = soon(),
		.flags = UB_BARRIER_ARRIVE | UB_BARRIER_WAIT,
	};
	int ret = ub_barrier(life[l].file, &arg);

	if (ret == -EOWNERDEAD)
		check_lost(l, g, &arg.out_lost);
	else if (ret)
		fail("member %d: barrier of %d: %d", l, g, ret);
	return ret;
}

static void make(int l, int g)
{
	struct ub_group_create arg = {
		.flags = UB_GROUP_WORLD, .key = { 5, g }, .nmembers = prog->n,
		.index = l, .timeout = soon(), .shape = flat_of(1),
	};
	int ret = ub_group_create(life[l].file, &arg);

	if (ret)
		fail("member %d: making %d: %d", l, g, ret);
	handle[l][g] = arg.out_group;
}

/* Without choices: until all but the last know of its death, in both groups. */
static void begin(int l)
{
	int g;

	while (joined != l)
		shim_wait(&joined, SHIM_NEVER);
	if (node_join(l))
		fail("member %d cannot join", l);
	meet_at(&joined, prog->n);
	for (g = 0; g < GROUPS; g++)
		make(l, g);
	meet_at(&made, prog->n);
	if (l == prog->n - 1)
		node_die();
	for (g = 0; g < GROUPS; g++)
		if (barrier_of(l, g) != -EOWNERDEAD)
			fail("member %d: nobody is lost", l);
	meet_at(&lost, prog->n - 1);
	quiet = false;
}

void heirs_node(int l)
{
	int g, i;

	begin(l);
	for (i = 0; i < GROUPS; i++)
		shrink_group(l, (i + l) % GROUPS);
	for (g = 0; g < GROUPS; g++)
		while (barrier_of(l, g))
			shrink_group(l, g);
}
