// SPDX-License-Identifier: MIT
/*
 * Scopes: enter, split, exit, shrink.
 *
 * A scope is a group with a schedule of its own, computed from its members'
 * node ids; so a scope that spans several levels is hierarchical by itself.
 */
#include "internal.h"
#include "backend.h"
#include "coll.h"
#include "bulk.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Accounting levels: world, the machine's, node, split. */
#define LEVEL_MACHINE	1
#define LEVEL_NODE(m)	((int)(m)->shape.nlevels + 1)
#define LEVEL_SPLIT(m)	((int)(m)->shape.nlevels + 2)

/* A scope of one member needs nothing that is shared. */
static int make_alone(struct ub_scope *s)
{
	struct ub_grp g;

	s->map_size = ub_group_map_size(1, 1);
	s->map = aligned_alloc(UB_LAYOUT_PAGE, s->map_size);
	if (!s->map)
		return ub_fail(-ENOMEM, "no memory");
	s->alone = true;
	memset(s->map, 0, s->map_size);
	ub_grp_init(&g, s->map, 1, 1, 1);
	ub_bar_init(&s->bar, &g, NULL, 0, 0);
	ub_bar_arrive(&s->bar, UB_RED_NONE, 0, UB_AUX_LAST_MASK);
	ub_bar_record(&s->bar);
	s->node[0] = s->ctx->own_node;
	return 0;
}

#define KEPT	offsetof(struct ub_scope, state)

/* What comes before KEPT ends a page, so that a fork wipes just that. */
static struct ub_scope *map_scope(void)
{
	size_t page = getpagesize();
	char *p = mmap(NULL, page + sizeof(struct ub_scope), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, page, MADV_WIPEONFORK);
	if (__lsan_register_root_region)
		__lsan_register_root_region(p, page + sizeof(struct ub_scope));
	return (struct ub_scope *)(p + page - KEPT);
}

static void unmap_scope(struct ub_scope *s)
{
	size_t page = getpagesize();
	char *p = (char *)s + KEPT - page;

	if (__lsan_unregister_root_region)
		__lsan_unregister_root_region(p, page + sizeof(struct ub_scope));
	munmap(p, page + sizeof(struct ub_scope));
}

struct ub_scope *ub_scope_alloc(struct ub_ctx *ctx, struct ub_scope *outer,
				uint32_t n, uint32_t rank, int level,
				const char *name)
{
	struct ub_scope *s = map_scope();

	if (!s)
		return NULL;
	s->alive = ctx->alive;
	s->ctx = ctx;
	s->outer = outer;
	s->n = n;
	s->rank = rank;
	s->level = level;
	strncpy(s->level_name, name, sizeof(s->level_name) - 1);
	s->timing = ctx->timing;
	s->last = UB_AUX_LAST_MASK;
	s->timeout_ms = outer ? outer->timeout_ms : ctx->timeout_ms;
	s->spin.limit = ub_ns_ticks(20000);
	if (ctx->biased)
		s->owner = __builtin_thread_pointer();
	s->waited = calloc(n, sizeof(*s->waited));
	s->node = calloc(n, sizeof(*s->node));
	s->lane = calloc(n, sizeof(*s->lane));
	s->outer_rank = calloc(n, sizeof(*s->outer_rank));
	s->world_rank = calloc(n, sizeof(*s->world_rank));
	s->incarnation = calloc(n, sizeof(*s->incarnation));
	if (s->waited && s->node && s->lane && s->outer_rank &&
	    s->world_rank && s->incarnation)
		return s;
	ub_scope_free(s);
	return NULL;
}

void ub_scope_free(struct ub_scope *s)
{
	if (!s)
		return;
	ub_sched_free(s->sched);
	if (s->alone)
		free(s->map);
	free(s->coll_copy);
	ub_plan_free(s->plan);
	free(s->queue);
	free(s->waited);
	free(s->node);
	free(s->lane);
	free(s->outer_rank);
	free(s->world_rank);
	free(s->incarnation);
	free(s->fresh);
	free(s->table);
	ub_mirror_free(s->pending.mirror, NULL);
	unmap_scope(s);
}

/* In the outermost scope lanes are counted, further inside they are known. */
static void set_lanes(struct ub_scope *s)
{
	const struct ub_scope *w = s->ctx->job ? s->ctx->job : s->ctx->world;
	uint32_t i, j;

	for (i = 0; i < s->n; i++) {
		if (w) {
			for (j = 0; j < w->n; j++)
				if (w->world_rank[j] == s->world_rank[i])
					s->lane[i] = w->lane[j];
			continue;
		}
		for (j = 0; j < i; j++)
			if (s->node[j] == s->node[i])
				s->lane[i] = s->lane[j] + 1;
	}
}

