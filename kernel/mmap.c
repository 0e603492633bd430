// SPDX-License-Identifier: GPL-2.0-only
/*
 * mmap() of windows and of group pages, faults, revocation. Quiet mappings: quiet.c.
 *
 * Invariants:
 *  - The file offset is the global address. Pages are found at each fault by
 *    the offset, with every check again; nothing is remembered in the vma.
 *  - vm_flags are set in mmap() only.
 *  - Faults hold map_sem for read from check to insertion; revoking changes
 *    what they check, then takes it for write and zaps. So a page that was
 *    revoked is mapped nowhere, and the next touch is SIGBUS.
 *  - The transport holds a write-back mapping of the memory for its life, or
 *    else vmf_insert_pfn() would silently map it uncached.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include "trace.h"
#include "ub.h"

/* Offset in the shared memory behind @gva for @file, or 0 with an error. */
static u64 mmap_offset(struct ub_file *file, u64 gva, bool write, int *err)
{
	struct ub_attachment *a;
	u64 off = 0;

	if (ub_gva_is_group(gva)) {
		off = ub_group_page(file, gva);
		*err = off ? 0 : -ENOENT;
		return off;
	}
	mutex_lock(&file->lock);
	a = ub_win_find(file, gva);
	*err = a ? ub_win_check(file->fabric, a) : -ENOENT;
	if (!*err && (!(a->rights & UB_WIN_READ) ||
		      (write && !(a->rights & UB_WIN_WRITE))))
		*err = -EACCES;
	if (!*err)
		off = a->at.offset + (gva - a->at.gva);
	mutex_unlock(&file->lock);
	return off;
}

/**
 * ub_mmap_begin() - a fault on a copied window: may the page be mapped
 * @file: the file
 * @gva: of the page
 * @write: the mapping may be stored to
 * @at: gets the window
 *
 * Context: may sleep; mmap_lock is held. On success state_sem and map_sem are
 *	held for read until ub_mmap_end().
 * Return: 0 or -errno.
 */
int ub_mmap_begin(struct ub_file *file, u64 gva, bool write, struct ub_place *at)
{
	struct ub_fabric *f = file->fabric;
	struct ub_attachment *a;
	int err = -ESHUTDOWN;

	down_read(&f->state_sem);
	if (f->state != UB_FABRIC_UP || f->incarnation != file->node_incarnation)
		goto state;
	down_read(&f->map_sem);
	mutex_lock(&file->lock);
	a = ub_win_find(file, gva);
	err = a ? ub_win_check(f, a) : -ENOENT;
	if (!err && (!(a->rights & UB_WIN_READ) ||
		     (write && !(a->rights & UB_WIN_WRITE))))
		err = -EACCES;
	if (!err)
		*at = a->at;
	mutex_unlock(&file->lock);
	if (!err)
		return 0;
	up_read(&f->map_sem);
state:
	up_read(&f->state_sem);
	return err;
}

/**
 * ub_mmap_end() - end what ub_mmap_begin() began
 * @file: the file
 *
 * Context: any.
 */
void ub_mmap_end(struct ub_file *file)
{
	up_read(&file->fabric->map_sem);
	up_read(&file->fabric->state_sem);
}

/**
 * ub_mmap_fault() - map the page behind an address
 * @vmf: the fault
 *
 * Context: mmap_lock is held.
 * Return: as a fault handler.
 */
vm_fault_t ub_mmap_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct ub_file *file = vma->vm_file->private_data;
	struct ub_fabric *f = file->fabric;
	u64 off, gva = (u64)vmf->pgoff << PAGE_SHIFT;
	vm_fault_t ret = VM_FAULT_SIGBUS;
	int err = -ESHUTDOWN;

	down_read(&f->state_sem);
	if (f->state != UB_FABRIC_UP || f->incarnation != file->node_incarnation)
		goto out;
	down_read(&f->map_sem);
	off = mmap_offset(file, gva, vma->vm_flags & VM_WRITE, &err);
	ub_instant();	/* what is mapped will be stored to */
	if (off)
		ret = vmf_insert_pfn(vma, vmf->address, f->ops->pfn(f, off));
	up_read(&f->map_sem);
