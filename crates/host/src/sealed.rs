//! Processes that may read everything and write nothing but one folder of their own: the kernels of kernel nodes.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use rustix::process::{PidfdFlags, pidfd_open};

use crate::error::{Attempted, KernelError};
use crate::processors::set_of;

/// How a process is confined.
#[derive(Debug)]
pub struct Seal {
    /// An empty folder. The process sees a file system in memory there, which goes with it, and starts in it.
    pub folder: PathBuf,
    /// A program that the process finds at [`INIT`], wherever it is.
    pub init: PathBuf,
    /// What it reads from its standard input; nothing if there is none.
    pub input: Option<OwnedFd>,
    /// Takes what the process writes to its standard output and error.
    pub console: File,
    /// The only processors that it may run on; any if there are none.
    pub processors: Vec<usize>,
    /// The cgroup that it belongs to; the caller's own when there is none.
    pub cgroup: Option<PathBuf>,
}

/// A folder in memory that the process has for itself, where every machine has one. What is in it otherwise, the process
/// does not see, and a kernel needs nothing of it.
pub const OWN_PLACE: &str = "/sys";

/// Where the process finds the program that is given to it: the same on every machine.
pub const INIT: &str = "/sys/init";

/// A process that was started by [`start`]. Dropping it ends it.
#[derive(Debug)]
pub struct SealedProcess {
    child: Child,
    pidfd: OwnedFd,
}

/// Starts `command` with a read-only view of all file systems, at the head of a process group of its own. It dies with
/// the calling thread. Its environment is that of `command` and `TMPDIR`, which is its folder.
///
/// # Errors
/// The kernel's refusal.
pub fn start(mut command: Command, seal: &Seal) -> Result<SealedProcess, KernelError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let attempted = || format!("start {program}");
    let console = || seal.console.try_clone().attempted(attempted);
    let input = seal.input.as_ref().map(OwnedFd::try_clone).transpose().attempted(attempted)?;
    command
        .stdin(input.map_or_else(Stdio::null, Stdio::from))
        .stdout(console()?)
        .stderr(console()?)
        .env("TMPDIR", &seal.folder);
    let folder = CString::new(seal.folder.as_os_str().as_bytes()).attempted(attempted)?;
    let init = CString::new(seal.init.as_os_str().as_bytes()).attempted(attempted)?;
    let set = |processors| set_of(processors).attempted(|| format!("use the processors {processors:?}"));
    let processors = (!seal.processors.is_empty()).then(|| set(&seal.processors)).transpose()?;
    // SAFETY: between fork and exec the closure makes system calls only, on memory that was made before the fork.
    unsafe { command.pre_exec(move || confine(&folder, &init, processors.as_ref())) };
    let child = command.spawn().attempted(attempted)?;
    let pid = Pid::from_raw(child.id().cast_signed());
    // The child is not reaped before its descriptor is made.
    let pidfd = pidfd_open(rustix::process::Pid::from_child(&child), PidfdFlags::empty());
    let process = SealedProcess { child, pidfd: pidfd.attempted(|| format!("watch {program}"))? };
    seal.cgroup.as_ref().map_or(Ok(()), |group| crate::cgroup::join(group, pid))?;
    Ok(process)
}

/// Binds a program that is about to be started to the calling thread: it dies with that, and leaves no image of its memory.
pub fn bind_to_us(command: &mut Command) {
    // SAFETY: between fork and exec the closure makes system calls only.
    unsafe { command.pre_exec(bind) };
}

/// Runs in the child.
fn bind() -> io::Result<()> {
    let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: numbers, and a pointer to memory that outlives the call.
    unsafe {
        checked(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
        checked(libc::setrlimit(libc::RLIMIT_CORE, &raw const no_core))
    }
}

impl SealedProcess {
    /// Its process id, as the caller sees it.
    pub fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }

    /// How it ended, if it has.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Ends it and its group.
    pub fn kill(&mut self) {
        // Until it is reaped, which only this value does, its number cannot pass to another process.
        if let Ok(None) = self.child.try_wait() {
            let _ = killpg(self.pid(), Signal::SIGKILL);
        }
    }
}

impl AsFd for SealedProcess {
    /// The pidfd: readable when the process has ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }
}

impl Drop for SealedProcess {
    fn drop(&mut self) {
        self.kill();
        let _ = self.child.wait();
    }
}

/// Runs in the child.
fn confine(folder: &CString, init: &CString, processors: Option<&CpuSet>) -> io::Result<()> {
    bind()?;
    // SAFETY: numbers, and pointers to memory that outlives the calls; null where the calls allow it.
    unsafe {
        checked(libc::setpgid(0, 0))?;
        // A kernel executes itself again to disable address randomization. Where that is forbidden, it runs with it.
        libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
        checked(libc::unshare(libc::CLONE_NEWNS))?;
        let private = libc::MS_REC | libc::MS_PRIVATE;
        checked(libc::mount(std::ptr::null(), c"/".as_ptr(), std::ptr::null(), private, std::ptr::null()))?;
        let read_only =
            libc::mount_attr { attr_set: libc::MOUNT_ATTR_RDONLY, attr_clr: 0, propagation: 0, userns_fd: 0 };
        checked(libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            c"/".as_ptr(),
            libc::AT_RECURSIVE,
            &raw const read_only,
            size_of_val(&read_only),
        ))?;
        let flags = libc::MS_NOSUID | libc::MS_NODEV;
        for place in [folder.as_c_str(), c"/sys"] {
            let (kind, options) = (c"tmpfs".as_ptr(), c"mode=700".as_ptr().cast());
            checked(libc::mount(kind, place.as_ptr(), kind, flags, options))?;
        }
        let place = libc::open(c"/sys/init".as_ptr(), libc::O_CREAT | libc::O_WRONLY | libc::O_CLOEXEC, 0o700);
        checked(place)?;
        checked(libc::close(place))?;
        checked(libc::mount(init.as_ptr(), c"/sys/init".as_ptr(), std::ptr::null(), libc::MS_BIND, std::ptr::null()))?;
        checked(libc::chdir(folder.as_ptr()))?;
    }
    processors.map_or(Ok(()), |set| sched_setaffinity(Pid::from_raw(0), set))?;
    Ok(())
}

fn checked(result: impl Into<i64>) -> io::Result<()> {
    if result.into() == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Lines before a panic that mostly say what led to it.
const BEFORE_PANIC: usize = 2;

/// The last `lines` lines of a console, for a message: each on a line of its own. Of a kernel that panicked, those with
/// which it began to and what was said right before, since a long account of its state follows.
pub fn last_lines(console: &Path, lines: usize) -> String {
    let text = std::fs::read(console).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let all: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let panic = all.iter().rposition(|line| line.contains("Kernel panic"));
    let first = panic.map_or(all.len(), |line| line.saturating_sub(BEFORE_PANIC)).min(all.len().saturating_sub(lines));
    all[first..].iter().take(lines).map(|line| format!("\n  | {line}")).collect()
}
