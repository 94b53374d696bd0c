//! The shim: a small C library that is preloaded into a kernel's process and stands between it and the C library. In dilated time it
//! is preloaded into virtual machines (QEMU), too, which take all their clocks from the C library.
//!
//! - `clock.c`, `timer.c`, `sleep.c`, `wait.c`, `locks.c`: lab time, for all that a kernel or a machine asks about time or waits for;
//! - `entropy.c`: randomness from a seed;
//! - `xstate.c`: repairs an old kernel's way to set vector registers on processors with AMX;
//! - `processor.c`: the processor that programs see;
//! - `backend.c`, `device.c`: virtual time, see [`crate::backend`];
//! - `names.c`, `places.c`: names of files, where the machine refuses mounts of the kernel's own, or another root is shown; which were read;
//! - `start.c`: reads the orders from the environment.
//!
//! # Time
//! `lab = (host - epoch) / dilation`, where `host` and `epoch` are readings of the host's `CLOCK_MONOTONIC`; exact, in
//! integers of 128 bits, and rounded down. All of a kernel's clocks follow from it: the monotonic ones show lab time since
//! the epoch, the wall clock shows the wall clock of the epoch plus lab time. So the wall clocks of all nodes agree, always,
//! while each node's uptime counts from its own boot. The *epoch* is one for all nodes of a lab, and has to be chosen
//! before the first of them boots. Spans are rounded up: no timer is ever early. Real time is dilation 1, by the same code.
//!
//! Between reading the wall clock and its clocksource a booting kernel does not count time, or counts ticks, which come
//! late: one to four milliseconds of wall time were lost or gained, more on a busy machine. `clock.c` makes up for it.
//!
//! The CPU clocks of the process are left alone: they count how much was computed, and computing is not slowed. Programs
//! inside never see them; their kernel accounts in lab time.
//!
//! # What a kernel needs beside it
//! Notes for code that boots nodes:
//! - `HOME` in the environment or `uml_dir=FOLDER/` (with the final slash): with neither, Linux 7.3 panics; with the first
//!   alone it leaves folders in `$HOME/.uml`. With `umid=NAME`, too, nothing is written outside the given folder.
//! - `random.trust_cpu=on`: without it the random generator of older kernels takes 15 to 20 s until it serves `getrandom`,
//!   and in virtual time for ever. A kernel that runs as a process has no `rdrand` of its own; what it calls so is our
//!   `getrandom`. **With a seed everything random in a node is therefore drawn from it**: ports, sequence numbers, hash
//!   seeds. Give each node another seed. In real and dilated time the kernel still stirs in the instants of its
//!   interrupts, so that only virtual time gives the same numbers twice.
//! - `norandmaps`: the addresses in programs inside are not random, which matters to reproducibility only.
//! - `lpj=4000000`: the kernel does not measure the speed of its busy loops, which takes `dilation` times as long.
//! - `seccomp=on` and one processor for all of a kernel's threads and programs: a system call inside then takes a tenth.
//! - `mem=` of 32M for our own kernels, 96M for Debian's.
//! - `netloom.tsc=1` of our own kernels: programs that read time by `rdtsc`, which asks no kernel, would see the host's.

use crate::read_files::ReadFiles;
use netloom_units::Dilation;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::{fmt, io::ErrorKind};

/// The shared object, as the build made it.
const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/shim.so"));

/// Every function of the C library whose place the shim takes, in order of the alphabet.
pub const COVERED: &[&str] = &[
    "__lxstat64",
    "__xmknod",
    "__xstat64",
    "access",
    "bind",
    "chmod",
    "chown",
    "clock_gettime",
    "clock_nanosleep",
    "connect",
    "epoll_ctl",
    "epoll_pwait",
    "epoll_wait",
    "execvp",
    "fchmod",
    "fchown",
    "fopen64",
    "futimes",
    "getentropy",
    "getitimer",
    "getrandom",
    "gettimeofday",
    "lchown",
    "link",
    "lstat64",
    "memfd_create",
    "mkdir",
    "mknod",
    "mkstemp64",
    "nanosleep",
    "open",
    "open64",
    "opendir",
    "personality",
    "poll",
    "ppoll",
    "pselect",
    "pthread_cond_clockwait",
    "pthread_cond_timedwait",
    "ptrace",
    "rand",
    "random",
    "read",
    "readlink",
    "recvmsg",
    "rename",
    "rmdir",
    "select",
    "sem_timedwait",
    "sendmsg",
    "setitimer",
    "sigaction",
    "sleep",
    "socketpair",
    "srand",
    "srandom",
    "stat64",
    "statfs64",
    "statx",
    "symlink",
    "time",
    "timer_create",
    "timer_delete",
    "timer_gettime",
    "timer_settime",
    "truncate64",
    "uname",
    "unlink",
    "usleep",
    "utimes",
    "write",
];

