//! What is measured of a pipe, as a run measures it.

use netloom_figures::Histogram;
use netloom_link::Departure;
use netloom_units::Duration;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meter {
    /// The propagation delay of packets.
    pub delays: Histogram<3>,
    /// How long the transmitter was busy with packets that followed one another without a gap. In a simulation every packet
    /// comes out when it is due, so that is as long as described.
    pub busy: Duration,
}

impl Meter {
    pub(crate) fn record(&mut self, departure: &Departure) {
        self.delays.record(departure.delay);
        self.busy = self.busy + departure.busy;
    }
}
