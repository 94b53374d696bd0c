/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* All programs ask by signals and a futex: their branches are counted, or this machine does not let a kernel listen. */
static bool netloom_futex;

static void netloom_rule(struct mm_id *mm_idp);
static bool netloom_poll(struct mm_id *mm_idp);

/* Waits until the process of a program asks for something or reports a signal. */
static int netloom_hear(struct mm_id *mm_idp)
{
	struct seccomp_notif heard;
	int err;

	if (netloom_poll(mm_idp))
		return 0;
	do {
		if (__READ_ONCE(mm_idp->pid) < 0)
			return -1;
		memset(&heard, 0, sizeof(heard));
		err = syscall(__NR_ioctl, mm_idp->netloom_asks, SECCOMP_IOCTL_NOTIF_RECV, &heard);
	} while (err < 0 && (errno == EINTR || errno == ENOENT));
	if (err < 0)
		return -1;

	mm_idp->netloom_heard = 1;
	mm_idp->netloom_id = heard.id;
	mm_idp->netloom_call.nr = -1;
	if (heard.data.instruction_pointer - STUB_CODE < UM_KERN_PAGE_SIZE)
		return 0;
	mm_idp->netloom_call.nr = heard.data.nr;
	mm_idp->netloom_call.ip = heard.data.instruction_pointer;
	for (err = 0; err < 6; err++)
		mm_idp->netloom_call.args[err] = heard.data.args[err];
	return 0;
}

/* Lets the process go on. If it has died, the next wait finds out. */
static void netloom_answer(struct mm_id *mm_idp, long value)
{
	struct seccomp_notif_resp answer = { .id = mm_idp->netloom_id, .val = value };
	struct stub_data *data = (void *)mm_idp->stack;

	mm_idp->netloom_heard = 0;
	netloom_rule(mm_idp);
	__WRITE_ONCE(data->futex, FUTEX_IN_CHILD);
	CATCH_EINTR(syscall(__NR_ioctl, mm_idp->netloom_asks, SECCOMP_IOCTL_NOTIF_SEND, &answer));
}

/* Fills in what is known of the registers of a program that asks. */
static int netloom_take(struct uml_pt_regs *regs, struct mm_id *mm_idp)
{
	struct netloom_call *call = &mm_idp->netloom_call;

	regs->gp[HOST_IP] = call->ip;
	PT_SYSCALL_NR(regs->gp) = call->nr;
	regs->gp[HOST_DI] = call->args[0];
	regs->gp[HOST_SI] = call->args[1];
	regs->gp[HOST_DX] = call->args[2];
	regs->gp[HOST_R10] = call->args[3];
	regs->gp[HOST_R8] = call->args[4];
	regs->gp[HOST_R9] = call->args[5];
	mm_idp->netloom_asker = regs;
	return 0;
}

/*
 * Gets all registers of a program that asks: with a signal pending its process reports that instead of going on behind
 * the call. The result is given to it later, as after a signal.
 */
void netloom_surface(struct mm_id *mm_idp)
{
	struct uml_pt_regs *regs = mm_idp->netloom_asker;
	struct stub_data *data = (void *)mm_idp->stack;
	unsigned long nr = PT_SYSCALL_NR(regs->gp), value = regs->gp[HOST_AX], ip = regs->gp[HOST_IP];

	mm_idp->netloom_asker = NULL;
	syscall(__NR_tgkill, mm_idp->pid, mm_idp->pid, SIGALRM);
	netloom_answer(mm_idp, 0);
	if (netloom_hear(mm_idp) || mm_idp->netloom_call.nr >= 0 ||
	    data->mctx_offset > sizeof(data->sigstack) - sizeof(mcontext_t) ||
	    get_stub_state(regs, data, NULL)) {
		printk(UM_KERN_ERR "%s : failed to interrupt stub, pid = %d, errno = %d\n", __func__, mm_idp->pid, errno);
		if (current_mm_id() == mm_idp)
			fatal_sigsegv();
		return;
	}
	PT_SYSCALL_NR(regs->gp) = nr;
	regs->gp[HOST_AX] = value;
	regs->gp[HOST_IP] = ip;
}

/* From its first report on a process asks by notifications, if it can. Returns false if it must be started anew without. */
static bool netloom_listen(struct mm_id *mm_idp)
{
	struct stub_data *data = (void *)mm_idp->stack;
	int pidfd, asks, error;

	if (netloom_futex)
		return true;
	pidfd = syscall(__NR_pidfd_open, mm_idp->pid, 0);
	asks = pidfd < 0 ? -1 : syscall(__NR_pidfd_getfd, pidfd, 1, 0);
	error = errno;
	if (pidfd >= 0)
		close(pidfd);
	if (asks > 0) {
		syscall(__NR_ioctl, asks, SECCOMP_IOW(4, __u64) /* SECCOMP_IOCTL_NOTIF_SET_FLAGS */, 1 /* SYNC_WAKE_UP */);
		mm_idp->netloom_asks = asks;
		data->netloom_asks = 1;
	}
	/* Without such filters the process has no such descriptor, and waits for the futex already. */
	return asks > 0 || error == EBADF;
}

