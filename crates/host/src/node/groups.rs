//! Control groups (version 2) in a kernel that is the node's own, by which its programs are limited. They are mounted nowhere, so that the
//! node's programs see no more of them than `/proc/PID/cgroup` says.
//!
//! Each program that the agent starts has a group from its first instruction on: what a process has used before it came to a group is never
//! counted there. The groups of all programs are in one, by which the node as a whole is limited.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::io::Errno;

use super::ceilings::Ceiling;
use super::protocol::ProcessId;
use crate::error::{Attempted, KernelError};
use crate::mount;

/// The group of all programs.
const ALL: &str = "netloom";
const CONTROLLERS: &str = "+memory +pids";

/// See the module.
#[derive(Debug)]
pub(crate) struct Groups {
    root: OwnedFd,
}

impl Groups {
    pub(crate) fn open() -> Result<Self, KernelError> {
        let root = mount::detached(c"cgroup2").attempted(|| "make control groups")?;
        let this = Self { root };
        this.write("cgroup.subtree_control", CONTROLLERS)?;
        this.make(ALL)?;
        this.write(&format!("{ALL}/cgroup.subtree_control"), CONTROLLERS)?;
        Ok(this)
    }

    /// Makes the group of a program that is about to start. Whoever writes 0 to the file that is returned becomes a member.
    pub(super) fn add(&self, process: ProcessId) -> Result<File, KernelError> {
        let name = of_program(process);
        self.make(&name)?;
        let members = format!("{name}/cgroup.procs");
        self.open_to_write(&members, OFlags::empty()).attempted(|| format!("open the control group {members}"))
    }

    /// Removes the group of a program that has ended. One with processes that are left stays.
    pub(crate) fn remove(&self, process: ProcessId) {
        let _ = unlinkat(&self.root, of_program(process).as_str(), AtFlags::REMOVEDIR);
    }

    /// Limits a program with all that it has started, or all programs of the node.
    pub(super) fn limit(
        &self,
        of: Option<ProcessId>,
        memory_bytes: Option<Ceiling>,
        pids: Option<Ceiling>,
    ) -> Result<(), KernelError> {
        let name = of.map_or_else(|| ALL.to_owned(), of_program);
        for (file, ceiling) in [("memory.max", memory_bytes), ("pids.max", pids)] {
            if let Some(ceiling) = ceiling {
                // Otherwise the kernel would wait here until programs that have too much are gone, and in virtual time no time passes for them
                // meanwhile: it takes memory back, or kills, when they next ask for some.
                self.write_with(&format!("{name}/{file}"), &ceiling.written(), OFlags::NONBLOCK)?;
            }
        }
        Ok(())
    }

    /// Makes a group; one that is there already, of a program that could not start, is as good.
    fn make(&self, name: &str) -> Result<(), KernelError> {
        match mkdirat(&self.root, name, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(error).attempted(|| format!("make the control group {name}")),
        }
    }

    fn write(&self, path: &str, text: &str) -> Result<(), KernelError> {
        self.write_with(path, text, OFlags::empty())
    }

    fn write_with(&self, path: &str, text: &str, flags: OFlags) -> Result<(), KernelError> {
        let written = self.open_to_write(path, flags).and_then(|mut file| file.write_all(text.as_bytes()));
        written.attempted(|| format!("write {text} to {path} of the control groups"))
    }

    fn open_to_write(&self, path: &str, flags: OFlags) -> io::Result<File> {
        Ok(File::from(openat(&self.root, path, OFlags::WRONLY | OFlags::CLOEXEC | flags, Mode::empty())?))
    }
}

fn of_program(process: ProcessId) -> String {
    format!("{ALL}/program-{}", process.get())
}
