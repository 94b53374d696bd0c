//! In virtual time, looks at the clock without a system call.

use super::Edits;

/// A look at the clock changes nothing but the clock, so a program can do it alone: before the kernel lets a program run, it
/// writes what time it is and how much a look costs into a page that both have, which is there already (`struct stub_data`).
/// The functions that every C library calls for the time (the vDSO) read that, and add up the cost of their looks. The
/// kernel lets that time pass when the program comes back, before it does anything for it. So clocks and costs are those of
/// a system call, but for the cost of the call itself, and a look takes some 20 ns instead of two switches of processes.
///
/// After eight looks the kernel is asked: time must pass for others, too. So it is where a timer of the kernel would
/// be due within eight looks.
///
/// The page can be written by the program. The most that this can do is to let 41 us pass, which a loop of looks can do, too.
pub(super) const LOOKS: [Edits; 5] = [
    Edits {
        file: "arch/um/include/shared/skas/stub-data.h",
        edits: &[
            (
                "struct stub_data {\n",
                "struct netloom_clock {\n\
                 \tunsigned int looks;\n\
                 \tunsigned int look;\n\
                 \tunsigned long passed;\n\
                 \tunsigned long mono;\n\
                 \tunsigned long real;\n\
                 };\n\n\
                 struct stub_data {\n",
            ),
            (
                "\tstruct stub_data_arch arch_data;\n",
                "\tstruct stub_data_arch arch_data;\n\n\tstruct netloom_clock clock;\n",
            ),
        ],
        without: WITHOUT,
    },
    Edits {
        file: "arch/um/kernel/time.c",
        edits: &[
            (
                "#include <linux/um_timetravel.h>\n",
                "#include <linux/um_timetravel.h>\n\
                 #include <linux/time_namespace.h>\n\
                 #include <stub-data.h>\n",
            ),
            (
                "void time_travel_add_irq_event(struct time_travel_event *e)\n{\n",
                "#define NETLOOM_LOOKS 8\n\n\
                 void netloom_show(struct netloom_clock *clock);\n\
                 void netloom_show(struct netloom_clock *clock)\n{\n\
                 \tstruct time_travel_event *next = time_travel_first_event();\n\
                 \tunsigned long long look = netloom_look();\n\
                 \tstruct timespec64 mono;\n\
                 \tunsigned long flags;\n\n\
                 \tclock->passed = 0;\n\
                 \tclock->looks = 0;\n\
                 \tif (time_travel_mode != TT_MODE_EXTERNAL)\n\t\treturn;\n\
                 \tlook -= look % TIMER_MULTIPLIER;\n\
                 \tclock->look = look;\n\
                 \tlocal_irq_save(flags);\n\
                 \tktime_get_ts64(&mono);\n\
                 \tclock->real = ktime_get_real_ns();\n\
                 \tlocal_irq_restore(flags);\n\
                 \ttimens_add_monotonic(&mono);\n\
                 \tclock->mono = timespec64_to_ns(&mono);\n\
                 \tif (!next || next->time > time_travel_time + NETLOOM_LOOKS * look)\n\
                 \t\tclock->looks = NETLOOM_LOOKS;\n}\n\n\
                 void netloom_looked(struct netloom_clock *clock);\n\
                 void netloom_looked(struct netloom_clock *clock)\n{\n\
                 \tunsigned long long passed = READ_ONCE(clock->passed);\n\n\
                 \tif (passed && time_travel_mode == TT_MODE_EXTERNAL)\n\
                 \t\ttime_travel_update_time_rel(min(passed, NETLOOM_LOOKS * 20ull * TIMER_MULTIPLIER));\n}\n\n\
                 void time_travel_add_irq_event(struct time_travel_event *e)\n{\n",
            ),
        ],
        without: WITHOUT,
    },
    Edits {
        file: "arch/um/os-Linux/skas/process.c",
        edits: &[
            (
                "static int unscheduled_userspace_iterations;\n",
                "void __attribute__((weak)) netloom_show(struct netloom_clock *clock);\n\
                 void __attribute__((weak)) netloom_looked(struct netloom_clock *clock);\n\n\
                 static int unscheduled_userspace_iterations;\n",
            ),
            (
                "\t\t\t/* Mark pending syscalls for flushing */\n",
                "\t\t\tif (netloom_show)\n\t\t\t\tnetloom_show(&proc_data->clock);\n\n\
                 \t\t\t/* Mark pending syscalls for flushing */\n",
            ),
            (
                "\t\tUPT_SYSCALL_NR(regs) = -1; /* Assume: It's not a syscall */\n",
                "\t\tUPT_SYSCALL_NR(regs) = -1; /* Assume: It's not a syscall */\n\n\
                 \t\tif (using_seccomp && netloom_looked)\n\
                 \t\t\tnetloom_looked(&((struct stub_data *)mm_id->stack)->clock);\n",
            ),
        ],
        without: WITHOUT,
    },
    Edits {
        // A word that is in the vDSO once becomes the address of the clock in the page.
        file: "arch/x86/um/vdso/vma.c",
        edits: &[
            ("#include <linux/init.h>\n", "#include <linux/init.h>\n#include <as-layout.h>\n#include <stub-data.h>\n"),
            (
                "static int __init init_vdso(void)\n{\n",
                "static int __init init_vdso(void)\n{\n\tunsigned long *word;\n\n",
            ),
            (
                "\tcopy_page(page_address(um_vdso), vdso_start);\n",
                "\tcopy_page(page_address(um_vdso), vdso_start);\n\
                 \tfor (word = page_address(um_vdso); (void *)word < page_address(um_vdso) + PAGE_SIZE; word++)\n\
                 \t\tif (*word == 0x6b636f6c43746c4eul)\n\
                 \t\t\t*word = STUB_DATA + offsetof(struct stub_data, clock);\n",
            ),
        ],
        without: WITHOUT,
    },
    Edits {
        file: "arch/x86/um/vdso/um_vdso.c",
        edits: &[
            (
                "int __vdso_clock_gettime(clockid_t clock, struct __kernel_timespec *ts)\n{\n\tlong ret;\n\n",
                "struct netloom_clock {\n\
                 \tunsigned int looks;\n\
                 \tunsigned int look;\n\
                 \tunsigned long passed;\n\
                 \tunsigned long mono;\n\
                 \tunsigned long real;\n\
                 };\n\n\
                 static const volatile unsigned long netloom_clock = 0x6b636f6c43746c4eul;\n\n\
                 /* Zero where the kernel has to be asked. */\n\
                 static __always_inline unsigned long netloom_look(clockid_t which)\n{\n\
                 \tvolatile struct netloom_clock *clock = (void *)netloom_clock;\n\
                 \tunsigned int looks = clock->looks;\n\
                 \tunsigned long passed = clock->passed + clock->look;\n\n\
                 \tif (!looks || (which != CLOCK_REALTIME && which != CLOCK_MONOTONIC))\n\t\treturn 0;\n\
                 \tclock->looks = looks - 1;\n\
                 \tclock->passed = passed;\n\
                 \treturn (which == CLOCK_REALTIME ? clock->real : clock->mono) + passed;\n}\n\n\
                 int __vdso_clock_gettime(clockid_t clock, struct __kernel_timespec *ts)\n{\n\
                 \tunsigned long now = netloom_look(clock);\n\
                 \tlong ret;\n\n\
                 \tif (now) {\n\
                 \t\tts->tv_sec = now / NSEC_PER_SEC;\n\
                 \t\tts->tv_nsec = now % NSEC_PER_SEC;\n\
                 \t\treturn 0;\n\t}\n",
            ),
            (
                "int __vdso_gettimeofday(struct __kernel_old_timeval *tv, struct timezone *tz)\n{\n\tlong ret;\n\n",
                "int __vdso_gettimeofday(struct __kernel_old_timeval *tv, struct timezone *tz)\n{\n\
                 \tunsigned long now = tv && !tz ? netloom_look(CLOCK_REALTIME) : 0;\n\
                 \tlong ret;\n\n\
                 \tif (now) {\n\
                 \t\ttv->tv_sec = now / NSEC_PER_SEC;\n\
                 \t\ttv->tv_usec = now % NSEC_PER_SEC / NSEC_PER_USEC;\n\
                 \t\treturn 0;\n\t}\n",
            ),
        ],
        without: WITHOUT,
    },
];

const WITHOUT: &str = "in virtual time, each look of a program at the clock is a system call with this kernel";

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel and its vDSO share no header that both could include, so each has the structure as a text of its own.
    #[test]
    fn kernel_and_vdso_agree_on_the_structure_that_they_share() {
        let begin = "struct netloom_clock {\n";
        let texts = LOOKS.iter().flat_map(|edits| edits.edits).map(|(_, to)| *to);
        let definitions: Vec<&str> = texts
            .filter_map(|text| text.split_once(begin))
            .map(|(_, rest)| rest.split_once("};\n").expect("a structure ends").0)
            .collect();
        let [kernel, vdso] = definitions[..] else { panic!("{definitions:#?}") };
        assert_eq!(kernel, vdso);
        assert_eq!(kernel.lines().count(), 5);
    }
}
