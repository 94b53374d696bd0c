/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * In virtual time, what programs ask of their kernel takes time, so that a loop of system calls comes to an end: by itself,
 * a kernel computes in no time at all. Each system call owes 128 ns, and each switch from one task to another; what is
 * owed is paid before a system call, when it is a microsecond or more, and let off when the kernel pauses before: so a
 * program that does little between two waits does it in no time, and round trips are what the links make them. The
 * longer a kernel has been busy without hearing of a frame, the more a call owes: 1/4096 of that time, up to 5 us.
 * The node's agent owes nothing, and neither does what it starts before that is another program: how many calls they make depends on the
 * machine's C library, which is no part of the lab.
 * What is paid is whole ticks of the kernel's clock, 256 ns: spans between two looks at it would else be up to a tick off.
 * `netloom.syscall` and `netloom.switch` set other costs, in nanoseconds; that of calls then does not grow, and is paid to
 * the last one.
 *
 * Computing without system calls takes no time all the same. The lab process may send SIGALRM to a program that does so:
 * then the kernel's process takes the program's name, and as many nanoseconds pass as `netloom.slice` says.
 */

/* netloom: file arch/um/kernel/time.c */
/* The change before this one has to be there, too. */
/* netloom: instead of */
static unsigned long long netloom_busy_since;
/* netloom: put */
static unsigned long long netloom_busy_since;
static unsigned long long netloom_owed;
/* netloom: end */
/* netloom: instead of */
	time_travel_update_time(next, true);
/* netloom: put */
	time_travel_update_time(next, true);
	if (netloom_syscall_cost == ULONG_MAX)
		netloom_owed = 0;
/* netloom: end */
/* netloom: instead of */
#include <linux/um_timetravel.h>
/* netloom: put */
#include <linux/um_timetravel.h>
#include <linux/moduleparam.h>
/* netloom: end */
/* netloom: instead of */
void time_travel_ndelay(unsigned long nsec)
{
/* netloom: put */
#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "netloom."
static unsigned long netloom_syscall_cost = ULONG_MAX;
module_param_named(syscall, netloom_syscall_cost, ulong, 0);
static unsigned long netloom_switch_cost = 128;
module_param_named(switch, netloom_switch_cost, ulong, 0);
static unsigned long netloom_slice;
module_param_named(slice, netloom_slice, ulong, 0);

static unsigned long long netloom_call(void)
{
	if (netloom_syscall_cost != ULONG_MAX)
		return netloom_syscall_cost;
	return clamp_t(unsigned long long, (time_travel_time - netloom_busy_since) >> 12, 128, 5120);
}

void netloom_switched(void);
void netloom_switched(void)
{
	netloom_owed += netloom_switch_cost;
}

bool netloom_is_agent(void);
bool netloom_is_agent(void)
{
	bool is_new = current->flags & PF_FORKNOEXEC;

	return current->tgid == 1 || (is_new && READ_ONCE(current->real_parent)->tgid == 1);
}

void netloom_called(void);
void netloom_called(void)
{
	unsigned long long owed = netloom_owed + netloom_call();
	unsigned long long paid = owed;

	if (netloom_is_agent())
		return;
	if (netloom_syscall_cost == ULONG_MAX)
		paid = owed < 4 * TIMER_MULTIPLIER ? 0 : owed - owed % TIMER_MULTIPLIER;
	netloom_owed = owed - paid;
	if (paid && time_travel_mode == TT_MODE_EXTERNAL)
		time_travel_update_time_rel(paid);
}

const char *netloom_spun(void);
const char *netloom_spun(void)
{
	if (time_travel_mode == TT_MODE_EXTERNAL && netloom_slice)
		time_travel_update_time_rel(netloom_slice);
	return current->comm;
}

void time_travel_ndelay(unsigned long nsec)
{
/* netloom: end */

/* netloom: file arch/um/kernel/skas/syscall.c */
/* netloom: instead of */
void handle_syscall(struct uml_pt_regs *r)
/* netloom: put */
void __weak netloom_called(void);
bool __weak netloom_is_agent(void);

void handle_syscall(struct uml_pt_regs *r)
/* netloom: end */
/* netloom: instead of */
	syscall = UPT_SYSCALL_NR(r);
/* netloom: put */
	if (netloom_called)
		netloom_called();

	syscall = UPT_SYSCALL_NR(r);
/* netloom: end */
/* netloom: instead of */
		if (IS_ERR_VALUE(ret) &&
/* netloom: put */
		if (IS_ERR_VALUE(ret) && !(netloom_is_agent && netloom_is_agent()) &&
/* netloom: end */

/* netloom: file arch/um/os-Linux/skas/process.c */
/* netloom: instead of */
#include <sys/socket.h>
/* netloom: put */
#include <sys/socket.h>
#include <sys/prctl.h>
/* netloom: end */
/* netloom: instead of */
void userspace(struct uml_pt_regs *regs
/* netloom: put */
const char *__attribute__((weak)) netloom_spun(void);
void __attribute__((weak)) netloom_switched(void);

void userspace(struct uml_pt_regs *regs
/* netloom: end */
/* netloom: instead of */
			case SIGALRM:
				break;
/* netloom: put */
			case SIGALRM:
				if (netloom_spun)
					prctl(PR_SET_NAME, netloom_spun(), 0, 0, 0);
				break;
/* netloom: end */
/* netloom: instead of */
void switch_threads(jmp_buf *me, jmp_buf *you)
{
/* netloom: put */
void switch_threads(jmp_buf *me, jmp_buf *you)
{
	if (netloom_switched)
		netloom_switched();
/* netloom: end */
