//! Faults of programs that the kernel of their node makes: system calls that fail, programs that get no processor, and turns by drawn
//! priorities. What the agent of a kernel node orders by prctl(2); the kernel's side is `kernel/edits/faults` of the crate `guest`.

use std::io;

use serde::{Deserialize, Serialize};

use crate::error::{Attempted, KernelError};

/// A fault, and the programs that it meets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramFault {
    /// The command line of the processes that are meant, in which `*` stands for any letters; none: all.
    pub process: Option<String>,
    /// The name of the threads that are meant, in which `*` stands for any letters; none: all.
    pub thread: Option<String>,
    /// The time after which it ends by itself, in nanoseconds; none: when it is ended.
    pub span_ns: Option<u64>,
    /// The seed of all that is drawn.
    pub seed: u64,
    /// The kind of fault.
    pub kind: ProgramFaultKind,
}

/// A kind of fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProgramFaultKind {
    /// System calls fail, are late, or move fewer bytes.
    Fail(CallFault),
    /// Programs get no processor.
    Starve {
        /// The share of threads that get none, of 2^32, in spans of time that are drawn: the shortest and the longest, in nanoseconds. None:
        /// all threads, all the time.
        spans: Option<(u64, u64, u64)>,
    },
    /// Threads take turns by priorities that are drawn.
    Turns {
        /// How often the one that runs drops to the lowest priority,
        changes: u32,
        /// within so many of their system calls.
        within: u32,
    },
    /// The kernel kills a process as if there were no memory left.
    OutOfMemory,
}

/// System calls that fail, are late, or move fewer bytes than they were asked to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallFault {
    /// The names of the calls, of those that [`is_call`] knows.
    pub calls: Vec<String>,
    /// The path of the file, in which `*` stands for any letters; none: any file, or none.
    pub path: Option<String>,
    /// The error's number; none: the call is made.
    pub error: Option<i32>,
    /// The first call that is met, of those that match.
    pub nth: u64,
    /// The number of calls that are met; none: all.
    pub times: Option<u64>,
    /// The share of calls that are met, of 2^32.
    pub share: u64,
    /// The most bytes that a call moves; none: as many as it was asked to.
    pub most: Option<u64>,
    /// How late the call is made or answered, in nanoseconds.
    pub delay_ns: u64,
}

/// The outcome of a fault.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramFaultOutcome {
    /// The calls that matched.
    pub seen: u64,
    /// The calls that were met; how often a program had to wait; or the threads that took turns.
    pub done: u64,
}

/// The option of prctl(2) that kernels of nodes have for this, and what it may be asked for.
const ORDER: libc::c_int = 0x4e4c_6674;
const ADD: libc::c_ulong = 1;
const REMOVE: libc::c_ulong = 2;
const KILL: libc::c_ulong = 3;
const STALL: libc::c_ulong = 4;

/// A kernel stalls so long after it was told to, in nanoseconds: the answer is on its way by then.
const STALL_LEAD_NS: libc::c_ulong = 20_000;

const NONE: i8 = -1;
const MOST_KINDS: usize = 72;

/// A system call; the places of its arguments that are a descriptor, a path, and a number of bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct CallKind {
    number: u16,
    fd: i8,
    path: i8,
    length: i8,
    spare: [i8; 3],
}

const fn call(number: libc::c_long, fd: i8, path: i8, length: i8) -> CallKind {
    assert!(number >= 0 && number < 1 << 16, "system calls have small numbers");
    CallKind { number: number as u16, fd, path, length, spare: [0; 3] }
}

