//! A constant rate: one segment at a time, each for its exact serialization time.
//!
//! Parameter: the rate in bits per second, 1 and above. Source: dummynet (Rizzo 1997, section 2).

use netloom_units::{Bytes, Duration, Rate, Serializer};

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Constant {
    rate: Rate,
    serializer: Serializer,
    /// The rate changed since the last packet: what that owed is no longer known in bits.
    fresh: bool,
}

impl Constant {
    pub(crate) fn new(rate: Rate) -> Self {
        Self { rate, serializer: Serializer::default(), fresh: true }
    }

    pub(crate) fn rate(&self) -> Rate {
        self.rate
    }

    /// If the packet before ended at the very instant at which this one starts, whether this one waited for it or
    /// arrives only now, its fraction of a nanosecond is carried on.
    pub(crate) fn send(&mut self, size: Bytes, back_to_back: bool) -> Duration {
        let fresh = core::mem::take(&mut self.fresh);
        if fresh || !back_to_back {
            self.serializer.restart();
        }
        self.serializer.next(self.rate, size)
    }

    /// Takes another rate; what an idle transmitter owes is less than a nanosecond at the old rate, but not at the new.
    pub(crate) fn change(&mut self, rate: Rate) {
        self.rate = rate;
        self.fresh = true;
    }

    /// What the packet on the transmitter still needs in billionths of a bit when it takes `left` more.
    pub(crate) fn owed(&self, left: Duration) -> u128 {
        self.serializer.owed(left, self.rate)
    }

    /// How long the rest of a packet takes.
    pub(crate) fn resume(&mut self, owed: u128) -> Duration {
        self.fresh = false;
        self.serializer.rest(self.rate, owed)
    }
}
