// SPDX-License-Identifier: GPL-2.0-only
/*
 * Quiet mappings: a window mapped once more, for copies by a library on its own
 * account. Where the window ended, a touch is no SIGBUS: it meets a blank page of
 * the file, and a number that the library reads after each copy has risen.
 *
 * Invariants:
 *  - The number rises before a blank page is mapped.
 *  - A page that is blank stays so in that mapping, also when the window can be
 *    used again: whoever finds that the number rose asks by a call, and maps anew.
 *  - The blank page is the file's alone: there are no bytes of others in it.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include "ub.h"

/* What mappings of a file need, made once: 0 or -ENOMEM. */
static int quiet_begin(struct ub_file *file)
{
	void *blank = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	void *blanks = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	int err = blank && blanks ? 0 : -ENOMEM;

	mutex_lock(&file->lock);
	if (!err && !file->blank) {
		swap(file->blank, blank);
		file->blanks = blanks;
		blanks = NULL;
	}
	mutex_unlock(&file->lock);
	free_page((unsigned long)blank);
	free_page((unsigned long)blanks);
	return err;
}

/**
 * ub_quiet_release() - the last reference of the file is gone
 * @file: the file
 *
 * Context: process; nothing of it is mapped any more.
 */
void ub_quiet_release(struct ub_file *file)
{
	free_page((unsigned long)file->blank);
	free_page((unsigned long)file->blanks);
}

static vm_fault_t map_own(struct vm_fault *vmf, void *page)
{
	return vmf_insert_pfn(vmf->vma, vmf->address, page_to_pfn(virt_to_page(page)));
}

static vm_fault_t quiet_fault(struct vm_fault *vmf)
{
	struct ub_file *file = vmf->vma->vm_file->private_data;
	vm_fault_t ret = ub_mmap_fault(vmf);

	if (ret != VM_FAULT_SIGBUS)
		return ret;
	mutex_lock(&file->lock);
	WRITE_ONCE(*file->blanks, *file->blanks + 1);
	mutex_unlock(&file->lock);
	return map_own(vmf, file->blank);
}

static vm_fault_t number_fault(struct vm_fault *vmf)
{
	struct ub_file *file = vmf->vma->vm_file->private_data;

	return map_own(vmf, file->blanks);
}

const struct vm_operations_struct ub_quiet_vm_ops = {
	.fault	= quiet_fault,
	.mremap	= ub_mremap,
};

static const struct vm_operations_struct number_vm_ops = {
	.fault	= number_fault,
	.mremap	= ub_mremap,
};

/**
 * ub_quiet_mmap() - mmap() at a quiet address: its vma, but for checks of the window
 * @file: the file
 * @vma: the mapping
 * @gva: gets the address that is meant, or 0: the page with the number
 *
 * Context: process; mmap_lock is held for write.
 * Return: 0; -EOPNOTSUPP windows are copied; -EINVAL the number is a page that is
 *	only read; -ENOMEM.
 */
int ub_quiet_mmap(struct ub_file *file, struct vm_area_struct *vma, u64 *gva)
{
	int err;

	static_assert(UB_GVA_QUIET == UB_MMAP_QUIET);
	if (file->fabric->copied)
		return -EOPNOTSUPP;
	err = quiet_begin(file);
	if (err)
		return err;
	*gva = ub_gva_loud(*gva);
	if (!ub_gva_off(*gva)) {
		if (vma->vm_end - vma->vm_start != PAGE_SIZE || vma->vm_flags & VM_WRITE)
			return -EINVAL;
		vm_flags_clear(vma, VM_MAYWRITE);
		vma->vm_ops = &number_vm_ops;
		*gva = 0;
		return 0;
	}
	/* Revoking finds mappings by the address. */
	vma->vm_pgoff = *gva >> PAGE_SHIFT;
	vma->vm_ops = &ub_quiet_vm_ops;
	return 0;
}
