//! What the engine measures of each pipe while it hands packets over.

use crate::report::Distribution;
use netloom_fabric::PipeId;
use netloom_link::Departure;
use netloom_units::{Duration, Instant};

/// A pause longer than this between two packets that were sent back to back says nothing of the rate: the run's clock
/// was stopped, or the machine was asleep. It is counted as lateness, not as rate.
const LONGEST_GAP: Duration = Duration::from_secs(10);

/// One per pipe.
#[derive(Debug, Default)]
pub(crate) struct Meters(Vec<Meter>);

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
    pub(crate) fn new(pipes: usize) -> Self {
        Self(vec![Meter::default(); pipes])
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Meter> {
        self.0.iter()
    }

    pub(crate) fn record(&mut self, pipe: PipeId, departure: &Departure, handed: Instant) {
        self.0[pipe.0 as usize].record(departure, handed);
    }

    /// Forgets what was measured, as if the engine had just started.
    pub(crate) fn reset(&mut self) {
        for meter in &mut self.0 {
            *meter = Meter::default();
        }
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
