// SPDX-License-Identifier: GPL-2.0-only
/*
 * The explorer's programs of shm.c, join.c, member.c and format.c: nodes load the
 * module at the same time on fresh memory, unload it and load it again; any may
 * crash, and its node comes back. prog->suspect: all have one node id, of which
 * at most one may be up. prog->lives: node 0 was up and is dead when the others
 * come.
 */
#include "explore_node.h"

static u64 fabric_id[2], key[2];	/* of the first to be up */
static u64 last_incarnation[MAXN];
static int up;

void join_start(void)
{
	int i;

	nodes_start(prog->n + 1, 1);
	memset(fabric_id, 0, sizeof(fabric_id));
	memset(last_incarnation, 0, sizeof(last_incarnation));
	up = 0;
	daemon_co[APP(prog->n)] = true;
	quiet = prog->lives;
	for (i = APP(prog->n); i < nco; i++)
		may_crash[i] = false;
}

static u32 node_of(int l)
{
	return prog->suspect ? 7 : l;
}

/* A member in the eyes of all: read at once, not as by a node. */
static bool member(int l)
{
	struct ub_fabric *f = life[l].f;

	return f && life[l].file && node_works(l) &&
	       ub_shm_hdr(f)->state == UB_SHM_WORD(UB_SHM_READY, f->generation) &&
	       ub_shm_node_rec(f, f->self)->word == f->word;
}

/* The record of a member is that of its life. */
static void check_record(int l)
{
	const struct ub_fabric *f = life[l].f;
	const struct ub_shm_node *rec = ub_shm_node_rec(life[l].f, f->self);

	if (rec->incarnation != f->incarnation || rec->generation != f->generation)
		fail("the record of life %d holds incarnation %llu, not %llu", l,
		     rec->incarnation, f->incarnation);
}

/* It is up: of the same fabric as all others, with a record of its own. */
static void check_up(int l, u32 node)
{
	const struct ub_fabric *f = life[l].f;
	int i;

	if (!fabric_id[0]) {
		memcpy(fabric_id, f->fabric_id, sizeof(fabric_id));
		memcpy(key, f->key, sizeof(key));
	}
	if (f->fabric_id[0] != fabric_id[0] || f->fabric_id[1] != fabric_id[1] ||
	    f->key[0] != key[0] || f->key[1] != key[1])
		fail("life %d is of another fabric", l);
	check_record(l);
	if (f->incarnation <= last_incarnation[node])
		fail("node %u comes back with incarnation %llu, after %llu", node,
		     f->incarnation, last_incarnation[node]);
	last_incarnation[node] = f->incarnation;
	for (i = 0; i < LIVES; i++) {
		if (i == l || !member(i) || !member(l))
			continue;
		if (life[i].f->self == f->self)
			fail("lives %d and %d have one record", l, i);
		if (life[i].f->node == f->node)
			fail("lives %d and %d have one node id", l, i);
	}
}

static int join(int l, u32 node)
{
	int err = node_join(node);

	if (!err)
		check_up(l, node < MAXN ? node : 0);
	return err;
}

/* A crash is not waited for by those who do not need it. */
static void come_back(void)
{
	int i, who = -1, err;

	while (who < 0) {
		for (i = 0; i < prog->n; i++)
			if (life[i].dead)
				who = i;
		if (who < 0)
			shim_wait(&crashes, SHIM_NEVER);
	}
	daemon_co[APP(prog->n)] = false;
	err = join(prog->n, node_of(who));
	if (err && !(prog->suspect && err == -EADDRINUSE))
		fail("node %u cannot come back: %d", node_of(who), err);
	up += !err;
}

void join_crash(int co)
{
	nodes_crash(co);
	shim_wake(&crashes);
}

void join_node(int l)
{
	int err;

	if (l == prog->n) {
		come_back();
		return;
	}
	if (prog->lives && !l) {
		join(l, node_of(l));
		quiet = false;
		shim_wake(&quiet);
		shim_wake(&crashes);
		node_die();
	}
	while (quiet)
		shim_wait(&quiet, SHIM_NEVER);
	err = join(l, node_of(l));
	if (prog->suspect && err == -EADDRINUSE)
		return;
	if (err)
		fail("life %d cannot join: %d", l, err);
	up++;
	node_leave();
	err = join(l, node_of(l));
	if (prog->suspect && err == -EADDRINUSE)
		return;
	if (err)
		fail("life %d cannot join again: %d", l, err);
}

void join_check(void)
{
	int i, j;

	if (!up && !crashes)
		fail("no node is up");
	for (i = 0; i < prog->n + 1; i++)
		if (member(i))
			check_record(i);
	for (i = 0; i < prog->n + 1; i++)
		for (j = 0; j < i; j++)
			if (member(i) && member(j) &&
			    life[i].f->self == life[j].f->self)
				fail("lives %d and %d share a record", i, j);
}
