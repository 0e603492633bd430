// SPDX-License-Identifier: MIT
/*
 * Device back end: puts and gets by the CPU. Each part of a window is mapped once
 * more, quietly: where it ended a copy meets a page that is nobody's, and a number
 * that the kernel has raised before. Then a call tells what became of it.
 *
 * Invariant: between the number that a mapping was made at, or found to stand at,
 * and the same number after a copy no page of the mapping was blank.
 */
#include "internal.h"
#include "dev.h"
#include "gaddr.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void ub_quiet_open(struct ub_dev *d)
{
	void *p;

	d->blanks = NULL;
	if (!(d->info.out_caps & UB_CAP_QUIET))
		return;
	p = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, d->fd, UB_MMAP_QUIET);
	if (p != MAP_FAILED)
		d->blanks = p;
}

void ub_quiet_close(struct ub_dev *d)
{
	if (d->blanks)
		munmap((void *)d->blanks, sysconf(_SC_PAGESIZE));
}

/* Map it, in place of what is at @at if anything is. Without, the kernel copies. */
static void map(struct ub_win *w, uint32_t rank, char *at)
{
	struct ub_dev *d = ub_dev_of(w->scope);
	struct ub_quiet *q = &w->quiet[rank];
	void *p;

	q->seen = ub_ld(d->blanks);
	p = mmap(at, w->size[rank], PROT_READ | PROT_WRITE,
		 MAP_SHARED | (at ? MAP_FIXED : 0), d->fd, w->handle[rank] | UB_MMAP_QUIET);
	if (p == MAP_FAILED && at)
		munmap(at, w->size[rank]);
	q->at = p == MAP_FAILED ? NULL : p;
}

void ub_quiet_map(struct ub_win *w, uint32_t rank)
{
	uint64_t end = ub_gva_off(w->handle[rank]) + w->size[rank];

	if (!ub_dev_of(w->scope)->blanks || end > (UB_GVA_QUIET & ~UB_GVA_GROUPS))
		return;
	if (!w->quiet)
		w->quiet = calloc(w->scope->n, sizeof(*w->quiet));
	if (w->quiet)
		map(w, rank, w->quiet[rank].at);
}

void ub_quiet_drop(struct ub_win *w, uint32_t rank)
{
	if (!w->quiet || !w->quiet[rank].at)
		return;
	munmap(w->quiet[rank].at, w->size[rank]);
	w->quiet[rank].at = NULL;
}

void ub_quiet_unmap(struct ub_win *w)
{
	uint32_t i;

	for (i = 0; i < w->scope->n; i++)
		ub_quiet_drop(w, i);
	free(w->quiet);
}
