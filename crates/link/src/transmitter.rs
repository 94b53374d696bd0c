//! The transmitter: one segment at a time, for as long as the rate model says.

use crate::rate::Pace;
use crate::slope::Slope;
use crate::{OverheadConfig, RateConfig};
use netloom_packet::Packet;
use netloom_units::{Bytes, Duration, Instant, Rate, Seed};

/// What is being sent, and until when.
#[derive(Clone, Debug)]
pub(crate) struct Sending {
    pub(crate) segment: Packet,
    pub(crate) finish: Instant,
    /// How long it is on the transmitter in all.
    pub(crate) serialization: Duration,
    /// Whether it followed a segment that is delivered without a gap.
    pub(crate) back_to_back: bool,
    /// How long it will travel.
    pub(crate) delay: Duration,
    /// How much longer, by the rate model.
    pub(crate) more_delay: Duration,
}

impl Sending {
    /// A segment that is sent at once.
    pub(crate) fn at_once(segment: Packet, now: Instant, delay: Duration) -> Self {
        let zero = Duration::ZERO;
        Self { segment, finish: now, serialization: zero, back_to_back: false, delay, more_delay: zero }
    }

    /// When it is due, if nothing is in front of it.
    pub(crate) fn due(&self) -> Instant {
        self.finish + self.delay + self.more_delay
    }

    /// How long it made the transmitter busy behind another segment; see [`crate::Departure`].
    pub(crate) fn busy(&self) -> Duration {
        if self.back_to_back { self.serialization } else { Duration::ZERO }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Transmitter {
    /// The rate model; none: infinitely fast.
    pace: Option<Pace>,
    overhead: OverheadConfig,
    sending: Option<Sending>,
    /// When the last segment was sent to its end; none if nothing was, or if it was taken off.
    last_finish: Option<Instant>,
    /// Whether that was cross traffic, whose end is not visible.
    behind_phantom: bool,
    seed: Seed,
}

impl Transmitter {
    pub(crate) fn new(rate: &RateConfig, overhead: OverheadConfig, seed: Seed) -> Self {
        let pace = Pace::new(rate, Instant::ZERO, seed);
        Self { pace, overhead, sending: None, last_finish: None, behind_phantom: false, seed }
    }

    pub(crate) fn sending(&self) -> Option<&Sending> {
        self.sending.as_ref()
    }

    pub(crate) fn sending_mut(&mut self) -> Option<&mut Sending> {
        self.sending.as_mut()
    }

    /// The rate to reckon with; none if it is infinitely fast.
    #[inline]
    pub(crate) fn rate(&self) -> Option<Rate> {
        self.pace.as_ref().map(Pace::nominal)
    }

    /// How long the transmitter is still busy with the current segment.
    pub(crate) fn remaining(&self, now: Instant) -> Duration {
        self.sending.as_ref().map_or(Duration::ZERO, |sending| sending.finish.since(now))
    }

    /// From when on the idle transmitter takes a segment that waits for it.
    pub(crate) fn opens(&mut self, now: Instant) -> Instant {
        self.pace.as_mut().map_or(now, |pace| pace.opens(now))
    }

    /// From when on the transmitter, free at `now` after one segment, takes another that waits.
    pub(crate) fn follows(&mut self, now: Instant) -> Instant {
        self.pace.as_mut().map_or(now, |pace| pace.follows(now))
    }

    /// Starts sending `segment`, which will travel for `delay`.
    pub(crate) fn start(&mut self, segment: Packet, start: Instant, delay: Duration) {
        let back_to_back = self.last_finish == Some(start);
        let size = self.overhead.charged(segment.size());
        let serialization = self.pace.as_mut().map_or(Duration::ZERO, |pace| pace.send(start, size, back_to_back));
        let back_to_back = back_to_back && !self.behind_phantom;
        let (finish, more_delay) = (start + serialization, self.pace.as_ref().map_or(Duration::ZERO, Pace::delay));
        self.sending = Some(Sending { segment, finish, serialization, back_to_back, delay, more_delay });
    }

    /// The least delay of all that is sent from now on, beside that of the pipe.
    pub(crate) fn least_delay(&self) -> Duration {
        self.pace.as_ref().map_or(Duration::ZERO, Pace::least_delay)
    }

    /// When the current segment has been sent.
    pub(crate) fn finish(&self) -> Option<Instant> {
        self.sending.as_ref().map(|sending| sending.finish)
    }

    /// When the last segment was sent to its end; none if nothing was, or if it was taken off.
    pub(crate) fn last_finish(&self) -> Option<Instant> {
        self.last_finish
    }

    /// What has been sent.
    pub(crate) fn finished(&mut self) -> Option<Sending> {
        let sent = self.sending.take()?;
        self.last_finish = Some(sent.finish);
        self.behind_phantom = sent.segment.is_phantom();
        Some(sent)
    }

    /// Takes the current segment off the transmitter, sent or not.
    pub(crate) fn abort(&mut self) -> Option<Sending> {
        self.last_finish = None;
        let sending = self.sending.take()?;
        if let Some(pace) = &mut self.pace {
            pace.abort();
        }
        Some(sending)
    }

    /// What a packet of this length from the IP header on is charged.
    pub(crate) fn charged(&self, size: Bytes) -> Bytes {
        self.overhead.charged(size)
    }

    pub(crate) fn set_overhead(&mut self, overhead: OverheadConfig) {
        self.overhead = overhead;
    }

    /// Takes another rate. The rest of the current segment is sent at it.
    pub(crate) fn change_rate(&mut self, now: Instant, rate: &RateConfig) {
        let left = self.left(now);
        let rest = match (&mut self.pace, rate) {
            (_, RateConfig::Unlimited) => {
                self.pace = None;
                left
            }
            (Some(pace), _) => pace.change(now, rate, left, self.seed),
            (None, _) => {
                self.pace = Pace::new(rate, now, self.seed);
                left
            }
        };
        self.finish_after(now, left, rest);
    }

    /// Follows a rate that changes in a straight line, in bits per second. So does the rest of the current segment.
    pub(crate) fn follow(&mut self, now: Instant, slope: Slope) {
        let left = self.left(now);
        let rest = self.pace.get_or_insert_with(|| Pace::sloping(slope)).slope(now, slope, left);
        self.finish_after(now, left, rest);
    }

    /// The rate at `now`, if it changes in a straight line.
    pub(crate) fn on_slope(&self, now: Instant) -> Option<Rate> {
        self.pace.as_ref().and_then(|pace| pace.on_slope(now))
    }

    fn left(&self, now: Instant) -> Option<Duration> {
        self.sending.as_ref().map(|sending| sending.finish.since(now))
    }

    /// The current segment, which would have taken `left` more, takes `rest` more.
    fn finish_after(&mut self, now: Instant, left: Option<Duration>, rest: Option<Duration>) {
        if let (Some(sending), Some(left), Some(rest)) = (&mut self.sending, left, rest) {
            sending.serialization = sending.serialization - left + rest;
            sending.finish = now + rest;
        }
    }
}
