// SPDX-License-Identifier: MIT
/*
 * Device back end: windows. A member creates its part and tells descriptor and token;
 * the others attach it. Each part is mapped at its global address.
 */
#include "internal.h"
#include "backend.h"
#include "dev.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct dev_desc {
	struct ub_win_desc desc;
	uint64_t token[2];
};

_Static_assert(sizeof(struct dev_desc) <= UB_WIN_MAIL, "fits a mailbox");

static void *map_window(struct ub_win *w, uint64_t gva, uint64_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
		       ub_dev_of(w->scope)->fd, gva);

	return p == MAP_FAILED ? NULL : p;
}

int ub_dev_win_alloc(struct ub_win *w, size_t bytes)
{
	struct ub_dev *d = ub_dev_of(w->scope);
	struct ub_win_create *a;
	uint32_t me = w->scope->rank;
	int err;

	w->size[me] = bytes;
	if (!bytes)
		return 0;
	a = calloc(1, sizeof(*a));
	if (!a)
		return ub_fail(-ENOMEM, "no memory");
	a->size = sizeof(*a);
	a->length = bytes;
	a->rights = UB_WIN_RIGHTS;
	err = ub_dev_call(d, UB_IOC_WIN_CREATE, a);
	if (err) {
		struct ub_info now = { .size = sizeof(now) };

		free(a);
		ub_dev_call(d, UB_IOC_INFO, &now);
		return ub_fail(err,
			       "a window of %zu bytes on node %u: %s; %llu of %llu bytes of its slice are free",
			       bytes,
			       d->info.out_node, strerror(-err),
			       (unsigned long long)now.out_free,
			       (unsigned long long)now.out_slice);
	}
	w->own = a;
	w->handle[me] = a->out_desc.gva;
	w->peer[me] = map_window(w, a->out_desc.gva, bytes);
	if (!w->peer[me])
		return ub_fail(-errno, "%s: cannot map the own window: %s", d->path,
			       strerror(errno));
	return 0;
}

void ub_dev_win_describe(struct ub_win *w, void *mail)
{
	const struct ub_win_create *a = w->own;
	struct dev_desc m = { 0 };

	if (a) {
		m.desc = a->out_desc;
		m.token[0] = a->out_token[0];
		m.token[1] = a->out_token[1];
	}
	memcpy(mail, &m, sizeof(m));
}

/* Attach by what the member wrote; 0 as well when it has no part. */
static int attach_by(struct ub_win *w, uint32_t rank, const struct dev_desc *m)
{
	struct ub_scope *s = w->scope;
	struct ub_win_attach a = {
		.size = sizeof(a),
		.rights = UB_WIN_RIGHTS,
		.desc = m->desc,
		.token = { m->token[0], m->token[1] },
	};
	int err = m->desc.length ? ub_dev_call(ub_dev_of(s), UB_IOC_WIN_ATTACH, &a) : 0;

	/* Nobody frees a window alone: its process has ended. */
	if (err == -ESTALE)
		err = -EOWNERDEAD;
	if (err && err != -EEXIST)
		return ub_fail(err,
			       "%s: cannot attach the window of rank %u (node %u): %s",
			       s->level_name, rank, s->node[rank],
			       strerror(-err));
	return 0;
}

int ub_dev_win_attach(struct ub_win *w, uint32_t rank, const void *mail)
{
	struct ub_scope *s = w->scope;
	struct dev_desc m;
	int err;

	memcpy(&m, mail, sizeof(m));
	err = attach_by(w, rank, &m);
	if (err || !m.desc.length)
		return err;
	w->handle[rank] = m.desc.gva;
	w->size[rank] = m.desc.length;
	w->peer[rank] = map_window(w, m.desc.gva, m.desc.length);
	if (!w->peer[rank])
		return ub_fail(errno == ESTALE ? -EOWNERDEAD : -errno,
			       "%s: cannot map the window of rank %u (node %u): %s",
			       s->level_name, rank, s->node[rank],
			       strerror(errno));
	ub_quiet_map(w, rank);
	return 0;
}

int ub_dev_win_move(struct ub_win *w)
{
	struct ub_win_create *own = w->own;
	struct ub_win_id id = { .size = sizeof(id), .flags = UB_ROTATE_FRESH };
	int err;

	if (!own)
		return 0;
	id.window = own->out_desc.window;
	err = ub_dev_call(ub_dev_of(w->scope), UB_IOC_WIN_ROTATE, &id);
	if (err)
		return ub_fail(err, "cannot move a window of %llu bytes to other memory: %s",
			       (unsigned long long)own->length, strerror(-err));
	own->out_desc.generation = id.out_generation;
	memcpy(own->out_token, id.out_token, sizeof(own->out_token));
	return 0;
}

/* The mapping is of the address, which the window keeps. */
int ub_dev_win_again(struct ub_win *w, uint32_t rank, const void *mail)
{
	struct dev_desc m;
	int err;

	memcpy(&m, mail, sizeof(m));
	if (m.desc.gva != w->handle[rank])
		return ub_fail(-EPROTO, "rank %u moved its window to another address", rank);
	err = attach_by(w, rank, &m);
	if (!err)
		ub_quiet_map(w, rank);
	return err;
}

void ub_dev_win_free(struct ub_win *w, bool used)
{
	struct ub_dev *d = ub_dev_of(w->scope);
	uint32_t me = w->scope->rank, i;

	ub_quiet_unmap(w);
	for (i = 0; i < w->scope->n; i++) {
		struct ub_win_detach a = { .size = sizeof(a), .gva = w->handle[i] };

		if (w->peer[i])
			munmap(w->peer[i], w->size[i]);
		if (i != me && w->handle[i])
			ub_dev_call(d, UB_IOC_WIN_DETACH, &a);
	}
	/* What others may still map goes when the device is closed. */
	if (w->own && !used) {
		const struct ub_win_create *c = w->own;
		struct ub_win_id id = {
			.size = sizeof(id), .window = c->out_desc.window,
		};

		ub_dev_call(d, UB_IOC_WIN_DESTROY, &id);
	}
	free(w->own);
}

/* Real memory of the node, shared by its lanes and by other jobs. */
#define UB_DEV_BUFFERS	(8ULL << 20)

uint64_t ub_dev_win_room(struct ub_ctx *ctx)
{
	struct ub_info now = { .size = sizeof(now) };
	uint64_t room;

	if (ub_dev_call(ctx->priv, UB_IOC_INFO, &now))
		return 0;
	room = now.out_free / 16;
	return room < UB_DEV_BUFFERS ? room : UB_DEV_BUFFERS;
}
