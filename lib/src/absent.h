/* SPDX-License-Identifier: MIT */
/* Ranks that ended before they came to the others: what launchers say of them. */
#ifndef UB_ABSENT_H
#define UB_ABSENT_H

struct ub_ctx;

/**
 * ub_absent() - tell the job of the environment that a rank will never come
 * @rank: it; negative: the environment's
 * @keep: what the first call leaves there keeps the others told, also those that
 *	come later, until this process ends; more ranks may use it
 *
 * For a launcher, and for a process that ends before ub_init(). Does nothing
 * where a rank's end is seen anyway, or when the rank has been there.
 * Context: one thread; does not wait for other ranks.
 */
int ub_absent(int rank, struct ub_ctx **keep);

#endif /* UB_ABSENT_H */
