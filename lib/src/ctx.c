// SPDX-License-Identifier: MIT
/* Joining and leaving a fabric; what the environment says. */
#include "internal.h"
#include "absent.h"
#include "backend.h"
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UB_START_MS	60000

int ub_env_int(const char *name, long min, long max, long def, long *value)
{
	const char *text = getenv(name);
	char *end;
	long v;

	*value = def;
	if (!text || !*text)
		return 0;
	errno = 0;
	v = strtol(text, &end, 10);
	if (errno || *end || v < min || v > max)
		return ub_fail(-EINVAL, "%s=%s: give a number from %ld to %ld",
			       name, text, min, max);
	*value = v;
	return 0;
}

/* Rank, size and node: from the options when they have a size, else the launcher's. */
static int place(struct ub_ctx *ctx, const struct ub_opts *o)
{
	long rank = o->rank, size = o->nranks, node = o->node, spares = o->spares;
	int err = 0;

	if (!size) {
		err = ub_env_int("UB_SIZE", 1, 1 << 20, 1, &size);
		if (!err)
			err = ub_env_int("UB_RANK", 0, 1 << 20, 0, &rank);
		if (!err)
			err = ub_env_int("UB_SPARES", 0, 1 << 20, 0, &spares);
		if (!err)
			err = ub_env_int("UB_NODE", 0, (1 << UB_NODE_BITS) - 1, 0,
					 &node);
	}
	if (err)
		return err;
	if (size < 1 || spares < 0 || rank < 0 || rank >= size + spares)
		return ub_fail(-EINVAL, "rank %ld of %ld ranks and %ld spares",
			       rank, size, spares);
	if (node < 0 || node >= 1 << UB_NODE_BITS)
		return ub_fail(-EINVAL, "node id %ld; it has %d bits", node,
			       UB_NODE_BITS);
	ctx->rank = rank;
	ctx->nranks = size + spares;
	ctx->spares = spares;
	ctx->own_node = node;
	return 0;
}

/* A job's key is up to 32 hex digits; other texts are hashed. */
static void parse_key(const char *text, uint64_t key[2])
{
	const char *p = text;
	int i;

	key[0] = key[1] = 0;
	if (!text)
		return;
	for (; *p && p - text < 32 && strchr("0123456789abcdefABCDEF", *p); p++) {
		int digit = *p <= '9' ? *p - '0' : (*p | 0x20) - 'a' + 10;

		key[0] = key[0] << 4 | key[1] >> 60;
		key[1] = key[1] << 4 | digit;
	}
	if (!*p)
		return;
	for (i = 0, p = text; *p; p++, i ^= 1)
		key[i] = (key[i] ^ (unsigned char)*p) * 0x100000001b3ULL;
}

static int read_opts(struct ub_ctx *ctx, const struct ub_opts *o)
{
	const char *job = o->job ? o->job : getenv("UB_JOB");
	const char *file = o->machine ? o->machine : getenv("UB_MACHINE");
	long timeout = o->timeout_ms, stats = 1, start;
	int err = place(ctx, o);

	if (!err)
		err = ub_env_int("UB_START_MS", 0, 1L << 30, UB_START_MS, &start);
	if (!err && !timeout)
		err = ub_env_int("UB_TIMEOUT_MS", 0, 1L << 30, 0, &timeout);
	if (!err && !o->stats)
		err = ub_env_int("UB_STATS", 0, 1, 1, &stats);
	if (err)
		return err;
	ctx->timeout_ms = timeout < 0 ? 0 : timeout;
	ctx->start_ms = start;
	ctx->timing = o->stats ? o->stats > 0 : stats;
	parse_key(job, ctx->key);
	err = ub_machine_read(&ctx->machine, file);
	return err ? err : ub_machine_map(&ctx->machine, "UB_LEVEL_MAP",
					  getenv("UB_LEVEL_MAP"));
}

/* "host" where a launcher or the caller gave memory, or for one rank alone. */
static const struct ub_backend *choose(struct ub_ctx *ctx,
				       const struct ub_opts *o)
{
	const char *f = o->fabric ? o->fabric : getenv("UB_FABRIC");

	if (f && *f) {
		if (!strcmp(f, "host"))
			return &ub_backend_host;
		ctx->fabric = strcmp(f, "dev") ? f : NULL;
		return &ub_backend_dev;
	}
	if (o->host_arena || getenv("UB_HOST_FD") || ctx->nranks == 1 ||
	    access("/dev/ubfab0", F_OK))
		return &ub_backend_host;
	return &ub_backend_dev;
}

