// SPDX-License-Identifier: MIT
/*
 * Mailboxes: small data of every member for all others, with one barrier. A slot
 * is written before the barrier, read after it, and written again two exchanges
 * later, when the one in between has shown that all have read it.
 */
#include "internal.h"

void *ub_mail(struct ub_scope *s)
{
	return s->bar.g.mail[s->rank].slot[s->exchanges & 1];
}

int ub_exchange(struct ub_scope *s)
{
	int err = ub_sync_inside(s);

	if (!err)
		s->exchanges++;
	return err;
}

const void *ub_mail_of(const struct ub_scope *s, uint32_t rank)
{
	return s->bar.g.mail[rank].slot[(s->exchanges - 1) & 1];
}