int ub_scope_ready(struct ub_scope *s)
{
	struct ub_ctx *ctx = s->ctx;

	set_lanes(s);
	if (ub_sched_check(s->node, s->n, s->rank, &ctx->machine.shape))
		return ub_fail(-ERANGE,
			       "%s: a node id is beyond the machine file's levels",
			       s->level_name);
	s->sched = ub_sched_build(s->node, s->n, s->rank, &ctx->machine.shape);
	if (!s->sched)
		return ub_fail(-ENOMEM, "%s: no memory for the schedule of %u members",
			       s->level_name, s->n);
	if (s->sched->nlines > s->bar.g.max_lines && s->sched->nlines)
		return ub_fail(-E2BIG,
			       "%s: the schedule of %u members needs %u flag lines, %u are there; use fewer ports or levels",
			       s->level_name, s->n, s->sched->nlines,
			       s->bar.g.max_lines);
	if (!s->by_kernel)
		ub_bar_schedule(&s->bar, s->sched);
	s->bar.pause = ub_clock.pause;
	s->opened = ub_ticks();
	s->first = s->bar.epoch;
	pthread_mutex_lock(&ctx->lock);
	s->next = ctx->scopes;
	ctx->scopes = s;
	pthread_mutex_unlock(&ctx->lock);
	return 0;
}

/* A group was made (or not): finish the scope, or free it. */
static int made(struct ub_scope *s, int err)
{
	int ready;

	if (err && err != -EOWNERDEAD) {
		ub_scope_drop(s);
		return err;
	}
	ready = ub_scope_ready(s);
	if (ready) {
		ub_scope_drop(s);
		return ready;
	}
	return err ? ub_lost_error(s) : 0;
}

int ub_scope_make(struct ub_scope *s, const uint64_t key[2])
{
	return made(s, s->n == 1 && s->outer ? make_alone(s) :
		       s->ctx->be->group_create(s, key));
}

static void unlist(struct ub_scope *s)
{
	struct ub_ctx *ctx = s->ctx;
	struct ub_scope **p, *k;
	uint32_t i;

	pthread_mutex_lock(&ctx->lock);
	for (p = &ctx->scopes; *p; p = &(*p)->next) {
		if (*p != s)
			continue;
		*p = s->next;
		ub_count_scope(&ctx->retired[s->level], s);
		break;
	}
	/* Scopes made of this one belong to its outer one now. */
	for (k = ctx->scopes; k; k = k->next) {
		if (k->heir == s)
			k->heir = s->heir;
		if (k->outer != s || !s->outer)
			continue;
		for (i = 0; i < k->n; i++)
			k->outer_rank[i] = s->outer_rank[k->outer_rank[i]];
		k->outer = s->outer;
	}
	pthread_mutex_unlock(&ctx->lock);
}

void ub_scope_drop(struct ub_scope *s)
{
	ub_bulk_free(s->bulk, true);
	s->bulk = NULL;
	while (s->wins)
		ub_win_drop(s->wins, true);
	unlist(s);
	if (s->bar.g.head && !s->alone)
		s->ctx->be->group_leave(s);
	ub_scope_free(s);
}

/* What two members of one scope of @level share. */
static uint32_t key_of(const struct ub_machine *m, uint32_t node, int level)
{
	if (!level || (m->flat && level == LEVEL_MACHINE))
		return 0;
	if (level >= LEVEL_NODE(m))
		return node;
	return ub_level_key(&m->shape, node, level - LEVEL_MACHINE + 1);
}

uint32_t ub_scope_vertex(const struct ub_scope *s, uint32_t rank, int level)
{
	return key_of(&s->ctx->machine, s->node[rank], level);
}

static struct ub_scope *find_kept(struct ub_scope *outer, int level)
{
	struct ub_scope *s;

	pthread_mutex_lock(&outer->ctx->lock);
	for (s = outer->ctx->scopes; s; s = s->next)
		if (s->outer == outer && s->kept && s->level == level)
			break;
	pthread_mutex_unlock(&outer->ctx->lock);
	return s;
}

