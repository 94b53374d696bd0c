/* Runs the handler of signals that counts branches (kernel/edits/counter/stub.c) in an ordinary process. The test plays the kernel. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define __section(name) __attribute__((section(name)))

/* As the kernel's source has it after the changes of kernel/edits/counter.c. */
struct netloom_count {
	unsigned int margin;
	int traced;
	unsigned long most, done, ip, period;
};

static struct stub_data {
	struct netloom_count count;
} data;

static __always_inline void *get_stub_data(void)
{
	return &data;
}

static __always_inline long stub_syscall3(long number, long first, long second, long third)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(first), "S"(second), "d"(third) : "rcx", "r11", "memory");
	return result;
}

static void netloom_report(int sig, siginfo_t *info, void *p);

#include "../../kernel/edits/counter/stub.c"

/* What the kernel saw: each entry, with the branches since the one before, and where the program was. */
#define MOST_ENTRIES 10000
static struct entry {
	int sig;
	unsigned long done, rip;
	long flags;
} entries[MOST_ENTRIES];
static unsigned entry_count;
static unsigned long budget;

static void netloom_report(int sig, siginfo_t *info, void *p)
{
	greg_t *regs = ((ucontext_t *)p)->uc_mcontext.gregs;

	(void)info;
	if (entry_count < MOST_ENTRIES)
		entries[entry_count++] = (struct entry){ sig, data.count.done, (unsigned long)regs[REG_RIP], regs[REG_EFL] };
	data.count.done = 0;
	data.count.most = budget;
}

static void fail(const char *what, unsigned long got, unsigned long wanted)
{
	fprintf(stderr, "%s: %lu instead of %lu\n", what, got, wanted);
	_exit(1);
}

#define EXPECT(what, got, wanted)                                        \
	do {                                                             \
		unsigned long got_ = (got), wanted_ = (wanted);          \
		if (got_ != wanted_)                                     \
			fail(what, got_, wanted_);                       \
	} while (0)

static long self;

/* An entry into the kernel by itself, as a system call is one: SIGUSR1. It has no branches. */
static __always_inline void enter(void)
{
	stub_syscall3(SYS_tkill, self, SIGUSR1, 0);
}

static void __attribute__((noinline)) begin(unsigned long most)
{
	entry_count = 0;
	budget = most;
	enter();
	entry_count = 0;
}

/* Branches since `begin`, without those of `enter`, which are the same each time. */
static unsigned long __attribute__((noinline)) total(void)
{
	unsigned long sum = 0;

	budget = 0;
	enter();
	for (unsigned i = 0; i < entry_count; i++)
		sum += entries[i].done;
	return sum;
}

#define MANY (1ul << 40)

static unsigned long of_nothing(void)
{
	begin(MANY);
	return total();
}

/* Each kind of conditional branch counts, taken or not, with prefixes or without; others do not. */
static void kinds(void)
{
	unsigned long nothing = of_nothing();

	begin(MANY);
	__asm__ volatile("xor %%eax, %%eax\n\tje 1f\n1:\tjne 2f\n2:\tjs 3f\n3:" ::: "eax", "cc");
	EXPECT("short jumps", total() - nothing, 3);
	begin(MANY);
	__asm__ volatile(".byte 0x0f, 0x84, 0, 0, 0, 0\n\t.byte 0x0f, 0x85, 0, 0, 0, 0" ::: "cc");
	EXPECT("near jumps", total() - nothing, 2);
	begin(MANY);
	__asm__ volatile("mov $5, %%ecx\n1:\tloop 1b\n\tjrcxz 2f\n2:\tjecxz 3f\n3:" ::: "rcx");
	EXPECT("loops and jumps by rcx", total() - nothing, 7);
	begin(MANY);
	__asm__ volatile(".byte 0x2e, 0x74, 0\n\t.byte 0x3e, 0x75, 0\n\t.byte 0xf2, 0x0f, 0x84, 0, 0, 0, 0" ::: "cc");
	EXPECT("jumps with prefixes", total() - nothing, 3);
	begin(MANY);
	__asm__ volatile("jmp 1f\n1:\tlea 2f(%%rip), %%rax\n\tjmp *%%rax\n2:\tcmove %%rax, %%rcx\n\tsete %%al\n\t"
			 "mov $0x74, %%al\n\t.byte 0x48, 0x83, 0xc8, 0x70\n\tmovd %%eax, %%xmm0\n\tpcmpeqb %%xmm0, %%xmm0"
			 ::: "rax", "rcx", "xmm0", "cc");
	EXPECT("other instructions", total() - nothing, 0);
	begin(MANY);
	__asm__ volatile("mov $0, %%ecx\n\trep stosb" ::: "rcx", "memory");
	EXPECT("repetitions", total() - nothing, 0);
}

