//! What is measured of each pipe while packets are handed over.

use crate::distribution::Distribution;
use crate::report::PipeReport;
use netloom_fabric::PipeId;
use netloom_link::{Departure, PipeCounters};
use netloom_units::{Duration, Instant};

/// A pause longer than this between two packets that were sent back to back says nothing of the rate: the run's clock
/// was stopped, or the machine was asleep. It is counted as lateness, not as rate.
const LONGEST_GAP: Duration = Duration::from_secs(10);

/// How late packets were handed over, how long they took, and at which rate: for each pipe.
#[derive(Debug, Default)]
pub struct Meters(Vec<Meter>);

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter {
    /// How late packets were handed over, against their due instants.
    pub(crate) lateness: Distribution,
    /// The propagation delay that packets really had.
    pub(crate) delay: Distribution,
    /// How long the transmitter should have been busy with the segments that followed one another without a gap.
    pub(crate) busy_described: Duration,
    /// How long it took until these segments were handed over.
    pub(crate) busy_measured: Duration,
    previous: Option<Instant>,
}

impl Meters {
    /// Nothing was measured yet.
    pub fn new(pipes: usize) -> Self {
        Self(vec![Meter::default(); pipes])
    }

    /// A packet left its pipe, and was handed over at `handed`.
    ///
    /// # Panics
    /// If there is no such pipe.
    pub fn record(&mut self, pipe: PipeId, departure: &Departure, handed: Instant) {
        self.0[pipe.0 as usize].record(departure, handed);
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
            busy_described: meter.busy_described,
            busy_measured: meter.busy_measured,
        };
        counters.zip(&self.0).map(report).collect()
    }
}

impl Meter {
    fn record(&mut self, departure: &Departure, handed: Instant) {
        let segments = departure.packet.segments();
        self.lateness.record(handed.since(departure.due), segments);
        self.delay.record(departure.delay + handed.since(departure.first_due), segments);
        let gap = self.previous.replace(handed).map(|previous| handed.since(previous));
        if let Some(gap) = gap.filter(|&gap| departure.back_to_back && gap < LONGEST_GAP) {
            self.busy_described = self.busy_described + departure.serialization;
            self.busy_measured = self.busy_measured + gap;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_packet::{Pool, VirtioHeader};

    fn departure(due_us: u64, back_to_back: bool) -> Departure {
        let due = Instant::from_nanos(due_us * 1_000);
        Departure {
            packet: Pool::new(0, 0).packet(VirtioHeader::COMPLETE, &[0; 1_514]),
            due,
            first_due: due,
            delay: Duration::from_millis(20),
            serialization: Duration::from_micros(120),
            back_to_back,
        }
    }

    /// Packets of 120 us each that are handed over 10 us late, and from the third on 40 us late: the delay shows both,
    /// the rate only the 30 us that the third took too long.
    #[test]
    fn lateness_shows_in_the_delay_and_its_growth_in_the_rate() {
        let mut meter = Meter::default();
        for (index, late_us) in [(0, 10), (1, 10), (2, 40), (3, 40)] {
            let departure = departure(index * 120, index > 0);
            meter.record(&departure, departure.due + Duration::from_micros(late_us));
        }
        assert_eq!(meter.busy_described, Duration::from_micros(360));
        assert_eq!(meter.busy_measured, Duration::from_micros(390));
        assert_eq!(meter.lateness.mean(), Some(Duration::from_micros(25)));
        assert_eq!(meter.delay.mean(), Some(Duration::from_micros(20_025)));
    }

    #[test]
    fn a_packet_behind_an_idle_time_says_nothing_of_the_rate() {
        let mut meter = Meter::default();
        for index in [0, 1_000] {
            let departure = departure(index * 120, false);
            meter.record(&departure, departure.due);
        }
        assert_eq!(meter.busy_measured, Duration::ZERO);
    }
}
