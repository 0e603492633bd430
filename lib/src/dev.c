// SPDX-License-Identifier: MIT
/*
 * Device back end: groups and windows are the kernel module's; barriers run in
 * user space over mapped group pages and enter the kernel to sleep and to wake,
 * or, where windows are copied, are the kernel's too.
 */
#include "internal.h"
#include "backend.h"
#include "dev.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define UB_DEV_PATH	"/dev/ubfab0"
#define UB_DEV_LOOK_NS	100000000ULL

/* The library installs no handlers, so it must not end calls for others'. */
int ub_dev_call(struct ub_dev *d, unsigned long cmd, void *arg)
{
	int err;

	do {
		err = ioctl(d->fd, cmd, arg) ? -errno : 0;
	} while (err == -EINTR);
	return err;
}

/* ---- joining ---- */

static int check_info(struct ub_dev *d)
{
	const struct ub_info *i = &d->info;

	if (i->out_abi != UB_ABI_VERSION)
		return ub_fail(-EPROTONOSUPPORT,
			       "%s speaks ABI %u, this library %u; install both of one version",
			       d->path, i->out_abi,
			       UB_ABI_VERSION);
	if (i->out_layout != UB_LAYOUT_VERSION)
		return ub_fail(-EPROTONOSUPPORT,
			       "%s has group layout %u, this library %u; install both of one version",
			       d->path,
			       i->out_layout, UB_LAYOUT_VERSION);
	if (!(i->out_caps & UB_CAP_GROUP_PAGES))
		return ub_fail(-EOPNOTSUPP,
			       "%s cannot map group pages (transport %.16s)",
			       d->path, i->out_transport);
	return 0;
}

static int dev_open(struct ub_ctx *ctx, const struct ub_opts *o)
{
	struct ub_dev *d = calloc(1, sizeof(*d));
	int err;

	(void)o;
	if (!d)
		return ub_fail(-ENOMEM, "no memory");
	d->path = ctx->fabric ? ctx->fabric : UB_DEV_PATH;
	d->fd = open(d->path, O_RDWR | O_CLOEXEC);
	if (d->fd < 0) {
		err = ub_fail(-errno,
			      "%s: %s; load the module and add a fabric, or set UB_FABRIC=host",
			      d->path, strerror(errno));
		free(d);
		return err;
	}
	d->info.size = sizeof(d->info);
	err = ub_dev_call(d, UB_IOC_INFO, &d->info);
	if (err)
		ub_fail(err, "%s: no fabric: %s", d->path, strerror(-err));
	else
		err = check_info(d);
	if (err) {
		close(d->fd);
		free(d);
		return err;
	}
	ub_quiet_open(d);
	ctx->own_node = d->info.out_node;
	ctx->priv = d;
	return 0;
}

static void dev_close(struct ub_ctx *ctx, bool forked)
{
	struct ub_dev *d = ctx->priv;

	/* The lane is its owner's: closing is no leaving, and a child has no mapping. */
	if (!forked)
		ub_quiet_close(d);
	close(d->fd);
	free(d);
}

/* Does the kernel run the barriers, because windows are copied? */
static bool by_kernel(const struct ub_dev *d)
{
	return !(d->info.out_caps & UB_CAP_USER_BARRIER);
}

/* ---- groups ---- */

static int create_error(struct ub_scope *s, const struct ub_group_create *a,
			int err)
{
	switch (err) {
	case -EEXIST:
		return ub_fail(err,
			       "%s: rank %u is taken by node %u, lane %u; give each process its own rank and each job its own key",
			       s->level_name, s->rank, a->out_clash.node,
			       a->out_clash.lane);
	case -EINVAL:
		return ub_fail(err,
			       "%s: the others gave another number of members than %u, or another machine file than \"%s\" (node %u, lane %u was first)",
			       s->level_name, s->n,
			       s->ctx->machine.title, a->out_clash.node,
			       a->out_clash.lane);
	case -E2BIG:
		return ub_fail(err,
			       "%s: %u members; this fabric has groups of up to %u, with %u flag lines",
			       s->level_name, s->n,
			       ub_dev_of(s)->info.out_max_members,
			       ub_dev_of(s)->info.out_max_lines);
	case -ENOSPC:
		return ub_fail(err,
			       "%s: the fabric has no room for another group; leave scopes with ub_scope_exit()",
			       s->level_name);
	default:
		return ub_fail(err, "%s: cannot make the group: %s", s->level_name,
			       strerror(-err));
	}
}

