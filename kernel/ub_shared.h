/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Access to memory that other kernels and processes write at the same time.
 *
 * All loads, stores and atomics on shared words go through this file, in the
 * kernel, in libub and in the tests alike; a check greps for others.
 *
 * In a kernel, only xchg and the sync_* atomics are used: a guest with one
 * present CPU rewrites the LOCK prefix of every other atomic away, in modules
 * too, while the memory is shared with other machines.
 *
 * With UB_EXPLORE defined, every access first calls ub_explore_point(), where
 * a schedule explorer may switch to another member or end this one. In a kernel
 * with test hooks each access that stores first calls ub_instant().
 */
#ifndef UB_SHARED_H
#define UB_SHARED_H

#ifdef __KERNEL__

#include <linux/types.h>
#include <linux/compiler.h>
#include <linux/string.h>
#include <asm/barrier.h>
#include <asm/cmpxchg.h>
#ifdef CONFIG_X86
#include <asm/sync_bitops.h>
#endif

#define ub_explore_point()	do { } while (0)

/* Here a test may have this node stand still, or this process die: instant.c */
#ifdef UB_NO_INSTANTS
static inline void ub_instant(void) { }
#else
#include <linux/jump_label.h>
DECLARE_STATIC_KEY_FALSE(ub_instants);
void ub_instant_reached(void);

static inline void ub_instant(void)
{
	if (static_branch_unlikely(&ub_instants))
		ub_instant_reached();
}
#endif

/* Load with acquire order. */
#define ub_ld(p)		smp_load_acquire(p)
/* Store with release order. */
#define ub_st(p, v)		({ ub_instant(); smp_store_release(p, v); })
/* Compare-and-swap, full fence; returns what the word held. */
#define ub_cas(p, old, new)	({ ub_instant(); sync_cmpxchg(p, old, new); })
/* Swap, full fence; returns what the word held. */
#define ub_swap(p, v)		({ ub_instant(); xchg(p, v); })
/* Full fence between earlier and later accesses. */
#define ub_mb()			smp_mb()
#define ub_relax()		cpu_relax()
/* Zero words that others may still read, but whose value decides nothing. */
#define ub_clear(p, bytes) \
	do { ub_instant(); memset(p, 0, bytes); } while (0)

#else /* user space */

#include <linux/types.h>
#include <string.h>

#ifdef UB_EXPLORE
void ub_explore_point(void);
#else
#define ub_explore_point()	do { } while (0)
#endif

/*
 * In C a sequentially consistent exchange does not order a later acquire load
 * behind itself; arriving and then reading the hint, or announcing sleep and
 * then reading words, needs that. A locked x86 instruction does it anyhow.
 */
#if defined(__x86_64__)
#define ub_order()		do { } while (0)
#else
#define ub_order()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
#endif

#define ub_ld(p) \
	({ ub_explore_point(); __atomic_load_n((p), __ATOMIC_ACQUIRE); })
#define ub_st(p, v) \
	do { ub_explore_point(); \
	     __atomic_store_n((p), (v), __ATOMIC_RELEASE); } while (0)
#define ub_cas(p, old, new) ({						\
	__typeof__(*(p)) __o = (old);					\
	ub_explore_point();						\
	__atomic_compare_exchange_n((p), &__o, (new), 0,		\
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);\
	ub_order();							\
	__o; })
#define ub_swap(p, v) ({						\
	__typeof__(*(p)) __s;						\
	ub_explore_point();						\
	__s = __atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST);		\
	ub_order();							\
	__s; })

#if defined(__SANITIZE_THREAD__)
/* ThreadSanitizer does not model fences: a swap of a private word orders too. */
static inline void ub_mb(void)
{
	unsigned int word = 0;

	__atomic_exchange_n(&word, 1, __ATOMIC_SEQ_CST);
}

static inline void ub_clear(void *p, __u64 bytes)
{
	__u64 *word = (__u64 *)p, i;

	for (i = 0; i < bytes / sizeof(*word); i++)
		__atomic_store_n(&word[i], 0, __ATOMIC_RELAXED);
}
#else
#define ub_clear(p, bytes)	memset(p, 0, bytes)
#define ub_mb()			__atomic_thread_fence(__ATOMIC_SEQ_CST)
#endif

static inline void ub_relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

#endif /* __KERNEL__ */

/* One turn of an empty loop: time passes, on all machines little. */
static inline void ub_turn(void)
{
	__asm__ volatile("" ::: "memory");
}

#endif /* UB_SHARED_H */
