/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * ioctls of /dev/ubfab<N>: one node's door to its fabric.
 *
 * General format
 * --------------
 * Each ioctl takes a pointer to a struct that begins with { __u32 size, flags }. size
 * is sizeof() of the struct the caller was compiled with; a kernel that knows less
 * accepts it when all bytes beyond what it knows are zero, a kernel that knows more
 * takes missing fields as zero. Fields named out_* are written; nothing else is, and
 * nothing on error unless said so. Reserved fields and unknown flag bits must be zero.
 * Pointers are __u64. Times are absolute, CLOCK_MONOTONIC, in ns; UB_FOREVER: none.
 *
 * mmap(fd, gva): the file offset is the global address. MAP_SHARED only. Errors: EINVAL
 * not shared, or no window address; EACCES rights, or executable; ENOENT, ESTALE,
 * EOWNERDEAD, EPERM, ESHUTDOWN as below; EOVERFLOW past the end. read() and poll():
 * struct ub_event, whole records. Errors: EINVAL not one fits, EAGAIN, EINTR, EFAULT,
 * EPERM; ESHUTDOWN when all has been read.
 * mmap(fd, gva | UB_MMAP_QUIET), gva below 1 << 41 of its node: where the window ended a
 * touch meets a page that is this file's own, no SIGBUS; the __u64 that can be read at
 * UB_MMAP_QUIET itself has risen before. Errors as above; EOPNOTSUPP, ENOMEM.
 *
 * Errors that any ioctl may return
 * --------------------------------
 *	ENOTTY		unknown command
 *	E2BIG		size above a page, or bytes set beyond what is known
 *	EINVAL		size too small, unknown flag, reserved field set, wrong value
 *	EFAULT		a pointer does not lead to memory
 *	EPERM		not the process, and program, that opened the file (not of INFO)
 *	ESHUTDOWN	node fenced, or joined anew since then, or fabric going (not of INFO)
 *	EINTR		killed
 *
 * Errors of several calls, which name them; each tells its others
 * ---------------------------------------------------------------
 *	ENOENT		no such window, group, attachment or node
 *	EACCES		token or rights do not allow it
 *	EOVERFLOW	an address or length passes the end of its range; no epochs left
 *	ESTALE		window, node or member of a former generation or life
 *	EBUSY		the object is in use, or driven by another thread
 *	EOWNERDEAD	a peer node or member is lost; the window or group stays lost
 *	ETIMEDOUT	the time given has passed; nothing was lost, call again
 *	ENOMEM, ENOSPC	memory of the kernel; of the node's slice, or a slot
 */
#ifndef _UAPI_UB_H
#define _UAPI_UB_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define UB_ABI_VERSION	1
#define UB_FOREVER	(~(__u64)0)
#define UB_NAME_LEN	16

#define UB_IOC_TYPE	0xBC
enum {
	UB_CMD_INFO = 0x80,
	UB_CMD_WIN_CREATE,
	UB_CMD_WIN_DESTROY,
	UB_CMD_WIN_ATTACH,
	UB_CMD_WIN_DETACH,
	UB_CMD_WIN_ROTATE,
	UB_CMD_GROUP_CREATE,
	UB_CMD_GROUP_DESTROY,
	UB_CMD_GROUP_SHRINK,
	UB_CMD_BARRIER,
	UB_CMD_KICK,
	UB_CMD_XFER,
	UB_CMD_FENCE,
	UB_CMD_SYNC,
	UB_CMD_TEST,
	UB_CMD_END
};

/* Why a peer is lost. Numbers are never reused. */
enum ub_reason {
	UB_REASON_NONE		= 0,
	UB_REASON_HEARTBEAT	= 1,	/* node: no heartbeat for the detection time */
	UB_REASON_LEFT		= 2,	/* node or member left the fabric or group */
	UB_REASON_FENCED	= 3,	/* node: fenced on request */
	UB_REASON_EXIT		= 4,	/* lane: its process ended */
	UB_REASON_TIMEOUT	= 5,	/* did not arrive in time at a creation */
	UB_REASON_LINK		= 6,	/* connection error */
	UB_REASON_ISOLATED	= 7,	/* this side has not the majority */
	UB_REASON_VERSION	= 8,	/* another layout or protocol version */
	UB_REASON_REBOOT	= 9,	/* node: came back with a new incarnation */
	UB_REASON_ERASED	= 10	/* node: its fabric's memory was formatted */
};

