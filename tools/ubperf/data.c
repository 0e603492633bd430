// SPDX-License-Identifier: GPL-2.0-only
/* Windows of a test, and copies to and from them. */
#include <stdlib.h>
#include <string.h>

#include "ubperf.h"

int data_prepare(struct perf *p, struct perf_run *r, size_t bytes)
{
	must(ub_win_create(p->world, bytes, &r->win), "ub_win_create");
	r->remote = ub_win_peer(r->win, p->next);
	if (r->size)
		r->local = must_alloc(r->size);
	return 0;
}

void data_finish(struct perf *p, struct perf_run *r)
{
	(void)p;
	must(ub_win_free(r->win), "ub_win_free");
	free(r->local);
}

static void copy(char *to, const char *from, size_t bytes, long count)
{
	while (count--) {
		memcpy(to, from, bytes);
		/* Each copy must be made. */
		__asm__ __volatile__("" ::: "memory");
	}
}

void data_read_loop(struct perf *p, struct perf_run *r, long count)
{
	(void)p;
	copy(r->local, r->remote, r->size, count);
}

void data_write_loop(struct perf *p, struct perf_run *r, long count)
{
	(void)p;
	copy(r->remote, r->local, r->size, count);
}

enum perf_verdict data_read_verify(struct perf *p, struct perf_run *r)
{
	return data_is(r->local, r->size, p->next) ? PERF_GOOD : PERF_BAD;
}
