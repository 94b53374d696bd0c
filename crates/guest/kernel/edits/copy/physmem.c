/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include <linux/async.h>
#include <linux/magic.h>
#include <linux/moduleparam.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/um_timetravel.h>
#include <asm/mmu_context.h>
#include <asm/setup.h>
#include <skas.h>
#include <timetravel.h>

/* The file in which a page can be mapped, at its physical address; set by the device backend. `steady`: nobody will write to it. */
static int (*netloom_page)(unsigned long phys, int steady);

/* What the device backend gets: the same as in shim/checkpoint.c. */
struct netloom_checkpoint {
	unsigned long memory;
	unsigned long begin, end;
	long file;
	int (**page)(unsigned long phys, int steady);
	char *rest;
	unsigned long room;
	int *is_copy;
	long programs;
};

extern const struct kernel_param __start___param[], __stop___param[];
void __weak netloom_reseed(void);

static int netloom_mark(pte_t *pte, unsigned long addr, void *unused)
{
	if (pte_present(*pte))
		*pte = pte_mkneedsync(*pte);
	return 0;
}

/* The process of the calling program belongs to the template: a copy gets one of its own, with the same memory. */
static void netloom_restart(struct mm_struct *mm)
{
	struct mm_id *id = &mm->context.id;

	if (using_seccomp)
		os_close_file(id->sock);
	memset((void *)id->stack, 0, STUB_DATA_PAGES * PAGE_SIZE);
	id->syscall_data_len = 0;
	id->syscall_fd_num = 0;
	if (start_userspace(id) < 0)
		panic("netloom: a copy cannot start its first process");
	unmap(id, 0, STUB_START);
	apply_to_existing_page_range(mm, 0, STUB_START, netloom_mark, NULL);
	um_tlb_mark_sync(mm, 0, STUB_START);
}

int netloom_checkpoint(void);
int netloom_checkpoint(void)
{
	static int is_done, is_copy;
	struct netloom_checkpoint told = {
		.memory = uml_physmem, .begin = uml_reserved - uml_physmem, .end = physmem_size,
		.file = physmem_fd, .page = &netloom_page, .room = COMMAND_LINE_SIZE, .is_copy = &is_copy,
	};
	struct task_struct *other;
	int fd;

	if (time_travel_mode != TT_MODE_EXTERNAL || is_done || !is_global_init(current))
		return -EINVAL;
	is_done = 1;
	fd = os_connect_socket("/netloom/checkpoint");
	if (fd < 0)
		return -EINVAL;
	async_synchronize_full();
	rcu_read_lock();
	for_each_process(other)
		told.programs += other->mm != NULL;
	rcu_read_unlock();
	/* Parameters may keep parts of it. */
	told.rest = kzalloc(told.room, GFP_KERNEL);
	if (!told.rest || os_write_file(fd, &told, sizeof(told)) != sizeof(told))
		panic("netloom: a kernel cannot go on from its checkpoint");
	os_close_file(fd);
	if (is_copy)
		netloom_restart(current->mm);
	if (netloom_reseed)
		netloom_reseed();
	parse_args("node", told.rest, __start___param, __stop___param - __start___param, -1, 7, NULL, NULL);
	return 0;
}

/* The same for a page that a program has mapped. Nobody writes to pages of the machine's files. */
int netloom_mapping(unsigned long phys, unsigned long long *offset_out, int writable);
int netloom_mapping(unsigned long phys, unsigned long long *offset_out, int writable)
{
	struct address_space *mapping;

	if (!netloom_page || writable || !using_seccomp || phys >= physmem_size)
		return phys_mapping(phys, offset_out);
	mapping = folio_mapping(page_folio(phys_to_page(phys)));
	*offset_out = phys;
	return netloom_page(phys, mapping && mapping->host && mapping->host->i_sb->s_magic == HOSTFS_SUPER_MAGIC);
}

