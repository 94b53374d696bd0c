//! The measurements of each pipe as packets are delivered.

use crate::distribution::Distribution;
use crate::report::PipeReport;
use netloom_fabric::PipeId;
use netloom_link::{Departure, PipeCounters};
use netloom_units::{Duration, Instant};

/// Packets that are later than those before them by more than this say nothing about the rate: the run's clock was
/// stopped, or the machine was asleep. It is counted as lateness, not as rate.
const LONGEST_GAP_NS: i64 = 10_000_000_000;

/// How late packets were delivered, how long they took, and at which rate: for each pipe.
#[derive(Debug, Default)]
pub struct Meters(Vec<Meter>);

/// See the module.
///
/// The rate is that of the transmitter: what happens to packets behind it, where they travel for different times, overtake
/// each other or wait for each other, is no matter of the rate. A pipe computes when each transmission ends, and it ended in
/// fact as much later as the packet was delivered later than due. So packets that are sent one behind the other took as
/// much longer than described as the last of them was later than the first. What is made up for afterwards was no lower
/// rate: it was lateness, and is judged as such. Else every burst of a few microseconds would have a rate of its own,
/// which is that at which the kernel takes packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter {
    /// How late packets were delivered, against their due instants.
    lateness: Distribution,
    /// The propagation delay that packets really had.
    delay: Distribution,
    /// How long the transmitter should have been busy with what was delivered of the segments that followed one another
    /// without a gap.
    busy: Duration,
    /// The same of what the engine lost.
    wasted: Duration,
    /// How much of the present lateness came about while the transmitter was busy: nanoseconds.
    slipped: i64,
    /// How late the packet before was, in nanoseconds.
    previous: Option<i64>,
}

impl Meters {
    /// Nothing was measured yet.
    pub fn new(pipes: usize) -> Self {
        Self(vec![Meter::default(); pipes])
    }

    /// A packet left its pipe, and was delivered at `handed`.
    ///
    /// # Panics
    /// If there is no such pipe.
    pub fn record(&mut self, pipe: PipeId, departure: &Departure, handed: Instant) {
        self.0[pipe.0 as usize].record(departure, handed);
    }

    /// A packet left its pipe and was lost behind it: the time in which it was sent was for nothing.
    pub(crate) fn lose(&mut self, pipe: PipeId, departure: &Departure) {
        let meter = &mut self.0[pipe.0 as usize];
        meter.wasted = meter.wasted + departure.busy;
    }

    /// Forgets what was measured.
    pub fn reset(&mut self) {
        for meter in &mut self.0 {
            *meter = Meter::default();
        }
    }

    /// What was measured of each pipe, beside what its model counted.
    pub fn reports<'a>(&self, counters: impl Iterator<Item = &'a PipeCounters>) -> Vec<PipeReport> {
        let report = |(counted, meter): (&PipeCounters, &Meter)| PipeReport {
            counters: *counted,
            lateness: meter.lateness.clone(),
            delay: meter.delay.clone(),
            busy_described: meter.busy,
            busy_measured: meter.busy_measured(),
        };
        counters.zip(&self.0).map(report).collect()
    }
}

impl Meter {
    fn record(&mut self, departure: &Departure, handed: Instant) {
        let segments = departure.packet.segments();
        let late = handed.since(departure.due);
        self.lateness.record(late, segments);
        self.delay.record(departure.delay + handed.since(departure.first_due), segments);
        let late = i64::try_from(late.as_nanos()).unwrap_or(i64::MAX);
        let slipped = self.previous.replace(late).map(|previous| late - previous);
        if let Some(slipped) = slipped.filter(|slipped| !departure.busy.is_zero() && slipped.abs() < LONGEST_GAP_NS) {
            self.busy = self.busy + departure.busy;
            self.slipped = self.slipped.saturating_add(slipped.max(0));
        }
        self.slipped = self.slipped.min(late);
    }

    /// How long the transmitter was busy in fact.
    fn busy_measured(&self) -> Duration {
        let described = self.busy + self.wasted;
        Duration::from_nanos(described.as_nanos().saturating_add_signed(self.slipped))
    }
}

#[cfg(test)]
mod tests;
