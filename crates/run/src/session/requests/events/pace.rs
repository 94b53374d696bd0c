//! Samples of lab time for a client: when they are due, and which it could not take.

use netloom_units::{Duration, Instant};

/// See the module.
#[derive(Debug)]
pub(super) struct Pace {
    every: Duration,
    next: Instant,
    /// How many were left out since the last one.
    lost: u64,
}

impl Pace {
    /// From `now` on, one every so often.
    pub(super) fn new(every: Duration, now: Instant) -> Self {
        Self { every, next: now, lost: 0 }
    }

    pub(super) fn every(&self) -> Duration {
        self.every
    }

    pub(super) fn next(&self) -> Instant {
        self.next
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.next <= now
    }

    /// One is due. If the client takes it, how many were left out before it.
    pub(super) fn step(&mut self, now: Instant, is_taken: bool) -> Option<u64> {
        let steps = now.since(self.next).as_nanos() / self.every.as_nanos() + 1;
        self.next = self.next + self.every * steps;
        if !is_taken {
            self.lost += steps;
            return None;
        }
        Some(std::mem::take(&mut self.lost) + steps - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_counted() {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let mut pace = Pace::new(Duration::from_millis(10), at(5));
        assert!(pace.is_due(at(5)) && !pace.is_due(at(4)));
        assert_eq!((pace.step(at(5), true), pace.next()), (Some(0), at(15)));
        // Two went by, and nobody took the third.
        assert_eq!((pace.step(at(37), false), pace.next()), (None, at(45)));
        assert_eq!(pace.step(at(45), true), Some(3));
    }
}
