//! Disks of nodes with a kernel of their own.

use crate::words::words;
use netloom_units::{Bytes, Duration, Rate};
use std::fmt;
use std::path::PathBuf;

/// A disk of a node with a kernel of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskPlan {
    /// The folder of the node at which its file system is: an absolute path.
    pub at: PathBuf,
    /// The size of the disk, a multiple of 4 KiB.
    pub size: Bytes,
    /// The file system.
    pub filesystem: Filesystem,
    /// The time from the transfer of a request to its end.
    pub latency: Duration,
    /// The rate of transfers, one after the other; none: no limit.
    pub rate: Option<Rate>,
    /// The time that a flush takes.
    pub flush: Duration,
    /// Whether what is on the disk is kept for the next run.
    pub keep: bool,
    /// Whether all requests to it become a table in the results.
    pub journal: bool,
}

impl DiskPlan {
    /// Returns the size if the lab file gives none.
    pub fn size_of(filesystem: Filesystem) -> Bytes {
        let size = if filesystem == Filesystem::Xfs { 512_000_000 } else { 256_000_000 };
        Bytes::new(size / 4096 * 4096)
    }

    /// The latency if the lab file gives none: about that of a solid-state drive.
    pub const LATENCY: Duration = Duration::from_micros(80);
    /// The time of a flush if the lab file gives none: about that of a solid-state drive without a protected cache.
    pub const FLUSH: Duration = Duration::from_millis(1);
}

words! {
    /// A file system of a disk.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Filesystem {
        /// The usual one of Linux, with a journal.
        #[default]
        Ext4 = "ext4",
        /// One with a journal, for large files and many processors.
        Xfs = "xfs",
        /// One that writes flash memory as a log.
        F2fs = "f2fs",
    }
}

impl Filesystem {
    /// The smallest disk that it has room on: what its mkfs says.
    pub fn least(self) -> Bytes {
        match self {
            Self::Ext4 => Bytes::new(16_000_000),
            Self::Xfs => Bytes::new(320_000_000),
            Self::F2fs => Bytes::new(64_000_000),
        }
    }
}

words! {
    /// A kind of requests to a disk.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum DiskCall {
        /// The disk hands over sectors.
        Read = "read",
        /// The disk takes sectors.
        Write = "write",
        /// The disk makes durable what it has taken before.
        Flush = "flush",
    }
}

/// Kinds of requests to a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskCalls {
    /// Reads.
    pub reads: bool,
    /// Writes.
    pub writes: bool,
    /// Flushes of its cache.
    pub flushes: bool,
}

impl DiskCalls {
    /// All of them.
    pub const ALL: Self = Self { reads: true, writes: true, flushes: true };

    /// Returns these kinds.
    pub fn of(calls: &[DiskCall]) -> Self {
        let has = |call| calls.contains(&call);
        Self { reads: has(DiskCall::Read), writes: has(DiskCall::Write), flushes: has(DiskCall::Flush) }
    }
}

impl fmt::Display for DiskCalls {
    /// As the lab file has them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [(self.reads, "read"), (self.writes, "write"), (self.flushes, "flush")];
        let names: Vec<&str> = all.into_iter().filter_map(|(has, name)| has.then_some(name)).collect();
        match names[..] {
            [one] => f.write_str(one),
            _ => write!(f, "[{}]", names.join(", ")),
        }
    }
}

/// A fault of a disk, or the end of all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskFault {
    /// The effect on the requests that it is about, or on the disk.
    pub kind: DiskFaultKind,
    /// The number of the first request that it meets, among those that it is about; 1: the first that comes.
    pub nth: u64,
    /// How many requests it meets, or bits; none: all that come.
    pub count: Option<u64>,
    /// The first and the last sector of 512 bytes that it is about; none: all.
    pub sectors: Option<(u64, u64)>,
}

/// A kind of faults of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskFaultKind {
    /// Requests fail (EIO).
    Error(DiskCalls),
    /// Requests take so much longer.
    Slow(Duration, DiskCalls),
    /// A bit of what reads hand over, or of what writes put on the disk, is wrong.
    Flip(DiskCalls),
    /// A bit of what is on the disk becomes wrong, once.
    Rot,
    /// Requests read from, or write to, a place some blocks away.
    Misdirect(DiskCalls),
    /// Writes put their first sectors on the disk, and say that they are done.
    Tear,
    /// Writes or flushes do nothing, and say that they are done.
    Lose(DiskCalls),
    /// The disk does nothing for a while, and goes on then.
    Hang,
    /// Its file system is mounted read-only.
    ReadOnly,
    /// Its file system has no room any more.
    Full,
    /// All its faults end.
    Works,
}

impl DiskFaultKind {
    /// Whether the disk itself ends it in time; it is undone otherwise.
    pub fn ends_itself(self) -> bool {
        !matches!(self, Self::ReadOnly | Self::Full)
    }
}

impl fmt::Display for DiskFault {
    /// As the lab file has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            DiskFaultKind::Error(calls) => write!(f, "error: {calls}")?,
            DiskFaultKind::Slow(by, DiskCalls::ALL) => write!(f, "slow: {by}")?,
            DiskFaultKind::Slow(by, calls) => write!(f, "slow: {by}, calls: {calls}")?,
            DiskFaultKind::Flip(calls) => write!(f, "flip: {calls}")?,
            DiskFaultKind::Rot => f.write_str("flip: stored")?,
            DiskFaultKind::Misdirect(calls) => write!(f, "misdirect: {calls}")?,
            DiskFaultKind::Tear => f.write_str("tear: true")?,
            DiskFaultKind::Lose(calls) => write!(f, "lose: {calls}")?,
            DiskFaultKind::Hang => f.write_str("hang: true")?,
            DiskFaultKind::ReadOnly => f.write_str("read_only: true")?,
            DiskFaultKind::Full => f.write_str("full: true")?,
            DiskFaultKind::Works => f.write_str("works: true")?,
        }
        if self.nth > 1 {
            write!(f, ", nth: {}", self.nth)?;
        }
        self.count.map_or(Ok(()), |count| write!(f, ", count: {count}"))?;
        self.sectors.map_or(Ok(()), |(first, last)| write!(f, ", sectors: {first}-{last}"))
    }
}
