/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registering the generated netlink family on kernels that have one entry for
 * both do and dump of a command, with one policy: so ub.yaml gives both the
 * same attributes. The names are mapped in compat.h.
 */
#ifndef UB_COMPAT_GENL_H
#define UB_COMPAT_GENL_H

#include <net/genetlink.h>
#include <ub/ub_netlink.h>

/* 6.2 */
#ifdef UB_HAVE_GENL_SPLIT_OPS
static inline int ub_genl_register(struct genl_family *family)
{
	return genl_register_family(family);
}
#else
static inline int ub_genl_register(struct genl_family *family)
{
	static struct genl_ops joined[UB_NL_CMD_MAX];
	unsigned int i, n = 0;

	for (i = 0; i < family->n_ops; i++) {
		const struct genl_ops *op = &family->ops[i];

		if (!n || joined[n - 1].cmd != op->cmd) {
			if (n == ARRAY_SIZE(joined))
				return -E2BIG;
			joined[n++] = *op;
			continue;
		}
		if (joined[n - 1].maxattr != op->maxattr)
			return -EINVAL;
		joined[n - 1].dumpit = op->dumpit;
		joined[n - 1].flags |= op->flags;
	}
	family->ops = joined;
	family->n_ops = n;
	return genl_register_family(family);
}
#endif

#endif /* UB_COMPAT_GENL_H */
