// SPDX-License-Identifier: MIT
/*
 * pagerank: who adds up what for whom, and where messages lie. Sender and receiver
 * compute it alike from the graph and the shape.
 */
#include <stdlib.h>
#include <string.h>

#include "pagerank.h"

/*
 * Marks which nodes of @pos the nodes of @board point at: count[v - begin] is
 * the number of edges. Sender and receiver both do this, so that messages need
 * no node numbers.
 */
static uint32_t count_edges(const struct run *r, int board, int pos, uint32_t *count)
{
	uint32_t from = begin_of(r, r->sh.first[board]);
	uint32_t to = begin_of(r, r->sh.first[board + 1]);
	uint32_t lo = begin_of(r, pos), hi = begin_of(r, pos + 1), v, n = 0;
	size_t e;

	memset(count, 0, (hi - lo) * sizeof(*count));
	for (e = r->g.out[from]; e < r->g.out[to]; e++) {
		v = r->g.to[e];
		if (v >= lo && v < hi)
			n += !count[v - lo]++;
	}
	return n;
}

static void plan_receive(struct run *r)
{
	uint32_t nodes = r->end - r->begin, *count, v;
	size_t off = give_bytes(nodes);
	int b;

	count = need_mem(nodes, sizeof(*count));
	r->in_target = need_mem(r->sh.nboards, sizeof(*r->in_target));
	r->in_n = need_mem(r->sh.nboards, sizeof(*r->in_n));
	r->in_off = need_mem(r->sh.nboards + 1, sizeof(*r->in_off));
	for (b = 0; b < r->sh.nboards; b++) {
		r->in_off[b] = off;
		if (b == my_board(r))
			continue;
		r->in_target[b] = need_mem(count_edges(r, b, r->sh.me, count),
					   sizeof(uint32_t));
		for (v = 0; v < nodes; v++)
			if (count[v])
				r->in_target[b][r->in_n[b]++] = v;
		off += message_bytes(r->in_n[b]);
	}
	r->in_off[b] = off;
	free(count);
}

/* The word in which node @u of this board has what it gives. */
static const double *give_word(const struct run *r, uint32_t u)
{
	int pos = r->sh.first[my_board(r)];

	while (u >= begin_of(r, pos + 1))
		pos++;
	return (double *)ub_win_peer(r->win, r->sh.at[pos].rank) + (u - begin_of(r, pos));
}

static void plan_work(struct run *r, struct work *w, int pos)
{
	uint32_t lo = begin_of(r, pos), hi = begin_of(r, pos + 1), u, v, i, *count, *place;
	int board = my_board(r);
	size_t edges = 0, e;

	w->pos = pos;
	count = need_mem(hi - lo, sizeof(*count));
	place = need_mem(hi - lo, sizeof(*place));
	w->n = count_edges(r, board, pos, count);
	w->target = need_mem(w->n, sizeof(*w->target));
	w->first = need_mem(w->n + 1, sizeof(*w->first));
	w->sum = need_mem(w->n + 1, sizeof(*w->sum));
	for (v = 0, i = 0; v < hi - lo; v++) {
		if (!count[v])
			continue;
		w->target[i] = v;
		w->first[i++] = edges;
		place[v] = edges;
		edges += count[v];
	}
	w->first[i] = edges;
	w->from = need_mem(edges, sizeof(*w->from));
	for (u = begin_of(r, r->sh.first[board]);
	     u < begin_of(r, r->sh.first[board + 1]); u++) {
		const double *word = give_word(r, u);

		for (e = r->g.out[u]; e < r->g.out[u + 1]; e++) {
			v = r->g.to[e];
			if (v >= lo && v < hi)
				w->from[place[v - lo]++] = word;
		}
	}
	free(place);
	free(count);
}

/* Everybody tells where in its window the message of each board goes. */
static int plan_messages(struct run *r)
{
	struct shape *sh = &r->sh;
	size_t per = sh->nboards + 1, *all, *at;
	int err, i, pos;

	all = need_mem(sh->n * per, sizeof(*all));
	err = ub_allgather(sh->world, r->in_off, per * sizeof(*all), all);
	for (i = 1; !err && i < r->nwork; i++) {
		pos = r->work[i].pos;
		at = all + sh->at[pos].rank * per;
		r->work[i].off[0] = at[my_board(r)];
		r->work[i].off[1] = at[my_board(r)] + at[sh->nboards] -
				    give_bytes(begin_of(r, pos + 1) - begin_of(r, pos));
	}
	free(all);
	return err;
}

int plan(struct run *r)
{
	struct shape *sh = &r->sh;
	int pos, size = shape_board_size(sh, my_board(r)), err;
	uint32_t nodes;

	r->begin = begin_of(r, sh->me);
	r->end = begin_of(r, sh->me + 1);
	nodes = r->end - r->begin;
	plan_receive(r);
	r->x = need_mem(nodes, sizeof(double));
	r->next = need_mem(nodes, sizeof(double));
	r->work = need_mem(sh->n, sizeof(*r->work));
	err = ub_win_create(sh->world, 2 * r->in_off[sh->nboards] - give_bytes(nodes),
			    &r->win);
	if (err)
		return err;
	plan_work(r, &r->work[r->nwork++], sh->me);
	/* A rank elsewhere gets this board's sums from the member of its number. */
	for (pos = 0; pos < sh->n; pos++)
		if (sh->at[pos].board != my_board(r) &&
		    sh->at[pos].member % size == sh->at[sh->me].member)
			plan_work(r, &r->work[r->nwork++], pos);
	return plan_messages(r);
}

void plan_free(struct run *r)
{
	int i;

	for (i = 0; i < r->nwork; i++) {
		free(r->work[i].target);
		free(r->work[i].first);
		free(r->work[i].from);
		free(r->work[i].sum);
	}
	for (i = 0; r->in_target && i < r->sh.nboards; i++)
		free(r->in_target[i]);
	free(r->work);
	free(r->in_target);
	free(r->in_n);
	free(r->in_off);
	free(r->x);
	free(r->next);
	ub_win_free(r->win);
}