/// The system calls by the names that lab files have for them. Kernels of nodes are of x86-64.
#[cfg(target_arch = "x86_64")]
const CALLS: [(&str, &[CallKind]); 26] = [
    (
        "read",
        &[
            call(libc::SYS_read, 0, NONE, 2),
            call(libc::SYS_pread64, 0, NONE, 2),
            call(libc::SYS_readv, 0, NONE, NONE),
            call(libc::SYS_preadv, 0, NONE, NONE),
            call(libc::SYS_preadv2, 0, NONE, NONE),
        ],
    ),
    (
        "write",
        &[
            call(libc::SYS_write, 0, NONE, 2),
            call(libc::SYS_pwrite64, 0, NONE, 2),
            call(libc::SYS_writev, 0, NONE, NONE),
            call(libc::SYS_pwritev, 0, NONE, NONE),
            call(libc::SYS_pwritev2, 0, NONE, NONE),
        ],
    ),
    (
        "send",
        &[
            call(libc::SYS_sendto, 0, NONE, 2),
            call(libc::SYS_sendmsg, 0, NONE, NONE),
            call(libc::SYS_sendmmsg, 0, NONE, NONE),
        ],
    ),
    (
        "recv",
        &[
            call(libc::SYS_recvfrom, 0, NONE, 2),
            call(libc::SYS_recvmsg, 0, NONE, NONE),
            call(libc::SYS_recvmmsg, 0, NONE, NONE),
        ],
    ),
    ("fsync", &[call(libc::SYS_fsync, 0, NONE, NONE), call(libc::SYS_fdatasync, 0, NONE, NONE)]),
    (
        "open",
        &[
            call(libc::SYS_open, NONE, 0, NONE),
            call(libc::SYS_openat, 0, 1, NONE),
            call(libc::SYS_openat2, 0, 1, NONE),
            call(libc::SYS_creat, NONE, 0, NONE),
        ],
    ),
    ("connect", &[call(libc::SYS_connect, 0, NONE, NONE)]),
    ("accept", &[call(libc::SYS_accept, 0, NONE, NONE), call(libc::SYS_accept4, 0, NONE, NONE)]),
    ("bind", &[call(libc::SYS_bind, 0, NONE, NONE)]),
    ("listen", &[call(libc::SYS_listen, 0, NONE, NONE)]),
    ("socket", &[call(libc::SYS_socket, NONE, NONE, NONE)]),
    ("mmap", &[call(libc::SYS_mmap, 4, NONE, NONE), call(libc::SYS_mremap, NONE, NONE, NONE)]),
    ("brk", &[call(libc::SYS_brk, NONE, NONE, NONE)]),
    (
        "rename",
        &[
            call(libc::SYS_rename, NONE, 0, NONE),
            call(libc::SYS_renameat, 0, 1, NONE),
            call(libc::SYS_renameat2, 0, 1, NONE),
        ],
    ),
    ("unlink", &[call(libc::SYS_unlink, NONE, 0, NONE), call(libc::SYS_unlinkat, 0, 1, NONE)]),
    ("mkdir", &[call(libc::SYS_mkdir, NONE, 0, NONE), call(libc::SYS_mkdirat, 0, 1, NONE)]),
    ("truncate", &[call(libc::SYS_truncate, NONE, 0, NONE), call(libc::SYS_ftruncate, 0, NONE, NONE)]),
    ("fallocate", &[call(libc::SYS_fallocate, 0, NONE, NONE)]),
    (
        "stat",
        &[
            call(libc::SYS_stat, NONE, 0, NONE),
            call(libc::SYS_lstat, NONE, 0, NONE),
            call(libc::SYS_fstat, 0, NONE, NONE),
            call(libc::SYS_newfstatat, 0, 1, NONE),
            call(libc::SYS_statx, 0, 1, NONE),
        ],
    ),
    ("getdents", &[call(libc::SYS_getdents, 0, NONE, NONE), call(libc::SYS_getdents64, 0, NONE, NONE)]),
    ("flock", &[call(libc::SYS_flock, 0, NONE, NONE)]),
    (
        "poll",
        &[
            call(libc::SYS_poll, NONE, NONE, NONE),
            call(libc::SYS_ppoll, NONE, NONE, NONE),
            call(libc::SYS_select, NONE, NONE, NONE),
            call(libc::SYS_pselect6, NONE, NONE, NONE),
            call(libc::SYS_epoll_wait, NONE, NONE, NONE),
            call(libc::SYS_epoll_pwait, NONE, NONE, NONE),
        ],
    ),
    ("sleep", &[call(libc::SYS_nanosleep, NONE, NONE, NONE), call(libc::SYS_clock_nanosleep, NONE, NONE, NONE)]),
    (
        "fork",
        &[
            call(libc::SYS_fork, NONE, NONE, NONE),
            call(libc::SYS_vfork, NONE, NONE, NONE),
            call(libc::SYS_clone, NONE, NONE, NONE),
            call(libc::SYS_clone3, NONE, NONE, NONE),
        ],
    ),
    ("exec", &[call(libc::SYS_execve, NONE, 0, NONE), call(libc::SYS_execveat, 0, 1, NONE)]),
    ("getrandom", &[call(libc::SYS_getrandom, NONE, NONE, 1)]),
];
#[cfg(not(target_arch = "x86_64"))]
const CALLS: [(&str, &[CallKind]); 0] = [];