/// The time of a lab, as all its kernels have to see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lapse {
    /// How much it is slowed.
    pub dilation: Dilation,
    /// The host's `CLOCK_MONOTONIC` at lab time 0, in nanoseconds, below 2^61. Kernels are booted after it, not before.
    pub epoch_ns: u64,
    /// The wall clock of the lab at lab time 0, in nanoseconds since 1970, below 2^61 (the year 2043).
    pub wall_ns: u64,
}

impl Lapse {
    /// Lab time 0 is now, and so is the lab's wall clock.
    ///
    /// # Panics
    /// If the host's wall clock shows a year before 1970.
    #[must_use]
    pub fn from_now(dilation: Dilation) -> Self {
        let read = |clock| {
            let now = clock_gettime(clock);
            let seconds = u64::try_from(now.tv_sec).expect("the host's clock is set to before 1970");
            seconds * 1_000_000_000 + now.tv_nsec.unsigned_abs()
        };
        Self { dilation, epoch_ns: read(ClockId::Monotonic), wall_ns: read(ClockId::Realtime) }
    }
}

/// The time and the randomness that a kernel's process is to see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Orders {
    /// Its time; the host's own if there is none, as in virtual time, where the scheduler says what time it is.
    pub lapse: Option<Lapse>,
    /// Its randomness; real if there is none.
    pub seed: Option<u64>,
    /// Whether it is a virtual machine, which does not lose time as kernels do while they boot.
    pub machine: bool,
}

impl Orders {
    /// The environment variables that say so.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let lapse = self.lapse.iter().flat_map(|lapse| {
            [
                ("NETLOOM_DILATION", format!("{}/{}", lapse.dilation.numerator(), lapse.dilation.denominator())),
                ("NETLOOM_EPOCH", lapse.epoch_ns.to_string()),
                ("NETLOOM_WALL", lapse.wall_ns.to_string()),
            ]
        });
        let machine = self.machine.then(|| ("NETLOOM_MACHINE", "1".to_owned()));
        lapse.chain(self.seed.map(|seed| ("NETLOOM_SEED", seed.to_string()))).chain(machine).collect()
    }
}

/// The shim, where a kernel's dynamic linker finds it. One serves any number of kernels.
#[derive(Debug)]
pub struct Shim {
    place: Place,
    files: Files,
}

/// The treatment of the names of files by a lab's kernels.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Takes the names that led to something; none: nobody wants to know.
    pub record: Option<Rc<ReadFiles>>,
    /// The folder in which kernels find the machine's files, a line, and behind it pairs of lines: a name, and where what it leads to
    /// is. None: everything is where it is.
    pub root: Option<OsString>,
}

#[derive(Debug)]
enum Place {
    Memory(File),
    Folder(PathBuf),
}

impl Shim {
    /// Puts it into a sealed file in memory, which is gone with the last process that has it open. No folder is touched,
    /// and none that forbids programs (`noexec`, often `/run`) is in the way.
    ///
    /// A kernel that runs as a process starts itself a second time, to be without address randomisation
    /// (`arch/um/os-Linux/main.c`). It keeps its environment and its open files then, so the shim is loaded a second time
    /// from the same descriptor. Its helpers for programs inside are static, and close all descriptors.
    ///
    /// # Errors
    /// [`ShimError`] when the system makes no such file; [`Shim::in_folder`] may still do.
    pub fn in_memory() -> Result<Self, ShimError> {
        let fail = |error| ShimError { place: "a file in memory".into(), error };
        let mut file = memory_file().map_err(fail)?;
        file.write_all(OBJECT).map_err(fail)?;
        let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
        fcntl_add_seals(&file, seals).map_err(|errno| fail(errno.into()))?;
        Ok(Self { place: Place::Memory(file), files: Files::default() })
    }

