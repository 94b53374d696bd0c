//! The instants of something that happens periodically: multiples of its period since the run began.
//!
//! There is no call at these instants. Between two calls nothing arrives and nothing leaves, so the next call can
//! make up for all of them and finds what would have been found in time.

use netloom_units::{Duration, Instant};

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Ticks {
    period: Duration,
    next: Instant,
}

impl Ticks {
    /// Every `period` from the beginning of the run on.
    pub(super) fn new(period: Duration) -> Self {
        Self { period, next: Instant::ZERO + period }
    }

    /// The next instant that is not after `now`; one at `now` comes before all else that happens then.
    pub(super) fn take(&mut self, now: Instant) -> Option<Instant> {
        // An instant that cannot be represented is later than every event.
        let at = Some(self.next).filter(|next| *next <= now && *next < Instant::MAX)?;
        self.next = at + self.period;
        Some(at)
    }

    /// Passes over the instants until `now`, and says how many they are.
    pub(super) fn skip(&mut self, now: Instant) -> u64 {
        if self.next > now {
            return 0;
        }
        let periods = now.since(self.next).as_nanos() / self.period.as_nanos() + 1;
        self.next = self.next + self.period * periods;
        periods
    }

    /// The next instant stays, and those behind it follow by another period.
    pub(super) fn set_period(&mut self, period: Duration) {
        self.period = period;
    }
}
