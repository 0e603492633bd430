/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A kernel for the explorer: enough of it that files of kernel/ compile in user
 * space and run in coroutines, many nodes in one process. Included ahead of
 * them; linux/anything.h is this file, too (see pure.mk).
 *
 * What waits is a coroutine that blocks; the clock jumps to the next timer when
 * nobody can run. Memory comes from an arena that each run begins anew. Locks
 * exclude, spinlocks need not: without a shared access nobody is overtaken.
 */
#ifndef UB_KSHIM_H
#define UB_KSHIM_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/socket.h>
#include <linux/types.h>

#define sockaddr_storage __kernel_sockaddr_storage

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef long long s64;
typedef int64_t loff_t;
typedef unsigned int gfp_t;
typedef s64 ktime_t;
typedef unsigned int __poll_t;
typedef unsigned int vm_fault_t;

#include "ub_shared.h"
void shim_clear(void *p, size_t n);
void *shim_copy(void *to, const void *from, size_t n);
#undef ub_clear
#define ub_clear(p, n)		shim_clear(p, n)
#define memcpy(to, from, n)	shim_copy(to, from, n)
#define ub_instant()		ub_explore_point()

/* ---- odds and ends ---- */
#define __percpu
#define __user
#define U64_MAX			(~0ULL)
#define PAGE_SIZE		4096UL
#define SZ_2M			(2ULL << 20)
#define SZ_1M			(1ULL << 20)
#define SZ_16M			(16ULL << 20)
#define SZ_64M			(64ULL << 20)
#define SZ_256M			(256ULL << 20)
#define SZ_1G			(1ULL << 30)
#define SZ_4G			(4ULL << 30)
#define NSEC_PER_MSEC		1000000L
#define NSEC_PER_USEC		1000L
#define BITS_PER_LONG		64
#define MAX_SCHEDULE_TIMEOUT	(~0UL >> 1)
#define ERESTARTSYS		512
#define static_assert		_Static_assert
#define BUILD_BUG_ON(c)		do { } while (0)
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define ALIGN(x, a)		(((x) + (a) - 1) / (a) * (a))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define READ_ONCE(x)		(*(volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v)	(*(volatile __typeof__(x) *)&(x) = (v))
#define smp_load_acquire(p)	READ_ONCE(*(p))
#define smp_store_release(p, v)	WRITE_ONCE(*(p), v)
#define OPTIMIZER_HIDE_VAR(x)	__asm__ volatile("" : "+r"(x))
#define lockdep_assert_held(l)	((void)(l))
#define lockdep_assert_held_write(l) ((void)(l))
#define EXPORT_SYMBOL_GPL(x)	struct ub_shim_semicolon
#define DECLARE_STATIC_KEY_FALSE(x) struct ub_shim_semicolon
#define NL_SET_ERR_MSG(e, text)	((void)(e))
#define this_cpu_add(x, n)	((x) += (n))
#define container_of(p, type, m) ((type *)((char *)(p) - offsetof(type, m)))
#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define min_t(t, a, b)		min((t)(a), (t)(b))
#define max_t(t, a, b)		max((t)(a), (t)(b))
#define swap(a, b) \
	do { __typeof__(a) __t = (a); (a) = (b); (b) = __t; } while (0)
#define struct_size(p, m, n)	(sizeof(*(p)) + sizeof((p)->m[0]) * (n))

struct ub_shim_semicolon;
struct page;
struct module;
struct sk_buff;
struct nlattr;
struct netlink_callback;
struct netlink_ext_ack;
struct genl_info;
struct mm_struct;
struct file;
struct vm_area_struct;
struct vm_fault;
struct poll_table_struct;
struct shrinker;
struct pid;
struct dentry;
struct class { int unused; };
struct device { int unused; };
struct cdev { int unused; };
struct inode { int unused; };
struct ida { int unused; };
struct vm_operations_struct { int unused; };

#define dev_err(dev, ...)	((void)(dev), ub_shim_say(__VA_ARGS__))
#define dev_warn		dev_err
#define dev_info		dev_err
#define dev_warn_ratelimited	dev_err
__attribute__((format(printf, 1, 2)))
static inline void ub_shim_say(const char *fmt, ...)
{
	(void)fmt;
}

static inline int nla_put_u64_64bit(struct sk_buff *skb, int attr, u64 v, int pad)
{
	(void)skb; (void)attr; (void)v; (void)pad;
	return 0;
}

static inline long strscpy(char *to, const char *from, size_t n)
{
	snprintf(to, n, "%s", from);
	return 0;
}

static inline void *memchr_inv(const void *p, int c, size_t n)
{
	const unsigned char *s = p;

	for (; n; n--, s++)
		if (*s != c)
			return (void *)s;
	return NULL;
}

/* ---- tracepoints: nothing ---- */
#define TP_PROTO(...)		__VA_ARGS__
#define TP_ARGS(...)
#define TP_STRUCT__entry(...)
#define TP_fast_assign(...)
#define TP_printk(...)
#define DECLARE_EVENT_CLASS(...) struct ub_shim_semicolon
#define DEFINE_EVENT(class, name, proto, args)				\
	static inline __attribute__((unused)) void trace_##name(proto) {}	\
	struct ub_shim_semicolon
#define TRACE_EVENT(name, proto, ...)	DEFINE_EVENT(, name, PROTO(proto), )
#define PROTO(...)		__VA_ARGS__

/* ---- the scheduler: explore_node.c ---- */
extern u64 shim_now;			/* ns */
void shim_wait(const void *on, u64 until);	/* until woken or then */
void shim_wake(const void *on);
void *shim_alloc(size_t size);
u64 shim_random(void);
u64 shim_hash(u64 seed, const void *p, size_t n);

#define SHIM_NEVER		(~0ULL >> 1)
#define GFP_KERNEL		0U
#define GFP_KERNEL_ACCOUNT	0U
#define kzalloc(n, g)		((void)(g), shim_alloc(n))
#define kvzalloc(n, g)		((void)(g), shim_alloc(n))
#define kvcalloc(c, n, g)	((void)(g), shim_alloc((size_t)(c) * (n)))
#define kfree(p)		((void)(p))
#define kvfree(p)		((void)(p))

#define ktime_get()		((ktime_t)shim_now)
#define ktime_get_ns()		shim_now
#define ktime_to_ns(t)		(t)
#define ns_to_ktime(t)		((ktime_t)(t))
#define ktime_sub(a, b)		((a) - (b))
#define ktime_after(a, b)	((a) > (b))
#define ktime_before(a, b)	((a) < (b))
#define ktime_add_ms(t, ms)	((t) + (s64)(ms) * NSEC_PER_MSEC)
#define ktime_ms_delta(a, b)	(((a) - (b)) / NSEC_PER_MSEC)
#define msecs_to_jiffies(ms)	(ms)
#define fsleep(us)		shim_wait(NULL, shim_now + (us) * NSEC_PER_USEC)
#define usleep_range(us, to)	shim_wait(NULL, shim_now + (us) * NSEC_PER_USEC)
#define cond_resched()		do { } while (0)
#define need_resched()		true
#define cpu_relax()		do { } while (0)
#define fatal_signal_pending(t)	false

/* ---- waiting ---- */
typedef struct { int unused; } wait_queue_head_t;
#define TASK_KILLABLE		1U
#define TASK_INTERRUPTIBLE	2U
#define init_waitqueue_head(q)	((void)(q))
#define wake_up(q)		shim_wake(q)
#define wake_up_all(q)		shim_wake(q)
#define __wait_event_hrtimeout(q, cond, left, how) ({			\
	u64 __until = shim_now + (left);				\
	(void)(how);							\
	while (!(cond) && shim_now < __until)				\
		shim_wait(&(q), __until);				\
	(cond) ? 0 : -ETIME; })
