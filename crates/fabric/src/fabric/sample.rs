//! Looks at all pipes at once.

use super::Fabric;
use netloom_link::PipeSample;
use netloom_units::Instant;

impl Fabric {
    /// From now on it is measured how long packets take through each pipe, or not any more.
    pub fn measure_delays(&mut self, wanted: bool) {
        self.drop_log.measure_delays(wanted);
    }

    /// What each pipe shows at `now`, in order of ids, when all that happens until then has happened. What is injected afterwards
    /// enters at `now` or later.
    pub fn sample(&mut self, now: Instant) -> impl Iterator<Item = PipeSample> + '_ {
        let Self { pipes, drop_log, .. } = self;
        pipes.iter_mut().zip(0..).map(move |(pipe, number)| pipe.sample(now, drop_log.of(number)))
    }
}
