/* SPDX-License-Identifier: GPL-2.0-only */
/* Windows that this node exports, and windows of any node as a file uses them. */
#ifndef UB_WINDOW_H
#define UB_WINDOW_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/types.h>
#include <ub/ub.h>

struct ub_fabric;
struct ub_file;
struct ub_shm_window;

/* See ub_window.peer. */
struct ub_pass {
	u64 incarnation;
	u64 heartbeat;
};

/**
 * struct ub_window - an own window, live or in quarantine
 * @link: in ub_file.windows, then in ub_fabric.quarantine
 * @file: the lane that made it; NULL in quarantine
 * @id: index of its record
 * @rights: the most that attachments get; 0 in quarantine
 * @gva: global address
 * @length: bytes
 * @generation: of the record
 * @incarnation: of this node when it was made
 * @unit: first 64 KiB unit of the slice
 * @nunits: number of them
 * @peer: what peers must have passed before the memory is used again:
 *	incarnation (0: nothing to wait for) and heartbeat
 */
struct ub_window {
	struct list_head link;
	struct ub_file *file;
	u32 id;
	u32 rights;
	u64 gva;
	u64 length;
	u64 generation;
	u64 incarnation;
	u32 unit;
	u32 nunits;
	struct ub_pass peer[];
};

/**
 * struct ub_place - a window, as its home knows it
 * @gva: global address
 * @length: bytes
 * @offset: of its memory from fabric->mem, where the fabric has one memory;
 *	checked against the home's slice
 * @generation: that was attached
 * @incarnation: of the home
 * @home: record index of the home
 * @window: id there
 */
struct ub_place {
	u64 gva;
	u64 length;
	u64 offset;
	u64 generation;
	u64 incarnation;
	u32 home;
	u32 window;
};

static inline bool ub_same_place(const struct ub_place *a,
				 const struct ub_place *b)
{
	return a->gva == b->gva && a->generation == b->generation &&
	       a->incarnation == b->incarnation && a->home == b->home;
}

/**
 * struct ub_attachment - a window that a file may use
 * @node: in ub_file.attachments
 * @at: the window; its length is that of a mapping when rounded up to pages
 * @rights: of this attachment
 * @lost: its end was noticed and told
 * @dead: bytes could not be brought to it: it has ended on this node
 */
struct ub_attachment {
	struct rb_node node;
	struct ub_place at;
	u32 rights;
	bool lost;
	bool dead;
};

/* ---- window.c: own windows ---- */
long ub_win_create(struct ub_file *file, struct ub_win_create *arg);
long ub_win_destroy(struct ub_file *file, struct ub_win_id *arg);
long ub_win_rotate(struct ub_file *file, struct ub_win_id *arg);
void ub_win_hash(const u64 token[2], const u64 salt[2], u64 hash[4]);
void ub_win_release(struct ub_file *file);

/* ---- slice.c: their memory and records ---- */
struct ub_window *ub_win_alloc(struct ub_fabric *f, gfp_t gfp);
int ub_win_reserve(struct ub_file *file, struct ub_window *w);
void ub_win_zero(struct ub_fabric *f, struct ub_window *w);
int ub_win_move(struct ub_fabric *f, struct ub_window *w, struct ub_window *old);
void ub_win_renew(struct ub_fabric *f, struct ub_window *w, u64 token[2]);
void ub_win_end(struct ub_fabric *f, struct ub_window *w);
int ub_win_reset(struct ub_fabric *f);
void ub_win_tick(struct ub_fabric *f);
void ub_win_forget(struct ub_fabric *f);

/* ---- attach.c: windows of any node, as a file uses them ---- */
long ub_win_attach(struct ub_file *file, struct ub_win_attach *arg);
long ub_win_detach(struct ub_file *file, struct ub_win_detach *arg);
int ub_win_admit(struct ub_fabric *f, const struct ub_win_attach *arg,
		 u32 home, struct ub_shm_window *rec);
int ub_win_check(struct ub_fabric *f, const struct ub_attachment *a);
struct ub_attachment *ub_win_find(struct ub_file *file, u64 gva);
int ub_attach_insert(struct ub_file *file, struct ub_attachment *a);
void ub_attach_remove(struct ub_file *file, u64 gva);
void ub_attach_tick(struct ub_fabric *f);
void ub_win_node_down(struct ub_fabric *f, u32 index);

#endif /* UB_WINDOW_H */