/* Capability bits of UB_IOC_INFO. */
#define UB_CAP_COHERENT		(1ULL << 0)	/* windows are one copy */
#define UB_CAP_DOORBELL		(1ULL << 1)	/* sleepers are rung, not only timed */
#define UB_CAP_TEST		(1ULL << 2)	/* UB_IOC_TEST is there */
#define UB_CAP_USER_BARRIER	(1ULL << 3)	/* a library may drive group pages */
#define UB_CAP_GROUP_PAGES	(1ULL << 4)	/* group pages can be mapped */
#define UB_CAP_QUIET		(1ULL << 5)	/* windows can be mapped quietly */

#define UB_MMAP_QUIET		(3ULL << 41)

/* How the fabric's memory is mapped, in user space and kernel alike. */
enum ub_memtype { UB_MEMTYPE_UNKNOWN, UB_MEMTYPE_WB, UB_MEMTYPE_UC };

/**
 * struct ub_info - UB_IOC_INFO
 * @out_abi: UB_ABI_VERSION of the kernel
 * @out_layout: UB_LAYOUT_VERSION
 * @out_caps: UB_CAP_*
 * @out_fabric: the fabric's 128-bit id
 * @out_incarnation: of this node
 * @out_node: this node's id
 * @out_memtype: enum ub_memtype
 * @out_max_nodes: nodes that the fabric can hold
 * @out_max_members: members of a group
 * @out_max_lines: flag lines of a member
 * @out_detect_ms: silence after which a node is taken for dead
 * @out_slice: bytes of window memory of this node
 * @out_free: of them not in use
 * @out_transport: "loop", "ivshmem", "ivshmem-plain"
 */
struct ub_info {
	__u32 size;
	__u32 flags;
	__u32 out_abi;
	__u32 out_layout;
	__aligned_u64 out_caps;
	__aligned_u64 out_fabric[2];
	__aligned_u64 out_incarnation;
	__u32 out_node;
	__u32 out_memtype;
	__u32 out_max_nodes;
	__u32 out_max_members;
	__u32 out_max_lines;
	__u32 out_detect_ms;
	__aligned_u64 out_slice;
	__aligned_u64 out_free;
	char out_transport[UB_NAME_LEN];
};
#define UB_IOC_INFO	_IO(UB_IOC_TYPE, UB_CMD_INFO)

/* Rights on a window. */
#define UB_WIN_READ	(1U << 0)
#define UB_WIN_WRITE	(1U << 1)
#define UB_WIN_ATOMIC	(1U << 2)
#define UB_WIN_RIGHTS	(UB_WIN_READ | UB_WIN_WRITE | UB_WIN_ATOMIC)

/**
 * struct ub_win_desc - names a window anywhere in the fabric
 * @fabric: id of the fabric
 * @incarnation: of the home node
 * @generation: of the window; rises when its token is rotated
 * @gva: global address, 64 KiB aligned
 * @length: bytes, as asked for at creation
 * @node: home node
 * @window: id on its home
 * @rights: the most that an attachment can get
 * @reserved: zero
 *
 * Not secret. Passed out of band; the token is the secret beside it.
 */
struct ub_win_desc {
	__aligned_u64 fabric[2];
	__aligned_u64 incarnation;
	__aligned_u64 generation;
	__aligned_u64 gva;
	__aligned_u64 length;
	__u32 node;
	__u32 window;
	__u32 rights;
	__u32 reserved;
};

/**
 * struct ub_win_create - UB_IOC_WIN_CREATE: export memory of this node
 * @length: bytes, at least 1; memory is zeroed and rounded up to 64 KiB
 * @rights: the most that attachments may get
 * @out_desc: the descriptor
 * @out_token: the secret that attaching needs
 *
 * The creator is attached with all of @rights. The window goes with its file.
 * Errors: ENOSPC the slice has no run of that length, or no id is left; EINVAL length 0,
 * no rights or unknown ones; EOVERFLOW a length that no slice can hold; ENOMEM.
 */
struct ub_win_create {
	__u32 size;
	__u32 flags;
	__aligned_u64 length;
	__u32 rights;
	__u32 reserved;
	struct ub_win_desc out_desc;
	__aligned_u64 out_token[2];
};
#define UB_IOC_WIN_CREATE	_IO(UB_IOC_TYPE, UB_CMD_WIN_CREATE)

#define UB_ROTATE_FRESH	(1U << 0)