#define wait_event_killable_timeout(q, cond, ms) ({			\
	u64 __until = shim_now + (u64)(ms) * NSEC_PER_MSEC;		\
	while (!(cond) && shim_now < __until)				\
		shim_wait(&(q), __until);				\
	(long)!!(cond); })

/* ---- locks ---- */
struct mutex { int holder; };
struct rw_semaphore { int readers, waiting; bool writer; };	/* writers first */
typedef struct { int unused; } spinlock_t;
#define SINGLE_DEPTH_NESTING	1
#define mutex_init(m)		((m)->holder = 0)
#define mutex_destroy(m)	((void)(m))
#define mutex_lock_nested(m, d)	mutex_lock(m)
#define spin_lock_irq(l)	((void)(l))
#define spin_unlock_irq(l)	((void)(l))
#define spin_lock_irqsave(l, f)	((void)(l), (void)((f) = 0))
#define spin_unlock_irqrestore(l, f) ((void)(l), (void)(f))

static inline bool mutex_trylock(struct mutex *m)
{
	return m->holder ? false : (m->holder = 1);
}

static inline void mutex_lock(struct mutex *m)
{
	while (!mutex_trylock(m))
		shim_wait(m, SHIM_NEVER);
}

static inline void mutex_unlock(struct mutex *m)
{
	m->holder = 0;
	shim_wake(m);
	ub_explore_point();	/* it may be preempted here, before it goes on */
}

