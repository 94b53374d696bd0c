/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * `rdtsc` and `rdtscp` read the processor's time stamp counter without asking any kernel, so they show the machine's time where a
 * node has another one, and something else in every run. Go's runtime draws its random numbers from it. `netloom.tsc=1` has the
 * machine's kernel refuse both instructions to programs (`PR_SET_TSC`, prctl(2)). The node's kernel then does what the instruction
 * would have done, with a counter of its own clock: one tick a nanosecond since its boot.
 *
 * The C library's loader reads the counter some times whenever a program starts, so in virtual time a read takes no time, but for
 * one in 64, so that a program that waits by reading it gets there.
 */

/* netloom: file arch/um/include/shared/skas/stub-data.h */
/* netloom: instead of */
struct stub_init_data {
/* netloom: put */
struct stub_init_data {
	int netloom_tsc;
/* netloom: end */

/* netloom: file arch/um/kernel/skas/stub_exe.c */
/* netloom: instead of */
	/* map stub code + data */
/* netloom: put */
	if (init_data.netloom_tsc)
		stub_syscall2(__NR_prctl, PR_SET_TSC, PR_TSC_SIGSEGV);

	/* map stub code + data */
/* netloom: end */

/* netloom: file arch/um/os-Linux/skas/process.c */
/* netloom: instead of */
static int userspace_tramp(void *data)
{
/* netloom: put */
bool __attribute__((weak)) netloom_own_tsc(void);

static int userspace_tramp(void *data)
{
/* netloom: end */
/* netloom: instead of */
	init_data.stub_code_fd = phys_mapping(
/* netloom: put */
	init_data.netloom_tsc = netloom_own_tsc && netloom_own_tsc();
	init_data.stub_code_fd = phys_mapping(
/* netloom: end */

/* netloom: file arch/um/kernel/trap.c */
/* netloom: instead of */
/**
 * segv_handler() -
/* netloom: put */
#include "tsc/trap.c"
/**
 * segv_handler() -
/* netloom: end */
/* netloom: instead of */
	if (UPT_IS_USER(regs) && !SEGV_IS_FIXABLE(fi)) {
/* netloom: put */
	if (UPT_IS_USER(regs) && !SEGV_IS_FIXABLE(fi)) {
		if (netloom_rdtsc(regs))
			return;
/* netloom: end */