/// Whether kernels of nodes know system calls of this name.
pub fn is_call(name: &str) -> bool {
    CALLS.iter().any(|(known, _)| *known == name)
}

/// A fault as the kernel takes it.
#[repr(C)]
struct Order {
    kind: u32,
    error: i32,
    span_ns: u64,
    nth: u64,
    times: u64,
    share: u64,
    seed: u64,
    most: u64,
    delay_ns: u64,
    least_ns: u64,
    longest_ns: u64,
    changes: u32,
    within: u32,
    kinds: u32,
    spare: u32,
    calls: [CallKind; MOST_KINDS],
    process: [u8; 128],
    thread: [u8; 16],
    path: [u8; 64],
}

impl Order {
    fn of(fault: &ProgramFault) -> Result<Self, KernelError> {
        let mut order = Self {
            kind: 0,
            error: 0,
            span_ns: fault.span_ns.unwrap_or(0),
            nth: 0,
            times: 0,
            share: 1 << 32,
            seed: fault.seed,
            most: 0,
            delay_ns: 0,
            least_ns: 1,
            longest_ns: 0,
            changes: 0,
            within: 1,
            kinds: 0,
            spare: 0,
            calls: [call(0, NONE, NONE, NONE); MOST_KINDS],
            process: text(fault.process.as_deref())?,
            thread: text(fault.thread.as_deref())?,
            path: [0; 64],
        };
        match &fault.kind {
            ProgramFaultKind::Fail(calls) => order.fail(calls)?,
            ProgramFaultKind::Starve { spans } => {
                order.kind = 2;
                if let Some((share, least, longest)) = spans {
                    (order.share, order.least_ns, order.longest_ns) = (*share, (*least).max(1), *longest);
                }
            }
            ProgramFaultKind::Turns { changes, within } => {
                (order.kind, order.changes, order.within) = (3, *changes, (*within).max(1));
            }
            ProgramFaultKind::OutOfMemory => {}
        }
        Ok(order)
    }

    fn fail(&mut self, fault: &CallFault) -> Result<(), KernelError> {
        let known = CALLS.iter().filter(|(name, _)| fault.calls.iter().any(|wanted| wanted == name));
        let kinds: Vec<CallKind> = known.flat_map(|(_, kinds)| *kinds).copied().collect();
        if kinds.is_empty() || kinds.len() > MOST_KINDS {
            let detail = format!("{} are too many or none that it knows", fault.calls.join(", "));
            return Err(KernelError::new("let system calls fail", libc::EINVAL).with_detail(detail));
        }
        self.calls[..kinds.len()].copy_from_slice(&kinds);
        self.kinds = u32::try_from(kinds.len()).unwrap_or_default();
        self.path = text(fault.path.as_deref())?;
        (self.kind, self.error, self.nth) = (1, fault.error.unwrap_or(0), fault.nth);
        (self.times, self.share) = (fault.times.unwrap_or(0), fault.share);
        (self.most, self.delay_ns) = (fault.most.unwrap_or(0), fault.delay_ns);
        Ok(())
    }
}

/// A pattern as the kernel takes it: with a zero at its end.
fn text<const SIZE: usize>(pattern: Option<&str>) -> Result<[u8; SIZE], KernelError> {
    let (mut bytes, given) = ([0; SIZE], pattern.unwrap_or_default().as_bytes());
    if given.len() >= SIZE {
        let detail = format!("a pattern has {} bytes at most", SIZE - 1);
        return Err(KernelError::new("make a fault of programs", libc::ENAMETOOLONG).with_detail(detail));
    }
    bytes[..given.len()].copy_from_slice(given);
    Ok(bytes)
}

