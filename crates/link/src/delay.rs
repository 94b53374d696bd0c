//! How long packets travel after their last bit was sent: one module per distribution, and the fork between them.

use netloom_units::{Duration, Seed};

/// Propagation delay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DelayConfig {
    /// From what it is drawn for each packet.
    pub distribution: Distribution,
    /// Whether a packet with a shorter delay may overtake those before it.
    pub order: Order,
}

/// From what delays are drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Always the same.
    Constant(Duration),
}

impl Default for Distribution {
    fn default() -> Self {
        Self::Constant(Duration::ZERO)
    }
}

/// What happens to a packet that would overtake others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// It arrives together with the last of them.
    #[default]
    Kept,
    /// It does.
    Free,
}

impl DelayConfig {
    /// Always `delay`, in order.
    pub const fn constant(delay: Duration) -> Self {
        Self { distribution: Distribution::Constant(delay), order: Order::Kept }
    }

    /// The delay of every packet, if it is always the same.
    pub fn is_constant(&self) -> Option<Duration> {
        match self.distribution {
            Distribution::Constant(delay) => Some(delay),
        }
    }

    /// The mean of what is drawn; keeping order makes the mean of what packets see longer.
    pub fn mean(&self) -> Duration {
        match self.distribution {
            Distribution::Constant(delay) => delay,
        }
    }
}

impl From<Duration> for DelayConfig {
    fn from(delay: Duration) -> Self {
        Self::constant(delay)
    }
}

/// A delay model and its generator.
#[derive(Debug)]
pub(crate) struct Delay {
    config: DelayConfig,
}

impl Delay {
    pub(crate) fn new(config: DelayConfig, seed: Seed) -> Self {
        let _ = seed;
        Self { config }
    }

    /// Goes on with the same generator.
    pub(crate) fn configure(&mut self, config: DelayConfig) {
        self.config = config;
    }

    pub(crate) fn is_constant(&self) -> bool {
        self.config.is_constant().is_some()
    }

    /// Whether packets may overtake.
    pub(crate) fn order(&self) -> Order {
        self.config.order
    }

    /// The delay of the next segment.
    pub(crate) fn draw(&mut self) -> Duration {
        match self.config.distribution {
            Distribution::Constant(delay) => delay,
        }
    }
}