/**
 * struct ub_win_id - UB_IOC_WIN_DESTROY, UB_IOC_WIN_ROTATE: an own window
 * @window: its id
 * @reserved: zero
 * @out_generation: after rotating
 * @out_token: after rotating
 *
 * Both end all other attachments: calls get -ESTALE at once, mapped peers SIGBUS
 * from their node's next tick, which is asked for.
 * Rotating leaves the creator attached. With UB_ROTATE_FRESH the window gets other
 * memory, the bytes copied, at the same address: a fenced node that still runs has
 * not mapped it. What others store meanwhile is lost; they attach anew.
 * Errors: ENOENT not a window of this file; with UB_ROTATE_FRESH also ENOSPC no
 * other run of that length in the slice, or no window id is left; ENOMEM.
 */

struct ub_win_id {
	__u32 size;
	__u32 flags;
	__u32 window;
	__u32 reserved;
	__aligned_u64 out_generation;
	__aligned_u64 out_token[2];
};
#define UB_IOC_WIN_DESTROY	_IO(UB_IOC_TYPE, UB_CMD_WIN_DESTROY)
#define UB_IOC_WIN_ROTATE	_IO(UB_IOC_TYPE, UB_CMD_WIN_ROTATE)

/**
 * struct ub_win_attach - UB_IOC_WIN_ATTACH: may this file use a window
 * @desc: as the home gave it
 * @token: the secret
 * @rights: wanted, a subset of @desc.rights
 * @reserved: zero
 *
 * Afterwards mmap() and UB_IOC_XFER on this file reach the window.
 * Errors: EACCES wrong token or rights, ESTALE another generation or incarnation,
 * EOWNERDEAD the home is dead, ENOENT no such window, node or fabric, EEXIST already
 * attached by this file, EINVAL no rights or unknown ones, ENOMEM.
 */
struct ub_win_attach {
	__u32 size;
	__u32 flags;
	struct ub_win_desc desc;
	__aligned_u64 token[2];
	__u32 rights;
	__u32 reserved;
};
#define UB_IOC_WIN_ATTACH	_IO(UB_IOC_TYPE, UB_CMD_WIN_ATTACH)

/**
 * struct ub_win_detach - UB_IOC_WIN_DETACH: give up an attachment
 * @gva: of the window; this file's mappings of it get SIGBUS
 *
 * Errors: ENOENT no attachment of this file begins there.
 */
struct ub_win_detach {
	__u32 size;
	__u32 flags;
	__aligned_u64 gva;
};
#define UB_IOC_WIN_DETACH	_IO(UB_IOC_TYPE, UB_CMD_WIN_DETACH)

/**
 * struct ub_member - one entry of a group's member table
 * @node: node id
 * @lane: lane on that node
 * @node_incarnation: of the node
 * @lane_incarnation: of the lane
 */
struct ub_member {
	__u32 node;
	__u32 lane;
	__aligned_u64 node_incarnation;
	__aligned_u64 lane_incarnation;
};

/**
 * struct ub_lost - who ended a barrier or a group, the same for all survivors
 * @epoch: first epoch that the member never reached
 * @incarnation: of its node
 * @heartbeat_age_ns: on a time-out: since the missing node was last heard of
 * @member: index in the group
 * @node: its node
 * @lane: its lane
 * @reason: enum ub_reason; UB_REASON_NONE on a time-out: it may live
 * @level: name given at creation
 */
struct ub_lost {
	__aligned_u64 epoch;
	__aligned_u64 incarnation;
	__aligned_u64 heartbeat_age_ns;
	__u32 member;
	__u32 node;
	__u32 lane;
	__u32 reason;
	char level[UB_NAME_LEN];
};

#define UB_SHAPE_LEVELS	15

/**
 * struct ub_shape - levels of the node id, outermost first
 * @nlevels: 1 to UB_SHAPE_LEVELS
 * @bits: width of each level's field of the node id, 20 in all at most
 * @ports: messages sent at once per level, 1 to 8; [nlevels] is for lanes
 */
struct ub_shape {
	__u32 nlevels;
	__u8 bits[UB_SHAPE_LEVELS];
	__u8 ports[UB_SHAPE_LEVELS + 1];
	__u8 reserved;
};

#define UB_GROUP_WORLD		(1U << 0)	/* no parent: meet by @key */
#define UB_GROUP_USER_DRIVER	(1U << 1)	/* a library drives the flag pages */
#define UB_GROUP_BASE		(1U << 2)	/* test hook: start at @base */
#define UB_GROUP_ABSENT		(1U << 3)	/* this member will never come */

