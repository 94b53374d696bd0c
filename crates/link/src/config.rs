//! What a user can say about a pipe.

use netloom_units::{Duration, Limit, Probability, Rate};

/// The description of one direction of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipeConfig {
    /// How fast the transmitter sends; none: infinitely fast, and nothing ever queues.
    pub rate: Option<Rate>,
    /// Propagation delay: how long a packet travels after its last bit was sent.
    pub delay: Duration,
    /// Where packets wait for the transmitter.
    pub queue: QueueConfig,
    /// Which packets are lost before they reach the queue.
    pub loss: LossConfig,
}

impl Default for PipeConfig {
    /// An ideal wire: no rate limit, no delay, no loss. The queue of 1,000 packets matters once a rate is set; it is
    /// the customary length of a Linux interface's transmit queue.
    fn default() -> Self {
        Self {
            rate: None,
            delay: Duration::ZERO,
            queue: QueueConfig::DropTail(Limit::Packets(1_000)),
            loss: LossConfig::None,
        }
    }
}

/// The discipline of a queue and its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueConfig {
    /// First in, first out; what finds the queue full is dropped.
    DropTail(Limit),
}

/// How packets are lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LossConfig {
    /// None is.
    None,
    /// Each packet with the same probability, independently of all others.
    Independent(Probability),
}

/// What to change in a running pipe; what is none stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PipeChange {
    /// The new rate; `Some(None)` takes the limit away.
    pub rate: Option<Option<Rate>>,
    /// The new propagation delay, for packets that are sent from now on.
    pub delay: Option<Duration>,
    /// The new queue; what waits is kept in order as far as the new limit allows.
    pub queue: Option<QueueConfig>,
    /// The new loss model.
    pub loss: Option<LossConfig>,
}

impl PipeChange {
    /// Whether nothing is to be changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// `config` with this change made.
    #[must_use]
    pub fn applied_to(&self, config: &PipeConfig) -> PipeConfig {
        PipeConfig {
            rate: self.rate.unwrap_or(config.rate),
            delay: self.delay.unwrap_or(config.delay),
            queue: self.queue.clone().unwrap_or_else(|| config.queue.clone()),
            loss: self.loss.clone().unwrap_or_else(|| config.loss.clone()),
        }
    }
}
