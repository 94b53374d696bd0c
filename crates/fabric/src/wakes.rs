//! What of many wants to be called next, as pipes and the sources of a simulation: a binary heap that knows where each stands in it.
//!
//! What is idle is not in the heap and costs nothing.

use alloc::{vec, vec::Vec};
use netloom_units::Instant;

const ABSENT: u32 = u32::MAX;

/// The instants at which things that have numbers want to be called.
#[derive(Clone, Debug)]
pub struct Wakes {
    /// When, whether in a later round of that instant, and which number.
    heap: Vec<(Instant, bool, u32)>,
    /// Where each number stands in the heap, or `ABSENT`.
    places: Vec<u32>,
}

impl Wakes {
    /// So many, numbered from zero, none of which wants to be called.
    pub fn new(count: usize) -> Self {
        Self { heap: Vec::with_capacity(count), places: vec![ABSENT; count] }
    }

    /// Returns the number that wants to be called first, the smallest of several at one instant, and when.
    #[inline]
    pub fn first(&self) -> Option<(Instant, u32)> {
        self.heap.first().map(|(instant, _, number)| (*instant, *number))
    }

    /// Returns whether the first of all wants to be called in a later round.
    pub(crate) fn is_first_later(&self) -> bool {
        self.heap.first().is_some_and(|(_, is_later, _)| *is_later)
    }

    /// Sets when `number` wants to be called; none takes it out.
    ///
    /// # Panics
    /// If there are not so many.
    #[inline]
    pub fn set(&mut self, number: u32, wake: Option<Instant>) {
        self.set_in_round(number, wake, false);
    }

    /// The same, and whether it comes in a later round, behind all others of that instant that do not.
    pub(crate) fn set_in_round(&mut self, number: u32, wake: Option<Instant>, is_later: bool) {
        let place = self.places[number as usize];
        match (wake, place) {
            (None, ABSENT) => {}
            (None, at) => self.remove(at as usize),
            (Some(instant), ABSENT) => {
                self.heap.push((instant, is_later, number));
                self.up(self.heap.len() - 1);
            }
            (Some(instant), at) => {
                let at = at as usize;
                let (before, was_later, _) = self.heap[at];
                if (instant, is_later) == (before, was_later) {
                    return;
                }
                self.heap[at] = (instant, is_later, number);
                if (instant, is_later) < (before, was_later) {
                    self.up(at);
                } else {
                    self.down(at);
                }
            }
        }
    }

    fn remove(&mut self, at: usize) {
        let (_, _, number) = self.heap.swap_remove(at);
        self.places[number as usize] = ABSENT;
        if at < self.heap.len() {
            // One of the two finds its neighbours in order already, whichever way the entry had to go.
            self.up(at);
            self.down(at);
        }
    }

    fn up(&mut self, mut at: usize) {
        while at > 0 && self.heap[at] < self.heap[(at - 1) / 2] {
            self.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
        self.note(at);
    }

    fn down(&mut self, mut at: usize) {
        loop {
            let children = 2 * at + 1..(2 * at + 3).min(self.heap.len());
            if children.is_empty() {
                break;
            }
            let Some(least) = children.min_by_key(|&child| self.heap[child]) else { break };
            if self.heap[at] <= self.heap[least] {
                break;
            }
            self.swap(at, least);
            at = least;
        }
        self.note(at);
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.note(a);
        self.note(b);
    }

    fn note(&mut self, at: usize) {
        self.places[self.heap[at].2 as usize] = u32::try_from(at).expect("fewer than 2^32 of them");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a plain list: after every change the first is the least of all.
    #[test]
    fn the_first_is_always_the_least() {
        let pipes = 17;
        let mut wakes = Wakes::new(pipes);
        let mut naive: Vec<Option<Instant>> = vec![None; pipes];
        let mut state: u64 = 1;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let pipe = (state >> 33) as usize % pipes;
            let instant = (!(state >> 20).is_multiple_of(4)).then(|| Instant::from_nanos((state >> 40) % 50));
            wakes.set(u32::try_from(pipe).expect("few"), instant);
            naive[pipe] = instant;
            let least = naive.iter().enumerate().filter_map(|(index, wake)| wake.map(|at| (at, index))).min();
            assert_eq!(wakes.first().map(|(at, number)| (at, number as usize)), least);
        }
    }
}
