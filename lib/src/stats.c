// SPDX-License-Identifier: MIT
/*
 * Accounting per level, and its table.
 *
 * A barrier reads no clock unless it waits. What a scope's member computed is
 * what is left of the time since the scope was made, without waiting and moving.
 */
#include "internal.h"
#include <stdlib.h>
#include <string.h>

static uint64_t get(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

void ub_count_scope(struct ub_count *to, const struct ub_scope *s)
{
	uint64_t move = get(&s->count.move), wait = get(&s->count.wait);
	uint64_t mirror = get(&s->count.mirror);
	uint64_t steps = __atomic_load_n(&s->bar.epoch, __ATOMIC_RELAXED) - s->first;

	if (!s->timing)
		return;
	to->supersteps += steps;
	to->bytes += get(&s->count.bytes);
	to->compute += ub_elapsed(move + wait + mirror,
				  ub_elapsed(s->opened, ub_ticks()));
	to->move += move;
	to->wait += wait;
	to->checkpoints += get(&s->count.checkpoints);
	to->mirror_bytes += get(&s->count.mirror_bytes);
	to->mirror += mirror;
	to->late += get(&s->waited[s->rank]);
}

static int levels(const struct ub_ctx *ctx)
{
	return ctx->machine.shape.nlevels + 3;
}

static void level_name(const struct ub_ctx *ctx, int i, char name[UB_NAME_LEN])
{
	const char *n = "split";

	if (!i)
		n = "world";
	else if (i == levels(ctx) - 2)
		n = "node";
	else if (i < levels(ctx) - 2)
		n = ctx->machine.name[i - 1];
	snprintf(name, UB_NAME_LEN, "%s", n);
}

static struct ub_count level_count(struct ub_ctx *ctx, int i)
{
	const struct ub_scope *s;
	struct ub_count c;

	pthread_mutex_lock(&ctx->lock);
	c = ctx->retired[i];
	for (s = ctx->scopes; s; s = s->next)
		if (s->level == i)
			ub_count_scope(&c, s);
	pthread_mutex_unlock(&ctx->lock);
	return c;
}

int ub_stats(struct ub_ctx *ctx, int i, struct ub_level_stats *st)
{
	struct ub_count c;

	if (i < 0 || i >= levels(ctx))
		return -ENOENT;
	c = level_count(ctx, i);
	*st = (struct ub_level_stats){
		.supersteps = c.supersteps,
		.bytes = c.bytes,
		.compute_ns = ub_ticks_ns(c.compute),
		.move_ns = ub_ticks_ns(c.move),
		.wait_ns = ub_ticks_ns(c.wait),
		.checkpoints = c.checkpoints,
		.mirror_bytes = c.mirror_bytes,
		.mirror_ns = ub_ticks_ns(c.mirror),
	};
	level_name(ctx, i, st->level);
	return 0;
}

uint64_t ub_waited_for(const struct ub_scope *s, int rank)
{
	if (rank < 0 || (uint32_t)rank >= s->n)
		return 0;
	return get(&s->waited[rank]);
}

/* What each rank brings to the table, for one level. */
struct row {
	uint64_t supersteps;
	uint64_t bytes;
	uint64_t compute_ns;
	uint64_t move_ns;
	uint64_t wait_ns;
	uint64_t checkpoints;
	uint64_t mirror_bytes;
	uint64_t mirror_ns;
	uint64_t late;
};

static void print_level(const char *name, const struct row *rows, int n,
			size_t stride, FILE *out)
{
	struct row sum = { 0 };
	double all;
	int r;

	for (r = 0; r < n; r++) {
		const struct row *w = rows + r * stride;

		sum.supersteps = w->supersteps > sum.supersteps ? w->supersteps :
				 sum.supersteps;
		sum.bytes += w->bytes;
		sum.compute_ns += w->compute_ns;
		sum.move_ns += w->move_ns;
		sum.wait_ns += w->wait_ns;
		sum.mirror_ns += w->mirror_ns;
	}
	if (!sum.supersteps)
		return;
	all = sum.compute_ns + sum.move_ns + sum.wait_ns + sum.mirror_ns;
	all = all > 0 ? all : 1;
	fprintf(out, "%-12s %10llu %14llu %12.3f %12.3f %12.3f %5.1f%%\n", name,
		(unsigned long long)sum.supersteps,
		(unsigned long long)sum.bytes, sum.compute_ns / 1e6 / n,
		sum.move_ns / 1e6 / n, sum.wait_ns / 1e6 / n,
		100 * sum.wait_ns / all);
}

/* What the mirrors cost; nothing where there are none. */
static void print_mirrors(const char *name, const struct row *rows, int n,
			  size_t stride, FILE *out)
{
	uint64_t count = 0, bytes = 0, mirror = 0, all = 1;
	int r;

	for (r = 0; r < n; r++) {
		const struct row *w = rows + r * stride;

		count = w->checkpoints > count ? w->checkpoints : count;
		bytes += w->mirror_bytes;
		mirror += w->mirror_ns;
		all += w->compute_ns + w->move_ns + w->wait_ns + w->mirror_ns;
	}
	if (count)
		fprintf(out,
			"mirrors of %s: %llu checkpoints, %llu bytes, %.3f ms, %.1f%% of the time\n",
			name, (unsigned long long)count,
			(unsigned long long)bytes, mirror / 1e6 / n,
			100.0 * mirror / all);
}

static void print_late(const char *name, const struct row *rows, int n,
		       size_t stride, FILE *out)
{
	uint64_t sum = 0;
	int r;

	for (r = 0; r < n; r++)
		sum += rows[r * stride].late;
	if (!sum)
		return;
	fprintf(out, "%-12s", name);
	for (r = 0; r < n; r++)
		if (rows[r * stride].late)
			fprintf(out, " %d:%llu (%.0f%%)", r,
				(unsigned long long)rows[r * stride].late,
				100.0 * rows[r * stride].late / sum);
	fputc('\n', out);
}

static void print(const struct ub_ctx *ctx, const struct row *all, int n, FILE *out)
{
	size_t stride = levels(ctx);
	char name[UB_NAME_LEN];
	int i;

	fprintf(out, "%-12s %10s %14s %12s %12s %12s %6s\n", "level",
		"supersteps", "bytes", "compute ms", "move ms", "wait ms", "wait");
	for (i = 0; i < levels(ctx); i++) {
		level_name(ctx, i, name);
		print_level(name, all + i, n, stride, out);
	}
	for (i = 0; i < levels(ctx); i++) {
		level_name(ctx, i, name);
		print_mirrors(name, all + i, n, stride, out);
	}
	fprintf(out, "barriers that waited for a rank, by level:\n");
	for (i = 0; i < levels(ctx); i++) {
		level_name(ctx, i, name);
		print_late(name, all + i, n, stride, out);
	}
	fflush(out);
}

int ub_stats_print(struct ub_ctx *ctx, FILE *out)
{
	struct ub_scope *w = ctx->world;
	size_t n = levels(ctx), i;
	struct row *own, *all;
	int err;

	while (w->heir)
		w = w->heir;
	own = calloc(n, sizeof(*own));
	all = calloc(n * w->n, sizeof(*all));

	if (!own || !all) {
		err = ub_fail(-ENOMEM, "no memory");
		goto out;
	}
	for (i = 0; i < n; i++) {
		struct ub_count c = level_count(ctx, i);

		own[i] = (struct row){
			.supersteps = c.supersteps,
			.bytes = c.bytes,
			.compute_ns = ub_ticks_ns(c.compute),
			.move_ns = ub_ticks_ns(c.move),
			.wait_ns = ub_ticks_ns(c.wait),
			.checkpoints = c.checkpoints,
			.mirror_bytes = c.mirror_bytes,
			.mirror_ns = ub_ticks_ns(c.mirror),
			.late = c.late,
		};
	}
	err = ub_allgather(w, own, n * sizeof(*own), all);
	if (!err && !w->rank)
		print(ctx, all, w->n, out);
out:
	free(own);
	free(all);
	return err;
}
