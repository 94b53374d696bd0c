//! What a look at a pipe tells.

use super::Pipe;
use crate::PipeCounters;
use crate::drop_log::DropLog;
use crate::transits::Delays;
use netloom_units::{Bytes, Duration, Instant, Rate};

/// The state of a pipe at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipeSample {
    /// The pipe's counters.
    pub counters: PipeCounters,
    /// The rate at which the pipe sends: of a delivery trace its mean, none if it is unlimited.
    pub rate: Option<Rate>,
    /// The queueing delay: how long what waits, cross traffic included, takes until it is sent at that rate, and what is being
    /// sent takes to its end. None without a rate.
    pub queueing: Option<Duration>,
    /// The delays from one end to the other of the packets that arrived since the sample before, if the log
    /// [measures](DropLog::measure_delays) them.
    pub delays: Option<Delays>,
}

impl Pipe {
    /// Returns the pipe's counters, as they stand now.
    #[inline]
    pub fn counters(&self) -> &PipeCounters {
        &self.counters
    }

    /// Begins counting anew at `now`, before anything happens then. What is inside is counted as such, and journals hear of it at
    /// the same place among their notes.
    pub fn begin_counting(&mut self, now: Instant, drop_log: &mut DropLog) {
        if now > Instant::ZERO {
            self.run_until(now - Duration::from_nanos(1), drop_log);
        }
        self.counters.begin();
        if let Some(air) = &mut self.air {
            air.begin_counting(now);
        }
        drop_log.begin(now);
    }

    /// Returns the state of the pipe at `now`, when all that happens until then has happened.
    pub fn sample(&mut self, now: Instant, drop_log: &mut DropLog) -> PipeSample {
        self.run_until(now, drop_log);
        let rate = self.transmitter.on_slope(now).or_else(|| self.transmitter.rate());
        PipeSample {
            counters: self.counters,
            rate,
            queueing: rate.map(|rate| self.transmitter.remaining(now) + self.sending_time(rate)),
            delays: drop_log.take_delays(now),
        }
    }

    /// How long all that waits takes at this rate, as if all its packets were equally long.
    fn sending_time(&self, rate: Rate) -> Duration {
        let (own, cross) = (self.counters.queued, self.counters.cross.queued);
        let (packets, bytes) = (own.packets + cross.packets, own.bytes + cross.bytes);
        let Some(mean) = bytes.checked_div(packets) else { return Duration::ZERO };
        // A rest of the division is charged as it is.
        let charged = self.transmitter.charged(Bytes::new(mean)).get().saturating_mul(packets) + bytes % packets;
        rate.serialization_delay(Bytes::new(charged))
    }
}
