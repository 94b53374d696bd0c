//! Whether this machine's processor can count the conditional branches of a program, and how: for `cpu: {branch: ...}`.
//!
//! Which event counts them, and by how much its interrupts may be late, was learnt from the debugger rr, which replays programs
//! by the same counters (`src/PerfCounters.cc` and `src/PerfCounters_x86.h` of rr-debugger/rr). What is taken from there:
//!
//! - Intel: `BR_INST_RETIRED.CONDITIONAL`, event 0xc4 with the mask 0x01, since Ice Lake 0x11. Interrupts are up to 125
//!   branches late.
//! - AMD since Zen: `ex_ret_cond`, event 0xd1. Interrupts are up to 10,000 branches late, rarely more. Speculation past
//!   locked instructions (SpecLockMap) makes it count too many, so it has to be switched off (bit 54 of the MSR 0xc0011020);
//!   a locked instruction shows whether it is.
//! - Some hypervisors count too many. So a loop whose branches are known is counted first.
//! - Processors with cores of two kinds count differently on each; such are not used.
//! - rr warns on processors since Comet Lake unless `freeze_on_smi` is set: the firmware's own code counts as well then. It
//!   is asked for here.
//! - Branches of aborted transactions (TSX) count. Few processors still have these, and hardly any program uses them.

use nix::errno::Errno;
use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::os::fd::{FromRawFd, OwnedFd};

/// How the processor counts, as it is passed to a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The type of the event (`PERF_TYPE_*`).
    pub event_type: u32,
    /// The event: the processor's number of it, or the address of a breakpoint.
    pub event: u64,
    /// By how many branches its interrupts are ordered early.
    pub margin: u32,
    is_zen: bool,
    /// The firmware's own code may count.
    counts_firmware: bool,
}

/// Why the processor of this machine cannot count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CannotCount {
    /// No event is known for it.
    Unknown {
        /// Vendor, family and model.
        processor: String,
    },
    /// Its cores are of different kinds.
    Mixed,
    /// The machine's kernel has no counter to give.
    NoCounter,
    /// The kernel forbids it.
    Forbidden {
        /// `kernel.perf_event_paranoid`.
        paranoid: Option<i32>,
    },
    /// Something else that the kernel says.
    Refused(Errno),
    /// It counts, but other numbers than there were branches.
    Wrong {
        /// How many there were.
        branches: u64,
        /// What it counted.
        counted: u64,
    },
    /// SpecLockMap is on.
    SpecLockMap,
    /// The firmware's code is counted.
    Firmware,
}

impl fmt::Display for CannotCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { processor } => write!(f, "no counter is known for the processor ({processor})"),
            Self::Mixed => f.write_str("the processor has cores of two kinds, which count differently"),
            Self::NoCounter => f.write_str(
                "the kernel has no hardware counters to give; virtual machines mostly have none (a virtual PMU)",
            ),
            Self::Forbidden { paranoid: Some(value) } => {
                write!(f, "kernel.perf_event_paranoid is {value}; run `sudo sysctl kernel.perf_event_paranoid=2`")
            }
            Self::Forbidden { paranoid: None } => f.write_str("the kernel forbids perf_event_open here"),
            Self::Refused(errno) => write!(f, "perf_event_open: {}", errno.desc()),
            Self::Wrong { branches, counted } => {
                write!(f, "the counter is not exact here: it counted {counted} for {branches} branches")
            }
            Self::SpecLockMap => f.write_str(
                "the processor's counter is wrong while SpecLockMap is on; the wiki of rr says how to switch it off \
                 (https://github.com/rr-debugger/rr/wiki/Zen)",
            ),
            Self::Firmware => f.write_str(
                "the firmware's code is counted, too; run `echo 1 | sudo tee /sys/devices/cpu/freeze_on_smi`",
            ),
        }
    }
}

impl std::error::Error for CannotCount {}

/// For tests where there is no counter: `NETLOOM_BREAKPOINT=0x401136` has a processor's breakpoint count how often the
/// instruction at that address is executed, in the place of all branches.
const VARIABLE: &str = "NETLOOM_BREAKPOINT";

/// `PERF_TYPE_RAW` and `PERF_TYPE_BREAKPOINT`.
const RAW: u32 = 4;
const BREAKPOINT: u32 = 5;

