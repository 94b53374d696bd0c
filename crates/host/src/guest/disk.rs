//! The disk of a kernel node.

use std::fs;

use nix::mount::{MsFlags, mount as mount_at};

use crate::error::{Attempted, KernelError};
use crate::node::DiskConfig;

/// The name of the device (`crates/guest/kernel/edits/disk.c`).
const DEVICE: &str = "/dev/disk0";

/// Mounts the file system of the disk where it belongs.
pub(super) fn mount(disk: &DiskConfig) -> Result<(), KernelError> {
    let at = disk.at.as_path();
    fs::create_dir_all(at).attempted(|| format!("make {}", at.display()))?;
    mount_at(Some(DEVICE), at, Some(disk.filesystem.as_str()), MsFlags::empty(), None::<&str>)
        .attempted(|| format!("mount the disk of the node at {}", at.display()))?;
    // Programs that want an empty folder find one. On a disk that has been used there is none.
    let _ = fs::remove_dir(at.join("lost+found"));
    Ok(())
}
