//! The log of a disk, as `kernel/edits/disk.c` writes it. It comes from a process that also runs the user's programs: all numbers are
//! checked.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// The unit of places and lengths on a disk, in bytes.
pub(super) const SECTOR: u64 = 512;
/// The first word of each record.
pub(super) const MAGIC: u64 = 0x4e65_744c_6f67_2031;
/// Bytes of a record: magic, log, number, instant, sector (64 bits each), sectors and kind (32 bits each).
pub(super) const RECORD: u64 = 48;

/// The kinds of records.
pub(super) const BEGIN: u32 = 0;
pub(super) const WRITE: u32 = 1;
pub(super) const FLUSHED: u32 = 2;
pub(super) const DURABLE: u32 = 3;

/// A write that no flush has made durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CachedWrite {
    /// Its number among all writes of its kernel, from 1.
    pub(super) number: u64,
    /// Its place on the medium, and its length, in bytes.
    pub(super) place: u64,
    pub(super) length: u64,
    /// The place in the log of what it has replaced.
    pub(super) replaced: u64,
    /// Whether it is on the medium all the same: a write with FUA that has ended.
    pub(super) is_durable: bool,
}

/// A record without what is behind it.
struct Record {
    log: u64,
    number: u64,
    sector: u64,
    sectors: u32,
    kind: u32,
}

impl Record {
    /// The record at this place; none if there is none.
    fn at(log: &File, place: u64) -> io::Result<Option<Self>> {
        let mut bytes = [0; RECORD as usize];
        match log.read_exact_at(&mut bytes, place) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let half = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let record = Self { log: word(8), number: word(16), sector: word(32), sectors: half(40), kind: half(44) };
        Ok((word(0) == MAGIC).then_some(record))
    }
}

/// Reads which writes no flush has made durable, in their order, from the log of a disk with so many sectors.
///
/// # Errors
/// When the log cannot be read, or says what cannot be.
pub(super) fn read(log: &File, sectors: u64) -> io::Result<Vec<CachedWrite>> {
    let mut writes: Vec<CachedWrite> = Vec::new();
    let Some(first) = Record::at(log, 0)? else { return Ok(writes) };
    if first.kind != BEGIN {
        return Err(wrong("it does not begin as one"));
    }
    let (mut place, end) = (RECORD, log.metadata()?.len());
    while let Some(record) = Record::at(log, place)?.filter(|record| record.log == first.log) {
        place += RECORD;
        match record.kind {
            WRITE => {
                let length = u64::from(record.sectors) * SECTOR;
                let is_inside = record.sector.checked_add(record.sectors.into()).is_some_and(|last| last <= sectors);
                if !is_inside || length > end - place || length == 0 {
                    return Err(wrong("it has a write that the disk has no place for"));
                }
                let (number, at) = (record.number, record.sector * SECTOR);
                writes.push(CachedWrite { number, place: at, length, replaced: place, is_durable: false });
                place += length;
            }
            FLUSHED => writes.retain(|write| write.replaced > record.sector),
            DURABLE => {
                let own = writes.iter_mut().find(|write| write.number == record.number);
                own.into_iter().for_each(|write| write.is_durable = true);
            }
            other => return Err(wrong(&format!("it has a record of kind {other}"))),
        }
    }
    Ok(writes)
}

fn wrong(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the log of the disk is none: {why}"))
}
