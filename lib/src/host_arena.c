// SPDX-License-Identifier: MIT
/* Making, mapping and giving out the host back end's memory. */
#include "host_arena.h"
#include "error.h"
#include "libub.h"
#include "memory.h"
#include "engine.h"
#include "slots.h"
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t up(uint64_t v, uint64_t to)
{
	return (v + to - 1) / to * to;
}

static int robust_init(pthread_mutex_t *m)
{
	pthread_mutexattr_t attr;
	int err;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	err = pthread_mutex_init(m, &attr);
	pthread_mutexattr_destroy(&attr);
	return -err;
}

/* A size with a suffix; 0 when it is none. */
static uint64_t parse_size(const char *text)
{
	static const char suffix[] = "KMGT";
	char *end;
	uint64_t v = strtoull(text, &end, 10);
	const char *s;

	if (end == text)
		return 0;
	if (*end) {
		s = strchr(suffix, *end & ~0x20);
		if (!s || end[1])
			return 0;
		v <<= 10 * (s - suffix + 1);
	}
	return v;
}

static int heap_bytes(uint64_t *bytes)
{
	const char *env = getenv("UB_HOST_MEM");

	if (*bytes)
		return 0;
	if (!env || !*env) {
		*bytes = ub_memory();
		return 0;
	}
	*bytes = parse_size(env);
	if (!*bytes)
		return ub_fail(-EINVAL,
			       "UB_HOST_MEM=%s is not a size; give a number with K, M, G or T",
			       env);
	return 0;
}

/* Where everything lies follows from the ranks and the heap's size. */
static struct ub_host_arena layout_of(uint32_t nranks, uint64_t bytes)
{
	struct ub_host_arena a = {
		.magic = UB_HOST_MAGIC,
		.layout = UB_HOST_LAYOUT,
		.nranks = nranks,
		.nslots = 64 + 16 * nranks,
		.max_lines = UB_HOST_LINES,
		.rec_stride = ub_slot_stride(nranks),
		.map_size = ub_group_map_size(nranks, UB_HOST_LINES),
		.heap_units = up(bytes, UB_HOST_UNIT) / UB_HOST_UNIT,
	};

	a.live_off = UB_LAYOUT_PAGE;
	a.recs_off = up(a.live_off + nranks * sizeof(struct ub_host_live),
			UB_LAYOUT_PAGE);
	a.pages_off = up(a.recs_off + (uint64_t)a.nslots * a.rec_stride,
			 UB_LAYOUT_PAGE);
	a.map_off = a.pages_off + a.nslots * a.map_size;
	a.heap_off = up(a.map_off + up(a.heap_units, 64) / 8, UB_HOST_UNIT);
	a.size = a.heap_off + a.heap_units * UB_HOST_UNIT;
	return a;
}

