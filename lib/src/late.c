// SPDX-License-Identifier: MIT
/*
 * What a time-out says: who is missing, whether that one lives, or waits elsewhere.
 *
 * A member that has arrived in another scope at a barrier that this one has not
 * come to waits there for this one: the two use their scopes in opposite order,
 * and neither barrier will ever end. The words of all groups of this member tell.
 */
#include "internal.h"
#include <stdio.h>

/* Has world rank @who arrived in @k at a barrier that this member has not? */
static bool waits_in(const struct ub_scope *k, uint32_t who, uint64_t *epoch)
{
	uint32_t i;

	for (i = 0; i < k->n; i++)
		if (k->world_rank[i] == who)
			break;
	if (i == k->n)
		return false;
	*epoch = UB_ARR_EPOCH(ub_ld(&k->bar.g.line[i].arrival));
	return *epoch > __atomic_load_n(&k->bar.epoch, __ATOMIC_RELAXED);
}

/* Where the missing member @m is ahead of this one; "" when nowhere. */
static void elsewhere(struct ub_scope *s, uint32_t m, char *text, size_t size)
{
	struct ub_ctx *ctx = s->ctx;
	const struct ub_scope *k;
	uint64_t epoch;

	text[0] = '\0';
	pthread_mutex_lock(&ctx->lock);
	for (k = ctx->scopes; k; k = k->next) {
		if (k == s || k->lost || !waits_in(k, s->world_rank[m], &epoch))
			continue;
		snprintf(text, size,
			 "; it has come to epoch %llu of another scope, \"%s\" of %u members, where this member has not: use scopes in the same order on all",
			 (unsigned long long)epoch, k->level_name, k->n);
		break;
	}
	pthread_mutex_unlock(&ctx->lock);
}

int ub_late_error(struct ub_scope *s, uint64_t heard_ns)
{
	struct ub_bar *b = &s->bar;
	uint32_t m = ub_bar_missing(b, b->epoch), missing = 0, i;
	char where[192], life[64] = "it lives";
	uint64_t last;

	for (i = 0; i < s->n; i++)
		if (UB_ARR_EPOCH(ub_ld(&b->g.line[i].arrival)) < b->epoch)
			missing++;
	if (m >= s->n)
		m = 0;
	last = UB_ARR_EPOCH(ub_ld(&b->g.line[m].arrival));
	elsewhere(s, m, where, sizeof(where));
	if (heard_ns)
		snprintf(life, sizeof(life), "its node was heard of %llu ms ago",
			 (unsigned long long)heard_ns / 1000000);
	return ub_fail(-ETIMEDOUT,
		       "%s: epoch %llu: %u of %u missing after %d ms, first rank %u (node %u, lane %u), whose last epoch is %llu (%s)%s; call again to go on waiting",
		       s->level_name,
		       (unsigned long long)b->epoch, missing, s->n,
		       s->timeout_ms, m, s->node[m], s->lane[m],
		       (unsigned long long)last, life, where);
}