/**
 * struct ub_group_create - UB_IOC_GROUP_CREATE
 * @key: world: the job's 128-bit key, the same for all members. Other groups:
 *	{colour or level, sequence number}, the same for all its members
 * @timeout: absolute; see below
 * @members: other groups: pointer to @nmembers __u32, indices in the parent
 * @base: epoch before the first, with UB_GROUP_BASE
 * @out_table: pointer to @nmembers struct ub_member to be filled in, or 0
 * @parent: other groups: a group of this file
 * @nmembers: members, the same for all
 * @index: this member's place
 * @out_group: handle
 * @shape: world: the machine, the same for all; other groups: zero
 * @level: name of the level, for messages
 * @out_offset: mmap() offset of the group's pages
 * @out_map_size: their bytes
 * @out_epoch: epoch that creating ended
 * @out_lost: with EOWNERDEAD
 * @out_clash: with EEXIST: node and lane of who is in the way. With EINVAL since
 *	the others differ: their @nmembers, in its lane
 *
 * Collective over the members; returns when all have called it. Creating is
 * the group's first barrier and has one answer for all. A time-out before all
 * arrived ends the group for all (EOWNERDEAD, UB_REASON_TIMEOUT).
 * Errors: EEXIST @index is taken, or was in a former group of @key that is not
 * gone; EINVAL @nmembers or @shape differ from the others', @members has one
 * twice, or not this file's at @index, or @parent never was complete; ENOENT no
 * such parent; E2BIG more members or lines than a group can have; ERANGE members
 * whose node ids differ in bits that @shape has not; ENOSPC no slot, ENOMEM;
 * ETIMEDOUT a former group of @key was not gone by then, or words are spoilt;
 * ESTALE the others had given this member up; EOPNOTSUPP BASE without test hooks,
 * USER_DRIVER without UB_CAP_USER_BARRIER. With UB_GROUP_ABSENT, of a launcher, this member
 * of a world is lost at once (UB_REASON_EXIT); EEXIST: it has been there. 0 comes at once,
 * with @out_group, which keeps the others told until it is destroyed.
 * With EOWNERDEAD @out_group is valid: it may be shrunk and must be destroyed;
 * with any other error the member has left.
 */
struct ub_group_create {
	__u32 size;
	__u32 flags;
	__aligned_u64 key[2];
	__aligned_u64 timeout;
	__aligned_u64 members;
	__aligned_u64 base;
	__aligned_u64 out_table;
	__u32 parent;
	__u32 nmembers;
	__u32 index;
	__u32 out_group;
	struct ub_shape shape;
	__u32 reserved;
	char level[UB_NAME_LEN];
	__aligned_u64 out_offset;
	__aligned_u64 out_map_size;
	__aligned_u64 out_epoch;
	struct ub_lost out_lost;
	struct ub_member out_clash;
};
#define UB_IOC_GROUP_CREATE	_IO(UB_IOC_TYPE, UB_CMD_GROUP_CREATE)

/**
 * struct ub_group_id - UB_IOC_GROUP_DESTROY, UB_IOC_KICK
 * @group: a group of this file
 * @reserved: zero
 *
 * Destroying is leaving: a member that leaves before the others' last barrier
 * ends it for them (UB_REASON_LEFT). KICK wakes every member that sleeps; a
 * library calls it when it arrived last, or when it set a word that ends a wait.
 * Errors: ENOENT no such group; EBUSY (DESTROY) a thread is in a call on it.
 */
struct ub_group_id {
	__u32 size;
	__u32 flags;
	__u32 group;
	__u32 reserved;
};
#define UB_IOC_GROUP_DESTROY	_IO(UB_IOC_TYPE, UB_CMD_GROUP_DESTROY)
#define UB_IOC_KICK		_IO(UB_IOC_TYPE, UB_CMD_KICK)

