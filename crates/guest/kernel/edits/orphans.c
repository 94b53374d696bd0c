/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * A process of a node's program ends with its kernel, since it asks for that signal (`PR_SET_PDEATHSIG`, prctl(2)) when it begins. A kernel
 * that is killed before that sends none, and the process would wait for it for ever. So it looks afterwards whether its parent is still
 * the kernel that started it.
 */

/* netloom: file arch/um/include/shared/skas/stub-data.h */
/* netloom: instead of */
struct stub_init_data {
/* netloom: put */
struct stub_init_data {
	int netloom_parent;
/* netloom: end */

/* netloom: file arch/um/kernel/skas/stub_exe.c */
/* netloom: instead of */
	/* map stub code + data */
/* netloom: put */
	if (stub_syscall0(__NR_getppid) != init_data.netloom_parent)
		stub_syscall1(__NR_exit, 31);

	/* map stub code + data */
/* netloom: end */

/* netloom: file arch/um/os-Linux/skas/process.c */
/* netloom: instead of */
struct tramp_data {
/* netloom: put */
struct tramp_data {
	int netloom_parent;
/* netloom: end */
/* netloom: instead of */
	init_data.stub_data_fd = phys_mapping(
/* netloom: put */
	init_data.netloom_parent = tramp_data->netloom_parent;
	init_data.stub_data_fd = phys_mapping(
/* netloom: end */
/* netloom: instead of */
		.stub_data = proc_data,
/* netloom: put */
		.stub_data = proc_data,
		.netloom_parent = getpid(),
/* netloom: end */
