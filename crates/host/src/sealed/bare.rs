//! Confinement where the machine refuses namespaces: no mounts hide the machine's files from a process or protect them.
//!
//! The process sees other files by their names, and changes none outside of its folder, since the shim that is preloaded into it
//! (`crates/guest/shim/places.c`) answers for the C library. The kernel holds it to that by Landlock, where it has it (Linux 5.13).

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

use super::{HOSTS, INIT, OWN_PLACE, bind, checked};
use crate::capabilities::lower_all;
use crate::error::{Attempted, KernelError};
use crate::mount::{HIDDEN, RESOLVER};

/// The files that processes of a lab without namespaces see in the place of the machine's, and where they may write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bare {
    /// Names, and where what is to be found there is.
    places: Vec<(PathBuf, PathBuf)>,
    /// The folder in which the folders of all of them are.
    folder: PathBuf,
}

impl Bare {
    /// Finds what a lab's kernels are to see as a lab's mounts would show it: `hosts` as `/etc/hosts`, and no name services. `folder`: where the
    /// folders of all of its kernels are.
    ///
    /// # Errors
    /// The kernel's refusal of a folder.
    pub fn of_lab(hosts: &Path, folder: &Path) -> Result<Self, KernelError> {
        let real = |path: &str| fs::canonicalize(path).unwrap_or_else(|_| path.into());
        let mut places = vec![(real(HOSTS), hosts.to_owned())];
        let resolver = fs::canonicalize(RESOLVER);
        for hidden in HIDDEN.into_iter().filter(|hidden| Path::new(hidden).is_dir()) {
            let empty = folder.join("empty");
            fs::create_dir_all(&empty).attempted(|| format!("make {}", empty.display()))?;
            places.push((hidden.into(), empty));
        }
        // One in a hidden folder is hidden with it.
        if let Ok(path) = resolver.map_err(drop)
            && !HIDDEN.iter().any(|hidden| path.starts_with(hidden))
        {
            places.push((path, "/dev/null".into()));
        }
        Ok(Self { places, folder: folder.to_owned() })
    }

    /// Confines nothing but files, and shows none in the place of others.
    pub fn in_folder(folder: &Path) -> Self {
        Self { places: Vec::new(), folder: folder.to_owned() }
    }

    /// Tells a process that is about to be started where its files are: `init` at [`INIT`], and its own place in `folder`, which is empty.
    pub(super) fn tell(&self, command: &mut Command, init: &Path, folder: &Path) -> Result<(), KernelError> {
        let own = folder.join(OWN_PLACE.trim_start_matches('/'));
        // What a kernel that has crashed has left.
        let _ = fs::remove_dir_all(&own);
        fs::create_dir(&own).attempted(|| format!("make {}", own.display()))?;
        let mut text = Vec::new();
        let first = (PathBuf::from(INIT), init.to_owned());
        for path in std::iter::once(&first).chain(&self.places).flat_map(|(name, place)| [name, place]) {
            text.extend(path.as_os_str().as_bytes());
            text.push(b'\n');
        }
        command.env("NETLOOM_PLACES", std::ffi::OsStr::from_bytes(&text));
        Ok(())
    }
}

/// The settings for [`confine`], made before the fork.
pub(super) struct Confinement {
    /// The folder in which the process starts.
    folder: CString,
    /// The folder below which it may change files.
    own: CString,
    processors: Option<CpuSet>,
    /// The process that starts it.
    parent: u32,
}

impl Confinement {
    pub(super) fn new(bare: &Bare, folder: CString, processors: Option<CpuSet>) -> io::Result<Self> {
        let own = CString::new(bare.folder.as_os_str().as_bytes())?;
        Ok(Self { folder, own, processors, parent: std::process::id() })
    }
}

