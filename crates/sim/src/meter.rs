//! What is measured of a pipe, as a run measures it.

use crate::delays::Delays;
use netloom_link::Departure;
use netloom_units::{Duration, Instant};

/// See the module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meter {
    /// The propagation delay of packets.
    pub delays: Delays,
    /// How long the transmitter should have been busy with packets that followed one another without a gap.
    pub busy_described: Duration,
    /// How long it took until these came out.
    pub busy_measured: Duration,
    previous: Option<Instant>,
}

impl Meter {
    pub(crate) fn record(&mut self, departure: &Departure) {
        self.delays.record(departure.delay);
        let gap = self.previous.replace(departure.due).map(|previous| departure.due.since(previous));
        if let Some(gap) = gap.filter(|_| departure.back_to_back) {
            self.busy_described = self.busy_described + departure.serialization;
            self.busy_measured = self.busy_measured + gap;
        }
    }
}
