//! The block device of `kernel/edits/disk` for machines with other kernels: it answers the same requests after the same times, keeps the same
//! log, and suffers from the same faults.
//!
//! Whoever drives it pushes requests, sleeps until [`Device::next_wake`], and pops what has ended. Requests move their bytes when they come,
//! and end in the order in which they came.

mod faults;
#[cfg(test)]
mod tests;

use super::log::{BEGIN, DURABLE, FLUSHED, MAGIC, RECORD, SECTOR, WRITE};
use super::{Disk, DiskSpeed};
use faults::{Aim, Calls, Faults};
use netloom_units::{Duration, Instant};
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A request to a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// So many bytes from this place on.
    Read {
        /// The place on the disk, in bytes.
        place: u64,
        /// How many bytes.
        length: usize,
    },
    /// These bytes at this place.
    Write {
        /// The place on the disk, in bytes.
        place: u64,
        /// The bytes.
        bytes: Vec<u8>,
        /// Whether they are to be durable when the request ends (FUA).
        is_durable: bool,
    },
    /// All that was written is to be durable when the request ends.
    Flush,
}

/// A request that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The number that it was pushed with.
    pub number: u64,
    /// The bytes that were read; none if it has failed.
    pub bytes: Option<Vec<u8>>,
}

/// A request until it has ended.
#[derive(Debug)]
struct Waiting {
    due: Instant,
    number: u64,
    bytes: Option<Vec<u8>>,
    /// The end of the log when it came, for a flush that is not lost.
    covers: Option<u64>,
    /// The number of a write that is durable when it ends.
    durable: Option<u64>,
}

/// See the module.
#[derive(Debug)]
pub struct Device {
    medium: File,
    log: Log,
    size: u64,
    speed: DiskSpeed,
    /// When the next transfer can begin.
    free_at: Instant,
    /// When the last request ends.
    done_at: Instant,
    faults: Faults,
    waiting: VecDeque<Waiting>,
}

impl Device {
    /// Returns the device of a disk. Another kernel begins with it: nothing of it is in a cache.
    ///
    /// # Errors
    /// When there are no more descriptors, or no memory for the log.
    pub fn new(disk: &Disk) -> io::Result<Self> {
        let mut log = Log { file: disk.log.try_clone()?, number: 0, end: 0, writes: 0 };
        log.begin()?;
        Ok(Self {
            medium: disk.medium.try_clone()?,
            log,
            size: disk.sectors * SECTOR,
            speed: disk.speed,
            free_at: Instant::ZERO,
            done_at: Instant::ZERO,
            faults: Faults::default(),
            waiting: VecDeque::new(),
        })
    }

    /// Returns its size, in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Takes a request, which ends later. One that is about places that the disk has not, or about parts of sectors, fails.
    pub fn push(&mut self, number: u64, request: Request, now: Instant) {
        let (place, length, calls) = match &request {
            Request::Read { place, length } => (*place, *length as u64, Calls::READS),
            Request::Write { place, bytes, .. } => (*place, bytes.len() as u64, Calls::WRITES),
            Request::Flush => (0, 0, Calls::FLUSHES),
        };
        let is_durable = matches!(request, Request::Write { is_durable: true, .. });
        let mut aim = Aim { place, length, flip: None, late: Duration::ZERO, fails: false, loses_flush: false };
        let is_inside = place.checked_add(length).is_some_and(|end| end <= self.size);
        let is_whole = (place | length).is_multiple_of(SECTOR);
        if is_inside && is_whole {
            self.faults.suffer((calls, is_durable), &mut aim, self.size, now);
        } else {
            aim.fails = true;
        }
        let covers = (calls == Calls::FLUSHES && !aim.fails && !aim.loses_flush).then_some(self.log.end);
        let bytes = if aim.fails { None } else { self.transfer(request, &aim).ok() };
        let durable = (is_durable && bytes.is_some() && !aim.loses_flush).then_some(self.log.writes);
        let due = self.due((calls, is_durable), length, now, aim.late);
        self.waiting.push_back(Waiting { due, number, bytes, covers, durable });
    }

    /// Returns when the next request ends; none if there is none.
    pub fn next_wake(&self) -> Option<Instant> {
        self.waiting.front().map(|first| first.due)
    }

    /// Takes the next request that has ended by now.
    pub fn pop(&mut self, now: Instant) -> Option<Ended> {
        if self.next_wake()? > now {
            return None;
        }
        let Waiting { number, bytes, covers, durable, .. } = self.waiting.pop_front()?;
        let noted = match (covers, durable) {
            (Some(place), _) => self.log.flushed(place),
            (None, Some(write)) => self.log.durable(write),
            (None, None) => Ok(()),
        };
        Some(Ended { number, bytes: bytes.filter(|_| noted.is_ok()) })
    }

