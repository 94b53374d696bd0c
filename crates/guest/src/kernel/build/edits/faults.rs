//! Memory that programs fill in order.

use super::Edits;

/// A program's first touch of a page takes two switches between the processes of the program and of its kernel, and signals, beside
/// the page itself. So when a program writes to a new page of its own memory next to one that it has, it gets the following
/// ones, too: 16 in all, as with files. Memory that is not touched in order grows by single pages.
pub(super) const AHEAD: Edits = Edits {
    file: "arch/um/kernel/trap.c",
    edits: &[
        ("#include <linux/mm.h>\n", "#include <linux/mm.h>\n#include <linux/userfaultfd_k.h>\n"),
        (
            "/*\n * Note this is constrained to return 0, -EFAULT, -EACCES, -ENOMEM by\n * segv().\n */\n",
            "static void netloom_fault_ahead(struct vm_area_struct *vma, unsigned long address)\n{\n\
             \tunsigned long page = address & PAGE_MASK;\n\
             \tunsigned long end = min3(page + 16 * PAGE_SIZE, (page & PMD_MASK) + PMD_SIZE, vma->vm_end);\n\
             \tpte_t *pte = pte_offset_kernel(pmd_off(vma->vm_mm, page), page);\n\n\
             \tif (!vma_is_anonymous(vma) || userfaultfd_armed(vma) || !(page & ~PMD_MASK) ||\n\
             \t    page == vma->vm_start || !pte_present(pte[-1]))\n\
             \t\treturn;\n\
             \twhile ((page += PAGE_SIZE) < end && pte_none(*++pte))\n\
             \t\tif (handle_mm_fault(vma, page, FAULT_FLAG_WRITE, NULL) & VM_FAULT_ERROR)\n\
             \t\t\treturn;\n}\n\n\
             /*\n * Note this is constrained to return 0, -EFAULT, -EACCES, -ENOMEM by\n * segv().\n */\n",
        ),
        (
            "\terr = 0;\n\t/*\n\t * The below warning was added in place of\n",
            "\terr = 0;\n\tif (is_user && is_write)\n\t\tnetloom_fault_ahead(vma, address);\n\
             \t/*\n\t * The below warning was added in place of\n",
        ),
    ],
    without: "programs that use much memory start a little slower with this kernel",
};