/**
 * struct ub_group_shrink - UB_IOC_GROUP_SHRINK: go on without the lost
 * @group: a group that a verdict has ended
 * @out_group: the new group, of the survivors, in the old order
 * @timeout: absolute; survivors that did not call by then are lost as well
 * @out_table: pointer to room for the old group's number of struct ub_member
 * @out_nmembers: survivors
 * @out_index: own place among them
 * @out_offset: mmap() offset of the new group's pages
 * @out_map_size: their bytes
 * @out_epoch: epoch that creating ended
 * @out_lost: with EOWNERDEAD: who died meanwhile; @out_group is valid then
 *	and can be shrunk in turn
 *
 * The old group stays until it is destroyed.
 * Errors: ENOENT no such group; EINVAL no verdict stands; ESTALE this member was
 * fenced; EEXIST it has shrunk the group before, and is a member of the new one;
 * EBUSY a thread is in a call on the group; EOPNOTSUPP over rdma; ETIMEDOUT,
 * ENOSPC, ENOMEM as for UB_IOC_GROUP_CREATE.
 */
struct ub_group_shrink {
	__u32 size;
	__u32 flags;
	__u32 group;
	__u32 out_group;
	__aligned_u64 timeout;
	__aligned_u64 out_table;
	__u32 out_nmembers;
	__u32 out_index;
	__aligned_u64 out_offset;
	__aligned_u64 out_map_size;
	__aligned_u64 out_epoch;
	struct ub_lost out_lost;
};
#define UB_IOC_GROUP_SHRINK	_IO(UB_IOC_TYPE, UB_CMD_GROUP_SHRINK)

/* Fused reductions over one 64-bit value. */
enum ub_red {
	UB_RED_NONE	= 0,
	UB_RED_SUM	= 1,
	UB_RED_XOR	= 2,
	UB_RED_AND	= 3,
	UB_RED_OR	= 4,
	UB_RED_MIN_U64	= 5,
	UB_RED_MAX_U64	= 6,
	UB_RED_MIN_S64	= 7,
	UB_RED_MAX_S64	= 8,
	UB_RED_OPS
};

#define UB_BARRIER_ARRIVE	(1U << 0)	/* arrive at the next epoch */
#define UB_BARRIER_WAIT		(1U << 1)	/* wait until all arrived */
#define UB_BARRIER_TEST		(1U << 2)	/* like WAIT, but EAGAIN at once */
#define UB_BARRIER_HANDOVER	(1U << 3)	/* the library's driver calls */
#define UB_BARRIER_SLEEP	(1U << 4)	/* do not poll before sleeping */

/**
 * struct ub_barrier - UB_IOC_BARRIER
 * @group: a group of this file
 * @op: enum ub_red, with ARRIVE
 * @value: operand in; result out after a WAIT or TEST that succeeded
 * @timeout: absolute
 * @last: with ARRIVE: UB_AUX_LAST() of the barrier before, or
 *	UB_AUX_LAST_MASK; and UB_AUX_NOTE(). 0: neither
 * @out_epoch: the barrier's number
 * @out_last: UB_AUX_LAST() of who waited least in the barrier before, and
 *	all members' UB_AUX_NOTE() or-ed
 * @out_lost: with EOWNERDEAD: who; with ETIMEDOUT: who is missing
 * @out_window: with EOWNERDEAD: 0, or the one that bytes were lost of; all live
 *
 * ARRIVE, WAIT, TEST may be combined or called apart. WAIT is killable; it
 * is restarted after signals without losing the arrival: with EINTR and
 * ETIMEDOUT, ARRIVE is cleared in @flags once it has arrived, so calling
 * again with the same struct goes on waiting.
 * Errors: EOWNERDEAD a member is lost (for all); EINVAL members differ in @op
 * (for all, and the barrier is over), neither ARRIVE nor WAIT nor TEST, both of
 * the latter, no such @op, or WAIT before an arrival; ENOENT no such group;
 * EAGAIN with TEST: not yet; ETIMEDOUT; EINTR a signal; EBUSY another thread drives
 * this member, or UB_GROUP_USER_DRIVER and HANDOVER do not go together; ESTALE this
 * member was fenced; EALREADY ARRIVE while the barrier before is not awaited;
 * EOVERFLOW the epochs are used up (for all).
 */
struct ub_barrier {
	__u32 size;
	__u32 flags;
	__u32 group;
	__u32 op;
	__aligned_u64 value;
	__aligned_u64 timeout;
	__aligned_u64 last;
	__aligned_u64 out_epoch;
	__aligned_u64 out_last;
	struct ub_lost out_lost;
	__aligned_u64 out_window;
};
#define UB_IOC_BARRIER	_IO(UB_IOC_TYPE, UB_CMD_BARRIER)

