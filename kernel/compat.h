/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shims for older and newer kernels, included before every file. Code uses
 * the new names; what a kernel has is probed by compat.mk.
 */
#ifndef UB_COMPAT_H
#define UB_COMPAT_H

#include <linux/mm.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "ub needs Linux 6.1 or later"
#endif

/* 6.3: bc292ab00f6c */
#ifndef UB_HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#endif

/* 6.2: ff62b8e6588f */
#ifdef UB_HAVE_CONST_DEVNODE
#define UB_DEVNODE_CONST	const
#else
#define UB_DEVNODE_CONST
#endif

/* 6.7: 5c670a010de4 */
#ifdef UB_HAVE_GENL_INFO_DUMP
#define ub_dump_attrs(cb)	(genl_info_dump(cb)->attrs)
#else
#define ub_dump_attrs(cb)	(genl_dumpit_info(cb)->attrs)
#endif

/* 6.19: the key comes first, the result last */
#ifdef UB_HAVE_BLAKE2S_KEY_FIRST
#define ub_blake2s	blake2s
#else
#define ub_blake2s(key, keylen, in, inlen, out, outlen) \
	blake2s(out, in, key, outlen, inlen, keylen)
#endif

/* 6.2; see compat_genl.h */
#ifndef UB_HAVE_GENL_SPLIT_OPS
#define genl_split_ops	genl_ops
#define split_ops	ops
#define n_split_ops	n_ops
#endif

/* 6.7: ranges of a policy are const; nothing writes to them before either. */
#ifndef UB_HAVE_CONST_NLA_RANGE
#include <net/netlink.h>
#undef NLA_POLICY_FULL_RANGE
#define NLA_POLICY_FULL_RANGE(tp, _range) {		\
	.type = NLA_ENSURE_UINT_OR_BINARY_TYPE(tp),	\
	.validation_type = NLA_VALIDATE_RANGE_PTR,	\
	.range = (struct netlink_range_validation *)(_range),	\
}
#endif

/* Page protection of a mapped user page. Call with mmap_lock held for read. */
static inline int ub_user_pgprot(struct vm_area_struct *vma, unsigned long addr,
				 pgprot_t *prot)
{
#ifdef UB_HAVE_FOLLOW_PFNMAP
	struct follow_pfnmap_args args = { .vma = vma, .address = addr };

	if (follow_pfnmap_start(&args))
		return -EFAULT;
	*prot = args.pgprot;
	follow_pfnmap_end(&args);
#else
	spinlock_t *ptl;	/* of the page table */
	pte_t *ptep;

	if (follow_pte(vma->vm_mm, addr, &ptep, &ptl))
		return -EFAULT;
	__acquire(ptl);
	*prot = __pgprot(pte_flags(*ptep));
	pte_unmap_unlock(ptep, ptl);
#endif
	return 0;
}

#endif /* UB_COMPAT_H */
