// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The schedule of a barrier, computed. See schedule.h.
 *
 * Members are sorted by node id, so that the members below any vertex of the
 * machine are a run of positions. At a vertex with child subtrees
 * S_0 .. S_(r-1) and k ports the rounds have d = 1, (k+1), (k+1)^2, .. < r.
 * The member with index m in S_i sets, for each port p with p d < r, a flag
 * at every member j of S_(i+pd mod r) with j mod |S_i| = m, and waits for one
 * from the member with index m mod |S_(i-pd)| of S_(i-pd mod r). Everybody
 * receives exactly one flag per round and port.
 *
 * Lines are numbered level by level, innermost first, with as many for a
 * level as its widest vertex needs, so a sender knows a receiver's line
 * without knowing the receiver's own tree.
 */
#include "schedule.h"

#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/string.h>
#define sched_zalloc(n, size)	kvcalloc(n, size, GFP_KERNEL)
#define sched_free(p)		kvfree(p)
#else
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#define sched_zalloc(n, size)	calloc(n, size)
#define sched_free(p)		free(p)
#endif

static const struct ub_shape flat_shape = {
	.nlevels = 1, .bits = { UB_NODE_BITS }, .ports = { 1, 1 },
};

int ub_shape_check(const struct ub_shape *shape)
{
	__u32 bits = 0, i;

	if (!shape->nlevels || shape->nlevels > UB_MAX_LEVELS)
		return -EINVAL;
	for (i = 0; i <= shape->nlevels; i++)
		if (!shape->ports[i] || shape->ports[i] > UB_MAX_PORTS)
			return -EINVAL;
	for (i = 0; i < shape->nlevels; i++)
		bits += shape->bits[i];
	return bits > UB_NODE_BITS ? -EINVAL : 0;
}

/* FNV-1a, 64 bits, over the fields that steer the schedule. */
__u64 ub_shape_hash(const struct ub_shape *shape)
{
	__u64 h = 0xcbf29ce484222325ULL;
	__u32 i;

	h = (h ^ shape->nlevels) * 0x100000001b3ULL;
	for (i = 0; i < shape->nlevels; i++)
		h = (h ^ shape->bits[i]) * 0x100000001b3ULL;
	for (i = 0; i <= shape->nlevels; i++)
		h = (h ^ shape->ports[i]) * 0x100000001b3ULL;
	return h;
}

__u32 ub_rounds(__u32 r, __u32 k)
{
	__u32 rounds = 0;
	__u64 d;

	for (d = 1; d < r; d *= k + 1)
		rounds++;
	return rounds;
}

__u32 ub_level_key(const struct ub_shape *shape, __u32 node, __u32 level)
{
	__u32 shift = 0;

	for (; level < shape->nlevels; level++)
		shift += shape->bits[level];
	return shift > UB_NODE_BITS ? 0 : node >> shift;
}

/* Sort members by node id, stable: bottom-up merge. */
static void sort_members(const __u32 *node, __u32 *order, __u32 *tmp, __u32 n)
{
	__u32 width, lo, i;

	for (i = 0; i < n; i++)
		order[i] = i;
	for (width = 1; width < n; width *= 2) {
		for (lo = 0; lo < n; lo += 2 * width) {
			__u32 mid = n - lo < width ? n : lo + width;
			__u32 hi = n - mid < width ? n : mid + width;
			__u32 a = lo, b = mid;

			for (i = lo; i < hi; i++) {
				bool left = a < mid && (b >= hi ||
					node[order[a]] <= node[order[b]]);

				tmp[i] = left ? order[a++] : order[b++];
			}
		}
		memcpy(order, tmp, n * sizeof(*order));
	}
}

/* Working state of one build. */
struct build {
	const struct ub_shape *shape;
	const __u32 *node;
	struct ub_sched *s;
	__u32 pos;		/* of the member itself */
	__u32 line;		/* lines given out so far */
	__u32 nchildren;
	__u32 nsend;
};

static bool same_child(const struct build *b, __u32 level, __u32 p, __u32 q)
{
	const __u32 *order = b->s->order;

	if (level == b->shape->nlevels)		/* lanes: each its own child */
		return p == q;
	return ub_level_key(b->shape, b->node[order[p]], level + 1) ==
	       ub_level_key(b->shape, b->node[order[q]], level + 1);
}

static bool same_vertex(const struct build *b, __u32 level, __u32 p, __u32 q)
{
	const __u32 *order = b->s->order;

	return ub_level_key(b->shape, b->node[order[p]], level) ==
	       ub_level_key(b->shape, b->node[order[q]], level);
}

/* Children of the level's widest vertex; and the vertex of the member. */
static __u32 scan_level(struct build *b, __u32 level, struct ub_vertex *v)
{
	struct ub_sched *s = b->s;
	__u32 widest = 0, start, end, child;

	for (start = 0; start < s->n; start = end) {
		__u32 r = 0, first = b->nchildren;

		for (child = start; child < s->n &&
		     same_vertex(b, level, start, child); child = end) {
			for (end = child + 1; end < s->n &&
			     same_vertex(b, level, start, end) &&
			     same_child(b, level, child, end); end++)
				;
			s->child[first + r].start = child;
			s->child[first + r].size = end - child;
			if (b->pos >= child && b->pos < end) {
				v->mine = r;
				v->m = b->pos - child;
			}
			r++;
		}
		end = child;
		if (r > widest)
			widest = r;
		if (b->pos >= start && b->pos < end) {
			v->level = level;
			v->r = r;
			v->child = first;
			/* Keep only the own vertex's children. */
			b->nchildren = first + r;
		}
	}
	return widest;
}

