//! What a build changes in its own copy of a kernel's source, where the kernel has no option for it.

mod asked;
mod counter;
mod faults;
mod looks;
mod room;
mod samples;
mod tracing;
mod tsc;
mod tunnels;

use super::BuildError;
use super::error::Attempt;
use std::path::Path;
use std::{fs, io};

/// Jiffies per second. TCP's coarse timers count in jiffies: with the usual 100 of User-Mode Linux a retransmission
/// timer would be a multiple of 10 ms whatever the dilation. One millisecond is what servers' kernels use.
pub(super) const JIFFIES: u32 = 1_000;

/// What is to take the place of what in a file, each once.
struct Edits {
    file: &'static str,
    edits: &'static [(&'static str, &'static str)],
    /// What a kernel without them is like.
    without: &'static str,
}

/// In virtual time, reading the clock takes 256 ns, so that a program that waits by looking at the clock again and again
/// gets there. Many do so for a round trip or two (iperf3 before a test), which took tens of thousands of system calls:
/// half of the time that a short transfer took. So the longer a kernel has been busy without hearing of a frame, the more
/// a look costs: 1/64 of that time, up to 5 us. A kernel's own computing takes no time; what passes is such looks alone.
const CLOCK: Edits = Edits {
    file: "arch/um/kernel/time.c",
    edits: &[
        (
            "static void time_travel_update_time(unsigned long long next, bool idle)\n{\n\tstruct",
            "static unsigned long long netloom_busy_since;\n\n\
             static unsigned long long netloom_look(void)\n{\n\
             \tunsigned long long cost = (time_travel_time - netloom_busy_since) >> 6;\n\n\
             \treturn clamp_t(unsigned long long, cost, TIMER_MULTIPLIER, 20 * TIMER_MULTIPLIER);\n}\n\n\
             static void time_travel_update_time(unsigned long long next, bool idle)\n{\n\tstruct",
        ),
        (
            "\ttime_travel_update_time(next, true);\n",
            "\ttime_travel_update_time(next, true);\n\tnetloom_busy_since = time_travel_time;\n",
        ),
        (
            "\ttime_travel_add_event(e, time_travel_time);\n}\nEXPORT_SYMBOL_GPL(time_travel_add_irq_event);",
            "\tnetloom_busy_since = time_travel_time;\n\
             \ttime_travel_add_event(e, time_travel_time);\n}\nEXPORT_SYMBOL_GPL(time_travel_add_irq_event);",
        ),
        ("\ttime_travel_update_time_rel(TIMER_MULTIPLIER);\n", "\ttime_travel_update_time_rel(netloom_look());\n"),
    ],
    without: "in virtual time, programs that wait by looking at the clock take long with this kernel",
};