/// Begins a fault. Returns its number; if the kernel is to kill a process, that of the process, or 0 if there is none.
pub(super) fn begin(fault: &ProgramFault) -> Result<u64, KernelError> {
    let order = Order::of(fault)?;
    let what = if fault.kind == ProgramFaultKind::OutOfMemory { KILL } else { ADD };
    let size = size_of::<Order>() as libc::c_ulong;
    // SAFETY: the kernel reads so many bytes of the order, and keeps no pointer to it. Another kernel does not know the option.
    let result = unsafe { libc::prctl(ORDER, what, &raw const order, size) };
    ordered(result, "make a fault of programs")
}

/// Ends a fault, or all faults of system calls if the number is 0. Returns what became of it; none if it has ended already.
pub(super) fn end(number: u64) -> Result<Option<ProgramFaultOutcome>, KernelError> {
    #[repr(C)]
    struct Outcome {
        seen: u64,
        done: u64,
    }
    let mut outcome = Outcome { seen: 0, done: 0 };
    // SAFETY: the kernel writes the structure, and keeps no pointer to it.
    let result = unsafe { libc::prctl(ORDER, REMOVE, number, &raw mut outcome) };
    if result < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ENOENT) {
        return Ok(None);
    }
    ordered(result, "end a fault of programs")?;
    Ok(Some(ProgramFaultOutcome { seen: outcome.seen, done: outcome.done }))
}

/// Lets the kernel do nothing for so long, soon after this.
pub(super) fn stall(span_ns: u64) -> Result<(), KernelError> {
    // SAFETY: the arguments are numbers.
    let result = unsafe { libc::prctl(ORDER, STALL, span_ns, STALL_LEAD_NS) };
    ordered(result, "stall").map(drop)
}

fn ordered(result: libc::c_int, what: &'static str) -> Result<u64, KernelError> {
    match u64::try_from(result) {
        Ok(number) => Ok(number),
        Err(_) => {
            let error = io::Error::last_os_error();
            let is_unknown = error.raw_os_error() == Some(libc::EINVAL);
            let advice = "the node's kernel has no such faults: build one of today by `netloom kernel build`";
            Err(error).attempted(|| if is_unknown { format!("{what} ({advice})") } else { what.to_owned() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The structure in `kernel/edits/faults/calls.c` has the same size.
    #[test]
    fn orders_have_the_layout_that_the_kernel_reads() {
        assert_eq!((size_of::<CallKind>(), size_of::<Order>()), (8, 880));
        assert_eq!(std::mem::offset_of!(Order, calls), 96);
        assert_eq!(std::mem::offset_of!(Order, process), 672);
    }

    #[test]
    fn calls_become_their_numbers_and_patterns_end_with_a_zero() {
        let fail = CallFault {
            calls: vec!["fsync".to_owned(), "open".to_owned()],
            path: Some("/var/lib/*".to_owned()),
            error: Some(libc::EIO),
            nth: 3,
            times: Some(1),
            share: 1 << 32,
            most: None,
            delay_ns: 0,
        };
        let fault = |kind| ProgramFault { process: Some("db *".into()), thread: None, span_ns: None, seed: 7, kind };
        let order = Order::of(&fault(ProgramFaultKind::Fail(fail.clone()))).unwrap();
        let numbers: Vec<u16> = order.calls[..order.kinds as usize].iter().map(|kind| kind.number).collect();
        assert_eq!(numbers, [74, 75, 2, 257, 437, 85]);
        assert_eq!((order.kind, order.error, order.nth, order.times), (1, 5, 3, 1));
        assert!(order.process.starts_with(b"db *\0") && order.path.starts_with(b"/var/lib/*\0"));
        let unknown = CallFault { calls: vec!["nothing".to_owned()], ..fail.clone() };
        assert!(Order::of(&fault(ProgramFaultKind::Fail(unknown))).is_err());
        let long = CallFault { path: Some("x".repeat(64)), ..fail };
        assert!(Order::of(&fault(ProgramFaultKind::Fail(long))).is_err());
    }

    /// All names fit into one order, and each has calls.
    #[test]
    fn all_calls_fit_into_an_order() {
        assert!(CALLS.iter().all(|(_, kinds)| !kinds.is_empty()));
        assert!(CALLS.iter().map(|(_, kinds)| kinds.len()).sum::<usize>() <= MOST_KINDS);
        assert!(is_call("getrandom") && !is_call("SYS_read"));
    }
}