out:
	up_read(&f->state_sem);
	if (ret == VM_FAULT_SIGBUS)
		ub_count(f, sigbus);
	else
		ub_count(f, faults);
	return ret;
}

/**
 * ub_mremap() - a moved mapping would be one more thing to reason about
 * @vma: the mapping
 *
 * Context: mmap_lock is held.
 * Return: -EINVAL.
 */
int ub_mremap(struct vm_area_struct *vma)
{
	return -EINVAL;
}

static const struct vm_operations_struct ub_vm_ops = {
	.fault	= ub_mmap_fault,
	.mremap	= ub_mremap,
};

static int mmap_window(struct ub_file *file, u64 gva, u64 len, bool write,
		       u32 *rights)
{
	struct ub_attachment *a;
	int err;

	if (!ub_gva_range_ok(gva, len))
		return -EINVAL;
	mutex_lock(&file->lock);
	a = ub_win_find(file, gva);
	err = a ? ub_win_check(file->fabric, a) : -ENOENT;
	if (!err && !ub_gva_inside(gva, len, a->at.gva, PAGE_ALIGN(a->at.length)))
		err = -EOVERFLOW;
	if (!err && (!(a->rights & UB_WIN_READ) ||
		     (write && !(a->rights & UB_WIN_WRITE))))
		err = -EACCES;
	*rights = a ? a->rights : 0;
	mutex_unlock(&file->lock);
	return err;
}

static int mmap_group(struct ub_file *file, u64 gva, u64 len)
{
	u64 mask = (1ULL << UB_GVA_GROUP_SHIFT) - 1;

	if (len > file->fabric->geo.map_size ||
	    (gva & mask) > file->fabric->geo.map_size - len)
		return -EOVERFLOW;
	return ub_group_page(file, gva) &&
	       ub_group_page(file, gva + len - PAGE_SIZE) ? 0 : -ENOENT;
}

/**
 * ub_mmap() - mmap() of the device
 * @filp: the file
 * @vma: the mapping; its offset is a global address
 *
 * Context: process; mmap_lock is held for write.
 * Return: 0; -EINVAL not shared, or no window address; -EACCES rights, or
 *	executable; -ENOENT, -ESTALE, -EOWNERDEAD, -ESHUTDOWN as for calls;
 *	-EOVERFLOW past the end.
 */
int ub_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct ub_file *file = filp->private_data;
	struct ub_fabric *f = file->fabric;
	u64 gva = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 len = vma->vm_end - vma->vm_start;
	u32 rights = UB_WIN_RIGHTS;
	bool quiet = ub_gva_is_quiet(gva);
	int err;

	if (task_tgid(current) != file->owner || current->mm != file->mm)
		return -EPERM;
	if (!(vma->vm_flags & VM_SHARED) || gva >> 63)
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EACCES;
	if (quiet) {
		err = ub_quiet_mmap(file, vma, &gva);
		if (err)
			return err;
	}
	/* mmap_lock is held: a test hook must not make the process wait here */
	err = ub_fabric_enter_now(f);
	if (err)
		return err;
	if (f->incarnation != file->node_incarnation)
		err = -ESHUTDOWN;
	else if (ub_gva_is_group(gva))
		err = mmap_group(file, gva, len);
	else if (gva || !quiet)
		err = mmap_window(file, gva, len, vma->vm_flags & VM_WRITE,
				  &rights);
	ub_fabric_exit(f);
	if (err)
		return err;
	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	if (quiet || ub_gva_is_group(gva))
		vm_flags_set(vma, VM_DONTCOPY);
	vm_flags_clear(vma, VM_MAYEXEC);
	if (!(rights & UB_WIN_WRITE))
		vm_flags_clear(vma, VM_MAYWRITE);
	if (quiet)
		return 0;
	vma->vm_ops = f->copied && ub_gva_node(gva) != f->node ?
		      &ub_copied_vm_ops : &ub_vm_ops;
	return 0;
}

