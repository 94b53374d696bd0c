//! Processes that may read everything and write nothing but one folder of their own: the kernels of kernel nodes.

mod bare;

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::rc::Rc;

use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use rustix::process::{PidfdFlags, pidfd_open};

use crate::capabilities::give_up_all;
use crate::error::{Attempted, KernelError};
use crate::mount::HIDDEN;
use crate::processors::set_of;
use crate::shortage;

pub use bare::Bare;

/// How a process is confined.
#[derive(Debug)]
pub struct Seal {
    /// An empty folder. The process sees a file system in memory there, which goes with it, and starts in it.
    pub folder: PathBuf,
    /// A program that the process finds at [`INIT`], wherever it is.
    pub init: PathBuf,
    /// The standard input of the process; empty if there is none.
    pub input: Option<OwnedFd>,
    /// Takes what the process writes to its standard output and error.
    pub console: File,
    /// The only processors that it may run on; any if there are none.
    pub processors: Vec<usize>,
    /// The cgroup that it belongs to; the caller's own when there is none.
    pub cgroup: Option<PathBuf>,
    /// How it is confined where it cannot have a mount namespace; none: it has one.
    pub bare: Option<Rc<Bare>>,
}

/// A folder in memory that the process has for itself, where every machine has one. What is in it otherwise, the process
/// does not see, and a kernel needs nothing of it.
pub const OWN_PLACE: &str = "/sys";

/// Where the process finds the program that is given to it: the same on every machine.
pub const INIT: &str = "/sys/init";

pub use crate::mount::{HOSTS, RESOLVER};

/// Returns the names for which a lab's kernels see files and folders of the lab.
pub fn provided_names() -> impl Iterator<Item = &'static str> {
    [HOSTS, RESOLVER].into_iter().chain(HIDDEN)
}

/// A process that was started by [`start`], or taken over by [`adopt`]. Dropping it ends it.
#[derive(Debug)]
pub struct SealedProcess {
    child: Kin,
    pidfd: OwnedFd,
}

/// A child of this process.
#[derive(Debug)]
enum Kin {
    Started(Child),
    /// One that this process did not start, and how it ended.
    Adopted(Pid, Option<ExitStatus>),
}

/// Starts `command` with a read-only view of all file systems, at the head of a session of its own. It dies with
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
    if let Some(bare) = &seal.bare {
        bare.tell(&mut command, &seal.init, &seal.folder)?;
        let settings = bare::Confinement::new(bare, folder, processors).attempted(attempted)?;
        // SAFETY: as below.
        unsafe { command.pre_exec(move || bare::confine(&settings)) };
        return spawn(command, &program, seal.cgroup.as_deref());
    }
    let one_by_one = if can_set_all_mounts() { Vec::new() } else { mounts().attempted(attempted)? };
    // SAFETY: between fork and exec the closure makes system calls only, on memory that was made before the fork.
    unsafe { command.pre_exec(move || confine(&folder, &init, processors.as_ref(), &one_by_one)) };
    spawn(command, &program, seal.cgroup.as_deref())
}

fn spawn(mut command: Command, program: &str, cgroup: Option<&Path>) -> Result<SealedProcess, KernelError> {
    let attempted = || format!("start {program}");
    let child = command.spawn().attempted(attempted).map_err(shortage::of_processes)?;
    let pid = Pid::from_raw(child.id().cast_signed());
    // The child is not reaped before its descriptor is made.
    let pidfd = pidfd_open(rustix::process::Pid::from_child(&child), PidfdFlags::empty());
    let process = SealedProcess { child: Kin::Started(child), pidfd: pidfd.attempted(|| format!("watch {program}"))? };
    cgroup.map_or(Ok(()), |group| crate::cgroup::join(group, pid))?;
    Ok(process)
}

/// Takes over a child of this process that another one has made (`CLONE_PARENT`), the head of a session of its own that has
/// confined itself as [`start`] confines, and gives it its processors and its cgroup.
///
/// # Errors
/// The kernel's refusal; the process is ended then.
pub fn adopt(pid: Pid, processors: &[usize], cgroup: Option<&Path>) -> Result<SealedProcess, KernelError> {
    let mut child = Kin::Adopted(pid, None);
    let number = rustix::process::Pid::from_raw(pid.as_raw()).ok_or(rustix::io::Errno::SRCH);
    let pidfd = number.and_then(|number| pidfd_open(number, PidfdFlags::empty()));
    // It is not reaped before its descriptor is made.
    let pidfd = match pidfd.attempted(|| format!("watch process {pid}")) {
        Ok(pidfd) => pidfd,
        Err(error) => {
            child.end();
            return Err(error);
        }
    };
    let process = SealedProcess { child, pidfd };
    if !processors.is_empty() {
        let set = set_of(processors).and_then(|set| sched_setaffinity(pid, &set));
        set.attempted(|| format!("use the processors {processors:?}"))?;
    }
    cgroup.map_or(Ok(()), |group| crate::cgroup::join(group, pid))?;
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
        match &self.child {
            Kin::Started(child) => Pid::from_raw(child.id().cast_signed()),
            Kin::Adopted(pid, _) => *pid,
        }
    }

    /// Describes what the process does: whether its first thread runs, and how much processor time all its threads have had. None if it has ended.
    pub fn doing(&self) -> Option<String> {
        let pid = self.pid();
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        doing(&text).map(|words| format!("its process {pid} {words}"))
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

impl Kin {
    fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        match self {
            Self::Started(child) => child.try_wait(),
            Self::Adopted(pid, ended) => {
                if ended.is_none() {
                    *ended = reap(*pid, libc::WNOHANG)?;
                }
                Ok(*ended)
            }
        }
    }

    fn wait(&mut self) -> io::Result<()> {
        match self {
            Self::Started(child) => child.wait().map(drop),
            Self::Adopted(_, Some(_)) => Ok(()),
            Self::Adopted(pid, ended) => {
                *ended = reap(*pid, 0)?;
                Ok(())
            }
        }
    }

    fn end(&mut self) {
        if let Self::Adopted(pid, None) = self {
            let _ = nix::sys::signal::kill(*pid, Signal::SIGKILL);
            let _ = self.wait();
        }
    }
}