static void __attribute__((noinline)) spin(unsigned long turns)
{
	__asm__ volatile("1:\tdec %0\n\t.globl spot\nspot:\tjnz 1b" : "+r"(turns) :: "cc");
}

/* The program is interrupted behind exactly as many branches as it may do, always at the same place. */
static void interruptions(void)
{
	begin(100);
	spin(1050);
	budget = 0;
	enter();
	EXPECT("entries", entry_count, 11);
	for (unsigned i = 0; i < 10; i++) {
		EXPECT("signal", (unsigned long)entries[i].sig, SIGALRM);
		EXPECT("branches", entries[i].done, 100);
		EXPECT("trap flag", (unsigned long)entries[i].flags & NETLOOM_TF, 0);
		EXPECT("place", entries[i].rip, entries[0].rip);
	}
}

/* A program does not see that it is stepped, and signals from elsewhere change nothing. */
static void disguise(void)
{
	unsigned long flags;
	unsigned long nothing = of_nothing();

	begin(MANY);
	__asm__ volatile("sub $128, %%rsp\n\tpushfq\n\tpop %0\n\tadd $128, %%rsp" : "=r"(flags) :: "cc", "memory");
	total();
	EXPECT("pushed flags", flags & NETLOOM_TF, 0);
	begin(MANY);
	__asm__ volatile("sub $128, %%rsp\n\tpushfq\n\tpopfq\n\txor %%eax, %%eax\n\tje 1f\n1:\tadd $128, %%rsp"
			 ::: "eax", "cc", "memory");
	EXPECT("branches behind popf", total() - nothing, 1);
}

/* A counter of the processor, by a breakpoint: steps begin a margin before the end, at most. */
static int counter(void)
{
	extern char spot[];
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_BREAKPOINT, .size = sizeof(attributes), .sample_period = 1ul << 60, .disabled = 1, .pinned = 1,
		.exclude_kernel = 1, .exclude_hv = 1, .bp_type = 4, .bp_addr = (unsigned long)spot, .bp_len = sizeof(long),
	};
	struct f_owner_ex owner = { F_OWNER_TID, getpid() };
	int fd = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);

	if (fd < 0 || fcntl(fd, F_SETOWN_EX, &owner) || fcntl(fd, F_SETSIG, SIGALRM) || fcntl(fd, F_SETFL, O_ASYNC))
		return 0;
	/* The handler takes descriptor 1 for the counter. */
	return dup2(fd, 1) == 1;
}

/*
 * A breakpoint counts an instruction before it is executed. So the one at which the counter interrupts is counted twice, by the
 * breakpoint and as a step; a counter of retired branches does not.
 */
static void hand_over(void)
{
	data.count.margin = 50;
	begin(5000);
	spin(20100);
	budget = 0;
	data.count.margin = 0;
	enter();
	EXPECT("entries", entry_count, 5);
	for (unsigned i = 0; i < 4; i++) {
		EXPECT("signal", (unsigned long)entries[i].sig, SIGALRM);
		EXPECT("branches", entries[i].done, 5000);
		EXPECT("place", entries[i].rip, entries[0].rip);
	}
	EXPECT("the rest", entries[4].done, 100 + 4);
}

int main(int count, char **arguments)
{
	const int signals[] = { SIGTRAP, SIGALRM, SIGUSR1 };
	struct sigaction action = { .sa_sigaction = netloom_signal, .sa_flags = SA_SIGINFO };

	self = getpid();
	sigfillset(&action.sa_mask);
	for (unsigned i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
	data.count.ip = 1;
	if (count < 2 || strcmp(arguments[1], "counter")) {
		kinds();
		interruptions();
		disguise();
		return 0;
	}
	if (!counter()) {
		fprintf(stderr, "no breakpoints\n");
		return 2;
	}
	extern void netloom_counted_signal(int sig, siginfo_t *info, void *p);
	action.sa_sigaction = netloom_counted_signal;
	for (unsigned i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
	hand_over();
	return 0;
}
