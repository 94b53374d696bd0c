//! Which pipe wants to be called next: a binary heap that knows where each pipe stands in it.
//!
//! Idle pipes are not in the heap and cost nothing.

use crate::PipeId;
use alloc::{vec, vec::Vec};
use netloom_units::Instant;

const ABSENT: u32 = u32::MAX;

#[derive(Debug)]
pub(crate) struct Wakes {
    heap: Vec<(Instant, PipeId)>,
    /// Where each pipe stands in the heap, or `ABSENT`.
    places: Vec<u32>,
}

impl Wakes {
    pub(crate) fn new(pipes: usize) -> Self {
        Self { heap: Vec::with_capacity(pipes), places: vec![ABSENT; pipes] }
    }

    pub(crate) fn first(&self) -> Option<(Instant, PipeId)> {
        self.heap.first().copied()
    }

    /// Sets when `pipe` wants to be called; none takes it out.
    pub(crate) fn set(&mut self, pipe: PipeId, wake: Option<Instant>) {
        let place = self.places[pipe.0 as usize];
        match (wake, place) {
            (None, ABSENT) => {}
            (None, at) => self.remove(at as usize),
            (Some(instant), ABSENT) => {
                self.heap.push((instant, pipe));
                self.up(self.heap.len() - 1);
            }
            (Some(instant), at) => {
                let at = at as usize;
                let before = core::mem::replace(&mut self.heap[at].0, instant);
                if instant == before {
                    return;
                }
                let earlier = instant < before;
                if earlier {
                    self.up(at);
                } else {
                    self.down(at);
                }
            }
        }
    }

    fn remove(&mut self, at: usize) {
        let (_, pipe) = self.heap.swap_remove(at);
        self.places[pipe.0 as usize] = ABSENT;
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
        self.places[self.heap[at].1.0 as usize] = u32::try_from(at).expect("fewer than 2^32 pipes");
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
            wakes.set(PipeId(u32::try_from(pipe).expect("few")), instant);
            naive[pipe] = instant;
            let least = naive.iter().enumerate().filter_map(|(index, wake)| wake.map(|at| (at, index))).min();
            assert_eq!(wakes.first().map(|(at, id)| (at, id.0 as usize)), least);
        }
    }
}
