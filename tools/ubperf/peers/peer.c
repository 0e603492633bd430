// SPDX-License-Identifier: GPL-2.0-only
#include "peer.h"

void peer_join(struct perf *p, int rank, int n)
{
	p->rank = rank;
	p->n = n;
	p->next = (rank + 1) % n;
	p->prev = (rank + n - 1) % n;
	p->nodes = 1;
	ub_clock_init();
}
