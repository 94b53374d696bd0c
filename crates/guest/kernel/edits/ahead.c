/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * A program's first touch of a page takes two switches between the processes of the program and of its kernel, and signals, beside
 * the page itself. So when a program writes to a new page of its own memory next to one that it has, it gets the following
 * ones, too: 16 in all, as with files. Memory that is not touched in order grows by single pages.
 */

/* netloom: file arch/um/kernel/trap.c */
/* netloom: instead of */
#include <linux/mm.h>
/* netloom: put */
#include <linux/mm.h>
#include <linux/userfaultfd_k.h>
/* netloom: end */
/* netloom: instead of */
/*
 * Note this is constrained to return 0, -EFAULT, -EACCES, -ENOMEM by
 * segv().
 */
/* netloom: put */
static void netloom_fault_ahead(struct vm_area_struct *vma, unsigned long address)
{
	unsigned long page = address & PAGE_MASK;
	unsigned long end = min3(page + 16 * PAGE_SIZE, (page & PMD_MASK) + PMD_SIZE, vma->vm_end);
	pte_t *pte = pte_offset_kernel(pmd_off(vma->vm_mm, page), page);

	if (!vma_is_anonymous(vma) || userfaultfd_armed(vma) || !(page & ~PMD_MASK) ||
	    page == vma->vm_start || !pte_present(pte[-1]))
		return;
	while ((page += PAGE_SIZE) < end && pte_none(*++pte))
		if (handle_mm_fault(vma, page, FAULT_FLAG_WRITE, NULL) & VM_FAULT_ERROR)
			return;
}

/*
 * Note this is constrained to return 0, -EFAULT, -EACCES, -ENOMEM by
 * segv().
 */
/* netloom: end */
/* netloom: instead of */
	err = 0;
	/*
	 * The below warning was added in place of
/* netloom: put */
	err = 0;
	if (is_user && is_write)
		netloom_fault_ahead(vma, address);
	/*
	 * The below warning was added in place of
/* netloom: end */
