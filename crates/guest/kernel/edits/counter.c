/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * `netloom.branch` is what a conditional branch costs that a program has retired, in picoseconds; without it nothing here
 * does anything. Branches are counted from one entry into the kernel to the next, and paid for at system calls. A program
 * that makes none is interrupted when time must pass for others: when the kernel's next timer is due, after a millisecond
 * at most, and exactly behind the branch that reaches that. So the point of the interruption follows from the program
 * alone. In between, clocks are asked of the kernel, or they would stand still. The first process, the agent, is left out.
 *
 * There are two ways to count, both of which end in the handler of signals that each process of a program has (`stub.c`).
 *
 * - By steps: the program runs with the trap flag, and after each instruction the handler looks whether that was a
 * conditional branch. It takes some microseconds for each instruction, on every x86-64 processor.
 * - By the processor: `netloom.event` says what it counts, an event of perf. The handler stops the counter before its own
 * first branch and starts it behind the last. As the counter's interrupts come late, they are ordered `netloom.margin`
 * branches early, and the rest is done by steps. One that comes later than that ends the kernel: the run would not be
 * repeatable.
 *
 * A program could change the numbers in the page that it shares with its kernel. The most that this can do is to end its own
 * kernel, or to let it compute in no time.
 */

/* netloom: file arch/um/include/shared/skas/stub-data.h */
/* netloom: instead of */
struct stub_init_data {
/* netloom: put */
struct stub_init_data {
	unsigned int event_type;
	unsigned long event;
/* netloom: end */
/* netloom: instead of */
struct stub_data {
/* netloom: put */
struct netloom_count {
	unsigned int margin;
	int traced;
	unsigned long most; /* branches until the program is interrupted; 0: they are not counted */
	unsigned long done;
	unsigned long ip; /* of the instruction that is stepped over; 0: the processor counts */
	unsigned long period;
};

struct stub_data {
/* netloom: end */
/* netloom: instead of */
	struct stub_data_arch arch_data;
/* netloom: put */
	struct stub_data_arch arch_data;

	struct netloom_count count;
/* netloom: end */

/* netloom: file arch/um/kernel/time.c */
/* netloom: instead of */
void time_travel_ndelay(unsigned long nsec)
{
/* netloom: put */
#include "counter/time.c"
void time_travel_ndelay(unsigned long nsec)
{
/* netloom: end */
/* Of looks at the clock. */
/* netloom: instead of */
	if (time_travel_mode != TT_MODE_EXTERNAL)
		return;
	look -= look % TIMER_MULTIPLIER;
/* netloom: put */
	if (time_travel_mode != TT_MODE_EXTERNAL || netloom_branch_cost)
		return;
	look -= look % TIMER_MULTIPLIER;
/* netloom: end */

/* netloom: file arch/um/os-Linux/skas/process.c */
/* netloom: instead of */
static int userspace_tramp(void *data)
{
/* netloom: put */
bool __attribute__((weak)) netloom_counts(unsigned int *event_type, unsigned long *event);
void __attribute__((weak)) netloom_count(struct netloom_count *count, int traced);
bool __attribute__((weak)) netloom_counted(struct netloom_count *count, bool called, bool interrupted);
extern char netloom_signal[], netloom_counted_signal[];

static int userspace_tramp(void *data)
{
/* netloom: end */
/* netloom: instead of */
	init_data.stub_code_fd = phys_mapping(
/* netloom: put */
	if (using_seccomp && netloom_counts && netloom_counts(&init_data.event_type, &init_data.event))
		init_data.signal_handler = STUB_CODE - (unsigned long) __syscall_stub_start +
			(unsigned long) (init_data.event ? netloom_counted_signal : netloom_signal);

	init_data.stub_code_fd = phys_mapping(
/* netloom: end */
/* netloom: instead of */
			wait_stub_done_seccomp(mm_id, 0, 0);
/* netloom: put */
			if (netloom_count)
				netloom_count(&proc_data->count, singlestepping());
			wait_stub_done_seccomp(mm_id, 0, 0);
/* netloom: end */
/* netloom: instead of */
		exit_turnstile(mm_id);

/* netloom: put */
		exit_turnstile(mm_id);

		if (using_seccomp && netloom_counted &&
		    netloom_counted(&((struct stub_data *)mm_id->stack)->count, sig == SIGSYS, sig == SIGALRM))
			unscheduled_userspace_iterations--;

/* netloom: end */

/* netloom: file arch/um/kernel/skas/stub.c */
/* netloom: instead of */
#include <linux/futex.h>
/* netloom: put */
#include <linux/futex.h>
#include <linux/perf_event.h>
/* netloom: end */
/* netloom: instead of */
void __section(".__syscall_stub")
stub_signal_interrupt(int sig, siginfo_t *info, void *p)
{
/* netloom: put */
static __always_inline void netloom_report(int sig, siginfo_t *info, void *p)
{
/* netloom: end */
/* netloom: instead of */
void __section(".__syscall_stub")
stub_signal_restorer(void)
{
/* netloom: put */
#include "counter/stub.c"
void __section(".__syscall_stub")
stub_signal_restorer(void)
{
/* netloom: end */

/* netloom: file arch/um/kernel/skas/stub_exe.c */
/* netloom: instead of */
	/* setup signal stack inside stub data */
/* netloom: put */
#include "counter/stub_exe.c"
	/* setup signal stack inside stub data */
/* netloom: end */
/* netloom: instead of */
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_futex,
/* netloom: put */
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_ioctl,
				 9, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_read,
				 8, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_futex,
/* netloom: end */