/* The group exists: map its pages and begin where creating ended. */
static int attach_group(struct ub_scope *s, uint64_t offset, uint64_t size,
			uint64_t epoch, const struct ub_member *table)
{
	struct ub_dev *d = ub_dev_of(s);
	struct ub_grp g;
	uint32_t i;
	void *p;

	s->table = calloc(s->n, sizeof(*table));
	if (!s->table)
		return ub_fail(-ENOMEM, "no memory");
	memcpy(s->table, table, s->n * sizeof(*table));
	for (i = 0; i < s->n; i++) {
		s->node[i] = table[i].node;
		s->incarnation[i] = table[i].node_incarnation;
	}
	if (size < ub_group_map_size(d->info.out_max_members,
				     d->info.out_max_lines))
		return ub_fail(-EPROTO, "%s gave %llu bytes of group pages",
			       d->path, (unsigned long long)size);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, d->fd, offset);
	if (p == MAP_FAILED)
		return ub_fail(-errno, "%s: cannot map the group's pages: %s",
			       d->path, strerror(errno));
	madvise(p, size, MADV_DONTFORK);
	s->map = p;
	s->map_size = size;
	s->by_kernel = by_kernel(d);
	ub_grp_init(&g, p, s->n, d->info.out_max_members, d->info.out_max_lines);
	ub_bar_init(&s->bar, &g, NULL, s->rank, epoch);
	/* A world, or what may become one. */
	if (!s->outer || s->outer == s->ctx->job)
		ub_dev_show_cpus(s);
	return 0;
}

static void destroy(struct ub_dev *d, uint32_t handle)
{
	struct ub_group_id id = { .size = sizeof(id), .group = handle };

	ub_dev_call(d, UB_IOC_GROUP_DESTROY, &id);
}

static int verdict_of(struct ub_scope *s)
{
	return ub_bar_verdict(&s->bar, UB_EPOCH_MAX) ? -EOWNERDEAD :
		ub_fail(-EPROTO, "%s: lost a member, but no verdict stands",
			s->level_name);
}

static int dev_group_create(struct ub_scope *s, const uint64_t key[2])
{
	struct ub_dev *d = ub_dev_of(s);
	struct ub_member *table = calloc(s->n, sizeof(*table));
	int ms = s->outer || s->timeout_ms > s->ctx->start_ms ?
		 s->timeout_ms : s->ctx->start_ms;
	struct ub_group_create a = {
		.size = sizeof(a),
		.flags = (by_kernel(d) ? 0 : UB_GROUP_USER_DRIVER) |
			 (s->outer ? 0 : UB_GROUP_WORLD),
		.key = { key[0], key[1] },
		.timeout = ms ? ub_now() + ms * 1000000ULL : UB_FOREVER,
		.out_table = (uintptr_t)table,
		.nmembers = s->n,
		.index = s->rank,
	};
	int err, mapped;

	if (!table)
		return ub_fail(-ENOMEM, "no memory");
	if (s->outer) {
		a.members = (uintptr_t)s->outer_rank;
		a.parent = s->outer->handle;
	} else {
		a.shape = s->ctx->machine.shape;
	}
	memcpy(a.level, s->level_name, sizeof(a.level));
	err = ub_dev_call(d, UB_IOC_GROUP_CREATE, &a);
	if (err && err != -EOWNERDEAD) {
		free(table);
		return create_error(s, &a, err);
	}
	s->handle = a.out_group;
	mapped = attach_group(s, a.out_offset, a.out_map_size, a.out_epoch, table);
	free(table);
	if (mapped) {
		destroy(d, s->handle);
		return mapped;
	}
	return err ? verdict_of(s) : 0;
}

/* A world that is on its way out may be in the way for a moment. */
#define UB_ABSENT_NS	20000000ULL

static int dev_absent(struct ub_ctx *ctx, int rank)
{
	struct ub_group_create a = {
		.size = sizeof(a),
		.flags = UB_GROUP_WORLD | UB_GROUP_ABSENT,
		.key = { ctx->key[0], ctx->key[1] },
		.timeout = ub_now() + UB_ABSENT_NS,
		.nmembers = ctx->nranks,
		.index = rank,
		.shape = ctx->machine.shape,
	};
	int err = ub_dev_call(ctx->priv, UB_IOC_GROUP_CREATE, &a);

	return err && err != -EEXIST ?
	       ub_fail(err, "cannot tell the others of rank %d: %s", rank,
		       strerror(-err)) : 0;
}

static void dev_group_leave(struct ub_scope *s)
{
	munmap(s->map, s->map_size);
	destroy(ub_dev_of(s), s->handle);
}

/* Survivors are members of @old, in its order: who is who by the tables. */
static void match(struct ub_scope *s, const struct ub_scope *old,
		  const struct ub_member *table)
{
	const struct ub_member *was = old->table;
	uint32_t i, j = 0;

	for (i = 0; i < s->n; i++, j++) {
		while (j < old->n && memcmp(&was[j], &table[i], sizeof(*was)))
			j++;
		s->outer_rank[i] = j < old->n ? j : 0;
		s->world_rank[i] = old->world_rank[s->outer_rank[i]];
	}
}