/// In virtual time, what programs ask of their kernel takes time, so that a loop of system calls comes to an end: by itself,
/// a kernel computes in no time at all. Each system call owes 128 ns, and each switch from one task to another; what is
/// owed is paid before a system call, when it is a microsecond or more, and let off when the kernel pauses before: so a
/// program that does little between two waits does it in no time, and round trips are what the links make them. The
/// longer a kernel has been busy without hearing of a frame, the more a call owes: 1/4096 of that time, up to 5 us.
/// What is paid is whole ticks of the kernel's clock, 256 ns: spans between two looks at it would else be up to a tick off.
/// `netloom.syscall` and `netloom.switch` set other costs, in nanoseconds; that of calls then does not grow, and is paid to
/// the last one.
///
/// Computing without system calls takes no time all the same. The lab process may send SIGALRM to a program that does so:
/// then the kernel's process takes the program's name, and as many nanoseconds pass as `netloom.slice` says.
const COSTS: [Edits; 3] = [
    Edits {
        file: "arch/um/kernel/time.c",
        edits: &[
            // The change before this one has to be there, too.
            (
                "static unsigned long long netloom_busy_since;\n",
                "static unsigned long long netloom_busy_since;\nstatic unsigned long long netloom_owed;\n",
            ),
            (
                "\ttime_travel_update_time(next, true);\n",
                "\ttime_travel_update_time(next, true);\n\
                 \tif (netloom_syscall_cost == ULONG_MAX)\n\t\tnetloom_owed = 0;\n",
            ),
            (
                "#include <linux/um_timetravel.h>\n",
                "#include <linux/um_timetravel.h>\n#include <linux/moduleparam.h>\n",
            ),
            (
                "void time_travel_ndelay(unsigned long nsec)\n{\n",
                "#undef MODULE_PARAM_PREFIX\n\
                 #define MODULE_PARAM_PREFIX \"netloom.\"\n\
                 static unsigned long netloom_syscall_cost = ULONG_MAX;\n\
                 module_param_named(syscall, netloom_syscall_cost, ulong, 0);\n\
                 static unsigned long netloom_switch_cost = 128;\n\
                 module_param_named(switch, netloom_switch_cost, ulong, 0);\n\
                 static unsigned long netloom_slice;\n\
                 module_param_named(slice, netloom_slice, ulong, 0);\n\n\
                 static unsigned long long netloom_call(void)\n{\n\
                 \tif (netloom_syscall_cost != ULONG_MAX)\n\
                 \t\treturn netloom_syscall_cost;\n\
                 \treturn clamp_t(unsigned long long, (time_travel_time - netloom_busy_since) >> 12, 128, 5120);\n}\n\n\
                 void netloom_switched(void);\n\
                 void netloom_switched(void)\n{\n\
                 \tnetloom_owed += netloom_switch_cost;\n}\n\n\
                 void netloom_called(void);\n\
                 void netloom_called(void)\n{\n\
                 \tunsigned long long owed = netloom_owed + netloom_call();\n\
                 \tunsigned long long paid = owed;\n\n\
                 \tif (netloom_syscall_cost == ULONG_MAX)\n\
                 \t\tpaid = owed < 4 * TIMER_MULTIPLIER ? 0 : owed - owed % TIMER_MULTIPLIER;\n\
                 \tnetloom_owed = owed - paid;\n\
                 \tif (paid && time_travel_mode == TT_MODE_EXTERNAL)\n\
                 \t\ttime_travel_update_time_rel(paid);\n}\n\n\
                 const char *netloom_spun(void);\n\
                 const char *netloom_spun(void)\n{\n\
                 \tif (time_travel_mode == TT_MODE_EXTERNAL && netloom_slice)\n\
                 \t\ttime_travel_update_time_rel(netloom_slice);\n\
                 \treturn current->comm;\n}\n\n\
                 void time_travel_ndelay(unsigned long nsec)\n{\n",
            ),
        ],
        without: COSTLESS,
    },
    Edits {
        file: "arch/um/kernel/skas/syscall.c",
        edits: &[
            (
                "void handle_syscall(struct uml_pt_regs *r)\n",
                "void __weak netloom_called(void);\n\nvoid handle_syscall(struct uml_pt_regs *r)\n",
            ),
            (
                "\tsyscall = UPT_SYSCALL_NR(r);\n",
                "\tif (netloom_called)\n\t\tnetloom_called();\n\n\tsyscall = UPT_SYSCALL_NR(r);\n",
            ),
        ],
        without: COSTLESS,
    },
    Edits {
        file: "arch/um/os-Linux/skas/process.c",
        edits: &[
            ("#include <sys/socket.h>\n", "#include <sys/socket.h>\n#include <sys/prctl.h>\n"),
            (
                "void userspace(struct uml_pt_regs *regs",
                "const char *__attribute__((weak)) netloom_spun(void);\n\
                 void __attribute__((weak)) netloom_switched(void);\n\n\
                 void userspace(struct uml_pt_regs *regs",
            ),
            (
                "\t\t\tcase SIGALRM:\n\t\t\t\tbreak;\n",
                "\t\t\tcase SIGALRM:\n\t\t\t\tif (netloom_spun)\n\
                 \t\t\t\t\tprctl(PR_SET_NAME, netloom_spun(), 0, 0, 0);\n\t\t\t\tbreak;\n",
            ),
            (
                "void switch_threads(jmp_buf *me, jmp_buf *you)\n{\n",
                "void switch_threads(jmp_buf *me, jmp_buf *you)\n{\n\
                 \tif (netloom_switched)\n\t\tnetloom_switched();\n",
            ),
        ],
        without: COSTLESS,
    },
];

const COSTLESS: &str = "in virtual time, system calls take no time with this kernel, so that a program that waits in a \
                        loop of them waits for ever";

/// A kernel and a process of its programs take turns, and each sleeps when it has woken the other. On one processor the
/// one that was woken mostly runs at once, and has even answered when the other comes to sleep: so that looks first, and
/// spares a call to the machine's kernel. These are the process's end, and the kernel's.
const TURNS: [Edits; 2] = [
    Edits {
        file: "arch/um/kernel/skas/stub.c",
        edits: &[(
            "\tdo {\n\
             \t\tres = stub_syscall4(__NR_futex, (unsigned long)&d->futex,\n\
             \t\t\t\t    FUTEX_WAIT, FUTEX_IN_KERN, 0);\n\
             \t} while (res == -EINTR || d->futex == FUTEX_IN_KERN);\n",
            "\tres = 0;\n\
             \twhile (*(volatile __typeof__(d->futex) *)&d->futex == FUTEX_IN_KERN) {\n\
             \t\tres = stub_syscall4(__NR_futex, (unsigned long)&d->futex,\n\
             \t\t\t\t    FUTEX_WAIT, FUTEX_IN_KERN, 0);\n\
             \t\tif (res == -EINTR)\n\
             \t\t\tres = 0;\n\
             \t}\n",
        )],
        without: "system calls of programs take a little longer with this kernel",
    },
    Edits {
        file: "arch/um/os-Linux/skas/process.c",
        edits: &[(
            "\t\t\tret = syscall(__NR_futex, &data->futex,\n\t\t\t\t      FUTEX_WAIT, FUTEX_IN_CHILD,\n",
            "\t\t\tif (__READ_ONCE(data->futex) != FUTEX_IN_CHILD)\n\t\t\t\tbreak;\n\
             \t\t\tret = syscall(__NR_futex, &data->futex,\n\t\t\t\t      FUTEX_WAIT, FUTEX_IN_CHILD,\n",
        )],
        without: "system calls of programs take a little longer with this kernel",
    },
];

