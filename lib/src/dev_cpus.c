// SPDX-License-Identifier: MIT
/*
 * Device back end: do the members on this node outnumber its CPUs?
 *
 * Each shows which CPUs it may use by a word behind the head of its world's
 * pages, where the kernel does not look. What is read there decides how to wait,
 * and nothing else.
 */
#include "internal.h"
#include "dev.h"

#define UB_ROOM_WORDS	((UB_LAYOUT_PAGE - sizeof(struct ub_group_head)) / 8)
#define UB_SOON_NS	10000000ULL	/* until somebody who begins has shown its CPUs */

/* {hash:32, count:16, first:16} of a mask; never 0. */
static uint64_t word_of(const uint64_t mask[UB_CPU_WORDS])
{
	uint64_t hash = 0, count = 0, first = 0;
	int i;

	for (i = UB_CPU_WORDS - 1; i >= 0; i--) {
		hash = (hash ^ mask[i]) * 0x9e3779b97f4a7c15ULL;
		count += __builtin_popcountll(mask[i]);
		if (mask[i])
			first = 64 * i + __builtin_ctzll(mask[i]);
	}
	return (hash >> 32) << 32 | (count ? count : 1) << 16 | first;
}

/* The CPUs of a word, as if they were a run: launchers bind so. */
static void mark(uint64_t any[UB_CPU_WORDS], uint64_t word)
{
	uint32_t cpu = word & 0xffff, end = cpu + (word >> 16 & 0xffff);

	for (; cpu < end && cpu < UB_CPU_WORDS * 64; cpu++)
		any[cpu / 64] |= 1ULL << cpu % 64;
}

static uint64_t *room(const struct ub_scope *w)
{
	return w->n <= UB_ROOM_WORDS ? (uint64_t *)(w->bar.g.head + 1) : NULL;
}

void ub_dev_show_cpus(const struct ub_scope *w)
{
	uint64_t mask[UB_CPU_WORDS], *words = room(w);

	ub_cpus(mask);
	if (words)
		__atomic_store_n(&words[w->rank], word_of(mask), __ATOMIC_RELAXED);
}

int ub_dev_crowd(struct ub_ctx *ctx)
{
	const struct ub_scope *w = ctx->world;
	uint64_t mask[UB_CPU_WORDS], any[UB_CPU_WORDS] = { 0 }, own, word, *words;
	int cpus = ub_cpus(mask), alike = 0, total = 0, all = 0;
	uint32_t i;

	if (!w)
		return 0;
	own = word_of(mask);
	words = room(w);
	if (words)
		__atomic_store_n(&words[w->rank], own, __ATOMIC_RELAXED);
	for (i = 0; i < w->n; i++) {
		/* On other nodes they have CPUs of their own, for all that can be seen. */
		if (w->node[i] != ctx->own_node ||
		    ub_ld(&w->bar.g.line[i].arrival) & UB_ARR_FENCED)
			continue;
		word = words ? __atomic_load_n(&words[i], __ATOMIC_RELAXED) : own;
		if (!word) {
			word = own;
			ctx->crowd_look = ub_now() + UB_SOON_NS;
		}
		total++;
		alike += word == own;
		mark(any, word);
	}
	for (i = 0; i < UB_CPU_WORDS; i++)
		all += __builtin_popcountll(any[i]);
	return alike > cpus || total > all ? all : 0;
}