enum ub_xfer_op {
	UB_XFER_PUT,
	UB_XFER_GET,
	UB_XFER_FETCH_ADD,
	UB_XFER_SWAP,
	UB_XFER_COMPARE_SWAP,
	UB_XFER_FETCH_AND,
	UB_XFER_FETCH_OR,
	UB_XFER_FETCH_XOR,
	UB_XFER_OPS
};

/**
 * struct ub_xfer_op_desc - one element of UB_IOC_XFER
 * @gva: remote address; of an atomic: aligned to its length, else EINVAL
 * @addr: local memory: source of a put, destination of a get, destination
 *	of an atomic's old value (0: not wanted)
 * @length: bytes; 4 or 8 for an atomic; 0 does nothing and succeeds
 * @operand: of an atomic; of 4 bytes: below 2^32, like @compare
 * @compare: of UB_XFER_COMPARE_SWAP
 * @op: enum ub_xfer_op
 * @out_status: 0 or negative errno
 *
 * Status: EINVAL no such @op, or an atomic's length, alignment or operand;
 * ENOENT no attachment there; ESTALE, EOWNERDEAD it has ended; EOVERFLOW past
 * the end of the window; EACCES its rights; EFAULT @addr; EBUSY an atomic's word
 * that others never leave alone; ENOMEM; ESHUTDOWN; ETIMEDOUT it may have been done.
 */
struct ub_xfer_op_desc {
	__aligned_u64 gva;
	__aligned_u64 addr;
	__aligned_u64 length;
	__aligned_u64 operand;
	__aligned_u64 compare;
	__u32 op;
	__s32 out_status;
};

#define UB_XFER_MAX	65536

/**
 * struct ub_xfer - UB_IOC_XFER: puts, gets and atomics, in order
 * @ops: pointer to @nops struct ub_xfer_op_desc
 * @nops: 1 to UB_XFER_MAX
 * @out_done: elements whose status is 0
 *
 * Every element is tried; each gets its status. Returns 0 when all could be
 * tried, whatever their status.
 * Errors: EINVAL @nops; EFAULT @ops, some elements may have been run.
 */
struct ub_xfer {
	__u32 size;
	__u32 flags;
	__aligned_u64 ops;
	__u32 nops;
	__u32 out_done;
};
#define UB_IOC_XFER	_IO(UB_IOC_TYPE, UB_CMD_XFER)

/**
 * struct ub_range - UB_IOC_FENCE, UB_IOC_SYNC
 * @gva: SYNC: start
 * @length: SYNC: bytes
 *
 * FENCE: all this file's earlier stores, puts and atomics are placed at their
 * homes when it returns; @gva and @length are 0. SYNC: what was stored in the range
 * is there, what is loaded next is read there; coherent windows are only checked.
 * Errors: EINVAL (FENCE) not 0, (SYNC) no range of window addresses; of SYNC: ENOENT no
 * attachment there, ESTALE, EOWNERDEAD it has ended, EOVERFLOW past the window's end.
 */
struct ub_range {
	__u32 size;
	__u32 flags;
	__aligned_u64 gva;
	__aligned_u64 length;
};
#define UB_IOC_FENCE	_IO(UB_IOC_TYPE, UB_CMD_FENCE)
#define UB_IOC_SYNC	_IO(UB_IOC_TYPE, UB_CMD_SYNC)

enum ub_event_type {
	UB_EVENT_NODE_UP	= 1,
	UB_EVENT_NODE_DOWN	= 2,	/* reason says why */
	UB_EVENT_FENCED		= 3,	/* this node itself */
	UB_EVENT_GROUP_LOST	= 4,	/* verdict in a group of this file */
	UB_EVENT_WINDOW_LOST	= 5,	/* attachment ended: rotated, home dead */
	UB_EVENT_OVERRUN	= 6	/* value: records that were dropped */
};

/**
 * struct ub_event - what read() returns, whole records
 * @time_ns: CLOCK_MONOTONIC
 * @incarnation: of the node
 * @gva: window, or 0
 * @value: epoch of a lost group; length of a lost window
 * @type: enum ub_event_type
 * @reason: enum ub_reason
 * @node: node concerned
 * @group: handle, or 0
 */
struct ub_event {
	__aligned_u64 time_ns;
	__aligned_u64 incarnation;
	__aligned_u64 gva;
	__aligned_u64 value;
	__u32 type;
	__u32 reason;
	__u32 node;
	__u32 group;
};

#endif /* _UAPI_UB_H */
