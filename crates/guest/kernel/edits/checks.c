/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * At boot, the kernel looks through the format of each of its events for pointers that will be stale when it is printed, which
 * its developers are to see: 6 ms of processor time in each kernel.
 */

/* netloom: file kernel/trace/trace_events.c */
/* netloom: instead of */
	test_event_printk(call);

	return 0;
/* netloom: put */
	if (IS_ENABLED(CONFIG_FTRACE_STARTUP_TEST))
		test_event_printk(call);

	return 0;
/* netloom: end */
