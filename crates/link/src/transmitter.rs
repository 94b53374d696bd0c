//! The transmitter: one segment at a time, each for its exact serialization time.

use netloom_packet::Packet;
use netloom_units::{Duration, Instant, Rate, Serializer};

/// What is being sent, and until when.
#[derive(Debug)]
pub(crate) struct Sending {
    pub(crate) segment: Packet,
    pub(crate) finish: Instant,
    /// How long it is on the transmitter in all.
    pub(crate) serialization: Duration,
    /// Whether it followed the segment before it without a gap.
    pub(crate) back_to_back: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Transmitter {
    serializer: Serializer,
    sending: Option<Sending>,
}

impl Transmitter {
    pub(crate) fn sending(&self) -> Option<&Sending> {
        self.sending.as_ref()
    }

    /// How long the transmitter is still busy with the current segment.
    pub(crate) fn remaining(&self, now: Instant) -> Duration {
        self.sending.as_ref().map_or(Duration::ZERO, |sending| sending.finish.since(now))
    }

    /// Starts sending `segment` at `start`. `back_to_back`: the segment before ended at that very instant, and its
    /// fraction of a nanosecond is carried on.
    pub(crate) fn start(&mut self, segment: Packet, start: Instant, rate: Rate, back_to_back: bool) {
        if !back_to_back {
            self.serializer.restart();
        }
        let serialization = self.serializer.next(rate, segment.size());
        self.sending = Some(Sending { segment, finish: start + serialization, serialization, back_to_back });
    }

    /// What has been sent by `now`.
    pub(crate) fn finished(&mut self, now: Instant) -> Option<Sending> {
        self.sending.take_if(|sending| sending.finish <= now)
    }

    /// Takes the current segment off the transmitter, sent or not.
    pub(crate) fn abort(&mut self) -> Option<Sending> {
        self.sending.take()
    }

    /// Sends the rest of the current segment at another rate.
    pub(crate) fn change_rate(&mut self, now: Instant, old: Rate, new: Rate) {
        self.serializer.restart();
        if let Some(sending) = &mut self.sending {
            let left = u128::from(sending.finish.since(now).as_nanos());
            let scaled = (left * u128::from(old.as_bits_per_second())).div_ceil(u128::from(new.as_bits_per_second()));
            let rest = Duration::from_nanos(u64::try_from(scaled).unwrap_or(u64::MAX));
            sending.serialization = sending.serialization - sending.finish.since(now) + rest;
            sending.finish = now + rest;
        }
    }
}
