//! Faults of the disk of a node that has a kernel of its own: what its agent does for them.
//!
//! The block device makes most of them itself; the agent finds the sectors of files, and fills file systems. In a kernel node the device is the
//! kernel's (`crates/guest/kernel/edits/disk.c`). That of a virtual machine is outside of it, so the lab process gives it its orders.

use std::fmt::Write;
use std::fs::{self, File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, fallocate};
use nix::mount::{MsFlags, mount};
use nix::sys::statvfs::fstatvfs;
use serde::{Deserialize, Serialize};

use super::config::DiskConfig;
use crate::error::{Attempted, KernelError};

/// Where the device takes orders, and the number of the disk.
const ORDERS: &str = "/sys/module/netloom/parameters/disk_fault";
const DISK: u32 = 0;

/// Where a machine's kernel takes the order to make all file systems on disks read-only, and where it lists them.
const SYSRQ: &str = "/proc/sysrq-trigger";
const MOUNTS: &str = "/proc/self/mounts";

/// The unit of places on a disk, in bytes.
const SECTOR: u64 = 512;

/// How long an order may be: a page, as for all files of /sys.
const LONGEST_ORDER: usize = 4096;

/// An order for the disk of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum DiskOrder {
    /// Requests suffer from a fault, from now on.
    Fault(DiskFaultOrder),
    /// The device does nothing for so many nanoseconds.
    Hang {
        /// How long.
        span_ns: u64,
    },
    /// The file system becomes read-only.
    ReadOnly,
    /// The file system can be written to again.
    Writable,
    /// The file system has no room any more.
    Fill,
    /// The file system has room again.
    Free,
    /// All faults end.
    Works,
}

/// A fault that requests suffer from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskFaultOrder {
    /// The effect on them.
    pub kind: DiskFaultKind,
    /// Whether it is about reads, writes and flushes.
    pub calls: [bool; 3],
    /// How many of these requests it lets pass first.
    pub spares: u64,
    /// How many it meets then, or bits; none: all.
    pub count: Option<u64>,
    /// How much later they end, in nanoseconds.
    pub delay_ns: u64,
    /// After how many nanoseconds it ends; none: it does not.
    pub lasts_ns: Option<u64>,
    /// The seed of what it draws.
    pub chance: u64,
    /// The first and the last sector that it is about; none: all.
    pub sectors: Option<(u64, u64)>,
    /// The file whose sectors it is about; none: all.
    pub path: Option<PathBuf>,
}

/// An effect on requests to a disk, or on bits that are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DiskFaultKind {
    /// They fail.
    Error,
    /// They are late.
    Slow,
    /// A bit of theirs is wrong; of no requests: of what is stored.
    Flip,
    /// They are about another place.
    Misdirect,
    /// Only their first sectors are written.
    Tear,
    /// They do nothing.
    Lose,
}

/// Where the device of a disk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DevicePlace {
    /// In the kernel.
    Kernel,
    /// Outside of the machine.
    Outside,
}

/// The things that an agent holds for the faults of a disk.
#[derive(Debug, Default)]
pub(crate) struct DiskFaults {
    /// A file without a name that takes all room.
    filling: Option<File>,
    /// The file systems that can be written to again when the disk's can.
    read_only: Vec<PathBuf>,
}

impl DiskFaults {
    /// Carries out an order. Returns what is left for the device, if that is outside of this kernel.
    pub(crate) fn carry_out(
        &mut self,
        order: &DiskOrder,
        disk: &DiskConfig,
        device: DevicePlace,
    ) -> Result<Option<String>, KernelError> {
        let told = match order {
            DiskOrder::Fault(fault) => Some(of_fault(fault)?),
            DiskOrder::Hang { span_ns } => Some(format!("hang {span_ns}")),
            DiskOrder::Works => Some("mend".to_owned()),
            DiskOrder::ReadOnly => {
                self.make_read_only(&disk.at, device)?;
                None
            }
            DiskOrder::Fill => {
                self.filling = Some(filling(&disk.at)?);
                None
            }
            DiskOrder::Writable | DiskOrder::Free => None,
        };
        if matches!(order, DiskOrder::Free | DiskOrder::Works) {
            self.filling = None;
        }
        let left = match (told, device) {
            (Some(text), DevicePlace::Kernel) => tell(&text).map(|()| None)?,
            (left, _) => left,
        };
        if matches!(order, DiskOrder::Writable | DiskOrder::Works) && is_read_only(&disk.at)? {
            make_writable(&disk.at)?;
            self.read_only.drain(..).try_for_each(|other| make_writable(&other))?;
        }
        Ok(left)
    }

