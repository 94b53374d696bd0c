//! Bursts and silence of Pareto length. Many such sources together give self-similar traffic (Willinger, Taqqu,
//! Sherman and Wilson 1997: with a shape from 1 to 2 the Hurst parameter is (3 - shape) / 2).

use super::{MOST_SOURCES, Step, Stream};
use crate::ConfigError;
use crate::spans::Spans;
use alloc::format;
use netloom_units::{Bytes, Duration, Serializer};

/// Sources that send at a constant rate or not at all.
///
/// Each begins with silence. Its bursts, put end to end, carry its rate exactly: what a burst has no time for any more
/// comes at the beginning of the next.
#[derive(Clone, Debug, PartialEq)]
pub struct OnOff {
    /// The rate and the packet sizes of one source during a burst.
    pub stream: Stream,
    /// The mean length of bursts.
    pub on: Duration,
    /// The mean length of silence.
    pub off: Duration,
    /// The shape of both distributions, above 1; up to 2 their variance is infinite.
    pub shape: f64,
    /// The number of such sources, each on its own.
    pub sources: u16,
}

impl OnOff {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.stream.check()?;
        if !(self.shape > 1.0 && self.shape.is_finite()) {
            let message = format!("{} is not above 1, and bursts would be infinitely long on average", self.shape);
            return Err(ConfigError::new("shape", message));
        }
        if !(1..=MOST_SOURCES).contains(&self.sources) {
            let message = format!("{} is not a number of sources: 1 to {MOST_SOURCES}", self.sources);
            return Err(ConfigError::new("sources", message));
        }
        if self.off.is_zero() {
            return Err(ConfigError::new("off", "silence without length: a source of kind constant has none"));
        }
        let packet = self.stream.mean_gap();
        if (self.on.as_nanos() as f64) < packet {
            let (on, rate) = (self.on, self.stream.rate);
            let packet = Duration::from_nanos(libm::ceil(packet) as u64);
            let message = format!("{on} is too short for a burst: at {rate} a packet takes {packet} on average");
            return Err(ConfigError::new("on", message));
        }
        // The shortest burst of that distribution: most are hardly longer where the shape is close to 1.
        if self.on.as_nanos() as f64 * (self.shape - 1.0) / self.shape < 1.0 {
            let message =
                format!("with {} most bursts would be shorter than a nanosecond: write more than 1.01", self.shape);
            return Err(ConfigError::new("shape", message));
        }
        Ok(())
    }
}

/// Where one source is in its bursts.
#[derive(Clone, Debug)]
pub(super) struct Bursts {
    stream: Stream,
    serializer: Serializer,
    /// Mean lengths in nanoseconds.
    on: f64,
    off: f64,
    shape: f64,
    /// What is left of the current burst.
    left: Duration,
}

impl Bursts {
    pub(super) fn new(config: &OnOff) -> Self {
        Self {
            stream: config.stream.clone(),
            serializer: Serializer::default(),
            on: config.on.as_nanos() as f64,
            off: config.off.as_nanos() as f64,
            shape: config.shape,
            left: Duration::ZERO,
        }
    }

    /// The first packet, at the beginning of the first burst.
    pub(super) fn first(&mut self, spans: &mut Spans) -> Step {
        self.step(Duration::ZERO, spans)
    }

    /// What follows a packet of size `sent`.
    pub(super) fn next(&mut self, sent: Bytes, spans: &mut Spans) -> Step {
        let busy = self.serializer.next(self.stream.rate, sent);
        self.step(busy, spans)
    }

    /// The packet that comes after the source was `busy` for so long.
    fn step(&mut self, mut busy: Duration, spans: &mut Spans) -> Step {
        let mut gap = Duration::ZERO;
        while busy >= self.left {
            busy = busy - self.left;
            gap = gap + self.left + spans.pareto(self.off, self.shape);
            self.left = spans.pareto(self.on, self.shape);
        }
        self.left = self.left - busy;
        Step { gap: gap + busy, size: self.stream.size.draw(spans) }
    }
}