/// The counter of this machine, which has been tried.
///
/// # Errors
/// Why there is none.
pub fn of_this_machine() -> Result<Counter, CannotCount> {
    let address =
        std::env::var(VARIABLE).ok().and_then(|value| u64::from_str_radix(value.strip_prefix("0x")?, 16).ok());
    if let Some(event) = address {
        return Ok(Counter { event_type: BREAKPOINT, event, margin: 100, is_zen: false, counts_firmware: false });
    }
    if fs::exists("/sys/bus/event_source/devices/cpu_core").unwrap_or(false) {
        return Err(CannotCount::Mixed);
    }
    let (vendor, signature) = processor();
    let counter = choose(&vendor, signature).ok_or_else(|| CannotCount::Unknown {
        processor: format!("{vendor}, family {:#x}, model {:#x}", family(signature), model(signature)),
    })?;
    counter.check()?;
    if counter.counts_firmware
        && fs::read_to_string("/sys/devices/cpu/freeze_on_smi").is_ok_and(|value| value.trim() == "0")
    {
        return Err(CannotCount::Firmware);
    }
    Ok(counter)
}

/// Vendor, and leaf 1 of CPUID.
#[cfg(target_arch = "x86_64")]
fn processor() -> (String, u32) {
    use std::arch::x86_64::__cpuid;
    let name = __cpuid(0);
    let bytes: Vec<u8> = [name.ebx, name.edx, name.ecx].iter().flat_map(|word| word.to_le_bytes()).collect();
    (String::from_utf8_lossy(&bytes).into_owned(), __cpuid(1).eax)
}

#[cfg(not(target_arch = "x86_64"))]
fn processor() -> (String, u32) {
    (std::env::consts::ARCH.to_owned(), 0)
}

fn family(signature: u32) -> u32 {
    match signature >> 8 & 0xf {
        0xf => 0xf + (signature >> 20 & 0xff),
        family => family,
    }
}

fn model(signature: u32) -> u32 {
    (signature >> 4 & 0xf) | (signature >> 12 & 0xf0)
}

/// The event of a processor. Pure.
fn choose(vendor: &str, signature: u32) -> Option<Counter> {
    // rr's figure for how late an interrupt is, and the least period that some kernels ask for, 32.
    let intel =
        |event, counts_firmware| Some(Counter { event_type: RAW, event, margin: 160, is_zen: false, counts_firmware });
    match (vendor, family(signature), model(signature)) {
        // Nehalem to Coffee Lake.
        ("GenuineIntel", 6, 0x1a | 0x1e | 0x1f | 0x25 | 0x2a | 0x2c..=0x2f | 0x3a | 0x3c..=0x3f) => {
            intel(0x01c4, false)
        }
        ("GenuineIntel", 6, 0x45..=0x47 | 0x4e | 0x4f | 0x55 | 0x56 | 0x5e | 0x8e | 0x9e) => intel(0x01c4, false),
        // Comet Lake.
        ("GenuineIntel", 6, 0xa5 | 0xa6) => intel(0x01c4, true),
        // Ice Lake to Granite Rapids.
        ("GenuineIntel", 6, 0x6a | 0x6c | 0x7d | 0x7e | 0x8c | 0x8d | 0xa7 | 0x8f | 0xcf | 0xad) => intel(0x11c4, true),
        // Zen to Zen 5.
        ("AuthenticAMD", 0x17 | 0x19 | 0x1a, _) => {
            Some(Counter { event_type: RAW, event: 0xd1, margin: 10_000 + 32, is_zen: true, counts_firmware: false })
        }
        _ => None,
    }
}

/// How many branches a trial has, twice, and how often it is repeated.
const TRIAL: [u64; 2] = [1_000, 101_000];
const TRIALS: usize = 20;
/// Retired locked instructions that SpecLockMap let pass early (`RETIRED_LOCK_INSTRUCTIONS`, AMD).
const SPECULATED_LOCKS: u64 = 0x0825;

impl Counter {
    /// Counts loops of known lengths.
    fn check(self) -> Result<(), CannotCount> {
        // A kernel needs interrupts, too, which are not to be had everywhere.
        drop(open(self.event, 1 << 60)?);
        let counter = open(self.event, 0)?;
        let branches = TRIAL[1] - TRIAL[0];
        for _ in 0..TRIALS {
            let [short, long] = TRIAL.map(|count| counted(&counter, || spin(count)));
            let counted = long.saturating_sub(short);
            if counted != branches {
                return Err(CannotCount::Wrong { branches, counted });
            }
        }
        if self.is_zen && counted(&open(SPECULATED_LOCKS, 0)?, lock) > 0 {
            return Err(CannotCount::SpecLockMap);
        }
        Ok(())
    }
}

