//! What becomes of packets that a capture has seen: comments for those that were dropped or marked.
//!
//! A packet is held for a while before it is written, and so its record can say what became of it meanwhile. As
//! long as it is held, so is its frame, and no other packet has that frame's number.

use super::pcapng::Bound;
use netloom_judge::quantity::span;
use netloom_link::{Cause, Fate, Outcome};
use netloom_packet::Packet;
use netloom_units::Instant;
use std::collections::{HashMap, HashSet};

/// Of more marked packets that have not left their links yet, nothing is said when they do.
const MOST_MARKED: usize = 1 << 17;

/// What became of packets, for a capture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) capture: usize,
    pub(super) link: u32,
    pub(super) fate: Fate,
}

/// What there is to say of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    outcome: Outcome,
    /// When; none of a packet that leaves the link, for which it was before.
    at: Option<Instant>,
}

impl Told {
    /// In words, for a packet that passed at `passed`.
    pub(super) fn text(&self, passed: Instant) -> String {
        let later = |at: &Instant| *at > passed;
        let when = self
            .at
            .filter(later)
            .map_or_else(String::new, |at| format!(" {} later", span(at.since(passed).as_nanos())));
        match self.outcome {
            Outcome::Marked => format!("marked{when}: congestion experienced"),
            Outcome::Dropped(cause) => format!("dropped{when}: {}", reason(cause)),
        }
    }
}

fn reason(cause: Cause) -> &'static str {
    match cause {
        Cause::Loss => "by the loss model",
        Cause::Full => "the queue was full",
        Cause::Early => "by the queue's discipline, though there was room",
        Cause::Down => "the link was down",
        Cause::Partition => "its nodes were parted",
        Cause::Fault => "a fault of the timeline",
        Cause::Air => "lost on the air, in a collision or after the last retry",
    }
}

/// A segment of a frame in a link, as a capture sees it: capture, link, frame, segment.
type Key = (usize, u32, u64, u16);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Fates {
    /// Of what is held, by the way that it went.
    held: HashMap<(Key, Bound), Option<Told>>,
    /// What was marked in its link and was not shown leaving it.
    marked: HashSet<Key>,
}

impl Fates {
    /// A segment is shown and held from now on.
    pub(super) fn show(&mut self, place: (usize, u32), bound: Bound, segment: &Packet) {
        let key = key(place, segment);
        // One that enters its link was not marked there.
        let is_marked = self.marked.remove(&key) && bound == Bound::In;
        let told = is_marked.then_some(Told { outcome: Outcome::Marked, at: None });
        self.held.entry((key, bound)).or_insert(told);
    }

    /// Takes in what became of packets.
    pub(super) fn note(&mut self, Known { capture, link, fate }: &Known) {
        for segment in fate.whose.first..fate.whose.first + fate.whose.count {
            let key = (*capture, *link, fate.whose.frame, segment);
            if let Some(told) = self.held.get_mut(&(key, Bound::Out)) {
                *told = Some(Told { outcome: fate.outcome, at: Some(fate.at) });
            }
            match (fate.outcome, self.held.get_mut(&(key, Bound::In))) {
                (Outcome::Marked, Some(told)) => *told = Some(Told { outcome: Outcome::Marked, at: None }),
                (Outcome::Marked, None) if self.marked.len() < MOST_MARKED => drop(self.marked.insert(key)),
                (Outcome::Marked, None) => {}
                (Outcome::Dropped(_), _) => drop(self.marked.remove(&key)),
            }
        }
    }

    /// A segment is written: what there is to say of it.
    pub(super) fn let_go(&mut self, place: (usize, u32), bound: Bound, segment: &Packet) -> Option<Told> {
        self.held.remove(&(key(place, segment), bound)).flatten()
    }
}

fn key((capture, link): (usize, u32), segment: &Packet) -> Key {
    let (frame, first) = segment.place();
    (capture, link, frame, first)
}