    /// All file systems on disks become read-only, be they in use. Of a machine that has others, these are noted.
    fn make_read_only(&mut self, at: &Path, device: DevicePlace) -> Result<(), KernelError> {
        match device {
            DevicePlace::Kernel => tell("freeze")?,
            DevicePlace::Outside => {
                let mounts = fs::read_to_string(MOUNTS).attempted(|| format!("read {MOUNTS}"))?;
                self.read_only = others_on_disks(&mounts, at);
                fs::write(SYSRQ, "u").attempted(|| format!("write \"u\" to {SYSRQ}"))?;
            }
        }
        await_read_only(at)
    }
}

/// The file systems on disks that can be written to, but for the one at this folder, as the kernel lists them (proc_mounts(5)).
fn others_on_disks(mounts: &str, at: &Path) -> Vec<PathBuf> {
    let all = mounts.lines().filter_map(|line| {
        let [device, folder, _, options] = line.splitn(5, ' ').take(4).collect::<Vec<_>>().try_into().ok()?;
        let is_meant = device.starts_with("/dev/") && options.split(',').any(|word| word == "rw");
        (is_meant && Path::new(folder) != at).then(|| PathBuf::from(folder))
    });
    all.collect()
}

fn tell(order: &str) -> Result<(), KernelError> {
    let text = format!("{DISK} {order}");
    if text.len() >= LONGEST_ORDER {
        return Err(KernelError::new("disturb the disk of the node", 0)
            .with_detail("the file is in too many pieces on the disk: choose sectors"));
    }
    fs::write(ORDERS, text).attempted(|| format!("write {order:?} to {ORDERS}"))
}

/// The device's own words for a fault.
fn of_fault(fault: &DiskFaultOrder) -> Result<String, KernelError> {
    let kind = match fault.kind {
        DiskFaultKind::Error => 0,
        DiskFaultKind::Slow => 1,
        DiskFaultKind::Flip => 2,
        DiskFaultKind::Misdirect => 3,
        DiskFaultKind::Tear => 4,
        DiskFaultKind::Lose => 5,
    };
    let calls = fault.calls.iter().rev().fold(0, |bits, has| bits << 1 | u32::from(*has));
    let mut text = format!(
        "add {kind} {calls} {} {} {} {} {}",
        fault.spares,
        fault.count.unwrap_or(u64::MAX),
        fault.delay_ns,
        fault.lasts_ns.unwrap_or(0),
        fault.chance
    );
    let own = fault.sectors.map(|(first, last)| (first, last.saturating_add(1)));
    let ranges = match &fault.path {
        Some(path) => cut(&sectors_of(path)?, own, path)?,
        None => own.into_iter().collect(),
    };
    for (from, to) in ranges {
        let _ = write!(text, " {from}-{to}");
    }
    Ok(text)
}

/// The parts of ranges that are within another.
fn cut(ranges: &[(u64, u64)], within: Option<(u64, u64)>, path: &Path) -> Result<Vec<(u64, u64)>, KernelError> {
    let (from, to) = within.unwrap_or((0, u64::MAX));
    let parts = ranges.iter().map(|range| (range.0.max(from), range.1.min(to))).filter(|part| part.0 < part.1);
    let parts: Vec<(u64, u64)> = parts.collect();
    if parts.is_empty() {
        return Err(KernelError::new(format!("find {} on the disk of the node", path.display()), 0)
            .with_detail("it has no sectors there yet: the kernel gives a file its sectors when it writes it to the disk, as by fsync"));
    }
    Ok(parts)
}

/// The head of `struct fiemap`, and room for its extents (linux/fiemap.h).
#[repr(C)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [FiemapExtent; EXTENTS as usize],
}

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy)]
struct FiemapExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved: [u64; 2],
    flags: u32,
    unused: [u32; 3],
}

/// More than fit into an order.
const EXTENTS: u32 = 256;
/// FS_IOC_FIEMAP.
const FIEMAP: libc::c_ulong = 0xc020_660b;
/// FIEMAP_EXTENT_UNKNOWN, and with it FIEMAP_EXTENT_DELALLOC: it has no place yet.
const UNKNOWN: u32 = 2;

