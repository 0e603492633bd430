/* SPDX-License-Identifier: MIT */
/*
 * An SPMD section of bsp.h, and what its files share.
 *
 *	bsp_run.c	init, begin, end, inner sections
 *	bsp_start.c	processes: of a launcher, or started here
 *	bsp_reg.c	registrations
 *	bsp_step.c	the end of a superstep: gets, puts, agreement
 *	bsp_calls.h	the calls, compiled once for each dialect
 *
 * One process is in one section at a time, with one thread; inner sections make
 * a stack. What a call names is checked when it is called; what all processes
 * must do alike (registrations, tag sizes, the end) goes to all others as a record
 * at the sync, and each compares (bsp_step.c).
 */
#ifndef UB_BSP_SECTION_H
#define UB_BSP_SECTION_H

#include "msg.h"

/* Kinds of records, beside messages. */
enum ub_bsp_kind {
	UB_BSP_PUT = UB_KIND_CLIENT,	/* id: slot, arg: offset */
	UB_BSP_HPPUT,		/* the same, taken at once */
	UB_BSP_GET,		/* id: slot, arg: offset; struct ub_bsp_wish */
	UB_BSP_GOT,		/* arg: number of the get; the bytes */
	UB_BSP_HPGOT,		/* the same, taken at once */
	UB_BSP_ALIKE,		/* struct ub_bsp_alike and its ops */
};

#define UB_BSP_TAKES	(1u << UB_BSP_HPPUT | 1u << UB_BSP_HPGOT)

/* What a get asks for. */
struct ub_bsp_wish {
	uint64_t len;
	uint32_t number;
	uint32_t hp;
};

/* A get that was asked for: where its bytes go. */
struct ub_bsp_got {
	void *dst;
	size_t len;
};

enum ub_bsp_slot_state {
	UB_BSP_FREE,
	UB_BSP_PENDING,		/* pushed in this superstep */
	UB_BSP_VALID,
};

#define UB_BSP_NONE	UINT32_MAX

/**
 * struct ub_bsp_slot - a registration
 * @addr: own memory; NULL: not taking part
 * @size: of it, own
 * @sizes: of it, each process's
 * @nulls: processes that do not take part
 * @older: slot of the same address that this one hides, or the next free slot
 * @state: enum ub_bsp_slot_state
 * @popped: in this superstep
 */
struct ub_bsp_slot {
	char *addr;
	size_t size;
	size_t *sizes;
	uint32_t nulls;
	uint32_t older;
	uint8_t state;
	bool popped;
};

/* What a process did that all do alike, in order. */
enum ub_bsp_op_what {
	UB_BSP_PUSH,		/* size */
	UB_BSP_PUSH_NULL,
	UB_BSP_POP,		/* slot */
	UB_BSP_POP_NULL,	/* the slot that the others name */
};

struct ub_bsp_op {
	uint32_t what;
	uint32_t slot;
	uint64_t size;
};

#define UB_BSP_TAG	1	/* bsp_set_tagsize() was called */
#define UB_BSP_END	2	/* this is bsp_end(), or the end of an inner section */

struct ub_bsp_alike {
	uint64_t tag;
	uint32_t flags;
	uint32_t nops;
	struct ub_bsp_op op[];
};

/* Growing array of what this process did. */
struct ub_bsp_ops {
	struct ub_bsp_op *op;
	uint32_t n;
	uint32_t room;
};

/**
 * struct ub_bsp - a section
 * @outer: the section that this one is inside of, or NULL
 * @s: its scope, @b its records, @q its messages
 * @n: processes, @pid: own
 * @slot: registrations, @nslots used or free ones, @room; @free the first free
 * @hash: newest slot of an address, UB_BSP_NONE: none; @mask its size - 1, @used
 * @last: valid slot that was looked up last, of @last_addr
 * @got: gets of this superstep
 * @ops: registrations of this superstep, @flags what else is done alike
 * @alike: what came from each process, or NULL
 * @call: of this process, for messages: which one ends the superstep
 */
