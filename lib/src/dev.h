/* SPDX-License-Identifier: MIT */
/* Device back end: what its files share. */
#ifndef UB_DEV_H
#define UB_DEV_H

#include "internal.h"

/**
 * struct ub_dev - what the back end has for a context
 * @fd: the open device: this rank's lane
 * @path: of it
 * @info: what it said of itself
 * @blanks: number of blank pages that quiet mappings met, or NULL: none can be made
 */
struct ub_dev {
	int fd;
	const char *path;
	struct ub_info info;
	const uint64_t *blanks;
};

/**
 * struct ub_quiet - a member's part of a window, mapped quietly
 * @at: there, or NULL
 * @seen: the number of blank pages that none in here can be among
 */
struct ub_quiet {
	char *at;
	uint64_t seen;
};

static inline struct ub_dev *ub_dev_of(const struct ub_scope *s)
{
	return s->ctx->priv;
}

/** ub_dev_call() - an ioctl, again after EINTR; 0 or a negative errno */
int ub_dev_call(struct ub_dev *d, unsigned long cmd, void *arg);

/* dev_xfer.c, see struct ub_backend */
int ub_dev_put(struct ub_win *w, uint32_t rank, size_t off, const void *src,
	       size_t len);
int ub_dev_get(struct ub_win *w, uint32_t rank, size_t off, void *dst,
	       size_t len);
int ub_dev_atomic(struct ub_win *w, uint32_t rank, size_t off, int width,
		  enum ub_atomic_op what, uint64_t operand, uint64_t compare,
		  uint64_t *old);

/* dev_win.c, likewise */
int ub_dev_win_alloc(struct ub_win *w, size_t bytes);
void ub_dev_win_describe(struct ub_win *w, void *mail);
int ub_dev_win_attach(struct ub_win *w, uint32_t rank, const void *mail);
int ub_dev_win_move(struct ub_win *w);
int ub_dev_win_again(struct ub_win *w, uint32_t rank, const void *mail);
void ub_dev_win_free(struct ub_win *w, bool used);
uint64_t ub_dev_win_room(struct ub_ctx *ctx);

/* ---- dev_quiet.c ---- */
void ub_quiet_open(struct ub_dev *d);
void ub_quiet_close(struct ub_dev *d);
/** ub_quiet_map() - map the part of @rank, or map it anew; it may stay unmapped */
void ub_quiet_map(struct ub_win *w, uint32_t rank);
/** ub_quiet_drop() - it is gone: whoever was told is not to be told otherwise */
void ub_quiet_drop(struct ub_win *w, uint32_t rank);
void ub_quiet_unmap(struct ub_win *w);

/* ---- dev_cpus.c ---- */
/** ub_dev_show_cpus() - tell the members of a world which CPUs this one may use */
void ub_dev_show_cpus(const struct ub_scope *w);
int ub_dev_crowd(struct ub_ctx *ctx);

#endif /* UB_DEV_H */