struct ub_scope *ub_scope_subset(struct ub_scope *outer, const uint32_t *who,
				 uint32_t n, int level, const char *name)
{
	struct ub_scope *s;
	uint32_t i, me = 0;

	for (i = 0; i < n; i++)
		if (who[i] == outer->rank)
			me = i;
	s = ub_scope_alloc(outer->ctx, outer, n, me, level, name);
	for (i = 0; s && i < n; i++) {
		s->outer_rank[i] = who[i];
		s->world_rank[i] = outer->world_rank[who[i]];
		s->node[i] = outer->node[who[i]];
	}
	return s;
}

/* The machine's name, whatever the program calls it. */
static const char *name_of(const struct ub_machine *m, int level)
{
	if (!level)
		return "world";
	return level == LEVEL_NODE(m) ? "node" : m->name[level - LEVEL_MACHINE];
}

static int enter_new(struct ub_scope *outer, int level, struct ub_scope **inner)
{
	const struct ub_machine *m = &outer->ctx->machine;
	const uint64_t key[2] = { (uint64_t)level << 32 | 0xffffffff, 0 };
	uint32_t *who = calloc(outer->n, sizeof(*who)), n = 0, i, own;
	struct ub_scope *s;
	int err;

	if (!who)
		return ub_fail(-ENOMEM, "no memory");
	own = ub_scope_vertex(outer, outer->rank, level);
	for (i = 0; i < outer->n; i++)
		if (ub_scope_vertex(outer, i, level) == own)
			who[n++] = i;
	s = ub_scope_subset(outer, who, n, level, name_of(m, level));
	free(who);
	if (!s)
		return ub_fail(-ENOMEM, "no memory");
	s->kept = true;
	err = ub_scope_make(s, key);
	if (!err || err == -EOWNERDEAD)
		*inner = s;
	return err;
}

int ub_scope_enter(struct ub_scope *outer, const char *level,
		   struct ub_scope **inner)
{
	const struct ub_machine *m;
	int err, l;

	if (!outer || !level || !inner)
		return ub_fail(-EINVAL, "ub_scope_enter(): an argument is NULL");
	err = ub_scope_begin(outer, "ub_scope_enter");
	if (err)
		return err;
	m = &outer->ctx->machine;
	l = ub_machine_place(m, level);
	if (l < 0) {
		err = ub_fail(-ENOENT,
			      "machine \"%s\" has no level \"%s\"; its innermost is \"%s\", and there are \"node\" and \"world\"; UB_LEVEL_MAP=%s=... says which it is",
			      m->title, level, m->name[m->shape.nlevels - 1],
			      level);
	} else {
		*inner = find_kept(outer, l);
		if (!*inner)
			err = enter_new(outer, l, inner);
	}
	ub_scope_end(outer);
	return err;
}

/* What a member says of itself to ub_scope_split(). */
struct choice {
	int32_t colour;
	int32_t key;
};

/* Members of one colour, by key, then by rank: insertion keeps it stable. */
static uint32_t pick(const struct ub_scope *outer, int colour, uint32_t *who,
		     int32_t *keys)
{
	uint32_t n = 0, i, j;

	for (i = 0; i < outer->n; i++) {
		struct choice c = *(const struct choice *)ub_mail_of(outer, i);

		if (c.colour != colour)
			continue;
		for (j = n++; j && keys[j - 1] > c.key; j--) {
			keys[j] = keys[j - 1];
			who[j] = who[j - 1];
		}
		keys[j] = c.key;
		who[j] = i;
	}
	return n;
}

static int split(struct ub_scope *outer, int colour, int key,
		 struct ub_scope **inner)
{
	uint64_t id[2] = { (uint32_t)colour, 0 };
	struct ub_scope *s = NULL;
	uint32_t *who, n;
	int32_t *keys;
	int err;

	if (!ub_again(outer))
		*(struct choice *)ub_mail(outer) =
			(struct choice){ .colour = colour, .key = key };
	err = ub_exchange(outer);
	if (err)
		return err;
	id[1] = ++outer->splits;
	*inner = NULL;
	if (colour < 0)
		return 0;
	who = calloc(outer->n, sizeof(*who));
	keys = calloc(outer->n, sizeof(*keys));
	if (who && keys) {
		n = pick(outer, colour, who, keys);
		s = ub_scope_subset(outer, who, n,
				    LEVEL_SPLIT(&outer->ctx->machine), "split");
	}
	free(who);
	free(keys);
	if (!s)
		return ub_fail(-ENOMEM, "no memory");
	err = ub_scope_make(s, id);
	if (!err || err == -EOWNERDEAD)
		*inner = s;
	return err;
}

