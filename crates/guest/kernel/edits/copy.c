/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * In virtual time, a kernel that has booted can be a template: its process is copied, instead of booting another kernel like it. So
 * when its first process has come to what belongs to one node, it asks for the checkpoint, as it would ask for a reboot. The kernel tells its
 * device backend (`shim/checkpoint.c`) where its memory is, and gets the rest of its command line, which has the devices. A
 * kernel that boots for a single node does the same.
 *
 * A copy's memory lies in two files, so that the device backend says in which of them a page can be mapped. What is in the template's
 * file alone can be read there: pages of the machine's files, which nobody writes. The process of the first program is made anew. And each
 * kernel draws its randomness anew, from its node's seed.
 */

/* netloom: file kernel/reboot.c */
/* netloom: instead of */
SYSCALL_DEFINE4(reboot, int, magic1, int, magic2, unsigned int, cmd,
/* netloom: put */
int __weak netloom_checkpoint(void);

SYSCALL_DEFINE4(reboot, int, magic1, int, magic2, unsigned int, cmd,
/* netloom: end */
/* netloom: instead of */
	case LINUX_REBOOT_CMD_RESTART2:
		ret = strncpy_from_user
/* netloom: put */
	case 0x4e65744c:
		ret = netloom_checkpoint ? netloom_checkpoint() : -EINVAL;
		break;

	case LINUX_REBOOT_CMD_RESTART2:
		ret = strncpy_from_user
/* netloom: end */

/* netloom: file drivers/char/random.c */
/* netloom: instead of */
static long random_ioctl(struct file *f, unsigned int cmd, unsigned long arg)
{
/* netloom: put */
void netloom_reseed(void);
void netloom_reseed(void)
{
	if (crng_ready())
		crng_reseed(NULL);
}

static long random_ioctl(struct file *f, unsigned int cmd, unsigned long arg)
{
/* netloom: end */

/* netloom: file arch/um/kernel/physmem.c */
/* netloom: instead of */
int phys_mapping(unsigned long phys, unsigned long long *offset_out)
{
	int fd = -1;

	if (phys < physmem_size) {
		fd = physmem_fd;
/* netloom: put */
#include "copy/physmem.c"
int phys_mapping(unsigned long phys, unsigned long long *offset_out)
{
	int fd = -1;

	if (phys < physmem_size) {
		fd = netloom_page ? netloom_page(phys, 0) : physmem_fd;
/* netloom: end */

/* netloom: file arch/um/kernel/tlb.c */
/* netloom: instead of */
static inline int update_pte_range(pmd_t *pmd, unsigned long addr,
/* netloom: put */
int __weak netloom_mapping(unsigned long phys, unsigned long long *offset_out, int writable);

static inline int update_pte_range(pmd_t *pmd, unsigned long addr,
/* netloom: end */
/* netloom: instead of */
			int fd = phys_mapping(phys, &offset);
/* netloom: put */
			int fd = netloom_mapping ? netloom_mapping(phys, &offset, pte_write(*pte)) :
				phys_mapping(phys, &offset);
/* netloom: end */