/// The sectors of a file: of each piece the first, and the first behind it.
fn sectors_of(path: &Path) -> Result<Vec<(u64, u64)>, KernelError> {
    let file = File::open(path).attempted(|| format!("open {}", path.display()))?;
    let none = FiemapExtent { logical: 0, physical: 0, length: 0, reserved: [0; 2], flags: 0, unused: [0; 3] };
    let mut map = Box::new(Fiemap {
        start: 0,
        length: u64::MAX,
        flags: 0,
        mapped: 0,
        count: EXTENTS,
        reserved: 0,
        extents: [none; EXTENTS as usize],
    });
    // SAFETY: the kernel writes a head and at most `count` extents, for which there is room.
    if unsafe { libc::ioctl(file.as_raw_fd(), FIEMAP, std::ptr::from_mut(map.as_mut())) } == -1 {
        return Err(Errno::last()).attempted(|| format!("find {} on the disk", path.display()));
    }
    let known = map.extents.iter().take(map.mapped as usize).filter(|extent| extent.flags & UNKNOWN == 0);
    Ok(known.map(|extent| (extent.physical / SECTOR, (extent.physical + extent.length).div_ceil(SECTOR))).collect())
}

/// Takes all room that there is, as a file that nobody sees.
fn filling(at: &Path) -> Result<File, KernelError> {
    let attempted = || format!("fill the disk at {}", at.display());
    let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_TMPFILE).open(at).attempted(attempted)?;
    let facts = fstatvfs(&file).attempted(attempted)?;
    let block = i64::try_from(facts.fragment_size()).unwrap_or(i64::MAX).max(1);
    let mut room = i64::try_from(facts.blocks_available()).unwrap_or(i64::MAX).saturating_mul(block);
    let mut from = 0;
    // The file system needs some of the room to note who has the rest: less and less of it is left.
    while room >= block {
        match fallocate(&file, FallocateFlags::empty(), from, room) {
            Ok(()) => from += room,
            Err(Errno::ENOSPC) => room = room / 2 / block * block,
            Err(errno) => return Err(errno).attempted(attempted),
        }
    }
    Ok(file)
}

fn is_read_only(at: &Path) -> Result<bool, KernelError> {
    let facts = nix::sys::statvfs::statvfs(at).attempted(|| format!("look at {}", at.display()))?;
    Ok(facts.flags().contains(nix::sys::statvfs::FsFlags::ST_RDONLY))
}

/// Another thread of the kernel makes it so.
fn await_read_only(at: &Path) -> Result<(), KernelError> {
    const STEP: std::time::Duration = std::time::Duration::from_millis(1);
    for _ in 0..10_000 {
        if is_read_only(at)? {
            return Ok(());
        }
        std::thread::sleep(STEP);
    }
    Err(KernelError::new(format!("make {} read-only", at.display()), 0).with_detail("the kernel does not"))
}

fn make_writable(at: &Path) -> Result<(), KernelError> {
    let none = None::<&str>;
    mount(none, at, none, MsFlags::MS_REMOUNT, none).attempted(|| format!("make {} writable again", at.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_told_in_the_words_of_the_device() {
        let fault = DiskFaultOrder {
            kind: DiskFaultKind::Slow,
            calls: [true, false, true],
            spares: 2,
            count: None,
            delay_ns: 7,
            lasts_ns: Some(9),
            chance: 11,
            sectors: Some((8, 15)),
            path: None,
        };
        assert_eq!(of_fault(&fault).unwrap(), "add 1 5 2 18446744073709551615 7 9 11 8-16");
        let none = DiskFaultOrder { sectors: None, lasts_ns: None, count: Some(1), ..fault };
        assert_eq!(of_fault(&none).unwrap(), "add 1 5 2 1 7 0 11");
    }

    #[test]
    fn what_else_becomes_read_only_is_known() {
        let mounts = "/dev/vda1 / ext4 rw,relatime 0 0\nproc /proc proc rw 0 0\n/dev/vdb /srv/db ext4 rw 0 0\n/dev/sr0 /iso iso9660 ro 0 0\n";
        assert_eq!(others_on_disks(mounts, Path::new("/srv/db")), [PathBuf::from("/")]);
    }

    #[test]
    fn a_file_is_cut_to_the_sectors_that_are_meant() {
        let path = Path::new("/db/x");
        let ranges = [(0, 8), (16, 24), (80, 88)];
        assert_eq!(cut(&ranges, Some((4, 20)), path).unwrap(), [(4, 8), (16, 20)]);
        assert_eq!(cut(&ranges, None, path).unwrap(), ranges);
        assert!(cut(&ranges, Some((8, 16)), path).is_err());
    }
}
