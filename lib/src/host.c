// SPDX-License-Identifier: MIT
/*
 * Host back end: ranks are processes of one machine, or threads of one
 * process, over an arena (host_arena.h). No module, no privilege.
 */
#include "internal.h"
#include "backend.h"
#include "host_arena.h"
#include "slots.h"
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UB_LOOK_NS	100000000ULL	/* between looks after the living */
#define UB_CLAIM_ROUNDS	100

/**
 * struct ub_host - what the back end has for a context
 * @a: the arena
 * @own: mapped by this context
 * @slots: group slots in it
 * @inits: number of this ub_init(), the same for all its ranks
 */
struct ub_host {
	struct ub_host_arena *a;
	bool own;
	struct ub_slots slots;
	uint64_t inits;
};

static struct ub_host *host_of(const struct ub_scope *s)
{
	return s->ctx->priv;
}

static int host_crowd(struct ub_ctx *ctx);

/* ---- joining ---- */

static struct ub_host_arena *find_arena(struct ub_ctx *ctx)
{
	struct ub_host_arena *a;
	long fd;
	int err = ub_env_int("UB_HOST_FD", 0, 1 << 20, -1, &fd);

	if (err) {
		errno = -err;
		return NULL;
	}
	if (fd >= 0) {
		a = ub_host_arena_map(fd);
		if (a)
			fcntl(fd, F_SETFD, FD_CLOEXEC);
		return a;
	}
	if (ctx->nranks != 1) {
		ub_fail(-EINVAL,
			"%d ranks but no UB_HOST_FD; start with ubrun, or give threads an arena in ub_opts.host_arena",
			ctx->nranks);
		errno = EINVAL;
		return NULL;
	}
	return ub_host_arena(1);
}

static int host_open(struct ub_ctx *ctx, const struct ub_opts *o)
{
	struct ub_host *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return ub_fail(-ENOMEM, "no memory");
	h->a = o->host_arena;
	if (!h->a) {
		h->a = find_arena(ctx);
		h->own = true;
		if (!h->a) {
			free(h);
			return errno ? -errno : -EINVAL;
		}
	}
	if (h->a->magic != UB_HOST_MAGIC || (uint32_t)ctx->nranks > h->a->nranks) {
		err = ub_fail(-EINVAL, "%d ranks, but the arena is for %u",
			      ctx->nranks, h->a->nranks);
		goto fail;
	}
	h->slots = (struct ub_slots){
		.recs = (char *)h->a + h->a->recs_off,
		.pages = (char *)h->a + h->a->pages_off,
		.nslots = h->a->nslots,
		.rec_stride = h->a->rec_stride,
		.map_size = h->a->map_size,
		.max_members = h->a->nranks,
	};
	err = ub_host_up(h->a, ctx->rank, ctx->own_node);
	if (err)
		goto fail;
	h->inits = ub_host_live(h->a, ctx->rank)->inits;
	ctx->priv = h;
	/* Shows the others this rank's CPUs; a spare sleeps. */
	if (ctx->rank < ctx->nranks - ctx->spares)
		host_crowd(ctx);
	return 0;
fail:
	if (h->own)
		ub_host_arena_unmap(h->a);
	free(h);
	return err;
}

static void host_close(struct ub_ctx *ctx, bool forked)
{
	struct ub_host *h = ctx->priv;

	if (!forked) {
		ub_host_down(h->a, ctx->rank);
		if (h->own)
			ub_host_arena_unmap(h->a);
	}
	free(h);
}

/* ---- groups ---- */

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

/* The members compute it alike, so they meet without talking. */
static uint64_t group_id(const struct ub_scope *s, const uint64_t key[2])
{
	struct ub_host *h = host_of(s);
	uint64_t id = mix(mix(0x6c696275, key[0]), key[1]);
	uint32_t i;

	if (s->outer) {
		id = mix(id, s->outer->id);
		for (i = 0; i < s->n; i++)
			id = mix(id, s->world_rank[i]);
	} else {
		/* A second ub_init() of the job makes another world. */
		id = mix(id, h->inits);
	}
	return mix(id, s->n) & UB_SLOT_ID_MASK;
}

static bool gone(void *ctx, const struct ub_slot_member *m, __u64 arrival)
{
	struct ub_host *h = ctx;
	uint32_t rank;

	if (!m)
		return false;
	if (!m->who)
		return arrival & UB_ARR_FENCED;
	rank = UB_WHO_LANE(m->who);
	return rank < h->a->nranks && ub_host_dead(h->a, rank);
}

/* A freer is a rank, plus one. */
static bool freer_gone(void *ctx, __u64 freer)
{
	struct ub_host *h = ctx;

	return freer > h->a->nranks || ub_host_dead(h->a, freer - 1);
}