static int dev_group_shrink(struct ub_scope *old, struct ub_scope **out)
{
	struct ub_dev *d = ub_dev_of(old);
	struct ub_member *table = calloc(old->n, sizeof(*table));
	struct ub_group_shrink a = {
		.size = sizeof(a),
		.group = old->handle,
		.timeout = ub_deadline(old),
		.out_table = (uintptr_t)table,
	};
	struct ub_scope *s;
	int err, mapped;

	if (!table)
		return ub_fail(-ENOMEM, "no memory");
	err = ub_dev_call(d, UB_IOC_GROUP_SHRINK, &a);
	if (err && err != -EOWNERDEAD) {
		free(table);
		return ub_fail(err, "%s: cannot shrink: %s", old->level_name,
			       strerror(-err));
	}
	s = ub_scope_alloc(old->ctx, old, a.out_nmembers, a.out_index, old->level,
			   old->level_name);
	if (!s) {
		destroy(d, a.out_group);
		free(table);
		return ub_fail(-ENOMEM, "no memory");
	}
	s->handle = a.out_group;
	match(s, old, table);
	mapped = attach_group(s, a.out_offset, a.out_map_size, a.out_epoch, table);
	free(table);
	*out = s;
	if (mapped) {
		destroy(d, s->handle);
		return mapped;
	}
	return err ? verdict_of(s) : 0;
}

/* ---- waiting ---- */

/* Wait, or look once; what UB_IOC_BARRIER tells becomes the engine's state. */
static int dev_await(struct ub_scope *s, uint32_t flags, uint64_t deadline)
{
	struct ub_bar *b = &s->bar;
	struct ub_barrier a = {
		.size = sizeof(a),
		.flags = flags,
		.group = s->handle,
		.timeout = deadline,
	};
	int err = ub_dev_call(ub_dev_of(s), UB_IOC_BARRIER, &a);

	switch (err) {
	case -EINVAL:
		if (a.out_epoch != b->epoch)
			return ub_fail(err, "%s: the kernel refuses the wait",
				       s->level_name);
		/* Members differ in the operation. */
		fallthrough;
	case 0:
		/* The kernel ran the rest of the rounds. */
		b->round = b->sched ? b->sched->nrounds : 0;
		b->sum.full = a.value;
		b->sum.aux = (uint64_t)b->op << UB_AUX_OP_SHIFT |
			     (a.out_last & UB_AUX_GIVEN_MASK) |
			     (err ? UB_AUX_MIXED : 0);
		return 0;
	case -EOWNERDEAD:
		if (ub_bar_verdict(b, b->epoch))
			return err;
		b->round = b->sched ? b->sched->nrounds : 0;
		b->sum.aux |= UB_AUX_WINLOST;
		return 0;
	case -ETIMEDOUT:
		return ub_late_error(s, a.out_lost.heartbeat_age_ns);
	case -EAGAIN:
		return err;
	case -ESTALE:
		if (ub_bar_verdict(b, b->epoch))
			return -EOWNERDEAD;
		fallthrough;
	default:
		return ub_fail(err, "%s: waiting in the kernel: %s",
			       s->level_name, strerror(-err));
	}
}

static int dev_sleep(struct ub_scope *s, uint64_t deadline)
{
	return dev_await(s, UB_BARRIER_WAIT |
			 (s->by_kernel ? 0 : UB_BARRIER_HANDOVER |
			  UB_BARRIER_SLEEP), deadline);
}

static int dev_test(struct ub_scope *s)
{
	return dev_await(s, UB_BARRIER_TEST, UB_NEVER);
}

static int dev_arrive(struct ub_scope *s, uint32_t op, uint64_t value,
		      uint64_t last)
{
	struct ub_barrier a = {
		.size = sizeof(a),
		.flags = UB_BARRIER_ARRIVE,
		.group = s->handle,
		.op = op,
		.value = value,
		.last = last,
	};
	int err = ub_dev_call(ub_dev_of(s), UB_IOC_BARRIER, &a);

	if (err == -EOWNERDEAD && !ub_bar_verdict(&s->bar, UB_EPOCH_MAX))
		return -EPROTO;
	if (err)
		return err;
	s->bar.epoch = a.out_epoch;
	s->bar.op = op;
	return 0;
}

static void dev_kick(struct ub_scope *s)
{
	struct ub_group_id id = { .size = sizeof(id), .group = s->handle };
	uint32_t i;

	for (i = 0; i < s->n; i++) {
		if (ub_ld(&s->bar.g.line[i].sleeping)) {
			ub_dev_call(ub_dev_of(s), UB_IOC_KICK, &id);
			return;
		}
	}
}

/* The kernel's tick fences the members of lost nodes and lanes. */
static void dev_look(struct ub_scope *s)
{
	s->look = ub_now() + UB_DEV_LOOK_NS;
}

const struct ub_backend ub_backend_dev = {
	.name = "dev",
	.open = dev_open,
	.close = dev_close,
	.absent = dev_absent,
	.group_create = dev_group_create,
	.group_shrink = dev_group_shrink,
	.group_leave = dev_group_leave,
	.sleep = dev_sleep,
	.arrive = dev_arrive,
	.test = dev_test,
	.kick = dev_kick,
	.look = dev_look,
	.win_alloc = ub_dev_win_alloc,
	.win_describe = ub_dev_win_describe,
	.win_attach = ub_dev_win_attach,
	.win_move = ub_dev_win_move,
	.win_again = ub_dev_win_again,
	.win_free = ub_dev_win_free,
	.win_room = ub_dev_win_room,
	.put = ub_dev_put,
	.get = ub_dev_get,
	.atomic = ub_dev_atomic,
	.crowd = ub_dev_crowd,
};
