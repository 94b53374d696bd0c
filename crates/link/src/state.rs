//! The state of a link, up or down: flapping, and what a cut does to packets on the wire.
//!
//! A pipe is up only if neither the user, the timeline, its own flapping nor a node that has stopped has cut it. Each joins only what
//! it has cut itself. Flapping lines are what routing protocols are tried with; the times up and down of a line are
//! either constant or exponentially distributed, as in the two-state model of a repairable line (an alternating
//! renewal process; Cox 1962, chapter 7).

use crate::ConfigError;
use crate::spans::Spans;
use alloc::format;
use netloom_units::{Duration, Instant, Seed};

/// When the pipe is cut and restored by itself, and what a cut does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateConfig {
    /// The effect of a cut on packets that have left the transmitter.
    pub on_the_wire: OnTheWire,
    /// The flapping of the pipe; none: it is not cut and restored by itself.
    pub flap: Option<FlapConfig>,
}

/// The effect of a cut on packets that have left the transmitter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnTheWire {
    /// The packets arrive.
    #[default]
    Delivered,
    /// The packets are dropped, and counted as such.
    Lost,
}

/// How a pipe is cut and restored by itself, again and again.
#[derive(Clone, Debug, PartialEq)]
pub struct FlapConfig {
    /// How long it is up between two cuts.
    pub up: FlapTime,
    /// How long a cut lasts.
    pub down: FlapTime,
    /// When it is cut first, counted from the start of the pipe or from the change that brought the flapping; none:
    /// after the first time up.
    pub start: Option<Duration>,
}

/// How long a pipe stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlapTime {
    /// Always as long.
    Constant(Duration),
    /// Exponentially distributed with this mean, independently of all others.
    Exponential(Duration),
}

/// A line that changes more often is described by a loss model. It also bounds the work of a pipe that was idle for
/// hours and has all its flaps still to do.
const SHORTEST: Duration = Duration::from_millis(1);

impl StateConfig {
    /// Whether the pipe can flap like this.
    ///
    /// # Errors
    /// A time up or down below a millisecond.
    pub fn check(&self) -> Result<(), ConfigError> {
        let Some(flap) = &self.flap else { return Ok(()) };
        for (key, time) in [("up", flap.up), ("down", flap.down)] {
            let mean = time.mean();
            if mean < SHORTEST {
                let message = format!("{mean} is too short: at least {SHORTEST}; a loss model can do what is shorter");
                return Err(ConfigError::new(key, message));
            }
        }
        Ok(())
    }
}

impl FlapTime {
    /// Its mean.
    pub fn mean(self) -> Duration {
        match self {
            Self::Constant(time) | Self::Exponential(time) => time,
        }
    }

    fn draw(self, spans: &mut Spans) -> Duration {
        match self {
            Self::Constant(time) => time,
            Self::Exponential(mean) => spans.exponential(mean.as_nanos() as f64),
        }
    }
}

/// Flapping, and how far it has come.
#[derive(Clone, Debug)]
pub(crate) struct Flapping {
    config: FlapConfig,
    spans: Spans,
    next: Instant,
    /// Whether it is up until then.
    is_up: bool,
}

impl Flapping {
    /// How the pipe with this seed flaps from `now` on; none if it does not.
    pub(crate) fn of_pipe(config: &StateConfig, now: Instant, seed: Seed) -> Option<Self> {
        Self::new(config, now, seed.derive("state"))
    }

    /// What `config` says, from `now` on; none if the pipe does not flap.
    fn new(config: &StateConfig, now: Instant, seed: Seed) -> Option<Self> {
        let config = config.flap.clone()?;
        let mut spans = Spans::new(seed);
        let first = config.start.unwrap_or_else(|| config.up.draw(&mut spans));
        Some(Self { config, spans, next: now + first, is_up: true })
    }

    /// When the pipe is cut or joined next; never at the end of time, behind which nothing comes.
    pub(crate) fn next(&self) -> Option<Instant> {
        Some(self.next).filter(|next| *next < Instant::MAX)
    }

    /// Whether it is up from that instant on.
    pub(crate) fn take(&mut self) -> bool {
        self.is_up = !self.is_up;
        let time = if self.is_up { self.config.up } else { self.config.down };
        self.next = self.next + time.draw(&mut self.spans);
        self.is_up
    }
}

/// Whether what enters a pipe can reach its end, as whoever listens there notices it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carrier {
    /// Whether the pipe is up.
    pub is_up: bool,
    /// How often it has gone down.
    pub cuts: u64,
}

impl Default for Carrier {
    /// That of a pipe that was never cut.
    fn default() -> Self {
        Self { is_up: true, cuts: 0 }
    }
}

/// What has cut the pipe.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cuts {
    pub(crate) by_hand: bool,
    pub(crate) by_flapping: bool,
    /// How many nodes at its link have stopped.
    pub(crate) by_nodes: u32,
    heard: Heard,
}

/// The carrier as whoever listens at the end of the pipe has noticed it. The pipe may be ahead of that, since packets of later instants have
/// entered, and behind it, since packets may still enter; both flap alike.
#[derive(Clone, Debug, Default)]
struct Heard {
    flapping: Option<Flapping>,
    is_cut_by_flapping: bool,
    carrier: Carrier,
}

impl Cuts {
    pub(crate) fn new(state: &StateConfig, seed: Seed) -> Self {
        let mut this = Self::default();
        this.flap(state, Instant::ZERO, seed);
        this
    }

    /// Has the pipe flap like this from `now` on, and begin with being up.
    pub(crate) fn flap(&mut self, state: &StateConfig, now: Instant, seed: Seed) {
        self.by_flapping = false;
        self.heard.is_cut_by_flapping = false;
        self.heard.flapping = Flapping::of_pipe(state, now, seed);
    }

    pub(crate) fn is_up(&self) -> bool {
        !self.by_hand && !self.by_flapping && self.by_nodes == 0
    }

    /// Returns what is heard of the pipe until `now`. To be asked before each cut by something else, too.
    pub(crate) fn carrier(&mut self, now: Instant) -> Carrier {
        self.notice();
        while let Some(flapping) =
            self.heard.flapping.as_mut().filter(|each| each.next().is_some_and(|next| next <= now))
        {
            self.heard.is_cut_by_flapping = !flapping.take();
            self.notice();
        }
        self.heard.carrier
    }

    fn notice(&mut self) {
        let is_up = !self.by_hand && !self.heard.is_cut_by_flapping && self.by_nodes == 0;
        let carrier = &mut self.heard.carrier;
        carrier.cuts += u64::from(carrier.is_up && !is_up);
        carrier.is_up = is_up;
    }
}
