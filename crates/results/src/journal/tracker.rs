//! From notes to records: what entered, was sent, left or was dropped is put together packet by packet.

use super::record::{AirAttempt, Fate, Record};
use netloom_link::{Attempt, Cause, Content, Event, Filter, Note, Segments};
use netloom_units::Instant;
use std::collections::HashMap;

/// What is wanted of a pipe.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// Its place among the journal's pipes.
    pub(super) place: u32,
    /// Only these packets; none: all.
    pub(super) filter: Option<Filter>,
    /// The names of its stations, if it is a radio medium of which attempts are wanted.
    pub(super) stations: Vec<String>,
}

/// A packet of which everything is known, and its place among others: by when its fate was certain, then by pipe, then as they
/// came in. That depends on nothing but what happened. Instants are the driver's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fated {
    pub(super) end: Instant,
    /// How many packets and trains had come into its pipe before it.
    pub(super) number: u64,
    /// Which segment of its frame it is.
    pub(super) segment: u16,
    pub(super) record: Record,
}

/// See the module. Its memory is that of the packets that are inside.
#[derive(Debug)]
pub(super) struct Tracker {
    /// By the number of the pipe in the plan; none of those that are not wanted.
    books: Vec<Option<Book>>,
    /// Lists that are not used at the moment.
    spare: Vec<Vec<Piece>>,
    /// When counting began, if it has.
    zero: Option<Instant>,
}

/// The packets inside a pipe.
#[derive(Debug)]
struct Book {
    wanted: Wanted,
    /// By the number of their frame.
    inside: HashMap<u64, Vec<Piece>>,
    /// How many have come in.
    count: u64,
    /// Whether counting has begun. What has left by then is no part of the journal.
    has_begun: bool,
}

/// Segments of a frame that share their fate so far.
#[derive(Clone, Debug)]
struct Piece {
    first: u16,
    count: u16,
    entry: Entry,
    marked: Option<Instant>,
    way: Option<Way>,
}

/// How they came in.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Instant,
    number: u64,
    /// Which segments came in together, and what they are.
    whose: Segments,
    content: Content,
}

/// How they were sent.
#[derive(Clone, Copy, Debug)]
struct Way {
    started: Instant,
    sent: Instant,
    due: Instant,
}

impl Tracker {
    /// One that hears of these pipes; none are those that are not wanted.
    pub(super) fn new(pipes: Vec<Option<Wanted>>) -> Self {
        let book =
            |own: Option<Wanted>| own.map(|wanted| Book { wanted, inside: HashMap::new(), count: 0, has_begun: false });
        Self { books: pipes.into_iter().map(book).collect(), spare: Vec::new(), zero: None }
    }

    /// Time zero: when counting began. Nothing is recorded before it has.
    pub(super) fn zero(&self) -> Option<Instant> {
        self.zero
    }

    /// Takes a note; `out` gets the packets whose fate it tells, once counting has begun in their pipe.
    pub(super) fn take(&mut self, note: &Note, out: &mut impl FnMut(Fated)) {
        let Self { books, spare, zero } = self;
        let Some(Some(book)) = books.get_mut(note.pipe as usize) else { return };
        let has_begun = book.has_begun;
        let out = &mut |fated| {
            if has_begun {
                out(fated);
            }
        };
        match note.what {
            Event::Began => {
                book.has_begun = true;
                *zero = Some(note.at);
            }
            Event::Entered { content } => book.enter(note, content, spare),
            Event::Marked => book.mark(note),
            Event::Tried { attempt, content } => book.try_once(note, attempt, content, out),
            Event::Sent { start, due } => book.send(note, Way { started: start, sent: note.at, due }),
            Event::Left => {
                book.end(note, |piece| piece.way.is_some(), Fate::Delivered { at_ns: nanos(note.at) }, spare, out);
            }
            Event::Dropped { cause, content } => book.lose(note, cause, content, spare, out),
        }
    }

    /// What is inside cannot be followed any more, since notes are missing; how many packets that are.
    pub(super) fn forget(&mut self, is_meant: impl Fn(u32) -> bool) -> u64 {
        let meant = self.books.iter_mut().zip(0..).filter(|(_, pipe)| is_meant(*pipe));
        let inside = meant.flat_map(|(book, _)| book).flat_map(|book| book.inside.drain());
        inside.flat_map(|(_, pieces)| pieces).map(|piece| u64::from(piece.count)).sum()
    }