int ub_host_arena_create(int nranks, uint64_t bytes)
{
	struct ub_host_arena form, *a;
	int fd, err, i;

	if (nranks < 1 || nranks > UB_HOST_RANKS)
		return ub_fail(-EINVAL, "%d ranks; a host job has 1 to %d",
			       nranks, UB_HOST_RANKS);
	err = heap_bytes(&bytes);
	if (err)
		return err;
	form = layout_of(nranks, bytes);
	fd = memfd_create("libub", MFD_CLOEXEC);
	if (fd < 0)
		return ub_fail(-errno, "memfd_create: %s", strerror(errno));
	if (ftruncate(fd, form.size)) {
		err = ub_fail(-errno,
			      "cannot have %llu bytes of shared memory: %s; set UB_HOST_MEM to less",
			      (unsigned long long)form.size, strerror(errno));
		goto fail;
	}
	a = mmap(NULL, form.heap_off, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (a == MAP_FAILED) {
		err = ub_fail(-errno, "mmap: %s", strerror(errno));
		goto fail;
	}
	*a = form;
	for (i = 0; !err && i < nranks; i++)
		err = robust_init(&ub_host_live(a, i)->lock);
	munmap(a, form.heap_off);
	if (!err)
		return fd;
	ub_fail(err, "robust mutexes between processes: %s", strerror(-err));
fail:
	close(fd);
	return err;
}

struct ub_host_arena *ub_host_arena_map(int fd)
{
	struct ub_host_arena head, *a;
	struct stat st;

	if (fstat(fd, &st) || pread(fd, &head, sizeof(head), 0) != sizeof(head)) {
		ub_fail(-errno,
			"descriptor %d holds no arena: %s; start with ubrun",
			fd, strerror(errno));
		return NULL;
	}
	if (head.magic != UB_HOST_MAGIC || head.size > (uint64_t)st.st_size) {
		ub_fail(-EINVAL, "descriptor %d holds no arena; start with ubrun",
			fd);
		errno = EINVAL;
		return NULL;
	}
	if (head.layout != UB_HOST_LAYOUT) {
		ub_fail(-EINVAL,
			"the launcher's arena has layout %u, this library %u; use both of one version",
			head.layout,
			UB_HOST_LAYOUT);
		errno = EINVAL;
		return NULL;
	}
	a = mmap(NULL, head.size, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (a == MAP_FAILED) {
		ub_fail(-errno, "cannot map %llu bytes: %s; set UB_HOST_MEM to less",
			(unsigned long long)head.size, strerror(errno));
		return NULL;
	}
	/* A forked child cannot spoil the groups; windows it may share. */
	madvise(a, a->heap_off & ~(UB_LAYOUT_PAGE - 1), MADV_DONTFORK);
	return a;
}

void ub_host_arena_unmap(struct ub_host_arena *a)
{
	munmap((char *)a + a->heap_off, a->heap_units * UB_HOST_UNIT);
	munmap(a, a->heap_off);
}

void *ub_host_arena(int nranks)
{
	struct ub_host_arena *a;
	int fd = ub_host_arena_create(nranks, 0);

	if (fd < 0)
		return NULL;
	a = ub_host_arena_map(fd);
	close(fd);
	return a;
}

void ub_host_arena_free(void *arena)
{
	if (arena)
		ub_host_arena_unmap(arena);
}

/* ---- heap ---- */

static uint64_t *heap_map(struct ub_host_arena *a)
{
	return (uint64_t *)((char *)a + a->map_off);
}

/*
 * A lock that names its owner by rank: thread ids are not unique where ranks
 * have PID namespaces of their own. Who died inside may have marked units that
 * nobody has: lost, no harm.
 */
static void heap_enter(struct ub_host_arena *a, uint32_t rank)
{
	uint32_t owner = 0;

	/* Of several who find it dead one takes over. */
	while (!__atomic_compare_exchange_n(&a->heap_owner, &owner, rank + 1, 0,
					    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		if (owner && owner <= a->nranks && !ub_host_dead(a, owner - 1)) {
			owner = 0;
			sched_yield();
		}
	}
}

static void heap_leave(struct ub_host_arena *a)
{
	__atomic_store_n(&a->heap_owner, 0, __ATOMIC_RELEASE);
}

/* Others read it without the lock, for messages. */
static void set_used(struct ub_host_arena *a, uint64_t units)
{
	__atomic_store_n(&a->heap_used, units, __ATOMIC_RELAXED);
}

static bool unit_used(const uint64_t *map, uint64_t u)
{
	return map[u / 64] >> u % 64 & 1;
}

/* First run of @units in [from, to); @to when there is none. */
static uint64_t find_run(const uint64_t *map, uint64_t from, uint64_t to,
			 uint64_t units)
{
	uint64_t u = from, run = 0;

	while (u < to && run < units) {
		if (!(u % 64) && map[u / 64] == ~0ULL) {
			run = 0;
			u += 64;
		} else if (!(u % 64) && !map[u / 64] && u + 64 <= to) {
			run += 64;
			u += 64;
		} else {
			run = unit_used(map, u) ? 0 : run + 1;
			u++;
		}
	}
	return run >= units ? u - run : to;
}

uint64_t ub_host_alloc(struct ub_host_arena *a, uint32_t rank, uint64_t bytes)
{
	uint64_t units = up(bytes, UB_HOST_UNIT) / UB_HOST_UNIT, at, i;
	uint64_t *map = heap_map(a);

	if (!units || units > a->heap_units)
		return 0;
	heap_enter(a, rank);
	at = find_run(map, a->heap_next, a->heap_units, units);
	if (at >= a->heap_units)
		at = find_run(map, 0, a->heap_units, units);
	if (at < a->heap_units) {
		for (i = at; i < at + units; i++)
			map[i / 64] |= 1ULL << i % 64;
		a->heap_next = at + units;
		set_used(a, a->heap_used + units);
	}
	heap_leave(a);
	return at < a->heap_units ? a->heap_off + at * UB_HOST_UNIT : 0;
}

void ub_host_free(struct ub_host_arena *a, uint32_t rank, uint64_t off,
		  uint64_t bytes)
{
	uint64_t units = up(bytes, UB_HOST_UNIT) / UB_HOST_UNIT, i;
	uint64_t at = (off - a->heap_off) / UB_HOST_UNIT;
	uint64_t *map = heap_map(a);

	/* Punching the hole also zeroes the next owner's memory. */
	if (madvise((char *)a + off, units * UB_HOST_UNIT, MADV_REMOVE))
		memset((char *)a + off, 0, units * UB_HOST_UNIT);
	heap_enter(a, rank);
	for (i = at; i < at + units; i++)
		map[i / 64] &= ~(1ULL << i % 64);
	if (at < a->heap_next)
		a->heap_next = at;
	set_used(a, a->heap_used - units);
	heap_leave(a);
}

uint64_t ub_host_room(struct ub_host_arena *a)
{
	uint64_t used = __atomic_load_n(&a->heap_used, __ATOMIC_RELAXED);

	return (a->heap_units - used) * UB_HOST_UNIT;
}
