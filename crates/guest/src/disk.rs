//! Disks of kernel nodes and virtual machines: the machine's side of the block device in `kernel/edits/disk.c`, and the same [`Device`] for
//! whoever serves the disk to another kernel.
//!
//! A disk is two files that its kernel writes: the medium, with all that was written, and a log of what the writes have replaced that no
//! flush has made durable. When the kernel has ended, [`Disk::crash`] decides by a rule which of these writes the medium keeps.

mod device;
mod fate;
mod journal;
mod log;
mod mkfs;
#[cfg(test)]
mod tests;

pub use device::{Device, Ended, Request};
pub use fate::{Crashed, Keep};
pub use journal::{JournalEntry, Suffered};
pub use mkfs::{Filesystem, format};

use log::SECTOR;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use netloom_units::{Bytes, Duration, Rate, Seed};
use rustix::fs::{MemfdFlags, SeekFrom, memfd_create, seek};

/// The descriptors of medium, log and journal in a kernel's process: the same in every run, since programs can read its command line, and above those
/// that the kernel opens itself.
const DESCRIPTORS: [i32; 3] = [400, 401, 402];

/// Bytes that are copied at once.
const PIECE: usize = 64 << 10;

/// How fast a disk is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskSpeed {
    /// The time from the transfer of a request to its end.
    pub latency: Duration,
    /// The rate of transfers, one after the other; none: no limit.
    pub rate: Option<Rate>,
    /// The time that a flush takes when all requests before it have ended.
    pub flush: Duration,
}

/// A disk, which outlives the kernels that use it.
#[derive(Debug)]
pub struct Disk {
    medium: File,
    log: File,
    /// All requests to it, if they are noted.
    journal: Option<File>,
    sectors: u64,
    speed: DiskSpeed,
}

impl Disk {
    /// Makes a disk of zeroes in memory.
    ///
    /// # Errors
    /// When the kernel of this machine gives no memory.
    pub fn in_memory(size: Bytes, speed: DiskSpeed) -> io::Result<Self> {
        let medium = File::from(memfd_create("netloom-disk", MemfdFlags::CLOEXEC)?);
        Self::on(medium, size, speed)
    }

    /// Makes a disk whose medium is this file, which gets this size.
    ///
    /// # Errors
    /// When the file cannot have it, or the kernel of this machine gives no memory.
    pub fn on(medium: File, size: Bytes, speed: DiskSpeed) -> io::Result<Self> {
        let sectors = size.get() / SECTOR;
        medium.set_len(sectors * SECTOR)?;
        let log = File::from(memfd_create("netloom-disk-log", MemfdFlags::CLOEXEC)?);
        Ok(Self { medium, log, journal: None, sectors, speed })
    }

    /// The same disk, all requests to which are noted.
    ///
    /// # Errors
    /// When the kernel of this machine gives no memory.
    pub fn with_journal(self) -> io::Result<Self> {
        let journal = File::from(memfd_create("netloom-disk-journal", MemfdFlags::CLOEXEC)?);
        Ok(Self { journal: Some(journal), ..self })
    }

    /// Whether the requests to it are noted.
    pub fn has_journal(&self) -> bool {
        self.journal.is_some()
    }

    /// Copies what another file has into the medium, and leaves out what is zero.
    ///
    /// # Errors
    /// What could not be read or written.
    pub fn fill(&self, from: &File) -> io::Result<()> {
        let mut piece = vec![0; PIECE];
        let end = from.metadata()?.len().min(self.sectors * SECTOR);
        let mut at = 0;
        while at < end {
            at = match seek(from, SeekFrom::Data(at)) {
                Ok(data) => data,
                // There is nothing more.
                Err(rustix::io::Errno::NXIO) => break,
                Err(error) => return Err(error.into()),
            };
            let hole = seek(from, SeekFrom::Hole(at))?.min(end);
            while at < hole {
                let length = usize::try_from(hole - at).map_or(PIECE, |left| left.min(PIECE));
                from.read_exact_at(&mut piece[..length], at)?;
                if piece[..length].iter().any(|byte| *byte != 0) {
                    self.medium.write_all_at(&piece[..length], at)?;
                }
                at += length as u64;
            }
        }
        Ok(())
    }

    /// The argument by which a kernel gets it.
    pub(crate) fn argument(&self) -> String {
        let [medium, log, journal] = DESCRIPTORS;
        let journal = if self.journal.is_some() { journal } else { -1 };
        let DiskSpeed { latency, rate, flush } = self.speed;
        let rate = rate.map_or(0, Rate::as_bits_per_second);
        let (latency, flush) = (latency.as_nanos(), flush.as_nanos());
        format!("netloom.disk={medium},{log},{journal},{},{latency},{rate},{flush}", self.sectors)
    }

    /// Gives it to the program of a command, which is to be a kernel.
    ///
    /// # Errors
    /// When there are no more descriptors.
    pub(crate) fn give(&self, command: &mut Command) -> io::Result<()> {
        let files = [Some(&self.medium), Some(&self.log), self.journal.as_ref()];
        let files = files.into_iter().flatten().map(File::try_clone).collect::<io::Result<Vec<File>>>()?;
        let place = move || {
            for (file, number) in files.iter().zip(DESCRIPTORS) {
                // SAFETY: dup2 takes numbers. Nothing in the child, which is about to execute a program, has these descriptors.
                if unsafe { libc::dup2(file.as_raw_fd(), number) } == -1 {
                    return Err(io::Error::last_os_error());
                }
            }
            Ok(())
        };
        // SAFETY: between fork and exec only dup2 is called, on numbers that were known before.
        unsafe { command.pre_exec(place) };
        Ok(())
    }

    /// Its kernel has ended without a shutdown: decides which writes are on the medium that no flush has made durable. Chance follows from
    /// the seed.
    ///
    /// # Errors
    /// When medium or log cannot be read or written, or the log is none.
    pub fn crash(&self, keep: Keep, seed: Seed) -> io::Result<Crashed> {
        let writes = log::read(&self.log, self.sectors)?;
        let fates = fate::fates(&writes, keep, seed);
        fate::settle(&self.medium, &self.log, &writes, &fates)?;
        self.log.set_len(0)?;
        Ok(Crashed::of(&writes, &fates))
    }

    /// Takes what its journal has of the kernel that uses it, or that has used it last: the requests that have ended.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn take_journal(&self) -> io::Result<Vec<JournalEntry>> {
        let Some(file) = &self.journal else { return Ok(Vec::new()) };
        let entries = journal::read(file)?;
        file.set_len(0)?;
        Ok(entries)
    }
}