/**
 * ub_mmap_zap() - take mapped pages away from all processes; none come back yet
 * @f: the fabric
 * @gva: start, page aligned
 * @len: bytes, rounded up to pages
 *
 * Context: may sleep; map_sem is held for write.
 */
void ub_mmap_zap(struct ub_fabric *f, u64 gva, u64 len)
{
	lockdep_assert_held_write(&f->map_sem);
	trace_ub_revoke(f->node, gva, len);
	ub_count(f, revokes);
	unmap_mapping_range(f->inode->i_mapping, gva, len, 1);
}

/**
 * ub_mmap_revoke() - take mapped pages away from all processes
 * @f: the fabric
 * @gva: start, page aligned
 * @len: bytes, rounded up to pages
 *
 * What faults and XFER check has been changed before. Those that may still
 * use the range fault it in again.
 *
 * Context: may sleep; takes map_sem for write; file->lock is not held.
 */
void ub_mmap_revoke(struct ub_fabric *f, u64 gva, u64 len)
{
	down_write(&f->map_sem);
	ub_mmap_zap(f, gva, len);
	up_write(&f->map_sem);
}

/**
 * ub_mmap_revoke_all() - take all mapped pages of a fabric away
 * @f: the fabric
 *
 * Context: as ub_mmap_revoke().
 */
void ub_mmap_revoke_all(struct ub_fabric *f)
{
	trace_ub_revoke(f->node, 0, 0);
	ub_count(f, revokes);
	down_write(&f->map_sem);
	unmap_mapping_range(f->inode->i_mapping, 0, 0, 1);
	up_write(&f->map_sem);
}

/**
 * ub_kernel_memtype() - how the kernel maps an address
 * @mem: the address
 *
 * Context: any.
 * Return: the type, unknown where it cannot be told.
 */
enum ub_memtype ub_kernel_memtype(void *mem)
{
#ifdef CONFIG_X86
	unsigned int level;
	pte_t *pte = lookup_address((unsigned long)mem, &level);

	if (!pte)
		return UB_MEMTYPE_UNKNOWN;
	return pte_flags(*pte) & (_PAGE_PWT | _PAGE_PCD) ? UB_MEMTYPE_UC :
							    UB_MEMTYPE_WB;
#else
	return UB_MEMTYPE_UNKNOWN;
#endif
}
EXPORT_SYMBOL_GPL(ub_kernel_memtype);

/**
 * ub_mmap_memtype() - how a mapped page of the caller is cached
 * @addr: user address
 *
 * Context: process; may sleep.
 * Return: enum ub_memtype, or -EFAULT when nothing is mapped there.
 */
int ub_mmap_memtype(unsigned long addr)
{
	struct vm_area_struct *vma;
	pgprot_t prot;
	int err = -EFAULT;

	mmap_read_lock(current->mm);
	vma = vma_lookup(current->mm, addr);
	if (vma && (vma->vm_ops == &ub_vm_ops || vma->vm_ops == &ub_quiet_vm_ops ||
		    vma->vm_ops == &ub_copied_vm_ops))
		err = ub_user_pgprot(vma, addr & PAGE_MASK, &prot);
	mmap_read_unlock(current->mm);
	if (err)
		return err;
#ifdef CONFIG_X86
	return pgprot_val(prot) & (_PAGE_PWT | _PAGE_PCD | _PAGE_PAT) ?
	       UB_MEMTYPE_UC : UB_MEMTYPE_WB;
#else
	return UB_MEMTYPE_UNKNOWN;
#endif
}