static void collect(struct ub_ctx *ctx, uint32_t slot)
{
	struct ub_host *h = ctx->priv;

	ub_slots_collect(&h->slots, slot, ctx->rank + 1, gone, freer_gone, h);
}

static int claim(struct ub_scope *s)
{
	struct ub_host *h = host_of(s);
	int slot = -EAGAIN, i;
	uint32_t k;

	for (i = 0; slot < 0 && i < UB_CLAIM_ROUNDS; i++) {
		__u64 word;

		slot = ub_slots_claim(&h->slots, s->id, &word);
		s->word = word;
		/* Also for -EAGAIN: a member may have died freeing the slot. */
		if (slot < 0)
			for (k = 0; k < h->slots.nslots; k++)
				collect(s->ctx, k);
		if (slot < 0)
			sched_yield();
	}
	if (slot < 0)
		return ub_fail(slot,
			       "%s: no room for another group, %u are there; leave scopes with ub_scope_exit()",
			       s->level_name,
			       h->slots.nslots);
	s->slot = slot;
	return 0;
}

static int clash_error(struct ub_scope *s, int err, uint64_t clash)
{
	if (err == -EEXIST)
		return ub_fail(err, "%s: rank %u is taken by another process",
			       s->level_name, s->rank);
	if (err == -EINVAL)
		return ub_fail(err,
			       "%s: this rank has %u members and machine \"%s\", the others %u members%s; give all the same",
			       s->level_name, s->n, s->ctx->machine.title,
			       UB_FORM_N(clash), UB_FORM_N(clash) == s->n ?
			       " and another machine file or UB_LEVEL_MAP" : "");
	return ub_fail(err, "%s: cannot join the group: %s", s->level_name,
		       strerror(-err));
}

/* Its creation's time is over: who has not arrived is lost to the group. */
static void fence_missing(struct ub_scope *s)
{
	struct ub_bar *b = &s->bar;
	uint32_t i;

	for (i = 0; i < s->n; i++)
		if (UB_ARR_EPOCH(ub_ld(&b->g.line[i].arrival)) < b->epoch)
			ub_grp_fence(&b->g, i, UB_REASON_TIMEOUT);
}

static int first_barrier(struct ub_scope *s)
{
	struct ub_bar *b = &s->bar;
	int ms = s->timeout_ms > s->ctx->start_ms || s->outer ?
		 s->timeout_ms : s->ctx->start_ms;
	uint64_t deadline = ms ? ub_now() + ms * 1000000ULL : UB_NEVER;
	int err;

	s->creating = true;
	err = ub_bar_arrive(b, UB_RED_NONE, 0, UB_AUX_LAST_MASK);
	/* Too late for others, but not lost itself: the same answer. */
	if (err == -ESTALE && ub_bar_verdict(b, UB_EPOCH_MAX) &&
	    UB_VERDICT_MEMBER(b->verdict) != s->rank)
		err = -EOWNERDEAD;
	if (!err && ub_bar_pressed(b) && ub_bar_record(b) == UB_BAR_DONE)
		ub_host_wake(&b->g);
	if (!err)
		err = s->ctx->be->sleep(s, deadline);
	if (err == -ETIMEDOUT) {
		fence_missing(s);
		err = s->ctx->be->sleep(s, UB_NEVER);
	}
	s->creating = false;
	return err;
}

/* Nodes of the members: those that never joined are told by their slot. */
static void read_members(struct ub_scope *s)
{
	struct ub_host *h = host_of(s);
	uint32_t i;

	for (i = 0; i < s->n; i++) {
		struct ub_slot_member m;

		if (ub_slots_member(&h->slots, s->slot, s->word, i, &m)) {
			s->node[i] = UB_WHO_NODE(m.who);
			s->incarnation[i] = m.lane_inc;
		} else {
			s->node[i] = ub_host_live(h->a, s->world_rank[i])->node;
		}
	}
}

static int join_group(struct ub_scope *s)
{
	struct ub_host *h = host_of(s);
	const struct ub_slot_member me = {
		.who = UB_WHO(0, s->ctx->own_node, s->ctx->rank),
		.lane_inc = h->inits,
	};
	struct ub_grp g;
	__u64 clash = 0;
	int err;

	do {
		err = claim(s);
		if (err)
			return err;
		err = ub_slots_join(&h->slots, s->slot, s->word, s->n,
				    ub_machine_hash(&s->ctx->machine),
				    s->rank, &me, &clash);
	} while (err == -ESTALE);
	if (err)
		return clash_error(s, err, clash);
	ub_grp_init(&g, ub_slot_pages(&h->slots, s->slot), s->n,
		    h->a->nranks, h->a->max_lines);
	ub_bar_init(&s->bar, &g, NULL, s->rank, h->a->epoch);
	err = first_barrier(s);
	read_members(s);
	return err;
}

