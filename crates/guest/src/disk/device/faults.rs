//! Faults of a disk: which requests they are about, and what they do to them.

use super::super::log::SECTOR;
use netloom_units::{Duration, Instant};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Kinds of requests, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Calls(u32);

impl Calls {
    pub(super) const READS: Self = Self(1);
    pub(super) const WRITES: Self = Self(2);
    pub(super) const FLUSHES: Self = Self(4);

    fn has(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }
}

/// Where a request gets its bytes from or puts them to, and what else becomes of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aim {
    /// The place on the disk, and the length, in bytes.
    pub(super) place: u64,
    pub(super) length: u64,
    /// The bit, from its beginning, that comes out wrong.
    pub(super) flip: Option<u64>,
    /// How much longer it takes.
    pub(super) late: Duration,
    pub(super) fails: bool,
    /// Whether what it is to make durable stays in the cache.
    pub(super) loses_flush: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Error,
    Slow,
    Flip,
    Misdirect,
    Tear,
    Lose,
}

/// A fault.
#[derive(Debug)]
pub(super) struct Fault {
    kind: Kind,
    calls: Calls,
    /// How many of its requests it lets pass, and how many it is still to meet after that.
    spares: u64,
    left: u64,
    delay: Duration,
    until: Option<Instant>,
    chance: Chance,
    /// In sectors; none: all.
    ranges: Vec<Range<u64>>,
}

/// Draws numbers (SplitMix64; Steele, Lea, Flood 2014), as the device of kernels does.
#[derive(Debug)]
struct Chance(u64);

impl Chance {
    /// The next number below a bound.
    fn draw(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut drawn = self.0;
        drawn = (drawn ^ drawn >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        drawn = (drawn ^ drawn >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        drawn ^= drawn >> 31;
        drawn.checked_rem(below).unwrap_or(0)
    }
}

/// All faults that a disk has.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<Fault>);

impl Faults {
    /// Adds a fault; one that is about no requests turns bits of the medium at once.
    pub(super) fn add(&mut self, fault: Fault, medium: &File) -> io::Result<()> {
        if fault.calls == Calls(0) {
            return rot(fault, medium);
        }
        self.0.push(fault);
        Ok(())
    }

    /// All faults do what they do to a request to a disk of this size.
    pub(super) fn suffer(&mut self, asked: (Calls, bool), aim: &mut Aim, size: u64, now: Instant) {
        let (place, length) = (aim.place, aim.length);
        self.0.retain_mut(|fault| {
            let is_there = fault.until.is_none_or(|until| now < until);
            if is_there && fault.meets(asked, place, length) {
                fault.strike(asked.0, (place, length), aim, size);
            }
            is_there && fault.left > 0
        });
    }
}

impl Fault {
    /// Whether it is about a request: by what that asks for, by its place, and by how many there were before it.
    fn meets(&mut self, (calls, is_durable): (Calls, bool), place: u64, length: u64) -> bool {
        // A write with FUA flushes itself, which can be lost like a flush.
        let flushes_too = self.kind == Kind::Lose && is_durable;
        let asked = if flushes_too { calls.with(Calls::FLUSHES) } else { calls };
        let (from, to) = (place / SECTOR, (place + length) / SECTOR);
        let is_there = |range: &Range<u64>| from < range.end && range.start < to;
        let is_about = self.ranges.is_empty() || calls == Calls::FLUSHES || self.ranges.iter().any(is_there);
        if !self.calls.has(asked) || self.left == 0 || !is_about {
            return false;
        }
        if self.spares > 0 {
            self.spares -= 1;
            return false;
        }
        if self.left != u64::MAX {
            self.left -= 1;
        }
        true
    }

    fn strike(&mut self, calls: Calls, (place, length): (u64, u64), aim: &mut Aim, size: u64) {
        match self.kind {
            Kind::Error => aim.fails = true,
            Kind::Slow => aim.late = aim.late + self.delay,
            Kind::Flip => aim.flip = Some(self.chance.draw(length * 8)),
            Kind::Misdirect => aim.place = self.astray(place, length, size),
            Kind::Tear => aim.length = self.chance.draw(length / SECTOR) * SECTOR,
            Kind::Lose => {
                if calls == Calls::WRITES && self.calls.has(Calls::WRITES) {
                    aim.length = 0;
                }
                aim.loses_flush |= self.calls.has(Calls::FLUSHES);
            }
        }
    }

    /// Another place on the disk, some blocks of 4 KiB away, at which there is room.
    fn astray(&mut self, place: u64, length: u64, size: u64) -> u64 {
        let distance = (1 + self.chance.draw(1024)) * 4096;
        let goes_back = self.chance.draw(2) == 1;
        let has_room = place + distance + length <= size;
        match place.checked_sub(distance) {
            Some(before) if goes_back || !has_room => before,
            _ if has_room => place + distance,
            _ => place,
        }
    }
}

/// Bits of the medium come out wrong from now on, at places that chance draws from those of the fault.
fn rot(mut fault: Fault, medium: &File) -> io::Result<()> {
    let bytes = |range: &Range<u64>| (range.end - range.start) * SECTOR;
    let all: u64 = fault.ranges.iter().map(bytes).sum();
    for _ in 0..if all == 0 { 0 } else { fault.left } {
        let bit = fault.chance.draw(all * 8);
        let mut at = bit / 8;
        let mut ranges = fault.ranges.iter();
        let found = ranges.find_map(|range| {
            let place = (at < bytes(range)).then_some(range.start * SECTOR + at);
            at = at.saturating_sub(bytes(range));
            place
        });
        let Some(place) = found else { break };
        let mut byte = [0];
        medium.read_exact_at(&mut byte, place)?;
        medium.write_all_at(&[byte[0] ^ 1 << (bit & 7)], place)?;
    }
    Ok(())
}

/// Reads "KIND CALLS SPARES LEFT DELAY LASTS CHANCE FROM-TO...": a fault of a disk of so many bytes that is there from now on for LASTS, 0 for
/// ever.
pub(super) fn parse(text: &str, size: u64, now: Instant) -> Option<Fault> {
    let mut words = text.split_ascii_whitespace();
    let mut number = || words.next()?.parse::<u64>().ok();
    let kind = match number()? {
        0 => Kind::Error,
        1 => Kind::Slow,
        2 => Kind::Flip,
        3 => Kind::Misdirect,
        4 => Kind::Tear,
        5 => Kind::Lose,
        _ => return None,
    };
    let calls = Calls(u32::try_from(number()?).ok()?);
    let [spares, left, delay, lasts, chance] = [number()?, number()?, number()?, number()?, number()?];
    let range = |word: &str| {
        let (from, to) = word.split_once('-')?;
        let range = from.parse().ok()?..to.parse().ok()?;
        (range.start < range.end && range.end <= size / SECTOR).then_some(range)
    };
    let ranges = words.map(range).collect::<Option<Vec<Range<u64>>>>()?;
    let until = (lasts > 0).then(|| now + Duration::from_nanos(lasts));
    Some(Fault { kind, calls, spares, left, delay: Duration::from_nanos(delay), until, chance: Chance(chance), ranges })
}
