/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * At boot, the kernel goes through the formats of all its events, to put numbers in the place of the names of constants:
 * 0.1 s of processor time in each kernel, ten times as much as all the rest of a boot. Here the formats keep the names.
 */

/* netloom: file kernel/trace/trace.c */
/* netloom: instead of */
	int len;

	len = __stop_ftrace_eval_maps - __start_ftrace_eval_maps;
	trace_event_update_with_eval_map(NULL, __start_ftrace_eval_maps, len);
}
/* netloom: put */
}
/* netloom: end */
