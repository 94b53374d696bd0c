/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * A look at the clock changes nothing but the clock, so a program can do it alone: before the kernel lets a program run, it
 * writes what time it is and how much a look costs into a page that both have, which is there already (`struct stub_data`).
 * The functions that every C library calls for the time (the vDSO) read that, and add up the cost of their looks. The
 * kernel lets that time pass when the program comes back, before it does anything for it. So clocks and costs are those of
 * a system call, but for the cost of the call itself, and a look takes some 20 ns instead of two switches of processes.
 *
 * After eight looks the kernel is asked: time must pass for others, too. So it is before a look at which a timer of the kernel would
 * be due.
 *
 * The page can be written by the program. The most that this can do is to let 41 us pass, which a loop of looks can do, too.
 */

/* netloom: file arch/um/include/shared/skas/stub-data.h */
/* netloom: instead of */
struct stub_data {
/* netloom: put */
struct netloom_clock {
	unsigned int looks;
	unsigned int look;
	unsigned long passed;
	unsigned long mono;
	unsigned long real;
};

struct stub_data {
/* netloom: end */
/* netloom: instead of */
	struct stub_data_arch arch_data;
/* netloom: put */
	struct stub_data_arch arch_data;

	struct netloom_clock clock;
/* netloom: end */

/* netloom: file arch/um/kernel/time.c */
/* netloom: instead of */
#include <linux/um_timetravel.h>
/* netloom: put */
#include <linux/um_timetravel.h>
#include <linux/time_namespace.h>
#include <stub-data.h>
/* netloom: end */
/* netloom: instead of */
void time_travel_add_irq_event(struct time_travel_event *e)
{
/* netloom: put */
#define NETLOOM_LOOKS 8

void netloom_show(struct netloom_clock *clock);
void netloom_show(struct netloom_clock *clock)
{
	struct time_travel_event *next = time_travel_first_event();
	unsigned long long look = netloom_look();
	struct timespec64 mono;
	unsigned long flags;

	clock->passed = 0;
	clock->looks = 0;
	if (time_travel_mode != TT_MODE_EXTERNAL)
		return;
	look -= look % TIMER_MULTIPLIER;
	clock->look = look;
	local_irq_save(flags);
	ktime_get_ts64(&mono);
	clock->real = ktime_get_real_ns();
	local_irq_restore(flags);
	timens_add_monotonic(&mono);
	clock->mono = timespec64_to_ns(&mono);
	clock->looks = NETLOOM_LOOKS;
	if (next && next->time <= time_travel_time + NETLOOM_LOOKS * look)
		clock->looks = next->time > time_travel_time ? (next->time - time_travel_time - 1) / look : 0;
}

void netloom_looked(struct netloom_clock *clock);
void netloom_looked(struct netloom_clock *clock)
{
	unsigned long long passed = READ_ONCE(clock->passed);

	if (passed && time_travel_mode == TT_MODE_EXTERNAL)
		time_travel_update_time_rel(min(passed, NETLOOM_LOOKS * 20ull * TIMER_MULTIPLIER));
}

void time_travel_add_irq_event(struct time_travel_event *e)
{
/* netloom: end */

/* netloom: file arch/um/os-Linux/skas/process.c */
/* netloom: instead of */
static int unscheduled_userspace_iterations;
/* netloom: put */
void __attribute__((weak)) netloom_show(struct netloom_clock *clock);
void __attribute__((weak)) netloom_looked(struct netloom_clock *clock);

static int unscheduled_userspace_iterations;
/* netloom: end */
/* netloom: instead of */
			/* Mark pending syscalls for flushing */
/* netloom: put */
			if (netloom_show)
				netloom_show(&proc_data->clock);

			/* Mark pending syscalls for flushing */
/* netloom: end */
/* netloom: instead of */
		UPT_SYSCALL_NR(regs) = -1; /* Assume: It's not a syscall */
/* netloom: put */
		UPT_SYSCALL_NR(regs) = -1; /* Assume: It's not a syscall */

		if (using_seccomp && netloom_looked)
			netloom_looked(&((struct stub_data *)mm_id->stack)->clock);
/* netloom: end */

/* netloom: file arch/x86/um/vdso/vma.c */
/* A word that is in the vDSO once becomes the address of the clock in the page. */
/* netloom: instead of */
#include <linux/init.h>
/* netloom: put */
#include <linux/init.h>
#include <as-layout.h>
#include <stub-data.h>
/* netloom: end */
/* netloom: instead of */
static int __init init_vdso(void)
{
/* netloom: put */
static int __init init_vdso(void)
{
	unsigned long *word;

/* netloom: end */
/* netloom: instead of */
	copy_page(page_address(um_vdso), vdso_start);
/* netloom: put */
	copy_page(page_address(um_vdso), vdso_start);
	for (word = page_address(um_vdso); (void *)word < page_address(um_vdso) + PAGE_SIZE; word++)
		if (*word == 0x6b636f6c43746c4eul)
			*word = STUB_DATA + offsetof(struct stub_data, clock);
/* netloom: end */

/* netloom: file arch/x86/um/vdso/um_vdso.c */
/* netloom: instead of */
int __vdso_clock_gettime(clockid_t clock, struct __kernel_timespec *ts)
{
	long ret;

/* netloom: put */
struct netloom_clock {
	unsigned int looks;
	unsigned int look;
	unsigned long passed;
	unsigned long mono;
	unsigned long real;
};

static const volatile unsigned long netloom_clock = 0x6b636f6c43746c4eul;

/* Zero where the kernel has to be asked. */
static __always_inline unsigned long netloom_look(clockid_t which)
{
	volatile struct netloom_clock *clock = (void *)netloom_clock;
	unsigned int looks = clock->looks;
	unsigned long passed = clock->passed + clock->look;

	if (!looks || (which != CLOCK_REALTIME && which != CLOCK_MONOTONIC))
		return 0;
	clock->looks = looks - 1;
	clock->passed = passed;
	return (which == CLOCK_REALTIME ? clock->real : clock->mono) + passed;
}

int __vdso_clock_gettime(clockid_t clock, struct __kernel_timespec *ts)
{
	unsigned long now = netloom_look(clock);
	long ret;

	if (now) {
		ts->tv_sec = now / NSEC_PER_SEC;
		ts->tv_nsec = now % NSEC_PER_SEC;
		return 0;
	}
/* netloom: end */
/* netloom: instead of */
int __vdso_gettimeofday(struct __kernel_old_timeval *tv, struct timezone *tz)
{
	long ret;

/* netloom: put */
int __vdso_gettimeofday(struct __kernel_old_timeval *tv, struct timezone *tz)
{
	unsigned long now = tv && !tz ? netloom_look(CLOCK_REALTIME) : 0;
	long ret;

	if (now) {
		tv->tv_sec = now / NSEC_PER_SEC;
		tv->tv_usec = now % NSEC_PER_SEC / NSEC_PER_USEC;
		return 0;
	}
/* netloom: end */
