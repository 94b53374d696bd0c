//! A rate that changes in a straight line: what a linear schedule makes of two of its steps.
//!
//! A packet is sent when the integral of the rate over its transmission reaches its bits. Everything is computed in billionths
//! of a bit times twice the length of the line in nanoseconds: in this unit the integral is a whole number.

use crate::slope::Slope;
use netloom_units::{Bytes, Duration, Instant, Rate};

/// The model at work.
#[derive(Clone, Debug)]
pub(crate) struct Ramp {
    slope: Slope,
    /// What the last packet still owed when its whole nanoseconds were over.
    carry: u128,
    /// When the transmission of the last packet began, and what it needed.
    sending: Option<(Instant, u128)>,
}

impl Ramp {
    pub(crate) fn new(slope: Slope) -> Self {
        Self { slope, carry: 0, sending: None }
    }

    /// The middle of the line.
    pub(crate) fn mean(&self) -> Rate {
        rate(self.slope.from.midpoint(self.slope.to))
    }

    /// The rate at `now`, rounded down.
    pub(crate) fn at(&self, now: Instant) -> Rate {
        rate(self.slope.at(now))
    }

    /// How long a packet of `size` is on the transmitter from `start` on.
    pub(crate) fn send(&mut self, start: Instant, size: Bytes, back_to_back: bool) -> Duration {
        let carry = if back_to_back { self.carry } else { 0 };
        self.begin(start, self.unit(u128::from(size.get()) * 8_000_000_000) + carry)
    }

    /// How long so many billionths of a bit take from `start` on.
    pub(crate) fn resume(&mut self, start: Instant, owed: u128) -> Duration {
        self.begin(start, self.unit(owed))
    }

    fn unit(&self, billionths: u128) -> u128 {
        billionths.saturating_mul(2 * u128::from(self.slope.span()))
    }

    fn begin(&mut self, start: Instant, needed: u128) -> Duration {
        self.sending = Some((start, needed));
        let length = self.length(start, needed);
        self.carry = needed - self.slope.doubled_integral(start, length).min(needed);
        length
    }

    /// The longest whole number of nanoseconds in which no more is sent than is needed.
    fn length(&self, start: Instant, needed: u128) -> Duration {
        let (now, end) = (self.slope.scaled(start), self.slope.scaled(Instant::MAX));
        // At the highest rate from now on it takes at least, at the lowest at most so long.
        let bound = |rate: u128| u64::try_from(needed / rate.saturating_mul(2)).unwrap_or(u64::MAX);
        let (mut least, mut most) = (bound(now.max(end)), bound(now.min(end)));
        while least < most {
            let middle = least + (most - least).div_ceil(2);
            if self.slope.doubled_integral(start, Duration::from_nanos(middle)) <= needed {
                least = middle;
            } else {
                most = middle - 1;
            }
        }
        Duration::from_nanos(least)
    }

    /// What the packet on the transmitter still needs at `now`, in whole billionths of a bit.
    pub(crate) fn owed(&self, now: Instant) -> u128 {
        let Some((start, needed)) = self.sending else { return 0 };
        let sent = self.slope.doubled_integral(start, now.since(start));
        needed.saturating_sub(sent) / (2 * u128::from(self.slope.span()))
    }
}

fn rate(bits: u64) -> Rate {
    Rate::from_bits_per_second(bits).expect("a line between two rates has no zero")
}