/// A counter of this thread's user mode that stands still.
fn open(event: u64, period: u64) -> Result<fs::File, CannotCount> {
    /// `disabled`, `pinned`, `exclude_kernel`, `exclude_hv` (perf_event_open(2)).
    const FLAGS: u64 = 1 | 1 << 2 | 1 << 5 | 1 << 6;
    /// PERF_ATTR_SIZE_VER0, in words.
    const WORDS: usize = 8;
    const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;
    let attributes: [u64; WORDS] = [u64::from(RAW) | (WORDS as u64 * 8) << 32, event, period, 0, 0, FLAGS, 0, 0];
    // SAFETY: the attributes are as long as they say, and outlive the call, which only reads them.
    let fd = unsafe { libc::syscall(libc::SYS_perf_event_open, attributes.as_ptr(), 0, -1, -1, CLOSE_ON_EXEC) };
    match i32::try_from(fd) {
        // SAFETY: the kernel has just given us this descriptor, which nobody else has.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }.into()),
        _ => Err(match Errno::last() {
            Errno::ENOENT | Errno::EOPNOTSUPP | Errno::ENODEV => CannotCount::NoCounter,
            Errno::EACCES | Errno::EPERM => {
                let value = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok();
                let paranoid = value.and_then(|value| value.trim().parse().ok()).filter(|value| *value > 2);
                CannotCount::Forbidden { paranoid }
            }
            errno => CannotCount::Refused(errno),
        }),
    }
}

/// What a counter counts while `work` is done, and a few branches more, always the same. A counter that is taken away counts
/// nothing.
fn counted(mut counter: &fs::File, work: impl FnOnce()) -> u64 {
    use std::os::fd::AsRawFd;
    const ENABLE: libc::Ioctl = 0x2400;
    const DISABLE: libc::Ioctl = 0x2401;
    const RESET: libc::Ioctl = 0x2403;
    // SAFETY: the descriptor is open, and these requests take no argument.
    let ask = |request| unsafe { libc::ioctl(counter.as_raw_fd(), request, 0) };
    ask(RESET);
    ask(ENABLE);
    work();
    ask(DISABLE);
    let mut count = [0; 8];
    let read: io::Result<usize> = counter.read(&mut count);
    if read.is_ok_and(|length| length == count.len()) { u64::from_ne_bytes(count) } else { 0 }
}

/// A loop of so many conditional branches.
fn spin(branches: u64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: it counts a register down, and touches no memory.
    unsafe {
        std::arch::asm!("2: dec {0}", "jnz 2b", inout(reg) branches => _, options(nomem, nostack));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = branches;
}

/// A locked instruction.
fn lock() {
    use std::sync::atomic::{AtomicU32, Ordering};
    static WORD: AtomicU32 = AtomicU32::new(0);
    WORD.fetch_add(1, Ordering::SeqCst);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_those_of_the_manufacturers() {
        let event = |vendor, signature| choose(vendor, signature).map(|counter| (counter.event, counter.margin));
        // A Xeon of 2017 (Skylake), one of 2021 (Ice Lake), an EPYC of 2019 (Zen 2), one of 2022 (Zen 4).
        assert_eq!(event("GenuineIntel", 0x50654), Some((0x01c4, 160)));
        assert_eq!(event("GenuineIntel", 0x606a6), Some((0x11c4, 160)));
        assert_eq!(event("AuthenticAMD", 0x830f10), Some((0xd1, 10_032)));
        assert_eq!(event("AuthenticAMD", 0xa10f11), Some((0xd1, 10_032)));
        // A Pentium 4, an Opteron of 2003, and none.
        assert_eq!(event("GenuineIntel", 0xf29), None);
        assert_eq!(event("AuthenticAMD", 0xf58), None);
        assert_eq!(event("aarch64", 0), None);
    }

    #[test]
    fn each_reason_says_what_to_do_or_what_is_missing() {
        let text = |why: CannotCount| why.to_string();
        assert!(text(CannotCount::NoCounter).contains("virtual machines mostly have none"));
        assert!(text(CannotCount::Forbidden { paranoid: Some(4) }).contains("sysctl kernel.perf_event_paranoid=2"));
        assert!(text(CannotCount::SpecLockMap).contains("rr/wiki/Zen"));
        assert!(text(CannotCount::Wrong { branches: 10, counted: 11 }).contains("counted 11 for 10 branches"));
    }

    /// Either the counter is exact, or there is a reason: whatever machine this is.
    #[test]
    fn this_machine_counts_exactly_or_says_why_not() {
        match of_this_machine() {
            Ok(counter) => assert_eq!(counter.check(), Ok(())),
            Err(why) => assert!(!matches!(why, CannotCount::Refused(_)), "{why}"),
        }
    }
}