static inline void down_read(struct rw_semaphore *s)
{
	while (s->writer || s->waiting)
		shim_wait(s, SHIM_NEVER);
	s->readers++;
}

static inline void up_read(struct rw_semaphore *s)
{
	s->readers--;
	shim_wake(s);
}

static inline void down_write(struct rw_semaphore *s)
{
	s->waiting++;
	while (s->writer || s->readers)
		shim_wait(s, SHIM_NEVER);
	s->waiting--;
	s->writer = true;
}

static inline void up_write(struct rw_semaphore *s)
{
	s->writer = false;
	shim_wake(s);
}

/* ---- counts ---- */
typedef struct { int v; } atomic_t;
typedef struct { s64 v; } atomic64_t;
#define atomic_inc(a)		((void)(a)->v++)
#define atomic_dec(a)		((void)(a)->v--)
#define atomic_read(a)		((a)->v)
#define atomic64_inc(a)		((void)(a)->v++)
#define atomic64_set(a, n)	((void)((a)->v = (n)))

struct kref { int n; };
#define kref_init(k)		((void)((k)->n = 1))
#define kref_get(k)		((void)(k)->n++)
#define kref_put(k, free)	(--(k)->n ? 0 : ((free)(k), 1))

/* ---- work ---- */
struct work_struct { int unused; };
struct delayed_work {
	struct work_struct work;
	bool queued;
	u64 due;
};
#define cancel_delayed_work_sync(w) ((void)((w)->queued = false))
#define to_delayed_work(w)	container_of(w, struct delayed_work, work)

/* ---- lists ---- */
struct list_head { struct list_head *next, *prev; };
#define LIST_HEAD(l)		struct list_head l = { &(l), &(l) }
#define INIT_LIST_HEAD(l)	((l)->next = (l)->prev = (l))
#define list_empty(l)		((l)->next == (l))
#define list_entry(p, t, m)	container_of(p, t, m)
#define list_for_each_entry(p, l, m)					\
	for (p = list_entry((l)->next, __typeof__(*p), m); &p->m != (l);	\
	     p = list_entry(p->m.next, __typeof__(*p), m))
#define list_for_each_entry_safe(p, n, l, m)				\
	for (p = list_entry((l)->next, __typeof__(*p), m),		\
	     n = list_entry(p->m.next, __typeof__(*p), m); &p->m != (l);	\
	     p = n, n = list_entry(n->m.next, __typeof__(*n), m))

