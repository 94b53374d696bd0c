/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * A kernel hears of a system call when the machine's kernel sends the calling process a signal (`SECCOMP_RET_TRAP`), whose handler
 * wakes the kernel by a futex and sleeps on it. For calls that need nothing of the program but their arguments, there is a shorter way:
 * a notification (`SECCOMP_RET_USER_NOTIF`, seccomp_unotify(2), Linux 5.19 or later for `SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV`). The
 * process waits within its call, the kernel reads number and arguments from the filter's descriptor, and answers there with the
 * result. That spares the signal, what it saves and restores, and two of the four calls of the futex.
 *
 * The registers stay with the process meanwhile. Where the kernel needs them, or the process for something else, it sends the
 * process SIGALRM before it answers: that is reported behind the call, with all registers (`netloom_surface`). This happens before a
 * signal of the program is handled, where somebody traces it or it has a filter of its own, where another thread is to run, and where
 * memory has been mapped meanwhile. All other calls, faults and signals are reported by the handler as before, which then waits by a
 * notification, too.
 *
 * Before Linux 5.16 a process with a filter ran with the mitigation of Speculative Store Bypass, which was switched at each change to
 * another process. Programs of a node need no more protection than others: SECCOMP_FILTER_FLAG_SPEC_ALLOW.
 *
 * Where another processor is free, kernel and process wait for one another by looking at a word of the process's memory (polling), each on a
 * processor of its own: neither sleeps, and no processor changes from one to the other and back, which costs more than the call, as it
 * empties what the processor remembers of memory and branches. Calls then come by the signal of a selector in the process's memory
 * (PR_SET_SYSCALL_USER_DISPATCH, prctl(2), Linux 5.11), which the kernel switches between two calls. Who has looked for some 30 us asks, or
 * listens, as above. After 16 times in vain they do without for 64 calls, then for twice as many.
 *
 * Programs, results and the time that passes in a lab are the same in either way. Where this machine does not let a kernel listen
 * (an older one; Yama's `ptrace_scope` of 2 or 3), and where branches are counted, the futex remains.
 */

/* netloom: file arch/um/include/shared/skas/mm_id.h */
/* netloom: instead of */
#define STUB_MAX_FDS 4
/* netloom: put */
#define STUB_MAX_FDS 4

struct uml_pt_regs;

/* What a program asks of its kernel, and waits for, without a signal. */
struct netloom_call {
	int nr; /* -1: nothing; its process reports a signal */
	unsigned long ip;
	unsigned long args[6];
};
/* netloom: end */
/* netloom: instead of */
	int syscall_fd_map[STUB_MAX_FDS];
/* netloom: put */
	int syscall_fd_map[STUB_MAX_FDS];

	/* How it asks: by this descriptor, or, if that is 0, by a futex. */
	int netloom_asks;
	unsigned int netloom_heard : 1;
	/* It has reported without asking, because the kernel polls. */
	unsigned int netloom_polled : 1;
	/* Whether kernel and process poll, on two processors; how often with success and in vain; for two to the power of how many calls they
	 * do not next, and for how many more now. */
	unsigned int netloom_polls : 1;
	unsigned int netloom_beside : 1;
	unsigned int netloom_hits : 6;
	unsigned int netloom_misses : 4;
	unsigned int netloom_pause : 4;
	unsigned int netloom_rest : 14;
	unsigned long long netloom_id;
	struct netloom_call netloom_call;
	/* Where the registers of who asked belong; until the answer they are with the process. */
	struct uml_pt_regs *netloom_asker;
/* netloom: end */
/* netloom: instead of */
struct mutex *__get_turnstile
/* netloom: put */
void netloom_surface(struct mm_id *mm_idp);

struct mutex *__get_turnstile
/* netloom: end */

/* netloom: file arch/um/include/shared/skas/stub-data.h */
/* netloom: instead of */
	unsigned long event;
	int seccomp;
/* netloom: put */
	unsigned long event;
	int seccomp;
	int netloom_asks;
/* netloom: end */
/* netloom: instead of */
	struct stub_data_arch arch_data;
/* netloom: put */
	struct stub_data_arch arch_data;

	/* The process asks by a notification, not by a futex. */
	char netloom_asks;
	/* Its calls come by the signal of a selector, and it polls before it asks, if it can. */
	char netloom_selector;
	char netloom_polls;
	char netloom_may_poll;
/* netloom: end */
/* netloom: instead of */
#define FUTEX_IN_KERN 1
/* netloom: put */
#define FUTEX_IN_KERN 1
/* The process has polled for long enough, and waits by a notification. */
#define NETLOOM_ASLEEP 2
/* How often process and kernel poll: for some 30 us. */
#define NETLOOM_POLLS 1500
/* netloom: end */

/* netloom: file arch/um/kernel/skas/stub.c */
/* netloom: instead of */
restart_wait:
	d->futex = FUTEX_IN_KERN;
	do {
/* netloom: put */
restart_wait:
	if (d->netloom_asks) {
#include "asked/stub.c"
		res = stub_syscall0(__NR_getppid);
		goto netloom_answered;
	}
	d->futex = FUTEX_IN_KERN;
	do {
/* netloom: end */
/* netloom: instead of */
	if (res < 0 && res != -EAGAIN)
		stub_syscall1(__NR_exit_group, 1);

	if (d->syscall_data_len) {
/* netloom: put */
netloom_answered:
	if (res < 0 && res != -EAGAIN)
		stub_syscall1(__NR_exit_group, 1);

	if (d->syscall_data_len) {
/* netloom: end */

/* netloom: file arch/um/kernel/skas/stub_exe.c */
/* netloom: instead of */
		if (stub_syscall3(__NR_seccomp, SECCOMP_SET_MODE_FILTER,
				  SECCOMP_FILTER_FLAG_TSYNC,
/* netloom: put */
#include "asked/stub_exe.c"
		if (stub_syscall3(__NR_seccomp, SECCOMP_SET_MODE_FILTER,
				  SECCOMP_FILTER_FLAG_TSYNC | 4 /* SPEC_ALLOW */,
/* netloom: end */
/* netloom: instead of */
		.sa_flags = SA_ONSTACK | SA_NODEFER | SA_SIGINFO | 0x04000000,
/* netloom: put */
		.sa_flags = SA_ONSTACK | SA_NODEFER | SA_SIGINFO | SA_RESTART | 0x04000000,
/* netloom: end */

/* netloom: file arch/um/kernel/skas/mmu.c */
/* netloom: instead of */
		os_close_file(mmu->id.sock);
/* netloom: put */
		os_close_file(mmu->id.sock);
	if (using_seccomp && mmu->id.netloom_asks)
		os_close_file(mmu->id.netloom_asks);
/* netloom: end */

/* netloom: file arch/um/kernel/time.c */
/* netloom: instead of */
	    get_current()->mm)
		os_alarm_process(
/* netloom: put */
	    get_current()->mm && !get_current()->mm->context.id.netloom_asker)
		os_alarm_process(
/* netloom: end */

/* netloom: file arch/um/kernel/process.c */
/* netloom: instead of */
		if (thread_flags & (_TIF_SIGPENDING | _TIF_NOTIFY_SIGNAL))
			do_signal(regs);
/* netloom: put */
		if ((thread_flags & (_TIF_SIGPENDING | _TIF_NOTIFY_SIGNAL | _TIF_NOTIFY_RESUME)) &&
		    current->mm && current->mm->context.id.netloom_asker == &regs->regs)
			netloom_surface(&current->mm->context.id);
		if (thread_flags & (_TIF_SIGPENDING | _TIF_NOTIFY_SIGNAL))
			do_signal(regs);
/* netloom: end */

/* netloom: file arch/um/kernel/skas/syscall.c */
/* netloom: instead of */
	if (syscall_trace_enter(regs))
/* netloom: put */
	/* Whoever traces it, or ends it here, finds its registers. */
	if (current->mm && current->mm->context.id.netloom_asker == r &&
	    (test_thread_flag(TIF_SYSCALL_TRACE) || test_thread_flag(TIF_SYSCALL_TRACEPOINT) ||
	     test_thread_flag(TIF_SINGLESTEP) || test_thread_flag(TIF_SECCOMP)))
		netloom_surface(&current->mm->context.id);

	if (syscall_trace_enter(regs))
/* netloom: end */

/* netloom: file arch/um/os-Linux/skas/process.c */
/* netloom: instead of */
#include <linux/futex.h>
/* netloom: put */
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
/* netloom: end */
/* netloom: instead of */
void wait_stub_done_seccomp(struct mm_id *mm_idp, int running, int wait_sigsys)
{
/* netloom: put */
#include "asked/process.c"
#include "asked/poll.c"
void wait_stub_done_seccomp(struct mm_id *mm_idp, int running, int wait_sigsys)
{
/* netloom: end */
/* netloom: instead of */
	struct stub_data *data = (void *)mm_idp->stack;
	int ret;

	do {
/* netloom: put */
	struct stub_data *data = (void *)mm_idp->stack;
	int ret;

	if (!running && mm_idp->netloom_asker)
		netloom_surface(mm_idp);

	do {
/* netloom: end */
/* netloom: instead of */
			data->signal = 0;
			data->futex = FUTEX_IN_CHILD;
			CATCH_EINTR(syscall(__NR_futex, &data->futex,
					    FUTEX_WAKE, 1, NULL, NULL, 0));
		}

		do {
/* netloom: put */
			data->signal = 0;
			if (mm_idp->netloom_polled) {
				netloom_release(mm_idp);
			} else if (mm_idp->netloom_heard) {
				netloom_answer(mm_idp, 0);
			} else {
				data->futex = FUTEX_IN_CHILD;
				CATCH_EINTR(syscall(__NR_futex, &data->futex,
						    FUTEX_WAKE, 1, NULL, NULL, 0));
			}
		}

		if (mm_idp->netloom_asks && netloom_hear(mm_idp))
			goto out_kill;

		while (!mm_idp->netloom_asks) {
/* netloom: end */
/* netloom: instead of */
		} while (data->futex == FUTEX_IN_CHILD);
/* netloom: put */
			if (data->futex != FUTEX_IN_CHILD)
				break;
		}
/* netloom: end */
/* netloom: instead of */
		.seccomp = using_seccomp,
/* netloom: put */
		.seccomp = using_seccomp,
		.netloom_asks = using_seccomp && !netloom_futex,
/* netloom: end */
/* netloom: instead of */
netloom_counts(&init_data.event_type, &init_data.event))
		init_data.signal_handler =
/* netloom: put */
netloom_counts(&init_data.event_type, &init_data.event))
		netloom_futex = true, init_data.netloom_asks = 0,
		init_data.signal_handler =
/* netloom: end */
/* netloom: instead of */
	if (using_seccomp)
		proc_data->futex = FUTEX_IN_CHILD;
/* netloom: put */
	mm_id->netloom_asks = 0;
	mm_id->netloom_heard = 0;
	mm_id->netloom_call.nr = -1;
	mm_id->netloom_asker = NULL;
	mm_id->netloom_polled = mm_id->netloom_polls = mm_id->netloom_beside = 0;
	mm_id->netloom_hits = mm_id->netloom_misses = 0;
	mm_id->netloom_rest = 63;
	mm_id->netloom_pause = 6;
	proc_data->netloom_asks = 0;
	proc_data->netloom_selector = proc_data->netloom_polls = proc_data->netloom_may_poll = 0;
	if (using_seccomp)
		proc_data->futex = FUTEX_IN_CHILD;
/* netloom: end */
/* netloom: instead of */
	close(tramp_data.sockpair[0]);
	if (using_seccomp)
		mm_id->sock
/* netloom: put */
	if (using_seccomp && !netloom_listen(mm_id)) {
		netloom_futex = true;
		os_kill_ptraced_process(mm_id->pid, 1);
		close(tramp_data.sockpair[0]);
		close(tramp_data.sockpair[1]);
		return start_userspace(mm_id);
	}

	close(tramp_data.sockpair[0]);
	if (using_seccomp)
		mm_id->sock
/* netloom: end */
/* netloom: instead of */
			err = set_stub_state(regs, proc_data, singlestepping());
/* netloom: put */
			if (mm_id->netloom_asker &&
			    (mm_id->netloom_asker != regs || mm_id->syscall_data_len || mm_id->syscall_fd_num ||
			     singlestepping()))
				netloom_surface(mm_id);

			err = mm_id->netloom_asker ? 0 : set_stub_state(regs, proc_data, singlestepping());
/* netloom: end */
/* netloom: instead of */
			wait_stub_done_seccomp(mm_id, 0, 0);

			sig = proc_data->signal;
/* netloom: put */
			if (mm_id->netloom_asker) {
				mm_id->netloom_asker = NULL;
				netloom_answer(mm_id, regs->gp[HOST_AX]);
				wait_stub_done_seccomp(mm_id, 1, 0);
			} else {
				wait_stub_done_seccomp(mm_id, 0, 0);
			}

			sig = mm_id->netloom_call.nr < 0 ? proc_data->signal : SIGSYS;
/* netloom: end */
/* netloom: instead of */
			err = get_stub_state(regs, proc_data, NULL);
/* netloom: put */
			err = mm_id->netloom_call.nr < 0 ? get_stub_state(regs, proc_data, NULL) :
				netloom_take(regs, mm_id);
/* netloom: end */
/* netloom: instead of */
			PT_SYSCALL_NR(regs->gp) = si->si_syscall;
/* netloom: put */
			if (mm_id->netloom_call.nr < 0)
				PT_SYSCALL_NR(regs->gp) = si->si_syscall;
/* netloom: end */