    /// Puts it into the file `netloom-shim.so` of `folder`, an absolute path without spaces and colons, which the dynamic
    /// linker takes for separators. Programs must be allowed there (no `noexec`). The file stays; it belongs to the caller.
    ///
    /// # Errors
    /// [`ShimError`] when the path will not do, or the file could not be written.
    pub fn in_folder(folder: &Path) -> Result<Self, ShimError> {
        let path = folder.join("netloom-shim.so");
        let fail = |error| ShimError { place: path.display().to_string(), error };
        if !folder.is_absolute() || path.as_os_str().as_encoded_bytes().iter().any(|byte| b" :".contains(byte)) {
            let reason = "the dynamic linker wants an absolute path without spaces and colons";
            return Err(fail(io::Error::new(ErrorKind::InvalidInput, reason)));
        }
        fs::write(&path, OBJECT).map_err(fail)?;
        Ok(Self { place: Place::Folder(path), files: Files::default() })
    }

    /// Returns the same shim with this treatment of names.
    #[must_use]
    pub fn with_files(self, files: Files) -> Self {
        Self { files, ..self }
    }

    /// The descriptor that a kernel's process has to inherit, under this very number, until it has booted.
    #[must_use]
    pub fn descriptor(&self) -> Option<RawFd> {
        match &self.place {
            Place::Memory(file) => Some(file.as_raw_fd()),
            Place::Folder(_) => None,
        }
    }

    /// All environment variables for a kernel's process: the shim itself and its orders. With `LD_BIND_NOW` the kernel,
    /// too, looks up no function while it runs on a small stack.
    #[must_use]
    pub fn environment(&self, orders: &Orders) -> Vec<(&'static str, OsString)> {
        let path = match &self.place {
            Place::Memory(file) => format!("/proc/self/fd/{}", file.as_raw_fd()).into(),
            Place::Folder(path) => path.clone().into_os_string(),
        };
        let orders = orders.environment().into_iter().map(|(name, value)| (name, value.into()));
        let root = self.files.root.iter().map(|text| ("NETLOOM_ROOT", text.clone()));
        let record = self.record().map(|number| ("NETLOOM_READ", number.to_string().into()));
        [("LD_PRELOAD", path), ("LD_BIND_NOW", "1".into())]
            .into_iter()
            .chain(orders)
            .chain(root)
            .chain(record)
            .collect()
    }

    fn record(&self) -> Option<RawFd> {
        self.files.record.as_ref().map(|record| record.as_fd().as_raw_fd())
    }

    /// Gives `command` the shim and its orders. Where the shim is in memory, `/proc` has to be that of the process's own
    /// PID namespace, and this shim has to live until `command` has been started.
    pub fn arm(&self, command: &mut Command, orders: &Orders) {
        command.envs(self.environment(orders));
        for descriptor in self.descriptor().into_iter().chain(self.record()) {
            // SAFETY: between fork and exec only fcntl is called, which is async-signal-safe; the number is a copy.
            unsafe { command.pre_exec(move || keep_on_exec(descriptor)) };
        }
    }
}

/// An empty file in memory, closed on exec: a lab's other programs shall not inherit it.
fn memory_file() -> io::Result<File> {
    let common = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let create = |flags| memfd_create(c"netloom-shim", flags);
    // Linux before 6.3 does not know MFD_EXEC; since then a system may forbid such files unless they ask for it.
    let file = match create(common | MemfdFlags::EXEC) {
        Err(Errno::INVAL) => create(common),
        made => made,
    };
    Ok(file?.into())
}

fn keep_on_exec(descriptor: RawFd) -> io::Result<()> {
    // SAFETY: F_SETFD takes an integer and touches no memory of ours.
    let failed = unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) } < 0;
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The shim could not be put where a kernel finds it.
#[derive(Debug)]
pub struct ShimError {
    place: String,
    error: io::Error,
}

impl fmt::Display for ShimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "could not write the kernels' shim to {}: {}", self.place, self.error)
    }
}

impl std::error::Error for ShimError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}
