//! What the schedule does to a pipe.

use super::Pipe;
use crate::delay::Distribution;
use crate::drop_log::DropLog;
use crate::schedule::Leg;
use crate::slope::Slope;
use crate::{DelayConfig, PipeChange, RateConfig};
use netloom_units::{Duration, Instant, Limit, Probability, Rate};

/// What changes in a straight line beside the rate.
#[derive(Clone, Debug, Default)]
pub(super) struct Slopes {
    delay: Option<Slope>,
    loss: Option<Slope>,
}

impl Slopes {
    /// What is set holds until the next step of the schedule that names it.
    pub(super) fn leave(&mut self, change: &PipeChange) {
        self.delay = self.delay.filter(|_| change.delay.is_none());
        self.loss = self.loss.filter(|_| change.loss.is_none());
    }

    /// The least delay from `now` until the next step of the delay, if it changes in a straight line.
    pub(super) fn least_delay(&self, now: Instant) -> Option<Duration> {
        self.delay.map(|slope| Duration::from_nanos(slope.at(now).min(slope.to)))
    }
}

impl Pipe {
    /// A step of the schedule.
    pub(super) fn step(&mut self, leg: &Leg, drop_log: &mut DropLog) {
        if let Some(delay) = leg.delay {
            self.set_delay(Duration::from_nanos(delay.from));
            self.slopes.delay = (!delay.is_flat()).then_some(delay);
        }
        if let Some(loss) = leg.loss {
            self.impairments.lose(probability(loss.from));
            self.slopes.loss = (!loss.is_flat()).then_some(loss);
        }
        match leg.rate {
            Some(rate) if rate.is_flat() => {
                self.change_rate(&Rate::from_bits_per_second(rate.from).into(), drop_log);
            }
            Some(rate) => {
                self.transmitter.follow(self.now, rate);
                self.look_for_opening(self.now);
            }
            None => {}
        }
        self.set_sloping_delay();
        if let Some(limit) = leg.queue {
            self.set_limit(limit, drop_log);
        }
    }

    /// What waits keeps its order, and what no longer fits is dropped. A discipline that was chosen since, and that has
    /// no such limit, stays as it is.
    fn set_limit(&mut self, limit: Limit, drop_log: &mut DropLog) {
        if let Some(queue) = self.discipline.with_limit(limit) {
            self.change_queue(&queue, drop_log);
        }
    }

    fn set_delay(&mut self, delay: Duration) {
        let order = self.delay.order();
        self.delay.configure(DelayConfig {
            distribution: Distribution::Constant(delay),
            order,
            ..DelayConfig::default()
        });
        if let Some(sending) = self.transmitter.sending_mut() {
            sending.delay = delay;
        }
    }

    /// The delay of a packet that is sent to its end at `finish`, if the delay changes in a straight line.
    pub(super) fn sloping_delay(&self, finish: Instant) -> Option<Duration> {
        self.slopes.delay.map(|slope| Duration::from_nanos(slope.at(finish)))
    }

    /// The segment on the transmitter has a finish, new or moved, and with it a delay if that changes in a straight line.
    pub(super) fn set_sloping_delay(&mut self) {
        if self.slopes.delay.is_none() {
            return;
        }
        let finish = self.transmitter.finish();
        let delay = finish.and_then(|finish| self.sloping_delay(finish));
        if let (Some(delay), Some(sending)) = (delay, self.transmitter.sending_mut()) {
            sending.delay = delay;
        }
    }

    /// A packet arrives and meets the loss of this instant.
    pub(super) fn set_sloping_loss(&mut self) {
        if let Some(slope) = self.slopes.loss {
            self.impairments.lose(probability(slope.at(self.now)));
        }
    }

    /// The schedule ends: what changed in a straight line stays as it is now.
    pub(super) fn end_slopes(&mut self, drop_log: &mut DropLog) {
        self.set_sloping_loss();
        if let Some(delay) = self.sloping_delay(self.now) {
            self.set_delay(delay);
        }
        self.slopes = Slopes::default();
        if let Some(rate) = self.transmitter.on_slope(self.now) {
            self.change_rate(&RateConfig::Constant(rate), drop_log);
        }
    }

    /// In an idle pipe, steps that are replaced until `end` do nothing: after a long silence they are not made up for.
    pub(super) fn skip_steps(&mut self, end: Instant) {
        let Some(internal_events) = &mut self.internal_events else { return };
        if self.transmitter.sending().is_none() && self.queue.is_empty() {
            internal_events.skip(end);
        }
    }
}

fn probability(parts: u64) -> Probability {
    Probability::from_parts_per_trillion(parts).expect("it lies between two probabilities")
}