/* Fill the receivers and the sender of one port. */
static void add_port(struct build *b, const struct ub_vertex *v,
		     struct ub_round *rd, __u32 p)
{
	struct ub_sched *s = b->s;
	const struct ub_child *child = s->child + v->child;
	__u32 hop = p * rd->d;
	const struct ub_child *to = &child[(v->mine + hop) % v->r];
	const struct ub_child *from = &child[(v->mine + v->r - hop) % v->r];
	__u32 j;

	rd->send[p - 1] = b->nsend;
	for (j = v->m; j < to->size; j += child[v->mine].size)
		s->send[b->nsend++] = s->order[to->start + j];
	rd->send[p] = b->nsend;
	rd->from[p - 1] = s->order[from->start + v->m % from->size];
	for (j = rd->send[p - 1]; rd->nports == 1 && j < b->nsend; j++)
		if (s->send[j] == rd->from[0])
			rd->mutual = true;
}

/*
 * The window that the last round lacks: r = P d + missing, P ports used, the
 * last of which gives "missing" children, 1 to d. Its digits to the base k+1
 * say at which rounds the partial window grows.
 */
static void add_rounds(struct build *b, __u32 vertex)
{
	struct ub_sched *s = b->s;
	const struct ub_vertex *v = &s->vertex[vertex];
	__u32 k = b->shape->ports[v->level];
	__u32 last_d = 1, ports, missing, index = 0, d;

	while ((__u64)last_d * (k + 1) < v->r)
		last_d *= k + 1;
	ports = (v->r - 1) / last_d;
	missing = v->r - ports * last_d;

	for (d = 1; d <= last_d; d *= k + 1, index++) {
		struct ub_round *rd = &s->round[s->nrounds++];
		__u32 p;

		rd->vertex = vertex;
		rd->d = d;
		rd->line = b->line + index * k;
		rd->last = d == last_d;
		rd->nports = rd->last ? ports : k;
		rd->last_full = missing == last_d;
		if (!rd->last_full) {
			rd->rest = missing % d;
			rd->digit = missing / d % (k + 1);
		}
		for (p = 1; p <= rd->nports; p++)
			add_port(b, v, rd, p);
	}
}

static struct ub_sched *sched_alloc(__u32 n)
{
	struct ub_sched *s = sched_zalloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->n = n;
	/* A scan may need n more children than it keeps. */
	s->child = sched_zalloc(2 * (size_t)n + UB_MAX_LEVELS + 1, sizeof(*s->child));
	s->order = sched_zalloc(n, sizeof(*s->order));
	s->vertex = sched_zalloc(UB_MAX_LEVELS + 1, sizeof(*s->vertex));
	return s;
}

/* Rounds and receivers, now that the vertices are known. */
static bool alloc_rounds(struct build *b)
{
	struct ub_sched *s = b->s;
	size_t rounds = 0, sends = 0;
	__u32 i, c;

	for (i = 0; i < s->nvertices; i++) {
		const struct ub_vertex *v = &s->vertex[i];
		__u32 k = b->shape->ports[v->level], most = 0;
		__u32 mine = s->child[v->child + v->mine].size;

		for (c = 0; c < v->r; c++)
			if (s->child[v->child + c].size > most)
				most = s->child[v->child + c].size;
		rounds += ub_rounds(v->r, k);
		sends += (size_t)ub_rounds(v->r, k) * k * (most / mine + 1);
	}
	s->round = sched_zalloc(rounds + 1, sizeof(*s->round));
	s->send = sched_zalloc(sends + 1, sizeof(*s->send));
	return s->round && s->send;
}

struct ub_sched *ub_sched_build(const __u32 *node, __u32 n, __u32 me,
				const struct ub_shape *shape)
{
	struct build b = { .shape = shape ? shape : &flat_shape, .node = node };
	__u32 widest[UB_MAX_LEVELS + 1], *tmp, level, i;

	if (!n || me >= n || ub_shape_check(b.shape))
		return NULL;
	for (i = 0; i < n; i++)
		if (ub_level_key(b.shape, node[i], 0) !=
		    ub_level_key(b.shape, node[0], 0))
			return NULL;
	b.s = sched_alloc(n);
	tmp = sched_zalloc(n, sizeof(*tmp));
	if (!b.s || !b.s->child || !b.s->order || !b.s->vertex || !tmp)
		goto fail;
	b.s->me = me;
	sort_members(node, b.s->order, tmp, n);
	while (b.s->order[b.pos] != me)
		b.pos++;

	for (level = b.shape->nlevels + 1; level-- > 0; ) {
		struct ub_vertex v = { 0 };
		__u32 before = b.nchildren;

		widest[level] = scan_level(&b, level, &v);
		if (v.r > 1)
			b.s->vertex[b.s->nvertices++] = v;
		else
			b.nchildren = before;
	}
	if (!alloc_rounds(&b))
		goto fail;

	i = 0;
	for (level = b.shape->nlevels + 1; level-- > 0; ) {
		__u32 k = b.shape->ports[level];

		if (i < b.s->nvertices && b.s->vertex[i].level == level)
			add_rounds(&b, i++);
		b.line += ub_rounds(widest[level], k) * k;
	}
	b.s->nlines = b.line;
	sched_free(tmp);
	return b.s;
fail:
	sched_free(tmp);
	ub_sched_free(b.s);
	return NULL;
}

void ub_sched_free(struct ub_sched *s)
{
	if (!s)
		return;
	sched_free(s->order);
	sched_free(s->vertex);
	sched_free(s->child);
	sched_free(s->round);
	sched_free(s->send);
	sched_free(s);
}
