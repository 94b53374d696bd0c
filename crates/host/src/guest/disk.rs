//! The disk of a node with a kernel of its own.

use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::mount::{MsFlags, mount as mount_at};

use crate::error::{Attempted, KernelError};
use crate::node::DiskConfig;
use crate::node::dispatch::Place;

/// The name of the device in a kernel node (`crates/guest/kernel/edits/disk.c`).
const DEVICE: &str = "/dev/disk0";

/// The serial number by which a virtual machine finds it.
pub const SERIAL: &str = "netloom-disk";

/// How long its driver may take to come, which the machine's own system may load.
const COMES_WITHIN: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(20);

/// Mounts the file system of the disk where it belongs.
pub(super) fn mount(disk: &DiskConfig, place: &Place) -> Result<(), KernelError> {
    let at = disk.at.as_path();
    let device = if let Place::Machine { .. } = place { await_device()? } else { PathBuf::from(DEVICE) };
    fs::create_dir_all(at).attempted(|| format!("make {}", at.display()))?;
    mount_at(Some(&device), at, Some(disk.filesystem.as_str()), MsFlags::empty(), None::<&str>)
        .attempted(|| format!("mount the disk of the node at {}", at.display()))?;
    // Programs that want an empty folder find one. On a disk that has been used there is none.
    let _ = fs::remove_dir(at.join("lost+found"));
    Ok(())
}

/// The device of a virtual machine that has the serial number.
fn await_device() -> Result<PathBuf, KernelError> {
    const DEVICES: &str = "/sys/block";
    let end = Instant::now() + COMES_WITHIN;
    loop {
        let all = fs::read_dir(DEVICES).attempted(|| format!("read {DEVICES}"))?.flatten();
        let is_meant = |serial: String| serial.trim_end() == SERIAL;
        let found = all.into_iter().find(|one| fs::read_to_string(one.path().join("serial")).is_ok_and(is_meant));
        if let Some(device) = found.map(|one| PathBuf::from("/dev").join(one.file_name())).filter(|path| path.exists())
        {
            return Ok(device);
        }
        if Instant::now() >= end {
            return Err(KernelError::new("find the disk of the node", 0)
                .with_detail("no block device of the machine is it: its kernel has to have the driver virtio_blk"));
        }
        sleep(LOOK);
    }
}
