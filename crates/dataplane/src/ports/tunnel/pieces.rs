//! Frames that do not fit into a datagram of the path, and trains of packets: cut into pieces, and joined again.
//!
//! A frame is cut into pieces of one size, of which only the last may be shorter. A piece says which it is, of how many, and how long the
//! frame is; its place and its length follow from that. So pieces cannot overlap and leave no gap: whatever has another length is
//! malformed. The pieces of equal frames are equally long, so that the kernel sends them as trains, too.
//!
//! Frames in work have a place by their number, of [`FRAMES`]: memory is bounded, whatever comes. A frame is given up when another one
//! needs its place, or [`WAITS`] after the first of its pieces came.

use super::numbers::Numbers;
use std::ops::RangeInclusive;

/// The number of frames that are in work at once.
const FRAMES: u64 = 256;
/// The time that a frame waits for its last piece, in nanoseconds.
pub(super) const WAITS: u64 = 200_000_000;
/// Words with a bit for each piece.
const WORDS: usize = 4;

/// The content of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Content {
    /// A packet, from its Ethernet header on.
    #[default]
    Packet,
    /// A train of packets as a kernel hands it over: a virtio-net header, and the packets as one from the Ethernet header on.
    Train,
}

impl Content {
    /// The least number of pieces that such a frame is cut into: a packet that fits into a datagram goes as it is.
    const fn fewest_pieces(self) -> u8 {
        match self {
            Self::Packet => 2,
            Self::Train => 1,
        }
    }
}

/// The lengths of frames that are packets, and of those that are trains.
pub(super) struct Lengths {
    pub(super) packet: RangeInclusive<usize>,
    pub(super) train: RangeInclusive<usize>,
}

impl Lengths {
    /// Returns those of this content.
    pub(super) fn of(&self, content: Content) -> &RangeInclusive<usize> {
        match content {
            Content::Packet => &self.packet,
            Content::Train => &self.train,
        }
    }
}

/// A piece of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    /// Its place among the pieces, from zero, and their number.
    pub(super) index: u8,
    pub(super) count: u8,
    /// The length of the frame, in bytes, and its content.
    pub(super) whole: u32,
    pub(super) content: Content,
    pub(super) bytes: &'a [u8],
}

/// Cuts a frame into pieces of `room` bytes at most; none if those are more than a piece can count, or if it is a packet that needs no cut.
pub(super) fn cut(frame: &[u8], content: Content, room: usize) -> Option<impl Iterator<Item = Piece<'_>>> {
    let count =
        u8::try_from(frame.len().div_ceil(room.max(1))).ok().filter(|count| *count >= content.fewest_pieces())?;
    let whole = u32::try_from(frame.len()).ok()?;
    let pieces = frame.chunks(frame.len().div_ceil(usize::from(count)));
    Some((0..).zip(pieces).map(move |(index, bytes)| Piece { index, count, whole, content, bytes }))
}

impl Piece<'_> {
    /// Returns where it lies in its frame, if it can be a piece of one of these lengths.
    fn begin(&self, lengths: &Lengths) -> Option<usize> {
        let (whole, count) = (usize::try_from(self.whole).ok()?, usize::from(self.count));
        if !lengths.of(self.content).contains(&whole)
            || self.count < self.content.fewest_pieces()
            || self.index >= self.count
        {
            return None;
        }
        let size = whole.div_ceil(count);
        let begin = usize::from(self.index) * size;
        // A last piece of nothing would be one too many.
        let is_piece = begin < whole && self.bytes.len() == size.min(whole - begin) && (count - 1) * size < whole;
        is_piece.then_some(begin)
    }
}

/// The counts of what became of pieces and of their frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Frames that were whole in the end, and those that were given up.
    pub(super) joined: u64,
    pub(super) given_up: u64,
    /// Pieces that cannot be part of any frame, or not of that which they name.
    pub(super) malformed: u64,
    /// Pieces that came once more, or after their frame was whole or given up.
    pub(super) repeated: u64,
}

