//! Looks at all pipes at once.

use super::Fabric;
use crate::Place;
use netloom_link::{PipeSample, SampledPackets};
use netloom_units::{Duration, Instant};

impl Fabric {
    /// Starts or stops measuring how long packets take through each pipe.
    pub fn measure_delays(&mut self, wanted: bool) {
        self.drop_log.measure_delays(wanted);
    }

    /// Returns the state of each pipe at `now`, in order of ids, when all that happens until then has happened. What is injected
    /// afterwards enters at `now` or later.
    pub fn sample(&mut self, now: Instant) -> impl Iterator<Item = PipeSample> + '_ {
        self.let_enter(now);
        let Self { pipes, drop_log, .. } = self;
        pipes.iter_mut().zip(0..).map(move |(pipe, number)| pipe.sample(now, drop_log.of(number)))
    }

    /// Starts sampling packets of each pipe that come in at least `step` apart; none stops sampling. See [`Fabric::sampled_packets`].
    pub fn sample_packets(&mut self, step: Option<Duration>) {
        self.drop_log.sample_packets(step);
    }

    /// Returns the records of sampled packets since the last call: what has become of them until `now`. Pipes are numbered as
    /// those of [`Fabric::notes`]. What is injected afterwards enters at `now` or later.
    pub fn sampled_packets(&mut self, now: Instant) -> SampledPackets {
        // Pipes put off what is not visible.
        self.settle(now);
        let Self { drop_log, places, .. } = self;
        let mut sampled = drop_log.sampled_packets();
        if let Some(places) = places {
            // The shard that has the pipe tells of it.
            sampled.packets.retain_mut(|packet| {
                let place = places[packet.pipe as usize];
                let (Place::Own(pipe) | Place::Inlet(pipe)) = place;
                packet.pipe = pipe.0;
                matches!(place, Place::Own(_))
            });
        }
        sampled
    }
}
