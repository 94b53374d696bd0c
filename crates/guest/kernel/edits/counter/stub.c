/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
void __section(".__syscall_stub")
stub_signal_interrupt(int sig, siginfo_t *info, void *p)
{
	netloom_report(sig, info, p);
}

#define NETLOOM_TF 0x100
#define NETLOOM_PERIOD_RESERVE 1024

/* Counts an instruction that has retired, so that its bytes can be read. */
static __always_inline void netloom_retired(struct netloom_count *count, greg_t *regs)
{
	const unsigned char *at = (void *)count->ip;
	unsigned char op;

	do
		op = *at++;
	while ((op & 0xf0) == 0x40 || (op & 0xe7) == 0x26 || (op & 0xfc) == 0x64 || (op & 0xfe) == 0xf2);

	if (op == 0x0f)
		count->done += (*at & 0xf0) == 0x80;
	else
		count->done += (op & 0xf0) == 0x70 || (op & 0xfc) == 0xe0;
	/* Whoever looks at the flags does not see that the program is stepped: they were pushed. */
	if (op == 0x9c)
		*(unsigned short *)regs[REG_RSP] &= ~NETLOOM_TF;
}

static __always_inline void netloom_step(struct netloom_count *count, greg_t *regs)
{
	count->ip = regs[REG_RIP];
	regs[REG_EFL] |= NETLOOM_TF;
}

/* The handler of all signals of a program whose branches are counted. */
void netloom_signal(int sig, siginfo_t *info, void *p);
void __section(".__syscall_stub")
netloom_signal(int sig, siginfo_t *info, void *p)
{
	struct netloom_count *count = &((struct stub_data *)get_stub_data())->count;
	greg_t *regs = ((ucontext_t *)p)->uc_mcontext.gregs;

	if (count->most) {
		int stepped = sig == SIGTRAP && info->si_code == TRAP_TRACE;

		if (!count->ip) {
			if (stub_syscall3(__NR_read, 1, (long)&count->done, sizeof(count->done)) != sizeof(count->done))
				count->done = ~0ul;
		} else if (stepped) {
			netloom_retired(count, regs);
		}
		if (!count->traced && count->done < count->most) {
			if (stepped) {
				netloom_step(count, regs);
				return;
			}
			/* The counter's signal, perhaps one that waited while the kernel was asked for something else. */
			if (sig == SIGALRM && info->si_code != SI_USER) {
				if (!count->ip && count->most - count->done <= count->margin)
					netloom_step(count, regs);
				return;
			}
		}
		if (!count->traced) {
			regs[REG_EFL] &= ~NETLOOM_TF;
			if (stepped)
				sig = SIGALRM;
		}
		if (sig == SIGSYS)
			regs[REG_R11] &= ~NETLOOM_TF;
	}

	netloom_report(sig, info, p);

	if (!count->most)
		return;
	if (count->margin && count->most > count->margin + NETLOOM_PERIOD_RESERVE) {
		count->period = count->most - count->margin;
		stub_syscall3(__NR_ioctl, 1, PERF_EVENT_IOC_RESET, 0);
		stub_syscall3(__NR_ioctl, 1, PERF_EVENT_IOC_PERIOD, (long)&count->period);
		count->ip = 0;
	} else {
		netloom_step(count, regs);
	}
}

/*
 * The same where the processor counts: it must not count the branches of the handler. So it stops before the first of
 * them, and goes on after the last.
 */
asm(".pushsection .__syscall_stub, \"ax\"\n"
	".globl netloom_counted_signal\n"
	"netloom_counted_signal:\n"
	"	push %rdi\n"
	"	push %rsi\n"
	"	push %rdx\n"
	"	mov $16, %eax\n"           /* ioctl */
	"	mov $1, %edi\n"
	"	mov $0x2401, %esi\n"       /* PERF_EVENT_IOC_DISABLE */
	"	xor %edx, %edx\n"
	"	syscall\n"
	"	pop %rdx\n"
	"	pop %rsi\n"
	"	pop %rdi\n"
	"	sub $8, %rsp\n"
	"	call netloom_signal\n"
	"	add $8, %rsp\n"
	"	mov $16, %eax\n"
	"	mov $1, %edi\n"
	"	mov $0x2400, %esi\n"       /* PERF_EVENT_IOC_ENABLE */
	"	xor %edx, %edx\n"
	"	syscall\n"
	"	ret\n"
	".popsection\n");