static inline void list_add_tail(struct list_head *e, struct list_head *l)
{
	e->next = l;
	e->prev = l->prev;
	l->prev->next = e;
	l->prev = e;
}

static inline void list_del_init(struct list_head *e)
{
	e->prev->next = e->next;
	e->next->prev = e->prev;
	INIT_LIST_HEAD(e);
}
#define list_del(e)		list_del_init(e)

/* ---- bits ---- */
#define DECLARE_BITMAP(name, n)	unsigned long name[DIV_ROUND_UP(n, 64)]
#define for_each_set_bit(i, map, n) \
	for ((i) = 0; (i) < (n); (i)++) if (shim_bit(map, i))

static inline bool shim_bit(const unsigned long *map, unsigned long i)
{
	return map[i / 64] >> i % 64 & 1;
}

static inline void __set_bit(unsigned long i, unsigned long *map)
{
	map[i / 64] |= 1UL << i % 64;
}

static inline bool __test_and_set_bit(unsigned long i, unsigned long *map)
{
	bool was = shim_bit(map, i);

	__set_bit(i, map);
	return was;
}

static inline void bitmap_set(unsigned long *map, u32 from, u32 n)
{
	for (; n; n--)
		__set_bit(from++, map);
}

static inline void bitmap_clear(unsigned long *map, u32 from, u32 n)
{
	for (; n; n--, from++)
		map[from / 64] &= ~(1UL << from % 64);
}

static inline void bitmap_zero(unsigned long *map, u32 n)
{
	bitmap_clear(map, 0, n);
}

static inline unsigned long find_next_bit(const unsigned long *map, unsigned long n,
					  unsigned long from)
{
	while (from < n && !shim_bit(map, from))
		from++;
	return from < n ? from : n;
}

static inline unsigned long
bitmap_find_next_zero_area(unsigned long *map, unsigned long n, unsigned long from,
			   unsigned long len, unsigned long mask)
{
	(void)mask;
	while (from + len <= n) {
		unsigned long at = find_next_bit(map, from + len, from);

		if (at >= from + len)
			return from;
		from = at + 1;
	}
	return n + 1;
}

/* ---- a tree that nobody balances ---- */
struct rb_node { struct rb_node *rb_left, *rb_right, *up; };
struct rb_root { struct rb_node *rb_node; };
#define RB_EMPTY_ROOT(r)	(!(r)->rb_node)
#define rb_entry(p, t, m)	container_of(p, t, m)
#define rb_insert_color(n, r)	((void)(n), (void)(r))

static inline void rb_link_node(struct rb_node *n, struct rb_node *up,
				struct rb_node **link)
{
	*n = (struct rb_node){ .up = up };
	*link = n;
}

static inline struct rb_node *rb_first(const struct rb_root *r)
{
	struct rb_node *n = r->rb_node;

	while (n && n->rb_left)
		n = n->rb_left;
	return n;
}

static inline struct rb_node *rb_next(const struct rb_node *n)
{
	struct rb_node *p;

	if (n->rb_right) {
		struct rb_root right = { n->rb_right };

		return rb_first(&right);
	}
	for (p = n->up; p && n == p->rb_right; p = p->up)
		n = p;
	return p;
}

static inline void rb_erase(struct rb_node *n, struct rb_root *r)
{
	struct rb_node **link = !n->up ? &r->rb_node : n == n->up->rb_left ?
				&n->up->rb_left : &n->up->rb_right;
	struct rb_node *in = n->rb_left ? n->rb_left : n->rb_right, *last;

	/* Two children: what is right goes below the last of what is left. */
	if (n->rb_left && n->rb_right) {
		for (last = n->rb_left; last->rb_right; )
			last = last->rb_right;
		last->rb_right = n->rb_right;
		n->rb_right->up = last;
	}
	*link = in;
	if (in)
		in->up = n->up;
}