/// Runs in the child.
pub(super) fn confine(settings: &Confinement) -> io::Result<()> {
    bind()?;
    // SAFETY: numbers, and pointers to memory that outlives the calls.
    unsafe {
        // No namespace of processes ends it if the lab was killed before the line above.
        if libc::getppid().cast_unsigned() != settings.parent {
            libc::_exit(1);
        }
        checked(libc::setsid())?;
        libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
        checked(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
        checked(libc::chdir(settings.folder.as_ptr()))?;
    }
    protect_files(&settings.own)?;
    forbid_renaming()?;
    settings.processors.as_ref().map_or(Ok(()), |set| sched_setaffinity(Pid::from_raw(0), set))?;
    lower_all()
}

/// The rights of linux/landlock.h, version 1, to write to files, to remove files and folders, and to make all kinds of files.
const CHANGES: u64 = 1 << 1 | 0b1_1111_1111 << 4;
/// The right that devices need.
const WRITE: u64 = 1 << 1;

/// `struct landlock_path_beneath_attr`.
#[repr(C, packed)]
struct Beneath {
    allowed: u64,
    folder: libc::c_int,
}

/// Has the kernel refuse changes outside of a folder, and of `/dev`; does nothing where it has no Landlock.
fn protect_files(own: &CString) -> io::Result<()> {
    let handled = CHANGES;
    // SAFETY: numbers, and pointers to memory that outlives the calls, of the sizes that are told.
    unsafe {
        let rules = libc::syscall(libc::SYS_landlock_create_ruleset, &raw const handled, size_of::<u64>(), 0);
        let Ok(rules @ 0..) = libc::c_int::try_from(rules) else { return Ok(()) };
        for (path, allowed) in [(own.as_c_str(), CHANGES), (c"/dev", WRITE)] {
            let folder = libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
            checked(folder)?;
            let rule = Beneath { allowed, folder };
            checked(libc::syscall(libc::SYS_landlock_add_rule, rules, 1, &raw const rule, 0))?;
            checked(libc::close(folder))?;
        }
        checked(libc::syscall(libc::SYS_landlock_restrict_self, rules, 0))?;
        checked(libc::close(rules))
    }
}

/// Has renameat2(2) fail as on a read-only file system: the one change of a name that kernels ask for past the C library (`fs/hostfs`).
fn forbid_renaming() -> io::Result<()> {
    const NUMBER: u32 = 0; // of the call, in struct seccomp_data
    let filter = [
        line(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, NUMBER),
        line(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_renameat2 as u32),
        line(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EROFS.cast_unsigned()),
        line(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    // SAFETY: numbers, and a pointer to memory that outlives the call.
    checked(unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) })
}

fn line(code: u32, yes: u8, no: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: yes, jf: no, k }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    /// Under Landlock alone: `touch` and `mv` know nothing of the shim.
    #[test]
    fn only_what_is_in_the_folder_can_be_changed() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(outside.path().join("old"), "").unwrap();
        let run = |program: &str, arguments: &[PathBuf]| {
            let folder = CString::new(inside.path().as_os_str().as_bytes()).unwrap();
            let settings = Confinement::new(&Bare::in_folder(inside.path()), folder, None).unwrap();
            let mut command = Command::new(program);
            command.args(arguments).stderr(Stdio::null());
            // SAFETY: between fork and exec the closure makes system calls only, on memory that was made before the fork.
            unsafe { std::os::unix::process::CommandExt::pre_exec(&mut command, move || confine(&settings)) };
            command.status().unwrap().success()
        };
        assert!(run("touch", &["here".into()]) && inside.path().join("here").exists());
        assert!(run("sh", &["-c".into(), "echo > /dev/null".into()]));
        assert!(!run("mv", &[outside.path().join("old"), outside.path().join("new")]));
        // SAFETY: no attributes, and the flag that asks for the version.
        let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u64>(), 0_usize, 1) };
        if version > 0 {
            assert!(!run("touch", &[outside.path().join("there")]) && !outside.path().join("there").exists());
        }
    }
}
