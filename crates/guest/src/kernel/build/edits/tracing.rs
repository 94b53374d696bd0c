//! Tracing that costs a boot nothing.

use super::Edits;

/// At boot, the kernel goes through the formats of all its events, to put numbers in the place of the names of constants:
/// 0.1 s of processor time in each kernel, ten times as much as all the rest of a boot. Here the formats keep the names.
pub(super) const FORMATS: Edits = Edits {
    file: "kernel/trace/trace.c",
    edits: &[(
        "\tint len;\n\n\
         \tlen = __stop_ftrace_eval_maps - __start_ftrace_eval_maps;\n\
         \ttrace_event_update_with_eval_map(NULL, __start_ftrace_eval_maps, len);\n}\n",
        "}\n",
    )],
    without: "a kernel node takes 0.1 s longer to boot with this kernel",
};

/// At boot, the kernel looks through the format of each of its events for pointers that will be stale when it is printed, which
/// its developers are to see: 6 ms of processor time in each kernel.
pub(super) const CHECKS: Edits = Edits {
    file: "kernel/trace/trace_events.c",
    edits: &[(
        "\ttest_event_printk(call);\n\n\treturn 0;\n",
        "\tif (IS_ENABLED(CONFIG_FTRACE_STARTUP_TEST))\n\t\ttest_event_printk(call);\n\n\treturn 0;\n",
    )],
    without: "a kernel node takes 6 ms longer to boot with this kernel",
};
