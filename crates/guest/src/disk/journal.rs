//! The journal of a disk, as `kernel/edits/disk/faults.c` writes it. It comes from a process that also runs the user's programs: any bytes
//! are entries.

use netloom_units::Duration;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes of an entry: instants, sector (64 bits each), sectors (32 bits), what was asked for and what became of it (16 bits each).
const ENTRY: usize = 32;

/// The bits of what was asked for.
const WRITES: u16 = 2;
const FLUSHES: u16 = 4;

/// A request to a disk that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalEntry {
    /// When it came, since its kernel has booted.
    pub came: Duration,
    /// When it ended.
    pub ended: Duration,
    /// Its first sector of 512 bytes.
    pub sector: u64,
    /// How many sectors it was about.
    pub sectors: u32,
    asked: u16,
    /// The effects of faults on it.
    pub suffered: Suffered,
}

/// The effects of faults on a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Suffered(u16);

impl JournalEntry {
    /// Returns what was asked for, in a word; `durable` is a write that the disk makes durable before it says that it is done (FUA).
    pub fn call(&self) -> &'static str {
        match (self.asked & WRITES != 0, self.asked & FLUSHES != 0) {
            (true, true) => "durable",
            (true, false) => "write",
            (false, true) => "flush",
            (false, false) => "read",
        }
    }
}

impl Suffered {
    /// Returns a word for each of them.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        let all = ["failed", "late", "flipped", "misdirected", "torn", "lost", "flush lost"];
        all.into_iter().enumerate().filter_map(move |(bit, word)| (self.0 >> bit & 1 == 1).then_some(word))
    }
}

/// Reads all entries.
pub(super) fn read(file: &File) -> io::Result<Vec<JournalEntry>> {
    let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes.chunks_exact(ENTRY).map(entry).collect())
}

fn entry(bytes: &[u8]) -> JournalEntry {
    let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let half = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let quarter = |at: usize| u16::from_ne_bytes(bytes[at..at + 2].try_into().expect("two bytes"));
    JournalEntry {
        came: Duration::from_nanos(word(0)),
        ended: Duration::from_nanos(word(8)),
        sector: word(16),
        sectors: half(24),
        asked: quarter(28),
        suffered: Suffered(quarter(30)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_and_taken_once() {
        let disk = crate::disk::Disk::in_memory(netloom_units::Bytes::new(1 << 20), Default::default()).unwrap();
        let disk = disk.with_journal().unwrap();
        let mut bytes = Vec::new();
        for (asked, suffered) in [(1_u16, 0_u16), (2, 1), (6, 64), (4, 3)] {
            bytes.extend([5_u64, 9, 2048].map(u64::to_ne_bytes).as_flattened());
            bytes.extend(8_u32.to_ne_bytes());
            bytes.extend([asked, suffered].map(u16::to_ne_bytes).as_flattened());
        }
        // An entry that its kernel has not finished is none.
        bytes.extend([1; 7]);
        disk.journal.as_ref().unwrap().write_all_at(&bytes, 0).unwrap();
        let entries = disk.take_journal().unwrap();
        assert_eq!(entries.iter().map(JournalEntry::call).collect::<Vec<_>>(), ["read", "write", "durable", "flush"]);
        let words = |entry: &JournalEntry| entry.suffered.words().collect::<Vec<_>>().join(" ");
        assert_eq!(entries.iter().map(words).collect::<Vec<_>>(), ["", "failed", "flush lost", "failed late"]);
        assert_eq!((entries[0].came, entries[0].ended), (Duration::from_nanos(5), Duration::from_nanos(9)));
        assert_eq!((entries[0].sector, entries[0].sectors), (2048, 8));
        assert_eq!(disk.take_journal().unwrap(), []);
    }
}