int ub_scope_split(struct ub_scope *outer, int colour, int key,
		   struct ub_scope **inner)
{
	int err;

	if (!outer || !inner)
		return ub_fail(-EINVAL, "ub_scope_split(): an argument is NULL");
	err = ub_scope_begin(outer, "ub_scope_split");
	if (err)
		return err;
	err = split(outer, colour, key, inner);
	ub_scope_end(outer);
	return err;
}

int ub_scope_exit(struct ub_scope *s)
{
	const struct ub_win *w;
	bool inner = false;
	int err;

	if (!s)
		return ub_fail(-EINVAL, "ub_scope_exit(): the scope is NULL");
	if (!s->outer || s == s->ctx->world)
		return ub_fail(-EINVAL, "ub_scope_exit() of the world; call ub_fini()");
	if (s->lost) {
		err = ub_scope_begin_lost(s);
		if (!err)
			ub_scope_drop(s);
		return err;
	}
	err = ub_scope_begin(s, "ub_scope_exit");
	if (err)
		return err;
	if (s->kept) {
		ub_scope_end(s);
		return 0;
	}
	for (w = s->wins; w && w->inner; w = w->next)
		inner = true;
	if (w) {
		ub_scope_end(s);
		return ub_fail(-EBUSY,
			       "%s: a window of this scope is still there; call ub_win_free() first",
			       s->level_name);
	}
	if (inner) {
		/* Others may still read or write what the library has there. */
		err = ub_sync_inside(s);
		if (err == -ETIMEDOUT) {
			ub_scope_end(s);
			return err;
		}
		ub_bulk_free(s->bulk, err != 0);
		s->bulk = NULL;
		while (s->wins)
			ub_win_drop(s->wins, err != 0);
	}
	ub_scope_drop(s);
	return 0;
}

int ub_shrink(struct ub_scope *s, struct ub_scope **survivors)
{
	struct ub_scope *inner = NULL;
	int err;

	if (!s || !survivors)
		return ub_fail(-EINVAL, "ub_shrink(): an argument is NULL");
	*survivors = NULL;
	err = ub_scope_begin_lost(s);
	if (err)
		return err;
	if (!ub_bar_verdict(&s->bar, UB_EPOCH_MAX)) {
		err = ub_fail(-EINVAL,
			      "%s: nobody is lost; ub_shrink() follows -EOWNERDEAD",
			      s->level_name);
	} else {
		s->lost = true;
		err = s->ctx->be->group_shrink(s, &inner);
		if (inner) {
			err = made(inner, err);
			if (!err || err == -EOWNERDEAD)
				*survivors = s->heir = inner;
		}
	}
	ub_scope_end(s);
	return err;
}

int ub_rank(const struct ub_scope *s)
{
	return s->rank;
}

int ub_size(const struct ub_scope *s)
{
	return s->n;
}

int ub_node(const struct ub_scope *s, int rank)
{
	if (rank < 0 || (uint32_t)rank >= s->n)
		return ub_fail(-EINVAL, "%s: rank %d of %u", s->level_name, rank,
			       s->n);
	return s->node[rank];
}

const char *ub_level(const struct ub_scope *s)
{
	return s->level_name;
}

struct ub_scope *ub_outer(const struct ub_scope *s)
{
	return s->outer && s->outer->job ? NULL : s->outer;
}

int ub_outer_rank(const struct ub_scope *s, int rank)
{
	if (rank < 0 || (uint32_t)rank >= s->n)
		return ub_fail(-EINVAL, "%s: rank %d of %u", s->level_name, rank,
			       s->n);
	return ub_outer(s) ? (int)s->outer_rank[rank] : rank;
}

int ub_lost(const struct ub_scope *s, struct ub_lost_info *info)
{
	struct ub_bar b = s->bar;
	uint32_t m;

	if (!*s->alive)
		return ub_fail(-EPERM, "ub_lost() in a child of the process that made the context");
	if (!ub_bar_verdict(&b, UB_EPOCH_MAX))
		return ub_fail(-ENOENT, "%s: nobody is lost", s->level_name);
	m = UB_VERDICT_MEMBER(b.verdict);
	*info = (struct ub_lost_info){
		.epoch = b.lost_epoch,
		.incarnation = s->incarnation[m],
		.rank = m,
		.node = s->node[m],
		.lane = s->lane[m],
		.reason = ub_reason_text(UB_VERDICT_REASON(b.verdict)),
	};
	memcpy(info->level, s->level_name, sizeof(info->level));
	return 0;
}
