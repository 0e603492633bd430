/* SPDX-License-Identifier: MIT */
/*
 * BSPlib over libub: programs written for other BSPlibs compile and run unchanged.
 *
 *	ubcc prog.c -o prog && ubrun -n 4 ./prog
 *
 * Two dialects. The classic one is that of Hill et al. 1998: process ids and
 * sizes are int. With UB_BSP_SIZE_T defined before this header they are unsigned
 * int and size_t, and what is -1 in the classic one is the largest value. One
 * program may have files of both.
 *
 * A call outside the SPMD section, a process id out of range, a negative size,
 * NULL where a result goes, and bytes outside of a registered area end all
 * processes with a message that names call, process and argument. See bsp.h(7).
 */
#ifndef UB_BSP_H
#define UB_BSP_H

#include <stdarg.h>
#include <stddef.h>

#ifdef UB_BSP_SIZE_T
typedef unsigned int bsp_pid_t;
typedef unsigned int bsp_nprocs_t;
typedef size_t bsp_size_t;
#define bsp_begin		bspz_begin
#define bsp_nprocs		bspz_nprocs
#define bsp_pid			bspz_pid
#define bsp_push_reg		bspz_push_reg
#define bsp_pop_reg		bspz_pop_reg
#define bsp_put			bspz_put
#define bsp_get			bspz_get
#define bsp_hpput		bspz_hpput
#define bsp_hpget		bspz_hpget
#define bsp_set_tagsize		bspz_set_tagsize
#define bsp_send		bspz_send
#define bsp_qsize		bspz_qsize
#define bsp_get_tag		bspz_get_tag
#define bsp_move		bspz_move
#define bsp_hpmove		bspz_hpmove
#else
typedef int bsp_pid_t;
typedef int bsp_nprocs_t;
typedef int bsp_size_t;
#endif

#ifndef UB_API
#define UB_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the SPMD section ---- */

/** bsp_init() - first in main(), when the SPMD section is the function @spmd;
 * only process 0 returns. Again before each further section. */
UB_API void bsp_init(void (*spmd)(void), int argc, char **argv);
/** bsp_begin() - begin the section with at most @max processes */
UB_API void bsp_begin(bsp_pid_t max);
/** bsp_end() - end it; all processes */
UB_API void bsp_end(void);
/** bsp_abort() - a message to standard error, and the end of all processes */
UB_API void bsp_abort(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));
UB_API void bsp_vabort(const char *format, va_list args)
	__attribute__((format(printf, 1, 0), noreturn));
/** bsp_nprocs() - in the section, and after it, its processes; before: those
 * that are available */
UB_API bsp_nprocs_t bsp_nprocs(void);
/** bsp_pid() - own number, from 0 */
UB_API bsp_pid_t bsp_pid(void);
/** bsp_time() - seconds since bsp_begin(), by this process's clock */
UB_API double bsp_time(void);
/** bsp_sync() - end the superstep */
UB_API void bsp_sync(void);

/* ---- memory of others ---- */

/** bsp_push_reg() - from the next superstep on others reach @size bytes at @ident;
 * all processes in the same order. NULL with 0: not taking part */
UB_API void bsp_push_reg(const void *ident, bsp_size_t size);
/** bsp_pop_reg() - undo the newest registration of @ident, from the next superstep */
UB_API void bsp_pop_reg(const void *ident);
/** bsp_put() - @src is copied now, written in @pid at the end of the superstep */
UB_API void bsp_put(bsp_pid_t pid, const void *src, const void *dst,
		    bsp_size_t offset, bsp_size_t nbytes);
/** bsp_get() - read in @pid at the end of the superstep, before any put is written */
UB_API void bsp_get(bsp_pid_t pid, const void *src, bsp_size_t offset,
		    void *dst, bsp_size_t nbytes);
/** bsp_hpput(), bsp_hpget() - the same at any time until the superstep's end */
UB_API void bsp_hpput(bsp_pid_t pid, const void *src, const void *dst,
		      bsp_size_t offset, bsp_size_t nbytes);
UB_API void bsp_hpget(bsp_pid_t pid, const void *src, bsp_size_t offset,
		      void *dst, bsp_size_t nbytes);

/* ---- messages ---- */

/** bsp_set_tagsize() - from the next superstep on; all processes the same. Gets
 * the former one */
UB_API void bsp_set_tagsize(bsp_size_t *tag_nbytes);
/** bsp_send() - copied now, in the queue of @pid in the next superstep */
UB_API void bsp_send(bsp_pid_t pid, const void *tag, const void *payload,
		     bsp_size_t nbytes);
/** bsp_qsize() - messages that remain, and bytes of their payloads */
UB_API void bsp_qsize(bsp_nprocs_t *nmessages, bsp_size_t *accum_nbytes);
/** bsp_get_tag() - payload's length and tag of the first message, or -1 */
UB_API void bsp_get_tag(bsp_size_t *status, void *tag);
/** bsp_move() - copy up to @max bytes of the first payload; remove the message */
UB_API void bsp_move(void *payload, bsp_size_t max);
/** bsp_hpmove() - the same without a copy: pointers for any type, until the next
 * bsp_sync(). Returns the length, or -1 when there is no message */
UB_API bsp_size_t bsp_hpmove(void **tag, void **payload);

/* ---- not of BSPlib: Nested BSP ---- */

struct ub_scope;
/** ub_bsp_scope() - the section's scope, for the calls of libub.h */
UB_API struct ub_scope *ub_bsp_scope(void);
/**
 * ub_bsp_enter() - an inner section of those on the same board, or whatever level
 * of the machine file @level names
 *
 * All of the above is then about the inner section, with ids, registrations, tag
 * size and queue of its own; the outer ones' wait. Collective.
 */
UB_API void ub_bsp_enter(const char *level);
/** ub_bsp_split() - of those who give the same @colour, at least 0, by rising
 * @key; 0: negative colour, this process takes no part and leaves nothing */
UB_API int ub_bsp_split(int colour, int key);
/** ub_bsp_leave() - end the inner section, and its superstep */
UB_API void ub_bsp_leave(void);

#ifdef __cplusplus
}
#endif
#endif /* UB_BSP_H */
