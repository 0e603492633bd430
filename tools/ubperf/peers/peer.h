/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs on other libraries with ubperf's tests under ubperf's names, timed by
 * ubperf's run.c: only the operation differs.
 *
 * What is common to them needs no library but libub's clock.
 */
#ifndef PEER_H
#define PEER_H

#include "clock.h"
#include "ubperf.h"

/* Ranks and names; the caller gives team, fabric and what it needs itself. */
void peer_join(struct perf *p, int rank, int n);

#endif
