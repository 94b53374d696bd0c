//! Puts packets into order by when their fates were certain.

use super::record::Record;
use super::tracker::Fated;
use netloom_units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What decides: when, in which pipe, the how many-th of it, which segment of its frame; and where it is held.
type Key = (Instant, u32, u64, u16, usize);

/// See the module. Packets wait here until it is known that no earlier one will come.
#[derive(Debug, Default)]
pub(super) struct Order {
    keys: BinaryHeap<Reverse<Key>>,
    held: Vec<Record>,
    free: Vec<usize>,
    newest: Instant,
}

impl Order {
    pub(super) fn push(&mut self, fated: Fated) {
        let Fated { end, number, segment, record } = fated;
        self.newest = self.newest.max(end);
        let pipe = record.pipe;
        let place = match self.free.pop() {
            Some(place) => {
                self.held[place] = record;
                place
            }
            None => {
                self.held.push(record);
                self.held.len() - 1
            }
        };
        self.keys.push(Reverse((end, pipe, number, segment, place)));
    }

    /// The latest instant that it has seen.
    pub(super) fn newest(&self) -> Instant {
        self.newest
    }

    /// The next of those before `until`, and its instant.
    pub(super) fn pop(&mut self, until: Instant) -> Option<(Instant, &Record)> {
        let Reverse((end, .., place)) = *self.keys.peek()?;
        if end >= until {
            return None;
        }
        self.keys.pop();
        self.free.push(place);
        Some((end, &self.held[place]))
    }
}
