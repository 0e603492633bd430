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

#define UB_BSP_PRINTF	__attribute__((format(printf, 1, 2), noreturn))
#define UB_BSP_VPRINTF	__attribute__((format(printf, 1, 0), noreturn))
#ifndef UB_API
#define UB_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the SPMD section ---- */

/** bsp_init() - name the SPMD section, when it is a function of its own
 * @spmd: holds bsp_begin() and bsp_end()
 * @argc: of main()
 * @argv: of main()
 *
 * First in main(). Only process 0 returns; the others run @spmd when process 0
 * comes to its bsp_begin(), and know nothing of what that did before. Again before
 * each further section. Not needed when main() itself is the section. */
UB_API void bsp_init(void (*spmd)(void), int argc, char **argv);
/** bsp_begin() - begin the SPMD section
 * @max: at most so many processes; that of process 0 counts */
UB_API void bsp_begin(bsp_pid_t max);
/** bsp_end() - end the SPMD section, and its last superstep; all processes */
UB_API void bsp_end(void);
/** bsp_abort(), bsp_vabort() - a message to standard error, and the end of all processes
 * @format: of printf()
 * @args: what follows it in bsp_abort()
 *
 * From any process, in the section or before. The exit status is 134. */
UB_API void bsp_abort(const char *format, ...) UB_BSP_PRINTF;
UB_API void bsp_vabort(const char *format, va_list args) UB_BSP_VPRINTF;
/** bsp_nprocs() - number of processes
 *
 * Return: those of the section, in it and after it; before, those that are
 * available. */
UB_API bsp_nprocs_t bsp_nprocs(void);
/** bsp_pid() - number of this process
 *
 * Return: from 0. */
UB_API bsp_pid_t bsp_pid(void);
/** bsp_time() - this process's clock
 *
 * Return: seconds since bsp_begin(). */
UB_API double bsp_time(void);
/** bsp_sync() - end the superstep; all processes */
UB_API void bsp_sync(void);

/* ---- memory of others ---- */

/** bsp_push_reg() - make memory reachable by the others, from the next superstep on
 * @ident: own memory; NULL: taking no part
 * @size: bytes that others may write and read; may be 0
 *
 * All processes, in the same order. A registration is its place in that order;
 * @ident leads to the newest that this process made of it. */
UB_API void bsp_push_reg(const void *ident, bsp_size_t size);
/** bsp_pop_reg() - undo the newest registration of an address, from the next superstep on
 * @ident: own memory; NULL: the registration that the others name
 *
 * All processes, in the same order. */
UB_API void bsp_pop_reg(const void *ident);
/** bsp_put(), bsp_hpput() - write into a process's memory
 * @pid: whose, may be the own one
 * @src: own memory. bsp_put() copies it at the call; with bsp_hpput() it stays as
 *	it is until the end of the superstep
 * @dst: registered; leads to the same registration of @pid
 * @offset: where in that, bytes
 * @nbytes: 0 does nothing
 *
 * It is there after the bsp_sync() that ends the superstep, with bsp_hpput() maybe
 * earlier. bsp_put() writes after all bsp_get() have read; where writes overlap the
 * highest process's last one wins, and any put over a get. */
UB_API void bsp_put(bsp_pid_t pid, const void *src, const void *dst,
		    bsp_size_t offset, bsp_size_t nbytes);
UB_API void bsp_hpput(bsp_pid_t pid, const void *src, const void *dst,
		      bsp_size_t offset, bsp_size_t nbytes);
/** bsp_get(), bsp_hpget() - read a process's memory
 * @pid: whose, may be the own one
 * @src: registered; leads to the same registration of @pid
 * @offset: where in that, bytes
 * @dst: own memory
 * @nbytes: 0 does nothing
 *
 * It is there after the bsp_sync() that ends the superstep. bsp_get() reads what is
 * there at the superstep's end before anything is written; bsp_hpget() reads and
 * writes at any time until then. */
UB_API void bsp_get(bsp_pid_t pid, const void *src, bsp_size_t offset,
		    void *dst, bsp_size_t nbytes);
UB_API void bsp_hpget(bsp_pid_t pid, const void *src, bsp_size_t offset,
		      void *dst, bsp_size_t nbytes);

/* ---- messages ---- */

/** bsp_set_tagsize() - bytes of the tag of each message, 0 at first
 * @tag_nbytes: of what is sent from the next superstep on, at most 1 GiB; gets what
 *	was set last
 *
 * All processes, the same size. */
UB_API void bsp_set_tagsize(bsp_size_t *tag_nbytes);
/** bsp_send() - put a message into a process's queue, which has it in the next superstep
 * @pid: whose, may be the own one
 * @tag: copied
 * @payload: copied
 * @nbytes: of the payload; 0 is a message, too */
UB_API void bsp_send(bsp_pid_t pid, const void *tag, const void *payload,
		     bsp_size_t nbytes);
/** bsp_qsize() - what remains in the queue
 * @nmessages: gets the number of messages
 * @accum_nbytes: gets the bytes of their payloads */
UB_API void bsp_qsize(bsp_nprocs_t *nmessages, bsp_size_t *accum_nbytes);
/** bsp_get_tag() - look at the first message
 * @status: gets the bytes of its payload, or -1 when there is no message
 * @tag: gets its tag */
UB_API void bsp_get_tag(bsp_size_t *status, void *tag);
/** bsp_move() - copy the first message's payload and remove the message
 * @payload: gets it
 * @max: most bytes to copy */
UB_API void bsp_move(void *payload, bsp_size_t max);
/** bsp_hpmove() - remove the first message without copying it
 * @tag: gets the address of its tag
 * @payload: gets the address of its payload
 *
 * Both are aligned for any type and live until the next bsp_sync().
 *
 * Return: bytes of the payload, or -1 when there is no message. */
UB_API bsp_size_t bsp_hpmove(void **tag, void **payload);

/* ---- Nested BSP; not of BSPlib ---- */

struct ub_scope;
/** ub_bsp_scope() - the scope under the section, for the calls of libub.h
 *
 * Return: it lives until the section ends. */
UB_API struct ub_scope *ub_bsp_scope(void);
/** ub_bsp_enter() - begin an inner section of those who share a level of the machine
 * @level: of the machine file, "board" say; or "node"
 *
 * All calls are then about the inner section, which has ids, registrations, tag
 * size and queue of its own; the outer ones' wait until ub_bsp_leave(), and what was
 * put, got or sent outside goes at the outer bsp_sync(). To any depth. */
UB_API void ub_bsp_enter(const char *level);
/** ub_bsp_split() - begin inner sections by colour
 * @colour: those who give the same are in one; negative: in none
 * @key: ids rise with it, then with the outer ids
 *
 * Return: 1; 0: in none, nothing is to be left. */
UB_API int ub_bsp_split(int colour, int key);
/** ub_bsp_leave() - end the inner section, and its superstep */
UB_API void ub_bsp_leave(void);

#ifdef __cplusplus
}
#endif
#endif /* UB_BSP_H */