fn all() -> impl Iterator<Item = &'static Edits> {
    let room = room::INTERRUPTS.iter().chain([&room::COMMAND_LINE, &tracing::FORMATS, &tracing::CHECKS]);
    let time = std::iter::once(&CLOCK).chain(&COSTS).chain(&looks::LOOKS).chain(&TURNS).chain(&counter::COUNTER);
    time.chain(&asked::ASKED)
        .chain([&faults::AHEAD, &samples::SAMPLES])
        .chain(&tsc::TSC)
        .chain(room)
        .chain(&tunnels::FIRST)
}

/// Makes all changes. Returns, as warnings, what a source is like that has no place for some of them.
pub(super) fn make(tree: &Path) -> Result<Vec<String>, BuildError> {
    edit(&tree.join("arch/um/Kconfig"), |text| Some(with_jiffies(text)))?;
    let mut warnings = Vec::new();
    for edits in all() {
        if !edit(&tree.join(edits.file), |text| edits.apply(text))?
            && warnings.iter().all(|known| known != edits.without)
        {
            warnings.push(edits.without.to_owned());
        }
    }
    Ok(warnings)
}

/// All that decides what comes out.
pub(super) fn texts() -> impl Iterator<Item = &'static str> {
    all().flat_map(|edits| edits.edits).flat_map(|(from, to)| [*from, *to])
}

/// Whether there was something to change.
fn edit(path: &Path, change: impl FnOnce(&str) -> Option<String>) -> Result<bool, BuildError> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        read => read.attempted(|| format!("read {}", path.display()))?,
    };
    let Some(changed) = change(&text) else { return Ok(false) };
    fs::write(path, changed).attempted(|| format!("write {}", path.display()))?;
    Ok(true)
}

impl Edits {
    /// The text with all of them; none if one has no place or several.
    fn apply(&self, text: &str) -> Option<String> {
        self.edits.iter().try_fold(text.to_owned(), |text, (from, to)| {
            (text.matches(from).count() == 1).then(|| text.replacen(from, to, 1))
        })
    }
}

/// The same `Kconfig` with another default of `HZ`, which User-Mode Linux fixes there and offers no option for. Where there is none to change, the check of the result tells.
fn with_jiffies(kconfig: &str) -> String {
    let mut inside = false;
    let mut text = String::with_capacity(kconfig.len() + 1);
    for line in kconfig.lines() {
        if line.starts_with("config ") {
            inside = line.trim_end() == "config HZ";
        }
        if inside && line.trim_start().starts_with("default ") {
            text.push_str(&format!("\tdefault {JIFFIES}"));
            inside = false;
        } else {
            text.push_str(line);
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jiffies_are_changed_in_their_own_entry_alone() {
        let before = "config STACK\n\tint\n\tdefault 1\n\nconfig HZ\n\tint\n\tdefault 100\n\nconfig SMP\n\tdefault n\n";
        assert_eq!(with_jiffies(before), before.replace("default 100", "default 1000"));
        assert_eq!(with_jiffies(&with_jiffies(before)), with_jiffies(before));
        assert_eq!(with_jiffies("config SMP\n\tdefault n\n"), "config SMP\n\tdefault n\n");
    }

    #[test]
    fn a_file_is_changed_only_where_all_places_are_found_once() {
        for edits in all() {
            let before: Vec<&str> = edits.edits.iter().map(|(from, _)| *from).collect();
            let before = before.join("\n/* between */\n");
            let after = edits.apply(&before).unwrap();
            assert!(edits.edits.iter().all(|(_, to)| after.contains(to)), "{}", edits.file);
            assert_eq!(edits.apply(&format!("{before}{}", edits.edits[0].0)), None, "{}", edits.file);
            assert_eq!(edits.apply("int main(void)\n"), None, "{}", edits.file);
        }
    }

    #[test]
    fn a_source_without_the_places_is_built_with_a_warning() {
        let tree = tempfile::tempdir().unwrap();
        fs::create_dir_all(tree.path().join("arch/um/kernel")).unwrap();
        fs::write(tree.path().join("arch/um/Kconfig"), "config HZ\n\tdefault 100\n").unwrap();
        fs::write(tree.path().join(CLOCK.file), "/* another clock */\n").unwrap();
        let mut without: Vec<&str> = all().map(|edits| edits.without).collect();
        without.dedup();
        assert_eq!(make(tree.path()).unwrap(), without);
        assert_eq!(fs::read_to_string(tree.path().join(CLOCK.file)).unwrap(), "/* another clock */\n");
    }
}
