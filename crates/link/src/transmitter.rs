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
    /// When the last segment was sent to its end; none if nothing was, or if it was taken off.
    last_finish: Option<Instant>,
}

impl Transmitter {
    pub(crate) fn sending(&self) -> Option<&Sending> {
        self.sending.as_ref()
    }

    /// How long the transmitter is still busy with the current segment.
    pub(crate) fn remaining(&self, now: Instant) -> Duration {
        self.sending.as_ref().map_or(Duration::ZERO, |sending| sending.finish.since(now))
    }

    /// Starts sending `segment` at `start`. If the segment before ended at that very instant, whether this one waited
    /// for it or arrives only now, its fraction of a nanosecond is carried on.
    pub(crate) fn start(&mut self, segment: Packet, start: Instant, rate: Rate) {
        let back_to_back = self.last_finish == Some(start);
        if !back_to_back {
            self.serializer.restart();
        }
        let serialization = self.serializer.next(rate, segment.size());
        self.sending = Some(Sending { segment, finish: start + serialization, serialization, back_to_back });
    }

    /// What has been sent by `now`.
    pub(crate) fn finished(&mut self, now: Instant) -> Option<Sending> {
        let sent = self.sending.take_if(|sending| sending.finish <= now)?;
        self.last_finish = Some(sent.finish);
        Some(sent)
    }

    /// Takes the current segment off the transmitter, sent or not.
    pub(crate) fn abort(&mut self) -> Option<Sending> {
        self.last_finish = None;
        self.sending.take()
    }

    /// Sends the rest of the current segment at another rate.
    pub(crate) fn change_rate(&mut self, now: Instant, old: Rate, new: Rate) {
        let Some(sending) = &mut self.sending else {
            // What an idle transmitter still owes is less than a nanosecond at the old rate, but not at the new one.
            self.last_finish = None;
            return;
        };
        let left = sending.finish.since(now);
        let rest = self.serializer.change_rate(left, old, new);
        sending.serialization = sending.serialization - left + rest;
        sending.finish = now + rest;
    }
}