    /// What is still inside, in order.
    pub(super) fn inside(&mut self) -> Vec<Fated> {
        let mut all = Vec::new();
        for book in self.books.iter_mut().flatten() {
            for piece in book.inside.drain().flat_map(|(_, pieces)| pieces) {
                piece.report(book.wanted.place, Instant::MAX, Fate::Inside, &mut |fated| all.push(fated));
            }
        }
        all.sort_by_key(|fated| (fated.record.pipe, fated.number, fated.segment, fated.record.due_ns));
        all
    }
}

impl Book {
    fn is_meant(&self, content: &Content) -> bool {
        self.wanted.filter.as_ref().is_none_or(|filter| filter.matches(content.flow.as_ref()))
    }

    /// The next number.
    fn number(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    fn enter(&mut self, note: &Note, content: Content, spare: &mut Vec<Vec<Piece>>) {
        // It counts, whoever is meant, so that a filter changes no order.
        let number = self.number();
        if !self.is_meant(&content) {
            return;
        }
        let entry = Entry { at: note.at, number, whose: note.whose, content };
        let Segments { frame, first, count } = note.whose;
        let pieces = self.inside.entry(frame).or_insert_with(|| spare.pop().unwrap_or_default());
        pieces.push(Piece { first, count, entry, marked: None, way: None });
    }

    /// An attempt on the air is a record of its own.
    fn try_once(&mut self, note: &Note, attempt: Attempt, content: Content, out: &mut impl FnMut(Fated)) {
        let number = self.number();
        if !self.is_meant(&content) {
            return;
        }
        let Attempt { start, end, kilobits_per_second, is_decoded, from, to, .. } = attempt;
        let name = |place: u16| self.wanted.stations.get(usize::from(place)).cloned();
        let at_ns = nanos(end);
        let fate = if is_decoded { Fate::Delivered { at_ns } } else { Fate::Dropped { at_ns, cause: Cause::Air } };
        let record = Record {
            pipe: self.wanted.place,
            arrived_ns: nanos(start),
            started_ns: Some(nanos(start)),
            sent_ns: Some(at_ns),
            due_ns: None,
            marked_ns: None,
            fate,
            size_bytes: content.bytes,
            flow: content.flow,
            sequence: content.sequence,
            attempt: Some(AirAttempt {
                number: attempt.number,
                kilobits_per_second,
                sender: name(from).unwrap_or_default(),
                receiver: to.and_then(name),
            }),
        };
        out(Fated { end: note.at, number, segment: note.whose.first, record });
    }

    fn mark(&mut self, note: &Note) {
        let Some(pieces) = self.inside.get_mut(&note.whose.frame) else { return };
        let mut marked = Vec::new();
        carve(
            pieces,
            note.whose,
            |piece| piece.way.is_none(),
            |piece| {
                marked.push(Piece { marked: Some(note.at), ..piece });
            },
        );
        pieces.append(&mut marked);
    }

    fn send(&mut self, note: &Note, way: Way) {
        let Some(pieces) = self.inside.get_mut(&note.whose.frame) else { return };
        if let [only] = &mut pieces[..]
            && (only.first, only.count, only.way.is_none()) == (note.whose.first, note.whose.count, true)
        {
            only.way = Some(way);
            return;
        }
        let mut sent = Vec::new();
        carve(pieces, note.whose, |piece| piece.way.is_none(), |piece| sent.push(Piece { way: Some(way), ..piece }));
        pieces.append(&mut sent);
    }

    /// Dropped where it waits or travels, or before it had entered: by the models of loss, or since the link was down.
    fn lose(
        &mut self,
        note: &Note,
        cause: Cause,
        content: Content,
        spare: &mut Vec<Vec<Piece>>,
        out: &mut impl FnMut(Fated),
    ) {
        let fate = Fate::Dropped { at_ns: nanos(note.at), cause };
        if cause != Cause::Loss {
            if self.end(note, |piece| piece.way.is_none(), fate, spare, out) {
                return;
            }
            if self.end(note, |piece| piece.way.is_some(), fate, spare, out) {
                return;
            }
        }
        let number = self.number();
        if matches!(cause, Cause::Loss | Cause::Down | Cause::Partition | Cause::Fault) && self.is_meant(&content) {
            let Segments { first, count, .. } = note.whose;
            let entry = Entry { at: note.at, number, whose: note.whose, content };
            let piece = Piece { first, count, entry, marked: None, way: None };
            piece.report(self.wanted.place, note.at, fate, out);
        }
    }

    /// The fate of segments is known; whether any of them was inside.
    fn end(
        &mut self,
        note: &Note,
        is_meant: impl Fn(&Piece) -> bool,
        fate: Fate,
        spare: &mut Vec<Vec<Piece>>,
        out: &mut impl FnMut(Fated),
    ) -> bool {
        let Some(pieces) = self.inside.get_mut(&note.whose.frame) else { return false };
        let mut has_ended = false;
        carve(pieces, note.whose, is_meant, |piece| {
            has_ended = true;
            piece.report(self.wanted.place, note.at, fate, out);
        });
        if pieces.is_empty() {
            spare.extend(self.inside.remove(&note.whose.frame));
        }
        has_ended
    }
}

/// Takes these segments out of the pieces that are meant. Of copies of a packet, the one that is due first is taken first.
fn carve(pieces: &mut Vec<Piece>, whose: Segments, is_meant: impl Fn(&Piece) -> bool, mut take: impl FnMut(Piece)) {
    let (mut at, end) = (u32::from(whose.first), u32::from(whose.first) + u32::from(whose.count));
    while at < end {
        let has = |piece: &Piece| (u32::from(piece.first)..piece.end()).contains(&at);
        let own = pieces.iter().enumerate().filter(|(_, piece)| has(piece) && is_meant(piece));
        let Some((index, _)) = own.min_by_key(|(_, piece)| (piece.way.map(|way| way.due), piece.entry.number)) else {
            // The begin of the next piece, if there is one.
            let later = pieces.iter().filter(|piece| is_meant(piece)).map(|piece| u32::from(piece.first));
            let Some(next) = later.filter(|first| *first > at).min() else { return };
            at = next;
            continue;
        };
        let piece = pieces.swap_remove(index);
        let until = end.min(piece.end());
        let part = |from: u32, to: u32| {
            let short = |number: u32| u16::try_from(number).expect("within a piece");
            Piece { first: short(from), count: short(to - from), ..piece.clone() }
        };
        if at > u32::from(piece.first) {
            pieces.push(part(u32::from(piece.first), at));
        }
        if until < piece.end() {
            pieces.push(part(until, piece.end()));
        }
        take(part(at, until));
        at = until;
    }
}

impl Piece {
    /// Behind its last segment.
    fn end(&self) -> u32 {
        u32::from(self.first) + u32::from(self.count)
    }