/// A frame in work.
#[derive(Debug, Default)]
struct Work {
    number: u64,
    /// When the first of its pieces came, by this end's clock.
    begun: u64,
    /// The facts that its pieces agree on: when it is due, how many they are, and of what.
    due: u64,
    count: u8,
    content: Content,
    /// The number of pieces that have not come; zero: there is no frame here.
    missing: u8,
    has: [u64; WORDS],
    frame: Vec<u8>,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Joining {
    /// A place for each number modulo [`FRAMES`]; made when the first piece comes.
    works: Vec<Work>,
    pub(super) counts: Counts,
}

impl Joining {
    /// Takes a piece of the frame `number` that came at `came`; returns the frame if it is whole now. `lengths`: those of frames of this
    /// tunnel. `numbers`: which frames came; those that are given up are passed there, and a whole one is taken.
    pub(super) fn take(
        &mut self,
        (number, due): (u64, u64),
        piece: Piece<'_>,
        came: u64,
        lengths: &Lengths,
        numbers: &mut Numbers,
    ) -> Option<(&[u8], Content)> {
        let Some(begin) = piece.begin(lengths) else {
            self.counts.malformed += 1;
            return None;
        };
        if !numbers.is_new(number) {
            self.counts.repeated += 1;
            return None;
        }
        if self.works.is_empty() {
            self.works.resize_with(usize::try_from(FRAMES).expect("a few"), Work::default);
        }
        let Self { works, counts } = self;
        let work = &mut works[usize::try_from(number % FRAMES).expect("below a few")];
        if work.missing > 0 && work.number > number {
            // So many frames behind the one that has the place, it is not waited for.
            numbers.pass(number);
            counts.given_up += 1;
            return None;
        }
        if work.missing > 0 && (work.number != number || came.saturating_sub(work.begun) > WAITS) {
            let is_late = work.number == number;
            work.give_up(counts, numbers);
            if is_late {
                counts.repeated += 1;
                return None;
            }
        }
        if work.missing == 0 {
            work.begin((number, due), &piece, came);
        } else if (work.due, work.count, work.content, work.frame.len())
            != (due, piece.count, piece.content, piece.whole as usize)
        {
            counts.malformed += 1;
            return None;
        }
        let (word, bit) = (usize::from(piece.index) / 64, 1 << (piece.index % 64));
        if work.has[word] & bit != 0 {
            counts.repeated += 1;
            return None;
        }
        work.has[word] |= bit;
        work.missing -= 1;
        work.frame[begin..begin + piece.bytes.len()].copy_from_slice(piece.bytes);
        if work.missing > 0 {
            return None;
        }
        counts.joined += 1;
        numbers.take(number).then_some((work.frame.as_slice(), work.content))
    }

    /// Gives up the frames that have waited too long at `now`.
    pub(super) fn expire(&mut self, now: u64, numbers: &mut Numbers) {
        let Self { works, counts } = self;
        let late = works.iter_mut().filter(|work| work.missing > 0 && now.saturating_sub(work.begun) > WAITS);
        late.for_each(|work| work.give_up(counts, numbers));
    }

    /// Gives up all frames: their sender is no more.
    pub(super) fn clear(&mut self, numbers: &mut Numbers) {
        let Self { works, counts } = self;
        works.iter_mut().filter(|work| work.missing > 0).for_each(|work| work.give_up(counts, numbers));
    }
}

impl Work {
    fn begin(&mut self, (number, due): (u64, u64), piece: &Piece<'_>, came: u64) {
        (self.number, self.due, self.begun, self.content) = (number, due, came, piece.content);
        (self.count, self.missing, self.has) = (piece.count, piece.count, [0; WORDS]);
        self.frame.clear();
        self.frame.resize(piece.whole as usize, 0);
    }

    fn give_up(&mut self, counts: &mut Counts, numbers: &mut Numbers) {
        numbers.pass(self.number);
        counts.given_up += 1;
        self.missing = 0;
    }
}

#[cfg(test)]
mod tests;