/// How a child ended; none if it has not.
fn reap(pid: Pid, options: libc::c_int) -> io::Result<Option<ExitStatus>> {
    let mut status = 0;
    loop {
        // SAFETY: the status is written to memory of our own.
        match unsafe { libc::waitpid(pid.as_raw(), &raw mut status, options) } {
            0 => return Ok(None),
            -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            -1 => return Err(io::Error::last_os_error()),
            _ => return Ok(Some(ExitStatus::from_raw(status))),
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
fn confine(
    folder: &CString,
    init: &CString,
    processors: Option<&CpuSet>,
    one_by_one: &[(CString, libc::c_ulong)],
) -> io::Result<()> {
    bind()?;
    // SAFETY: numbers, and pointers to memory that outlives the calls; null where the calls allow it.
    unsafe {
        // A session of its own, as every program of a node in namespaces has it: where the kernel divides processors by
        // sessions, all nodes of a lab would get one share together otherwise, and its engine a part of that.
        checked(libc::setsid())?;
        // A kernel executes itself again to disable address randomization. Where that is forbidden, it runs with it.
        libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
        checked(libc::unshare(libc::CLONE_NEWNS))?;
        let private = libc::MS_REC | libc::MS_PRIVATE;
        checked(libc::mount(std::ptr::null(), c"/".as_ptr(), std::ptr::null(), private, std::ptr::null()))?;
        if one_by_one.is_empty() {
            set_all_read_only()?;
        } else {
            one_by_one.iter().try_for_each(|(place, flags)| set_read_only(place, *flags))?;
        }
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
    give_up_all()
}

/// Makes all mounts read-only at once (`mount_setattr`, Linux 5.12).
fn set_all_read_only() -> io::Result<()> {
    let read_only = libc::mount_attr { attr_set: libc::MOUNT_ATTR_RDONLY, attr_clr: 0, propagation: 0, userns_fd: 0 };
    // SAFETY: a string with its end, and a structure of the size that is told; neither is kept.
    checked(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            c"/".as_ptr(),
            libc::AT_RECURSIVE,
            &raw const read_only,
            size_of_val(&read_only),
        )
    })
}

/// Whether this kernel has that call; asked with arguments that it refuses.
fn can_set_all_mounts() -> bool {
    // SAFETY: no path, no attributes and a size of zero: the call touches no memory.
    let answer = unsafe {
        let (path, attributes) = (std::ptr::null::<libc::c_char>(), std::ptr::null::<libc::mount_attr>());
        libc::syscall(libc::SYS_mount_setattr, libc::AT_FDCWD, path, 0, attributes, 0_usize)
    };
    answer != -1 || io::Error::last_os_error().raw_os_error() != Some(libc::ENOSYS)
}

/// All mounts of this process with the flags that a change has to repeat, for kernels that cannot change all at once.
fn mounts() -> io::Result<Vec<(CString, libc::c_ulong)>> {
    let text = std::fs::read("/proc/self/mountinfo")?;
    Ok(text.split(|byte| *byte == b'\n').filter_map(mount_of).collect())
}

/// A line of proc_pid_mountinfo(5): place and options are its fields 5 and 6.
fn mount_of(line: &[u8]) -> Option<(CString, libc::c_ulong)> {
    let mut fields = line.split(|byte| *byte == b' ').skip(4);
    let (place, options) = (unescaped(fields.next()?), String::from_utf8_lossy(fields.next()?));
    let flag = |option: &str| match option {
        "nosuid" => libc::MS_NOSUID,
        "nodev" => libc::MS_NODEV,
        "noexec" => libc::MS_NOEXEC,
        "noatime" => libc::MS_NOATIME,
        "nodiratime" => libc::MS_NODIRATIME,
        "relatime" => libc::MS_RELATIME,
        _ => 0,
    };
    Some((CString::new(place).ok()?, options.split(',').map(flag).fold(0, |all, one| all | one)))
}

/// The kernel writes a space, a tab, a line's end and a backslash as a backslash and three octal digits.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), field);
    while let [first, tail @ ..] = rest {
        let digits = tail.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.filter(|_| *first == b'\\').and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &tail[3..] } else { tail };
    }
    bytes
}