    /// Tells of each segment.
    fn report(&self, pipe: u32, end: Instant, fate: Fate, out: &mut impl FnMut(Fated)) {
        let Self { entry: Entry { at, number, whose, content }, marked, way, .. } = self;
        let last = u32::from(whose.count).saturating_sub(1);
        for index in u32::from(self.first)..self.end() {
            let before = index - u32::from(whose.first);
            let is_shorter = before == last;
            let size_bytes = if is_shorter {
                content.bytes.saturating_sub(last.saturating_mul(content.segment_bytes))
            } else {
                content.segment_bytes
            };
            let record = Record {
                pipe,
                arrived_ns: nanos(*at),
                started_ns: way.map(|way| nanos(way.started)),
                sent_ns: way.map(|way| nanos(way.sent)),
                due_ns: way.map(|way| nanos(way.due)),
                marked_ns: marked.map(nanos),
                fate,
                size_bytes,
                flow: content.flow,
                sequence: content
                    .sequence
                    .map(|first| first.wrapping_add(before.wrapping_mul(content.segment_payload))),
                attempt: None,
            };
            let segment = u16::try_from(index).expect("a frame counts them so");
            out(Fated { end, number: *number, segment, record });
        }
    }
}

/// Nanoseconds, of which there are fewer than 2^63 in 292 years.
pub(super) fn nanos(at: Instant) -> i64 {
    i64::try_from(at.as_nanos()).unwrap_or(i64::MAX)
}
