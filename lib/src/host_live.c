// SPDX-License-Identifier: MIT
/*
 * Who of the host back end's ranks lives.
 *
 * Each rank holds a robust mutex for its life; the kernel marks it when the
 * thread ends, however it ends, in whichever PID namespace. The mark stays, as
 * nobody else ever locks it, so everybody finds the same. Nobody else even tries
 * to: the kernel takes a thread that dies while trying for the owner, if their
 * ids are the same, as in PID namespaces of their own they are.
 */
#include "host_arena.h"
#include "engine.h"
#include "error.h"
#include "slots.h"
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t state_of(struct ub_host_live *l)
{
	return __atomic_load_n(&l->state, __ATOMIC_ACQUIRE);
}

static void set_state(struct ub_host_live *l, uint32_t state)
{
	__atomic_store_n(&l->state, state, __ATOMIC_RELEASE);
}

/* The futex word is the first of the mutex, by glibc's ABI. */
static bool marked(struct ub_host_live *l)
{
	return __atomic_load_n((uint32_t *)&l->lock, __ATOMIC_ACQUIRE) &
	       FUTEX_OWNER_DIED;
}

int ub_host_up(struct ub_host_arena *a, uint32_t rank, uint32_t node)
{
	struct ub_host_live *l = ub_host_live(a, rank);

	if (marked(l))
		set_state(l, UB_HOST_EXIT);
	if (state_of(l) == UB_HOST_EXIT)
		return ub_fail(-EOWNERDEAD,
			       "rank %u of this job ended before; a rank cannot be started again",
			       rank);
	if (pthread_mutex_trylock(&l->lock))
		return ub_fail(-EEXIST,
			       "another process is rank %u of this job; give each its own UB_RANK",
			       rank);
	l->node = node;
	__atomic_fetch_add(&l->inits, 1, __ATOMIC_RELEASE);
	set_state(l, UB_HOST_UP);
	return 0;
}

void ub_host_down(struct ub_host_arena *a, uint32_t rank)
{
	struct ub_host_live *l = ub_host_live(a, rank);

	set_state(l, UB_HOST_LEFT);
	pthread_mutex_unlock(&l->lock);
}

bool ub_host_dead(struct ub_host_arena *a, uint32_t rank)
{
	struct ub_host_live *l = ub_host_live(a, rank);

	if (state_of(l) == UB_HOST_UP && marked(l))
		set_state(l, UB_HOST_EXIT);
	return state_of(l) == UB_HOST_EXIT;
}

bool ub_host_left(struct ub_host_arena *a, uint32_t rank, uint64_t inits)
{
	struct ub_host_live *l = ub_host_live(a, rank);

	/* In this order: the next ub_init() counts before it says UP. */
	if (__atomic_load_n(&l->inits, __ATOMIC_ACQUIRE) > inits)
		return true;
	return state_of(l) == UB_HOST_LEFT &&
	       __atomic_load_n(&l->inits, __ATOMIC_ACQUIRE) >= inits;
}

void ub_host_wake(const struct ub_grp *g)
{
	uint32_t i;

	for (i = 0; i < g->n; i++) {
		__u64 *word = &g->line[i].sleeping;

		if (!ub_ld(word))
			continue;
		/* A sleeper that has not slept yet then will not. */
		ub_st(word, 0ULL);
		syscall(SYS_futex, (uint32_t *)word, FUTEX_WAKE, INT_MAX, NULL,
			NULL, 0);
	}
}

void ub_host_arena_exited(struct ub_host_arena *a, int rank)
{
	struct ub_host_live *l = ub_host_live(a, rank);
	uint32_t slot, up;

	if (rank < 0 || (uint32_t)rank >= a->nranks)
		return;
	up = state_of(l);
	if (up == UB_HOST_LEFT || up == UB_HOST_EXIT)
		return;
	if (!__atomic_compare_exchange_n(&l->state, &up, UB_HOST_EXIT, 0,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	for (slot = 0; slot < a->nslots; slot++) {
		struct ub_slot_rec *rec = (struct ub_slot_rec *)
			((char *)a + a->recs_off + (uint64_t)slot * a->rec_stride);
		struct ub_grp g;

		if (UB_SLOT_STATE(ub_ld(&rec->word)) != UB_SLOT_COMMITTED)
			continue;
		ub_grp_init(&g, (char *)a + a->pages_off + slot * a->map_size,
			    UB_FORM_N(ub_ld(&rec->form)), a->nranks,
			    a->max_lines);
		if (g.n <= a->nranks)
			ub_host_wake(&g);
	}
}