/// Makes one mount read-only. What is not to be reached by its name, since something else is mounted above it, or since nobody
/// may go there, cannot be written to either.
fn set_read_only(place: &CString, flags: libc::c_ulong) -> io::Result<()> {
    let flags = flags | libc::MS_REMOUNT | libc::MS_BIND | libc::MS_RDONLY;
    let nothing = std::ptr::null();
    // SAFETY: strings with their ends that outlive the call, and null where the call allows it.
    let answer = checked(unsafe { libc::mount(nothing, place.as_ptr(), nothing, flags, nothing.cast()) });
    match answer {
        Err(error)
            if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOENT | libc::EACCES | libc::ENOTDIR)) =>
        {
            Ok(())
        }
        other => other,
    }
}

fn checked(result: impl Into<i64>) -> io::Result<()> {
    if result.into() == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// What a line of proc_pid_stat(5) says of a process: its fields 3, 14 and 15.
fn doing(line: &str) -> Option<String> {
    let mut fields = line.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = match fields.next()? {
        "R" => "computes or waits for a processor",
        "S" => "waits for something to happen",
        "D" => "waits for a disk or another device of this machine",
        "T" | "t" => "was stopped",
        "Z" | "X" => return None,
        other => return Some(format!("is in the state {other}")),
    };
    let mut ticks = fields.skip(10).map(str::parse::<u64>);
    let (user, system) = (ticks.next()?.ok()?, ticks.next()?.ok()?);
    Some(format!("{state}, after {:.1} s on processors", (user + system) as f64 / TICKS))
}

/// USER_HZ: the times of proc_pid_stat(5) are in hundredths of a second on all machines that Netloom runs on.
const TICKS: f64 = 100.0;

/// Lines before a panic that mostly say what led to it.
const BEFORE_PANIC: usize = 2;

/// Describes what a console shows, for a message about a kernel that said nothing else: its last lines, or that there is none.
pub fn console_says(console: &Path, lines: usize) -> String {
    match last_lines(console, lines) {
        nothing if nothing.is_empty() => format!(
            "; its console, {}, has shown nothing at all, as of a kernel that hangs before its first process, with `quiet` \
             in its command line",
            console.display()
        ),
        some => format!("; its console shows:{some}"),
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read_with_their_flags() {
        let line = b"36 35 98:0 /mnt1 /mnt\\040two rw,nosuid,relatime master:1 - ext3 /dev/root rw,errors=continue";
        let (place, flags) = mount_of(line).unwrap();
        assert_eq!((place.to_bytes(), flags), (&b"/mnt two"[..], libc::MS_NOSUID | libc::MS_RELATIME));
        assert_eq!(mount_of(b""), None);
        assert_eq!(unescaped(b"a\\134b\\9"), b"a\\b\\9");
        assert!(mounts().unwrap().iter().any(|(mounted, _)| mounted.to_bytes() == b"/proc"));
    }

    #[test]
    fn what_a_process_does_is_told() {
        let line = |state| format!("77 (qemu (x) y) {state} 1 77 77 0 -1 4194560 9 0 0 0 250 70 0 0 20 0 4 0 1 2 3");
        assert_eq!(doing(&line("S")).unwrap(), "waits for something to happen, after 3.2 s on processors");
        assert_eq!(doing(&line("R")).unwrap(), "computes or waits for a processor, after 3.2 s on processors");
        assert_eq!((doing(&line("Z")), doing("77 (qemu")), (None, None));
    }

    /// As on kernels before Linux 5.12.
    #[test]
    fn mounts_become_read_only_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let all = mounts().unwrap();
        let own_users = if nix::unistd::geteuid().is_root() { 0 } else { libc::CLONE_NEWUSER };
        let mut command = Command::new("touch");
        command.arg(&file).stderr(Stdio::null());
        // SAFETY: between fork and exec the closure makes system calls only, on memory that was made before the fork.
        unsafe {
            command.pre_exec(move || {
                checked(libc::unshare(libc::CLONE_NEWNS | own_users))?;
                let (nothing, private) = (std::ptr::null(), libc::MS_REC | libc::MS_PRIVATE);
                checked(libc::mount(nothing, c"/".as_ptr(), nothing, private, nothing.cast()))?;
                all.iter().try_for_each(|(place, flags)| set_read_only(place, *flags))
            });
        }
        assert!(!command.status().unwrap().success() && !file.exists());
        // Here, nothing has changed.
        std::fs::write(&file, "").unwrap();
    }

    #[test]
    fn a_console_that_shows_nothing_is_said_to() {
        let folder = tempfile::tempdir().unwrap();
        let console = folder.path().join("console");
        assert!(console_says(&console, 5).contains("has shown nothing at all"));
        std::fs::write(&console, "\n\n").unwrap();
        assert!(console_says(&console, 5).contains("has shown nothing at all"));
        std::fs::write(&console, "one\n\ntwo\n").unwrap();
        assert_eq!(console_says(&console, 5), "; its console shows:\n  | one\n  | two");
    }
}