static int host_group_create(struct ub_scope *s, const uint64_t key[2])
{
	s->id = group_id(s, key);
	return join_group(s);
}

static void host_group_leave(struct ub_scope *s)
{
	struct ub_host *h = host_of(s);
	struct ub_grp *g = &s->bar.g;

	ub_grp_fence(g, s->rank, UB_REASON_LEFT);
	ub_host_wake(g);
	ub_slots_leave(&h->slots, s->slot, s->word, s->rank);
	collect(s->ctx, s->slot);
}

/* ---- waiting ---- */

static void host_look(struct ub_scope *s)
{
	struct ub_host *h = host_of(s);
	struct ub_bar *b = &s->bar;
	uint32_t i;

	for (i = 0; i < s->n; i++) {
		uint32_t rank = s->world_rank[i];

		if (ub_ld(&b->g.line[i].arrival) & UB_ARR_FINAL)
			continue;
		/* Who left fenced itself, unless it never joined this group. */
		if (ub_host_dead(h->a, rank))
			ub_grp_fence(&b->g, i, UB_REASON_EXIT);
		else if (ub_host_left(h->a, rank, h->inits))
			ub_grp_fence(&b->g, i, UB_REASON_LEFT);
	}
	s->look = ub_now() + UB_LOOK_NS;
}

/* One sleep, to be followed by another look at whatever is waited for. */
static void doze(struct ub_scope *s, uint64_t now, uint64_t deadline)
{
	__u64 *word = &s->bar.g.line[s->rank].sleeping;
	uint64_t left = deadline - now < UB_LOOK_NS ? deadline - now : UB_LOOK_NS;
	struct timespec ts = {
		.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000,
	};

	syscall(SYS_futex, (uint32_t *)word, FUTEX_WAIT, 1, &ts, NULL, 0);
	/* Announce again before looking again. */
	ub_swap(word, 1ULL);
}

static int host_sleep(struct ub_scope *s, uint64_t deadline)
{
	struct ub_bar *b = &s->bar;
	enum ub_bar_state st;

	ub_bar_sleep_begin(b);
	for (;;) {
		uint64_t now;

		st = ub_bar_record(b);
		if (st != UB_BAR_WAIT)
			break;
		now = ub_now();
		if (now >= deadline)
			break;
		if (now >= s->look) {
			host_look(s);
			continue;
		}
		doze(s, now, deadline);
	}
	ub_bar_sleep_end(b);
	if (b->wake)
		ub_host_wake(&b->g);
	if (st == UB_BAR_WAIT)
		return ub_late_error(s, 0);
	return st == UB_BAR_LOST ? -EOWNERDEAD : 0;
}

static void host_kick(struct ub_scope *s)
{
	ub_host_wake(&s->bar.g);
}

/* ---- shrinking ---- */

/* Wait until every word is final; survivors as ranks of @s. */
static uint32_t all_final(struct ub_scope *s, uint32_t *survivor)
{
	struct ub_bar *b = &s->bar;
	uint64_t deadline = ub_deadline(s);
	uint32_t n, i;

	ub_bar_sleep_begin(b);
	while (!(n = ub_grp_shrunk(&b->g, survivor))) {
		uint64_t now = ub_now();

		if (now >= deadline)
			for (i = 0; i < s->n; i++)
				ub_grp_fence(&b->g, i, UB_REASON_TIMEOUT);
		else if (now >= s->look)
			host_look(s);
		else
			doze(s, now, deadline);
	}
	ub_bar_sleep_end(b);
	ub_host_wake(&b->g);
	return n;
}

static int host_group_shrink(struct ub_scope *old, struct ub_scope **out)
{
	const uint64_t key[2] = { 0x736872696e6b, old->id };
	uint32_t *survivor = calloc(old->n, sizeof(*survivor)), n, me = 0, i;
	struct ub_scope *s;
	int err;

	if (!survivor)
		return ub_fail(-ENOMEM, "no memory");
	err = ub_grp_shrink(&old->bar.g, old->rank);
	if (err) {
		free(survivor);
		return ub_fail(err, "%s: the others took this member for lost",
			       old->level_name);
	}
	ub_host_wake(&old->bar.g);
	n = all_final(old, survivor);
	for (i = 0; i < n; i++)
		if (survivor[i] == old->rank)
			me = i;
	s = ub_scope_alloc(old->ctx, old, n, me, old->level, old->level_name);
	for (i = 0; s && i < n; i++) {
		s->outer_rank[i] = survivor[i];
		s->world_rank[i] = old->world_rank[survivor[i]];
		s->node[i] = old->node[survivor[i]];
	}
	free(survivor);
	if (!s)
		return ub_fail(-ENOMEM, "no memory");
	err = host_group_create(s, key);
	*out = s;
	return err;
}

