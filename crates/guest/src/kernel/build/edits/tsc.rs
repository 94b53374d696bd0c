//! The processor's own clock, as programs read it.

use super::Edits;

/// `rdtsc` and `rdtscp` read the processor's time stamp counter without asking any kernel, so they show the machine's time where a
/// node has another one, and something else in every run. Go's runtime draws its random numbers from it. `netloom.tsc=1` has the machine's kernel refuse both
/// instructions to programs (`PR_SET_TSC`, prctl(2)). The node's kernel then does what the instruction would have done, with a counter
/// of its own clock: one tick a nanosecond since its boot.
///
/// The C library's loader reads the counter some times whenever a program starts, so in virtual time a read takes no time, but for one in 64, so that
/// a program that waits by reading it gets there.
pub(super) const TSC: [Edits; 4] = [
    Edits {
        file: "arch/um/include/shared/skas/stub-data.h",
        edits: &[("struct stub_init_data {\n", "struct stub_init_data {\n\tint netloom_tsc;\n")],
        without: WITHOUT,
    },
    Edits {
        file: "arch/um/kernel/skas/stub_exe.c",
        edits: &[(
            "\t/* map stub code + data */\n",
            "\tif (init_data.netloom_tsc)\n\
             \t\tstub_syscall2(__NR_prctl, PR_SET_TSC, PR_TSC_SIGSEGV);\n\n\
             \t/* map stub code + data */\n",
        )],
        without: WITHOUT,
    },
    Edits {
        file: "arch/um/os-Linux/skas/process.c",
        edits: &[
            (
                "static int userspace_tramp(void *data)\n{\n",
                "bool __attribute__((weak)) netloom_own_tsc(void);\n\n\
                 static int userspace_tramp(void *data)\n{\n",
            ),
            (
                "\tinit_data.stub_code_fd = phys_mapping(",
                "\tinit_data.netloom_tsc = netloom_own_tsc && netloom_own_tsc();\n\
                 \tinit_data.stub_code_fd = phys_mapping(",
            ),
        ],
        without: WITHOUT,
    },
    Edits {
        file: "arch/um/kernel/trap.c",
        edits: &[
            (
                "/**\n * segv_handler() - ",
                concat!(include_str!("../../../../kernel/tsc/trap.c"), "/**\n * segv_handler() - "),
            ),
            (
                "\tif (UPT_IS_USER(regs) && !SEGV_IS_FIXABLE(fi)) {\n",
                "\tif (UPT_IS_USER(regs) && !SEGV_IS_FIXABLE(fi)) {\n\
                 \t\tif (netloom_rdtsc(regs))\n\t\t\treturn;\n",
            ),
        ],
        without: WITHOUT,
    },
];

const WITHOUT: &str = "in virtual and dilated time, programs that read the processor's own clock (`rdtsc`; Go's runtime does) see the \
                       machine's time with this kernel, and are not the same in every run";
