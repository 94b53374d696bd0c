/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Faults of programs that only their kernel can make. System calls fail, are late, or move fewer bytes than they were asked to. Programs get no
 * processor: they wait where they would return from their kernel, so that nobody sees more than that they do nothing. Threads and
 * processes take turns by priorities that are drawn from a seed and change at some of their calls (PCT: Burckhardt et al., "A Randomized
 * Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010). The kernel as a whole does nothing for a while. It kills a process
 * as if there were no memory left.
 *
 * The agent, process 1, orders this by prctl(2) with an option that Linux does not have. Without faults a system call has one branch more
 * that is never taken, and so has each return to a program.
 */

/* netloom: file arch/um/include/asm/processor-generic.h */
/* netloom: instead of */
	void *segv_continue;
/* netloom: put */
	void *segv_continue;

	/* What a fault of the lab does to this task; all 0: nothing. */
	struct {
		/* The most bytes that the vectors of its present call may have. */
		unsigned long most;
		/* Who of those that can run runs first, and for how many calls it has done so. */
		unsigned long rank;
		unsigned long streak;
		unsigned long wait;
	} netloom;
/* netloom: end */

/* netloom: file arch/um/kernel/skas/syscall.c */
/* netloom: instead of */
#include <asm/delay.h>
/* netloom: put */
#include <asm/delay.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/file.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/namei.h>
#include <linux/oom.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/mm.h>
#include <linux/sched/rt.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "faults/calls.c"

#include "faults/turns.c"

#include "faults/orders.c"
/* netloom: end */
/* netloom: instead of */
		ret = (*sys_call_table[syscall])(UPT_SYSCALL_ARG1(&regs->regs),
/* netloom: put */
		if (unlikely(netloom_answers | netloom_holds))
			ret = netloom_execute(syscall, &regs->regs);
		else
			ret = (*sys_call_table[syscall])(UPT_SYSCALL_ARG1(&regs->regs),
/* netloom: end */

/* netloom: file arch/um/kernel/process.c */
/* netloom: instead of */
void interrupt_end(void)
{
/* netloom: put */
extern int netloom_holds;
bool netloom_held(void);

void interrupt_end(void)
{
/* netloom: end */
/* netloom: instead of */
	thread_flags = read_thread_flags();
	while (thread_flags & _TIF_WORK_MASK) {
/* netloom: put */
again:
	thread_flags = read_thread_flags();
	while (thread_flags & _TIF_WORK_MASK) {
/* netloom: end */
/* netloom: instead of */
		if (thread_flags & _TIF_NOTIFY_RESUME)
			resume_user_mode_work(regs);
		thread_flags = read_thread_flags();
	}
/* netloom: put */
		if (thread_flags & _TIF_NOTIFY_RESUME)
			resume_user_mode_work(regs);
		thread_flags = read_thread_flags();
	}
	if (unlikely(netloom_holds) && netloom_held())
		goto again;
/* netloom: end */

/* netloom: file kernel/sys.c */
/* netloom: instead of */
	case PR_SET_NAME:
/* netloom: put */
	case 0x4e4c6674: /* what the agent orders: see arch/um/kernel/skas/syscall.c */
		if (!is_global_init(current))
			return -EINVAL;
		return netloom_order(arg2, arg3, arg4);
	case PR_SET_NAME:
/* netloom: end */
/* netloom: instead of */
SYSCALL_DEFINE5(prctl, int, option, unsigned long, arg2, unsigned long, arg3,
/* netloom: put */
long netloom_order(unsigned long what, unsigned long first, unsigned long second);

SYSCALL_DEFINE5(prctl, int, option, unsigned long, arg2, unsigned long, arg3,
/* netloom: end */

/* netloom: file lib/iov_iter.c */
/* netloom: instead of */
	if (nr_segs == 1)
		return __import_iovec_ubuf(type, uvec, iovp, i, compat);

	iov = iovec_from_user(uvec
/* netloom: put */
	if (nr_segs == 1) {
		total_len = __import_iovec_ubuf(type, uvec, iovp, i, compat);
		if (unlikely(current->thread.netloom.most) && total_len > 0) {
			iov_iter_truncate(i, current->thread.netloom.most);
			total_len = iov_iter_count(i);
		}
		return total_len;
	}

	iov = iovec_from_user(uvec
/* netloom: end */
/* netloom: instead of */
	iov_iter_init(i, type, iov, nr_segs, total_len);
	if (iov == *iovp)
		*iovp = NULL;
	else
		*iovp = iov;
	return total_len;
/* netloom: put */
	iov_iter_init(i, type, iov, nr_segs, total_len);
	if (unlikely(current->thread.netloom.most)) {
		iov_iter_truncate(i, current->thread.netloom.most);
		total_len = iov_iter_count(i);
	}
	if (iov == *iovp)
		*iovp = NULL;
	else
		*iovp = iov;
	return total_len;
/* netloom: end */
