/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Layout of a coherent fabric's memory (an ivshmem BAR, or loop's pages).
 *
 *   0             struct ub_shm_header                    kernel only
 *   nodes_off     struct ub_shm_node   [max_nodes]        kernel only
 *   wins_off      struct ub_shm_window [max_nodes][max_wins]  kernel only
 *   recs_off      group records        [nslots]           kernel only
 *   pages_off     group pages          [nslots]           mapped by members
 *   slice_off     window memory        [max_nodes]        mapped by attachers
 *
 * All of it follows from the memory's size and UB_LAYOUT_VERSION, so two
 * nodes that initialise at once write the same. A node never uses a number
 * from the header without having computed the same itself.
 */
#ifndef UB_SHM_H
#define UB_SHM_H

#include <linux/types.h>
#include <ub/ub.h>
#include <ub/ub_layout.h>
#include "slots.h"

#define UB_SHM_MAX_NODES	64
#define UB_SHM_MAGIC	0x4255464142524943ULL	/* "CIRBAFUB" in memory order */

/* Header state word: {state:2, spare:14, nonce:48}. */
#define UB_SHM_STATE(w)		((w) >> 62)
#define UB_SHM_NONCE(w)		((w) & ((1ULL << 48) - 1))
#define UB_SHM_WORD(s, n)	((__u64)(s) << 62 | UB_SHM_NONCE(n))
#define UB_SHM_FRESH		0ULL
#define UB_SHM_INITIALISING	1ULL
#define UB_SHM_READY		2ULL

/**
 * struct ub_shm_header - first page of the memory
 * @magic: UB_SHM_MAGIC, stored before READY
 * @layout: UB_LAYOUT_VERSION
 * @state: changed by compare-and-swap only; when READY the low bits are the
 *	fabric generation: records of an older one count as empty
 * @size: of the memory
 * @fabric: the fabric's 128-bit id
 * @key: secret for computing group ids
 * @reserved: zero
 */
struct ub_shm_header {
	__u64 magic;
	__u64 layout;
	__u64 state;
	__u64 size;
	__u64 fabric[2];
	__u64 key[2];
	__u64 reserved[8];
};

/* Node word: {fenced:1, state:2 (0 empty, 1 claiming, 2 up, 3 left), spare:9,
 * node:20, nonce:32}. Claimed by compare-and-swap with a random nonce. A node
 * that finds itself fenced zaps its mappings and then sets state LEFT beside
 * the fenced bit: LEFT means that this life never touches the memory again.
 */
#define UB_NODE_FENCED		(1ULL << 63)
#define UB_NODE_STATE(w)	((w) >> 61 & 3)
#define UB_NODE_EMPTY		0ULL
#define UB_NODE_CLAIMING	1ULL
#define UB_NODE_UP		2ULL
#define UB_NODE_LEFT		3ULL
#define UB_NODE_WORD(state, node, nonce) \
	((__u64)(state) << 61 | (__u64)((node) & 0xfffff) << 32 | (__u32)(nonce))
#define UB_NODE_ID(w)		((__u32)((w) >> 32) & 0xfffff)

/**
 * struct ub_shm_node - record of a node, one line of words plus one heartbeat
 * @word: UB_NODE_*
 * @incarnation: rises at each attach of the node id
 * @generation: fabric generation in which it was claimed
 * @bell: where doorbells go (ivshmem: IVPosition), transport's own coding
 * @reason: why it was fenced, enum ub_reason
 * @poke: set by peers before a ring that asks for a tick at once
 * @memtype: enum ub_memtype of its mapping, for those who look in
 * @reserved: zero
 * @heartbeat: rises at each tick of the node; on a line of its own
 * @reserved2: zero
 */
struct ub_shm_node {
	__u64 word;
	__u64 incarnation;
	__u64 generation;
	__u64 bell;
	__u64 reason;
	__u64 poke;
	__u64 memtype;
	__u64 reserved;
	__u64 heartbeat;
	__u64 reserved2[7];
};

/**
 * struct ub_shm_window - record of a window, written by its home alone
 * @generation: odd while it changes, 0 when empty; even values are what
 *	descriptors carry. Rises at create, rotate, destroy, never falls
 * @gva: global address
 * @length: bytes
 * @offset: of its memory, from the start of the fabric's memory
 * @incarnation: of the home
 * @rights: UB_WIN_*; 0 with a length: destroyed, the memory in quarantine
 * @id: window id on its home
 * @salt: for the hash
 * @hash: keyed hash of the token, never the token
 * @reserved: zero
 */
struct ub_shm_window {
	__u64 generation;
	__u64 gva;
	__u64 length;
	__u64 offset;
	__u64 incarnation;
	__u32 rights;
	__u32 id;
	__u64 salt[2];
	__u64 hash[4];
	__u64 reserved[4];
};

/**
 * struct ub_shm_geo - where everything is, computed from the size alone
 * @size: of the memory
 * @max_nodes: node records
 * @max_wins: window records of each node
 * @max_members: of a group
 * @max_lines: flag lines of each member of a group
 * @nslots: group slots
 * @rec_stride: bytes from group record to group record
 * @map_size: of one group's pages
 * @nodes_off: node records
 * @wins_off: window records
 * @recs_off: group records
 * @pages_off: group pages
 * @slice_off: slices, 64 KiB aligned
 * @slice_size: of each node, 64 KiB aligned
 * @slice_stride: bytes from slice to slice; 0 where there is the own one only
 */
struct ub_shm_geo {
	u64 size;
	u32 max_nodes;
	u32 max_wins;
	u32 max_members;
	u32 max_lines;
	u32 nslots;
	u32 rec_stride;
	u64 map_size;
	u64 nodes_off;
	u64 wins_off;
	u64 recs_off;
	u64 pages_off;
	u64 slice_off;
	u64 slice_size;
	u64 slice_stride;
};

/* Start of a node's slice, from the start of the memory. */
static inline u64 ub_shm_slice(const struct ub_shm_geo *geo, u32 index)
{
	return geo->slice_off + index * geo->slice_stride;
}

#endif /* UB_SHM_H */