struct ub_bsp {
	struct ub_bsp *outer;
	struct ub_scope *s;
	struct ub_bulk *b;
	struct ub_queue *q;
	uint32_t n;
	uint32_t pid;
	struct ub_bsp_slot *last;
	const void *last_addr;

	struct ub_bsp_slot *slot;
	uint32_t nslots;
	uint32_t room;
	uint32_t free;
	uint32_t *hash;
	uint32_t mask;
	uint32_t used;

	struct ub_bsp_got *got;
	uint32_t ngot;
	uint32_t got_room;

	struct ub_bsp_ops ops;
	uint32_t flags;
	const struct ub_bsp_alike **alike;
	uint32_t nalike;
	const char *call;
};

/* The section that this process is in, or NULL. */
extern struct ub_bsp *ub_bsp_now;

/* ---- bsp_run.c ---- */
/** ub_bsp_die() - "CALL in process I: TEXT", and the end of all processes */
void ub_bsp_die(const char *call, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn, cold));
/** ub_bsp_outside() - the same, for a call that belongs into a section */
void ub_bsp_outside(const char *call) __attribute__((noreturn, cold));
/** ub_bsp_failed() - the same for an error of libub's */
void ub_bsp_failed(const char *call, int err) __attribute__((noreturn, cold));
void ub_bsp_begin(int64_t max);
uint32_t ub_bsp_nprocs(void);

/* ---- bsp_start.c ---- */
/** ub_bsp_launched() - did a launcher start the processes? */
bool ub_bsp_launched(void);
/** ub_bsp_available() - processes that there are, or that can be started */
uint32_t ub_bsp_available(void);
/** ub_bsp_rank() - this process among those of the job; -1: none yet */
int ub_bsp_rank(void);
/** ub_bsp_stay() - of a launcher's processes only process 0 returns; the others
 * run the function of each section until that one ends */
void ub_bsp_stay(void);
/** ub_bsp_gather() - the scope of a section with at most @max processes, as
 * process 0 has it; @spmd: its function, or NULL: main */
struct ub_scope *ub_bsp_gather(int64_t max, void (*spmd)(void));
/** ub_bsp_scatter() - the section has ended */
void ub_bsp_scatter(struct ub_scope *s);
/** ub_bsp_leave_all() - this process ends: the others of the job may, too */
void ub_bsp_leave_all(void);
/* Exit status of bsp_abort(), as if by a signal SIGABRT: ubrun ends the others. */
#define UB_EXIT_ABORT	134
/** ub_bsp_kill() - end all processes that can be reached, and this one */
void ub_bsp_kill(void) __attribute__((noreturn));

/* ---- bsp_reg.c ---- */
void ub_bsp_push(struct ub_bsp *r, const void *addr, int64_t size);
void ub_bsp_pop(struct ub_bsp *r, const void *addr);
/** ub_bsp_find() - newest valid slot of @addr, or NULL */
struct ub_bsp_slot *ub_bsp_find(struct ub_bsp *r, const void *addr);
/** ub_bsp_register() - all did alike: make it so */
void ub_bsp_register(struct ub_bsp *r);
void ub_bsp_unregister_all(struct ub_bsp *r);

/* ---- bsp_step.c ---- */
extern const struct ub_bulk_ops ub_bsp_bulk_ops;
/** ub_bsp_step() - end the superstep, as @call */
void ub_bsp_step(struct ub_bsp *r, const char *call);
/** ub_bsp_ask() - post a get */
void ub_bsp_ask(struct ub_bsp *r, const char *call, uint32_t pid, uint32_t slot,
		uint64_t off, void *dst, size_t len, bool hp);

static inline struct ub_bsp_slot *ub_bsp_lookup(struct ub_bsp *r, const void *addr)
{
	return likely(addr == r->last_addr && r->last) ? r->last :
	       ub_bsp_find(r, addr);
}

#endif /* UB_BSP_SECTION_H */
