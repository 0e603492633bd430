/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ub_rdma says on the wire. All numbers are little-endian.
 *
 * Two nodes have one connection: the one with the lower id calls. In the private
 * data of the call, and of its acceptance, goes a hello; a call that is refused
 * gets a refusal. Then messages, UB_RDMA_MSG_BYTES each, in either direction:
 *
 *	BEAT		I live				any message says so, too
 *	LEAVE		this life of mine is over
 *	POKE		look at the records at once
 *	ATTACH		token and rights	->	ATTACHED, as often as its
 *							keys need
 *	CHECK		which generation	->	WINDOW, with the tag
 *	WINDOW		a window has got that generation
 *	ATOMIC		on a word of a window	->	DONE
 *	MEMBER		all of a member of a group (told.h); may ask for MEMBERs
 *	REFUSED		that one cannot join
 *
 * A request has a tag below UB_RDMA_TAGS, which comes back in its answers. Bytes
 * of windows go by RDMA READ and WRITE, with global addresses, chunk by chunk, a
 * key each.
 *
 * Whoever reads a message takes nothing in it for granted: it may come from
 * anybody who can reach the port.
 */
#ifndef UB_RDMA_PROTO_H
#define UB_RDMA_PROTO_H

#include <linux/build_bug.h>
#include <linux/sizes.h>
#include <linux/types.h>
#include <ub/ub_layout.h>

#define UB_RDMA_MAGIC		0x414d44522d425521ULL	/* "!UB-RDMA" */
#define UB_RDMA_VERSION		2
#define UB_RDMA_PORT		21826
#define UB_RDMA_MSG_BYTES	384
#define UB_RDMA_TAGS		32	/* requests under way, each way */
#define UB_RDMA_CHUNK		SZ_2M	/* of a window, for each key */
#define UB_RDMA_CHUNK_PAGES	(UB_RDMA_CHUNK / SZ_4K)

/**
 * struct ub_rdma_hello - who calls, or accepts; at most 56 bytes
 * @magic: UB_RDMA_MAGIC
 * @version: UB_RDMA_VERSION
 * @layout: UB_LAYOUT_VERSION
 * @node: who speaks
 * @peer: who is meant
 * @reserved: zero
 * @incarnation: of @node
 * @fabric: id of the fabric
 * @fenced: life of @peer that is dead for @node; 0 for none
 */
struct ub_rdma_hello {
	__le64 magic;
	__le16 version;
	__le16 layout;
	__le32 node;
	__le32 peer;
	__le32 reserved;
	__le64 incarnation;
	__le64 fabric[2];
	__le64 fenced;
};
static_assert(sizeof(struct ub_rdma_hello) == 56);

/* Why a call is refused; numbers are never used again. */
enum ub_rdma_why {
	UB_RDMA_WHY_NONE,
	UB_RDMA_WHY_BUSY,	/* not up yet, or no memory: call again */
	UB_RDMA_WHY_MAGIC,
	UB_RDMA_WHY_VERSION,	/* @value: the own one */
	UB_RDMA_WHY_LAYOUT,	/* likewise */
	UB_RDMA_WHY_FABRIC,	/* another fabric: its name differs */
	UB_RDMA_WHY_PEER,	/* somebody else was meant; @value: who this is */
	UB_RDMA_WHY_NODE,	/* no peer has that id here */
	UB_RDMA_WHY_STALE,	/* @value: an incarnation that was seen already */
	UB_RDMA_WHY_FENCED,	/* a life was taken for dead; @value: whose */
};

/**
 * struct ub_rdma_refusal - private data of a call that is refused
 * @magic: UB_RDMA_MAGIC
 * @why: enum ub_rdma_why
 * @reserved: zero
 * @value: see there
 */
struct ub_rdma_refusal {
	__le64 magic;
	__le32 why;
	__le32 reserved;
	__le64 value;
};
static_assert(sizeof(struct ub_rdma_refusal) == 24);

enum ub_rdma_type {
	UB_RDMA_BEAT = 1,
	UB_RDMA_LEAVE,
	UB_RDMA_POKE,
	UB_RDMA_ATTACH,
	UB_RDMA_ATTACHED,
	UB_RDMA_CHECK,
	UB_RDMA_WINDOW,
	UB_RDMA_ATOMIC,
	UB_RDMA_DONE,
	UB_RDMA_MEMBER,
	UB_RDMA_REFUSED,
};

/* @token: of the window; the rest is of its descriptor. */
struct ub_rdma_attach {
	__le64 generation;
	__le64 incarnation;
	__le64 gva;
	__le64 length;
	__le64 token[2];
	__le32 window;
	__le32 desc_rights;
	__le32 rights;
	__le32 reserved;
};

#define UB_RDMA_KEYS	56

/*
 * @status: 0 or -errno; keys of chunks @first to @first + @n - 1 of @chunks,
 * good for writing if @write.
 */
struct ub_rdma_attached {
	__le32 status;
	__le16 first;
	__le16 n;
	__le16 chunks;
	__le16 write;
	__le32 key[UB_RDMA_KEYS];
};

struct ub_rdma_window {
	__le64 generation;
	__le32 window;
	__le32 reserved;
};

/* @op, @length, @operand, @compare: as in struct ub_xfer_op_desc. */
struct ub_rdma_atomic {
	__le64 generation;
	__le64 gva;
	__le64 operand;
	__le64 compare;
	__le32 window;
	__le32 op;
	__le32 length;
	__le32 reserved;
};

struct ub_rdma_done {
	__le64 result;
	__le32 status;
	__le32 reserved;
};

/* struct ub_told, but what the connection tells of the sender. */
struct ub_rdma_member {
	__le64 id;
	__le64 theirs;
	__le64 yours;
	__le64 lane_inc;
	__le64 arrival;
	__le64 value[2];
	__le64 aux[2];
	__le64 window;
	__le64 verdict;
	__le64 lost_epoch;
	__le32 shape;
	__le32 lane;
	__le32 reason;
	__le32 flags;
	__le16 n;
	__le16 index;
	__le32 reserved;
	u8 mail[2][UB_MAILBOX_BYTES];
};

/* @place: of the receiver's group; @clash: what stands in its member's way. */
struct ub_rdma_refused {
	__le64 id;
	__le64 place;
	__le64 clash;
	__le32 err;
	__le32 reserved;
};

/**
 * struct ub_rdma_msg - a message
 * @type: enum ub_rdma_type
 * @tag: of a request and its answers; UB_RDMA_NO_TAG of all else
 */
struct ub_rdma_msg {
	__le16 type;
	__le16 tag;
	__le32 reserved;
	union {
		struct ub_rdma_attach attach;
		struct ub_rdma_attached attached;
		struct ub_rdma_window window;
		struct ub_rdma_atomic atomic;
		struct ub_rdma_done done;
		struct ub_rdma_member member;
		struct ub_rdma_refused refused;
		u8 bytes[UB_RDMA_MSG_BYTES - 8];
	};
};
static_assert(sizeof(struct ub_rdma_msg) == UB_RDMA_MSG_BYTES);

#define UB_RDMA_NO_TAG	0xffff

#endif /* UB_RDMA_PROTO_H */