/* ---- arrays ---- */
#define SHIM_XA			16
struct xarray { void *e[SHIM_XA]; u32 first; };
struct xa_limit { u32 max, min; };
#define XA_LIMIT(from, to)	((struct xa_limit){ .min = from, .max = to })
#define xa_limit_31b		XA_LIMIT(0, SHIM_XA - 1)
#define XA_PRESENT		0
#define xa_lock(x)		((void)(x))
#define xa_unlock(x)		((void)(x))
#define xa_err(p)		((void)(p), 0)
#define xa_load(x, i)		((i) < SHIM_XA ? (x)->e[i] : NULL)
#define xa_for_each(x, i, p)						\
	for ((i) = 0; (i) < SHIM_XA; (i)++) if (((p) = (x)->e[i]))

static inline void *xa_store(struct xarray *x, unsigned long i, void *p, gfp_t gfp)
{
	void *old = x->e[i];

	(void)gfp;
	x->e[i] = p;
	return old;
}

static inline void *xa_erase(struct xarray *x, unsigned long i)
{
	return xa_store(x, i, NULL, 0);
}

static inline void *xa_cmpxchg(struct xarray *x, unsigned long i, void *old,
			       void *new, gfp_t gfp)
{
	return xa_load(x, i) == old ? xa_store(x, i, new, gfp) : xa_load(x, i);
}

static inline void *xa_find(struct xarray *x, unsigned long *i, unsigned long to,
			    int mark)
{
	(void)to;
	(void)mark;
	for (; *i < SHIM_XA; ++*i)
		if (x->e[*i])
			return x->e[*i];
	return NULL;
}

static inline int xa_alloc(struct xarray *x, u32 *id, void *p, struct xa_limit in,
			   gfp_t gfp)
{
	u32 i;

	(void)gfp;
	for (i = max(in.min, x->first); i <= min(in.max, SHIM_XA - 1U); i++)
		if (!x->e[i]) {
			x->e[i] = p;
			*id = i;
			return 0;
		}
	return -EBUSY;
}

/* ---- users, secrets ---- */
#define u64_to_user_ptr(x)	((void *)(uintptr_t)(x))
#define copy_from_user(to, from, n)	(memcpy(to, from, n), 0)
#define copy_to_user(to, from, n)	(memcpy(to, from, n), 0)
#define put_user(v, p)		(*(p) = (v), 0)
#define access_ok(p, n)		((void)(p), (void)(n), true)
#define fault_in_readable(p, n)	((void)(p), (void)(n), 0)
#define fault_in_safe_writeable(p, n) ((void)(p), (void)(n), 0)
#define pagefault_disable()	do { } while (0)
#define pagefault_enable()	do { } while (0)
#define offset_in_page(p)	((p) % PAGE_SIZE)
unsigned long shim_user_copy(void *to, const void *from, unsigned long n,
			     const void *shared);
#define __copy_from_user_inatomic(p, user, n)	shim_user_copy(p, user, n, p)
#define __copy_to_user_inatomic(user, p, n)	shim_user_copy(user, p, n, p)
#define get_random_u32()	((u32)shim_random())
#define get_random_u64()	shim_random()

static inline void get_random_bytes(void *p, size_t n)
{
	u64 *w = p;

	for (; n; n -= sizeof(*w))
		*w++ = shim_random();
}

typedef struct { u64 key[2]; } siphash_key_t;
#define siphash(p, n, k)	shim_hash((k)->key[0], p, n)

static inline void ub_blake2s(const u8 *key, size_t nkey, const u8 *p, size_t n,
			      u8 *out, size_t nout)
{
	u64 *w = (u64 *)out, i;

	for (i = 0; i < nout / sizeof(*w); i++)
		w[i] = shim_hash(shim_hash(i, key, nkey), p, n);
}

#endif /* UB_KSHIM_H */