static int prepare(struct ub_ctx *ctx)
{
	pthread_mutex_init(&ctx->lock, NULL);
	ctx->alive = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ctx->alive == MAP_FAILED) {
		ctx->alive = NULL;
		return ub_fail(-ENOMEM, "no memory");
	}
	madvise(ctx->alive, getpagesize(), MADV_WIPEONFORK);
	*ctx->alive = 1;
#ifndef __SANITIZE_THREAD__
	ctx->biased = !syscall(SYS_membarrier,
			       MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
#endif
	return 0;
}

static void ctx_free(struct ub_ctx *ctx)
{
	if (ctx->alive)
		munmap(ctx->alive, getpagesize());
	pthread_mutex_destroy(&ctx->lock);
	free(ctx->place);
	free(ctx);
}

static int make_world(struct ub_ctx *ctx)
{
	struct ub_scope *w = ub_scope_alloc(ctx, NULL, ctx->nranks, ctx->rank, 0,
					    ctx->spares ? "job" : "world");
	uint32_t i;
	int err;

	if (!w)
		return ub_fail(-ENOMEM, "no memory");
	for (i = 0; i < w->n; i++)
		w->outer_rank[i] = w->world_rank[i] = i;
	err = ub_scope_make(w, ctx->key);
	if (err == -EOWNERDEAD)
		ub_scope_drop(w);
	if (err)
		return err;
	if (ctx->spares)
		return ub_job_begin(ctx, w);
	ctx->world = w;
	return 0;
}

/* A context whose back end is chosen; *@out is NULL after an error. */
static int ctx_make(struct ub_ctx **out, const struct ub_opts *o)
{
	struct ub_ctx *ctx = calloc(1, sizeof(*ctx));
	int err;

	*out = NULL;
	if (!ctx)
		return ub_fail(-ENOMEM, "no memory");
	err = prepare(ctx);
	if (!err)
		err = read_opts(ctx, o);
	if (err) {
		ctx_free(ctx);
		return err;
	}
	ctx->be = choose(ctx, o);
	*out = ctx;
	return 0;
}

int ub_init(struct ub_ctx **out, const struct ub_opts *opts)
{
	struct ub_opts o = { 0 };
	struct ub_ctx *ctx;
	int err;

	if (!out)
		return ub_fail(-EINVAL, "ub_init(): no place for the context");
	*out = NULL;
	if (opts) {
		if (opts->size < offsetof(struct ub_opts, fabric))
			return ub_fail(-EINVAL,
				       "ub_init(): set ub_opts.size to sizeof(struct ub_opts)");
		memcpy(&o, opts, opts->size < sizeof(o) ? opts->size : sizeof(o));
	}
	ub_clock_init();
	err = ctx_make(&ctx, &o);
	if (err)
		return err;
	err = ctx->be->open(ctx, &o);
	if (err) {
		ctx_free(ctx);
		return err;
	}
	err = make_world(ctx);
	if (err) {
		ub_fini(ctx);
		return err;
	}
	*out = ctx;
	return 0;
}

int ub_absent(int rank, struct ub_ctx **keep)
{
	const struct ub_opts o = { 0 };
	struct ub_ctx *ctx = *keep;
	int err;

	if (!ctx) {
		ub_clock_init();
		err = ctx_make(&ctx, &o);
		if (err)
			return err;
		if (!ctx->be->absent) {
			ctx_free(ctx);
			return 0;
		}
		err = ctx->be->open(ctx, &o);
		if (err) {
			ctx_free(ctx);
			return err;
		}
		*keep = ctx;
	}
	return ctx->be->absent(ctx, rank < 0 ? ctx->rank : rank);
}

void ub_fini(struct ub_ctx *ctx)
{
	bool forked;

	if (!ctx)
		return;
	forked = !*ctx->alive;
	if (ctx->job && !forked)
		ub_job_done(ctx);
	while (ctx->scopes) {
		struct ub_scope *s = ctx->scopes;

		if (!forked) {
			ub_scope_drop(s);
			continue;
		}
		ctx->scopes = s->next;
		ub_scope_free(s);
	}
	ctx->be->close(ctx, forked);
	ctx_free(ctx);
}

struct ub_scope *ub_world(struct ub_ctx *ctx)
{
	return ctx->world;
}

const char *ub_backend(const struct ub_ctx *ctx)
{
	return ctx->be->name;
}
