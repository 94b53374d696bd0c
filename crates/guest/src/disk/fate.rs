//! The fate of writes that were in the cache of a disk when its kernel ended.

use super::log::{CachedWrite, SECTOR};
use netloom_units::{Bytes, Seed};
use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A rule that says which writes are on the medium after a crash. In each of them, all writes are that a flush or FUA has made durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// No other write is.
    #[default]
    Flushed,
    /// All others are, too.
    All,
    /// Each of the others is or is not, by chance, whatever their order.
    Some,
    /// All others are, but of the last only the first part: whole sectors of 512 bytes or of 4 KiB, by chance.
    Torn,
}

/// The fate of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Kept,
    Lost,
    /// So many bytes of it are on the medium.
    Cut(u64),
}

/// The outcome of a crash for a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crashed {
    /// The number of writes that no flush and no FUA had made durable.
    pub cached: u64,
    /// The number of those that are lost.
    pub lost: u64,
    /// The number of bytes of these, and of the part that is missing of a write that was cut.
    pub lost_bytes: Bytes,
    /// Whether a write was cut.
    pub is_torn: bool,
}

/// Larger sectors of disks, in bytes.
const LARGE_SECTOR: u64 = 4096;

/// Decides the fate of each write.
pub(super) fn fates(writes: &[CachedWrite], keep: Keep, seed: Seed) -> Vec<Fate> {
    let fate = |write: &CachedWrite| match keep {
        _ if write.is_durable => Fate::Kept,
        Keep::Flushed => Fate::Lost,
        Keep::All | Keep::Torn => Fate::Kept,
        Keep::Some if seed.derive(&write.number.to_string()).get() & 1 == 0 => Fate::Kept,
        Keep::Some => Fate::Lost,
    };
    let mut all: Vec<Fate> = writes.iter().map(fate).collect();
    if keep == Keep::Torn
        && let Some(last) = writes.iter().rposition(|write| !write.is_durable)
    {
        all[last] = Fate::Cut(torn(writes[last].length, seed.derive("torn")));
    }
    all
}

/// How many bytes there are of a write of this length that was torn: less than all, a multiple of a sector's size.
fn torn(length: u64, seed: Seed) -> u64 {
    let is_large = length > LARGE_SECTOR && seed.derive("sector").get() & 1 == 0;
    let sector = if is_large { LARGE_SECTOR } else { SECTOR };
    let sectors = length.div_ceil(sector);
    // A write of one sector is on the medium or not.
    let kept = if sectors > 1 { 1 + seed.derive("length").get() % (sectors - 1) } else { 0 };
    kept * sector
}

/// Makes the medium, which has all writes, what their fates say: undoes all of them, the last first, and makes those again that are kept.
///
/// # Errors
/// What could not be read or written.
pub(super) fn settle(medium: &File, log: &File, writes: &[CachedWrite], fates: &[Fate]) -> io::Result<()> {
    let first = fates.iter().position(|fate| *fate != Fate::Kept).unwrap_or(fates.len());
    let (later, fate_of_later) = (&writes[first..], &fates[first..]);
    let mut made_again = Vec::new();
    for (write, fate) in later.iter().zip(fate_of_later).rev() {
        let mut bytes = vec![0; usize::try_from(write.length).map_err(io::Error::other)?];
        let kept = match fate {
            Fate::Kept => bytes.len(),
            Fate::Lost => 0,
            Fate::Cut(kept) => usize::try_from(*kept).map_err(io::Error::other)?.min(bytes.len()),
        };
        if kept > 0 {
            // Here the medium is as this write has left it, since all later ones are undone.
            medium.read_exact_at(&mut bytes[..kept], write.place)?;
            made_again.push((write.place, bytes[..kept].to_vec()));
        }
        log.read_exact_at(&mut bytes, write.replaced)?;
        medium.write_all_at(&bytes, write.place)?;
    }
    made_again.iter().rev().try_for_each(|(place, bytes)| medium.write_all_at(bytes, *place))
}

impl fmt::Display for Crashed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cached, lost, lost_bytes, is_torn } = self;
        match (cached, lost) {
            (0, _) => return f.write_str("all that was written to its disk had been flushed"),
            (_, 0) => write!(f, "all {cached} writes to its disk that had not been flushed are there")?,
            _ => write!(f, "{lost} of {cached} writes to its disk that had not been flushed are lost ({lost_bytes})")?,
        }
        if *is_torn { f.write_str(", and the last of them is cut") } else { Ok(()) }
    }
}

impl Crashed {
    pub(super) fn of(writes: &[CachedWrite], fates: &[Fate]) -> Self {
        let mut all = Self::default();
        let mut lost_bytes = 0;
        for (write, fate) in writes.iter().zip(fates).filter(|(write, _)| !write.is_durable) {
            all.cached += 1;
            match fate {
                Fate::Kept => {}
                Fate::Lost => (all.lost, lost_bytes) = (all.lost + 1, lost_bytes + write.length),
                Fate::Cut(kept) => (all.is_torn, lost_bytes) = (true, lost_bytes + write.length - kept),
            }
        }
        Self { lost_bytes: Bytes::new(lost_bytes), ..all }
    }
}
