//! Core dumps of a kernel node's programs: the kernel writes them to a folder of their own, which leaves the node in the end.

use std::fs;

use nix::mount::{MsFlags, mount};
use nix::sys::resource::{Resource, setrlimit};

use crate::error::{Attempted, KernelError};

/// The folder with the dumps, in the node's file system.
pub(crate) const FOLDER: &str = "/netloom-cores";

/// The kernel's setting that says where dumps go (core(5)).
const PATTERN: &str = "/proc/sys/kernel/core_pattern";

/// Lets dumps of this process's children, and of theirs, go to the folder, which has room for so many bytes.
pub(super) fn take(room: u64) -> Result<(), KernelError> {
    fs::create_dir_all(FOLDER).attempted(|| format!("make {FOLDER}"))?;
    let (flags, options) = (MsFlags::MS_NOSUID | MsFlags::MS_NODEV, format!("mode=1777,size={room}"));
    mount(Some("tmpfs"), FOLDER, Some("tmpfs"), flags, Some(options.as_str()))
        .attempted(|| format!("mount a file system for core dumps at {FOLDER}"))?;
    // The program and its number tell dumps apart, and are the same in every run in virtual time.
    fs::write(PATTERN, format!("{FOLDER}/%e-%p")).attempted(|| format!("write {PATTERN}"))?;
    setrlimit(Resource::RLIMIT_CORE, room, room).attempted(|| "limit core dumps".to_owned())
}