    /// Carries out an order, as `kernel/edits/disk/faults.c` takes it.
    ///
    /// # Errors
    /// In words: there is no such order, or the medium cannot be read or written.
    pub fn order(&mut self, text: &str, now: Instant) -> Result<(), String> {
        let wrong = || format!("the disk does not know the order {text:?}");
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        match word {
            "mend" => self.faults = Faults::default(),
            "hang" => {
                let span = Duration::from_nanos(rest.parse().map_err(|_| wrong())?);
                self.hang(span, now);
            }
            "add" => {
                let fault = faults::parse(rest, self.size, now).ok_or_else(wrong)?;
                return self.faults.add(fault, &self.medium).map_err(|error| format!("a disk's bits: {error}"));
            }
            _ => return Err(wrong()),
        }
        Ok(())
    }

    /// Time stands still for the disk: what it does, it does so much later.
    fn hang(&mut self, span: Duration, now: Instant) {
        self.free_at = self.free_at.max(now) + span;
        self.done_at = self.done_at.max(now) + span;
        self.waiting.iter_mut().for_each(|one| one.due = one.due + span);
    }

    /// Moves the bytes of a request, as far as its faults let them, from or to the place that they choose. Returns what was read.
    fn transfer(&mut self, request: Request, aim: &Aim) -> io::Result<Vec<u8>> {
        let count = usize::try_from(aim.length).map_err(io::Error::other)?;
        match request {
            Request::Flush => Ok(Vec::new()),
            Request::Read { length, .. } => {
                let mut bytes = vec![0; length];
                self.medium.read_exact_at(&mut bytes[..count], aim.place)?;
                flip(&mut bytes, aim);
                Ok(bytes)
            }
            Request::Write { mut bytes, .. } => {
                flip(&mut bytes, aim);
                self.log.writes += 1;
                if count > 0 {
                    self.log.keep(&self.medium, aim.place, count)?;
                    self.medium.write_all_at(&bytes[..count], aim.place)?;
                }
                Ok(Vec::new())
            }
        }
    }

    /// When a request is done that comes now, and takes so much longer than others.
    fn due(&mut self, (calls, is_durable): (Calls, bool), length: u64, now: Instant, late: Duration) -> Instant {
        let DiskSpeed { latency, rate, flush } = self.speed;
        if calls == Calls::FLUSHES {
            self.done_at = self.done_at.max(now) + flush + late;
            self.free_at = self.done_at;
            return self.done_at;
        }
        let transfer = rate.map_or(0, |rate| {
            let ns = u128::from(length) * 8 * 1_000_000_000 / u128::from(rate.as_bits_per_second().max(1));
            u64::try_from(ns).unwrap_or(u64::MAX)
        });
        self.free_at = self.free_at.max(now) + Duration::from_nanos(transfer);
        self.done_at = (self.free_at + latency + late).max(self.done_at);
        if is_durable {
            self.done_at = self.done_at + flush;
            self.free_at = self.done_at;
        }
        self.done_at
    }
}

/// Turns the bit that is to be wrong.
fn flip(bytes: &mut [u8], aim: &Aim) {
    let Some(bit) = aim.flip else { return };
    if let Some(byte) = usize::try_from(bit >> 3).ok().and_then(|at| bytes.get_mut(at)) {
        *byte ^= 1 << (bit & 7);
    }
}

/// The log of a disk while it is written; see [`super::log`].
#[derive(Debug)]
struct Log {
    file: File,
    number: u64,
    end: u64,
    /// How many writes there were.
    writes: u64,
}

impl Log {
    /// All that was written is durable: a new log begins at the place of the old one.
    fn begin(&mut self) -> io::Result<()> {
        self.number += 1;
        self.end = 0;
        self.record(BEGIN, self.number, 0, 0)
    }

    /// Keeps what a write replaces: first the bytes, then the record that says that they are there.
    fn keep(&mut self, medium: &File, place: u64, length: usize) -> io::Result<()> {
        let mut bytes = vec![0; length];
        medium.read_exact_at(&mut bytes, place)?;
        let replaced = self.end + RECORD;
        self.file.write_all_at(&bytes, replaced)?;
        let sectors = u32::try_from(length as u64 / SECTOR).map_err(io::Error::other)?;
        self.record(WRITE, self.writes, place / SECTOR, sectors)?;
        self.end = replaced + length as u64;
        Ok(())
    }

    /// What the log had up to this place is durable.
    fn flushed(&mut self, place: u64) -> io::Result<()> {
        if place == self.end { self.begin() } else { self.record(FLUSHED, 0, place, 0) }
    }

    /// The write of this number is durable.
    fn durable(&mut self, write: u64) -> io::Result<()> {
        self.record(DURABLE, write, 0, 0)
    }

    fn record(&mut self, kind: u32, number: u64, sector: u64, sectors: u32) -> io::Result<()> {
        let mut bytes = [MAGIC, self.number, number, 0, sector].map(u64::to_ne_bytes).concat();
        bytes.extend([sectors, kind].map(u32::to_ne_bytes).as_flattened());
        self.file.write_all_at(&bytes, self.end)?;
        self.end += RECORD;
        Ok(())
    }
}
