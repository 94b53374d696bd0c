//! In virtual time, computing takes lab time where the lab says so: each conditional branch of a program costs.

use super::Edits;

/// `netloom.branch` is what a conditional branch costs that a program has retired, in picoseconds; without it nothing here
/// does anything. Branches are counted from one entry into the kernel to the next, and paid for at system calls. A program
/// that makes none is interrupted when time must pass for others: when the kernel's next timer is due, after a millisecond
/// at most, and exactly behind the branch that reaches that. So the point of the interruption follows from the program
/// alone. In between, clocks are asked of the kernel, or they would stand still. The first process, the agent, is left out.
///
/// There are two ways to count, both of which end in the handler of signals that each process of a program has (`stub.c`).
///
/// - By steps: the program runs with the trap flag, and after each instruction the handler looks whether that was a
///   conditional branch. It takes some microseconds for each instruction, on every x86-64 processor.
/// - By the processor: `netloom.event` says what it counts, an event of perf. The handler stops the counter before its own
///   first branch and starts it behind the last. As the counter's interrupts come late, they are ordered `netloom.margin`
///   branches early, and the rest is done by steps. One that comes later than that ends the kernel: the run would not be
///   repeatable.
///
/// A program could change the numbers in the page that it shares with its kernel. The most that this can do is to end its own
/// kernel, or to let it compute in no time.
pub(super) const COUNTER: [Edits; 5] = [
    Edits {
        file: "arch/um/include/shared/skas/stub-data.h",
        edits: &[
            (
                "struct stub_init_data {\n",
                "struct stub_init_data {\n\tunsigned int event_type;\n\tunsigned long event;\n",
            ),
            (
                "struct stub_data {\n",
                "struct netloom_count {\n\
                 \tunsigned int margin;\n\
                 \tint traced;\n\
                 \tunsigned long most; /* branches until the program is interrupted; 0: they are not counted */\n\
                 \tunsigned long done;\n\
                 \tunsigned long ip; /* of the instruction that is stepped over; 0: the processor counts */\n\
                 \tunsigned long period;\n\
                 };\n\n\
                 struct stub_data {\n",
            ),
            (
                "\tstruct stub_data_arch arch_data;\n",
                "\tstruct stub_data_arch arch_data;\n\n\tstruct netloom_count count;\n",
            ),
        ],
        without: WITHOUT,
    },
    Edits {
        file: "arch/um/kernel/time.c",
        edits: &[
            (
                "void time_travel_ndelay(unsigned long nsec)\n{\n",
                concat!(
                    include_str!("../../../../kernel/counter/time.c"),
                    "void time_travel_ndelay(unsigned long nsec)\n{\n"
                ),
            ),
            // Of looks at the clock.
            (
                "\tif (time_travel_mode != TT_MODE_EXTERNAL)\n\t\treturn;\n\tlook -= look % TIMER_MULTIPLIER;\n",
                "\tif (time_travel_mode != TT_MODE_EXTERNAL || netloom_branch_cost)\n\t\treturn;\n\
                 \tlook -= look % TIMER_MULTIPLIER;\n",
            ),
        ],
        without: WITHOUT,
    },
    Edits {
        file: "arch/um/os-Linux/skas/process.c",
        edits: &[
            (
                "static int userspace_tramp(void *data)\n{\n",
                "bool __attribute__((weak)) netloom_counts(unsigned int *event_type, unsigned long *event);\n\
                 void __attribute__((weak)) netloom_count(struct netloom_count *count, int traced);\n\
                 bool __attribute__((weak)) netloom_counted(struct netloom_count *count, bool called, bool interrupted);\n\
                 extern char netloom_signal[], netloom_counted_signal[];\n\n\
                 static int userspace_tramp(void *data)\n{\n",
            ),
            (
                "\tinit_data.stub_code_fd = phys_mapping(",
                "\tif (using_seccomp && netloom_counts && netloom_counts(&init_data.event_type, &init_data.event))\n\
                 \t\tinit_data.signal_handler = STUB_CODE - (unsigned long) __syscall_stub_start +\n\
                 \t\t\t(unsigned long) (init_data.event ? netloom_counted_signal : netloom_signal);\n\n\
                 \tinit_data.stub_code_fd = phys_mapping(",
            ),
            (
                "\t\t\twait_stub_done_seccomp(mm_id, 0, 0);\n",
                "\t\t\tif (netloom_count)\n\t\t\t\tnetloom_count(&proc_data->count, singlestepping());\n\
                 \t\t\twait_stub_done_seccomp(mm_id, 0, 0);\n",
            ),
            (
                "\t\texit_turnstile(mm_id);\n\n",
                "\t\texit_turnstile(mm_id);\n\n\
                 \t\tif (using_seccomp && netloom_counted &&\n\
                 \t\t    netloom_counted(&((struct stub_data *)mm_id->stack)->count, sig == SIGSYS, sig == SIGALRM))\n\
                 \t\t\tunscheduled_userspace_iterations--;\n\n",
            ),
        ],
        without: WITHOUT,
    },
    Edits {
        file: "arch/um/kernel/skas/stub.c",
        edits: &[
            ("#include <linux/futex.h>\n", "#include <linux/futex.h>\n#include <linux/perf_event.h>\n"),
            (
                "void __section(\".__syscall_stub\")\nstub_signal_interrupt(int sig, siginfo_t *info, void *p)\n{\n",
                "static __always_inline void netloom_report(int sig, siginfo_t *info, void *p)\n{\n",
            ),
            (
                "void __section(\".__syscall_stub\")\nstub_signal_restorer(void)\n{\n",
                concat!(
                    include_str!("../../../../kernel/counter/stub.c"),
                    "void __section(\".__syscall_stub\")\nstub_signal_restorer(void)\n{\n"
                ),
            ),
        ],
        without: WITHOUT,
    },
    Edits {
        file: "arch/um/kernel/skas/stub_exe.c",
        edits: &[
            (
                "\t/* setup signal stack inside stub data */\n",
                concat!(
                    include_str!("../../../../kernel/counter/stub_exe.c"),
                    "\t/* setup signal stack inside stub data */\n"
                ),
            ),
            (
                "\t\t\tBPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_futex,\n",
                "\t\t\tBPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_ioctl,\n\t\t\t\t 9, 0),\n\
                 \t\t\tBPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_read,\n\t\t\t\t 8, 0),\n\
                 \t\t\tBPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_futex,\n",
            ),
        ],
        without: WITHOUT,
    },
];

const WITHOUT: &str = "in virtual time, computing takes no time with this kernel, whatever `cpu: {branch: ...}` says";