/* ---- windows ---- */

static int host_win_alloc(struct ub_win *w, size_t bytes)
{
	struct ub_host *h = host_of(w->scope);
	uint32_t me = w->scope->rank;

	w->size[me] = bytes;
	if (!bytes)
		return 0;
	w->handle[me] = ub_host_alloc(h->a, w->scope->ctx->rank, bytes);
	if (!w->handle[me])
		return ub_fail(-ENOSPC,
			       "a window of %zu bytes does not fit: the windows of this job share %llu bytes, %llu are free; UB_HOST_MEM sets it, by default it is the memory of machine or cgroup",
			       bytes,
			       (unsigned long long)(h->a->heap_units *
						    UB_HOST_UNIT),
			       (unsigned long long)ub_host_room(h->a));
	w->peer[me] = (char *)h->a + w->handle[me];
	return 0;
}

struct host_desc {
	uint64_t off;
	uint64_t size;
};

static void host_win_describe(struct ub_win *w, void *mail)
{
	struct host_desc *d = mail;

	d->off = w->handle[w->scope->rank];
	d->size = w->size[w->scope->rank];
}

static int host_win_attach(struct ub_win *w, uint32_t rank, const void *mail)
{
	struct ub_host *h = host_of(w->scope);
	struct host_desc d = *(const struct host_desc *)mail;

	if (d.size > h->a->size || d.off > h->a->size - d.size)
		return ub_fail(-EINVAL, "rank %u described a window outside the arena", rank);
	w->handle[rank] = d.off;
	w->size[rank] = d.size;
	w->peer[rank] = d.size ? (char *)h->a + d.off : NULL;
	return 0;
}

static void host_win_free(struct ub_win *w, bool used)
{
	struct ub_host *h = host_of(w->scope);
	uint32_t me = w->scope->rank;

	/* What others may still write to stays taken until the job ends. */
	if (w->handle[me] && !used)
		ub_host_free(h->a, w->scope->ctx->rank, w->handle[me],
			     w->size[me]);
}

/* All members' together are an eighth of the arena. */
#define UB_HOST_BUFFERS	(128ULL << 20)

static uint64_t host_win_room(struct ub_ctx *ctx)
{
	struct ub_host *h = ctx->priv;
	uint64_t room = h->a->heap_units * UB_HOST_UNIT / 8 / ctx->nranks;

	return room < UB_HOST_BUFFERS ? room : UB_HOST_BUFFERS;
}

/* ---- CPUs ---- */

static int host_crowd(struct ub_ctx *ctx)
{
	struct ub_host *h = ctx->priv;
	struct ub_host_live *own = ub_host_live(h->a, ctx->rank);
	uint64_t mask[UB_CPU_WORDS], any[UB_CPU_WORDS] = { 0 };
	int cpus = ub_cpus(mask), all = 0, alike = 0, total = 0, i, r;

	for (i = 0; i < UB_CPU_WORDS; i++)
		__atomic_store_n(&own->cpus[i], mask[i], __ATOMIC_RELAXED);
	for (r = 0; r < ctx->nranks; r++) {
		struct ub_host_live *l = ub_host_live(h->a, r);
		bool same = true, some = false;

		if (__atomic_load_n(&l->state, __ATOMIC_ACQUIRE) != UB_HOST_UP)
			continue;
		for (i = 0; i < UB_CPU_WORDS; i++) {
			uint64_t m = __atomic_load_n(&l->cpus[i], __ATOMIC_RELAXED);

			any[i] |= m;
			same &= m == mask[i];
			some |= m;
		}
		if (!some)	/* a spare */
			continue;
		total++;
		alike += same;
	}
	for (i = 0; i < UB_CPU_WORDS; i++)
		all += __builtin_popcountll(any[i]);
	return alike > cpus || total > all ? all : 0;
}

const struct ub_backend ub_backend_host = {
	.name = "host",
	.open = host_open,
	.close = host_close,
	.group_create = host_group_create,
	.group_shrink = host_group_shrink,
	.group_leave = host_group_leave,
	.sleep = host_sleep,
	.kick = host_kick,
	.look = host_look,
	.win_alloc = host_win_alloc,
	.win_describe = host_win_describe,
	.win_attach = host_win_attach,
	.win_free = host_win_free,
	.win_room = host_win_room,
	.crowd = host_crowd,
};
